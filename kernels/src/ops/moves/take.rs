//! Elements picked by indices that data gives.

use bytemuck::Pod;
use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::op::{
    CpuKernel, Example, Fault, InferError, Inferred, KernelCall, KernelError, Param, ParamKind,
    broadcast,
};
use haul_ir::tensor::{Layout, View};
use haul_ir::types::{Axes, TensorType};

use super::attrs::{X, at_run, axis, check_indices, int, optional, required};
use super::indices::{check, check_tuples, checked};
use super::rows::rows;
use super::{Cost, Move};
use crate::parallel;
use crate::strided::{Walk, contiguous};

const INDICES: Param = required("indices", ParamKind::Tensor);

pub(crate) static TAKE: Move = Move {
    name: "take",
    doc: "What lies at the given indices of an axis; the axes of `indices` take its place. Negative \
          indices count from the end; one out of bounds stops the run. Where there is more than one \
          axis, `axis` has to be said.",
    params: &[X, INDICES, optional("axis", ParamKind::Int, "none")],
    rule: "[.., n, ..], [i, ..] -> [.., i, .., ..]",
    infer: |call| {
        let (x, indices) = (call.tensor(0)?, call.tensor(1)?);
        check_indices(indices.dtype, 1)?;
        let axis = axis(call.attrs, "axis", x.rank())?;
        let mut shape = x.shape[..axis].to_vec();
        shape.extend(indices.shape.iter().cloned());
        shape.extend(x.shape[axis + 1..].iter().cloned());
        Ok(indexed(x, shape))
    },
    cost: Cost::Picked,
    cpu: CpuKernel::Array(take),
    examples: &[
        Example {
            formula: "take(x, i)",
            given: &[("x", "f32[3]", "1 2 3"), ("i", "i64[4]", "2 0 -1 1")],
            result: ("f32[4]", "3 1 3 2"),
        },
        Example {
            formula: "take(x, i, axis=1)",
            given: &[("x", "i32[2, 3]", "1 2 3 4 5 6"), ("i", "i64[2]", "2 0")],
            result: ("i32[2, 2]", "3 1 6 4"),
        },
    ],
};

pub(crate) static TAKE_ALONG_AXIS: Move = Move {
    name: "take_along_axis",
    doc: "For each place of `indices`, the element at that index of an axis; the other axes of both \
          broadcast. So what `argsort` gives picks the sorted elements. Negative indices count from \
          the end; one out of bounds stops the run.",
    params: &[X, INDICES, optional("axis", ParamKind::Int, "-1")],
    rule: "[.., n, ..], [.., i, ..] -> [.., i, ..]",
    infer: |call| {
        let (x, indices) = (call.tensor(0)?, call.tensor(1)?);
        check_indices(indices.dtype, 1)?;
        let axis = axis(call.attrs, "axis", x.rank())?;
        if indices.rank() != x.rank() {
            let message = format!("{x} and {indices} have not as many axes");
            return Err(InferError::new(Fault::Rank, message).on(1));
        }
        let mut others = x.shape.clone();
        others[axis] = Expr::ONE;
        let shape = broadcast(&[&others, &indices.shape])?;
        Ok(indexed(x, shape))
    },
    cost: Cost::Picked,
    cpu: CpuKernel::Array(take_along_axis),
    examples: &[Example {
        formula: "take_along_axis(x, i, axis=1)",
        given: &[
            ("x", "i32[2, 3]", "1 2 3 4 5 6"),
            ("i", "i64[2, 1]", "2 -3"),
        ],
        result: ("i32[2, 1]", "3 4"),
    }],
};

