//! Symbolic sizes, bound by the data.

use std::collections::HashMap;
use std::sync::Arc;

use haul_ir::expr::{Expr, Symbol};
use haul_ir::types::ValueType;

/// The sizes that are known so far.
#[derive(Clone, Default)]
pub(crate) struct Dims {
    known: HashMap<Symbol, u64>,
    /// The largest sizes that the pipeline allows.
    limits: Arc<HashMap<Symbol, u64>>,
    /// In the order in which they were bound.
    fresh: Vec<(Symbol, u64)>,
}

impl Dims {
    /// Nothing is known but the largest sizes there may be.
    pub(crate) fn with_limits(limits: HashMap<Symbol, u64>) -> Self {
        Self {
            limits: Arc::new(limits),
            ..Self::default()
        }
    }

    /// The size of a symbol.
    pub(crate) fn get(&self, symbol: &Symbol) -> Option<u64> {
        self.known.get(symbol).copied()
    }

    /// The value of an expression.
    ///
    /// # Errors
    /// A symbol is not known, or the value leaves 128 bits.
    pub(crate) fn evaluate(&self, expr: &Expr) -> Result<i128, String> {
        let known = |symbol: &Symbol| self.get(symbol).map(i128::from);
        expr.eval(&known).map_err(|error| error.to_string())
    }

    /// The sizes of the axes of a tensor.
    ///
    /// # Errors
    /// A symbol is not known, or a size is negative or too large.
    pub(crate) fn shape(&self, shape: &[Expr]) -> Result<Vec<usize>, String> {
        let size = |expr: &Expr| {
            let size = self.evaluate(expr)?;
            usize::try_from(size).map_err(|_| format!("the size {expr} would be {size}"))
        };
        shape.iter().map(size).collect()
    }

    /// An expression with all known symbols replaced.
    pub(crate) fn replace(&self, symbol: &Symbol) -> Option<Expr> {
        self.get(symbol).map(Expr::from)
    }

    /// Says what a symbol is.
    ///
    /// # Errors
    /// It is something else already, or larger than the pipeline allows.
    pub(crate) fn bind(&mut self, symbol: &Symbol, size: u64) -> Result<(), String> {
        if let Some(limit) = self.limits.get(symbol).filter(|limit| **limit < size) {
            return Err(format!(
                "`{symbol}` is {size}, more than its max of {limit}"
            ));
        }
        match self.get(symbol) {
            Some(known) if known == size => Ok(()),
            Some(known) => Err(format!("`{symbol}` is {size} here and {known} elsewhere")),
            None => {
                self.known.insert(symbol.clone(), size);
                self.fresh.push((symbol.clone(), size));
                Ok(())
            }
        }
    }

    /// Takes over what another task bound.
    pub(crate) fn know(&mut self, symbol: &Symbol, size: u64) {
        self.known.insert(symbol.clone(), size);
    }

    /// Meets a declared type with the sizes that the data has; binds the symbols this shows.
    ///
    /// # Errors
    /// The number of axes or a size differs.
    pub(crate) fn unify(&mut self, declared: &ValueType, found: &[usize]) -> Result<(), String> {
        if declared.sizes().len() != found.len() {
            return Err(self.mismatch(declared, found, ""));
        }
        // Plain symbols first: they may be all that an expression in another axis needs.
        let axes = || declared.sizes().iter().zip(found);
        for (expr, size) in axes().filter(|(expr, _)| expr.as_symbol().is_some()) {
            self.meet(declared, found, expr, *size as u64)?;
        }
        for (expr, size) in axes().filter(|(expr, _)| expr.as_symbol().is_none()) {
            self.meet(declared, found, expr, *size as u64)?;
        }
        Ok(())
    }

    /// The symbols that were bound since the last call, in order.
    pub(crate) fn take_fresh(&mut self) -> Vec<(Symbol, u64)> {
        std::mem::take(&mut self.fresh)
    }

