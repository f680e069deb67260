//! PNG images. Palettes and fewer than 8 bits are expanded; 16 bits stay 16 bits.

use std::io::{self, BufReader, Write};

use haul_ir::dtype::DType;
use haul_ir::types::ValueType;
use png::{BitDepth, ColorType, Decoder, Encoder, Limits, Reader, Transformations};

use super::header;
use crate::error::IoError;
use crate::io::npz::MOST_DEFLATED;
use crate::io::open::{Bytes, Header, OpenError, Opened, Opening};
use crate::tensor::{Data, Tensor};

/// What the decoder may hold beside the image: palettes, a row, comments.
const DECODER_BYTES: usize = 64 << 20;

/// A file whose header was read.
pub(super) struct Png<'a> {
    opening: &'a Opening<'a>,
    reader: Reader<BufReader<Bytes<'a>>>,
}

impl<'a> Png<'a> {
    pub(super) fn open(opening: &'a Opening<'a>, bytes: Bytes<'a>) -> Result<Self, IoError> {
        let length = bytes.length;
        let limits = Limits {
            bytes: DECODER_BYTES,
        };
        let mut decoder = Decoder::new_with_limits(BufReader::new(bytes), limits);
        decoder.set_transformations(Transformations::EXPAND);
        // Comments and profiles may be packed, and unpack to much.
        decoder.set_ignore_text_chunk(true);
        decoder.set_ignore_iccp_chunk(true);
        let reader = decoder
            .read_info()
            .map_err(|error| malformed(opening, &error))?;
        let info = reader.info();
        let packed = info.raw_row_length() as u64 * u64::from(info.height);
        if packed > length.saturating_mul(MOST_DEFLATED) {
            let (w, h) = info.size();
            let message = format!("it claims {w} x {h} pixels in a file of {length} bytes");
            return Err(opening.error(message));
        }
        Ok(Self { opening, reader })
    }

    fn shape(&self) -> Header {
        let (width, height) = self.reader.info().size();
        let (color, depth) = self.reader.output_color_type();
        let dtype = match depth {
            BitDepth::Sixteen => DType::U16,
            _ => DType::U8,
        };
        header(
            dtype,
            [width, height].map(|side| side as usize),
            color.samples(),
        )
    }

    fn fill(&mut self, out: &mut [u8]) -> Result<(), IoError> {
        let frame = self.reader.next_frame(out);
        frame.map_err(|error| malformed(self.opening, &error))?;
        if self.shape().dtype == DType::U16 {
            out.chunks_exact_mut(2).for_each(big_endian);
        }
        Ok(())
    }
}

impl Opened for Png<'_> {
    fn header(&self) -> ValueType {
        self.shape().ty()
    }

    fn read(mut self: Box<Self>) -> Result<Data, OpenError> {
        let header = self.shape();
        self.opening.tensor(&header, |out| self.fill(out))
    }
}

fn malformed(opening: &Opening<'_>, error: &png::DecodingError) -> IoError {
    let message = format!("it is not a readable PNG image: {error}");
    opening
        .error(message)
        .help("only PNG images are read; convert others")
}

/// From this machine's byte order to that of PNG, and back.
fn big_endian(sample: &mut [u8]) {
    if cfg!(target_endian = "little") {
        sample.reverse();
    }
}

/// Writes an image of a type that the format can hold.
pub(super) fn write(tensor: &Tensor, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let shape = &tensor.layout.shape;
    let color = color_of(shape).ok_or(io::ErrorKind::InvalidInput)?;
    let side = |axis: usize| u32::try_from(shape[axis]).map_err(io::Error::other);
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

fn color_of(shape: &[usize]) -> Option<ColorType> {
    match shape {
        [_, _] | [_, _, 1] => Some(ColorType::Grayscale),
        [_, _, 2] => Some(ColorType::GrayscaleAlpha),
        [_, _, 3] => Some(ColorType::Rgb),
        [_, _, 4] => Some(ColorType::Rgba),
        _ => None,
    }
}
