//! The tokens of a RON file. It never fails and takes linear time: what is no token
//! becomes [`TokenKind::Unknown`], what never ends [`TokenKind::Unterminated`].

use haul_ir::diagnostic::Span;

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name without quotes, also `r#raw`.
    Identifier,
    /// A number or what looks like one, such as `0..10`.
    Number,
    /// `"…"`.
    String,
    /// `r#"…"#`.
    RawString,
    /// `'…'`, on one line.
    SingleQuoted,
    /// `b"…"` and its relatives.
    Bytes,
    Open(Bracket),
    Close(Bracket),
    Comma,
    Colon,
    /// `::`.
    PathSeparator,
    Equals,
    /// A string or block comment that the file ends in.
    Unterminated,
    /// One character that starts no token.
    Unknown,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    Round,
    Square,
    Curly,
}

impl Bracket {
    pub(super) fn open(self) -> char {
        match self {
            Bracket::Round => '(',
            Bracket::Square => '[',
            Bracket::Curly => '{',
        }
    }

    pub(super) fn close(self) -> char {
        match self {
            Bracket::Round => ')',
            Bracket::Square => ']',
            Bracket::Curly => '}',
        }
    }
}

/// Reads tokens one by one; comments, blanks, attributes and a byte order mark are passed over.
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let at = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        Self { text, at }
    }

    /// The next token; at the end of the text `End`, for ever.
    pub(super) fn next(&mut self) -> Token {
        loop {
            let start = self.at;
            let Some(byte) = self.byte(0) else {
                return Token {
                    kind: TokenKind::End,
                    span: Span::new(start, start),
                };
            };
            if let Some(kind) = self.token(byte) {
                return Token {
                    kind,
                    span: Span::new(start, self.at),
                };
            }
        }
    }

    /// Moves past one token, or past something that is none.
    fn token(&mut self, byte: u8) -> Option<TokenKind> {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.skip(1),
            b'/' if self.byte(1) == Some(b'/') => self.skip(self.length_until(b'\n')),
            b'/' if self.byte(1) == Some(b'*') => return self.block_comment(),
            b'#' if self.rest().starts_with("#![") => self.skip(self.length_until(b']') + 1),
            b'(' => return Some(self.single(TokenKind::Open(Bracket::Round))),
            b'[' => return Some(self.single(TokenKind::Open(Bracket::Square))),
            b'{' => return Some(self.single(TokenKind::Open(Bracket::Curly))),
            b')' => return Some(self.single(TokenKind::Close(Bracket::Round))),
            b']' => return Some(self.single(TokenKind::Close(Bracket::Square))),
            b'}' => return Some(self.single(TokenKind::Close(Bracket::Curly))),
            b',' => return Some(self.single(TokenKind::Comma)),
            b'=' => return Some(self.single(TokenKind::Equals)),
            b':' if self.byte(1) == Some(b':') => {
                self.skip(2);
                return Some(TokenKind::PathSeparator);
            }
            b':' => return Some(self.single(TokenKind::Colon)),
            b'"' => return Some(self.quoted(0, TokenKind::String)),
            b'\'' => return Some(self.single_quoted()),
            b'0'..=b'9' | b'+' | b'-' | b'.' => return Some(self.number()),
            _ => return Some(self.word()),
        }
        None
    }

    fn single(&mut self, kind: TokenKind) -> TokenKind {
        self.skip(1);
        kind
    }

    fn block_comment(&mut self) -> Option<TokenKind> {
        self.skip(2);
        let mut depth = 1;
        while depth > 0 {
            match (self.byte(0), self.byte(1)) {
                (None, _) => return Some(TokenKind::Unterminated),
                (Some(b'/'), Some(b'*')) => (depth, self.at) = (depth + 1, self.at + 2),
                (Some(b'*'), Some(b'/')) => (depth, self.at) = (depth - 1, self.at + 2),
                _ => self.skip(1),
            }
        }
        None
    }

    /// A string whose quote stands after a prefix of `prefix` bytes.
    fn quoted(&mut self, prefix: usize, kind: TokenKind) -> TokenKind {
        self.skip(prefix + 1);
        loop {
            match self.byte(0) {
                None => return TokenKind::Unterminated,
                Some(b'\\') => self.skip(2),
                Some(b'"') => {
                    self.skip(1);
                    return kind;
                }
                Some(_) => self.skip(1),
            }
        }
    }

    /// A raw string whose `#`s or quote stand after a prefix of `prefix` bytes.
    fn raw(&mut self, prefix: usize, kind: TokenKind) -> TokenKind {
        self.skip(prefix);
        let hashes = self.hashes();
        self.skip(hashes + 1);
        loop {
            match self.byte(0) {
                None => return TokenKind::Unterminated,
                Some(b'"') => {
                    self.skip(1);
                    let closing = self.hashes();
                    self.skip(closing.min(hashes));
                    if closing >= hashes {
                        return kind;
                    }
                }
                Some(_) => self.skip(1),
            }
        }
    }

    fn hashes(&self) -> usize {
        self.rest().bytes().take_while(|byte| *byte == b'#').count()
    }

    fn single_quoted(&mut self) -> TokenKind {
        let rest = &self.rest().as_bytes()[1..];
        match rest.iter().position(|byte| matches!(byte, b'\'' | b'\n')) {
            Some(length) if rest[length] == b'\'' => {
                self.skip(length + 2);
                TokenKind::SingleQuoted
            }
            _ => self.single(TokenKind::Unknown),
        }
    }

    fn number(&mut self) -> TokenKind {
        let radix = matches!(self.byte(1), Some(b'x' | b'b' | b'o'));
        let mut previous = 0;
        loop {
            match self.byte(0) {
                Some(b'+' | b'-') if previous == 0 => {}
                Some(b'+' | b'-') if matches!(previous, b'e' | b'E') && !radix => {}
                Some(b'.' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') => {}
                _ => return TokenKind::Number,
            }
            previous = self.text.as_bytes()[self.at];
            self.skip(1);
        }
    }

    /// An identifier, a string with a letter before it, or one unknown character.
    fn word(&mut self) -> TokenKind {
        let rest = self.rest();
        if is_raw(rest, "r") {
            return self.raw(1, TokenKind::RawString);
        }
        if rest.starts_with("b\"") {
            return self.quoted(1, TokenKind::Bytes);
        }
        if is_raw(rest, "br") {
            return self.raw(2, TokenKind::Bytes);
        }
        let raw = if rest.starts_with("r#") { 2 } else { 0 };
        let in_word = |c: char| c == '_' || c.is_alphanumeric() || (raw > 0 && "-.+".contains(c));
        let length = rest[raw..]
            .find(|c| !in_word(c))
            .unwrap_or(rest.len() - raw);
        if length == 0 {
            self.skip(rest.chars().next().map_or(1, char::len_utf8));
            return TokenKind::Unknown;
        }
        self.skip(raw + length);
        TokenKind::Identifier
    }

    fn skip(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.text.len());
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn length_until(&self, byte: u8) -> usize {
        let rest = self.rest().as_bytes();
        rest.iter().position(|b| *b == byte).unwrap_or(rest.len())
    }
}

fn is_raw(rest: &str, prefix: &str) -> bool {
    rest.strip_prefix(prefix)
        .is_some_and(|rest| rest.trim_start_matches('#').starts_with('"'))
}
