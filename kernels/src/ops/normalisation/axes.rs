//! Norms over any axes: what is known of each slice first, then each element.

use haul_ir::op::{
    Attr, Attrs, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred,
    KernelCall, KernelError, Param, ParamKind, axis_of,
};
use haul_ir::tensor::{Layout, View};
use haul_ir::types::TensorType;
use rayon::prelude::*;

use super::{first_axis, rows::combine};
use crate::ops::array_op::{
    ArrayOp, attribute, float_dtype, one_number, precise, scalar, tensor, work_per_element, wrong,
};
use crate::real::{Reader, Real, elements_of, fill_elements, fill_rows, in_precision, number, sum};

const MEAN_VARIANCE: &[Param] = &[
    tensor("x"),
    scalar("epsilon", "1e-9"),
    attribute("axis", ParamKind::Axes, "none"),
];

/// `mean_variance_norm(x, epsilon=1e-9, axis=none)`.
pub(in crate::ops) static MEAN_VARIANCE_NORM: ArrayOp = ArrayOp {
    name: "mean_variance_norm",
    doc: "`(x - mean) / (std + epsilon)` over an axis, several, or all; the standard deviation is \
          that of the population. Integers are computed in `f64`, `f16` and `bf16` in `f32`. \
          Memory for two numbers a slice is needed.",
    params: MEAN_VARIANCE,
    rule: "[..] -> [..]",
    family: Family::Reduce,
    infer: |call| {
        one_number(call, 1)?;
        axes(call.attrs, call.tensor(0)?.rank())?;
        same_shape(call)
    },
    work: |call, outputs| work_per_element(6, call, outputs),
    work_formula: "6 flops an element",
    cpu: CpuKernel::Array(mean_variance_norm),
    gpu: GpuKernel::Own,
    examples: &[
        // Means 2 and 20, deviations 1 and 10.
        Example {
            formula: "mean_variance_norm(x, epsilon=0, axis=0)",
            given: &[("x", "f32[2, 2]", "1 10 3 30")],
            result: ("f32[2, 2]", "-1 -1 1 1"),
        },
    ],
};

const NORM: &[Param] = &[
    tensor("x"),
    scalar("epsilon", "1e-12"),
    attribute("p", ParamKind::Numbers, "2"),
    attribute("axis", ParamKind::Int, "-1"),
];

/// `normalize(x, epsilon=1e-12, p=2, axis=-1)`.
pub(in crate::ops) static NORMALIZE: ArrayOp = ArrayOp {
    name: "normalize",
    doc: "`x / max(norm, epsilon)` along an axis, with the norm `sum(abs(x)**p)**(1/p)`; p is \
          positive, perhaps `inf`. Slices of zeros stay zeros. Integers are computed in `f64`, \
          `f16` and `bf16` in `f32`. Memory for two numbers a slice is needed.",
    params: NORM,
    rule: "[..] -> [..]",
    family: Family::Reduce,
    infer: |call| {
        one_number(call, 1)?;
        first_axis(call, call.tensor(0)?.rank())?;
        order(call.attrs)?;
        same_shape(call)
    },
    work: |call, outputs| work_per_element(3, call, outputs),
    work_formula: "3 flops an element",
    cpu: CpuKernel::Array(normalize),
    gpu: GpuKernel::Own,
    examples: &[
        Example {
            formula: "normalize(x)",
            given: &[("x", "f32[2, 2]", "3 4 0 0")],
            result: ("f32[2, 2]", "0.6 0.8 0 0"),
        },
        Example {
            formula: "normalize(x, p=1, axis=0)",
            given: &[("x", "f32[2, 2]", "1 2 -3 2")],
            result: ("f32[2, 2]", "0.25 0.5 -0.75 0.5"),
        },
    ],
};

const LARGEST: &[Param] = &[tensor("x"), attribute("axis", ParamKind::Int, "-1")];

