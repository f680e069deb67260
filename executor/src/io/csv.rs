//! Files of numbers between commas, or other characters; plain or gzipped.

use std::io::{self, Write};

use haul_ir::csv::{Columns, CsvRows, Dialect, Table};
use haul_ir::dtype::DType;
use haul_ir::format::{CSV, Column, Settings};
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
use crate::table;
use crate::tensor::{Data, Tensor};

pub(super) static CODEC: Codec = Codec {
    format: &CSV,
    open: Some(|opening| match opening.table {
        None => Ok(Box::new(CsvFile::open(opening)?)),
        Some(ty) => {
            let (text, charge) = read_text(opening)?;
            let na = opening.settings.text("na").unwrap_or_default();
            let dialect = dialect(opening.settings);
            let rows = move |visit: Visit<'_>| visit(&CsvRows::new(&text, dialect, na, ty)?);
            Ok(Box::new(RowsFile::open(
                opening,
                ty,
                Box::new(rows),
                charge,
            )?))
        }
    }),
    write: Some(|data, file, out| write_text(file, out, |out| write(data, &file.settings, out))),
};

/// A file that was read as text and measured.
struct CsvFile<'a> {
    opening: &'a Opening<'a>,
    text: String,
    /// Fields of each line.
    fields: usize,
    /// Positions of those to take.
    taken: Vec<usize>,
    /// Rows of each part of the text.
    rows: Vec<usize>,
    /// Rows that are passed over.
    skipped: usize,
    shape: Header,
    /// For the text.
    _charge: Charge,
}

impl<'a> CsvFile<'a> {
    fn open(opening: &'a Opening<'a>) -> Result<Self, OpenError> {
        let (text, charge) = read_text(opening)?;
        let failed = |error: KernelError| opening.error(error);
        let table = Table::with(&text, dialect(opening.settings));
        let first_line = table.first_line().map_err(failed)?;
        let taken = taken(&first_line, opening.settings).map_err(|e| opening.error(e))?;
        let dtype = opening.declared.map_or(DType::F64, |ty| ty.dtype);
        let columns = Columns {
            fields: first_line.len(),
            taken: Some(&taken),
        };
        let counted = count(&table, columns, dtype, opening)?;
        let rows: Vec<usize> = counted.iter().map(|[good, _]| *good).collect();
        let mut shape = vec![rows.iter().sum()];
        if opening.settings.text("column").is_none() {
            shape.push(taken.len());
        }
        Ok(Self {
            opening,
            fields: first_line.len(),
            taken,
            rows,
            skipped: counted.iter().map(|[_, bad]| bad).sum(),
            shape: Header { dtype, shape },
            text,
            _charge: charge,
        })
    }

    fn fill(&self, out: &mut [u8]) -> Result<(), IoError> {
        let table = Table::with(&self.text, dialect(self.opening.settings));
        let columns = Columns {
            fields: self.fields,
            taken: Some(&self.taken),
        };
        let row = self.taken.len() * self.shape.dtype.size() as usize;
        let mut rest = out;
        let mut parts = Vec::new();
        for (part, rows) in self.rows.iter().enumerate() {
            let (first, others) = rest.split_at_mut((rows * row).min(rest.len()));
            parts.push((part, first));
            rest = others;
        }
        let filled = parts.into_par_iter().map(|(part, out)| {
            self.opening.check_going()?;
            let filled = table.fill(part, columns, self.shape.dtype, out);
            filled.map_err(|error| self.opening.error(error))
        });
        let filled: Vec<_> = filled.collect();
        // The error that comes first in the file.
        filled.into_iter().collect()
    }
}

impl Opened for CsvFile<'_> {
    fn header(&self) -> ValueType {
        self.shape.ty()
    }

    fn skipped(&self) -> usize {
        self.skipped
    }

    fn read(self: Box<Self>) -> Result<Data, OpenError> {
        self.opening.tensor(&self.shape, |out| self.fill(out))
    }
}

/// Rows of each part that can be read, and rows that are passed over.
fn count(
    table: &Table<'_>,
    columns: Columns<'_>,
    dtype: DType,
    opening: &Opening<'_>,
) -> Result<Vec<[usize; 2]>, IoError> {
    let skips = dialect(opening.settings).skip_bad;
    let counted = (0..table.parts()).into_par_iter().map(|part| {
        opening.check_going()?;
        let counted = match skips {
            true => table.good_and_bad(part, columns, dtype),
            false => table.rows(part).map(|rows| [rows, 0]),
        };
        counted.map_err(|error| opening.error(error))
    });
    let counted: Vec<_> = counted.collect();
    counted.into_iter().collect()
}

/// How the author says that the table is written.
fn dialect(settings: &Settings) -> Dialect<'_> {
    let usual = Dialect::default();
    Dialect {
        header: settings.flag("header").unwrap_or(usual.header),
        delimiter: settings.char("delimiter").unwrap_or(usual.delimiter),
        decimal: settings.char("decimal").unwrap_or(usual.decimal),
        missing: settings.text("missing"),
        skip_bad: settings.word("bad_rows") == Some("Skip"),
    }
}

