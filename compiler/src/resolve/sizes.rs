//! Declared types, and the sizes in them.

use std::sync::Arc;

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::expr::{Expr, Symbol};
use haul_ir::graph::Dim;
use haul_ir::types::{CellType, TableType, TensorType, ValueType};

use super::names::Global;
use super::{Each, Resolver};
use crate::diagnostics::codes::{OVERFLOW, PER_ITEM, SIZE};
use crate::syntax::ast;
use crate::syntax::ast::{BinaryOp, ExprKind, Number, TypeKind, UnaryOp};

impl<'a> Resolver<'a> {
    /// The dims that the file lists.
    pub(super) fn dims(&mut self) {
        for dim in &self.ast.dims {
            self.check_plan(dim);
            if self.bindings.get(&dim.name.value).is_none() {
                let known = Dim {
                    plan: dim.plan.as_ref().map(|plan| plan.value),
                    max: dim.max.as_ref().map(|max| max.value),
                    per_item: None,
                };
                self.graph.dims.insert(Symbol::new(&dim.name.value), known);
            }
        }
    }

    fn check_plan(&mut self, dim: &ast::Dim) {
        let (Some(plan), Some(max)) = (&dim.plan, &dim.max) else {
            return;
        };
        if plan.value > max.value {
            let (plan_size, max_size) = (plan.value, max.value);
            let message = format!("`plan` is {plan_size}, above the `max` of {max_size}");
            let mistake = Diagnostic::error(SIZE, plan.span, message);
            self.mistakes
                .report(mistake.label(max.span, "the largest size there will be"));
        }
    }

    /// A declared type. Nothing where a size makes no sense.
    pub(super) fn declared(&mut self, ty: &ast::Type) -> Option<ValueType> {
        match &ty.kind {
            TypeKind::Text => Some(ValueType::Text),
            TypeKind::Texts { rows } => {
                let rows = self.axis(rows)?;
                self.within_limits(ValueType::of_cells(CellType::TEXT, rows), ty.span)
            }
            TypeKind::Table { rows, columns } => {
                let columns = columns.iter();
                let columns = columns.map(|(name, cell)| (name.value.clone(), *cell));
                let table = TableType {
                    rows: self.axis(rows)?,
                    columns: Arc::new(columns.collect()),
                };
                self.within_limits(ValueType::Table(table), ty.span)
            }
            TypeKind::Tensor { dtype, dims } => {
                let sizes: Vec<_> = dims.iter().map(|dim| self.axis(dim)).collect();
                let shape = sizes.into_iter().collect::<Option<_>>()?;
                self.within_limits(TensorType::new(dtype.value, shape).into(), ty.span)
            }
        }
    }

    fn within_limits(&mut self, ty: ValueType, span: Span) -> Option<ValueType> {
        if !is_too_large(&ty) {
            return Some(ty);
        }
        let message = format!("{ty} has too many bytes for 63 bits");
        self.mistakes
            .report(Diagnostic::error(OVERFLOW, span, message));
        None
    }

    /// The symbol of that name, or the size it is bound to, where the stage at hand may use it.
    pub(super) fn symbol(&mut self, name: &str, span: Span) -> Option<Expr> {
        if let Some(size) = self.bindings.get(name) {
            return Some(size.into());
        }
        let symbol = Symbol::new(name);
        let dim = self.graph.dims.entry(symbol.clone()).or_default();
        if self.mentioned.insert(name.to_owned()) {
            dim.per_item = self.each.collection();
        }
        let owner = dim.per_item;
        if owner.is_some() && owner != self.each.collection() {
            if self.each != Each::Unknown {
                self.report_per_item(&symbol, span);
            }
            return None;
        }
        Some(Expr::symbol(symbol))
    }

    /// A symbol in a size that belongs to the items of another collection.
    pub(super) fn foreign_symbol(&self, size: &Expr) -> Option<Symbol> {
        let mut foreign = None;
        size.symbols(&mut |symbol| {
            let owner = self.graph.dims.get(symbol).and_then(|dim| dim.per_item);
            if owner.is_some() && owner != self.each.collection() {
                foreign = Some(symbol.clone());
            }
        });
        foreign
    }

    pub(super) fn report_per_item(&mut self, symbol: &Symbol, span: Span) {
        let owner = self.graph.dims.get(symbol).and_then(|dim| dim.per_item);
        let Some(owner) = owner else { return };
        let collection = &self.graph.collections[owner].name;
        let message = format!("each item of `{collection}` has its own `{symbol}`");
        let help = format!("use `{symbol}` in a stage with `each: \"{collection}\"`");
        self.mistakes
            .report(Diagnostic::error(PER_ITEM, span, message).help(help));
    }

