//! NumPy array files, format versions 1 to 3
//! (<https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>). Pickled objects
//! are refused: reading them would run code.

use std::io::{self, BufReader, Read, Seek, Write};

use haul_ir::dtype::DType;
use haul_ir::format::NPY;
use haul_ir::types::ValueType;

use super::Codec;
use super::elements::Elements;
use super::open::{Bytes, Header, OpenError, Opened, Opening};
use crate::error::IoError;
use crate::tensor::{Data, Tensor};

pub(super) static CODEC: Codec = Codec {
    format: &NPY,
    open: Some(|opening| Ok(Box::new(NpyFile::open(opening)?))),
    write: Some(|data, _, out| write(data.tensor()?, out)),
};

const MAGIC: &[u8] = b"\x93NUMPY";

/// NumPy itself stops at 64 axes and headers of 10 kB.
const MAX_AXES: usize = 64;
const MAX_HEADER: u32 = 1 << 20;

/// Reads the header, up to the first element.
///
/// # Errors
/// It is none, or of data that is no tensor.
pub(super) fn header(input: &mut impl Read, opening: &Opening<'_>) -> Result<Elements, IoError> {
    let failed = |error: io::Error| opening.reading(&error);
    let mut start = [0; 8];
    input.read_exact(&mut start).map_err(failed)?;
    if !start.starts_with(MAGIC) {
        return Err(opening.error("it is not a .npy file"));
    }
    let length = match start[6] {
        1 => {
            let mut length = [0; 2];
            input.read_exact(&mut length).map_err(failed)?;
            u32::from(u16::from_le_bytes(length))
        }
        2 | 3 => {
            let mut length = [0; 4];
            input.read_exact(&mut length).map_err(failed)?;
            u32::from_le_bytes(length)
        }
        version => {
            let message = format!("version {version} of .npy is not known");
            return Err(opening.error(message));
        }
    };
    if length > MAX_HEADER {
        return Err(opening.error(format!("its header claims {length} bytes")));
    }
    let mut text = vec![0; length as usize];
    input.read_exact(&mut text).map_err(failed)?;
    parse(&text).map_err(|message| opening.error(message))
}

/// A file whose header was read.
struct NpyFile<'a> {
    opening: &'a Opening<'a>,
    bytes: Bytes<'a>,
    elements: Elements,
    /// Where the elements begin.
    start: u64,
}

impl<'a> NpyFile<'a> {
    fn open(opening: &'a Opening<'a>) -> Result<Self, IoError> {
        let mut input = BufReader::new(opening.bytes()?);
        let elements = header(&mut input, opening)?;
        let needed = elements.size(opening)? as u64;
        let start = input.stream_position();
        let start = start.map_err(|error| opening.reading(&error))?;
        let bytes = input.into_inner();
        let left = bytes.length.saturating_sub(start);
        if needed > left {
            let shape = &elements.header.shape;
            let message = format!(
                "it is truncated: {shape:?} needs {needed} bytes, {left} follow its header"
            );
            return Err(opening.error(message));
        }
        Ok(Self {
            opening,
            bytes,
            elements,
            start,
        })
    }
}

impl Opened for NpyFile<'_> {
    fn header(&self) -> ValueType {
        self.elements.header.ty()
    }

    fn read(self: Box<Self>) -> Result<Data, OpenError> {
        self.elements.load(self.bytes, self.start, self.opening)
    }
}

/// Reads the Python dictionary of a header:
/// `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
fn parse(text: &[u8]) -> Result<Elements, String> {
    let text = std::str::from_utf8(text).map_err(|_| "its header is not text")?;
    let mut rest = Cursor(text.trim());
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    rest.expect("{")?;
    while !rest.accept("}") {
        let key = rest.string()?;
        rest.expect(":")?;
        match key {
            "descr" => descr = Some(rest.descr()?),
            "fortran_order" => fortran = Some(rest.boolean()?),
            "shape" => shape = Some(rest.shape()?),
            _ => return Err(format!("its header has an unknown key `{key}`")),
        }
        if !rest.accept(",") {
            rest.expect("}")?;
            break;
        }
    }
    if !rest.0.is_empty() {
        return Err("its header goes on after its end".into());
    }
    let missing = |key: &str| format!("its header has no `{key}`");
    let (dtype, big_endian) = dtype_of(descr.ok_or_else(|| missing("descr"))?)?;
    Ok(Elements {
        header: Header {
            dtype,
            shape: shape.ok_or_else(|| missing("shape"))?,
        },
        big_endian,
        fortran: fortran.ok_or_else(|| missing("fortran_order"))?,
    })
}

