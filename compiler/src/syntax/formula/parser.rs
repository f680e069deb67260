//! Moves through the tokens of a formula, from statement to statement.

use haul_ir::diagnostic::{Diagnostic, Span};

use super::lexer::{Token, TokenKind, tokens};
use crate::diagnostics::codes::{FORMULA, UNCLOSED};
use crate::syntax::ast::{Name, Spanned};
use crate::syntax::strings::{Content, excerpt};

/// A statement could not be read; the mistake has been reported.
#[derive(Debug)]
pub(super) struct Failed;

/// Reads the tokens of one formula.
pub(super) struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    /// How many brackets are open; inside of them lines go on.
    brackets: usize,
    pub(super) nesting: usize,
    pub(super) mistakes: Vec<Diagnostic>,
}

impl<'t> Parser<'t> {
    pub(super) fn new(content: &'t Content<'_>) -> Self {
        Self {
            tokens: tokens(content),
            at: 0,
            brackets: 0,
            nesting: 0,
            mistakes: Vec::new(),
        }
    }

    /// Moves to the first token of the next statement, if there is one.
    pub(super) fn next_line(&mut self) -> bool {
        while self.peek().kind == TokenKind::Newline {
            self.at += 1;
        }
        self.peek().kind != TokenKind::End
    }

    /// The names before `=`, which is passed over; none when this is no assignment.
    pub(super) fn targets(&mut self) -> Vec<Name> {
        let mut targets = Vec::new();
        let mut at = self.at;
        while self.tokens[at].kind == TokenKind::Name {
            targets.push(name(self.tokens[at]));
            at += 1;
            if self.tokens[at].is("=") {
                self.at = at + 1;
                return targets;
            }
            if !self.tokens[at].is(",") {
                break;
            }
            at += 1;
        }
        Vec::new()
    }

    /// Refuses anything more on the line.
    pub(super) fn end_of_line(&mut self) -> Result<(), Failed> {
        match self.peek().ends_line() {
            true => Ok(()),
            false => Err(self.unexpected("an operator or the end of the line")),
        }
    }

    /// After a mistake: moves to where the statement that began at token `start` probably ends.
    pub(super) fn recover(&mut self, start: usize) {
        self.nesting = 0;
        let open = std::mem::take(&mut self.brackets);
        if let Some(end) = self.end_of_brackets(open) {
            self.at = end;
        } else if self.at > start && self.peek().first {
            return;
        }
        while !self.peek().ends_line() {
            self.at += 1;
        }
    }

    /// The first token after the brackets that are open here; nothing when there are none, or
    /// they are never closed.
    fn end_of_brackets(&self, mut open: usize) -> Option<usize> {
        if open == 0 {
            return None;
        }
        for (at, token) in self.tokens.iter().enumerate().skip(self.at) {
            if token.is("(") || token.is("[") || token.is("{") {
                open += 1;
            } else if token.is(")") || token.is("]") || token.is("}") {
                open -= 1;
            }
            if open == 0 {
                return Some(at + 1);
            }
        }
        None
    }

    /// Opens a bracket: the lines go on until it is closed.
    pub(super) fn open(&mut self) -> Token<'t> {
        self.brackets += 1;
        self.bump()
    }

    /// Closes the bracket `open` with `mark`, and returns the place of both and what is between.
    pub(super) fn close(&mut self, open: Token<'_>, mark: &str) -> Result<Span, Failed> {
        let token = self.peek();
        if token.is(mark) {
            self.brackets -= 1;
            self.bump();
            return Ok(open.span.to(token.span));
        }
        // A new statement begins where a line begins and does not fit, or does with `name =`.
        let previous = self.previous();
        if token.is("=") && previous.kind == TokenKind::Name && previous.first {
            self.at -= 1;
        } else if token.kind != TokenKind::End && !token.first {
            return Err(self.unexpected(&format!("`,` or `{mark}`")));
        }
        self.brackets = 0;
        let message = format!("this `{}` is never closed", open.text);
        Err(self.refuse(Diagnostic::error(UNCLOSED, open.span, message)))
    }

    pub(super) fn peek(&self) -> Token<'t> {
        self.tokens[self.at]
    }

    /// The last token that was read, or the first one when none was.
    pub(super) fn previous(&self) -> Token<'t> {
        let read = self.tokens[..self.at].iter().rev();
        let mut words = read.filter(|token| token.kind != TokenKind::Newline);
        words.next().copied().unwrap_or(self.tokens[0])
    }

    pub(super) fn peek_after(&self) -> Token<'t> {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    /// Where the next token is in the list of tokens.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn bump(&mut self) -> Token<'t> {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        while self.brackets > 0 && self.peek().kind == TokenKind::Newline {
            self.at += 1;
        }
        token
    }

    pub(super) fn eat(&mut self, mark: &str) -> bool {
        let found = self.peek().is(mark);
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn refuse(&mut self, mistake: Diagnostic) -> Failed {
        self.mistakes.push(mistake);
        Failed
    }

    /// Reports the next token, where something else is expected.
    pub(super) fn unexpected(&mut self, expected: &str) -> Failed {
        let token = self.peek();
        if token.ends_line() {
            let end = self.previous().span.end;
            let here = if self.at == 0 {
                token.span
            } else {
                Span::new(end, end)
            };
            let message = format!("{expected} is expected here");
            return self.refuse(Diagnostic::error(FORMULA, here, message));
        }
        if token.text == "'" {
            let mistake = Diagnostic::error(UNCLOSED, token.span, "this text never ends");
            return self.refuse(mistake.help("write `'` where the text ends, on the same line"));
        }
        let message = format!("unexpected `{}`", excerpt(token.text));
        let mistake = Diagnostic::error(FORMULA, token.span, message);
        let mistake = mistake.at(format!("{expected} is expected here"));
        let previous = self.previous().text;
        self.refuse(match advice(previous, token.text) {
            Some(help) => mistake.help(help),
            None => mistake,
        })
    }
}

/// The text of a token, as a name.
pub(super) fn name(token: Token<'_>) -> Name {
    Spanned::new(token.text.to_owned(), token.span)
}

/// What to write instead of what other languages have.
fn advice(previous: &str, found: &str) -> Option<&'static str> {
    Some(match (previous, found) {
        (_, "if" | "else" | "for" | "while" | "in") | ("if" | "for" | "while", _) => {
            "formulas have no control flow; choose between values with `where(condition, a, b)`"
        }
        (_, "and") | ("&", "&") => "write `&`, with parentheses around both sides",
        (_, "or") | ("|", "|") => "write `|`, with parentheses around both sides",
        ("not", _) | (_, "!") => "write `~`",
        (_, "\"" | "`") => "texts are written in single quotes",
        (_, "\\") => "a line goes on inside of parentheses",
        (_, ";") => "write one statement a line",
        (_, "?") => "choose between values with `where(condition, a, b)`",
        ("+" | "-" | "*" | "/" | "**" | "@", "=") => {
            "values do not change: assign the result to a new name"
        }
        (_, "=") => "an assignment is `name = value`, and `==` compares",
        _ => return None,
    })
}
