//! Statements and expressions as text, with parentheses around every operation.

use std::fmt::{Display, Formatter, Result};

use super::ast::{Argument, Expr, ExprKind, IndexItem, Number, Statement};

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if !self.targets.is_empty() {
            write!(
                f,
                "{} = ",
                Commas(self.targets.iter().map(|target| &target.value))
            )?;
        }
        write!(f, "{}", self.value)
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            ExprKind::Name(name) => write!(f, "{name}"),
            ExprKind::Number(number) => write!(f, "{number}"),
            ExprKind::Text(text) => write!(f, "'{text}'"),
            ExprKind::List(items) => write!(f, "[{}]", Commas(items.iter())),
            ExprKind::Field { base, name } => write!(f, "{base}.{}", name.value),
            ExprKind::Transpose(base) => write!(f, "{base}.T"),
            ExprKind::Index { base, items } => {
                write!(
                    f,
                    "{base}[{}]",
                    Commas(items.iter().map(|item| &item.value))
                )
            }
            ExprKind::Call {
                function,
                arguments,
            } => {
                write!(f, "{}({})", function.value, Commas(arguments.iter()))
            }
            ExprKind::Unary { op, operand } => write!(f, "({}{operand})", op.value.symbol()),
            ExprKind::Binary { op, left, right } => {
                write!(f, "({left} {} {right})", op.value.symbol())
            }
            ExprKind::Command(command) => {
                let argv = command.argv.iter().map(|argument| &argument.value);
                write!(f, "command({})", Commas(argv))
            }
            ExprKind::Error => write!(f, "?"),
        }
    }
}

impl Display for Number {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Number::Int(value) => write!(f, "{value}"),
            Number::Float(value) => write!(f, "{value:?}"),
        }
    }
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(name) = &self.name {
            write!(f, "{}=", name.value)?;
        }
        write!(f, "{}", self.value)
    }
}

impl Display for IndexItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let part = |part: &Option<Expr>| part.as_ref().map_or(String::new(), Expr::to_string);
        match self {
            IndexItem::At(position) => write!(f, "{position}"),
            IndexItem::Slice {
                start,
                stop,
                step: None,
            } => {
                write!(f, "{}:{}", part(start), part(stop))
            }
            IndexItem::Slice { start, stop, step } => {
                write!(f, "{}:{}:{}", part(start), part(stop), part(step))
            }
            IndexItem::Ellipsis => write!(f, "..."),
            IndexItem::NewAxis => write!(f, "newaxis"),
        }
    }
}

/// Prints items with `, ` between them.
struct Commas<I>(I);

impl<I: Iterator<Item: Display> + Clone> Display for Commas<I> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (at, item) in self.0.clone().enumerate() {
            write!(f, "{}{item}", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
