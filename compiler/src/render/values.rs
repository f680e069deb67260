//! Expressions at the sizes that a plan was made for.

use std::collections::{BTreeSet, HashMap};

use haul_ir::expr::{Expr, Symbol};
use haul_ir::plan::Plan;

use super::units::significant;

/// The value of each dim at which times were evaluated.
pub(crate) struct Values<'a>(HashMap<&'a Symbol, u64>);

impl<'a> Values<'a> {
    pub(crate) fn of(plan: &'a Plan) -> Self {
        Self::new(&plan.dims)
    }

    pub(crate) fn new(sizes: &'a [(Symbol, u64)]) -> Self {
        Self(sizes.iter().map(|(dim, value)| (dim, *value)).collect())
    }

    /// The value, where all its dims have one and it is not below zero.
    pub(crate) fn eval(&self, expr: &Expr) -> Option<u128> {
        let value_of = |dim: &Symbol| self.0.get(dim).map(|value| i128::from(*value));
        expr.eval(&value_of)
            .ok()
            .and_then(|value| u128::try_from(value).ok())
    }

    /// `56.1 flop/B at B = 1024`; the dims are left out where the ratio does not hang on them.
    pub(crate) fn intensity(&self, flops: &Expr, bytes: &Expr) -> Option<String> {
        let (f, b) = (self.eval(flops)?, self.eval(bytes).filter(|b| *b > 0)?);
        let ratio = significant(f, b);
        let whole = |value| i128::try_from(value).map_or(Expr::OVERFLOW, Expr::from);
        let (left, right) = (flops * whole(b), bytes * whole(f));
        let constant = left == right && !left.is_overflow();
        let at = if constant {
            String::new()
        } else {
            self.at([flops, bytes])
        };
        Some(format!("{ratio} flop/B{at}"))
    }

    /// ` at B = 1024, n = 2`: the dims of the expressions with their values; empty where there are none.
    pub(crate) fn at<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> String {
        let mut dims = BTreeSet::new();
        for expr in exprs {
            expr.symbols(&mut |dim| {
                dims.insert(dim.clone());
            });
        }
        let known = dims
            .iter()
            .filter_map(|dim| Some(format!("{dim} = {}", self.0.get(dim)?)));
        let known: Vec<_> = known.collect();
        match known.len() {
            0 => String::new(),
            _ => format!(" at {}", known.join(", ")),
        }
    }
}

/// Whether it has dims.
pub(crate) fn is_symbolic(expr: &Expr) -> bool {
    let mut found = false;
    expr.symbols(&mut |_| found = true);
    found
}
