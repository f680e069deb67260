//! How a number that is written meets the one that is there.

use haul_ir::dtype::DType;
use num_complex::Complex;

/// How they meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    Add,
    Mul,
    Max,
    Min,
}

/// Writes elements over as many others.
pub(super) type Combine = fn(there: &mut [u8], written: &[u8]);

/// The function for a dtype: bytes are copied where nothing is reduced. None where the dtype has
/// no such operation. NaN stays in the extremes, integers wrap around.
pub(super) fn combine(reduction: Option<Reduction>, dtype: DType) -> Option<Combine> {
    use Reduction::{Add, Max, Min, Mul};
    macro_rules! each {
        ($type:ty, $with:expr) => {
            Some(|there: &mut [u8], written: &[u8]| {
                let there: &mut [$type] = bytemuck::cast_slice_mut(there);
                let written: &[$type] = bytemuck::cast_slice(written);
                let with: fn($type, $type) -> $type = $with;
                for (there, written) in there.iter_mut().zip(written) {
                    *there = with(*there, *written);
                }
            })
        };
    }
    macro_rules! integers {
        ($type:ty, $reduction:expr) => {
            match $reduction {
                Add => each!($type, |a, b| a.wrapping_add(b)),
                Mul => each!($type, |a, b| a.wrapping_mul(b)),
                Max => each!($type, |a, b| a.max(b)),
                Min => each!($type, |a, b| a.min(b)),
            }
        };
    }
    macro_rules! floats {
        ($type:ty, $reduction:expr) => {
            match $reduction {
                Add => each!($type, |a, b| a + b),
                Mul => each!($type, |a, b| a * b),
                Max => each!($type, |a, b| if a.is_nan() || a >= b { a } else { b }),
                Min => each!($type, |a, b| if a.is_nan() || a <= b { a } else { b }),
            }
        };
    }
    macro_rules! complexes {
        ($type:ty, $reduction:expr) => {
            match $reduction {
                Add => each!(Complex<$type>, |a, b| a + b),
                Mul => each!(Complex<$type>, |a, b| a * b),
                Max | Min => None,
            }
        };
    }
    let Some(reduction) = reduction else {
        return Some(|there, written| there.copy_from_slice(written));
    };
    match dtype {
        DType::Bool => match reduction {
            Add | Mul => None,
            Max | Min => integers!(u8, reduction),
        },
        DType::U8 => integers!(u8, reduction),
        DType::U16 => integers!(u16, reduction),
        DType::U32 => integers!(u32, reduction),
        DType::U64 => integers!(u64, reduction),
        DType::I8 => integers!(i8, reduction),
        DType::I16 => integers!(i16, reduction),
        DType::I32 => integers!(i32, reduction),
        DType::I64 => integers!(i64, reduction),
        // Half precision is widened before.
        DType::F16 | DType::Bf16 | DType::F32 => floats!(f32, reduction),
        DType::F64 => floats!(f64, reduction),
        DType::C64 => complexes!(f32, reduction),
        DType::C128 => complexes!(f64, reduction),
    }
}