/// `hardmax(x, axis=-1)`.
pub(in crate::ops) static HARDMAX: ArrayOp = ArrayOp {
    name: "hardmax",
    doc: "1 at the first largest element of each slice along an axis, 0 elsewhere; a NaN is \
          larger than all numbers. Integers give `f64`.",
    params: LARGEST,
    rule: "[..] -> [..]",
    family: Family::Reduce,
    infer: |call| {
        first_axis(call, call.tensor(0)?.rank())?;
        same_shape(call)
    },
    work: |call, outputs| work_per_element(1, call, outputs),
    work_formula: "1 flop an element",
    cpu: CpuKernel::Array(hardmax),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "hardmax(x)",
        given: &[("x", "f32[2, 3]", "1 3 3 2 nan 5")],
        result: ("f32[2, 3]", "0 1 0 0 1 0"),
    }],
};

/// The shape of `x` in its float dtype; numbers beside it are wider.
fn same_shape(call: &Call<'_>) -> Result<Inferred, InferError> {
    let dtype = float_dtype(call, &[0])?;
    let output = TensorType::new(dtype, call.tensor(0)?.shape.clone());
    let mut inferred = Inferred::cast_all(call.inputs.len(), precise(dtype), output);
    inferred.cast[0] = Some(dtype);
    Ok(inferred)
}

/// The axes named, or all.
fn axes(attrs: &Attrs, rank: usize) -> Result<Vec<usize>, InferError> {
    if *attrs.get("axis") == Attr::None {
        return Ok((0..rank).collect());
    }
    let named = attrs.ints("axis");
    let named = named.ok_or_else(|| wrong("axis", "names axes by whole numbers"))?;
    let mut axes = Vec::with_capacity(named.len());
    for axis in named {
        let found = axis_of(axis, rank).map_err(|error| error.on_attr("axis"))?;
        if axes.contains(&found) {
            let message = format!("axis {axis} is given twice");
            return Err(InferError::new(Fault::Axis, message).on_attr("axis"));
        }
        axes.push(found);
    }
    Ok(axes)
}

/// The order of the norm.
fn order(attrs: &Attrs) -> Result<f64, InferError> {
    match attrs.numbers("p").as_deref() {
        Some([p]) if *p > 0.0 => Ok(*p),
        _ => Err(wrong("p", "is a positive number")),
    }
}

fn mean_variance_norm(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let axes = axes(call.attrs, call.inputs[0].shape().len());
    let axes = axes.map_err(|error| KernelError::new(error.message))?;
    in_precision!(call.outputs[0].dtype, center_and_scale, call, &axes);
    Ok(())
}

fn center_and_scale<A: Real>(call: &mut KernelCall<'_, '_>, axes: &[usize]) {
    let epsilon: A = number(&call.inputs[1]);
    let (means, divisors) = slices(&call.inputs[0], axes, |slice: &[A]| {
        let count = slice.len() as f64;
        let mean = A::of(sum(slice, |x| x) / count);
        let variance = sum(slice, |x| (x - mean) * (x - mean)) / count;
        (mean, A::of(variance).sqrt() + epsilon)
    });
    apply(call, axes, &means, &divisors);
}

fn normalize(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let axis = one_axis(call)?;
    let p = order(call.attrs).map_err(|error| KernelError::new(error.message))?;
    in_precision!(call.outputs[0].dtype, scale, call, &[axis], p);
    Ok(())
}

fn scale<A: Real>(call: &mut KernelCall<'_, '_>, axes: &[usize], p: f64) {
    let epsilon: A = number(&call.inputs[1]);
    let (shifts, divisors) = slices(&call.inputs[0], axes, |slice: &[A]| {
        let norm = norm(slice, p);
        let divisor = if norm < epsilon { epsilon } else { norm };
        (A::zero(), divisor)
    });
    apply(call, axes, &shifts, &divisors);
}

fn norm<A: Real>(slice: &[A], p: f64) -> A {
    if p == 1.0 {
        return A::of(sum(slice, |x| x.abs()));
    }
    if p == 2.0 {
        return A::of(sum(slice, |x| x * x).sqrt());
    }
    if p == f64::INFINITY {
        let larger = |max: A, x: &A| {
            if x.abs() > max || x.is_nan() {
                x.abs()
            } else {
                max
            }
        };
        return slice.iter().fold(A::zero(), larger);
    }
    let power = A::of(p);
    A::of(sum(slice, |x| x.abs().powf(power)).powf(1.0 / p))
}

