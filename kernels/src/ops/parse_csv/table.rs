use csv::{ByteRecord, Reader, ReaderBuilder};
use half::{bf16, f16};
use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::op::{Attrs, KernelError};
use haul_ir::tensor::{Bool, ViewMut};
use rayon::prelude::*;

use super::declared;
use super::field::Field;

/// Bytes of text that one task parses.
const CHUNK: usize = 1 << 20;

/// The shape of the table, where the declared type agrees.
pub(super) fn measure(text: &str, attrs: &Attrs) -> Result<Vec<usize>, KernelError> {
    let ty = declared(attrs).map_err(|error| KernelError::new(error.message))?;
    let table = Table::new(text, attrs);
    let rows: usize = table.rows()?.iter().sum();
    check_size(&ty.shape[0], rows, "rows")?;
    let [_, columns] = &ty.shape[..] else {
        return Ok(vec![rows]);
    };
    // The number of fields is checked line by line; the first line speaks for a symbol.
    let columns = match columns.as_u64() {
        Some(columns) => columns as usize,
        None => table.first_line()?.len(),
    };
    Ok(vec![rows, columns])
}

/// Parses every field.
pub(super) fn fill(text: &str, attrs: &Attrs, output: &mut ViewMut<'_>) -> Result<(), KernelError> {
    let table = Table::new(text, attrs);
    match output.dtype {
        DType::Bool => table.fill::<Bool>(output),
        DType::U8 => table.fill::<u8>(output),
        DType::U16 => table.fill::<u16>(output),
        DType::U32 => table.fill::<u32>(output),
        DType::U64 => table.fill::<u64>(output),
        DType::I8 => table.fill::<i8>(output),
        DType::I16 => table.fill::<i16>(output),
        DType::I32 => table.fill::<i32>(output),
        DType::I64 => table.fill::<i64>(output),
        DType::F16 => table.fill::<f16>(output),
        DType::Bf16 => table.fill::<bf16>(output),
        DType::F32 => table.fill::<f32>(output),
        DType::F64 => table.fill::<f64>(output),
        DType::C64 | DType::C128 => Err(KernelError::new("a table holds no complex numbers")),
    }
}

fn check_size(declared: &Expr, found: usize, what: &str) -> Result<(), KernelError> {
    match declared.as_u64() {
        Some(size) if size != found as u64 => {
            let message = format!("the table has {found} {what}, the type says {size}");
            Err(KernelError::new(message))
        }
        _ => Ok(()),
    }
}

/// Text cut at ends of lines into parts that are parsed on their own.
struct Table<'a> {
    parts: Vec<&'a str>,
    header: bool,
}

impl<'a> Table<'a> {
    fn new(text: &'a str, attrs: &Attrs) -> Self {
        Self {
            parts: parts(text),
            header: attrs.flag("header"),
        }
    }

    /// How many records each part has, the header left out.
    fn rows(&self) -> Result<Vec<usize>, KernelError> {
        let counts = (0..self.parts.len()).into_par_iter().map(|part| {
            let (mut reader, mut record) = (self.reader(part), ByteRecord::new());
            let mut rows = 0;
            while reader.read_byte_record(&mut record).map_err(unreadable)? {
                rows += 1;
            }
            Ok(rows)
        });
        first_error(counts.collect())
    }

    /// The names, or the first record.
    fn first_line(&self) -> Result<ByteRecord, KernelError> {
        let mut record = ByteRecord::new();
        if let Some(part) = self.parts.first() {
            let mut reader = reader(part, false);
            reader.read_byte_record(&mut record).map_err(unreadable)?;
        }
        Ok(record)
    }

    fn fill<T: Field>(&self, output: &mut ViewMut<'_>) -> Result<(), KernelError> {
        let columns = output.shape.get(1).copied().unwrap_or(1);
        let names = self.first_line()?;
        if self.header && names.len() != columns {
            let line = self.line(0, start(&names));
            return Err(wrong_columns(&names, columns).at_line(line));
        }
        let mut rest = output.elements::<T>();
        let mut tasks = Vec::new();
        for (part, rows) in self.rows()?.into_iter().enumerate() {
            let elements = (rows * columns).min(rest.len());
            let (first, others) = rest.split_at_mut(elements);
            tasks.push((part, first));
            rest = others;
        }
        let results = tasks.into_par_iter().map(|(part, output)| {
            let found = self.fill_part(part, columns, output);
            found.map_err(|error| self.placed(error, part, &names))
        });
        first_error(results.collect()).map(drop)
    }

