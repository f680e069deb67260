//! Tensors one after another along an axis they have.

use bytemuck::Pod;
use haul_ir::expr::Expr;
use haul_ir::op::{
    Attrs, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work, axis_of,
};
use haul_ir::tensor::{View, ViewMut};
use haul_ir::types::{Axes, TensorType, ValueType};
use rayon::prelude::*;

use crate::strided::Walk;

/// `concat(a, b, axis=0)`.
pub(crate) struct Concat;

impl Op for Concat {
    fn name(&self) -> &'static str {
        "concat"
    }

    fn doc(&self) -> &'static str {
        "Tensors one after another along an axis, in the dtype in which they meet; the other \
         axes have the same sizes."
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "x",
                kind: ParamKind::Tensors,
                default: None,
            },
            Param {
                name: "axis",
                kind: ParamKind::Int,
                default: Some("0"),
            },
        ]
    }

    fn rule(&self) -> &'static str {
        "[.., a, ..], [.., b, ..] -> [.., a + b, ..]"
    }

    fn family(&self) -> Family {
        Family::Move
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let inputs = call.inputs.len();
        let tensors: Vec<&TensorType> = (0..inputs)
            .map(|input| call.tensor(input))
            .collect::<Result<_, _>>()?;
        let dtype = call.promoted()?;
        let [first, rest @ ..] = &tensors[..] else {
            return Err(InferError::new(Fault::Shape, "needs at least one tensor"));
        };
        if first.rank() == 0 {
            let error = InferError::new(Fault::Rank, "a scalar has no axis to join along");
            return Err(error.on(0).help("`stack` makes a vector of scalars"));
        }
        let axis = axis_attr(call.attrs)?;
        let axis = axis_of(axis, first.rank()).map_err(|error| error.on_attr("axis"))?;
        let mut shape = first.shape.clone();
        for (position, other) in rest.iter().enumerate() {
            if !same_but_for(axis, &first.shape, &other.shape) {
                let (a, b) = (Axes(&first.shape), Axes(&other.shape));
                let message = format!("shapes differ beside axis {axis}: {a} and {b}");
                return Err(InferError::new(Fault::Shape, message).on(position + 1));
            }
            shape[axis] = &shape[axis] + &other.shape[axis];
        }
        Ok(Inferred::cast_all(
            inputs,
            dtype,
            TensorType::new(dtype, shape),
        ))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        Work::of(Expr::ZERO, call, outputs)
    }

    fn work_formula(&self) -> &'static str {
        "0 flops"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(concat)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        &[
            Example {
                formula: "concat(a, b)",
                given: &[("a", "i32[1, 2]", "1 2"), ("b", "i32[2, 2]", "3 4 5 6")],
                result: ("i32[3, 2]", "1 2 3 4 5 6"),
            },
            Example {
                formula: "concat(a, b, axis=1)",
                given: &[("a", "i32[2, 1]", "1 2"), ("b", "i32[2, 2]", "3 4 5 6")],
                result: ("i32[2, 3]", "1 3 4 2 5 6"),
            },
        ]
    }
}

/// Puts the inputs side by side along `axis` of the output; for `stack`, each has size 1 there.
pub(super) fn concat(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let rank = call.outputs[0].shape.len();
    let axis = axis_attr(call.attrs).and_then(|axis| axis_of(axis, rank));
    let axis = axis.map_err(|error| KernelError::new(error.message))?;
    join(call.inputs, axis, &mut call.outputs[0]);
    Ok(())
}

/// The attribute `axis` where it is one axis.
pub(super) fn axis_attr(attrs: &Attrs) -> Result<i64, InferError> {
    attrs
        .int("axis")
        .ok_or_else(|| InferError::new(Fault::Value, "the axis is a whole number").on_attr("axis"))
}

fn same_but_for(axis: usize, a: &[Expr], b: &[Expr]) -> bool {
    let mut pairs = a.iter().zip(b).enumerate();
    a.len() == b.len() && pairs.all(|(position, (a, b))| position == axis || a == b)
}

/// Elements of output that one task fills.
const CHUNK: usize = 1 << 14;

/// Fills the output with the inputs side by side: for each index of the axes before `axis`,
/// what each input has there.
pub(super) fn join(inputs: &[View<'_>], axis: usize, output: &mut ViewMut<'_>) {
    let bytes = &mut *output.bytes;
    match output.dtype.size() {
        1 => join_words::<u8>(inputs, axis, bytes),
        2 => join_words::<u16>(inputs, axis, bytes),
        4 => join_words::<u32>(inputs, axis, bytes),
        8 => join_words::<u64>(inputs, axis, bytes),
        _ => join_words::<[u64; 2]>(inputs, axis, bytes),
    }
}

fn join_words<T: Pod + Send + Sync>(inputs: &[View<'_>], axis: usize, output: &mut [u8]) {
    let pieces: Vec<Piece<'_, T>> = inputs.iter().map(|view| Piece::new(view, axis)).collect();
    let row: usize = pieces.iter().map(|piece| piece.elements).sum();
    if row == 0 {
        return;
    }
    let rows = (CHUNK / row).max(1);
    let output: &mut [T] = bytemuck::cast_slice_mut(output);
    let chunks = output.par_chunks_mut(rows * row).enumerate();
    chunks.for_each(|(chunk, output)| {
        let mut before = 0;
        for piece in pieces.iter().filter(|piece| piece.elements > 0) {
            let offsets = piece.outer.offsets(chunk * rows);
            for (output, offset) in output.chunks_exact_mut(row).zip(offsets) {
                let start = piece.start.wrapping_add_signed(offset);
                let output = &mut output[before..before + piece.elements];
                piece.inner.copy(piece.data, start, output);
            }
            before += piece.elements;
        }
    });
}

/// An input, and how to walk the axes before the joined one and the rest.
struct Piece<'a, T> {
    data: &'a [T],
    start: usize,
    outer: Walk,
    inner: Walk,
    elements: usize,
}

impl<'a, T: Pod> Piece<'a, T> {
    fn new(view: &View<'a>, axis: usize) -> Self {
        let layout = &view.layout;
        Self {
            data: bytemuck::cast_slice(view.bytes),
            start: layout.offset,
            outer: Walk::new(&layout.shape[..axis], &layout.strides[..axis]),
            inner: Walk::new(&layout.shape[axis..], &layout.strides[axis..]),
            elements: layout.shape[axis..].iter().product(),
        }
    }
}
