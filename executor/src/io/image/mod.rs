//! Images: `u8` or `u16`; `[h, w]` for grey, `[h, w, channels]` with alpha or colour. What a file
//! is says its beginning, not its ending.

mod bmp;
mod jpeg;
mod png;
mod tiff;

use std::io::{Read, Seek};

use haul_ir::dtype::DType;
use haul_ir::format::IMAGE;

use super::Codec;
use super::open::{Header, OpenError, Opened, Opening};
use crate::error::IoError;

pub(super) static CODEC: Codec = Codec {
    format: &IMAGE,
    open: Some(open),
    write: Some(|data, _, out| png::write(data.tensor()?, out)),
};

fn open<'a>(opening: &'a Opening<'a>) -> Result<Box<dyn Opened + 'a>, OpenError> {
    let mut bytes = opening.bytes()?;
    let mut start = Vec::new();
    let read = (&mut bytes).take(4).read_to_end(&mut start);
    read.map_err(|error| opening.reading(&error))?;
    bytes.rewind().map_err(|error| opening.reading(&error))?;
    Ok(match &start[..] {
        b"\x89PNG" => Box::new(png::Png::open(opening, bytes)?),
        [0xff, 0xd8, 0xff, _] => Box::new(jpeg::Jpeg::open(opening, bytes)?),
        [b'B', b'M', ..] => Box::new(bmp::Bmp::open(opening, bytes)?),
        b"II*\0" | b"MM\0*" => Box::new(tiff::Tiff::open(opening, bytes)?),
        _ => {
            let error = opening.error("it is not a PNG, JPEG, BMP or TIFF image");
            return Err(error.help("convert it to PNG").into());
        }
    })
}

/// Dtype and shape of an image.
fn header(dtype: DType, [width, height]: [usize; 2], channels: usize) -> Header {
    let mut shape = vec![height, width];
    if channels > 1 {
        shape.push(channels);
    }
    Header { dtype, shape }
}

/// Refuses an image that is larger than a file can hold, where a byte of the file gives at most
/// so many pixels.
fn check_size(
    opening: &Opening<'_>,
    [width, height]: [usize; 2],
    pixels_per_byte: u64,
    length: u64,
) -> Result<(), IoError> {
    let pixels = (width as u64).saturating_mul(height as u64);
    if pixels <= length.saturating_mul(pixels_per_byte) {
        return Ok(());
    }
    let message = format!("it claims {width} x {height} pixels in a file of {length} bytes");
    Err(opening.error(message))
}

/// Refuses an image for what it is made of.
fn unread(opening: &Opening<'_>, what: &str) -> IoError {
    let help = "convert it to 8 or 16 bits of grey or RGB, with alpha or without";
    opening
        .error(format!("images {what} are not read"))
        .help(help)
}
