//! Where expressions in dims are evaluated.

use std::collections::BTreeMap;

use haul_ir::expr::{EvalError, Expr, Symbol};
use haul_ir::graph::Graph;

/// A value for each symbol that has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Point(BTreeMap<Symbol, u64>);

impl Point {
    /// Each dim at its `plan`: where times are predicted.
    pub(crate) fn planned(graph: &Graph) -> Point {
        let dims = graph.dims.iter();
        Point(
            dims.filter_map(|(symbol, dim)| Some((symbol.clone(), dim.plan?)))
                .collect(),
        )
    }

    /// Each dim at its `max`, or at its `plan` without: where memory has to suffice.
    pub(crate) fn largest(graph: &Graph) -> Point {
        let dims = graph.dims.iter();
        let values = dims.filter_map(|(symbol, dim)| Some((symbol.clone(), dim.max.or(dim.plan)?)));
        Point(values.collect())
    }

    /// The same with another value for one symbol.
    pub(crate) fn with(&self, symbol: &Symbol, value: u64) -> Point {
        let mut values = self.0.clone();
        values.insert(symbol.clone(), value);
        Point(values)
    }

    /// The value of a symbol.
    pub(crate) fn get(&self, symbol: &Symbol) -> Option<u64> {
        self.0.get(symbol).copied()
    }

    /// The value of an expression that counts something, where all its symbols have one and it
    /// fits.
    pub(crate) fn eval(&self, expr: &Expr) -> Option<u64> {
        match expr.as_int() {
            Some(value) => u64::try_from(value).ok(),
            None => {
                let value = expr.eval(&|symbol| self.get(symbol).map(i128::from)).ok()?;
                u64::try_from(value).ok()
            }
        }
    }

    /// As [`Point::eval`], with the largest number for what is larger: it fits nowhere, but it is
    /// not unknown.
    pub(crate) fn eval_saturating(&self, expr: &Expr) -> Option<u64> {
        match expr.eval(&|symbol| self.get(symbol).map(i128::from)) {
            Ok(value) if value >= 0 => Some(u64::try_from(value).unwrap_or(u64::MAX)),
            Err(EvalError::Overflow) => Some(u64::MAX),
            _ => None,
        }
    }

    /// As [`Point::eval`], with `nominal` for symbols that have no value.
    pub(crate) fn eval_or(&self, expr: &Expr, nominal: u64) -> Option<u64> {
        let value_of = |symbol: &Symbol| Some(i128::from(self.get(symbol).unwrap_or(nominal)));
        u64::try_from(expr.eval(&value_of).ok()?).ok()
    }
}
