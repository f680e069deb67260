//! The kernel of each reduction, for each dtype that it takes.

use half::{bf16, f16};
use haul_ir::dtype::DType;
use haul_ir::op::{KernelCall, KernelError};
use haul_ir::tensor::{Bool, View, ViewMut};
use num_complex::Complex;

use super::axes::axes;
use super::extremes::{Extreme, Largest, Place, Smallest};
use super::fold::fold;
use super::logical::{All, Any};
use super::logsumexp::LogSumExp;
use super::moments::Spread;
use super::sums::{Mean, Norm, Product, Sum};

/// A kernel that folds each dtype listed in its own way.
macro_rules! kernels {
    ($($name:ident { $($dtype:ident => $fold:ty,)* })*) => {$(
        pub(super) fn $name(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
            let (input, axes, output) = parts(call)?;
            $(
                if input.dtype == DType::$dtype {
                    fold::<$fold>(input, &axes, output);
                    return Ok(());
                }
            )*
            Err(KernelError::new(format!("is not defined for {}", input.dtype)))
        }
    )*};
}

kernels! {
    sum {
        Bool => Sum<Bool, i64, i64>,
        U8 => Sum<u8, u64, u64>,
        U16 => Sum<u16, u64, u64>,
        U32 => Sum<u32, u64, u64>,
        U64 => Sum<u64, u64, u64>,
        I8 => Sum<i8, i64, i64>,
        I16 => Sum<i16, i64, i64>,
        I32 => Sum<i32, i64, i64>,
        I64 => Sum<i64, i64, i64>,
        F16 => Sum<f16, f32, f16>,
        Bf16 => Sum<bf16, f32, bf16>,
        F32 => Sum<f32, f32, f32>,
        F64 => Sum<f64, f64, f64>,
        C64 => Sum<Complex<f32>, Complex<f32>, Complex<f32>>,
        C128 => Sum<Complex<f64>, Complex<f64>, Complex<f64>>,
    }
    prod {
        Bool => Product<Bool, i64, i64>,
        U8 => Product<u8, u64, u64>,
        U16 => Product<u16, u64, u64>,
        U32 => Product<u32, u64, u64>,
        U64 => Product<u64, u64, u64>,
        I8 => Product<i8, i64, i64>,
        I16 => Product<i16, i64, i64>,
        I32 => Product<i32, i64, i64>,
        I64 => Product<i64, i64, i64>,
        F16 => Product<f16, f32, f16>,
        Bf16 => Product<bf16, f32, bf16>,
        F32 => Product<f32, f32, f32>,
        F64 => Product<f64, f64, f64>,
        C64 => Product<Complex<f32>, Complex<f32>, Complex<f32>>,
        C128 => Product<Complex<f64>, Complex<f64>, Complex<f64>>,
    }
    mean {
        Bool => Mean<Bool, f64, f64>,
        U8 => Mean<u8, f64, f64>,
        U16 => Mean<u16, f64, f64>,
        U32 => Mean<u32, f64, f64>,
        U64 => Mean<u64, f64, f64>,
        I8 => Mean<i8, f64, f64>,
        I16 => Mean<i16, f64, f64>,
        I32 => Mean<i32, f64, f64>,
        I64 => Mean<i64, f64, f64>,
        F16 => Mean<f16, f32, f16>,
        Bf16 => Mean<bf16, f32, bf16>,
        F32 => Mean<f32, f32, f32>,
        F64 => Mean<f64, f64, f64>,
        C64 => Mean<Complex<f32>, Complex<f32>, Complex<f32>>,
        C128 => Mean<Complex<f64>, Complex<f64>, Complex<f64>>,
    }
    norm {
        U8 => Norm<u8, f64, f64>,
        U16 => Norm<u16, f64, f64>,
        U32 => Norm<u32, f64, f64>,
        U64 => Norm<u64, f64, f64>,
        I8 => Norm<i8, f64, f64>,
        I16 => Norm<i16, f64, f64>,
        I32 => Norm<i32, f64, f64>,
        I64 => Norm<i64, f64, f64>,
        F16 => Norm<f16, f32, f16>,
        Bf16 => Norm<bf16, f32, bf16>,
        F32 => Norm<f32, f32, f32>,
        F64 => Norm<f64, f64, f64>,
        C64 => Norm<Complex<f32>, f32, f32>,
        C128 => Norm<Complex<f64>, f64, f64>,
    }
    var {
        Bool => Spread<Bool, f64, f64, false>,
        U8 => Spread<u8, f64, f64, false>,
        U16 => Spread<u16, f64, f64, false>,
        U32 => Spread<u32, f64, f64, false>,
        U64 => Spread<u64, f64, f64, false>,
        I8 => Spread<i8, f64, f64, false>,
        I16 => Spread<i16, f64, f64, false>,
        I32 => Spread<i32, f64, f64, false>,
        I64 => Spread<i64, f64, f64, false>,
        F16 => Spread<f16, f32, f16, false>,
        Bf16 => Spread<bf16, f32, bf16, false>,
        F32 => Spread<f32, f32, f32, false>,
        F64 => Spread<f64, f64, f64, false>,
    }
    std {
        Bool => Spread<Bool, f64, f64, true>,
        U8 => Spread<u8, f64, f64, true>,
        U16 => Spread<u16, f64, f64, true>,
        U32 => Spread<u32, f64, f64, true>,
        U64 => Spread<u64, f64, f64, true>,
        I8 => Spread<i8, f64, f64, true>,
        I16 => Spread<i16, f64, f64, true>,
        I32 => Spread<i32, f64, f64, true>,
        I64 => Spread<i64, f64, f64, true>,
        F16 => Spread<f16, f32, f16, true>,
        Bf16 => Spread<bf16, f32, bf16, true>,
        F32 => Spread<f32, f32, f32, true>,
        F64 => Spread<f64, f64, f64, true>,
    }
    logsumexp {
        F16 => LogSumExp<f16, f32>,
        Bf16 => LogSumExp<bf16, f32>,
        F32 => LogSumExp<f32, f32>,
        F64 => LogSumExp<f64, f64>,
    }
    any {
        Bool => Any,
    }
    all {
        Bool => All,
    }
}

