//! The catalogue by name, and the names that the language itself stands on.

use std::collections::HashMap;

use haul_ir::dtype::DType;
use haul_ir::op::{Catalogue, Op};

use crate::syntax::ast::{BinaryOp, UnaryOp};

/// The catalogue by name.
pub(crate) struct Ops {
    catalogue: Catalogue,
    by_name: HashMap<&'static str, &'static dyn Op>,
}

impl Ops {
    pub(crate) fn new(catalogue: Catalogue) -> Self {
        let by_name = catalogue.0.iter().map(|op| (op.name(), *op)).collect();
        Self { catalogue, by_name }
    }

    pub(crate) fn find(&self, name: &str) -> Option<&'static dyn Op> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.catalogue.names()
    }

    /// The op that casts to a dtype; it has the dtype's name.
    pub(crate) fn cast(&self, dtype: DType) -> Option<&'static dyn Op> {
        self.find(dtype.name())
    }
}

/// The op of `x.T`.
pub(crate) const TRANSPOSE: &str = "transpose";
/// The op of `x[…]`.
pub(crate) const INDEX: &str = "index";
/// The op of `t.name`.
pub(crate) const COLUMN: &str = "column";
/// The op of `x[mask]`.
pub(crate) const FILTER: &str = "filter";
/// The op of `x == 'word'`.
pub(crate) const TEXT_EQUAL: &str = "text_equal";
/// The op that makes a tensor without gaps of any view.
pub(crate) const COPY: &str = "copy";

/// The op of an operator; none for `+x`, which is `x`.
pub(crate) fn unary(operator: UnaryOp) -> Option<&'static str> {
    match operator {
        UnaryOp::Negative => Some("neg"),
        UnaryOp::Invert => Some("invert"),
        UnaryOp::Positive => None,
    }
}

/// The op of an operator.
pub(crate) fn binary(operator: BinaryOp) -> &'static str {
    match operator {
        BinaryOp::Add => "add",
        BinaryOp::Subtract => "sub",
        BinaryOp::Multiply => "mul",
        BinaryOp::Divide => "div",
        BinaryOp::FloorDivide => "floordiv",
        BinaryOp::Remainder => "mod",
        BinaryOp::Power => "pow",
        BinaryOp::MatMul => "matmul",
        BinaryOp::And => "bitand",
        BinaryOp::Or => "bitor",
        BinaryOp::Xor => "bitxor",
        BinaryOp::Equal => "eq",
        BinaryOp::NotEqual => "ne",
        BinaryOp::Less => "lt",
        BinaryOp::LessEqual => "le",
        BinaryOp::Greater => "gt",
        BinaryOp::GreaterEqual => "ge",
    }
}

/// What is written for two texts in place of an operator, where an op does it.
pub(crate) fn of_texts(operator: &str) -> Option<String> {
    match operator {
        "+" => Some("concat_text(x, y)".to_owned()),
        "==" | "!=" | "<" | "<=" | ">" | ">=" => Some(format!("text_compare(x, y) {operator} 0")),
        _ => None,
    }
}

/// Whether an op is a cast.
pub(crate) fn is_cast(op: &dyn Op) -> bool {
    op.name().parse::<DType>().is_ok()
}
