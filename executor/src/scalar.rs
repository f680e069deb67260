//! Scalars of formulas, evaluated when the dims are known.

use half::{bf16, f16};
use haul_ir::dtype::DType;
use haul_ir::graph::Scalar;
use haul_ir::op::{CpuKernel, Op};
use haul_ir::tensor::Bool;
use num_complex::Complex;

use crate::bind::Dims;
use crate::memory::Scratch;

/// The bytes of an element with the scalar's value.
///
/// # Errors
/// A dim is not known, the number does not fit the dtype, or an op of scalars fails.
pub(crate) fn bytes(scalar: &Scalar, dtype: DType, dims: &Dims) -> Result<Vec<u8>, String> {
    match scalar {
        Scalar::Int(expr) => whole(dims.evaluate(expr)?, dtype),
        _ => real(value(scalar, dims)?, dtype),
    }
}

fn value(scalar: &Scalar, dims: &Dims) -> Result<f64, String> {
    match scalar {
        Scalar::Int(expr) => Ok(dims.evaluate(expr)? as f64),
        Scalar::Float(value) => Ok(*value),
        Scalar::Apply(op, args) => {
            let args = args.iter().map(|arg| value(arg, dims));
            apply(*op, &args.collect::<Result<Vec<_>, _>>()?)
        }
    }
}

fn apply(op: &dyn Op, args: &[f64]) -> Result<f64, String> {
    let CpuKernel::Elementwise(select) = op.cpu() else {
        return Err(format!("`{}` does not compute scalars", op.name()));
    };
    let kernel = select(&vec![DType::F64; args.len()], DType::F64)
        .ok_or_else(|| format!("`{}` does not compute f64", op.name()))?;
    let inputs: Vec<_> = args
        .iter()
        .map(|arg| {
            let mut scratch = Scratch::new(size_of::<f64>());
            scratch.bytes_mut()[..8].copy_from_slice(&arg.to_ne_bytes());
            scratch
        })
        .collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(|scratch| &scratch.bytes()[..8]).collect();
    let mut output = Scratch::new(size_of::<f64>());
    kernel(&inputs, &mut output.bytes_mut()[..8]).map_err(|error| error.message)?;
    Ok(bytemuck::pod_read_unaligned(&output.bytes()[..8]))
}

fn whole(value: i128, dtype: DType) -> Result<Vec<u8>, String> {
    macro_rules! int {
        ($type:ty) => {
            <$type>::try_from(value)
                .map(|value| value.to_ne_bytes().to_vec())
                .map_err(|_| format!("{value} does not fit {dtype}"))
        };
    }
    match dtype {
        DType::U8 => int!(u8),
        DType::U16 => int!(u16),
        DType::U32 => int!(u32),
        DType::U64 => int!(u64),
        DType::I8 => int!(i8),
        DType::I16 => int!(i16),
        DType::I32 => int!(i32),
        DType::I64 => int!(i64),
        DType::F32 => Ok(bytemuck::bytes_of(&(value as f32)).to_vec()),
        _ => real(value as f64, dtype),
    }
}

/// The bytes of an element with the value of a number, which must be whole for integers.
///
/// # Errors
/// It does not fit the dtype.
pub(crate) fn real(value: f64, dtype: DType) -> Result<Vec<u8>, String> {
    let bytes = match dtype {
        DType::Bool => bytemuck::bytes_of(&Bool::from(value != 0.0)).to_vec(),
        DType::F16 => bytemuck::bytes_of(&f16::from_f64(value)).to_vec(),
        DType::Bf16 => bytemuck::bytes_of(&bf16::from_f64(value)).to_vec(),
        DType::F32 => bytemuck::bytes_of(&(value as f32)).to_vec(),
        DType::F64 => bytemuck::bytes_of(&value).to_vec(),
        DType::C64 => bytemuck::bytes_of(&Complex::new(value as f32, 0.0)).to_vec(),
        DType::C128 => bytemuck::bytes_of(&Complex::new(value, 0.0)).to_vec(),
        _ if value.fract() == 0.0 && value.abs() < 2_f64.powi(65) => {
            return whole(value as i128, dtype);
        }
        _ => return Err(format!("{value} does not fit {dtype}")),
    };
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use haul_ir::expr::{Expr, Symbol};

    #[test]
    fn numbers_take_the_dtype_or_say_that_they_do_not_fit() {
        let n = Expr::symbol(Symbol::new("n"));
        let mut dims = Dims::default();
        dims.bind(&Symbol::new("n"), 300).unwrap();
        let int = |expr: Expr, dtype| bytes(&Scalar::Int(expr), dtype, &dims);
        assert_eq!(int(&n + 1, DType::I16), Ok(301_i16.to_ne_bytes().to_vec()));
        assert_eq!(int(&n + 1, DType::F32), Ok(301_f32.to_ne_bytes().to_vec()));
        assert_eq!(int(n, DType::U8), Err("300 does not fit u8".into()));
        // The nearest f16 to 0.1 is 1638/16384 = 0x2E66.
        assert_eq!(real(0.1, DType::F16), Ok(0x2E66_u16.to_ne_bytes().to_vec()));
        assert_eq!(real(-1.0, DType::I8), Ok(vec![255]));
        assert_eq!(real(0.5, DType::I8), Err("0.5 does not fit i8".into()));
        assert_eq!(
            real(f64::NAN, DType::U64),
            Err("NaN does not fit u64".into())
        );
        let m = Scalar::Int(Expr::symbol(Symbol::new("m")));
        assert_eq!(bytes(&m, DType::F64, &dims), Err("`m` is not known".into()));
    }
}
