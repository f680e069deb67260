//! Elements written at indices that data gives.

use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Fault, InferError, Inferred, KernelCall, KernelError, Param,
    ParamKind,
};
use haul_ir::tensor::{Layout, View};
use haul_ir::types::{Axes, TensorType};
use rayon::prelude::*;

use super::attrs::{REDUCTIONS, X, at_run, axis, check_indices, optional, reduction, required};
use super::combine::{Combine, combine};
use super::indices::{check, check_tuples, checked};
use super::{Cost, Move};
use crate::strided::{Walk, copy_view};
use crate::wide::{narrow, widen};

const INDICES: Param = required("indices", ParamKind::Tensor);
const UPDATES: Param = required("updates", ParamKind::Tensor);
const REDUCTION: Param = optional("reduction", ParamKind::Word(REDUCTIONS), "'none'");

pub(crate) static SCATTER: Move = Move {
    name: "scatter",
    doc: "`x` with each element of `updates` written at the index of an axis that `indices` has at \
          its place: 'none' replaces what is there, 'add', 'mul', 'max' and 'min' combine with it, \
          `f16` and `bf16` in `f32`. Of several at one place, they come in row-major order: the \
          last one stays. Negative indices count from the end; one out of bounds stops the run.",
    params: &[
        X,
        INDICES,
        UPDATES,
        optional("axis", ParamKind::Int, "0"),
        REDUCTION,
    ],
    rule: "[.., n, ..], [.., i, ..], [.., i, ..] -> [.., n, ..], i axes not longer than x has them",
    infer: |call| {
        let (x, indices) = (call.tensor(0)?, call.tensor(1)?);
        let axis = axis(call.attrs, "axis", x.rank())?;
        let longer = |(size, whole): (&Expr, &Expr)| match (size.as_int(), whole.as_int()) {
            (Some(size), Some(whole)) => size > whole,
            _ => size != whole,
        };
        let mut others = indices.shape.iter().zip(&x.shape).enumerate();
        let fits = others.all(|(at, sizes)| at == axis || !longer(sizes));
        if !fits || indices.rank() != x.rank() {
            let message = format!("{indices} does not fit {x}");
            return Err(InferError::new(Fault::Shape, message).on(1));
        }
        written(call, &indices.shape)
    },
    cost: Cost::Combined,
    cpu: CpuKernel::Contiguous(scatter),
    examples: &[
        Example {
            formula: "scatter(x, i, u, axis=1)",
            given: &[
                ("x", "i32[2, 3]", "1 2 3 4 5 6"),
                ("i", "i64[2, 1]", "2 -3"),
                ("u", "i32[2, 1]", "7 8"),
            ],
            result: ("i32[2, 3]", "1 2 7 8 5 6"),
        },
        Example {
            formula: "scatter(x, i, u, reduction='add')",
            given: &[
                ("x", "f32[3]", "1 2 3"),
                ("i", "i64[3]", "0 0 2"),
                ("u", "f32[3]", "10 20 30"),
            ],
            result: ("f32[3]", "31 2 33"),
        },
    ],
};

pub(crate) static SCATTER_ND: Move = Move {
    name: "scatter_nd",
    doc: "`x` with blocks of `updates` written at tuples of indices: the last axis of `indices` \
          holds one index for each of the first axes of `x`. Reductions, order, negative indices \
          and those out of bounds are as with `scatter`.",
    params: &[X, INDICES, UPDATES, REDUCTION],
    rule: "[n1, .., nk, ..], [i.., k], [i.., ..] -> [n1, .., nk, ..]",
    infer: |call| {
        let (x, indices) = (call.tensor(0)?, call.tensor(1)?);
        let [outer @ .., length] = &indices.shape[..] else {
            let message = "a scalar holds no tuples";
            return Err(InferError::new(Fault::Rank, message).on(1));
        };
        let length = length
            .as_u64()
            .and_then(|length| usize::try_from(length).ok());
        let length = length.filter(|length| *length <= x.rank());
        let length = length.ok_or_else(|| {
            let message = format!("the last axis of {indices} is longer than {x} has axes");
            InferError::new(Fault::Shape, message).on(1)
        })?;
        let mut wanted = outer.to_vec();
        wanted.extend(x.shape[length..].iter().cloned());
        written(call, &wanted)
    },
    cost: Cost::Combined,
    cpu: CpuKernel::Contiguous(scatter_nd),
    examples: &[Example {
        formula: "scatter_nd(x, i, u)",
        given: &[
            ("x", "i32[3, 2]", "1 2 3 4 5 6"),
            ("i", "i64[1, 1]", "1"),
            ("u", "i32[1, 2]", "7 8"),
        ],
        result: ("i32[3, 2]", "1 2 7 8 5 6"),
    }],
};

/// The result, where the updates have the shape that they should have.
fn written(call: &Call<'_>, wanted: &[Expr]) -> Result<Inferred, InferError> {
    let (x, indices) = (call.tensor(0)?, call.tensor(1)?);
    check_indices(indices.dtype, 1)?;
    if call.inputs[2].shape() != wanted {
        let message = format!(
            "updates are {}, not {}",
            Axes(wanted),
            Axes(call.inputs[2].shape())
        );
        return Err(InferError::new(Fault::Shape, message).on(2));
    }
    let meets = [call.inputs[0].clone(), call.inputs[2].clone()];
    let met = Call {
        inputs: &meets,
        attrs: call.attrs,
    };
    if met.promoted()? != x.dtype {
        let message = format!(
            "updates of {} are not narrowed to {}",
            call.inputs[2], x.dtype
        );
        let error = InferError::new(Fault::DType, message).on(2);
        return Err(error.help(format!("cast them: `{}(…)`", x.dtype)));
    }
    if combine(reduction(call.attrs), x.dtype).is_none() {
        let message = format!("{} has no such operation", x.dtype);
        return Err(InferError::new(Fault::DType, message).on_attr("reduction"));
    }
    Ok(Inferred::new(
        vec![Some(x.dtype), Some(DType::I64), Some(x.dtype)],
        vec![TensorType::new(x.dtype, x.shape.clone()).into()],
    ))
}

