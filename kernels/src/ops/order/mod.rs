//! Sorting and searching.
//!
//! NaN counts as larger than every number, as in NumPy, and -0 as equal to 0.

mod keys;
mod search;
mod sort;
mod topk;

use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{Fault, InferError, Param, ParamKind};
use haul_ir::types::TensorType;

pub(super) use keys::keys;
pub(super) use search::SearchSorted;
pub(super) use sort::{ARGSORT, SORT};
pub(super) use topk::TopK;

const X: Param = Param {
    name: "x",
    kind: ParamKind::Tensor,
    default: None,
};
const AXIS: Param = Param {
    name: "axis",
    kind: ParamKind::Int,
    default: Some("-1"),
};

/// Complex numbers have no order.
fn check(dtype: DType, argument: usize) -> Result<(), InferError> {
    match dtype.kind() {
        Kind::Complex => {
            let message = format!("is not defined for {dtype}");
            let error = InferError::new(Fault::DType, message).on(argument);
            Err(error.help("take `abs(x)`, `real(x)` or `imag(x)`"))
        }
        _ => Ok(()),
    }
}

/// Comparisons that sorting along an axis counts as: `N * log2(n)`.
fn comparisons(input: &TensorType, axis: usize) -> Expr {
    input.elements() * input.shape[axis].log2()
}
