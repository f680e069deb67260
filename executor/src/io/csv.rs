//! Files of comma-separated numbers, plain or gzipped.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use haul_ir::csv::Table;
use haul_ir::dtype::{DType, Kind};
use haul_ir::op::KernelError;
use haul_ir::tensor::ViewMut;

use super::text::{decode, element, read_charged};
use super::{Header, OpenError, Opened, open_file};
use crate::error::IoError;
use crate::memory::{Account, Charge};
use crate::tensor::Tensor;

/// A file that was read as text and measured.
pub(super) struct CsvFile {
    path: PathBuf,
    columns: Vec<String>,
    header: bool,
    text: String,
    shape: [usize; 2],
    dtype: DType,
    /// For the text.
    _charge: Charge,
}

impl CsvFile {
    pub(super) fn open(
        path: &Path,
        columns: &[String],
        header: bool,
        dtype: DType,
        account: &Arc<Account>,
    ) -> Result<Self, OpenError> {
        let (file, length) = open_file(path)?;
        let (bytes, charge) = match path.extension().is_some_and(|ending| ending == "gz") {
            true => read_charged(&mut MultiGzDecoder::new(file), length, path, account)?,
            false => read_charged(&mut file.take(length), length, path, account)?,
        };
        let text = decode(bytes, path)?;
        let table = Table { header, columns };
        let shape = table
            .measure(&text)
            .map_err(|error| at_line(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            columns: columns.to_vec(),
            header,
            text,
            shape,
            dtype,
            _charge: charge,
        })
    }
}

impl Opened for CsvFile {
    fn header(&self) -> Header {
        Header {
            dtype: self.dtype,
            shape: self.shape.to_vec(),
        }
    }

    fn read(self: Box<Self>, out: &mut [u8]) -> Result<(), IoError> {
        let table = Table {
            header: self.header,
            columns: &self.columns,
        };
        let mut output = ViewMut {
            dtype: self.dtype,
            shape: self.shape.to_vec(),
            bytes: out,
        };
        let filled = table.fill(&self.text, &mut output);
        filled.map_err(|error| at_line(&self.path, &error))
    }
}

fn at_line(path: &Path, error: &KernelError) -> IoError {
    IoError::new(path, error)
}

/// Writes a row for each index of the first axis; a scalar or a vector has one number in each.
/// Numbers have as many digits as reading them back exactly takes.
pub(crate) fn write(
    tensor: &Tensor,
    columns: &[String],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let width = tensor.layout.shape.iter().skip(1).product::<usize>();
    if !columns.is_empty() {
        let names: Vec<_> = columns.iter().map(|name| quoted(name)).collect();
        writeln!(out, "{}", names.join(","))?;
    }
    let size = tensor.dtype.size() as usize;
    let mut column = 0;
    tensor.for_each_block(&mut |block| {
        for bytes in block.chunks_exact(size) {
            column += 1;
            let end = if column == width { "\n" } else { "," };
            write!(out, "{}{end}", element(tensor.dtype, bytes))?;
            column %= width;
        }
        Ok(())
    })
}

/// Why a tensor cannot be a table, where it cannot.
///
/// # Errors
/// What is wrong, and what to do.
pub(crate) fn check(dtype: DType, shape: &[usize], columns: &[String]) -> Result<(), [String; 2]> {
    if dtype.kind() == Kind::Complex {
        let help = "write `real(x)` and `imag(x)`, or use Npy";
        return Err([format!("a table holds no {dtype} numbers"), help.into()]);
    }
    let width = shape.iter().skip(1).product::<usize>();
    if !columns.is_empty() && columns.len() != width {
        let message = format!(
            "{dtype}{shape:?} has {width} numbers a row, and {} columns are named",
            columns.len()
        );
        return Err([message, "name as many columns as there are, or none".into()]);
    }
    Ok(())
}

fn quoted(name: &str) -> String {
    match name.contains(['"', ',', '\n', '\r']) || name.trim() != name {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_owned(),
    }
}
