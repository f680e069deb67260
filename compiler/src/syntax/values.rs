//! Reads strings and numbers, each with its place. Numbers and escapes are read by `ron`.

use haul_ir::diagnostic::Diagnostic;
use ron::extensions::Extensions;
use serde::de::DeserializeOwned;

use super::ast::{Formula, Name, Number, Spanned, Type};
use super::bytes::{self, Refused};
use super::formula;
use super::reader::Reader;
use super::strings::{self, Content, excerpt};
use super::tree::{Node, NodeKind};
use crate::diagnostics::codes::{BYTES, OUT_OF_RANGE, WRONG_KIND};

impl<'t> Reader<'t> {
    pub(super) fn key(&self, key: &Node) -> Name {
        let content = Content::of_literal(self.text, key.span);
        let span = content.map_or(key.span, |content| content.span());
        Spanned::new(strings::key(self.text, key).into_owned(), span)
    }

    pub(super) fn content(&mut self, node: &Node, expected: &str) -> Option<Content<'t>> {
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
            None if !written.starts_with(char::is_alphabetic) => {
                let written = excerpt(written);
                let message = format!("expected a decimal number, found `{written}`");
                self.report(WRONG_KIND, node.span, message);
                None
            }
            _ => self.not_a_number(node, "a finite number below 1.8e308"),
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

/// How a file is read: `Some( )` is never written.
pub(crate) fn options() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME)
}

fn value<T: DeserializeOwned>(written: &str) -> Option<T> {
    options().from_str(written).ok()
}
