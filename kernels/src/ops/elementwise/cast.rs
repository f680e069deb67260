//! Casts, named by the dtype they make.

use bytemuck::{cast_slice, cast_slice_mut};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use haul_ir::dtype::DType;
use haul_ir::op::{BlockKernel, Example, KernelError};
use haul_ir::tensor::{Bool, Element};
use num_complex::Complex;
use num_traits::AsPrimitive;

use super::block::{each, ints};
use super::types::Types;
use super::{Function, X, flops};

/// The body for all dtypes of real numbers, and for truth values as 0 and 1.
macro_rules! reals {
    ($from:expr, |$x:ident| $body:expr) => {
        ints!($from, |$x| $body)
            .or_else(|| each!($from, [F16 Bf16 F32 F64], |$x| $body))
            .or_else(|| {
                each!($from, [Bool], |$x| {
                    let $x = $x.0;
                    $body
                })
            })
    };
}

fn differs<T: PartialEq + Default>(x: T) -> bool {
    x != T::default()
}

macro_rules! to_bool {
    ($from:expr, $to:ty) => {
        reals!($from, |x| <$to>::from(differs(x)))
    };
}

macro_rules! to_real {
    ($from:expr, $to:ty) => {
        reals!($from, |x| AsPrimitive::<$to>::as_(x))
    };
}

macro_rules! to_half {
    ($from:expr, $to:ty) => {
        match $from {
            DType::F32 => Some(narrow::<$to> as BlockKernel),
            from => to_real!(from, $to),
        }
    };
}

macro_rules! to_single {
    ($from:expr, $to:ty) => {
        match $from {
            DType::F16 => Some(widen::<f16> as BlockKernel),
            DType::Bf16 => Some(widen::<bf16> as BlockKernel),
            from => to_real!(from, $to),
        }
    };
}

macro_rules! to_complex {
    ($from:expr, $to:ty) => {
        reals!($from, |x| Complex::<$to>::new(x.as_(), 0.0)).or_else(|| {
            each!($from, [C64 C128], |x| Complex::<$to>::new(x.re.as_(), x.im.as_()))
        })
    };
}

macro_rules! casts {
    ($($variant:ident $name:literal $kernel:ident $to:ty, $doc:literal ($from:literal $given:literal => $result:literal);)*) => {
        pub(super) static TABLE: &[Function] = &[$(
            Function {
                name: $name,
                doc: $doc,
                params: X,
                types: Types::Cast(DType::$variant),
                flops: flops::ONE,
                kernel: |inputs, _| $kernel!(inputs[0], $to),
                examples: &[Example {
                    formula: concat!($name, "(x)"),
                    given: &[("x", $from, $given)],
                    result: (concat!($name, "[3]"), $result),
                }],
            },
        )*];
    };
}

casts! {
    Bool "bool" to_bool Bool, "Whether elements differ from 0; NaN does." ("f32[3]" "0 -0.5 nan" => "false true true");
    U8 "u8" to_real u8, "To unsigned integers of 8 bits: floats lose their fraction, saturate, and NaN gives 0; integers wrap around."
        ("f32[3]" "-1 3.9 300" => "0 3 255");
    U16 "u16" to_real u16, "To unsigned integers of 16 bits: floats lose their fraction, saturate, and NaN gives 0; integers wrap around."
        ("i32[3]" "-1 65536 7" => "65535 0 7");
    U32 "u32" to_real u32, "To unsigned integers of 32 bits: floats lose their fraction, saturate, and NaN gives 0; integers wrap around."
        ("i64[3]" "-1 4294967296 7" => "4294967295 0 7");
    U64 "u64" to_real u64, "To unsigned integers of 64 bits: floats lose their fraction, saturate, and NaN gives 0; integers wrap around."
        ("i8[3]" "-1 0 7" => "18446744073709551615 0 7");
    I8 "i8" to_real i8, "To integers of 8 bits: floats lose their fraction, saturate, and NaN gives 0; integers wrap around."
        ("f64[3]" "-1000 -2.9 nan" => "-128 -2 0");
    I16 "i16" to_real i16, "To integers of 16 bits: floats lose their fraction, saturate, and NaN gives 0; integers wrap around."
        ("u16[3]" "65535 0 7" => "-1 0 7");
    I32 "i32" to_real i32, "To integers of 32 bits: floats lose their fraction, saturate, and NaN gives 0; integers wrap around."
        ("f32[3]" "-inf 2.5 1e10" => "-2147483648 2 2147483647");
    I64 "i64" to_real i64, "To integers of 64 bits: floats lose their fraction, saturate, and NaN gives 0; integers wrap around."
        ("bool[3]" "true false true" => "1 0 1");
    F16 "f16" to_half f16, "To half precision, rounded to nearest even; infinite beyond 65504."
        ("f32[3]" "1 2049 1e6" => "1 2048 inf");
    Bf16 "bf16" to_half bf16, "To bfloat16, rounded to nearest even."
        ("f32[3]" "1 257 -2.5" => "1 256 -2.5");
    F32 "f32" to_single f32, "To single precision, rounded to nearest even."
        ("f64[3]" "1 0.1 1e300" => "1 0.1 inf");
    F64 "f64" to_real f64, "To double precision; integers beyond 2**53 are rounded."
        ("i64[3]" "1 -2 9007199254740992" => "1 -2 9007199254740992");
    C64 "c64" to_complex f32, "To complex numbers with parts of single precision."
        ("f64[3]" "1 -2 0.5" => "1+0j -2+0j 0.5+0j");
    C128 "c128" to_complex f64, "To complex numbers with parts of double precision."
        ("f32[3]" "1 -2 0.5" => "1+0j -2+0j 0.5+0j");
}

/// From half to single precision, with the machine's instructions for it.
fn widen<H: Element>(inputs: &[&[u8]], output: &mut [u8]) -> Result<(), KernelError>
where
    [H]: HalfFloatSliceExt,
{
    cast_slice::<_, H>(inputs[0]).convert_to_f32_slice(cast_slice_mut(output));
    Ok(())
}

/// From single to half precision, with the machine's instructions for it.
fn narrow<H: Element>(inputs: &[&[u8]], output: &mut [u8]) -> Result<(), KernelError>
where
    [H]: HalfFloatSliceExt,
{
    cast_slice_mut::<_, H>(output).convert_from_f32_slice(cast_slice(inputs[0]));
    Ok(())
}
