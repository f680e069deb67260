//! Reads structs, maps and lists out of the tree. A value that cannot be read is reported and
//! is `None`.

use haul_ir::diagnostic::{Code, Diagnostic, Span};

use super::ast::Name;
use super::edits;
use super::formula;
use super::strings::{self, excerpt};
use super::tree::{Entry, Node, NodeKind};
use crate::diagnostics::codes::{MISSING_FIELD, UNKNOWN_FIELD, WRONG_KIND};
use crate::diagnostics::suggest::{did_you_mean, nearest, one_of};

/// The text, and what is wrong with it so far.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) mistakes: Vec<Diagnostic>,
}

/// The fields of a struct, while they are read. Those that were never asked for are unknown.
pub(super) struct Fields<'n> {
    entries: &'n [Entry],
    names: Vec<&'static str>,
    missing: Vec<&'static str>,
    /// The name of the struct or its opening parenthesis.
    head: Span,
    /// What has the fields, as in "`Npy` has no field `x`".
    owner: String,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            mistakes: Vec::new(),
        }
    }

    pub(super) fn report(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.mistakes.push(Diagnostic::error(code, span, message));
    }

    pub(super) fn written(&self, span: Span) -> &'t str {
        &self.text[span.range()]
    }

    /// Reports that something else than `expected` stands there.
    pub(super) fn wrong<T>(&mut self, node: &Node, expected: &str) -> Option<T> {
        if !matches!(node.kind, NodeKind::Error) {
            let found = node.describe(self.text);
            self.report(
                WRONG_KIND,
                node.span,
                format!("expected {expected}, found {found}"),
            );
        }
        None
    }

    /// The fields of `( … )` without a name, of `owner`.
    pub(super) fn fields<'n>(&mut self, node: &'n Node, owner: &str) -> Option<Fields<'n>> {
        match &node.kind {
            NodeKind::Struct(None, entries) => {
                let head = Span::new(node.span.start, node.span.start + 1);
                Some(Fields::new(entries, head, owner))
            }
            _ => self.wrong(node, &format!("{owner} with its fields in `( )`")),
        }
    }

    /// A field that has to be there.
    pub(super) fn required<'n>(
        &mut self,
        fields: &mut Fields<'n>,
        name: &'static str,
    ) -> Option<&'n Node> {
        let found = self.optional(fields, name);
        if found.is_none() {
            fields.missing.push(name);
        }
        found
    }

    /// A field that may be left out.
    pub(super) fn optional<'n>(
        &mut self,
        fields: &mut Fields<'n>,
        name: &'static str,
    ) -> Option<&'n Node> {
        fields.names.push(name);
        let entries = fields.entries.iter();
        let found = entries.map(|entry| (strings::key(self.text, &entry.key), &entry.value));
        found
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value)
            .next()
    }

    /// Where the fields of the request among `fields` can be changed; `open` is where their
    /// parenthesis opens.
    pub(super) fn request_fields(&self, fields: &Fields<'_>, open: usize) -> edits::Fields {
        let keys = fields.entries.iter();
        let keys: Vec<_> = keys.map(|e| strings::key(self.text, &e.key)).collect();
        let keys: Vec<&str> = keys.iter().map(AsRef::as_ref).collect();
        edits::fields(self.text, fields.entries, &keys, open)
    }

    /// Reports the fields that nobody asked for, and those that are missing.
    pub(super) fn finish(&mut self, mut fields: Fields<'_>) {
        let keys: Vec<_> = fields
            .entries
            .iter()
            .map(|entry| strings::key(self.text, &entry.key))
            .collect();
        let given = |name: &&&str| keys.iter().any(|key| key == **name);
        let unused: Vec<&str> = fields
            .names
            .iter()
            .filter(|name| !given(name))
            .copied()
            .collect();
        for (entry, key) in fields.entries.iter().zip(&keys) {
            if fields.names.contains(&key.as_ref()) {
                continue;
            }
            let meant = nearest(key, unused.iter().copied());
            // A misspelt field is not missing as well.
            fields.missing.retain(|missing| Some(*missing) != meant);
            let message = format!("{} has no field `{}`", fields.owner, excerpt(key));
            let mistake = Diagnostic::error(UNKNOWN_FIELD, entry.key.span, message);
            self.mistakes.push(match meant {
                Some(meant) => did_you_mean(mistake, entry.key.span, key, [meant]),
                None => one_of(mistake, &fields.names),
            });
        }
        for name in fields.missing {
            let message = format!("{} lacks the field `{name}`", fields.owner);
            self.report(MISSING_FIELD, fields.head, message);
        }
    }

    /// The entries of a map whose keys are names of formulas.
    pub(super) fn named_entries<'n>(
        &mut self,
        node: Option<&'n Node>,
        what: &str,
    ) -> Vec<(Name, &'n Node)> {
        let entries = self.entries(node, what);
        for (name, _) in &entries {
            formula::check_name(&name.value, name.span, &mut self.mistakes);
        }
        entries
    }

    /// The entries of a map.
    pub(super) fn entries<'n>(
        &mut self,
        node: Option<&'n Node>,
        what: &str,
    ) -> Vec<(Name, &'n Node)> {
        let Some(node) = node else { return Vec::new() };
        let entries = match &node.kind {
            NodeKind::Map(entries) => entries.as_slice(),
            _ => self.wrong(node, what).unwrap_or_default(),
        };
        entries
            .iter()
            .map(|entry| (self.key(&entry.key), &entry.value))
            .collect()
    }

    /// The values of a list.
    pub(super) fn items<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Node]> {
        match &node.kind {
            NodeKind::List(items) => Some(items),
            _ => self.wrong(node, what),
        }
    }

    /// What each of the nodes holds, if all can be read; those that cannot are all reported.
    pub(super) fn all<T>(
        &mut self,
        nodes: &[Node],
        read: impl Fn(&mut Self, &Node) -> Option<T>,
    ) -> Option<Vec<T>> {
        let values: Vec<Option<T>> = nodes.iter().map(|node| read(self, node)).collect();
        values.into_iter().collect()
    }
}

impl<'n> Fields<'n> {
    pub(super) fn new(entries: &'n [Entry], head: Span, owner: &str) -> Self {
        let owner = owner.to_owned();
        Self {
            entries,
            names: Vec::new(),
            missing: Vec::new(),
            head,
            owner,
        }
    }

    /// The name of the struct, or its opening parenthesis.
    pub(super) fn head(&self) -> Span {
        self.head
    }
}
