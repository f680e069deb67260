//! Which axes a reduction takes, and the shape that stays.

use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::op::{Attr, Attrs, Fault, InferError, axis_of};
use haul_ir::types::{Shape, TensorType};

/// The axes that the attribute `axis` names, in ascending order; all where it names none.
/// As in NumPy, a scalar may be reduced over axis 0 or -1.
pub(super) fn axes(attrs: &Attrs, rank: usize) -> Result<Vec<usize>, InferError> {
    if *attrs.get("axis") == Attr::None {
        return Ok((0..rank).collect());
    }
    let named = attrs.ints("axis").ok_or_else(|| {
        InferError::new(Fault::Value, "an axis is a known whole number").on_attr("axis")
    })?;
    let mut axes = Vec::with_capacity(named.len());
    for axis in named {
        let found = axis_of(axis, rank.max(1)).and_then(|_| match rank {
            0 => Ok(None),
            _ => axis_of(axis, rank).map(Some),
        });
        let found = found.map_err(|error| error.on_attr("axis"))?;
        if found.is_some_and(|found| axes.contains(&found)) {
            let message = format!("axis {axis} is given twice");
            return Err(InferError::new(Fault::Axis, message).on_attr("axis"));
        }
        axes.extend(found);
    }
    axes.sort_unstable();
    Ok(axes)
}

/// The result's type: without those axes, or with size 1 there where `keepdims` is set.
pub(super) fn reduced(input: &TensorType, axes: &[usize], keep: bool, dtype: DType) -> TensorType {
    let sizes = input.shape.iter().enumerate();
    let shape: Shape = sizes
        .filter(|(axis, _)| keep || !axes.contains(axis))
        .map(|(axis, size)| {
            if axes.contains(&axis) {
                Expr::ONE
            } else {
                size.clone()
            }
        })
        .collect();
    TensorType::new(dtype, shape)
}

/// What has no value for no elements.
pub(super) fn not_empty(input: &TensorType, axes: &[usize]) -> Result<(), InferError> {
    if axes.iter().any(|axis| input.shape[*axis] == Expr::ZERO) {
        let message = format!("there is no element to take from {input}");
        return Err(InferError::new(Fault::Shape, message).on(0));
    }
    Ok(())
}
