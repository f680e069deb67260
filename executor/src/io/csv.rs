//! Files of comma-separated numbers, plain or gzipped.

use std::io::{self, Read, Write};

use flate2::read::MultiGzDecoder;
use haul_ir::csv::{Columns, Table};
use haul_ir::dtype::DType;
use haul_ir::format::{CSV, Column, Settings};
use haul_ir::op::KernelError;
use haul_ir::types::ValueType;
use rayon::prelude::*;

use super::Codec;
use super::open::{Header, OpenError, Opened, Opening};
use super::text::{decode, element, read_charged};
use crate::error::IoError;
use crate::memory::Charge;
use crate::tensor::{Data, Tensor};

pub(super) static CODEC: Codec = Codec {
    format: &CSV,
    open: Some(|opening| Ok(Box::new(CsvFile::open(opening)?))),
    write: Some(|data, settings, out| match data {
        Data::Tensor(tensor) => write(tensor, settings, out),
        Data::Text(_) => Err(io::ErrorKind::InvalidInput.into()),
    }),
};

/// A file that was read as text and measured.
struct CsvFile<'a> {
    opening: &'a Opening<'a>,
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

impl<'a> CsvFile<'a> {
    fn open(opening: &'a Opening<'a>) -> Result<Self, OpenError> {
        let bytes = opening.bytes()?;
        let length = bytes.length;
        let is_gzipped = opening
            .path
            .extension()
            .is_some_and(|ending| ending == "gz");
        let (bytes, charge) = match is_gzipped {
            true => read_charged(&mut MultiGzDecoder::new(bytes), length, opening)?,
            false => read_charged(&mut bytes.take(length), length, opening)?,
        };
        let text = decode(bytes, opening)?;
        let failed = |error: KernelError| opening.error(error);
        let header = opening.settings.flag("header").unwrap_or(true);
        let table = Table::new(&text, header);
        let first_line = table.first_line().map_err(failed)?;
        let rows = (0..table.parts())
            .into_par_iter()
            .map(|part| table.rows(part));
        let rows: Vec<_> = rows.collect();
        let rows = rows.into_iter().collect::<Result<_, _>>().map_err(failed)?;
        let columns = opening.settings.columns("columns");
        Ok(Self {
            opening,
            header,
            fields: first_line.len(),
            taken: taken(&first_line, columns, header).map_err(|e| opening.error(e))?,
            rows,
            dtype: opening.declared.map_or(DType::F64, |ty| ty.dtype),
            text,
            _charge: charge,
        })
    }

    fn shape(&self) -> Header {
        Header {
            dtype: self.dtype,
            shape: vec![self.rows.iter().sum(), self.taken.len()],
        }
    }

    fn fill(&self, out: &mut [u8]) -> Result<(), IoError> {
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
        first.map_or(Ok(()), |error| Err(self.opening.error(error)))
    }
}

impl Opened for CsvFile<'_> {
    fn header(&self) -> ValueType {
        self.shape().ty()
    }

    fn read(self: Box<Self>) -> Result<Data, OpenError> {
        self.opening.tensor(&self.shape(), |out| self.fill(out))
    }
}

/// Positions of the columns to take: all, or those that are named.
fn taken(first_line: &[String], columns: &[Column], header: bool) -> Result<Vec<usize>, String> {
    if columns.is_empty() {
        return Ok((0..first_line.len()).collect());
    }
    let find = |column: &Column| match column {
        Column::Position(position) => match usize::try_from(*position) {
            Ok(place) if place < first_line.len() => Ok(place),
            _ => Err(format!(
                "there is no column {position}: there are {}, and the first is 0",
                first_line.len()
            )),
        },
        Column::Name(_) if !header => Err("columns have no names without a header".into()),
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

/// Writes a row for each index of the first axis; a scalar or a vector has one number in each.
/// Numbers have as many digits as reading them back exactly takes.
fn write(tensor: &Tensor, settings: &Settings, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let columns = settings.columns("columns");
    let width = tensor.layout.shape.iter().skip(1).product::<usize>();
    if !columns.is_empty() {
        let names: Vec<_> = columns
            .iter()
            .map(|name| quoted(&name.to_string()))
            .collect();
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

fn quoted(name: &str) -> String {
    match name.contains(['"', ',', '\n', '\r']) || name.trim() != name {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_owned(),
    }
}
