//! Elements as bytes of a file: read as they lie there, or mapped.

use std::io::{self, Read};

use haul_ir::dtype::DType;

use super::open::{Bytes, Header, OpenError, Opening};
use crate::error::IoError;
use crate::mapping::Mapping;
use crate::memory::Buffer;
use crate::tensor::{Data, Tensor, size};

/// Smaller files are read: a map costs more.
const WORTH_MAPPING: usize = 1 << 20;

/// Where elements may begin in a map, which begins at a page.
const ALIGNMENT: u64 = 64;

/// How the elements of a file lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Elements {
    pub(super) header: Header,
    pub(super) big_endian: bool,
    /// The first axis changes fastest.
    pub(super) fortran: bool,
}

impl Elements {
    /// Bytes of all elements.
    ///
    /// # Errors
    /// No memory could hold them.
    pub(super) fn size(&self, opening: &Opening<'_>) -> Result<usize, IoError> {
        let shape = &self.header.shape;
        let too_large = || opening.error(format!("its shape is {shape:?}: too large"));
        size(self.header.dtype, shape).ok_or_else(too_large)
    }

    /// The elements from a byte of a file on: mapped, where they lie as in memory and are many.
    ///
    /// # Errors
    /// There is no memory for them; the file cannot be read.
    pub(super) fn load(
        &self,
        mut bytes: Bytes<'_>,
        start: u64,
        opening: &Opening<'_>,
    ) -> Result<Data, OpenError> {
        let len = self.size(opening)?;
        if self.is_native() && start.is_multiple_of(ALIGNMENT) && len >= WORTH_MAPPING {
            let mapping = Mapping::new(opening.path, &bytes.file, start, len);
            let mapping = mapping.map_err(|error| opening.reading(&error))?;
            let buffer = Buffer::of_mapping(mapping, opening.access.account);
            let Header { dtype, shape } = &self.header;
            return Ok(Data::Tensor(Tensor::contiguous(*dtype, shape, buffer)));
        }
        opening.tensor(&self.header, |out| {
            let failed = |error: io::Error| opening.reading(&error);
            io::Seek::seek(&mut bytes, io::SeekFrom::Start(start)).map_err(failed)?;
            self.fill(&mut io::BufReader::new(bytes), out, opening)
        })
    }

    /// Whether the bytes of the file are those of a tensor in memory. A truth value may be any
    /// byte in a file.
    fn is_native(&self) -> bool {
        let Header { dtype, shape } = &self.header;
        let in_order = dtype.real().size() == 1 || self.big_endian == cfg!(target_endian = "big");
        let row_major = !self.fortran || shape.len() <= 1;
        in_order && row_major && *dtype != DType::Bool
    }

    /// Reads all elements, row-major and in this machine's byte order.
    pub(super) fn fill(
        &self,
        input: &mut impl Read,
        out: &mut [u8],
        opening: &Opening<'_>,
    ) -> Result<(), IoError> {
        let failed = |error: io::Error| opening.reading(&error);
        match self.fortran && self.header.shape.len() > 1 {
            true => self.scatter(input, out).map_err(failed)?,
            false => input.read_exact(out).map_err(failed)?,
        }
        if self.big_endian != cfg!(target_endian = "big") {
            let dtype = self.header.dtype;
            let width = dtype.real().size() as usize;
            out.chunks_exact_mut(width).for_each(<[u8]>::reverse);
        }
        if self.header.dtype == DType::Bool {
            out.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        Ok(())
    }

    /// Reads elements whose first axis changes fastest, each to its place.
    fn scatter(&self, input: &mut impl Read, out: &mut [u8]) -> io::Result<()> {
        let size = self.header.dtype.size() as usize;
        let shape = &self.header.shape;
        let mut strides = vec![size; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis];
        }
        let mut chunk = vec![0; size * 4096];
        let mut index = vec![0; shape.len()];
        let mut place = 0;
        let mut left = out.len();
        while left > 0 {
            let chunk = &mut chunk[..left.min(size * 4096)];
            input.read_exact(chunk)?;
            left -= chunk.len();
            for element in chunk.chunks_exact(size) {
                out[place..place + size].copy_from_slice(element);
                for axis in 0..shape.len() {
                    index[axis] += 1;
                    place += strides[axis];
                    if index[axis] < shape[axis] {
                        break;
                    }
                    place -= strides[axis] * shape[axis];
                    index[axis] = 0;
                }
            }
        }
        Ok(())
    }
}
