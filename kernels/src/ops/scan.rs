//! Running sums, products and extremes along an axis.

use bytemuck::{cast_slice, cast_slice_mut};
use half::{bf16, f16};
use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work, axis_of,
};
use haul_ir::tensor::Element;
use haul_ir::types::{TensorType, ValueType};
use num_complex::Complex;

use super::reduce::{Bounded, Convert, Number, Order};
use super::reduce::{Largest, Smallest};
use crate::slices::each_slice;

/// A running reduction.
pub(super) struct Scan {
    name: &'static str,
    doc: &'static str,
    kinds: &'static [Kind],
    params: &'static [Param],
    result: fn(DType) -> DType,
    kernel: fn(&mut KernelCall<'_, '_>) -> Result<(), KernelError>,
    examples: &'static [Example],
}

const fn flag(name: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Bool,
        default: Some("false"),
    }
}

const X: Param = Param {
    name: "x",
    kind: ParamKind::Tensor,
    default: None,
};
const AXIS: Param = Param {
    name: "axis",
    kind: ParamKind::Int,
    default: Some("-1"),
};
const SUMS: &[Param] = &[X, AXIS, flag("exclusive"), flag("reverse")];
const EXTREMES: &[Param] = &[X, AXIS, flag("reverse")];

pub(super) static CUMSUM: Scan = Scan {
    name: "cumsum",
    doc: "The sum of the elements up to each along an axis: without the element itself where \
          `exclusive`, from the end backwards where `reverse`. Integers and truth values are summed \
          in 64 bits and wrap around; `f16` and `bf16` accumulate in `f32`.",
    kinds: &[Kind::Bool, Kind::Int, Kind::Float, Kind::Complex],
    params: SUMS,
    result: DType::sum,
    kernel: cumsum,
    examples: &[
        Example {
            formula: "cumsum(x)",
            given: &[("x", "f32[2, 3]", "1 2 3 4 5 6")],
            result: ("f32[2, 3]", "1 3 6 4 9 15"),
        },
        Example {
            formula: "cumsum(x, axis=0, exclusive=true, reverse=true)",
            given: &[("x", "u8[3]", "200 100 50")],
            result: ("u64[3]", "150 50 0"),
        },
    ],
};

pub(super) static CUMPROD: Scan = Scan {
    name: "cumprod",
    doc: "The product of the elements up to each along an axis: without the element itself where \
          `exclusive`, from the end backwards where `reverse`. Integers and truth values are \
          multiplied in 64 bits and wrap around; `f16` and `bf16` accumulate in `f32`.",
    kinds: &[Kind::Bool, Kind::Int, Kind::Float, Kind::Complex],
    params: SUMS,
    result: DType::sum,
    kernel: cumprod,
    examples: &[Example {
        formula: "cumprod(x)",
        given: &[("x", "i32[4]", "1 2 -3 4")],
        result: ("i64[4]", "1 2 -6 -24"),
    }],
};

pub(super) static CUMMAX: Scan = Scan {
    name: "cummax",
    doc: "The largest of the elements up to each along an axis, from the end backwards where \
          `reverse`; NaN from the first NaN on.",
    kinds: &[Kind::Int, Kind::Float],
    params: EXTREMES,
    result: |dtype| dtype,
    kernel: cummax,
    examples: &[Example {
        formula: "cummax(x)",
        given: &[("x", "f32[5]", "1 3 2 nan 5")],
        result: ("f32[5]", "1 3 3 nan nan"),
    }],
};

pub(super) static CUMMIN: Scan = Scan {
    name: "cummin",
    doc: "The smallest of the elements up to each along an axis, from the end backwards where \
          `reverse`; NaN from the first NaN on.",
    kinds: &[Kind::Int, Kind::Float],
    params: EXTREMES,
    result: |dtype| dtype,
    kernel: cummin,
    examples: &[Example {
        formula: "cummin(x, reverse=true)",
        given: &[("x", "i32[4]", "1 3 -2 5")],
        result: ("i32[4]", "-2 -2 -2 5"),
    }],
};

