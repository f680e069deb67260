//! TIFF images: the first of the file, 8 or 16 bits of grey or RGB, with alpha or without.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use haul_ir::dtype::DType;
use haul_ir::types::ValueType;
use tiff::decoder::{Decoder, Limits};
use tiff::tags::SampleFormat;
use tiff::{ColorType, TiffError};

use super::{check_size, header, unread};
use crate::error::IoError;
use crate::io::open::{Bytes, Header, OpenError, Opened, Opening};
use crate::memory::Charge;
use crate::tensor::Data;

/// LZW packs at most 4,096 bytes into a code of 12 bits.
const PIXELS_PER_BYTE: u64 = 4096;

/// What the decoder may hold beside the image: values of tags.
const DECODER_BYTES: usize = 16 << 20;

/// A file whose header was read.
pub(super) struct Tiff<'a> {
    opening: &'a Opening<'a>,
    decoder: Decoder<BufReader<Bytes<'a>>>,
    header: Header,
    /// For the decoder.
    _charge: Charge,
}

impl<'a> Tiff<'a> {
    pub(super) fn open(opening: &'a Opening<'a>, mut bytes: Bytes<'a>) -> Result<Self, OpenError> {
        let failed = |error: TiffError| malformed(opening, &error);
        let length = bytes.length;
        let values = tag_values(&mut bytes).map_err(|error| opening.reading(&error))?;
        if values > length {
            let message = format!("its tags claim {values} values in a file of {length} bytes");
            return Err(opening.error(message).into());
        }
        let charge = opening.access.account.charge(DECODER_BYTES as u64)?;
        let mut limits = Limits::default();
        limits.intermediate_buffer_size = usize::try_from(length).unwrap_or(usize::MAX);
        limits.ifd_value_size = DECODER_BYTES;
        let decoder = Decoder::new(BufReader::new(bytes)).map_err(failed)?;
        let mut decoder = decoder.with_limits(limits);
        let (width, height) = decoder.dimensions().map_err(failed)?;
        let sides = [width, height].map(|side| side as usize);
        check_size(opening, sides, PIXELS_PER_BYTE, length)?;
        let (bits, channels) = match decoder.colortype().map_err(failed)? {
            ColorType::Gray(bits) => (bits, 1),
            ColorType::GrayA(bits) => (bits, 2),
            ColorType::RGB(bits) => (bits, 3),
            ColorType::RGBA(bits) => (bits, 4),
            _ => return Err(unread(opening, "of other colours than grey and RGB").into()),
        };
        let dtype = match bits {
            8 => DType::U8,
            16 => DType::U16,
            _ => return Err(unread(opening, &format!("of {bits} bits")).into()),
        };
        let layout = decoder.image_buffer_layout().map_err(failed)?;
        if layout.sample_format != SampleFormat::Uint {
            return Err(unread(opening, "of other numbers than unsigned integers").into());
        }
        if layout.planes > 1 {
            return Err(unread(opening, "with a plane for each channel").into());
        }
        Ok(Self {
            opening,
            decoder,
            header: header(dtype, sides, channels),
            _charge: charge,
        })
    }
}

impl Opened for Tiff<'_> {
    fn header(&self) -> ValueType {
        self.header.ty()
    }

    fn read(mut self: Box<Self>) -> Result<Data, OpenError> {
        self.opening.tensor(&self.header, |out| {
            let decoded = self.decoder.read_image_bytes(out);
            decoded.map_err(|error| malformed(self.opening, &error))
        })
    }
}

/// How many values the tags of the first image claim: the decoder takes memory for them before it
/// reads them (<https://www.itu.int/itudoc/itu-t/com16/tiff-fx/docs/tiff6.pdf>, section 2).
fn tag_values(bytes: &mut Bytes<'_>) -> io::Result<u64> {
    let mut start = [0; 8];
    bytes.read_exact(&mut start)?;
    let [order, _, _, _, offset @ ..] = start;
    let little = order == b'I';
    let long = |of: [u8; 4]| match little {
        true => u32::from_le_bytes(of),
        false => u32::from_be_bytes(of),
    };
    bytes.seek(SeekFrom::Start(long(offset).into()))?;
    let mut input = BufReader::new(&mut *bytes);
    let mut tags = [0; 2];
    input.read_exact(&mut tags)?;
    let tags = match little {
        true => u16::from_le_bytes(tags),
        false => u16::from_be_bytes(tags),
    };
    let mut values = 0;
    for _ in 0..tags {
        let mut tag = [0; 12];
        input.read_exact(&mut tag)?;
        let [_, _, _, _, a, b, c, d, ..] = tag;
        values += u64::from(long([a, b, c, d]));
    }
    bytes.rewind()?;
    Ok(values)
}

fn malformed(opening: &Opening<'_>, error: &TiffError) -> IoError {
    opening.error(format!("it is not a readable TIFF image: {error}"))
}
