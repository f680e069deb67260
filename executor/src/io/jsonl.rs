//! Files of JSON lines, plain or gzipped: numbers as a tensor, or a table.

use std::io::{self, Write};

use haul_ir::column::ColumnView;
use haul_ir::dtype::DType;
use haul_ir::format::JSONL;
use haul_ir::jsonl::{JsonArrays, JsonRows};
use haul_ir::op::KernelError;
use haul_ir::types::{CellKind, ValueType};
use rayon::prelude::*;

use super::Codec;
use super::gzip::{read_text, write_text};
use super::open::{Header, OpenError, Opened, Opening};
use super::rows::{RowsFile, Visit};
use super::text::element;
use crate::error::IoError;
use crate::memory::Charge;
use crate::table::{Column, Table};
use crate::tensor::{Data, Tensor};

pub(super) static CODEC: Codec = Codec {
    format: &JSONL,
    open: Some(|opening| match opening.table {
        None => Ok(Box::new(JsonlFile::open(opening)?)),
        Some(ty) => {
            let (text, charge) = read_text(opening)?;
            let rows = move |visit: Visit<'_>| visit(&JsonRows::new(&text, ty));
            Ok(Box::new(RowsFile::open(
                opening,
                ty,
                Box::new(rows),
                charge,
            )?))
        }
    }),
    write: Some(|data, file, out| write_text(file, out, |out| write(data, out))),
};

/// A file of numbers that was read as text and measured.
struct JsonlFile<'a> {
    opening: &'a Opening<'a>,
    text: String,
    rank: usize,
    /// Elements of each line.
    width: usize,
    /// Rows of each part of the text.
    rows: Vec<usize>,
    /// For the text.
    _charge: Charge,
}

impl<'a> JsonlFile<'a> {
    fn open(opening: &'a Opening<'a>) -> Result<Self, OpenError> {
        let (text, charge) = read_text(opening)?;
        let failed = |error: KernelError| opening.error(error);
        let first = text.trim_start_matches('\u{feff}').trim_start();
        let rank = if first.starts_with('[') { 2 } else { 1 };
        let lines = JsonArrays::new(&text, rank).map_err(failed)?;
        let rows = (0..lines.parts()).into_par_iter();
        let rows: Vec<_> = rows.map(|part| lines.rows(part)).collect();
        let rows = rows.into_iter().collect::<Result<_, _>>().map_err(failed)?;
        Ok(Self {
            opening,
            rank,
            width: lines.width().unwrap_or(1),
            rows,
            text,
            _charge: charge,
        })
    }

    fn shape(&self) -> Header {
        let rows = self.rows.iter().sum();
        Header {
            dtype: self.opening.declared.map_or(DType::F64, |ty| ty.dtype),
            shape: match self.rank {
                1 => vec![rows],
                _ => vec![rows, self.width],
            },
        }
    }

    fn fill(&self, dtype: DType, out: &mut [u8]) -> Result<(), IoError> {
        let failed = |error: KernelError| self.opening.error(error);
        let lines = JsonArrays::new(&self.text, self.rank).map_err(failed)?;
        let row = self.width * dtype.size() as usize;
        let mut rest = out;
        let mut parts = Vec::new();
        for (part, rows) in self.rows.iter().enumerate() {
            let (first, others) = rest.split_at_mut(rows * row);
            parts.push((part, first));
            rest = others;
        }
        let filled = parts
            .into_par_iter()
            .map(|(part, out)| lines.fill(part, dtype, out));
        let filled: Vec<_> = filled.collect();
        // The error that comes first in the file.
        filled.into_iter().collect::<Result<_, _>>().map_err(failed)
    }
}

impl Opened for JsonlFile<'_> {
    fn header(&self) -> ValueType {
        self.shape().ty()
    }

    fn read(self: Box<Self>) -> Result<Data, OpenError> {
        let shape = self.shape();
        let dtype = shape.dtype;
        self.opening.tensor(&shape, |out| self.fill(dtype, out))
    }
}

fn write(data: &Data, out: &mut dyn Write) -> io::Result<()> {
    match data {
        Data::Column(column) => write_rows(column.rows, out, |row, out| {
            write_cell(&column.view(), row, out)
        }),
        Data::Table(table) => write_table(table, out),
        Data::Tensor(tensor) => write_tensor(tensor, out),
        Data::Text(_) => Err(io::ErrorKind::InvalidInput.into()),
    }
}

fn write_table(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let views: Vec<_> = table.columns.iter().map(Column::view).collect();
    let keys: Vec<_> = table.cells.keys().map(|name| json_string(name)).collect();
    write_rows(table.rows, out, |row, out| {
        for (at, (key, view)) in keys.iter().zip(&views).enumerate() {
            write!(out, "{}{key}:", if at == 0 { "{" } else { "," })?;
            write_cell(view, row, out)?;
        }
        write!(out, "{}", if keys.is_empty() { "{}" } else { "}" })
    })
}

/// A line for each index of the first axis: a number, or a list that may hold others; of a scalar
/// one number.
fn write_tensor(tensor: &Tensor, out: &mut dyn Write) -> io::Result<()> {
    let size = tensor.dtype.size() as usize;
    let inner = tensor.layout.shape.get(1..).unwrap_or_default();
    // How many elements the lists of each axis have, the outermost first.
    let lists: Vec<usize> = (0..inner.len())
        .map(|axis| inner[axis..].iter().product())
        .collect();
    let line = lists.first().copied().unwrap_or(1);
    if line == 0 {
        let empty = lists.iter().take_while(|list| **list == 0).count();
        let rows = tensor.layout.shape[0];
        return write_rows(rows, out, |_, out| {
            write!(out, "{}{}", "[".repeat(empty), "]".repeat(empty))
        });
    }
    let mut at = 0;
    tensor.for_each_block(&mut |block| {
        for bytes in block.chunks_exact(size) {
            let begins = lists.iter().filter(|list| at % **list == 0).count();
            if at % line != 0 {
                write!(out, ",")?;
            }
            write!(out, "{}", "[".repeat(begins))?;
            write_number(tensor.dtype, bytes, out)?;
            at += 1;
            let ends = lists.iter().filter(|list| at % **list == 0).count();
            write!(out, "{}", "]".repeat(ends))?;
            if at % line == 0 {
                writeln!(out)?;
            }
        }
        Ok(())
    })
}

fn write_rows(
    rows: usize,
    out: &mut dyn Write,
    mut write_row: impl FnMut(usize, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    (0..rows).try_for_each(|row| {
        write_row(row, out)?;
        writeln!(out)
    })
}

fn write_cell(view: &ColumnView<'_>, row: usize, out: &mut dyn Write) -> io::Result<()> {
    match view.cell.kind {
        _ if !view.is_valid(row) => write!(out, "null"),
        CellKind::Text => write!(out, "{}", json_string(view.text(view.extents()[row]))),
        CellKind::Element(dtype) => {
            let size = dtype.size() as usize;
            write_number(dtype, &view.cells[row * size..][..size], out)
        }
    }
}

/// JSON has no NaN, for which there is nothing, and no infinity.
fn write_number(dtype: DType, bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    match &*element(dtype, bytes) {
        "NaN" => write!(out, "null"),
        "inf" | "-inf" => Err(io::Error::other("JSON has no infinity")),
        number => write!(out, "{number}"),
    }
}

fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