impl Op for Scan {
    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn params(&self) -> &'static [Param] {
        self.params
    }

    fn rule(&self) -> &'static str {
        "[..] -> [..]"
    }

    fn family(&self) -> Family {
        Family::Reduce
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let input = call.tensor(0)?;
        if !self.kinds.contains(&input.dtype.kind()) {
            let message = format!("is not defined for {}", input.dtype);
            return Err(InferError::new(Fault::DType, message).on(0));
        }
        super::one_axis(call.attrs, input.rank())?;
        let dtype = (self.result)(input.dtype);
        let output = TensorType::new(dtype, input.shape.clone());
        Ok(Inferred::cast_all(1, dtype, output))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let Some(output) = outputs.first().and_then(ValueType::tensor) else {
            return Work::Unknown;
        };
        let parts = output.dtype.size() / output.dtype.real().size();
        Work::of(output.elements() * Expr::from(parts), call, outputs)
    }

    fn work_formula(&self) -> &'static str {
        "1 flop an element, complex 2"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(self.kernel)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        self.examples
    }
}

/// A kernel for each dtype listed, which accumulates in another.
macro_rules! scans {
    ($call:ident, $empty:expr, $op:expr, $($dtype:ident $element:ty, $accumulator:ty;)*) => {
        match $call.inputs[0].dtype {
            $(DType::$dtype => scan::<$element, $accumulator>($call, $empty, $op),)*
            other => Err(KernelError::new(format!("is not defined for {other}"))),
        }
    };
}

fn cumsum(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    scans!(call, Default::default(), |sum, x| sum.plus(x),
        I64 i64, i64; U64 u64, u64; F16 f16, f32; Bf16 bf16, f32; F32 f32, f32; F64 f64, f64;
        C64 Complex<f32>, Complex<f32>; C128 Complex<f64>, Complex<f64>;)
}

fn cumprod(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    scans!(call, Number::ONE, |product, x| product.times(x),
        I64 i64, i64; U64 u64, u64; F16 f16, f32; Bf16 bf16, f32; F32 f32, f32; F64 f64, f64;
        C64 Complex<f32>, Complex<f32>; C128 Complex<f64>, Complex<f64>;)
}

fn cummax(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    extremes::<Largest>(call)
}

fn cummin(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    extremes::<Smallest>(call)
}

fn extremes<O: Order>(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    scans!(call, O::last(), more_wanted::<_, O>,
        U8 u8, u8; U16 u16, u16; U32 u32, u32; U64 u64, u64;
        I8 i8, i8; I16 i16, i16; I32 i32, i32; I64 i64, i64;
        F16 f16, f16; Bf16 bf16, bf16; F32 f32, f32; F64 f64, f64;)
}

/// Once there is a NaN it stays.
#[expect(clippy::eq_op, reason = "asks for NaN, for every dtype")]
fn more_wanted<T: Bounded, O: Order>(best: T, x: T) -> T {
    if best == best && (O::before(x, best) || x != x) {
        x
    } else {
        best
    }
}

fn scan<T, A>(
    call: &mut KernelCall<'_, '_>,
    empty: A,
    op: impl Fn(A, A) -> A + Sync,
) -> Result<(), KernelError>
where
    T: Element + Convert<A>,
    A: Convert<T> + Copy + Sync,
{
    let (exclusive, reverse) = (call.attrs.flag("exclusive"), call.attrs.flag("reverse"));
    let rank = call.inputs[0].shape().len();
    let axis = call.attrs.int("axis").unwrap_or(-1);
    let axis = axis_of(axis, rank).map_err(|error| KernelError::new(error.message))?;
    each_slice(
        &call.inputs[0],
        axis,
        &mut call.outputs[0],
        &|elements, results| {
            if reverse {
                cast_slice_mut::<_, T>(elements).reverse();
            }
            let results: &mut [T] = cast_slice_mut(results);
            let mut total = empty;
            for (result, element) in results.iter_mut().zip(cast_slice::<_, T>(elements)) {
                let before = total;
                total = op(total, element.convert());
                *result = if exclusive { before } else { total }.convert();
            }
            if reverse {
                results.reverse();
            }
        },
    );
    Ok(())
}
