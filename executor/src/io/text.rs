//! Text files, and elements as text.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use bytemuck::pod_read_unaligned;
use half::{bf16, f16};
use haul_ir::dtype::DType;
use num_complex::Complex;

use super::{OpenError, open_file, reading};
use crate::error::IoError;
use crate::memory::{Account, Charge};
use crate::tensor::Text;

/// Reads a file of UTF-8.
pub(super) fn read(path: &Path, account: &Arc<Account>) -> Result<Text, OpenError> {
    let (file, length) = open_file(path)?;
    let (bytes, charge) = read_charged(&mut file.take(length), length, path, account)?;
    let text = decode(bytes, path)?;
    Ok(Text::new(text, charge))
}

/// Reads to the end; memory is charged before it grows. `expected` is a first guess.
pub(super) fn read_charged(
    input: &mut dyn Read,
    expected: u64,
    path: &Path,
    account: &Arc<Account>,
) -> Result<(Vec<u8>, Charge), OpenError> {
    let mut charge = account.charge(expected)?;
    let mut bytes = Vec::new();
    let mut capacity = expected;
    loop {
        let left = capacity - bytes.len() as u64;
        let read = (&mut *input).take(left).read_to_end(&mut bytes);
        let read = read.map_err(|error| reading(path, &error))?;
        if (read as u64) < left {
            return Ok((bytes, charge));
        }
        let mut next = [0];
        match input
            .read(&mut next)
            .map_err(|error| reading(path, &error))?
        {
            0 => return Ok((bytes, charge)),
            _ => {
                capacity = capacity.saturating_mul(2).max(1 << 16);
                charge = account.charge(capacity)?;
                bytes.push(next[0]);
            }
        }
    }
}

/// The text that bytes are.
pub(super) fn decode(bytes: Vec<u8>, path: &Path) -> Result<String, IoError> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..at]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        IoError::new(path, format!("line {line}: it is not UTF-8 text")).help("save it as UTF-8")
    })
}

/// An element as people read it: the fewest digits that give it back exactly.
pub(crate) fn element(dtype: DType, bytes: &[u8]) -> String {
    match dtype {
        DType::Bool => (bytes[0] != 0).to_string(),
        DType::U8 => bytes[0].to_string(),
        DType::U16 => pod_read_unaligned::<u16>(bytes).to_string(),
        DType::U32 => pod_read_unaligned::<u32>(bytes).to_string(),
        DType::U64 => pod_read_unaligned::<u64>(bytes).to_string(),
        DType::I8 => pod_read_unaligned::<i8>(bytes).to_string(),
        DType::I16 => pod_read_unaligned::<i16>(bytes).to_string(),
        DType::I32 => pod_read_unaligned::<i32>(bytes).to_string(),
        DType::I64 => pod_read_unaligned::<i64>(bytes).to_string(),
        DType::F16 => format!("{:?}", pod_read_unaligned::<f16>(bytes).to_f32()),
        DType::Bf16 => format!("{:?}", pod_read_unaligned::<bf16>(bytes).to_f32()),
        DType::F32 => format!("{:?}", pod_read_unaligned::<f32>(bytes)),
        DType::F64 => format!("{:?}", pod_read_unaligned::<f64>(bytes)),
        DType::C64 => complex(pod_read_unaligned::<Complex<f32>>(bytes)),
        DType::C128 => complex(pod_read_unaligned::<Complex<f64>>(bytes)),
    }
}

fn complex<T: std::fmt::Debug>(number: Complex<T>) -> String {
    format!("{:?}{:+?}j", number.re, number.im)
}
