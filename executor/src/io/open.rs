//! Opening a file: where it is, what is known of it, and who pays for what it holds.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::format::Settings;
use haul_ir::types::{TableType, TensorType, ValueType};

use super::Access;
use crate::cancel::Stop;
use crate::error::{IoError, RunError};
use crate::memory::Shortage;
use crate::tensor::{Data, Tensor, size};

/// A file that is about to be read.
pub(super) struct Opening<'a> {
    pub(super) path: &'a Path,
    pub(super) settings: &'a Settings,
    /// The declared type, where it is known and a tensor's.
    pub(super) declared: Option<&'a TensorType>,
    /// The declared type, where it is a table's: what to read, by name.
    pub(super) table: Option<&'a TableType>,
    pub(super) access: Access<'a>,
}

/// A file whose header was read and checked.
pub(super) trait Opened {
    /// The type of what it holds, with whole sizes.
    fn header(&self) -> ValueType;

    /// Rows that cannot be read, where the author said to pass over them.
    fn skipped(&self) -> usize {
        0
    }

    /// Reads what it holds.
    ///
    /// # Errors
    /// The rest of the file is malformed; there is no memory; the run is stopped.
    fn read(self: Box<Self>) -> Result<Data, OpenError>;
}

/// Dtype and shape of the tensor in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) dtype: DType,
    pub(super) shape: Vec<usize>,
}

/// Why a file was not read.
#[derive(Debug)]
pub(crate) enum OpenError {
    Io(IoError),
    Memory(Shortage),
}

impl<'a> Opening<'a> {
    pub(super) fn new(
        path: &'a Path,
        settings: &'a Settings,
        declared: Option<&'a ValueType>,
        access: Access<'a>,
    ) -> Self {
        Self {
            path,
            settings,
            declared: declared.and_then(ValueType::tensor),
            table: match declared {
                Some(ValueType::Table(table)) => Some(table),
                _ => None,
            },
            access,
        }
    }

    /// The contents, to be read in order or at any place.
    ///
    /// # Errors
    /// The file is missing, or is no regular file.
    pub(super) fn bytes(&self) -> Result<Bytes<'a>, IoError> {
        let failed = |error: io::Error| self.error(error);
        // Opening a pipe waits until somebody writes to it.
        if !fs::metadata(self.path).map_err(failed)?.is_file() {
            return Err(self.error("it is not a regular file"));
        }
        let file = File::open(self.path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let stop = self.access.stop;
        Ok(Bytes { file, length, stop })
    }

    /// A tensor of memory that `fill` is given.
    ///
    /// # Errors
    /// There is no memory; those of `fill`.
    pub(super) fn tensor<E>(
        &self,
        header: &Header,
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<Data, OpenError>
    where
        OpenError: From<E>,
    {
        let Header { dtype, shape } = header;
        let bytes = size(*dtype, shape).ok_or_else(|| self.error("it is too large"))?;
        let mut buffer = self.access.account.allocate(bytes)?;
        fill(buffer.bytes_mut())?;
        Ok(Data::Tensor(Tensor::contiguous(*dtype, shape, buffer)))
    }

    /// Ends the reading of a file once the run is to stop.
    pub(super) fn check_going(&self) -> Result<(), IoError> {
        self.access.stop.check().map_err(|error| self.error(error))
    }

    /// Says what is wrong with the file.
    pub(super) fn error(&self, message: impl Display) -> IoError {
        IoError::new(self.path, message)
    }

    /// Says what went wrong while reading.
    pub(super) fn reading(&self, error: &io::Error) -> IoError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => self.error("it is truncated"),
            _ => self.error(error),
        }
    }

    /// Whether what was found is of the declared dtype.
    pub(super) fn check_dtype(&self, found: &ValueType) -> Result<(), IoError> {
        let (Some(declared), Some(found)) = (self.declared, found.tensor()) else {
            return Ok(());
        };
        let (declared, found) = (declared.dtype, found.dtype);
        if declared == found {
            return Ok(());
        }
        let message = format!("it holds {found}, not {declared} as declared");
        let help = format!("declare {found} and cast: `{declared}(x)`");
        Err(self.error(message).help(help))
    }
}

impl Header {
    pub(super) fn ty(&self) -> ValueType {
        let shape = self.shape.iter().map(|size| Expr::from(*size as u64));
        TensorType::new(self.dtype, shape.collect()).into()
    }
}

/// The bytes of a file; reading fails once the run is to stop.
pub(super) struct Bytes<'a> {
    pub(super) file: File,
    pub(super) length: u64,
    stop: &'a Stop,
}

/// How much is read between two looks at whether to stop.
const READ: usize = 1 << 22;

impl Read for Bytes<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.stop.check()?;
        let most = out.len().min(READ);
        self.file.read(&mut out[..most])
    }
}

impl Seek for Bytes<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl From<IoError> for OpenError {
    fn from(error: IoError) -> Self {
        Self::Io(error)
    }
}

impl From<Shortage> for OpenError {
    fn from(shortage: Shortage) -> Self {
        Self::Memory(shortage)
    }
}

impl OpenError {
    /// In words, for the input that was to be read.
    pub(crate) fn of_input(self, input: &str) -> RunError {
        match self {
            OpenError::Io(error) => {
                let error = RunError::from(error);
                let message = format!("input `{input}`: {}", error.message);
                RunError { message, ..error }
            }
            OpenError::Memory(shortage) => crate::device::shortage_error(input, shortage, None),
        }
    }
}
