//! Loops over blocks, and macros that write one body for every dtype of a kind.
//!
//! A macro gives `Option<BlockKernel>`: `None` where the dtype is not of the kind, so that
//! kinds chain with `or_else`.

use bytemuck::{cast_slice, cast_slice_mut};
use half::slice::HalfFloatSliceExt;
use haul_ir::op::KernelError;
use haul_ir::tensor::Element;

use crate::simd::{Loop, vectorised};

/// `output[i] = f(inputs[0][i])`.
#[inline(always)]
pub(super) fn map1<A: Element, R: Element>(
    inputs: &[&[u8]],
    output: &mut [u8],
    f: impl Fn(A) -> R,
) -> Result<(), KernelError> {
    let results: &mut [R] = cast_slice_mut(output);
    for (result, &a) in results.iter_mut().zip(cast_slice(inputs[0])) {
        *result = f(a);
    }
    Ok(())
}

/// `output[i] = f(inputs[0][i], inputs[1][i])`.
#[inline(always)]
pub(super) fn map2<A: Element, B: Element, R: Element>(
    inputs: &[&[u8]],
    output: &mut [u8],
    f: impl Fn(A, B) -> R,
) -> Result<(), KernelError> {
    let results: &mut [R] = cast_slice_mut(output);
    let (a, b) = (cast_slice(inputs[0]), cast_slice(inputs[1]));
    for ((result, &a), &b) in results.iter_mut().zip(a).zip(b) {
        *result = f(a, b);
    }
    Ok(())
}

/// `output[i] = f(inputs[0][i], inputs[1][i], inputs[2][i])`.
#[inline(always)]
pub(super) fn map3<A: Element, B: Element, C: Element, R: Element>(
    inputs: &[&[u8]],
    output: &mut [u8],
    f: impl Fn(A, B, C) -> R,
) -> Result<(), KernelError> {
    let results: &mut [R] = cast_slice_mut(output);
    let (a, b) = (cast_slice(inputs[0]), cast_slice(inputs[1]));
    let c = cast_slice(inputs[2]);
    for (((result, &a), &b), &c) in results.iter_mut().zip(a).zip(b).zip(c) {
        *result = f(a, b, c);
    }
    Ok(())
}

/// Elements of half precision that are widened together: few enough for the stack.
const WIDE: usize = 256;

/// `output[i] = f([inputs[0][i], …])` for half precision, computed in `f32` and rounded once.
pub(super) fn map_wide<H: Element, const N: usize>(
    inputs: &[&[u8]],
    output: &mut [u8],
    f: impl Fn([f32; N]) -> f32,
) -> Result<(), KernelError>
where
    [H]: HalfFloatSliceExt,
{
    let results: &mut [H] = cast_slice_mut(output);
    for (chunk, results) in results.chunks_mut(WIDE).enumerate() {
        let mut wide = [[0.0; WIDE]; N];
        for (wide, input) in wide.iter_mut().zip(inputs) {
            let input: &[H] = cast_slice(input);
            let input = &input[chunk * WIDE..][..results.len()];
            input.convert_to_f32_slice(&mut wide[..results.len()]);
        }
        let computed = vectorised(Wide { wide: &wide, f: &f });
        results.convert_from_f32_slice(&computed[..results.len()]);
    }
    Ok(())
}

struct Wide<'a, F, const N: usize> {
    wide: &'a [[f32; WIDE]; N],
    f: &'a F,
}

impl<F: Fn([f32; N]) -> f32, const N: usize> Loop for Wide<'_, F, N> {
    type Output = [f32; WIDE];

    #[inline(always)]
    fn call(self) -> [f32; WIDE] {
        let mut computed = [0.0; WIDE];
        for (at, computed) in computed.iter_mut().enumerate() {
            *computed = (self.f)(std::array::from_fn(|n| self.wide[n][at]));
        }
        computed
    }
}

/// The Rust type of a dtype.
macro_rules! element {
    (Bool) => { haul_ir::tensor::Bool };
    (U8) => { u8 };
    (U16) => { u16 };
    (U32) => { u32 };
    (U64) => { u64 };
    (I8) => { i8 };
    (I16) => { i16 };
    (I32) => { i32 };
    (I64) => { i64 };
    (F16) => { half::f16 };
    (Bf16) => { half::bf16 };
    (F32) => { f32 };
    (F64) => { f64 };
    (C64) => { num_complex::Complex<f32> };
    (C128) => { num_complex::Complex<f64> };
}

/// The loop for as many arguments.
macro_rules! map {
    ($i:expr, $o:expr, $t:ty, ($a:ident), $body:expr) => {
        $crate::ops::elementwise::block::map1($i, $o, |$a: $t| $body)
    };
    ($i:expr, $o:expr, $t:ty, ($a:ident $b:ident), $body:expr) => {
        $crate::ops::elementwise::block::map2($i, $o, |$a: $t, $b: $t| $body)
    };
    ($i:expr, $o:expr, $t:ty, ($a:ident $b:ident $c:ident), $body:expr) => {
        $crate::ops::elementwise::block::map3($i, $o, |$a: $t, $b: $t, $c: $t| $body)
    };
}

