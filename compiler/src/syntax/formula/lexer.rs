//! The tokens of a formula.

use haul_ir::diagnostic::Span;

use crate::syntax::strings::Content;

/// A token, its text, and its place in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: TokenKind,
    pub(super) text: &'t str,
    pub(super) span: Span,
    /// Whether it is the first of its line.
    pub(super) first: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Name,
    /// A number or what looks like one.
    Number,
    /// `'…'`, on one line.
    Text,
    /// An operator, bracket or other mark; its text says which.
    Mark,
    Newline,
    /// A quote without its fellow, or a character that starts no token.
    Unknown,
    End,
}

impl Token<'_> {
    pub(super) fn is(&self, mark: &str) -> bool {
        self.kind == TokenKind::Mark && self.text == mark
    }

    pub(super) fn ends_line(&self) -> bool {
        matches!(self.kind, TokenKind::Newline | TokenKind::End)
    }
}

/// The longest first.
const MARKS: [&str; 30] = [
    "...", "**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "@", "&", "|", "^", "~",
    "<", ">", "=", "(", ")", "[", "]", "{", "}", ",", ":", ".", "?",
];

/// All tokens; comments and blanks are passed over. The last one is `End`.
pub(super) fn tokens<'t>(content: &'t Content<'_>) -> Vec<Token<'t>> {
    let text = content.text();
    let mut tokens = Vec::new();
    let (mut at, mut first) = (0, true);
    while at < text.len() {
        let rest = &text[at..];
        let (kind, length) = next(rest);
        if let Some(kind) = kind {
            let span = content.place(at..at + length);
            tokens.push(Token {
                kind,
                text: &rest[..length],
                span,
                first,
            });
            first = kind == TokenKind::Newline;
        }
        at += length;
    }
    let span = content.place(text.len()..text.len());
    tokens.push(Token {
        kind: TokenKind::End,
        text: "",
        span,
        first,
    });
    tokens
}

/// The kind and length of what the text begins with; no kind for blanks and comments.
fn next(text: &str) -> (Option<TokenKind>, usize) {
    let bytes = text.as_bytes();
    match bytes[0] {
        b'\n' => (Some(TokenKind::Newline), 1),
        b'#' => (None, text.find('\n').unwrap_or(text.len())),
        b'\'' => match bytes[1..]
            .iter()
            .position(|byte| matches!(byte, b'\'' | b'\n'))
        {
            Some(length) if bytes[length + 1] == b'\'' => (Some(TokenKind::Text), length + 2),
            _ => (Some(TokenKind::Unknown), 1),
        },
        b'0'..=b'9' => (Some(TokenKind::Number), number(bytes)),
        b'.' if bytes.get(1).is_some_and(u8::is_ascii_digit) => {
            (Some(TokenKind::Number), number(bytes))
        }
        _ => word_or_mark(text),
    }
}

fn word_or_mark(text: &str) -> (Option<TokenKind>, usize) {
    let Some(first) = text.chars().next() else {
        return (None, 0);
    };
    if first.is_whitespace() {
        return (None, first.len_utf8());
    }
    if begins_name(first) {
        let length = text.find(|c| !continues_name(c)).unwrap_or(text.len());
        return (Some(TokenKind::Name), length);
    }
    match MARKS.into_iter().find(|mark| text.starts_with(mark)) {
        Some(mark) => (Some(TokenKind::Mark), mark.len()),
        None => (Some(TokenKind::Unknown), first.len_utf8()),
    }
}

/// Everything up to the next blank or mark, with the sign of an exponent.
fn number(bytes: &[u8]) -> usize {
    let mut previous = 0;
    let within = |byte: &u8| {
        let sign = matches!(byte, b'+' | b'-') && matches!(previous, b'e' | b'E');
        previous = *byte;
        sign || *byte == b'.' || *byte == b'_' || byte.is_ascii_alphanumeric()
    };
    bytes.iter().copied().take_while(within).count()
}

/// Whether a name may begin with the character.
pub(super) fn begins_name(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

/// Whether a name may go on with the character.
pub(super) fn continues_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}
