//! PNG images: `u8` or `u16`; `[h, w]` for grey, `[h, w, channels]` with alpha or colour.
//! Palettes and fewer than 8 bits are expanded; 16 bits stay 16 bits.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

use haul_ir::dtype::DType;
use png::{BitDepth, ColorType, Decoder, Encoder, Limits, Reader, Transformations};

use super::npz::MOST_DEFLATED;
use super::{Header, Opened, open_file};
use crate::error::IoError;
use crate::tensor::Tensor;

/// What the decoder may hold beside the image: palettes, a row, comments.
const DECODER_BYTES: usize = 64 << 20;

/// A file whose header was read.
pub(super) struct Png {
    path: PathBuf,
    reader: Reader<BufReader<File>>,
}

impl Png {
    pub(super) fn open(path: &Path) -> Result<Self, IoError> {
        let (file, length) = open_file(path)?;
        let limits = Limits {
            bytes: DECODER_BYTES,
        };
        let mut decoder = Decoder::new_with_limits(BufReader::new(file), limits);
        decoder.set_transformations(Transformations::EXPAND);
        let reader = decoder
            .read_info()
            .map_err(|error| malformed(path, &error))?;
        let info = reader.info();
        let packed = info.raw_row_length() as u64 * u64::from(info.height);
        if packed > length.saturating_mul(MOST_DEFLATED) {
            let (w, h) = info.size();
            let message = format!("it claims {w} x {h} pixels in a file of {length} bytes");
            return Err(IoError::new(path, message));
        }
        let path = path.to_owned();
        Ok(Self { path, reader })
    }
}

impl Opened for Png {
    fn header(&self) -> Header {
        let (width, height) = self.reader.info().size();
        let (color, depth) = self.reader.output_color_type();
        let mut shape = vec![height as usize, width as usize];
        if color != ColorType::Grayscale {
            shape.push(color.samples());
        }
        let dtype = match depth {
            BitDepth::Sixteen => DType::U16,
            _ => DType::U8,
        };
        Header { dtype, shape }
    }

    fn read(mut self: Box<Self>, out: &mut [u8]) -> Result<(), IoError> {
        let dtype = self.header().dtype;
        let frame = self.reader.next_frame(out);
        frame.map_err(|error| malformed(&self.path, &error))?;
        if dtype == DType::U16 {
            out.chunks_exact_mut(2).for_each(big_endian);
        }
        Ok(())
    }
}

fn malformed(path: &Path, error: &png::DecodingError) -> IoError {
    IoError::new(path, format!("it is not a readable PNG image: {error}"))
        .help("only PNG images are read; convert others")
}

/// From this machine's byte order to that of PNG, and back.
fn big_endian(sample: &mut [u8]) {
    if cfg!(target_endian = "little") {
        sample.reverse();
    }
}

/// Writes an image.
///
/// # Errors
/// [`check`] refuses it, or writing fails.
pub(crate) fn write(tensor: &Tensor, out: &mut dyn Write) -> std::io::Result<()> {
    let shape = &tensor.layout.shape;
    let color = color_of(shape).ok_or(std::io::ErrorKind::InvalidInput)?;
    let side = |axis: usize| u32::try_from(shape[axis]).map_err(std::io::Error::other);
    let mut encoder = Encoder::new(out, side(1)?, side(0)?);
    encoder.set_color(color);
    encoder.set_depth(match tensor.dtype {
        DType::U16 => BitDepth::Sixteen,
        _ => BitDepth::Eight,
    });
    let mut writer = encoder.write_header()?;
    let mut pixels = writer.stream_writer()?;
    tensor.for_each_block(&mut |block| {
        if tensor.dtype == DType::U16 {
            block.chunks_exact_mut(2).for_each(big_endian);
        }
        pixels.write_all(block)
    })?;
    pixels.finish()?;
    writer.finish().map_err(Into::into)
}

/// Why a tensor cannot be an image, where it cannot.
///
/// # Errors
/// What is wrong, and what to do.
pub(crate) fn check(dtype: DType, shape: &[usize]) -> Result<(), [String; 2]> {
    if !matches!(dtype, DType::U8 | DType::U16) {
        return Err([
            format!("an image holds u8 or u16, not {dtype}"),
            "scale and cast it: `u8(clip(x, 0, 1) * 255 + 0.5)`".into(),
        ]);
    }
    let message = format!("{dtype}{shape:?} is no image");
    if color_of(shape).is_none() {
        let help = "its shape has to be [h, w], or [h, w, channels] with 1 to 4 channels";
        return Err([message, help.into()]);
    }
    if shape
        .iter()
        .any(|size| *size == 0 || u32::try_from(*size).is_err())
    {
        return Err([
            message,
            "it has to have at least one pixel, and at most 2^31 a side".into(),
        ]);
    }
    Ok(())
}

fn color_of(shape: &[usize]) -> Option<ColorType> {
    match shape {
        [_, _] | [_, _, 1] => Some(ColorType::Grayscale),
        [_, _, 2] => Some(ColorType::GrayscaleAlpha),
        [_, _, 3] => Some(ColorType::Rgb),
        [_, _, 4] => Some(ColorType::Rgba),
        _ => None,
    }
}