    fn meet(
        &mut self,
        declared: &ValueType,
        found: &[usize],
        expr: &Expr,
        size: u64,
    ) -> Result<(), String> {
        if let Some((symbol, value)) = self.solve(expr, size) {
            return self
                .bind(&symbol, value)
                .map_err(|reason| self.mismatch(declared, found, &reason));
        }
        match self.evaluate(expr) {
            Ok(value) if value == i128::from(size) => Ok(()),
            Ok(value) => {
                let reason = match expr.as_symbol() {
                    Some(symbol) => format!("`{symbol}` is {value} elsewhere"),
                    None if expr.as_int().is_some() => String::new(),
                    None => format!("{expr} is {value}"),
                };
                Err(self.mismatch(declared, found, &reason))
            }
            Err(reason) => Err(self.mismatch(declared, found, &reason)),
        }
    }

    /// The one unknown symbol of an expression that is linear in it, and its value.
    fn solve(&self, expr: &Expr, size: u64) -> Option<(Symbol, u64)> {
        let mut unknown: Vec<Symbol> = Vec::new();
        expr.symbols(&mut |symbol| {
            if self.get(symbol).is_none() && !unknown.contains(symbol) {
                unknown.push(symbol.clone());
            }
        });
        let [symbol] = &unknown[..] else { return None };
        let at = |value: i128| {
            let known = |s: &Symbol| match s == symbol {
                true => Some(value),
                false => self.get(s).map(i128::from),
            };
            expr.eval(&known).ok()
        };
        let (zero, slope) = (at(0)?, at(1)?.checked_sub(at(0)?)?);
        let value = i128::from(size).checked_sub(zero)?.checked_div(slope)?;
        let fits = at(value)? == i128::from(size);
        Some((symbol.clone(), u64::try_from(value).ok().filter(|_| fits)?))
    }

    fn mismatch(&self, declared: &ValueType, found: &[usize], reason: &str) -> String {
        let sizes = found.iter().map(|size| Expr::from(*size as u64));
        let found = declared.with_sizes(sizes.collect());
        match reason {
            "" => format!("it is {found}, not {declared} as declared"),
            _ => format!("it is {found}, not {declared} as declared: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haul_ir::dtype::DType;
    use haul_ir::types::TensorType;

    fn symbol(name: &str) -> Expr {
        Expr::symbol(Symbol::new(name))
    }

    fn f32(shape: Vec<Expr>) -> ValueType {
        TensorType::new(DType::F32, shape).into()
    }

    #[test]
    fn the_data_binds_symbols_once() {
        let (n, m) = (symbol("n"), symbol("m"));
        let mut dims = Dims::default();
        // 2*n + 1 = 7 gives n = 3.
        let declared = f32(vec![&(&n * 2) + 1, m.clone()]);
        dims.unify(&declared, &[7, 4]).unwrap();
        let fresh = dims.take_fresh();
        assert_eq!(fresh, [(Symbol::new("m"), 4), (Symbol::new("n"), 3)]);
        dims.unify(&f32(vec![&n * &m]), &[12]).unwrap();
        assert!(dims.take_fresh().is_empty());
        let error =
            |dims: &mut Dims, shape, found: &[usize]| dims.unify(&f32(shape), found).unwrap_err();
        assert_eq!(
            error(&mut dims, vec![n.clone(), Expr::from(8_u64)], &[5, 8]),
            "it is f32[5, 8], not f32[n, 8] as declared: `n` is 3 elsewhere"
        );
        assert_eq!(
            error(&mut dims, vec![n.clone()], &[3, 1]),
            "it is f32[3, 1], not f32[n] as declared"
        );
        assert_eq!(
            error(&mut dims, vec![symbol("k") * 2], &[5]),
            "it is f32[5], not f32[2*k] as declared: `k` is not known"
        );
        assert_eq!(
            error(&mut dims, vec![&n * &m], &[11]),
            "it is f32[11], not f32[m*n] as declared: m*n is 12"
        );
        assert_eq!(
            dims.shape(&[&n - &m]),
            Err("the size -m + n would be -1".into())
        );
    }
}