    fn axis(&mut self, size: &ast::Expr) -> Option<Expr> {
        let value = self.size(size)?;
        if value.is_overflow() {
            let message = "this size is too large";
            self.mistakes
                .report(Diagnostic::error(OVERFLOW, size.span, message));
            return None;
        }
        if value.as_int().is_some_and(|value| value < 0) {
            self.refuse_size(size.span, format!("this size is {value}, below zero"));
            return None;
        }
        Some(value)
    }

    fn size(&mut self, size: &ast::Expr) -> Option<Expr> {
        match &size.kind {
            ExprKind::Number(Number::Int(value)) => Some(Expr::from(*value)),
            ExprKind::Name(name) => self.size_named(name, size.span),
            ExprKind::Unary { op, operand } => {
                let operand = self.size(operand)?;
                match op.value {
                    UnaryOp::Negative => Some(-operand),
                    UnaryOp::Positive => Some(operand),
                    UnaryOp::Invert => self.refuse_kind(size),
                }
            }
            ExprKind::Binary { op, left, right } => {
                let (left, right) = (self.size(left), self.size(right));
                self.binary_size(size, op.value, &left?, &right?)
            }
            ExprKind::Call {
                function,
                arguments,
            } => {
                let sizes: Vec<_> = arguments.iter().map(|arg| self.size(&arg.value)).collect();
                let sizes = sizes.into_iter().collect::<Option<Vec<_>>>()?;
                match function.value.as_str() {
                    "min" => sizes.into_iter().reduce(|a, b| a.smaller(&b)),
                    "max" => sizes.into_iter().reduce(|a, b| a.larger(&b)),
                    _ => self.refuse_kind(size),
                }
            }
            ExprKind::Error => None,
            _ => self.refuse_kind(size),
        }
    }

    fn binary_size(
        &mut self,
        size: &ast::Expr,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
    ) -> Option<Expr> {
        let divides = matches!(op, BinaryOp::FloorDivide | BinaryOp::Remainder);
        if divides && *right == Expr::ZERO {
            self.refuse_size(size.span, "this divides by zero".into());
            return None;
        }
        match op {
            BinaryOp::Add => Some(left + right),
            BinaryOp::Subtract => Some(left - right),
            BinaryOp::Multiply => Some(left * right),
            BinaryOp::FloorDivide => Some(left.floor_div(right)),
            BinaryOp::Remainder => Some(left.modulo(right)),
            _ => self.refuse_kind(size),
        }
    }

    pub(super) fn size_named(&mut self, name: &str, span: Span) -> Option<Expr> {
        match self.names.get(name) {
            None | Some(Global::Dim) => self.symbol(name, span),
            Some(Global::Param(Some(Number::Int(value)))) => Some(Expr::from(value)),
            Some(Global::Param(None)) => None,
            Some(Global::Param(Some(Number::Float(value)))) => {
                self.refuse_size(span, format!("the param `{name}` is {value:?}, not whole"));
                None
            }
            Some(global @ (Global::Input(_) | Global::Stage(_))) => {
                self.refuse_size(span, format!("`{name}` is {}, not a size", global.kind()));
                None
            }
        }
    }

    fn refuse_kind(&mut self, size: &ast::Expr) -> Option<Expr> {
        let message = "a size is made of integers, dims, params, `+ - * // %`, `min` and `max`";
        self.refuse_size(size.span, message.into());
        None
    }

    fn refuse_size(&mut self, span: Span, message: String) {
        self.mistakes.report(Diagnostic::error(SIZE, span, message));
    }
}

/// Whether the elements or bytes of a value, or the length of an axis, do not fit 63 bits.
pub(crate) fn is_too_large(ty: &ValueType) -> bool {
    let too_large = |size: &Expr| {
        size.is_overflow() || size.as_int().is_some_and(|n| i64::try_from(n).is_err())
    };
    // Axes of size 0 do not make the others fit.
    let bytes = match ty {
        ValueType::Tensor(tensor) => {
            let sizes = tensor.shape.iter().filter(|size| **size != Expr::ZERO);
            Expr::product(sizes) * tensor.dtype.size()
        }
        _ => ty.bytes(),
    };
    ty.sizes().iter().any(too_large) || too_large(&bytes)
}