fn scatter(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let (x, indices) = (&call.inputs[0], &call.inputs[1]);
    let axis = axis(call.attrs, "axis", x.shape().len()).map_err(at_run)?;
    let sizes = (indices.shape(), x.shape());
    let mut others = sizes.0.iter().zip(sizes.1).enumerate();
    if others.any(|(at, (size, whole))| at != axis && size > whole) {
        let message = format!("indices of {:?} do not fit {:?}", sizes.0, sizes.1);
        return Err(KernelError::new(message));
    }
    let whole = x.shape().to_vec();
    let places = indices.shape().to_vec();
    let indices = elements(indices);
    if !indices.is_empty() {
        check(indices, whole[axis], axis)?;
    }
    update(call, |there, written, size, combine| {
        Elements {
            axis,
            whole: &whole,
            places: &places,
            indices,
            size,
            combine,
        }
        .write(there, written);
    })
}

fn scatter_nd(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let (x, indices) = (&call.inputs[0], &call.inputs[1]);
    let length = indices.shape()[indices.shape().len() - 1];
    let sizes = x.shape()[..length].to_vec();
    let block: usize = x.shape()[length..].iter().product();
    let indices = elements(indices);
    let updates = call.inputs[2].layout.elements();
    if block == 0 || updates == 0 {
        return update(call, |_, _, _, _| {});
    }
    check_tuples(indices, &sizes, 0)?;
    update(call, |there, written, size, combine| {
        for (at, written) in written.chunks_exact(block * size).enumerate() {
            let tuple = &indices[at * length..(at + 1) * length];
            let place = tuple.iter().zip(&sizes).fold(0, |place, (index, size)| {
                place * size + checked(*index, *size) as usize
            });
            let start = place * block * size;
            combine(&mut there[start..start + block * size], written);
        }
    })
}

/// The elements of a contiguous view.
fn elements<'a>(view: &View<'a>) -> &'a [i64] {
    view.contiguous().unwrap_or_default()
}

/// Copies `x` into the result and lets `write` change it: what is there, what is written, the size
/// of an element, how they meet. Half precision meets in single.
fn update(
    call: &mut KernelCall<'_, '_>,
    write: impl Fn(&mut [u8], &[u8], usize, Combine),
) -> Result<(), KernelError> {
    let (x, updates) = (&call.inputs[0], &call.inputs[2]);
    let output = &mut call.outputs[0];
    let reduction = reduction(call.attrs);
    let combine = combine(reduction, x.dtype)
        .ok_or_else(|| KernelError::new(format!("{} has no such operation", x.dtype)))?;
    if reduction.is_some() && matches!(x.dtype, DType::F16 | DType::Bf16) {
        let mut there = widen(x);
        let written = widen(updates);
        write(
            bytemuck::cast_slice_mut(&mut there),
            bytemuck::cast_slice(&written),
            size_of::<f32>(),
            combine,
        );
        narrow(&there, output);
        return Ok(());
    }
    let size = x.dtype.size() as usize;
    copy_view(x, output.bytes);
    let start = updates.layout.offset * size;
    let written = &updates.bytes[start..start + updates.layout.elements() * size];
    write(output.bytes, written, size, combine);
    Ok(())
}

/// Single elements that are written along an axis.
struct Elements<'a> {
    axis: usize,
    /// Sizes of the result.
    whole: &'a [usize],
    /// Sizes of the indices.
    places: &'a [usize],
    indices: &'a [i64],
    size: usize,
    combine: Combine,
}

impl Elements<'_> {
    /// Each index of the first axis is a task of its own, unless things are written along it.
    fn write(&self, there: &mut [u8], written: &[u8]) {
        if self.indices.is_empty() {
            return;
        }
        if self.axis == 0 {
            return self.write_block(there, written, self.indices, 0);
        }
        let rest = |sizes: &[usize]| sizes[1..].iter().product::<usize>();
        let (there_len, written_len) = (rest(self.whole), rest(self.places));
        let blocks = there.par_chunks_mut(there_len * self.size);
        let written = written.par_chunks(written_len * self.size);
        let indices = self.indices.par_chunks(written_len);
        blocks
            .zip(written.zip(indices))
            .for_each(|(there, (written, indices))| {
                self.write_block(there, written, indices, 1);
            });
    }

    /// Writes what lies at the axes from `first` on.
    fn write_block(&self, there: &mut [u8], written: &[u8], indices: &[i64], first: usize) {
        let mut strides = Layout::contiguous(&self.whole[first..]).strides;
        let axis = self.axis - first;
        let stride = std::mem::take(&mut strides[axis]);
        let walk = Walk::new(&self.places[first..], &strides);
        let places = indices.iter().zip(walk.offsets(0));
        for ((index, offset), written) in places.zip(written.chunks_exact(self.size)) {
            let place = offset + checked(*index, self.whole[self.axis]) * stride;
            let start = place as usize * self.size;
            (self.combine)(&mut there[start..start + self.size], written);
        }
    }
}
