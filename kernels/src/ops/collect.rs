//! The items of a collection joined or added up.

use half::{bf16, f16};
use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{
    ArgType, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work, axis_of,
};
use haul_ir::tensor::{Bool, Element, View, ViewMut};
use haul_ir::types::{TensorType, ValueType};
use num_complex::Complex;

use super::concat::{axis_attr, join};
use crate::parallel;
use crate::strided::Walk;

const ITEMS: Param = Param {
    name: "x",
    kind: ParamKind::Collection,
    default: None,
};

const ON_HOST: GpuKernel =
    GpuKernel::None("the items come from separate tasks and meet in host memory");

/// `concat_all(x, axis=0)`.
pub(crate) struct ConcatAll;

impl Op for ConcatAll {
    fn name(&self) -> &'static str {
        "concat_all"
    }

    fn doc(&self) -> &'static str {
        "All items of a collection one after another along an axis they have, in the collection's \
         order. All items must have the same shape."
    }

    fn params(&self) -> &'static [Param] {
        &[
            ITEMS,
            Param {
                name: "axis",
                kind: ParamKind::Int,
                default: Some("0"),
            },
        ]
    }

    fn rule(&self) -> &'static str {
        "each [.., n, ..] -> [.., n * count, ..]"
    }

    fn family(&self) -> Family {
        Family::Move
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let (item, count) = items(call)?;
        let axis = axis_attr(call.attrs).and_then(|axis| axis_of(axis, item.rank()));
        let axis = axis.map_err(|error| error.on_attr("axis"))?;
        let mut shape = item.shape.clone();
        shape[axis] = &shape[axis] * count;
        Ok(Inferred::plain(1, TensorType::new(item.dtype, shape)))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        Work::of(Expr::ZERO, call, outputs)
    }

    fn work_formula(&self) -> &'static str {
        "0 flops"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(concat_all)
    }

    fn gpu(&self) -> GpuKernel {
        ON_HOST
    }

    fn examples(&self) -> &'static [Example] {
        &[Example {
            formula: "concat_all(x)",
            given: &[("x", "each i32[2]", "1 2 3 4 5 6")],
            result: ("i32[6]", "1 2 3 4 5 6"),
        }]
    }
}

/// `sum_all(x)`, `mean_all(x)`.
pub(crate) struct Total {
    name: &'static str,
    doc: &'static str,
    mean: bool,
    cpu: CpuKernel,
    examples: &'static [Example],
}

pub(crate) static SUM_ALL: Total = Total {
    name: "sum_all",
    doc: "The items of a collection added up, element by element. Integers and truth values are \
          summed in 64 bits and wrap around; floats accumulate in `f64`. All items must have the \
          same shape.",
    mean: false,
    cpu: CpuKernel::Array(|call| total(call, false)),
    examples: &[Example {
        formula: "sum_all(x)",
        given: &[("x", "each i32[2]", "1 2 3 4 5 6")],
        result: ("i64[2]", "9 12"),
    }],
};

pub(crate) static MEAN_ALL: Total = Total {
    name: "mean_all",
    doc: "The mean of the items of a collection, element by element: `f64` for integers and truth \
          values; floats accumulate in `f64`. All items must have the same shape. The mean of \
          nothing is NaN.",
    mean: true,
    cpu: CpuKernel::Array(|call| total(call, true)),
    examples: &[Example {
        formula: "mean_all(x)",
        given: &[("x", "each f32[2]", "1 2 3 4 5 7.5")],
        result: ("f32[2]", "3 4.5"),
    }],
};

impl Op for Total {
    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn params(&self) -> &'static [Param] {
        &[ITEMS]
    }

    fn rule(&self) -> &'static str {
        "each [..] -> [..]"
    }

    fn family(&self) -> Family {
        Family::Reduce
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let (item, _) = items(call)?;
        let dtype = match self.mean && item.dtype.kind() <= Kind::Int {
            true => DType::F64,
            false => item.dtype.sum(),
        };
        Ok(Inferred::plain(
            1,
            TensorType::new(dtype, item.shape.clone()),
        ))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        match items(call) {
            Ok((item, count)) => Work::of(item.elements() * count, call, outputs),
            Err(_) => Work::Unknown,
        }
    }

    fn work_formula(&self) -> &'static str {
        "1 flop an element of each item"
    }

    fn cpu(&self) -> CpuKernel {
        self.cpu
    }

    fn gpu(&self) -> GpuKernel {
        ON_HOST
    }

    fn examples(&self) -> &'static [Example] {
        self.examples
    }
}

/// The type of each item, and how many there are.
fn items<'a>(call: &Call<'a>) -> Result<(&'a TensorType, &'a Expr), InferError> {
    match call.inputs {
        [ArgType::Items(ValueType::Tensor(item), count)] => Ok((item, count)),
        [other] => {
            let message = format!("needs a collection of tensors, this is {other}");
            Err(InferError::new(Fault::Type, message).on(0))
        }
        _ => Err(InferError::new(Fault::Type, "needs one collection")),
    }
}