pub(crate) static GATHER_ND: Move = Move {
    name: "gather_nd",
    doc: "What lies at tuples of indices: the last axis of `indices` holds one index for each of so \
          many axes of `x`, after `batch_axes` axes that both have in common. Negative indices count \
          from the end; one out of bounds stops the run.",
    params: &[X, INDICES, optional("batch_axes", ParamKind::Int, "0")],
    rule: "[b.., n1, .., nk, ..], [b.., i.., k] -> [b.., i.., ..]",
    infer: |call| {
        let (x, indices) = (call.tensor(0)?, call.tensor(1)?);
        check_indices(indices.dtype, 1)?;
        let batch = int(call.attrs, "batch_axes")?;
        let most = x.rank().min(indices.rank().saturating_sub(1));
        let batch = usize::try_from(batch).ok().filter(|batch| *batch <= most);
        let batch = batch.ok_or_else(|| {
            let message = format!("{x} and {indices} have not so many axes in common");
            InferError::new(Fault::Value, message).on_attr("batch_axes")
        })?;
        let [outer @ .., length] = &indices.shape[..] else {
            let message = "a scalar holds no tuples";
            return Err(InferError::new(Fault::Rank, message).on(1));
        };
        if outer[..batch] != x.shape[..batch] {
            let (a, b) = (Axes(&x.shape[..batch]), Axes(&outer[..batch]));
            let message = format!("the first axes are {a} and {b}");
            return Err(InferError::new(Fault::Shape, message).on(1));
        }
        let length = length
            .as_u64()
            .and_then(|length| usize::try_from(length).ok());
        let length = length.filter(|length| *length <= x.rank() - batch);
        let length = length.ok_or_else(|| {
            let message = format!("the last axis of {indices} is longer than {x} has axes");
            InferError::new(Fault::Shape, message).on(1)
        })?;
        let mut shape = outer.to_vec();
        shape.extend(x.shape[batch + length..].iter().cloned());
        Ok(indexed(x, shape))
    },
    cost: Cost::Picked,
    cpu: CpuKernel::Array(gather_nd),
    examples: &[Example {
        formula: "gather_nd(x, i)",
        given: &[
            ("x", "i32[2, 2]", "1 2 3 4"),
            ("i", "i64[3, 2]", "0 0 1 1 -1 0"),
        ],
        result: ("i32[3]", "1 4 3"),
    }],
};

pub(crate) static REVERSE_SEQUENCE: Move = Move {
    name: "reverse_sequence",
    doc: "The first `lengths[b]` elements of an axis in reverse order, for each index `b` of \
          `batch_axis`; those after them stay. A length that the axis has not stops the run.",
    params: &[
        X,
        required("lengths", ParamKind::Tensor),
        optional("axis", ParamKind::Int, "1"),
        optional("batch_axis", ParamKind::Int, "0"),
    ],
    rule: "[.., b, .., n, ..], [b] -> [.., b, .., n, ..]",
    infer: |call| {
        let (x, lengths) = (call.tensor(0)?, call.tensor(1)?);
        check_indices(lengths.dtype, 1)?;
        let axes = ["axis", "batch_axis"].map(|name| axis(call.attrs, name, x.rank()));
        let [time, batch] = axes;
        let (time, batch) = (time?, batch?);
        if time == batch {
            let message = "the axis is that of the batch";
            return Err(InferError::new(Fault::Axis, message).on_attr("axis"));
        }
        if lengths.shape[..] != x.shape[batch..=batch] {
            let message = format!("needs {} lengths, this is {lengths}", x.shape[batch]);
            return Err(InferError::new(Fault::Shape, message).on(1));
        }
        Ok(indexed(x, x.shape.clone()))
    },
    cost: Cost::All,
    cpu: CpuKernel::Array(reverse_sequence),
    examples: &[Example {
        formula: "reverse_sequence(x, n)",
        given: &[("x", "i32[2, 3]", "1 2 3 4 5 6"), ("n", "i64[2]", "2 3")],
        result: ("i32[2, 3]", "2 1 3 6 5 4"),
    }],
};

/// A tensor of the first input's elements; indices count in 64 bits.
fn indexed(x: &TensorType, shape: Vec<Expr>) -> Inferred {
    Inferred::new(
        vec![None, Some(DType::I64)],
        vec![TensorType::new(x.dtype, shape).into()],
    )
}

fn take(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let (x, output) = (&call.inputs[0], &mut call.outputs[0]);
    let axis = axis(call.attrs, "axis", x.shape().len()).map_err(at_run)?;
    let indices = contiguous::<i64>(&call.inputs[1]);
    let (size, stride) = (x.shape()[axis], x.layout.strides[axis]);
    if output.bytes.is_empty() {
        return Ok(());
    }
    check(&indices, size, axis)?;
    let outer = Walk::new(&x.shape()[..axis], &x.layout.strides[..axis]);
    rows(x, axis + 1, output, &|position| {
        let index = indices[position % indices.len()];
        outer.offset(position / indices.len()) + checked(index, size) * stride
    });
    Ok(())
}

