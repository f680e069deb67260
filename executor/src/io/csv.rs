//! Files of comma-separated numbers, plain or gzipped.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use haul_ir::csv::{Columns, Table};
use haul_ir::dtype::{DType, Kind};
use haul_ir::op::KernelError;
use rayon::prelude::*;

use super::text::{decode, element, read_charged};
use super::{Header, OpenError, Opened, open_file};
use crate::error::IoError;
use crate::memory::{Account, Charge};
use crate::tensor::Tensor;

/// A file that was read as text and measured.
pub(super) struct CsvFile {
    path: PathBuf,
    text: String,
    header: bool,
    /// Fields of each line.
    fields: usize,
    /// Positions of those to take.
    taken: Vec<usize>,
    /// Rows of each part of the text.
    rows: Vec<usize>,
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
        let failed = |error: KernelError| IoError::new(path, error);
        let table = Table::new(&text, header);
        let first_line = table.first_line().map_err(failed)?;
        let rows = (0..table.parts())
            .into_par_iter()
            .map(|part| table.rows(part));
        let rows: Vec<_> = rows.collect();
        let rows = rows.into_iter().collect::<Result<_, _>>().map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            header,
            fields: first_line.len(),
            taken: taken(&first_line, columns, header).map_err(|e| IoError::new(path, e))?,
            rows,
            dtype,
            text,
            _charge: charge,
        })
    }
}

impl Opened for CsvFile {
    fn header(&self) -> Header {
        Header {
            dtype: self.dtype,
            shape: vec![self.rows.iter().sum(), self.taken.len()],
        }
    }

    fn read(self: Box<Self>, out: &mut [u8]) -> Result<(), IoError> {
        let table = Table::new(&self.text, self.header);
        let columns = Columns {
            fields: self.fields,
            taken: Some(&self.taken),
        };
        let row = self.taken.len() * self.dtype.size() as usize;
        let mut rest = out;
        let mut parts = Vec::new();
        for (part, rows) in self.rows.iter().enumerate() {
            let (first, others) = rest.split_at_mut((rows * row).min(rest.len()));
            parts.push((part, first));
            rest = others;
        }
        let filled = parts
            .into_par_iter()
            .map(|(part, out)| table.fill(part, columns, self.dtype, out));
        let filled: Vec<_> = filled.collect();
        // The error that comes first in the file.
        let first = filled.into_iter().find_map(Result::err);
        first.map_or(Ok(()), |error| Err(IoError::new(&self.path, error)))
    }
}

/// Positions of the columns to take: all, or those of the names.
fn taken(first_line: &[String], columns: &[String], header: bool) -> Result<Vec<usize>, String> {
    if columns.is_empty() {
        return Ok((0..first_line.len()).collect());
    }
    if !header {
        return Err("columns have no names without a header".into());
    }
    let find = |column: &String| {
        let named = first_line
            .iter()
            .enumerate()
            .filter(|(_, name)| *name == column);
        match named.map(|(place, _)| place).collect::<Vec<_>>()[..] {
            [place] => Ok(place),
            [] => Err(format!(
                "there is no column `{column}`, only: {}",
                first_line[..first_line.len().min(20)].join(", ")
            )),
            _ => Err(format!("several columns are called `{column}`")),
        }
    };
    columns.iter().map(find).collect()
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
