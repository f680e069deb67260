//! Expressions, by precedence climbing.

use haul_ir::diagnostic::{Diagnostic, Span};

use super::lexer::{Token, TokenKind, tokens};
use crate::diagnostics::codes::{CHAINED, FORMULA, NESTING, OUT_OF_RANGE, UNCLOSED};
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Name, Number, Spanned, UnaryOp};
use crate::syntax::strings::{Content, excerpt};

/// How many operations may stand on each other in one expression.
pub const MAX_HEIGHT: usize = 256;

/// How many brackets, signs and powers may be open at once.
const MAX_NESTING: usize = 64;

/// A statement could not be read; the mistake has been reported.
#[derive(Debug)]
pub(super) struct Failed;

/// An expression and how high it is.
pub(super) struct Tree {
    pub(super) expr: Expr,
    pub(super) height: usize,
}

/// Reads the tokens of one formula.
pub(super) struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    /// How many brackets are open; inside of them lines go on.
    brackets: usize,
    nesting: usize,
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

    pub(super) fn expression(&mut self) -> Result<Tree, Failed> {
        let left = self.binary(0)?;
        let Some(op) = comparison(self.peek().text).filter(|_| self.at_mark()) else {
            return Ok(left);
        };
        let op = Spanned::new(op, self.bump().span);
        let right = self.binary(0)?;
        if self.at_mark() && comparison(self.peek().text).is_some() {
            return Err(self.chained(&right.expr));
        }
        self.join(op, left, right)
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
            if token.is("(") || token.is("[") {
                open += 1;
            } else if token.is(")") || token.is("]") {
                open -= 1;
            }
            if open == 0 {
                return Some(at + 1);
            }
        }
        None
    }

    fn binary(&mut self, lowest: u8) -> Result<Tree, Failed> {
        let mut left = self.unary()?;
        while let Some((level, op)) = binary(self.peek().text).filter(|_| self.at_mark()) {
            if level < lowest {
                break;
            }
            let op = Spanned::new(op, self.bump().span);
            let right = self.binary(level + 1)?;
            left = self.join(op, left, right)?;
        }
        Ok(left)
    }

    /// A sign and what it applies to, which includes its power: `-x ** 2` is `-(x ** 2)`.
    fn unary(&mut self) -> Result<Tree, Failed> {
        if self.nesting >= MAX_NESTING {
            let message = format!("more than {MAX_NESTING} brackets or signs are open here");
            return Err(self.refuse(Diagnostic::error(NESTING, self.peek().span, message)));
        }
        self.nesting += 1;
        let op = match self.peek().text {
            "-" => Some(UnaryOp::Negative),
            "+" => Some(UnaryOp::Positive),
            "~" => Some(UnaryOp::Invert),
            _ => None,
        };
        let tree = match op {
            Some(op) => self.signed(op)?,
            None => self.power()?,
        };
        self.nesting -= 1;
        Ok(tree)
    }

    fn signed(&mut self, op: UnaryOp) -> Result<Tree, Failed> {
        let op = Spanned::new(op, self.bump().span);
        let operand = self.unary()?;
        let span = op.span.to(operand.expr.span);
        let kind = ExprKind::Unary {
            op,
            operand: Box::new(operand.expr),
        };
        self.grow(kind, span, operand.height)
    }

    fn power(&mut self) -> Result<Tree, Failed> {
        let base = self.postfix()?;
        if !self.peek().is("**") {
            return Ok(base);
        }
        let op = Spanned::new(BinaryOp::Power, self.bump().span);
        let exponent = self.unary()?;
        self.join(op, base, exponent)
    }

    fn join(&mut self, op: Spanned<BinaryOp>, left: Tree, right: Tree) -> Result<Tree, Failed> {
        let span = left.expr.span.to(right.expr.span);
        let height = left.height.max(right.height);
        let (left, right) = (Box::new(left.expr), Box::new(right.expr));
        self.grow(ExprKind::Binary { op, left, right }, span, height)
    }

    /// A node over parts of that height.
    pub(super) fn grow(
        &mut self,
        kind: ExprKind,
        span: Span,
        height: usize,
    ) -> Result<Tree, Failed> {
        if height < MAX_HEIGHT {
            return Ok(Tree {
                expr: Expr { kind, span },
                height: height + 1,
            });
        }
        let last = self.tokens[self.at.saturating_sub(1)].span;
        let message = format!("more than {MAX_HEIGHT} operations stand on each other here");
        let mistake = Diagnostic::error(NESTING, last, message);
        Err(self.refuse(mistake.help("give parts of the expression names, on lines of their own")))
    }

    /// A number, text or name without anything after it.
    pub(super) fn leaf(&mut self) -> Result<Tree, Failed> {
        let token = self.peek();
        let kind = match token.kind {
            TokenKind::Number => ExprKind::Number(self.number(token)?),
            TokenKind::Text => ExprKind::Text(token.text.trim_matches('\'').to_owned()),
            TokenKind::Name => ExprKind::Name(token.text.to_owned()),
            _ => return Err(self.unexpected("a value")),
        };
        self.bump();
        self.grow(kind, token.span, 0)
    }

    fn number(&mut self, token: Token<'_>) -> Result<Number, Failed> {
        let digits = token.text.replace('_', "");
        let integer = digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = match integer {
            true => digits.parse().ok().map(Number::Int),
            false => digits.parse().ok().map(Number::Float),
        };
        let (code, message) = match number {
            Some(Number::Float(value)) if value.is_infinite() => (OUT_OF_RANGE, "is too large"),
            None if integer => (OUT_OF_RANGE, "is too large"),
            None => (FORMULA, "is not a number"),
            Some(number) => return Ok(number),
        };
        let message = format!("`{}` {message}", excerpt(token.text));
        Err(self.refuse(Diagnostic::error(code, token.span, message)))
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
        let previous = self.tokens[self.at - 1];
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
            let end = self.tokens[self.at.saturating_sub(1)].span.end;
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
        let previous = self.tokens[self.at.saturating_sub(1)].text;
        self.refuse(match advice(previous, token.text) {
            Some(help) => mistake.help(help),
            None => mistake,
        })
    }

    fn chained(&mut self, middle: &Expr) -> Failed {
        let mistake = Diagnostic::error(CHAINED, self.peek().span, "comparisons are not chained");
        let mistake = mistake.label(middle.span, "compared with both sides");
        self.refuse(mistake.help("compare twice: `(a < b) & (b < c)`"))
    }

    fn at_mark(&self) -> bool {
        self.peek().kind == TokenKind::Mark
    }
}

