//! Files of columns: Parquet and Arrow. Both give Arrow arrays, a batch of rows at a time, of
//! which the chosen columns become one tensor or a table; these become columns the same way back.

mod arrow;
mod batch;
mod cells;
mod columns;
mod element;
mod leaf;
mod parquet;
mod table;
mod write;

use arrow_array::RecordBatch;
use arrow_schema::Schema;

pub(super) use arrow::CODEC as ARROW;
pub(super) use parquet::CODEC as PARQUET;

use self::columns::TensorFile;
use self::table::TableFile;
use super::open::{OpenError, Opened, Opening};
use crate::error::IoError;

/// A file of columns whose header was read.
trait Source {
    /// Its columns.
    fn schema(&self) -> &Schema;

    /// How many rows it says it has.
    fn rows(&self) -> usize;

    /// Gives the columns at some positions, in the order of the file, batch by batch.
    /// `row_bytes` is what a row of them becomes.
    fn batches(&self, columns: &[usize], row_bytes: usize, take: Take<'_>)
    -> Result<(), OpenError>;
}

/// Takes a batch of rows.
type Take<'t> = &'t mut dyn FnMut(&RecordBatch) -> Result<(), IoError>;

/// Chooses the columns of a file that are to be read.
fn choose<'a>(
    opening: &'a Opening<'a>,
    source: Box<dyn Source + 'a>,
) -> Result<Box<dyn Opened + 'a>, OpenError> {
    Ok(match opening.table {
        None => Box::new(TensorFile::choose(opening, source)?),
        Some(ty) => Box::new(TableFile::choose(opening, source, ty)?),
    })
}

/// Visits the batches of some columns, each with the position of its first row in the file.
fn visit(
    opening: &Opening<'_>,
    source: &dyn Source,
    (columns, row_bytes): (&[usize], usize),
    fill: &mut dyn FnMut(&RecordBatch, usize) -> Result<(), IoError>,
) -> Result<(), OpenError> {
    let mut first = 0;
    source.batches(columns, row_bytes, &mut |batch| {
        opening.check_going()?;
        if batch.num_rows() > source.rows() - first {
            return Err(opening.error("it has more rows than it says"));
        }
        fill(batch, first)?;
        first += batch.num_rows();
        Ok(())
    })?;
    match first == source.rows() {
        true => Ok(()),
        false => Err(opening.error("it has fewer rows than it says").into()),
    }
}
