//! Results that were computed in `f64`.

use bytemuck::cast_slice_mut;
use half::{bf16, f16};
use haul_ir::dtype::DType;
use haul_ir::tensor::Element;
use num_traits::AsPrimitive;

/// Rounds numbers to a float dtype.
pub(super) fn store(numbers: &[f64], dtype: DType, bytes: &mut [u8]) {
    match dtype {
        DType::F16 => round::<f16>(numbers, bytes),
        DType::Bf16 => round::<bf16>(numbers, bytes),
        DType::F32 => round::<f32>(numbers, bytes),
        _ => round::<f64>(numbers, bytes),
    }
}

fn round<T: Element>(numbers: &[f64], bytes: &mut [u8])
where
    f64: AsPrimitive<T>,
{
    for (element, number) in cast_slice_mut::<_, T>(bytes).iter_mut().zip(numbers) {
        *element = number.as_();
    }
}
