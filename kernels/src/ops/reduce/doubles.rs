//! Elements of any dtype as `f64`, for reductions whose parameters decide what is done.

use half::{bf16, f16};
use haul_ir::dtype::DType;
use haul_ir::tensor::{Bool, Element, View};
use num_complex::Complex;

use crate::strided::Walk;

/// Elements that are converted together.
const BLOCK: usize = 1024;

/// The elements of a view that lie along a walk from `start`, from a position on, as many as
/// `output` holds; complex ones by their modulus, truth values as 0 and 1.
pub(in crate::ops) fn doubles(
    view: &View<'_>,
    walk: &Walk,
    start: usize,
    position: usize,
    output: &mut [f64],
) {
    macro_rules! convert {
        ($($dtype:ident $element:ty, $convert:expr;)*) => {
            match view.dtype {
                $(DType::$dtype => {
                    blocks::<$element>(view, walk, start, position, output, $convert);
                })*
            }
        };
    }
    convert! {
        Bool Bool, |x| x.0.into();
        U8 u8, f64::from;
        U16 u16, f64::from;
        U32 u32, f64::from;
        U64 u64, |x| x as f64;
        I8 i8, f64::from;
        I16 i16, f64::from;
        I32 i32, f64::from;
        I64 i64, |x| x as f64;
        F16 f16, f64::from;
        Bf16 bf16, f64::from;
        F32 f32, f64::from;
        F64 f64, |x| x;
        C64 Complex<f32>, |x| f64::from(x.re).hypot(x.im.into());
        C128 Complex<f64>, |x| x.norm();
    }
}

fn blocks<T: Element>(
    view: &View<'_>,
    walk: &Walk,
    start: usize,
    position: usize,
    output: &mut [f64],
    convert: impl Fn(T) -> f64,
) {
    let mut elements = [T::default(); BLOCK];
    for (block, output) in output.chunks_mut(BLOCK).enumerate() {
        let elements = &mut elements[..output.len()];
        walk.copy_from(
            view.buffer::<T>(),
            start,
            position + block * BLOCK,
            elements,
        );
        for (output, element) in output.iter_mut().zip(elements) {
            *output = convert(*element);
        }
    }
}
