//! Tables with columns of different types, by name.

use csv::ByteRecord;

use super::{Dialect, Table, start, unreadable, wrong_fields};
use crate::op::KernelError;
use crate::rows::{PartColumn, PartSize, Rows};
use crate::types::{CellKind, TableType};

/// A text as a table of a type. Where the first line is a header, columns are found by name and
/// others are left out; else there are as many fields as columns, in order.
///
/// An empty field is a missing value, but for text that is never missing; so is one with the word
/// for that, such as `NA`.
#[derive(Debug)]
pub struct CsvRows<'a> {
    table: Table<'a>,
    ty: &'a TableType,
    /// How many fields a line has.
    fields: usize,
    /// The field of each column.
    places: Vec<usize>,
    /// What stands for a missing value beside an empty field.
    na: &'a str,
}

impl<'a> CsvRows<'a> {
    /// Finds the columns.
    ///
    /// # Errors
    /// The header lacks a column, or names it twice; the text is no table.
    pub fn new(
        text: &'a str,
        dialect: Dialect<'a>,
        na: &'a str,
        ty: &'a TableType,
    ) -> Result<Self, KernelError> {
        let table = Table::with(text, dialect);
        let first_line = table.first_line()?;
        let (fields, places) = match dialect.header {
            true => (first_line.len(), places(&first_line, ty)?),
            false => (ty.columns.len(), (0..ty.columns.len()).collect()),
        };
        Ok(Self {
            table,
            ty,
            fields,
            places,
            na,
        })
    }

    /// Calls `visit` with each row of a part.
    fn for_each_row(
        &self,
        part: usize,
        visit: &mut dyn FnMut(&ByteRecord) -> Result<(), KernelError>,
    ) -> Result<(), KernelError> {
        self.table.check_fields(part)?;
        let (mut reader, mut record) = (self.table.reader(part), ByteRecord::new());
        while reader.read_byte_record(&mut record).map_err(unreadable)? {
            let at_line = |error: KernelError| match error.line {
                None => error.at_line(self.table.line(part, start(&record))),
                Some(_) => error,
            };
            if record.len() != self.fields {
                return Err(at_line(wrong_fields(&record, self.fields)));
            }
            visit(&record).map_err(at_line)?;
        }
        Ok(())
    }
}

impl Rows for CsvRows<'_> {
    fn parts(&self) -> usize {
        self.table.parts()
    }

    fn measure(&self, part: usize) -> Result<PartSize, KernelError> {
        let mut size = PartSize {
            rows: 0,
            letters: vec![0; self.places.len()],
        };
        let cells = self.ty.columns.values().enumerate();
        let texts = cells.filter(|(_, cell)| cell.kind == CellKind::Text);
        let texts: Vec<_> = texts.map(|(at, _)| at).collect();
        self.for_each_row(part, &mut |record| {
            size.rows += 1;
            for at in &texts {
                size.letters[*at] += record.get(self.places[*at]).unwrap_or_default().len();
            }
            Ok(())
        })?;
        Ok(size)
    }

    fn fill(&self, part: usize, columns: &mut [PartColumn<'_>]) -> Result<(), KernelError> {
        let cells: Vec<_> = self.ty.columns.values().copied().collect();
        self.for_each_row(part, &mut |record| {
            for ((column, cell), place) in columns.iter_mut().zip(&cells).zip(&self.places) {
                let field = record.get(*place).unwrap_or_default();
                let written = field.trim_ascii();
                let is_missing = written.is_empty() || written == self.na.as_bytes();
                let pushed = match cell.kind {
                    CellKind::Text if !(is_missing && cell.is_optional) => {
                        column.push_text(field);
                        Ok(())
                    }
                    _ if is_missing => column.push_missing(),
                    _ => column.push_element(written),
                };
                pushed.map_err(|message| self.table.in_column(*place, &message))?;
            }
            Ok(())
        })
    }
}

/// Where the header has each column.
fn places(header: &[String], ty: &TableType) -> Result<Vec<usize>, KernelError> {
    let mut found = vec![None; ty.columns.len()];
    for (place, name) in header.iter().enumerate() {
        let Some(at) = ty.columns.get_index_of(name) else {
            continue;
        };
        if found[at].replace(place).is_some() {
            return Err(
                KernelError::new(format!("several columns are called `{name}`")).at_line(1),
            );
        }
    }
    let missing = found.iter().position(Option::is_none);
    match missing.and_then(|at| ty.columns.get_index(at)) {
        None => Ok(found.into_iter().flatten().collect()),
        Some((name, _)) => {
            let there = header[..header.len().min(20)].join(", ");
            let message = format!("there is no column `{name}`, only: {there}");
            Err(KernelError::new(message).at_line(1))
        }
    }
}
