//! BMP images: 8 bits of grey, RGB or RGBA; palettes are expanded.

use std::io::Read;

use haul_ir::dtype::DType;
use haul_ir::types::ValueType;
use zune_bmp::{BmpDecoder, BmpDecoderErrors};
use zune_core::bytestream::ZCursor;
use zune_core::options::DecoderOptions;

use super::{header, unread};
use crate::error::IoError;
use crate::io::open::{Bytes, Header, OpenError, Opened, Opening};
use crate::io::text::read_charged;
use crate::memory::Charge;
use crate::tensor::Data;

/// Where the file header says that pixels begin.
const PIXELS_AT: usize = 10;
/// Where the number of bits of a pixel stands, and after it the compression.
const BITS_AT: usize = 28;
/// `BI_RGB`, `BI_BITFIELDS`: the pixels lie as they are.
const PLAIN: [u32; 2] = [0, 3];

/// A file whose header was read.
pub(super) struct Bmp<'a> {
    opening: &'a Opening<'a>,
    decoder: BmpDecoder<ZCursor<Vec<u8>>>,
    header: Header,
    /// For the file.
    _charge: Charge,
}

impl<'a> Bmp<'a> {
    pub(super) fn open(opening: &'a Opening<'a>, bytes: Bytes<'a>) -> Result<Self, OpenError> {
        let length = bytes.length;
        let (bytes, charge) = read_charged(&mut bytes.take(length), length, opening)?;
        let start = number(&bytes, PIXELS_AT);
        let (bits, compression) = (number(&bytes, BITS_AT), number(&bytes, BITS_AT + 2));
        let (Some(start), Some(bits), Some(compression)) = (start, bits, compression) else {
            return Err(opening.error("it is truncated").into());
        };
        if !PLAIN.contains(&compression) {
            return Err(unread(opening, "of compressed BMP").into());
        }
        let options = DecoderOptions::default().set_strict_mode(true);
        let options = options.set_max_width(1 << 31).set_max_height(1 << 31);
        let mut decoder = BmpDecoder::new_with_options(ZCursor::new(bytes), options);
        let failed = |error: BmpDecoderErrors| malformed(opening, &error);
        decoder.decode_headers().map_err(failed)?;
        let (width, height) = decoder.dimensions().unwrap_or_default();
        // Rows are filled up to four bytes.
        let row = (width as u64)
            .saturating_mul(u64::from(bits & 0xffff))
            .div_ceil(32)
            * 4;
        let needed = row
            .saturating_mul(height as u64)
            .saturating_add(u64::from(start));
        if needed > length {
            let message = format!("it is truncated: {width} x {height} pixels take {needed} bytes");
            return Err(opening.error(message).into());
        }
        let channels = decoder
            .colorspace()
            .map_or(0, |color| color.num_components());
        Ok(Self {
            opening,
            decoder,
            header: header(DType::U8, [width, height], channels),
            _charge: charge,
        })
    }
}

impl Opened for Bmp<'_> {
    fn header(&self) -> ValueType {
        self.header.ty()
    }

    fn read(mut self: Box<Self>) -> Result<Data, OpenError> {
        self.opening.tensor(&self.header, |out| {
            let decoded = self.decoder.decode_into(out);
            decoded.map_err(|error| malformed(self.opening, &error))
        })
    }
}

/// Four bytes of the header as a number.
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

fn malformed(opening: &Opening<'_>, error: &BmpDecoderErrors) -> IoError {
    opening.error(format!("it is not a readable BMP image: {error:?}"))
}