fn gather_nd(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let (x, output) = (&call.inputs[0], &mut call.outputs[0]);
    let batch = int(call.attrs, "batch_axes").map_err(at_run)? as usize;
    let shape = call.inputs[1].shape();
    let length = shape[shape.len() - 1];
    let each: usize = shape[batch..shape.len() - 1].iter().product();
    let indices = contiguous::<i64>(&call.inputs[1]);
    if output.bytes.is_empty() {
        return Ok(());
    }
    let sizes = &x.shape()[batch..batch + length];
    let strides = &x.layout.strides[batch..batch + length];
    check_tuples(&indices, sizes, batch)?;
    let outer = Walk::new(&x.shape()[..batch], &x.layout.strides[..batch]);
    rows(x, batch + length, output, &|position| {
        let tuple = &indices[position * length..(position + 1) * length];
        let places = tuple.iter().zip(sizes).zip(strides);
        let offsets = places.map(|((index, size), stride)| checked(*index, *size) * stride);
        outer.offset(position / each) + offsets.sum::<isize>()
    });
    Ok(())
}

fn reverse_sequence(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let (x, output) = (&call.inputs[0], &mut call.outputs[0]);
    let (shape, strides) = (&x.layout.shape, &x.layout.strides);
    let time = axis(call.attrs, "axis", shape.len()).map_err(at_run)?;
    let batch = axis(call.attrs, "batch_axis", shape.len()).map_err(at_run)?;
    let lengths = contiguous::<i64>(&call.inputs[1]);
    let fits = |length: &i64| usize::try_from(*length).is_ok_and(|length| length <= shape[time]);
    if let Some(length) = lengths.iter().find(|length| !fits(length)) {
        let message = format!(
            "length {length} is none of axis {time} of size {}",
            shape[time]
        );
        return Err(KernelError::new(message));
    }
    let outer = time.max(batch) + 1;
    rows(x, outer, output, &|position| {
        let (mut rest, mut offset) = (position, 0);
        let (mut at, mut length) = (0, 0);
        for axis in (0..outer).rev() {
            let index = rest % shape[axis];
            rest /= shape[axis];
            offset += index as isize * strides[axis];
            if axis == time {
                at = index as isize;
            } else if axis == batch {
                length = lengths[index] as isize;
            }
        }
        let from = if at < length { length - 1 - at } else { at };
        offset + (from - at) * strides[time]
    });
    Ok(())
}

fn take_along_axis(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let [x, indices] = call.inputs else {
        return Err(KernelError::new("needs two tensors"));
    };
    let output = &mut call.outputs[0];
    let axis = axis(call.attrs, "axis", x.shape().len()).map_err(at_run)?;
    if output.bytes.is_empty() {
        return Ok(());
    }
    let size = x.shape()[axis];
    check(&contiguous(indices), size, axis)?;
    let mut outer = x.layout.clone();
    (outer.shape[axis], outer.strides[axis]) = (1, 0);
    let picks = Picks {
        outer: outer.broadcast_to(&output.shape),
        indices: View {
            layout: indices.layout.broadcast_to(&output.shape),
            ..indices.clone()
        },
        size,
        stride: x.layout.strides[axis],
    };
    match output.dtype.size() {
        1 => picks.fill::<u8>(x, output.bytes),
        2 => picks.fill::<u16>(x, output.bytes),
        4 => picks.fill::<u32>(x, output.bytes),
        8 => picks.fill::<u64>(x, output.bytes),
        _ => picks.fill::<[u64; 2]>(x, output.bytes),
    }
    Ok(())
}

/// Where each element of the result comes from.
struct Picks<'a> {
    /// Index 0 of the axis for each element of the result.
    outer: Layout,
    indices: View<'a>,
    size: usize,
    stride: isize,
}

/// Elements that one task fills.
const CHUNK: usize = 1 << 13;

impl Picks<'_> {
    fn fill<T: Pod + Send + Sync>(&self, x: &View<'_>, output: &mut [u8]) {
        let data: &[T] = bytemuck::cast_slice(x.bytes);
        let indices = self.indices.buffer::<i64>();
        let [outer, inner] = [&self.outer, &self.indices.layout]
            .map(|layout| Walk::new(&layout.shape, &layout.strides));
        parallel::chunks(output, CHUNK * size_of::<T>(), &|chunk, bytes| {
            let elements: &mut [T] = bytemuck::cast_slice_mut(bytes);
            let places = outer
                .offsets(chunk * CHUNK)
                .zip(inner.offsets(chunk * CHUNK));
            for (element, (offset, place)) in elements.iter_mut().zip(places) {
                let index = indices[self.indices.layout.offset.wrapping_add_signed(place)];
                let offset = offset + checked(index, self.size) * self.stride;
                *element = data[self.outer.offset.wrapping_add_signed(offset)];
            }
        });
    }
}