/// The body for elements of the dtypes listed, as they are.
macro_rules! each {
    ($dtype:expr, $variants:tt, |$($x:ident),*| $body:expr) => {
        $crate::ops::elementwise::block::each!(@ $dtype, $variants, ($($x)*), $body)
    };
    // The arguments as one token, so that they repeat with every dtype.
    (@ $dtype:expr, [$($variant:ident)*], $arguments:tt, $body:expr) => {{
        use $crate::ops::elementwise::block::{element, map};
        let kernel: Option<haul_ir::op::BlockKernel> = match $dtype {
            $(haul_ir::dtype::DType::$variant => {
                Some(|i, o| map!(i, o, element!($variant), $arguments, $body))
            })*
            _ => None,
        };
        kernel
    }};
}

/// The body for all integers.
macro_rules! ints {
    ($dtype:expr, |$($x:ident),*| $body:expr) => {
        $crate::ops::elementwise::block::each!(
            $dtype, [U8 U16 U32 U64 I8 I16 I32 I64], |$($x),*| $body
        )
    };
}

/// The body for elements of one float type, vectorised.
macro_rules! vectorised_map {
    ($t:ty, ($($x:ident)*), $body:expr) => {{
        struct Block<'a>(&'a [&'a [u8]], &'a mut [u8]);

        impl $crate::simd::Loop for Block<'_> {
            type Output = Result<(), haul_ir::op::KernelError>;

            #[inline(always)]
            fn call(self) -> Self::Output {
                #[inline(always)]
                fn f($($x: $t),*) -> $t {
                    $body
                }
                $crate::ops::elementwise::block::map!(self.0, self.1, $t, ($($x)*), f($($x),*))
            }
        }

        let kernel: haul_ir::op::BlockKernel = |i, o| $crate::simd::vectorised(Block(i, o));
        kernel
    }};
}

/// The body for elements of half precision, computed in `f32`.
macro_rules! wide_map {
    ($t:ty, ($($x:ident)*), $body:expr) => {{
        #[inline(always)]
        fn f([$($x),*]: [f32; [$(stringify!($x)),*].len()]) -> f32 {
            $body
        }
        let kernel: haul_ir::op::BlockKernel =
            |i, o| $crate::ops::elementwise::block::map_wide::<$t, _>(i, o, f);
        kernel
    }};
}

/// The body for all floats; `f16` and `bf16` are computed in `f32` and rounded once.
macro_rules! floats {
    ($dtype:expr, |$($x:ident),*| $body:expr) => {{
        use haul_ir::dtype::DType;
        use $crate::ops::elementwise::block::{vectorised_map, wide_map};
        match $dtype {
            DType::F32 => Some(vectorised_map!(f32, ($($x)*), $body)),
            DType::F64 => Some(vectorised_map!(f64, ($($x)*), $body)),
            DType::F16 => Some(wide_map!(half::f16, ($($x)*), $body)),
            DType::Bf16 => Some(wide_map!(half::bf16, ($($x)*), $body)),
            _ => None,
        }
    }};
}

/// The body for complex numbers.
macro_rules! complexes {
    ($dtype:expr, |$($x:ident),*| $body:expr) => {
        $crate::ops::elementwise::block::each!($dtype, [C64 C128], |$($x),*| $body)
    };
}

/// The row of a function of one real number, with a body and an example in `f64`.
macro_rules! real_function {
    ($name:literal, $flops:ident, $doc:literal, |$x:ident| $body:expr, $given:literal => $result:literal) => {
        $crate::ops::elementwise::Function {
            name: $name,
            doc: $doc,
            params: $crate::ops::elementwise::X,
            types: $crate::ops::elementwise::types::Types::Float(
                $crate::ops::elementwise::types::REALS,
            ),
            flops: $crate::ops::elementwise::flops::$flops,
            kernel: |inputs, _| $crate::ops::elementwise::block::floats!(inputs[0], |$x| $body),
            examples: &[haul_ir::op::Example {
                formula: concat!($name, "(x)"),
                given: &[("x", "f64[3]", $given)],
                result: ("f64[3]", $result),
            }],
        }
    };
}

/// The same for a function of real and complex numbers, with a body for each.
macro_rules! function {
    (
        $name:literal, $flops:ident, $doc:literal,
        |$x:ident| $body:expr, |$z:ident| $complex:expr,
        $given:literal => $result:literal
    ) => {
        $crate::ops::elementwise::Function {
            types: $crate::ops::elementwise::types::Types::Float(
                $crate::ops::elementwise::types::NUMBERS,
            ),
            kernel: |inputs, _| {
                use $crate::ops::elementwise::block::{complexes, floats};
                floats!(inputs[0], |$x| $body).or_else(|| complexes!(inputs[0], |$z| $complex))
            },
            ..$crate::ops::elementwise::block::real_function!(
                $name, $flops, $doc, |$x| $body, $given => $result
            )
        }
    };
}

pub(super) use {complexes, each, element, floats, function, ints, map, real_function};
pub(super) use {vectorised_map, wide_map};
