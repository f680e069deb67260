//! File formats, and data that is made of a rule. Readers tell dtype and shape first, so that
//! memory is asked for before it is filled; sizes that a file claims are checked against the file.

mod csv;
mod glob;
mod image;
mod made;
mod npy;
mod npz;
mod text;

pub(crate) use csv::{check as check_csv, write as write_csv};
pub(crate) use image::{check as check_image, write as write_image};
pub(crate) use made::fill as fill_made;
pub(crate) use npy::write as write_npy;
pub(crate) use text::element;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::graph::Source;
use haul_ir::types::{TensorType, ValueType};

use crate::error::{IoError, RunError};
use crate::machine::Machine;
use crate::memory::{Account, Memory, Shortage};
use crate::tensor::{Data, Tensor, size};

/// What reading a header may take where the machine does not tell its memory.
const FEW_BYTES: u64 = 1 << 30;

/// The type of the data that a source names, without reading the data itself where the format
/// tells; a table is `f64`. Paths are relative to `base`, the folder of the pipeline file.
///
/// # Errors
/// The file is missing, unreadable, malformed, or the source is no file.
pub fn header(source: &Source, base: &Path) -> Result<ValueType, IoError> {
    if let Source::Text { .. } | Source::Files { .. } = source {
        return Ok(ValueType::Text);
    }
    // A table has to be read; a small file may unpack to more than there is memory.
    let memory = Machine::detect().map_or(FEW_BYTES, |machine| machine.memory / 2);
    let account = Memory::new(memory).account(memory);
    let header = match open(source, base, None, &account) {
        Ok(opened) => opened.header(),
        Err(OpenError::Io(error)) => return Err(error),
        Err(OpenError::Memory(_)) => {
            let path = path_of(source).unwrap_or_default();
            return Err(IoError::new(Path::new(path), "it is too large"));
        }
    };
    let shape = header.shape.iter().map(|size| Expr::from(*size as u64));
    Ok(TensorType::new(header.dtype, shape.collect()).into())
}

/// The files that a pattern names, sorted by path; paths are relative to `base`.
///
/// # Errors
/// The pattern is malformed, a folder cannot be read, or no file matches.
pub fn files(pattern: &str, base: &Path) -> Result<Vec<PathBuf>, IoError> {
    glob::files(pattern, base)
}

/// The file of a source, where it is one.
pub(crate) fn path_of(source: &Source) -> Option<&str> {
    match source {
        Source::Npy { path }
        | Source::Npz { path, .. }
        | Source::Csv { path, .. }
        | Source::Image { path }
        | Source::Text { path } => Some(path),
        Source::Files { glob } => Some(glob),
        _ => None,
    }
}

/// How one file of a `Files` collection is read: by its ending, where it is no text.
///
/// # Errors
/// The ending is of no format.
pub(crate) fn item_source(file: &Path, ty: &ValueType) -> Result<Source, IoError> {
    let path = file
        .to_str()
        .ok_or_else(|| IoError::new(file, "its name is not UTF-8"))?
        .to_owned();
    let name = path.to_ascii_lowercase();
    if *ty == ValueType::Text {
        return Ok(Source::Text { path });
    }
    if name.ends_with(".npy") {
        return Ok(Source::Npy { path });
    }
    if name.ends_with(".png") {
        return Ok(Source::Image { path });
    }
    if name.ends_with(".csv") || name.ends_with(".csv.gz") {
        return Ok(Source::Csv {
            path,
            columns: Vec::new(),
            header: true,
        });
    }
    Err(
        IoError::new(file, format!("no format for {ty} has this ending"))
            .help("use .npy, .csv, .csv.gz or .png files, or leave the type out to get text"),
    )
}

/// Reads the file of a source.
///
/// # Errors
/// It cannot be read, is malformed, or is of another dtype; there is no memory for it.
pub(crate) fn read(
    source: &Source,
    base: &Path,
    ty: &ValueType,
    account: &Arc<Account>,
) -> Result<Data, OpenError> {
    if let Source::Text { path } = source {
        return text::read(&base.join(path), account).map(Data::Text);
    }
    let dtype = ty.tensor().map(|tensor| tensor.dtype);
    let opened = open(source, base, dtype, account)?;
    let Header { dtype, shape } = opened.header();
    let path = Path::new(path_of(source).unwrap_or_default());
    let bytes = size(dtype, &shape).ok_or_else(|| IoError::new(path, "it is too large"))?;
    let mut buffer = account.allocate(bytes)?;
    opened.read(buffer.bytes_mut())?;
    Ok(Data::Tensor(Tensor::contiguous(dtype, &shape, buffer)))
}

/// The dtype and shape of a source's file. The dtype is checked against the declared one.
pub(crate) fn peek(
    source: &Source,
    base: &Path,
    ty: &TensorType,
    account: &Arc<Account>,
) -> Result<Vec<usize>, OpenError> {
    Ok(open(source, base, Some(ty.dtype), account)?.header().shape)
}

/// Opens a text file, to see that it is there.
///
/// # Errors
/// It is not, or is no file.
pub(crate) fn check_text(path: &Path) -> Result<(), IoError> {
    open_file(path).map(drop)
}

/// What a file says of its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
}

/// A file whose header was read and checked.
trait Opened {
    fn header(&self) -> Header;

    /// Fills the space that the header asks for.
    fn read(self: Box<Self>, out: &mut [u8]) -> Result<(), IoError>;
}

/// Why a file was not read.
#[derive(Debug)]
pub(crate) enum OpenError {
    Io(IoError),
    Memory(Shortage),
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

fn open(
    source: &Source,
    base: &Path,
    declared: Option<DType>,
    account: &Arc<Account>,
) -> Result<Box<dyn Opened>, OpenError> {
    let opened: Box<dyn Opened> = match source {
        Source::Npy { path } => Box::new(npy::NpyFile::open(&base.join(path))?),
        Source::Npz { path, array } => Box::new(npz::NpzArray::open(&base.join(path), array)?),
        Source::Image { path } => Box::new(image::Png::open(&base.join(path))?),
        Source::Csv {
            path,
            columns,
            header,
        } => {
            let dtype = declared.unwrap_or(DType::F64);
            let file = csv::CsvFile::open(&base.join(path), columns, *header, dtype, account)?;
            Box::new(file)
        }
        _ => return Err(IoError::new(Path::new(""), "the source is no file of numbers").into()),
    };
    let found = opened.header().dtype;
    match declared {
        Some(declared) if declared != found => {
            let path = Path::new(path_of(source).unwrap_or_default());
            let message = format!("it holds {found}, not {declared} as declared");
            let help = format!("declare {found} and cast: `{declared}(x)`");
            Err(IoError::new(path, message).help(help).into())
        }
        _ => Ok(opened),
    }
}

/// Opens a file of data and tells its length.
fn open_file(path: &Path) -> Result<(File, u64), IoError> {
    let failed = |error: std::io::Error| IoError::new(path, error);
    // Opening a pipe waits until somebody writes to it.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(IoError::new(path, "it is not a regular file"));
    }
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    Ok((file, length))
}

/// Says what went wrong while reading a file.
fn reading(path: &Path, error: &std::io::Error) -> IoError {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => IoError::new(path, "it is truncated"),
        _ => IoError::new(path, error),
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
