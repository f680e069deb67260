//! Reads values out of the tree, each with its place: fields by name, then what stands in
//! them. A value that cannot be read is reported and is `None`.

use haul_ir::diagnostic::{Code, Diagnostic, Span};
use ron::extensions::Extensions;
use serde::de::DeserializeOwned;

use super::ast::{Formula, Name, Number, Spanned, Type};
use super::bytes::{self, Refused};
use super::formula;
use super::strings::{self, Content, excerpt};
use super::tree::{Entry, Node, NodeKind};
use crate::diagnostics::codes::{BYTES, MISSING_FIELD, OUT_OF_RANGE, UNKNOWN_FIELD, WRONG_KIND};
use crate::diagnostics::suggest::{did_you_mean, nearest};

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

    // ---- structs, maps and lists

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

    /// Reports the fields that nobody asked for, and those that are missing.
    pub(super) fn finish(&mut self, mut fields: Fields<'_>) {
        let keys: Vec<_> = fields
            .entries
            .iter()
            .map(|entry| strings::key(self.text, &entry.key))
            .collect();
        for (entry, key) in fields.entries.iter().zip(&keys) {
            if fields.names.contains(&key.as_ref()) {
                continue;
            }
            let unused = fields
                .names
                .iter()
                .filter(|name| !keys.iter().any(|key| key == **name));
            let unused: Vec<&str> = unused.copied().collect();
            // A misspelt field is not missing as well.
            let meant = nearest(key, unused.iter().copied());
            fields.missing.retain(|missing| Some(*missing) != meant);
            let message = format!("{} has no field `{}`", fields.owner, excerpt(key));
            let mistake = Diagnostic::error(UNKNOWN_FIELD, entry.key.span, message);
            self.mistakes
                .push(did_you_mean(mistake, entry.key.span, key, unused));
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

    // ---- strings

    fn key(&self, key: &Node) -> Name {
        let content = Content::of_literal(self.text, key.span);
        let span = content.map_or(key.span, |content| content.span());
        Spanned::new(strings::key(self.text, key).into_owned(), span)
    }

    fn content(&mut self, node: &Node, expected: &str) -> Option<Content<'t>> {
        if !matches!(node.kind, NodeKind::String) {
            return self.wrong(node, expected);
        }
        let content = Content::of_literal(self.text, node.span);
        if content.is_none() {
            self.report(
                WRONG_KIND,
                node.span,
                "this string has an escape that does not exist",
            );
        }
        content
    }

    /// A string that is not empty.
    pub(super) fn string(&mut self, node: &Node) -> Option<Name> {
        let content = self.content(node, "a string")?;
        if content.text().is_empty() {
            self.report(WRONG_KIND, node.span, "this is empty");
            return None;
        }
        Some(Spanned::new(content.text().to_owned(), content.span()))
    }

    pub(super) fn strings(&mut self, node: &Node) -> Option<Vec<Name>> {
        let items = self.items(node, "a list of strings")?;
        self.all(items, Self::string)
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

    pub(super) fn formula(&mut self, node: &Node) -> Option<Formula> {
        let content = self.content(node, "a formula in a string")?;
        formula::formula(&content, &mut self.mistakes)
    }

    pub(super) fn declared_type(&mut self, node: &Node) -> Option<Type> {
        let content = self.content(node, "a type such as `\"f32[n]\"`")?;
        formula::declared_type(&content, &mut self.mistakes)
    }

    /// `stage` or `stage.name`: the parts between the dots.
    pub(super) fn path(&mut self, node: &Node) -> Option<Vec<Name>> {
        let content = self.content(node, "a name in a string")?;
        let mut parts = Vec::new();
        let mut at = 0;
        for part in content.text().split('.') {
            let span = content.place(at..at + part.len());
            let before = self.mistakes.len();
            formula::check_name(part, span, &mut self.mistakes);
            if self.mistakes.len() > before {
                return None;
            }
            parts.push(Spanned::new(part.to_owned(), span));
            at += part.len() + 1;
        }
        Some(parts)
    }

    // ---- numbers

    /// A number of a Rust type; `range` says which fit.
    pub(super) fn number<T: DeserializeOwned>(
        &mut self,
        node: &Node,
        range: &str,
    ) -> Option<Spanned<T>> {
        let written = self.scalar(node, range)?;
        match value(written) {
            Some(number) => Some(Spanned::new(number, node.span)),
            None => self.not_a_number(node, range),
        }
    }

    /// A number that is finite.
    pub(super) fn float(&mut self, node: &Node) -> Option<Spanned<f64>> {
        let written = self.scalar(node, "a number")?;
        match value::<f64>(written) {
            Some(number) if number.is_finite() => Some(Spanned::new(number, node.span)),
            _ => self.not_a_number(node, "a number below 1.8e308"),
        }
    }

    pub(super) fn count(&mut self, node: &Node) -> Option<Spanned<u64>> {
        self.number(node, "a whole number from 0 to 2^64 - 1")
    }

    /// A number, exactly.
    pub(super) fn exact(&mut self, node: &Node) -> Option<Spanned<Number>> {
        let written = self.scalar(node, "a number")?;
        let integer = value::<i64>(written).map(i128::from);
        if let Some(integer) = integer.or_else(|| value::<u64>(written).map(i128::from)) {
            return Some(Spanned::new(Number::Int(integer), node.span));
        }
        if !written.contains(['.', 'e', 'E']) {
            return self.not_a_number(node, "a whole number from -2^63 to 2^64 - 1");
        }
        let Spanned { value, span } = self.float(node)?;
        Some(Spanned::new(Number::Float(value), span))
    }

    /// Bytes: a whole number, or a string with a unit.
    pub(super) fn bytes(&mut self, node: &Node) -> Option<Spanned<u64>> {
        if matches!(node.kind, NodeKind::Scalar) {
            return self.number(node, "a whole number of bytes");
        }
        let content = self.content(node, "an amount of memory such as `\"16 GiB\"`")?;
        let refused = match bytes::parse(content.text()) {
            Ok(bytes) => return Some(Spanned::new(bytes, content.span())),
            Err(refused) => refused,
        };
        let (message, help) = match refused {
            Refused::Form => ("does not begin with a number", "write for example `16 GiB`"),
            Refused::Unit => (
                "has no unit that is known",
                "units are B, kB, MB, GB, TB, KiB, MiB, GiB and TiB",
            ),
            Refused::Fraction => (
                "is not a whole number of bytes",
                "write it in a smaller unit",
            ),
            Refused::Range => ("is more than 2^64 - 1 bytes", "write a smaller amount"),
        };
        let message = format!("`{}` {message}", excerpt(content.text()));
        self.mistakes
            .push(Diagnostic::error(BYTES, content.span(), message).help(help));
        None
    }

    pub(super) fn boolean(&mut self, node: &Node) -> Option<bool> {
        match self.written(node.span) {
            "true" => Some(true),
            "false" => Some(false),
            _ => self.wrong(node, "`true` or `false`"),
        }
    }

    fn scalar(&mut self, node: &Node, expected: &str) -> Option<&'t str> {
        match node.kind {
            NodeKind::Scalar => Some(self.written(node.span)),
            _ => self.wrong(node, expected),
        }
    }

    fn not_a_number<T>(&mut self, node: &Node, range: &str) -> Option<T> {
        let written = self.written(node.span);
        if value::<f64>(written).is_none() || written.starts_with(char::is_alphabetic) {
            return self.wrong(node, range);
        }
        let message = format!("expected {range}, found `{}`", excerpt(written));
        self.report(OUT_OF_RANGE, node.span, message);
        None
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

/// How a file is read: `Some( )` is never written.
pub(super) fn options() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME)
}

fn value<T: DeserializeOwned>(written: &str) -> Option<T> {
    options().from_str(written).ok()
}
