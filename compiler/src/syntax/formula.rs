//! Formulas: Python's expressions as NumPy uses them, one statement a line.
//!
//! Each line reports its own mistake; the next line is read as if there were none.

mod declaration;
mod expression;
mod lexer;
mod parser;
mod postfix;

use haul_ir::diagnostic::{Diagnostic, Span};

use self::expression::Tree;
use self::parser::{Failed, Parser};
use super::ast::{Expr, ExprKind, Formula, Name, Statement};
use super::strings::{Content, excerpt};
use crate::diagnostics::codes::{EMPTY_FORMULA, NOT_A_NAME, RESERVED};

pub(super) use self::declaration::{declared_type, signature};
pub use self::expression::MAX_HEIGHT;

/// Words with a meaning of their own after a dot or in an index.
const RESERVED_NAMES: [&str; 2] = ["T", "newaxis"];

/// After so many mistakes the rest of a formula is not looked at.
const MAX_MISTAKES: usize = 20;

/// Reads a formula. A line that could not be read keeps its targets. Nothing when there is no
/// line.
pub(super) fn formula(content: &Content<'_>, mistakes: &mut Vec<Diagnostic>) -> Option<Formula> {
    let mut parser = Parser::new(content);
    let mut statements = Vec::new();
    while parser.next_line() && parser.mistakes.len() < MAX_MISTAKES {
        statements.push(statement(&mut parser));
    }
    mistakes.append(&mut parser.mistakes);
    if statements.is_empty() {
        let mistake = Diagnostic::error(EMPTY_FORMULA, content.span(), "this formula is empty");
        mistakes.push(mistake.help("write an expression, such as `sum(x, axis=0)`"));
        return None;
    }
    Some(Formula {
        statements,
        span: content.span(),
    })
}

/// Reads an expression of one line.
pub(super) fn expression(content: &Content<'_>, mistakes: &mut Vec<Diagnostic>) -> Option<Expr> {
    let mut parser = Parser::new(content);
    parser.next_line();
    let read = whole(&mut parser);
    mistakes.append(&mut parser.mistakes);
    read.ok()
}

/// Refuses what cannot be a name in a formula.
pub(super) fn check_name(name: &str, span: Span, mistakes: &mut Vec<Diagnostic>) {
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(lexer::begins_name);
    if !begins || !letters.all(lexer::continues_name) {
        let message = format!("`{}` cannot be used as a name", excerpt(name));
        let help = "a name has letters, digits and `_`, and does not begin with a digit";
        mistakes.push(Diagnostic::error(NOT_A_NAME, span, message).help(help));
    } else if RESERVED_NAMES.contains(&name) {
        let message = format!("`{name}` has a meaning of its own");
        let help = "`x.T` is the transpose of `x`, `x[newaxis]` adds an axis; take another name";
        mistakes.push(Diagnostic::error(RESERVED, span, message).help(help));
    }
}

fn statement(parser: &mut Parser<'_>) -> Statement {
    let start = parser.position();
    let targets = parser.targets();
    for Name { value, span } in &targets {
        check_name(value, *span, &mut parser.mistakes);
    }
    let first = parser.peek().span;
    let value = whole(parser).unwrap_or_else(|Failed| {
        parser.recover(start);
        Expr {
            kind: ExprKind::Error,
            span: first,
        }
    });
    Statement { targets, value }
}

/// An expression that takes the rest of the line.
fn whole(parser: &mut Parser<'_>) -> Result<Expr, Failed> {
    let Tree { expr, .. } = parser.expression()?;
    parser.end_of_line()?;
    Ok(expr)
}
