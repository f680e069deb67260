//! Text files, and elements as text.

use std::io::{self, Read};

use bytemuck::pod_read_unaligned;
use half::{bf16, f16};
use haul_ir::dtype::DType;
use haul_ir::format::TEXT;
use haul_ir::types::ValueType;
use num_complex::Complex;

use super::Codec;
use super::open::{Bytes, OpenError, Opened, Opening};
use crate::memory::Charge;
use crate::tensor::{Data, Text};

pub(super) static CODEC: Codec = Codec {
    format: &TEXT,
    open: Some(|opening| {
        let bytes = opening.bytes()?;
        Ok(Box::new(TextFile { opening, bytes }))
    }),
    write: Some(|data, _, out| match data {
        Data::Text(text) => out.write_all(text.as_str().as_bytes()),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }),
};

/// A file of text.
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
        let (text, charge) = decode(bytes, charge, opening)?;
        Ok(Data::Text(Text::new(text, charge)))
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

/// The text that bytes are: UTF-8, or UTF-16 where they begin with its byte order mark, which is
/// left out.
///
/// # Errors
/// They are no text; there is no memory for it.
pub(super) fn decode(
    mut bytes: Vec<u8>,
    charge: Charge,
    opening: &Opening<'_>,
) -> Result<(String, Charge), OpenError> {
    match bytes[..] {
        [0xff, 0xfe, ..] => return decode_utf16(&bytes[2..], u16::from_le_bytes, opening),
        [0xfe, 0xff, ..] => return decode_utf16(&bytes[2..], u16::from_be_bytes, opening),
        [0xef, 0xbb, 0xbf, ..] => drop(bytes.drain(..3)),
        _ => {}
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
        let message = format!("line {line}: it is not UTF-8 text");
        opening.error(message).help("save it as UTF-8")
    })?;
    Ok((text, charge))
}

fn decode_utf16(
    bytes: &[u8],
    unit: fn([u8; 2]) -> u16,
    opening: &Opening<'_>,
) -> Result<(String, Charge), OpenError> {
    // A unit is at most three bytes of UTF-8.
    let most = bytes.len().div_ceil(2) * 3;
    let charge = opening.access.account.charge(most as u64)?;
    let (pairs, rest) = bytes.as_chunks();
    let units = pairs.iter().map(|pair| unit(*pair));
    let mut text = String::with_capacity(most);
    for letter in char::decode_utf16(units) {
        let line = || 1 + text.matches('\n').count();
        let broken = || opening.error(format!("line {}: it is not UTF-16 text", line()));
        text.push(letter.map_err(|_| broken())?);
    }
    match rest.is_empty() {
        true => Ok((text, charge)),
        false => Err(opening.error("it is truncated").into()),
    }
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
