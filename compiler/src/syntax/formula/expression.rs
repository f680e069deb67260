//! Expressions, by precedence climbing.

use haul_ir::diagnostic::{Diagnostic, Span};

use super::lexer::{Token, TokenKind};
use super::parser::{Failed, Parser};
use crate::diagnostics::codes::{CHAINED, FORMULA, NESTING, OUT_OF_RANGE};
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Number, Spanned, UnaryOp};
use crate::syntax::strings::excerpt;

/// How many operations may stand on each other in one expression.
pub const MAX_HEIGHT: usize = 256;

/// How many brackets, signs and powers may be open at once.
const MAX_NESTING: usize = 64;

/// An expression and how high it is.
pub(super) struct Tree {
    pub(super) expr: Expr,
    pub(super) height: usize,
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Result<Tree, Failed> {
        let left = self.binary(0)?;
        let Some(op) = comparison(self.peek().text) else {
            return Ok(left);
        };
        let op = Spanned::new(op, self.bump().span);
        let right = self.binary(0)?;
        if comparison(self.peek().text).is_some() {
            return Err(self.chained(&right.expr));
        }
        self.join(op, left, right)
    }

    fn binary(&mut self, lowest: u8) -> Result<Tree, Failed> {
        let mut left = self.unary()?;
        while let Some((level, op)) = binary(self.peek().text) {
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
        let last = self.previous().span;
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

    fn chained(&mut self, middle: &Expr) -> Failed {
        let mistake = Diagnostic::error(CHAINED, self.peek().span, "comparisons are not chained");
        let mistake = mistake.label(middle.span, "compared with both sides");
        self.refuse(mistake.help("compare twice: `(a < b) & (b < c)`"))
    }
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