/// The text of a token, as a name.
pub(super) fn name(token: Token<'_>) -> Name {
    Spanned::new(token.text.to_owned(), token.span)
}

/// Left-associative operators, with how tightly they bind.
fn binary(mark: &str) -> Option<(u8, BinaryOp)> {
    Some(match mark {
        "|" => (1, BinaryOp::Or),
        "^" => (2, BinaryOp::Xor),
        "&" => (3, BinaryOp::And),
        "+" => (4, BinaryOp::Add),
        "-" => (4, BinaryOp::Subtract),
        "*" => (5, BinaryOp::Multiply),
        "/" => (5, BinaryOp::Divide),
        "//" => (5, BinaryOp::FloorDivide),
        "%" => (5, BinaryOp::Remainder),
        "@" => (5, BinaryOp::MatMul),
        _ => return None,
    })
}

/// Comparisons bind loosest, and not to each other.
fn comparison(mark: &str) -> Option<BinaryOp> {
    Some(match mark {
        "==" => BinaryOp::Equal,
        "!=" => BinaryOp::NotEqual,
        "<" => BinaryOp::Less,
        "<=" => BinaryOp::LessEqual,
        ">" => BinaryOp::Greater,
        ">=" => BinaryOp::GreaterEqual,
        _ => return None,
    })
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
