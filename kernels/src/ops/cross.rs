//! Cross products.

use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, ParamKind, Work, broadcast,
};
use haul_ir::tensor::{Element, Layout};
use haul_ir::types::{TensorType, ValueType};
use num_complex::Complex;
use rayon::prelude::*;

use super::array_op::{ArrayOp, attribute, check, tensor};
use super::one_axis;
use crate::strided::Walk;
use crate::wide::{narrow, widen};

/// `cross(a, b, axis=-1)`.
pub(super) static CROSS: ArrayOp = ArrayOp {
    name: "cross",
    doc: "The cross products of vectors of three elements along an axis; other axes broadcast. \
          f16 and bf16 are computed in f32; integers wrap.",
    params: &[
        tensor("a"),
        tensor("b"),
        attribute("axis", ParamKind::Int, "-1"),
    ],
    rule: "[.., 3, ..], [.., 3, ..] -> [.., 3, ..]",
    family: Family::Elementwise,
    infer,
    work: |call, outputs| {
        let flops = |output: &TensorType| match output.dtype.kind() {
            Kind::Complex => 14,
            _ => 3,
        };
        match outputs.first().and_then(ValueType::tensor) {
            Some(output) => Work::of(output.elements() * flops(output), call, outputs),
            None => Work::Unknown,
        }
    },
    work_formula: "3 flops an element, complex 14",
    cpu: CpuKernel::Array(cross),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "cross(a, b)",
        given: &[("a", "f32[3]", "1 2 3"), ("b", "f32[3]", "4 5 6")],
        result: ("f32[3]", "-3 6 -3"),
    }],
};

fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    let dtype = call.promoted()?;
    if dtype.kind() == Kind::Bool {
        let error = InferError::new(Fault::DType, "there is no product of bools");
        return Err(error.help("cast them, for example `i64(x)`"));
    }
    let shape = broadcast(&[&a.shape, &b.shape])?;
    let axis = one_axis(call.attrs, shape.len())?;
    for (position, input) in [a, b].into_iter().enumerate() {
        let own = axis.checked_sub(shape.len() - input.rank());
        if own.is_none_or(|own| input.shape[own] != Expr::from(3_u64)) {
            let message = format!("needs three elements along axis {axis}, this is {input}");
            return Err(InferError::new(Fault::Shape, message).on(position));
        }
    }
    Ok(Inferred::cast_all(2, dtype, TensorType::new(dtype, shape)))
}

fn cross(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer)?;
    let [a, b] = [&call.inputs[0], &call.inputs[1]];
    let output = &mut call.outputs[0];
    if output.bytes.is_empty() {
        return Ok(());
    }
    let axis = one_axis(call.attrs, output.shape.len());
    let axis = axis.map_err(|error| KernelError::new(error.message))?;
    let shape = output.shape.clone();
    macro_rules! compute {
        ($type:ty, $minus:expr) => {{
            let of = |at: usize| {
                let view = &call.inputs[at];
                Vectors::new(view.buffer(), &view.layout, axis, &shape)
            };
            products::<$type>([of(0), of(1)], $minus, output.elements())
        }};
    }
    macro_rules! floats {
        ($type:ty) => {
            compute!($type, |[a, b], [c, d]| a * b - c * d)
        };
    }
    macro_rules! integers {
        ($type:ty) => {
            compute!($type, |[a, b], [c, d]| a
                .wrapping_mul(b)
                .wrapping_sub(c.wrapping_mul(d)))
        };
    }
    match output.dtype {
        DType::F16 | DType::Bf16 => {
            let [a, b] = [a, b].map(|view| (widen(view), Layout::contiguous(view.shape())));
            let vectors = [&a, &b].map(|(data, layout)| Vectors::new(data, layout, axis, &shape));
            let mut wide = vec![0.0; shape.iter().product()];
            products::<f32>(vectors, |[a, b], [c, d]| a * b - c * d, &mut wide);
            narrow(&wide, output);
        }
        DType::F32 => floats!(f32),
        DType::F64 => floats!(f64),
        DType::C64 => floats!(Complex<f32>),
        DType::C128 => floats!(Complex<f64>),
        DType::U8 => integers!(u8),
        DType::U16 => integers!(u16),
        DType::U32 => integers!(u32),
        DType::U64 => integers!(u64),
        DType::I8 => integers!(i8),
        DType::I16 => integers!(i16),
        DType::I32 => integers!(i32),
        DType::I64 => integers!(i64),
        DType::Bool => return Err(KernelError::new("there is no product of bools")),
    }
    Ok(())
}

/// Vectors that one task multiplies.
const TASK: usize = 1 << 12;

/// `minus` is the difference of the products of two pairs.
fn products<T: Element>(
    [a, b]: [Vectors<'_, T>; 2],
    minus: impl Fn([T; 2], [T; 2]) -> T + Sync,
    output: &mut [T],
) {
    let inner = a.inner;
    let together = (TASK / inner).max(1);
    let tasks = output.par_chunks_mut(together * 3 * inner);
    tasks.enumerate().for_each(|(task, output)| {
        let first = task * together * inner;
        let mut pairs = a.from(first).zip(b.from(first));
        for block in output.chunks_exact_mut(3 * inner) {
            for (place, ([a0, a1, a2], [b0, b1, b2])) in (0..inner).zip(&mut pairs) {
                block[place] = minus([a1, b2], [a2, b1]);
                block[inner + place] = minus([a2, b0], [a0, b2]);
                block[2 * inner + place] = minus([a0, b1], [a1, b0]);
            }
        }
    });
}

/// The vectors of three elements along an axis, broadcast to a shape.
struct Vectors<'a, T> {
    data: &'a [T],
    start: usize,
    walk: Walk,
    /// From one element of a vector to the next.
    stride: isize,
    /// Vectors side by side.
    inner: usize,
}

impl<'a, T: Element> Vectors<'a, T> {
    fn new(data: &'a [T], layout: &Layout, axis: usize, shape: &[usize]) -> Self {
        let mut layout = layout.broadcast_to(shape);
        layout.shape.remove(axis);
        let stride = layout.strides.remove(axis);
        Self {
            data,
            start: layout.offset,
            walk: Walk::new(&layout.shape, &layout.strides),
            stride,
            inner: layout.shape[axis..].iter().product(),
        }
    }

    /// Those from a position on; it never ends.
    fn from(&self, position: usize) -> impl Iterator<Item = [T; 3]> {
        self.walk.offsets(position).map(|offset| {
            [0, 1, 2].map(|at| {
                let offset = offset + at * self.stride;
                self.data[self.start.wrapping_add_signed(offset)]
            })
        })
    }
}