    fn fill_part<T: Field>(
        &self,
        part: usize,
        columns: usize,
        output: &mut [T],
    ) -> Result<(), Bad> {
        let (mut reader, mut record) = (self.reader(part), ByteRecord::new());
        let mut rows = output.chunks_exact_mut(columns.max(1));
        while reader.read_byte_record(&mut record).map_err(|error| Bad {
            error: unreadable(error),
            start: 0,
            column: None,
        })? {
            let bad = |error, column| Bad {
                error,
                start: start(&record),
                column,
            };
            if record.len() != columns {
                return Err(bad(wrong_columns(&record, columns), None));
            }
            let row = rows.next().unwrap_or_default();
            for (column, (element, field)) in row.iter_mut().zip(&record).enumerate() {
                *element = T::parse(field.trim_ascii())
                    .map_err(|message| bad(KernelError::new(message), Some(column)))?;
            }
        }
        Ok(())
    }

    fn reader(&self, part: usize) -> Reader<&'a [u8]> {
        reader(self.parts[part], self.header && part == 0)
    }

    /// The error with its column's name and the line in the whole text.
    fn placed(&self, bad: Bad, part: usize, names: &ByteRecord) -> KernelError {
        let mut error = bad.error;
        if let Some(column) = bad.column {
            let name = names.get(column).filter(|_| self.header);
            let name = name.map(|name| format!(" `{}`", String::from_utf8_lossy(name)));
            let (number, name) = (column + 1, name.unwrap_or_default());
            error.message = format!("column {number}{name}: {}", error.message);
        }
        error.at_line(self.line(part, bad.start))
    }

    /// The number of the line that holds the record which starts at a byte of a part, or after
    /// the empty lines there.
    fn line(&self, part: usize, start: usize) -> u64 {
        let text = self.parts[part];
        let record = text[start..].trim_start_matches(['\r', '\n']);
        let before = &text[..text.len() - record.len()];
        let earlier = self.parts[..part].iter().copied();
        let lines: usize = earlier.chain([before]).map(line_ends).sum();
        lines as u64 + 1
    }
}

/// What is wrong in one part of a text, and where the record starts.
struct Bad {
    error: KernelError,
    start: usize,
    column: Option<usize>,
}

/// A quote may hold ends of lines: a text with one is parsed in one piece.
fn parts(text: &str) -> Vec<&str> {
    if text.contains('"') {
        return vec![text];
    }
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let from = CHUNK.min(rest.len());
        let end = rest.as_bytes()[from..]
            .iter()
            .position(|byte| *byte == b'\n');
        let (part, others) = rest.split_at(end.map_or(rest.len(), |end| from + end + 1));
        parts.push(part);
        rest = others;
    }
    parts
}

fn reader(text: &str, header: bool) -> Reader<&[u8]> {
    ReaderBuilder::new()
        .has_headers(header)
        .flexible(true)
        .from_reader(text.as_bytes())
}

/// Where a record starts, counted in bytes; the empty lines before it count as part of it.
fn start(record: &ByteRecord) -> usize {
    record
        .position()
        .map_or(0, |position| position.byte() as usize)
}

/// Ends of lines of any system.
fn line_ends(text: &str) -> usize {
    text.matches('\n').count() + text.matches('\r').count() - text.matches("\r\n").count()
}

fn wrong_columns(record: &ByteRecord, columns: usize) -> KernelError {
    let found = match record.len() {
        1 => "1 field".to_owned(),
        fields => format!("{fields} fields"),
    };
    KernelError::new(format!("has {found}, the type says {columns}"))
}

fn unreadable(error: csv::Error) -> KernelError {
    KernelError::new(error.to_string())
}

/// All results, or the error that comes first in the text.
fn first_error<T>(results: Vec<Result<T, KernelError>>) -> Result<Vec<T>, KernelError> {
    results.into_iter().collect()
}
