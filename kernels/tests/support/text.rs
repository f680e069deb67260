//! Values, types and attributes as authors write them.

use haul_ir::expr::{Expr, Symbol};
use haul_ir::op::{Attr, IndexItem, Number, ParamKind};
use haul_ir::types::TensorType;

use super::rows;
use super::tensor::Value;

/// `1`, `-2.5`, `nan`, `inf`, `true`, `1-2j`.
pub(crate) fn value(text: &str) -> Value {
    match text {
        "true" => return Value::Int(1),
        "false" => return Value::Int(0),
        _ => {}
    }
    if let Some(text) = text.strip_suffix('j') {
        let sign = |at: &usize| *at > 0 && !text[..*at].ends_with('e');
        let at = text.rmatch_indices(['+', '-']).map(|(at, _)| at).find(sign);
        let (re, im) = text.split_at(at.unwrap_or(0));
        let re = if re.is_empty() { "0" } else { re };
        return Value::Complex(re.parse().unwrap(), im.parse().unwrap());
    }
    match text.parse() {
        Ok(int) => Value::Int(int),
        Err(_) => Value::Real(
            text.parse()
                .unwrap_or_else(|_| panic!("`{text}` is no value")),
        ),
    }
}

/// `f32[2, n]`.
pub(crate) fn ty(text: &str) -> TensorType {
    let (dtype, shape) = match text.split_once('[') {
        Some((dtype, shape)) => (dtype, shape.strip_suffix(']').expect("`]` closes a type")),
        None => (text, ""),
    };
    let dtype = dtype
        .parse()
        .unwrap_or_else(|()| panic!("`{dtype}` is no dtype"));
    TensorType::new(dtype, items(shape).map(size).collect())
}

/// An attribute of a kind; `none` for what has a meaning of its own.
pub(crate) fn attr(kind: ParamKind, text: &str) -> Attr {
    let word = |words: &'static [&'static str]| {
        let text = text.trim_matches('\'');
        let word = words.iter().find(|word| **word == text);
        Attr::Word(word.unwrap_or_else(|| panic!("`{text}` is none of {words:?}")))
    };
    match kind {
        ParamKind::Size => Attr::Size(Symbol::new("size")),
        _ if text == "none" => Attr::None,
        ParamKind::Bool => Attr::Bool(text == "true"),
        ParamKind::Int => Attr::Int(size(text)),
        ParamKind::Axes | ParamKind::Ints | ParamKind::Shape => ints(text),
        ParamKind::Numbers => numbers(text),
        ParamKind::Word(words) => word(words),
        ParamKind::IntsOrWord(words) if text.starts_with('\'') => word(words),
        ParamKind::IntsOrWord(_) => ints(text),
        ParamKind::Quoted => Attr::Quoted(text.trim_matches('\'').into()),
        ParamKind::Words => {
            let words = items(inner(text)).map(|word| word.trim_matches('\'').into());
            Attr::Words(words.collect())
        }
        ParamKind::Literal if text.starts_with('\'') => {
            Attr::Quoted(text.trim_matches('\'').into())
        }
        ParamKind::Literal => numbers(text),
        ParamKind::Type => Attr::Type(match text.trim_matches('\'') {
            text if rows::is_rows(text) => rows::ty(text),
            text => ty(text).into(),
        }),
        ParamKind::Index => Attr::Index(items(text).map(index_item).collect()),
        _ => panic!("{kind:?} is no attribute"),
    }
}

/// Splits at commas outside of brackets and quotes.
pub(crate) fn items(text: &str) -> impl Iterator<Item = &str> {
    let (mut depth, mut quoted, mut start) = (0, false, 0);
    let mut found = Vec::new();
    for (at, letter) in text.char_indices() {
        match letter {
            '\'' => quoted = !quoted,
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 && !quoted => {
                found.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[start..]);
    found
        .into_iter()
        .map(str::trim)
        .filter(|item| !item.is_empty())
}

fn ints(text: &str) -> Attr {
    Attr::Ints(items(inner(text)).map(size).collect())
}

fn numbers(text: &str) -> Attr {
    let number = |text: &str| Number(text.parse().expect("a number"));
    Attr::Numbers(items(inner(text)).map(number).collect())
}

/// What stands in the brackets of a list.
fn inner(text: &str) -> &str {
    text.trim_start_matches(['[', '('])
        .trim_end_matches([']', ')'])
}

/// A size: a number or a symbol.
pub(crate) fn size(text: &str) -> Expr {
    match text.parse::<i128>() {
        Ok(int) => Expr::from(int),
        Err(_) => Expr::symbol(Symbol::new(text)),
    }
}

fn index_item(text: &str) -> IndexItem {
    match text {
        "newaxis" => return IndexItem::NewAxis,
        "..." => return IndexItem::Ellipsis,
        _ if !text.contains(':') => return IndexItem::At(size(text)),
        _ => {}
    }
    let parts: Vec<_> = text.split(':').map(str::trim).collect();
    let part = |at: usize| parts.get(at).filter(|part| !part.is_empty());
    IndexItem::Slice {
        start: part(0).map(|text| size(text)),
        stop: part(1).map(|text| size(text)),
        step: part(2).map_or(1, |text| text.parse().expect("a step is whole")),
    }
}