fn concat_all(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let output = &mut call.outputs[0];
    let axis = axis_attr(call.attrs).and_then(|axis| axis_of(axis, output.shape.len()));
    let axis = axis.map_err(|error| KernelError::new(error.message))?;
    if let Some(first) = call.inputs.first() {
        check_shapes(call.inputs, first.shape())?;
    }
    let length: usize = call.inputs.iter().map(|item| item.shape()[axis]).sum();
    if length != output.shape[axis] {
        let message = format!(
            "the items give {length} along axis {axis}, not {}",
            output.shape[axis]
        );
        return Err(KernelError::new(message));
    }
    join(call.inputs, axis, output);
    Ok(())
}

fn check_shapes(items: &[View<'_>], shape: &[usize]) -> Result<(), KernelError> {
    match items.iter().position(|item| item.shape() != shape) {
        Some(position) => {
            let found = items[position].shape();
            let message =
                format!("item {position} has shape {found:?}, not {shape:?} as others have");
            Err(KernelError::new(message))
        }
        None => Ok(()),
    }
}

fn total(call: &mut KernelCall<'_, '_>, mean: bool) -> Result<(), KernelError> {
    let (items, output) = (call.inputs, &mut call.outputs[0]);
    check_shapes(items, &output.shape)?;
    let dtype = items.first().map_or(output.dtype, |item| item.dtype);
    let count = if mean { items.len() as f64 } else { 1.0 };
    let real = |sum: f64| if mean { sum / count } else { sum };
    let complex = |sum: Complex<f64>| if mean { sum / count } else { sum };
    macro_rules! integers {
        ($type:ty, $sum:ty) => {
            match mean {
                true => add::<$type, f64, f64>(items, output, |x| x as f64, |a, b| a + b, real),
                false => add::<$type, $sum, $sum>(
                    items,
                    output,
                    |x| x as $sum,
                    |a, b| a.wrapping_add(b),
                    |sum| sum,
                ),
            }
        };
    }
    match dtype {
        DType::Bool if mean => {
            add::<Bool, f64, f64>(items, output, |x| f64::from(x.0), |a, b| a + b, real);
        }
        DType::Bool => {
            add::<Bool, i64, i64>(items, output, |x| i64::from(x.0), |a, b| a + b, |sum| sum);
        }
        DType::U8 => integers!(u8, u64),
        DType::U16 => integers!(u16, u64),
        DType::U32 => integers!(u32, u64),
        DType::U64 => integers!(u64, u64),
        DType::I8 => integers!(i8, i64),
        DType::I16 => integers!(i16, i64),
        DType::I32 => integers!(i32, i64),
        DType::I64 => integers!(i64, i64),
        DType::F16 => add(
            items,
            output,
            f16::to_f64,
            |a, b| a + b,
            |x| f16::from_f64(real(x)),
        ),
        DType::Bf16 => add(
            items,
            output,
            bf16::to_f64,
            |a, b| a + b,
            |x| bf16::from_f64(real(x)),
        ),
        DType::F32 => {
            add::<f32, f64, f32>(items, output, f64::from, |a, b| a + b, |x| real(x) as f32)
        }
        DType::F64 => add::<f64, f64, f64>(items, output, |x| x, |a, b| a + b, real),
        DType::C64 => add::<Complex<f32>, Complex<f64>, Complex<f32>>(
            items,
            output,
            |x| Complex::new(x.re.into(), x.im.into()),
            |a, b| a + b,
            |sum| {
                let sum = complex(sum);
                Complex::new(sum.re as f32, sum.im as f32)
            },
        ),
        DType::C128 => add::<Complex<f64>, Complex<f64>, Complex<f64>>(
            items,
            output,
            |x| x,
            |a, b| a + b,
            complex,
        ),
    }
    Ok(())
}

/// Elements that one task adds up.
const CHUNK: usize = 1 << 12;

fn add<T: Element, A: Copy + Default, R: Element>(
    items: &[View<'_>],
    output: &mut ViewMut<'_>,
    widen: impl Fn(T) -> A + Sync,
    plus: impl Fn(A, A) -> A + Sync,
    finish: impl Fn(A) -> R + Sync,
) {
    parallel::chunks(output.bytes, CHUNK * size_of::<R>(), &|chunk, bytes| {
        let results: &mut [R] = bytemuck::cast_slice_mut(bytes);
        let mut sums = vec![A::default(); results.len()];
        let mut elements = vec![T::default(); results.len()];
        for item in items {
            let walk = Walk::new(item.shape(), &item.layout.strides);
            walk.copy_from(
                item.buffer(),
                item.layout.offset,
                chunk * CHUNK,
                &mut elements,
            );
            for (sum, element) in sums.iter_mut().zip(&elements) {
                *sum = plus(*sum, widen(*element));
            }
        }
        for (result, sum) in results.iter_mut().zip(sums) {
            *result = finish(sum);
        }
    });
}
