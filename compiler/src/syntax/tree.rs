//! The concrete syntax tree of a RON file: where things are, not what they are worth.
//!
//! It is made from any text, however broken; what is wrong with the brackets, commas and
//! names is reported here, once. The values are read by the `ron` crate alone.
mod mistakes;
mod parser;

use std::borrow::Cow;

use haul_ir::diagnostic::Span;

use super::strings;

pub(super) use self::parser::parse;

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum NodeKind {
    /// A number, identifier, or bytes.
    Scalar,
    /// `"…"` or `r"…"`.
    String,
    /// `Name(field: value)`, with or without the name.
    Struct(Option<Span>, Vec<Entry>),
    /// `Name(value)`, with or without the name.
    Tuple(Option<Span>),
    /// `[value]`.
    List(Vec<Node>),
    /// `{"key": value}`.
    Map(Vec<Entry>),
    /// What is no value, and was reported.
    Error,
}

/// A field of a struct or an entry of a map. Keys are unique in their struct or map.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: Node,
    pub(super) value: Node,
    /// Where it ends, with the comma after it.
    pub(super) end: usize,
}

impl Node {
    /// What an author would call it.
    pub(super) fn describe(&self, text: &str) -> Cow<'static, str> {
        match &self.kind {
            NodeKind::Scalar if text[self.span.range()].starts_with(char::is_alphabetic) => {
                Cow::Owned(format!("`{}`", strings::excerpt(&text[self.span.range()])))
            }
            NodeKind::Scalar => Cow::Borrowed("a number"),
            NodeKind::String => Cow::Borrowed("a string"),
            NodeKind::Struct(Some(name), _) | NodeKind::Tuple(Some(name)) => {
                Cow::Owned(format!("`{}(…)`", strings::excerpt(&text[name.range()])))
            }
            NodeKind::Struct(None, _) => Cow::Borrowed("fields in `( )`"),
            NodeKind::Tuple(None) => Cow::Borrowed("values in `( )`"),
            NodeKind::List(_) => Cow::Borrowed("a list"),
            NodeKind::Map(_) => Cow::Borrowed("a map in `{ }`"),
            NodeKind::Error => Cow::Borrowed("nothing"),
        }
    }
}
