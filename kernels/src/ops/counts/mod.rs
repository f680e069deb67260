//! Counts and sums of elements that fall in the same place.

mod bincount;
mod histogram;
mod segment_sum;

use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{Attr, Attrs, Fault, InferError, KernelError, Param, ParamKind};

pub(super) use bincount::BinCount;
pub(super) use histogram::Histogram;
pub(super) use segment_sum::SegmentSum;

const fn tensor(name: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Tensor,
        default: None,
    }
}

const fn int(name: &'static str, default: Option<&'static str>) -> Param {
    Param {
        name,
        kind: ParamKind::Int,
        default,
    }
}

/// What counts places.
fn whole(dtype: DType, argument: usize) -> Result<(), InferError> {
    if dtype.kind() == Kind::Int {
        return Ok(());
    }
    let message = format!("needs whole numbers, these are {dtype}");
    Err(InferError::new(Fault::DType, message).on(argument))
}

/// The attribute that says how many places there are.
fn length(attrs: &Attrs, name: &'static str) -> Result<Expr, InferError> {
    match attrs.get(name) {
        Attr::Int(length) if length.as_int().is_none_or(|length| length >= 0) => Ok(length.clone()),
        _ => {
            let message = format!("`{name}` is a whole number, at least 0");
            Err(InferError::new(Fault::Value, message).on_attr(name))
        }
    }
}

/// The place that a number names.
fn place(number: i64, places: usize, at: usize) -> Result<usize, KernelError> {
    let place = usize::try_from(number).ok().filter(|place| *place < places);
    place.ok_or_else(|| {
        let message = format!("element {at} is {number}, not a place from 0 to below {places}");
        KernelError::new(message)
    })
}
