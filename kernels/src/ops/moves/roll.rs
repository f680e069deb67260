//! Elements moved along axes; those that leave one come back at its other end.

use haul_ir::op::{
    Attrs, Call, CpuKernel, Example, Fault, InferError, Inferred, KernelCall, KernelError,
    ParamKind,
};

use super::attrs::{X, at_run, axes, optional, required};
use super::pieces::{Axis, Beyond, fill};
use super::{Cost, Move};

pub(crate) static ROLL: Move = Move {
    name: "roll",
    doc: "Each element `shift` places further along an axis; those that leave it come back at its \
          start. A negative shift goes the other way. `shift` and `axis` are one number each, or \
          lists of as many. Where there is more than one axis, `axis` has to be said.",
    params: &[
        X,
        required("shift", ParamKind::Ints),
        optional("axis", ParamKind::Axes, "none"),
    ],
    rule: "[..] -> [..]",
    infer: |call| {
        let x = call.tensor(0)?;
        shifts(call.attrs, x.rank())?;
        Ok(Inferred::plain(1, x.clone()))
    },
    cost: Cost::All,
    cpu: CpuKernel::Array(roll),
    examples: &[
        Example {
            formula: "roll(x, 1)",
            given: &[("x", "i32[4]", "1 2 3 4")],
            result: ("i32[4]", "4 1 2 3"),
        },
        Example {
            formula: "roll(x, [1, -1], axis=[0, 1])",
            given: &[("x", "i32[2, 3]", "1 2 3 4 5 6")],
            result: ("i32[2, 3]", "5 6 4 2 3 1"),
        },
    ],
};

pub(crate) static FFTSHIFT: Move = Move {
    name: "fftshift",
    doc: "The elements rolled by half of each axis, or of the axes named, so that frequency 0 of a \
          spectrum stands in the middle.",
    params: &[X, optional("axes", ParamKind::Axes, "none")],
    rule: "[..] -> [..]",
    infer: halved,
    cost: Cost::All,
    cpu: CpuKernel::Array(|call| roll_halves(call, |size| size / 2)),
    examples: &[Example {
        formula: "fftshift(x)",
        given: &[("x", "i32[5]", "0 1 2 -2 -1")],
        result: ("i32[5]", "-2 -1 0 1 2"),
    }],
};

pub(crate) static IFFTSHIFT: Move = Move {
    name: "ifftshift",
    doc: "The inverse of `fftshift`.",
    params: &[X, optional("axes", ParamKind::Axes, "none")],
    rule: "[..] -> [..]",
    infer: halved,
    cost: Cost::All,
    cpu: CpuKernel::Array(|call| roll_halves(call, |size| size.div_ceil(2))),
    examples: &[Example {
        formula: "ifftshift(x)",
        given: &[("x", "i32[5]", "-2 -1 0 1 2")],
        result: ("i32[5]", "0 1 2 -2 -1"),
    }],
};

fn halved(call: &Call<'_>) -> Result<Inferred, InferError> {
    let x = call.tensor(0)?;
    axes(call.attrs, "axes", x.rank())?;
    Ok(Inferred::plain(1, x.clone()))
}

fn roll_halves(call: &mut KernelCall<'_, '_>, half: fn(usize) -> usize) -> Result<(), KernelError> {
    let shape = call.inputs[0].shape();
    let axes = axes(call.attrs, "axes", shape.len()).map_err(at_run)?;
    let axes = axes.unwrap_or_else(|| (0..shape.len()).collect());
    let shifts: Vec<_> = axes
        .into_iter()
        .map(|axis| (axis, half(shape[axis]) as i64))
        .collect();
    roll_by(call, &shifts)
}

/// Axes, and how far their elements go.
fn shifts(attrs: &Attrs, rank: usize) -> Result<Vec<(usize, i64)>, InferError> {
    let given = attrs.ints("shift").ok_or_else(|| {
        InferError::new(Fault::Value, "shifts are known whole numbers").on_attr("shift")
    })?;
    let axes = match axes(attrs, "axis", rank)? {
        Some(axes) => axes,
        None if rank <= 1 => (0..rank).collect(),
        None => {
            let message = format!("which of {rank} axes has to be said");
            return Err(InferError::new(Fault::Axis, message).on_attr("axis"));
        }
    };
    match given[..] {
        [shift] => Ok(axes.into_iter().map(|axis| (axis, shift)).collect()),
        _ if given.len() == axes.len() => Ok(axes.into_iter().zip(given).collect()),
        _ => {
            let message = format!("{} shifts for {} axes", given.len(), axes.len());
            Err(InferError::new(Fault::Value, message).on_attr("shift"))
        }
    }
}

fn roll(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let shifts = shifts(call.attrs, call.inputs[0].shape().len()).map_err(at_run)?;
    roll_by(call, &shifts)
}

fn roll_by(call: &mut KernelCall<'_, '_>, shifts: &[(usize, i64)]) -> Result<(), KernelError> {
    let (x, output) = (&call.inputs[0], &mut call.outputs[0]);
    let mut axes: Vec<_> = x.shape().iter().map(|size| Axis::whole(*size)).collect();
    for (axis, shift) in shifts {
        let axis = &mut axes[*axis];
        axis.start = shift.checked_rem_euclid(axis.from as i64).unwrap_or(0);
        axis.beyond = Beyond::Wrap;
    }
    let unused = vec![0; output.dtype.size() as usize];
    fill(x, &axes, &unused, output);
    Ok(())
}
