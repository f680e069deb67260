//! Text files, and elements as text.

use std::io::Read;

use bytemuck::pod_read_unaligned;
use half::{bf16, f16};
use haul_ir::dtype::DType;
use haul_ir::format::TEXT;
use haul_ir::types::ValueType;
use num_complex::Complex;

use super::Codec;
use super::open::{Bytes, OpenError, Opened, Opening};
use crate::error::IoError;
use crate::memory::Charge;
use crate::tensor::{Data, Text};

pub(super) static CODEC: Codec = Codec {
    format: &TEXT,
    open: Some(|opening| {
        let bytes = opening.bytes()?;
        Ok(Box::new(TextFile { opening, bytes }))
    }),
    write: None,
};

/// A file of UTF-8.
struct TextFile<'a> {
    opening: &'a Opening<'a>,
    bytes: Bytes<'a>,
}

impl Opened for TextFile<'_> {
    fn header(&self) -> ValueType {
        ValueType::Text
    }

    fn read(self: Box<Self>) -> Result<Data, OpenError> {
        let Self { opening, bytes } = *self;
        let length = bytes.length;
        let (bytes, charge) = read_charged(&mut bytes.take(length), length, opening)?;
        Ok(Data::Text(Text::new(decode(bytes, opening)?, charge)))
    }
}

/// Reads to the end; memory is charged before it grows. `expected` is a first guess.
pub(super) fn read_charged(
    input: &mut dyn Read,
    expected: u64,
    opening: &Opening<'_>,
) -> Result<(Vec<u8>, Charge), OpenError> {
    let mut charge = opening.access.account.charge(expected)?;
    let mut bytes = Vec::new();
    let mut capacity = expected;
    loop {
        let left = capacity - bytes.len() as u64;
        let read = (&mut *input).take(left).read_to_end(&mut bytes);
        let read = read.map_err(|error| opening.reading(&error))?;
        if (read as u64) < left {
            return Ok((bytes, charge));
        }
        let mut next = [0];
        match input
            .read(&mut next)
            .map_err(|error| opening.reading(&error))?
        {
            0 => return Ok((bytes, charge)),
            _ => {
                capacity = capacity.saturating_mul(2).max(1 << 16);
                charge = opening.access.account.charge(capacity)?;
                bytes.push(next[0]);
            }
        }
    }
}

/// The text that bytes are.
pub(super) fn decode(bytes: Vec<u8>, opening: &Opening<'_>) -> Result<String, IoError> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..at]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        let message = format!("line {line}: it is not UTF-8 text");
        opening.error(message).help("save it as UTF-8")
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