/// Elements that are worth a task.
const TASK: usize = 1 << 14;

/// Two numbers for each slice over some axes, by the other axes in row-major order.
fn slices<A: Real>(
    x: &View<'_>,
    axes: &[usize],
    of: impl Fn(&[A]) -> (A, A) + Sync,
) -> (Vec<A>, Vec<A>) {
    let sizes: Vec<_> = axes.iter().map(|axis| x.shape()[*axis]).collect();
    let length = elements_of(&sizes);
    let count = x.layout.elements() / length.max(1);
    let (mut first, mut second) = (vec![A::zero(); count], vec![A::zero(); count]);
    let reader = Reader::axes_last(x, axes);
    let task = (TASK / length.max(1)).max(1);
    let pairs = first.par_chunks_mut(task).zip(second.par_chunks_mut(task));
    pairs.enumerate().for_each(|(chunk, (first, second))| {
        let mut slice = vec![A::zero(); length];
        for (at, (first, second)) in first.iter_mut().zip(second).enumerate() {
            reader.read((chunk * task + at) * length, &mut slice);
            (*first, *second) = of(&slice);
        }
    });
    (first, second)
}

/// `(x - shift) / divisor` with the numbers of each slice.
fn apply<A: Real>(call: &mut KernelCall<'_, '_>, axes: &[usize], shifts: &[A], divisors: &[A]) {
    let shape = call.inputs[0].shape();
    let per_slice = |values| {
        let one = |(axis, size): (usize, &usize)| if axes.contains(&axis) { 1 } else { *size };
        let kept: Vec<_> = shape.iter().enumerate().map(one).collect();
        let view = View {
            dtype: A::DTYPE,
            layout: Layout::contiguous(&kept),
            bytes: bytemuck::cast_slice(values),
        };
        Reader::broadcast(&view, shape)
    };
    let (shifts, divisors) = (per_slice(shifts), per_slice(divisors));
    let x = Reader::new(&call.inputs[0]);
    fill_elements(&mut call.outputs[0], &|position, values: &mut [A]| {
        x.read(position, values);
        combine(Some(&shifts), position, values, |x, shift| x - shift);
        combine(Some(&divisors), position, values, |x, divisor| x / divisor);
    });
}

fn hardmax(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let axis = one_axis(call)?;
    in_precision!(call.outputs[0].dtype, mark_largest, call, axis);
    Ok(())
}

fn mark_largest<A: Real>(call: &mut KernelCall<'_, '_>, axis: usize) {
    let shape = call.inputs[0].shape();
    let inner = elements_of(&shape[axis + 1..]);
    let x = Reader::axes_last(&call.inputs[0], &[axis]);
    let length = shape[axis];
    let block = inner.saturating_mul(length);
    // The slices of one index of the axes before are neighbours.
    fill_rows(
        &mut call.outputs[0],
        block,
        &|position, values: &mut [A]| {
            let mut slice = vec![A::zero(); length];
            values.fill(A::zero());
            for (at, values) in values.chunks_exact_mut(block).enumerate() {
                for column in 0..inner {
                    let start = position + at * block + column * length;
                    x.read(start, &mut slice);
                    values[largest(&slice) * inner + column] = A::one();
                }
            }
        },
    );
}

fn largest<A: Real>(slice: &[A]) -> usize {
    let mut largest = 0;
    for (at, x) in slice.iter().enumerate() {
        if *x > slice[largest] || (x.is_nan() && !slice[largest].is_nan()) {
            largest = at;
        }
    }
    largest
}

fn one_axis(call: &KernelCall<'_, '_>) -> Result<usize, KernelError> {
    let axis = call.attrs.int("axis").unwrap_or(-1);
    let axis = axis_of(axis, call.inputs[0].shape().len());
    axis.map_err(|error| KernelError::new(error.message))
}
