//! Bytes without a header: the declared type says what they are.

use std::io::{self, Write};

use haul_ir::format::{RAW, Settings};
use haul_ir::types::{TensorType, ValueType};

use super::Codec;
use super::elements::Elements;
use super::open::{Bytes, Header, OpenError, Opened, Opening};
use crate::error::IoError;
use crate::tensor::{Data, Tensor};

pub(super) static CODEC: Codec = Codec {
    format: &RAW,
    open: Some(|opening| Ok(Box::new(RawFile::open(opening)?))),
    write: Some(|data, file, out| write(data.tensor()?, &file.settings, out)),
};

/// A file that was measured.
struct RawFile<'a> {
    opening: &'a Opening<'a>,
    bytes: Bytes<'a>,
    elements: Elements,
    offset: u64,
}

impl<'a> RawFile<'a> {
    fn open(opening: &'a Opening<'a>) -> Result<Self, IoError> {
        let missing = || opening.error("the type of raw bytes has to be declared");
        let declared = opening.declared.ok_or_else(missing)?;
        let bytes = opening.bytes()?;
        let offset = opening.settings.count("offset").unwrap_or(0);
        let left = bytes.length.checked_sub(offset).ok_or_else(|| {
            let length = bytes.length;
            opening.error(format!("it has {length} bytes, and `offset` is {offset}"))
        })?;
        let shape = shape(declared, left).map_err(|message| opening.error(message))?;
        let dtype = declared.dtype;
        Ok(Self {
            opening,
            bytes,
            elements: Elements {
                header: Header { dtype, shape },
                big_endian: is_big_endian(opening.settings),
                fortran: false,
            },
            offset,
        })
    }
}

impl Opened for RawFile<'_> {
    fn header(&self) -> ValueType {
        self.elements.header.ty()
    }

    fn read(self: Box<Self>) -> Result<Data, OpenError> {
        self.elements.load(self.bytes, self.offset, self.opening)
    }
}

/// The declared shape; the one size that may be open is what the bytes make of it.
fn shape(declared: &TensorType, bytes: u64) -> Result<Vec<usize>, String> {
    let sizes = declared.shape.iter().map(|size| size.as_u64());
    let sizes: Vec<Option<u64>> = sizes.collect();
    let mut known = sizes.iter().flatten();
    let known = known.try_fold(declared.dtype.size(), |product, size| {
        product.checked_mul(*size)
    });
    let known = known.ok_or_else(|| format!("{declared} is too large"))?;
    let open = match sizes.iter().filter(|size| size.is_none()).count() {
        0 if known == bytes => 0,
        0 => {
            return Err(format!(
                "it has {bytes} bytes of data, and {declared} has {known}"
            ));
        }
        1 if known > 0 && bytes.is_multiple_of(known) => bytes / known,
        1 => {
            return Err(format!(
                "it has {bytes} bytes of data, which {known} bytes a step of {declared} do not fill"
            ));
        }
        _ => {
            return Err(format!(
                "the bytes leave more than one size of {declared} open"
            ));
        }
    };
    let size = |size: Option<u64>| usize::try_from(size.unwrap_or(open));
    let shape = sizes.into_iter().map(size).collect::<Result<_, _>>();
    shape.map_err(|_| format!("{declared} is too large"))
}

fn is_big_endian(settings: &Settings) -> bool {
    settings.word("byte_order") == Some("Big")
}

fn write(tensor: &Tensor, settings: &Settings, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let swap = is_big_endian(settings) != cfg!(target_endian = "big");
    let width = tensor.dtype.real().size() as usize;
    tensor.for_each_block(&mut |block| {
        if swap {
            block.chunks_exact_mut(width).for_each(<[u8]>::reverse);
        }
        out.write_all(block)
    })
}
