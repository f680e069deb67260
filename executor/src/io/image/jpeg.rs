//! JPEG images: 8 bits of grey or RGB. Decoders may differ by a level or two, as the standard
//! allows.

use std::io::Read;

use haul_ir::dtype::DType;
use haul_ir::types::ValueType;
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;
use zune_jpeg::errors::DecodeErrors;

use super::{check_size, header, unread};
use crate::error::IoError;
use crate::io::open::{Bytes, Header, OpenError, Opened, Opening};
use crate::io::text::read_charged;
use crate::memory::Charge;
use crate::tensor::Data;

/// Each block of 8 x 8 pixels takes a bit at least.
const PIXELS_PER_BYTE: u64 = 64 * 8;

/// Bytes that the decoder may hold for a pixel: coefficients of 16 bits, and what they give.
const BYTES_PER_PIXEL: u64 = 4 * 3;

/// What an image ends with.
const END: [u8; 2] = [0xff, 0xd9];

/// A file whose header was read.
pub(super) struct Jpeg<'a> {
    opening: &'a Opening<'a>,
    decoder: JpegDecoder<ZCursor<Vec<u8>>>,
    header: Header,
    /// For the file.
    _charge: Charge,
}

impl<'a> Jpeg<'a> {
    pub(super) fn open(opening: &'a Opening<'a>, bytes: Bytes<'a>) -> Result<Self, OpenError> {
        let length = bytes.length;
        let (bytes, charge) = read_charged(&mut bytes.take(length), length, opening)?;
        if !bytes.windows(2).rev().any(|pair| pair == END) {
            return Err(opening.error("it is truncated").into());
        }
        let failed = |error: DecodeErrors| malformed(opening, &error);
        let options = DecoderOptions::default().set_strict_mode(true);
        let options = options.set_max_width(1 << 16).set_max_height(1 << 16);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
        decoder.decode_headers().map_err(failed)?;
        let (color, channels) = match decoder.input_colorspace() {
            Some(ColorSpace::Luma) => (ColorSpace::Luma, 1),
            Some(ColorSpace::YCbCr | ColorSpace::RGB) => (ColorSpace::RGB, 3),
            _ => return Err(unread(opening, "of CMYK").into()),
        };
        decoder.set_options(options.jpeg_set_out_colorspace(color));
        let (width, height) = decoder.dimensions().unwrap_or_default();
        check_size(opening, [width, height], PIXELS_PER_BYTE, length)?;
        Ok(Self {
            opening,
            decoder,
            header: header(DType::U8, [width, height], channels),
            _charge: charge,
        })
    }
}

impl Opened for Jpeg<'_> {
    fn header(&self) -> ValueType {
        self.header.ty()
    }

    fn read(mut self: Box<Self>) -> Result<Data, OpenError> {
        let pixels: u64 = self.header.shape[..2]
            .iter()
            .map(|side| *side as u64)
            .product();
        let account = self.opening.access.account;
        let _coefficients = account.charge(pixels.saturating_mul(BYTES_PER_PIXEL))?;
        self.opening.tensor(&self.header, |out| {
            let decoded = self.decoder.decode_into(out);
            decoded.map_err(|error| malformed(self.opening, &error))
        })
    }
}

fn malformed(opening: &Opening<'_>, error: &DecodeErrors) -> IoError {
    opening.error(format!("it is not a readable JPEG image: {error}"))
}
