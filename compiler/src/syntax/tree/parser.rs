//! From tokens to the tree.

use haul_ir::diagnostic::{Diagnostic, Span};

use super::{Entry, Node, NodeKind};
use crate::diagnostics::codes::{NESTING, TOO_LARGE, UNCLOSED, UNEXPECTED};
use crate::syntax::lexer::{Bracket, Lexer, Token, TokenKind};

/// How many brackets may be open at once; fewer than the 64 that `ron` takes.
const MAX_NESTING: usize = 48;

/// How many values a file may hold.
const MAX_VALUES: usize = 4_000_000;

/// After so many mistakes the rest of the file is not looked at.
const MAX_MISTAKES: usize = 500;

/// Reads the whole text. There is no tree when the end of it could not be found; the mistakes
/// are in the order in which they were found.
pub(in crate::syntax) fn parse(text: &str) -> (Option<Node>, Vec<Diagnostic>) {
    let mut lexer = Lexer::new(text);
    let (token, next) = (lexer.next(), lexer.next());
    let mut parser = Parser {
        text,
        lexer,
        token,
        next,
        end: 0,
        open: Vec::new(),
        values: 0,
        cut_short: false,
        unclosed: None,
        mistakes: Vec::new(),
    };
    let root = parser.value();
    parser.nothing_more(&root);
    parser.mend_unclosed();
    ((!parser.cut_short).then_some(root), parser.mistakes)
}

pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) lexer: Lexer<'t>,
    pub(super) token: Token,
    pub(super) next: Token,
    /// Where the last token ended.
    pub(super) end: usize,
    pub(super) open: Vec<Token>,
    pub(super) values: usize,
    /// Whether the tree stops before what the author wrote does.
    pub(super) cut_short: bool,
    /// Where a bracket that is never closed would be, and what closes it.
    pub(super) unclosed: Option<(usize, char)>,
    pub(super) mistakes: Vec<Diagnostic>,
}

