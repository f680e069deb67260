//! What the parser of the tree says about what it finds.

use std::borrow::Cow;
use std::collections::{HashMap, hash_map};

use haul_ir::diagnostic::{Applicability, Diagnostic, Span};

use super::parser::{Members, Parser};
use super::{Entry, Node, NodeKind};
use crate::diagnostics::codes::{REPEATED, UNCLOSED, UNEXPECTED};
use crate::syntax::lexer::{Bracket, Token, TokenKind};
use crate::syntax::strings;

impl Parser<'_> {
    pub(super) fn check_key(&mut self, bracket: Bracket, key: &Node, colon: Span) {
        let text = &self.text[key.span.range()];
        let mistake = match (bracket, &key.kind) {
            (_, NodeKind::Error) if key.span.start < key.span.end => return,
            (Bracket::Round, NodeKind::Scalar) | (Bracket::Curly, NodeKind::String) => return,
            (Bracket::Round, NodeKind::String) => {
                let message = "names of fields are written without quotes";
                Diagnostic::error(UNEXPECTED, key.span, message)
                    .fix(key.span, text.trim_matches('"'))
                    .machine_applicable()
            }
            (Bracket::Curly, NodeKind::Scalar) => {
                let message = "names in `{ }` are written in quotes";
                Diagnostic::error(UNEXPECTED, key.span, message)
                    .fix(key.span, format!("\"{text}\""))
                    .machine_applicable()
            }
            (Bracket::Square, _) => {
                let message = "a list in `[ ]` holds values without names";
                Diagnostic::error(UNEXPECTED, key.span.to(colon), message)
            }
            _ => Diagnostic::error(
                UNEXPECTED,
                key.span.to(colon),
                "a name is expected before `:`",
            ),
        };
        self.mistakes.push(mistake);
    }

    /// Reports the values that need a name.
    pub(super) fn refuse_items(&mut self, bracket: Bracket, members: &Members) {
        let message = match bracket {
            Bracket::Curly => "this needs a name: `\"name\": value`",
            Bracket::Round if !members.entries.is_empty() => {
                "this needs the name of its field: `name: value`"
            }
            _ => return,
        };
        let items = members
            .items
            .iter()
            .filter(|item| !matches!(item.kind, NodeKind::Error));
        let mistakes = items.map(|item| Diagnostic::error(UNEXPECTED, item.span, message));
        self.mistakes.extend(mistakes);
    }

    /// Reports every key that is there already, and drops its entry.
    pub(super) fn refuse_repeated(&mut self, entries: &mut Vec<Entry>) {
        let mut first: HashMap<Cow<'_, str>, Span> = HashMap::with_capacity(entries.len());
        entries.retain(
            |entry| match first.entry(strings::key(self.text, &entry.key)) {
                _ if matches!(entry.key.kind, NodeKind::Error) => false,
                hash_map::Entry::Vacant(vacant) => {
                    vacant.insert(entry.key.span);
                    true
                }
                hash_map::Entry::Occupied(before) => {
                    let message = format!("`{}` is there twice", strings::excerpt(before.key()));
                    self.mistakes.push(
                        Diagnostic::error(REPEATED, entry.key.span, message)
                            .label(*before.get(), "first here")
                            .help("rename or remove one of the two"),
                    );
                    false
                }
            },
        );
    }

    /// Reports and passes over a token that can begin nothing here.
    pub(super) fn unexpected(&mut self) {
        let Token { span, .. } = self.bump();
        let text = &self.text[span.range()];
        let message = format!("unexpected `{}`", text.escape_debug());
        let mut mistake = Diagnostic::error(UNEXPECTED, span, message);
        if text == "#" {
            mistake = mistake
                .help("comments of the file start with `//`")
                .fix(span, "//")
                .machine_applicable();
            let rest = &self.text[span.end..];
            let line_end = span.end + rest.find('\n').unwrap_or(rest.len());
            while self.token.span.start < line_end && self.token.kind != TokenKind::End {
                self.bump();
            }
        }
        self.mistakes.push(mistake);
    }

    /// Adds the edit that closes a bracket, where that is all there is to mend. Else it may belong
    /// elsewhere, and what other mistakes look like may follow from it.
    pub(super) fn mend_unclosed(&mut self) {
        let is_unclosed = |mistake: &Diagnostic| mistake.code == UNCLOSED;
        if !self.mistakes.iter().any(is_unclosed) {
            return;
        }
        match (&mut self.mistakes[..], self.unclosed) {
            ([only], Some((at, close))) => {
                let mistake = only.clone().help(format!("close it with `{close}`"));
                let edited = mistake.fix(Span::new(at, at), close.to_string());
                *only = edited.machine_applicable();
            }
            (all, _) => {
                for mistake in all {
                    mistake.applicability = Applicability::MaybeIncorrect;
                }
            }
        }
    }

    pub(super) fn nothing_more(&mut self, root: &Node) {
        if root.span.start == root.span.end && self.token.kind == TokenKind::End {
            let message = "the file holds no pipeline";
            let mistake = Diagnostic::error(UNEXPECTED, root.span, message);
            return self
                .mistakes
                .push(mistake.help("start with `Pipeline(version: 1, stages: {})`"));
        }
        if self.token.kind != TokenKind::End {
            let message = "the pipeline ends before this";
            self.mistakes
                .push(Diagnostic::error(UNEXPECTED, self.token.span, message));
        }
    }
}