/// Positions of the columns to take: all, or those that are named.
fn taken(first_line: &[String], settings: &Settings) -> Result<Vec<usize>, String> {
    let has_names = dialect(settings).header;
    let without_names = || Err::<usize, _>("columns have no names without a header".to_owned());
    let columns = settings.columns("columns");
    match settings.text("column") {
        Some(_) if !has_names => return without_names().map(|place| vec![place]),
        Some(column) => return Ok(vec![named(first_line, column)?]),
        None if columns.is_empty() => return Ok((0..first_line.len()).collect()),
        None => {}
    }
    let find = |column: &Column| match column {
        Column::Position(position) => match usize::try_from(*position) {
            Ok(place) if place < first_line.len() => Ok(place),
            _ => Err(format!(
                "there is no column {position}: there are {}, and the first is 0",
                first_line.len()
            )),
        },
        Column::Name(_) if !has_names => without_names(),
        Column::Name(name) => named(first_line, name),
    };
    columns.iter().map(find).collect()
}

fn named(first_line: &[String], column: &str) -> Result<usize, String> {
    let places = first_line.iter().enumerate();
    let places = places.filter(|(_, name)| *name == column);
    match places.map(|(place, _)| place).collect::<Vec<_>>()[..] {
        [place] => Ok(place),
        [] => Err(format!(
            "there is no column `{column}`, only: {}",
            first_line[..first_line.len().min(20)].join(", ")
        )),
        _ => Err(format!("several columns are called `{column}`")),
    }
}

fn write(data: &Data, settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    match data {
        Data::Column(column) => {
            let names = settings.columns("columns").iter().map(Column::to_string);
            let names: Vec<_> = names.collect();
            write_columns(std::slice::from_ref(column), &names, settings, out)
        }
        Data::Table(table) => {
            let names: Vec<_> = table.cells.keys().cloned().collect();
            write_columns(&table.columns, &names, settings, out)
        }
        Data::Tensor(_) | Data::Text(_) => write_tensor(data.tensor()?, settings, out),
    }
}

/// Writes a row for each index of the first axis; a scalar or a vector has one number in each.
/// Numbers have as many digits as reading them back exactly takes.
fn write_tensor(tensor: &Tensor, settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    let columns = settings.columns("columns");
    let Dialect {
        delimiter, decimal, ..
    } = dialect(settings);
    let delimiter = char::from(delimiter).to_string();
    let width = tensor.layout.shape.iter().skip(1).product::<usize>();
    if !columns.is_empty() {
        let names = columns
            .iter()
            .map(|name| quoted(&name.to_string(), &delimiter));
        writeln!(out, "{}", names.collect::<Vec<_>>().join(&delimiter))?;
    }
    let size = tensor.dtype.size() as usize;
    let mut column = 0;
    tensor.for_each_block(&mut |block| {
        for bytes in block.chunks_exact(size) {
            column += 1;
            let end = if column == width { "\n" } else { &delimiter };
            let number = element(tensor.dtype, bytes);
            match decimal {
                b'.' => write!(out, "{number}{end}")?,
                _ => write!(
                    out,
                    "{}{end}",
                    number.replace('.', &char::from(decimal).to_string())
                )?,
            }
            column %= width;
        }
        Ok(())
    })
}

/// Writes a row of cells for each row of columns, after one with their names, where they have any.
/// A missing cell is empty; text that reading would take for something else is in quotes.
fn write_columns(
    columns: &[table::Column],
    names: &[String],
    settings: &Settings,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Dialect {
        delimiter, decimal, ..
    } = dialect(settings);
    let delimiter = &char::from(delimiter).to_string();
    if !names.is_empty() {
        let names: Vec<_> = names.iter().map(|name| quoted(name, delimiter)).collect();
        writeln!(out, "{}", names.join(delimiter))?;
    }
    let decimal = char::from(decimal).to_string();
    let views: Vec<_> = columns.iter().map(table::Column::view).collect();
    let is_single = views.len() == 1;
    for row in 0..columns.first().map_or(0, |column| column.rows) {
        for (at, view) in views.iter().enumerate() {
            let cell = match view.cell.kind {
                _ if !view.is_valid(row) => String::new(),
                CellKind::Element(dtype) => {
                    let size = dtype.size() as usize;
                    element(dtype, &view.cells[row * size..][..size]).replace('.', &decimal)
                }
                CellKind::Text => quoted(view.text(view.extents()[row]), delimiter),
            };
            // A line of nothing would be no row.
            let cell = if is_single && cell.is_empty() {
                "\"\""
            } else {
                &cell
            };
            write!(out, "{}{cell}", if at == 0 { "" } else { delimiter })?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn quoted(text: &str, delimiter: &str) -> String {
    match text.contains(['"', '\n', '\r']) || text.contains(delimiter) || text.trim() != text {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