impl Parser<'_> {
    /// A value, or `Error` with nothing read and nothing said.
    fn value(&mut self) -> Node {
        self.values += 1;
        let start = self.token.span;
        match self.token.kind {
            TokenKind::Number | TokenKind::Bytes => self.scalar(NodeKind::Scalar),
            TokenKind::String | TokenKind::RawString => self.scalar(NodeKind::String),
            TokenKind::SingleQuoted => self.single_quoted(),
            TokenKind::Unterminated => self.unterminated(),
            TokenKind::Identifier => self.named(),
            TokenKind::Open(bracket) => self.group(bracket, None),
            _ => Node {
                kind: NodeKind::Error,
                span: Span::new(start.start, start.start),
            },
        }
    }

    fn scalar(&mut self, kind: NodeKind) -> Node {
        Node {
            kind,
            span: self.bump().span,
        }
    }

    fn single_quoted(&mut self) -> Node {
        let span = self.bump().span;
        let content = &self.text[span.start + 1..span.end - 1];
        let mistake = Diagnostic::error(UNEXPECTED, span, "a string is written in double quotes");
        self.mistakes.push(match content.contains(['"', '\\']) {
            true => mistake,
            false => mistake
                .help("use double quotes")
                .fix(span, format!("\"{content}\""))
                .machine_applicable(),
        });
        Node {
            kind: NodeKind::Error,
            span,
        }
    }

    fn unterminated(&mut self) -> Node {
        let span = self.bump().span;
        self.cut_short = true;
        let comment = self.text[span.range()].starts_with("/*");
        let (what, mark) = if comment {
            ("comment", "*/")
        } else {
            ("string", "\"")
        };
        let length = self.text[span.range()]
            .chars()
            .next()
            .map_or(0, char::len_utf8);
        let opening = Span::new(span.start, span.start + length);
        let message = format!("this {what} never ends");
        let help = format!("write `{mark}` where the {what} ends");
        self.mistakes
            .push(Diagnostic::error(UNCLOSED, opening, message).help(help));
        Node {
            kind: NodeKind::Error,
            span,
        }
    }

    /// An identifier, alone or before a bracket.
    fn named(&mut self) -> Node {
        let mut name = self.bump().span;
        while self.token.kind == TokenKind::PathSeparator {
            let path = name.to(self.bump().span);
            let message = "a kind is written without a path";
            let mistake = Diagnostic::error(UNEXPECTED, path, message);
            self.mistakes
                .push(mistake.help("leave out this part").fix(path, ""));
            if self.token.kind == TokenKind::Identifier {
                name = self.bump().span;
            }
        }
        match self.token.kind {
            TokenKind::Open(Bracket::Round) => self.group(Bracket::Round, Some(name)),
            TokenKind::Open(Bracket::Curly) => {
                let at = self.token.span;
                let message = "fields are written in `( )`, not in `{ }`";
                self.mistakes
                    .push(Diagnostic::error(UNEXPECTED, at, message));
                let before = self.mistakes.len();
                let group = self.group(Bracket::Curly, None);
                self.mistakes.truncate(before); // They would follow from this one.
                Node {
                    kind: NodeKind::Error,
                    span: name.to(group.span),
                }
            }
            _ => Node {
                kind: NodeKind::Scalar,
                span: name,
            },
        }
    }

    fn group(&mut self, bracket: Bracket, name: Option<Span>) -> Node {
        let open = self.bump();
        let start = name.unwrap_or(open.span).start;
        if self.open.len() >= MAX_NESTING {
            return self.too_deep(open, start);
        }
        self.open.push(open);
        let mut members = Members::default();
        while !self.at_close() {
            self.member(bracket, &mut members);
        }
        self.close(open, bracket);
        self.open.pop();
        self.refuse_items(bracket, &members);
        self.refuse_repeated(&mut members.entries);
        let kind = match bracket {
            Bracket::Square => NodeKind::List(members.items),
            Bracket::Curly => NodeKind::Map(members.entries),
            Bracket::Round if members.items.is_empty() => NodeKind::Struct(name, members.entries),
            Bracket::Round if members.entries.is_empty() => NodeKind::Tuple(name),
            Bracket::Round => NodeKind::Struct(name, members.entries),
        };
        Node {
            kind,
            span: Span::new(start, self.end),
        }
    }

    /// One `value` or `key: value`, with the comma after it.
    fn member(&mut self, bracket: Bracket, members: &mut Members) {
        let before = self.token.span;
        let key = self.value();
        if matches!(self.token.kind, TokenKind::Colon | TokenKind::Equals) {
            let value = self.entry_value(bracket, &key);
            self.separator();
            let end = self.end;
            members.entries.push(Entry { key, value, end });
        } else if self.token.span == before {
            self.unexpected();
        } else {
            members.items.push(key);
            self.separator();
        }
    }

    fn entry_value(&mut self, bracket: Bracket, key: &Node) -> Node {
        let colon = self.bump();
        if colon.kind == TokenKind::Equals {
            let mistake = Diagnostic::error(UNEXPECTED, colon.span, "a value follows `:`, not `=`");
            let edited = mistake.fix(colon.span, ":");
            self.mistakes.push(edited.machine_applicable());
        }
        self.check_key(bracket, key, colon.span);
        let value = self.value();
        let missing = matches!(value.kind, NodeKind::Error) && value.span.start == value.span.end;
        if missing && matches!(self.token.kind, TokenKind::Comma | TokenKind::Close(_)) {
            let span = key.span.to(colon.span);
            self.mistakes.push(Diagnostic::error(
                UNEXPECTED,
                span,
                "a value is missing here",
            ));
        }
        value
    }

    fn separator(&mut self) {
        match self.token.kind {
            TokenKind::Comma => drop(self.bump()),
            TokenKind::Close(_) | TokenKind::End => {}
            _ => {
                let here = Span::new(self.end, self.end);
                let mistake = Diagnostic::error(UNEXPECTED, here, "a `,` is missing here");
                let edited = mistake.fix(here, ",");
                // What stands before a colon begins an entry; else something else may be missing.
                self.mistakes.push(match self.next.kind {
                    TokenKind::Colon => edited.machine_applicable(),
                    _ => edited,
                });
            }
        }
    }

    /// Whether the group ends here; closing brackets that close nothing are passed over.
    fn at_close(&mut self) -> bool {
        loop {
            self.stop_at_limits();
            match self.token.kind {
                TokenKind::End => return true,
                TokenKind::Close(bracket) if self.is_open(bracket) => return true,
                TokenKind::Close(_) => self.unexpected(),
                _ => return false,
            }
        }
    }

    fn is_open(&self, bracket: Bracket) -> bool {
        self.open
            .iter()
            .any(|open| open.kind == TokenKind::Open(bracket))
    }

    fn stop_at_limits(&mut self) {
        let here = self.token.span;
        if self.values > MAX_VALUES && !self.cut_short {
            let message = format!("the file holds more than {MAX_VALUES} values");
            let mistake = Diagnostic::error(TOO_LARGE, here, message);
            self.mistakes
                .push(mistake.help("keep large arrays in data files"));
        } else if self.mistakes.len() <= MAX_MISTAKES {
            return;
        }
        self.cut_short = true;
        self.token = Token {
            kind: TokenKind::End,
            span: Span::new(here.start, here.start),
        };
        self.next = self.token;
    }

    fn close(&mut self, open: Token, bracket: Bracket) {
        if self.token.kind == TokenKind::Close(bracket) {
            self.bump();
            return;
        }
        let at_end = self.token.kind == TokenKind::End;
        if at_end && std::mem::replace(&mut self.cut_short, true) {
            return; // One report stands for all brackets that are open at the end.
        }
        let found = match at_end {
            true => "the file ends here".to_owned(),
            false => format!("`{}` is expected before this", bracket.close()),
        };
        let message = format!("this `{}` is never closed", bracket.open());
        if !at_end || self.open.len() == 1 {
            self.unclosed = Some((self.end, bracket.close()));
        }
        let mistake = Diagnostic::error(UNCLOSED, open.span, message).label(self.token.span, found);
        self.mistakes.push(mistake);
    }

    fn too_deep(&mut self, open: Token, start: usize) -> Node {
        let message = format!("more than {MAX_NESTING} brackets are open here");
        self.mistakes
            .push(Diagnostic::error(NESTING, open.span, message));
        let mut depth = 1;
        while depth > 0 && self.token.kind != TokenKind::End {
            match self.bump().kind {
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(_) => depth -= 1,
                _ => {}
            }
        }
        Node {
            kind: NodeKind::Error,
            span: Span::new(start, self.end),
        }
    }

    pub(super) fn bump(&mut self) -> Token {
        let token = self.token;
        self.end = token.span.end;
        self.token = std::mem::replace(&mut self.next, self.lexer.next());
        token
    }
}

/// What stands between two brackets.
#[derive(Default)]
pub(super) struct Members {
    pub(super) entries: Vec<Entry>,
    pub(super) items: Vec<Node>,
}