/// Kernels of reductions that need an order, of all dtypes that have one.
macro_rules! ordered {
    ($($name:ident => $fold:ident<$order:ty>;)*) => {$(
        pub(super) fn $name(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
            at_least_one(call)?;
            ordered!(@ call, $fold, $order,
                U8 u8, U16 u16, U32 u32, U64 u64, I8 i8, I16 i16, I32 i32, I64 i64,
                F16 f16, Bf16 bf16, F32 f32, F64 f64)
        }
    )*};
    (@ $call:ident, $fold:ident, $order:ty, $($dtype:ident $element:ty),*) => {{
        let (input, axes, output) = parts($call)?;
        match input.dtype {
            $(DType::$dtype => fold::<$fold<$element, $order>>(input, &axes, output),)*
            other => return Err(KernelError::new(format!("is not defined for {other}"))),
        }
        Ok(())
    }};
}

ordered! {
    max => Extreme<Largest>;
    min => Extreme<Smallest>;
    argmax => Place<Largest>;
    argmin => Place<Smallest>;
}

/// The input, the axes to reduce, and the space for the result.
pub(super) fn parts<'a, 'b>(
    call: &'a mut KernelCall<'_, 'b>,
) -> Result<(&'a View<'b>, Vec<usize>, &'a mut ViewMut<'b>), KernelError> {
    let input = &call.inputs[0];
    let axes = axes(call.attrs, input.shape().len());
    let axes = axes.map_err(|error| KernelError::new(error.message))?;
    Ok((input, axes, &mut call.outputs[0]))
}

/// What has no value for no elements.
pub(super) fn at_least_one(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let (input, axes, _) = parts(call)?;
    if axes.iter().any(|axis| input.shape()[*axis] == 0) {
        return Err(KernelError::new("there is no element to take from"));
    }
    Ok(())
}