/// What is left of a header.
struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    fn accept(&mut self, token: &str) -> bool {
        let found = self.0.strip_prefix(token);
        self.0 = found.unwrap_or(self.0).trim_start();
        found.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        match self.accept(token) {
            true => Ok(()),
            false => Err(format!("its header lacks a `{token}`")),
        }
    }

    fn string(&mut self) -> Result<&'a str, String> {
        let quote = self.0.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let quote = quote.ok_or("its header lacks a string")?;
        let (text, rest) = self.0[1..]
            .split_once(quote)
            .ok_or("a string of its header has no end")?;
        self.0 = rest.trim_start();
        Ok(text)
    }

    fn descr(&mut self) -> Result<&'a str, String> {
        match self.0.starts_with('[') {
            true => Err("it holds records with named fields; save each field by itself".into()),
            false => self.string(),
        }
    }

    fn boolean(&mut self) -> Result<bool, String> {
        if self.accept("True") {
            return Ok(true);
        }
        self.expect("False").map(|()| false)
    }

    fn shape(&mut self) -> Result<Vec<usize>, String> {
        let mut shape = Vec::new();
        self.expect("(")?;
        while !self.accept(")") {
            let end = self
                .0
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(self.0.len());
            let (digits, rest) = self.0.split_at(end);
            shape.push(
                digits
                    .parse()
                    .map_err(|_| format!("its header has a size `{digits}`"))?,
            );
            self.0 = rest;
            // Python 2 wrote long integers with an L.
            self.accept("L");
            if shape.len() > MAX_AXES {
                return Err(format!("it has more than {MAX_AXES} axes"));
            }
            if !self.accept(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(shape)
    }
}

/// The dtype, and whether its bytes are big-endian.
fn dtype_of(descr: &str) -> Result<(DType, bool), String> {
    let (order, kind) = descr.split_at_checked(1).unwrap_or(("", ""));
    let big_endian = match order {
        "<" | "|" => false,
        ">" => true,
        "=" => cfg!(target_endian = "big"),
        _ => return Err(format!("its dtype `{descr}` is not known")),
    };
    let dtype = match kind {
        "b1" => DType::Bool,
        "u1" => DType::U8,
        "u2" => DType::U16,
        "u4" => DType::U32,
        "u8" => DType::U64,
        "i1" => DType::I8,
        "i2" => DType::I16,
        "i4" => DType::I32,
        "i8" => DType::I64,
        "f2" => DType::F16,
        "f4" => DType::F32,
        "f8" => DType::F64,
        "c8" => DType::C64,
        "c16" => DType::C128,
        // How ml_dtypes saves bfloat16.
        "V2" => DType::Bf16,
        "O" => return Err("it holds Python objects, which are never loaded".into()),
        _ => return Err(format!("its dtype `{descr}` is no dtype of tensors")),
    };
    Ok((dtype, big_endian))
}

/// Writes a tensor, version 1, row-major, little-endian.
pub(super) fn write(tensor: &Tensor, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let descr = match tensor.dtype {
        DType::Bool => "|b1",
        DType::U8 => "|u1",
        DType::U16 => "<u2",
        DType::U32 => "<u4",
        DType::U64 => "<u8",
        DType::I8 => "|i1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::F16 => "<f2",
        DType::Bf16 => "<V2",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::C64 => "<c8",
        DType::C128 => "<c16",
    };
    let sizes = tensor.layout.shape.iter().map(|size| format!("{size}, "));
    let shape: String = sizes.collect();
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Elements start at a multiple of 64 bytes, after a line feed.
    let start = (MAGIC.len() + 4 + header.len() + 1).next_multiple_of(64);
    header.extend(std::iter::repeat_n(
        ' ',
        start - MAGIC.len() - 4 - header.len() - 1,
    ));
    header.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    let width = tensor.dtype.real().size() as usize;
    tensor.for_each_block(&mut |block| {
        if cfg!(target_endian = "big") {
            block.chunks_exact_mut(width).for_each(<[u8]>::reverse);
        }
        out.write_all(block)
    })
}
