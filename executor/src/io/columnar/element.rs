//! Numbers of columns as elements of a tensor: the same number, or none.

use std::fmt;

use bytemuck::{Pod, Zeroable};
use half::{bf16, f16};
use haul_ir::dtype::{DType, Kind};

/// A number of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// Whole; also `bool`, as 0 or 1.
    Int(i128),
    Float(f64),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
        }
    }
}

/// The type of the elements of a tensor.
pub(super) trait Element: Pod {
    /// The element that is this number, where there is one.
    fn of(number: Number) -> Option<Self>;
}

/// `false` or `true`, as 0 or 1.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Truth(u8);

impl Element for Truth {
    fn of(number: Number) -> Option<Self> {
        match number {
            Number::Int(value @ 0..=1) => Some(Self(value as u8)),
            _ => None,
        }
    }
}

macro_rules! ints {
    ($($element:ty),*) => {
        $(impl Element for $element {
            fn of(number: Number) -> Option<Self> {
                match number {
                    Number::Int(value) => value.try_into().ok(),
                    Number::Float(value) => {
                        let whole = value as $element;
                        (whole as f64 == value).then_some(whole)
                    }
                }
            }
        })*
    };
}

macro_rules! floats {
    ($($element:ty: $to:expr, $from:expr);*) => {
        $(impl Element for $element {
            fn of(number: Number) -> Option<Self> {
                match number {
                    Number::Int(value) => {
                        let float: $element = $to(value as f64);
                        let back: f64 = $from(float);
                        (value as f64 as i128 == value && back as i128 == value).then_some(float)
                    }
                    Number::Float(value) => Some($to(value)),
                }
            }
        })*
    };
}

ints!(u8, u16, u32, u64, i8, i16, i32, i64);
floats!(f16: f16::from_f64, f16::to_f64; bf16: bf16::from_f64, bf16::to_f64;
        f32: |value| value as f32, f64::from; f64: std::convert::identity, std::convert::identity);

/// Does something with `$D`, the type of the elements of a dtype; something else for complex ones.
macro_rules! with_element {
    ($dtype:expr, $D:ident => $done:expr, $complex:expr) => {
        match $dtype {
            DType::Bool => {
                type $D = Truth;
                $done
            }
            DType::U8 => {
                type $D = u8;
                $done
            }
            DType::U16 => {
                type $D = u16;
                $done
            }
            DType::U32 => {
                type $D = u32;
                $done
            }
            DType::U64 => {
                type $D = u64;
                $done
            }
            DType::I8 => {
                type $D = i8;
                $done
            }
            DType::I16 => {
                type $D = i16;
                $done
            }
            DType::I32 => {
                type $D = i32;
                $done
            }
            DType::I64 => {
                type $D = i64;
                $done
            }
            DType::F16 => {
                type $D = half::f16;
                $done
            }
            DType::Bf16 => {
                type $D = half::bf16;
                $done
            }
            DType::F32 => {
                type $D = f32;
                $done
            }
            DType::F64 => {
                type $D = f64;
                $done
            }
            DType::C64 | DType::C128 => $complex,
        }
    };
}
pub(super) use with_element;

/// Whether columns of a dtype can be read as another: truths as any numbers, integers where each
/// is the same number there, floats as wider ones.
pub(super) fn is_readable(from: DType, to: DType) -> bool {
    match (from.kind(), to.kind()) {
        _ if from == to => true,
        (_, Kind::Complex | Kind::Bool) => false,
        (Kind::Bool | Kind::Int, _) => true,
        (Kind::Float, Kind::Float) => from.size() < to.size(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_same_number_or_none() {
        use Number::{Float, Int};
        assert_eq!(u8::of(Int(255)), Some(255));
        assert_eq!(u8::of(Int(256)), None);
        assert_eq!(u64::of(Int(-1)), None);
        assert_eq!(
            i64::of(Int(9_007_199_254_740_993)),
            Some(9_007_199_254_740_993)
        );
        assert_eq!(f64::of(Int(9_007_199_254_740_993)), None);
        assert_eq!(
            f64::of(Int(9_007_199_254_740_992)),
            Some(9_007_199_254_740_992.0)
        );
        assert_eq!(f32::of(Int(16_777_217)), None);
        assert_eq!(f16::of(Int(65_504)), Some(f16::MAX));
        assert_eq!(f16::of(Int(65_536)), None);
        assert_eq!(i8::of(Float(2.5)), None);
        assert_eq!(i8::of(Float(-2.0)), Some(-2));
        assert_eq!(i8::of(Float(f64::NAN)), None);
        assert_eq!(f32::of(Float(0.1)), Some(0.1));
    }
}
