//! The strings of a RON file: their content, and where each byte of it is in the file.

use std::borrow::Cow;
use std::ops::Range;

use haul_ir::diagnostic::Span;

use super::ast::Name;
use super::tree::{Node, NodeKind};

/// What a string says, and where.
pub(super) struct Content<'t> {
    text: Cow<'t, str>,
    /// Where runs of bytes that are written as they are read begin: in the content, in the
    /// file. In ascending order; the first begins at 0.
    runs: Vec<(usize, usize)>,
    /// Between the quotes.
    span: Span,
}

impl<'t> Content<'t> {
    /// The content of the string `literal`, quotes included; nothing when `ron` refuses it.
    pub(super) fn of_literal(text: &'t str, literal: Span) -> Option<Self> {
        let written = &text[literal.range()];
        let quote = written.find('"')?;
        let inside = &written[quote + 1..written.len() - quote.max(1)];
        let start = literal.start + quote + 1;
        let span = Span::new(start, start + inside.len());
        if quote > 0 || !inside.contains('\\') {
            return Some(Self {
                text: inside.into(),
                runs: vec![(0, start)],
                span,
            });
        }
        let value: String = ron::from_str(written).ok()?;
        Some(Self {
            text: value.into(),
            runs: runs(inside, start),
            span,
        })
    }

    /// The content of a string inside of a formula. Its places are exact unless the string
    /// around the formula has escapes here.
    pub(super) fn of_name(name: &'t Name) -> Self {
        let Span { start, end } = name.span;
        let quotes = (end - start).saturating_sub(name.value.len()) / 2;
        let span = Span::new(start + quotes, end - quotes);
        Self {
            text: name.value.as_str().into(),
            runs: vec![(0, span.start)],
            span,
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// All of it.
    pub(super) fn span(&self) -> Span {
        self.span
    }

    /// Where a range of the content is in the file.
    pub(super) fn place(&self, range: Range<usize>) -> Span {
        let start = self.offset(range.start);
        if range.is_empty() {
            return Span::new(start, start);
        }
        // The last byte is located, not the one after it: an escape may stand between them.
        let last = self.text[range.clone()]
            .chars()
            .next_back()
            .map_or(1, char::len_utf8);
        let end = self.offset(range.end - last) + last;
        Span::new(start, end.max(start).min(self.span.end))
    }

    fn offset(&self, at: usize) -> usize {
        let run = self.runs.partition_point(|(content, _)| *content <= at) - 1;
        let (content, file) = self.runs[run];
        (file + (at - content)).min(self.span.end)
    }
}

/// The text of a key: an identifier, or the content of a string.
pub(super) fn key<'t>(text: &'t str, key: &Node) -> Cow<'t, str> {
    let written = &text[key.span.range()];
    match key.kind {
        NodeKind::String => match Content::of_literal(text, key.span) {
            Some(content) => content.text,
            None => written.into(),
        },
        _ => written.strip_prefix("r#").unwrap_or(written).into(),
    }
}

/// The text as it can be quoted in a message: short, and without control characters.
pub(super) fn excerpt(text: &str) -> String {
    const LENGTH: usize = 40;
    let mut short: String = text
        .chars()
        .take(LENGTH)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(LENGTH).is_some() {
        short.push('…');
    }
    short
}

/// The runs of a string with escapes that begins at `start` of the file.
fn runs(inside: &str, start: usize) -> Vec<(usize, usize)> {
    let mut runs = vec![(0, start)];
    let (mut read, mut at) = (0, 0);
    while let Some(length) = inside[at..].find('\\') {
        (read, at) = (read + length, at + length);
        let (written, value) = escape(&inside[at..]);
        runs.push((read, start + at));
        (read, at) = (read + value, at + written);
        runs.push((read, start + at));
    }
    runs
}

/// How many bytes the escape at the beginning takes, and how many its value does.
fn escape(text: &str) -> (usize, usize) {
    let code_point = |digits: &str| {
        let value = u32::from_str_radix(digits, 16).ok();
        value.and_then(char::from_u32).map_or(1, char::len_utf8)
    };
    match text[1..].chars().next() {
        Some('u') => {
            let length = text.find('}').map_or(text.len(), |end| end + 1);
            (length, code_point(text[2..length].trim_matches(['{', '}'])))
        }
        Some('x') => (text.len().min(4), text.get(2..4).map_or(1, code_point)),
        Some('\n' | '\r') => (text.len() - text[1..].trim_start().len(), 0),
        Some(other) => (1 + other.len_utf8(), 1),
        None => (1, 0),
    }
}
