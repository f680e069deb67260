//! Elements again and again.

use haul_ir::expr::Expr;
use haul_ir::op::{
    Attr, Attrs, CpuKernel, Example, Fault, InferError, Inferred, KernelCall, KernelError,
    ParamKind,
};
use haul_ir::tensor::{Layout, View};
use haul_ir::types::TensorType;

use super::attrs::{X, at_run, axis, optional, required};
use super::{Cost, Move};
use crate::strided::copy_view;

pub(crate) static TILE: Move = Move {
    name: "tile",
    doc: "The whole tensor again and again along each axis, as often as `repeats` says; where that \
          says less than there are axes, it is about the last ones, where it says more, new axes \
          come first.",
    params: &[X, required("repeats", ParamKind::Ints)],
    rule: "[.., n, ..] -> [.., n * repeats, ..]",
    infer: |call| {
        let x = call.tensor(0)?;
        let repeats = repeats(call.attrs)?;
        let rank = x.rank().max(repeats.len());
        let mut shape = vec![Expr::ONE; rank];
        shape[rank - x.rank()..].clone_from_slice(&x.shape);
        let new = rank - repeats.len();
        for (size, times) in shape[new..].iter_mut().zip(repeats) {
            *size = &*size * times;
        }
        Ok(Inferred::plain(1, TensorType::new(x.dtype, shape)))
    },
    cost: Cost::All,
    cpu: CpuKernel::Array(tile),
    examples: &[Example {
        formula: "tile(x, [2, 2])",
        given: &[("x", "i32[1, 2]", "1 2")],
        result: ("i32[2, 4]", "1 2 1 2 1 2 1 2"),
    }],
};

pub(crate) static REPEAT: Move = Move {
    name: "repeat",
    doc: "Each element `repeats` times along an axis. Where there is more than one axis, `axis` has \
          to be said.",
    params: &[
        X,
        required("repeats", ParamKind::Int),
        optional("axis", ParamKind::Int, "none"),
    ],
    rule: "[.., n, ..] -> [.., n * repeats, ..]",
    infer: |call| {
        let x = call.tensor(0)?;
        let axis = axis(call.attrs, "axis", x.rank())?;
        let [times] = repeats(call.attrs)? else {
            return Err(InferError::new(Fault::Value, "needs a number").on_attr("repeats"));
        };
        let mut shape = x.shape.clone();
        shape[axis] = &shape[axis] * times;
        Ok(Inferred::plain(1, TensorType::new(x.dtype, shape)))
    },
    cost: Cost::All,
    cpu: CpuKernel::Array(repeat),
    examples: &[Example {
        formula: "repeat(x, 2, axis=1)",
        given: &[("x", "i32[2, 2]", "1 2 3 4")],
        result: ("i32[2, 4]", "1 1 2 2 3 3 4 4"),
    }],
};

fn repeats(attrs: &Attrs) -> Result<&[Expr], InferError> {
    let wrong = |message: String| InferError::new(Fault::Value, message).on_attr("repeats");
    let repeats = match attrs.get("repeats") {
        Attr::Ints(repeats) => &repeats[..],
        Attr::Int(times) => std::slice::from_ref(times),
        _ => return Err(wrong("needs a number".into())),
    };
    let negative = |times: &&Expr| times.as_int().is_some_and(|times| times < 0);
    match repeats.iter().find(negative) {
        Some(times) => Err(wrong(format!("{times} is less than 0"))),
        None => Ok(repeats),
    }
}

fn tile(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let (x, output) = (&call.inputs[0], &mut call.outputs[0]);
    let new_axes = output.shape.len() - x.shape().len();
    let mut layout = empty(&x.layout);
    for (axis, size) in output.shape.iter().enumerate() {
        let (from, stride) = match axis.checked_sub(new_axes) {
            Some(old) => (x.shape()[old], x.layout.strides[old]),
            None => (1, 0),
        };
        layout.shape.extend([size / from.max(1), from]);
        layout.strides.extend([0, stride]);
    }
    copy_view(
        &View {
            layout,
            ..x.clone()
        },
        output.bytes,
    );
    Ok(())
}

fn repeat(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let (x, output) = (&call.inputs[0], &mut call.outputs[0]);
    let axis = axis(call.attrs, "axis", x.shape().len()).map_err(at_run)?;
    let times = output.shape[axis] / x.shape()[axis].max(1);
    let mut layout = x.layout.clone();
    layout.shape.insert(axis + 1, times);
    layout.strides.insert(axis + 1, 0);
    copy_view(
        &View {
            layout,
            ..x.clone()
        },
        output.bytes,
    );
    Ok(())
}

fn empty(layout: &Layout) -> Layout {
    Layout {
        shape: Vec::new(),
        strides: Vec::new(),
        offset: layout.offset,
    }
}
