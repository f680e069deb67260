//! Columns of cells as batches of rows.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, make_array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use haul_ir::column::ColumnView;
use haul_ir::dtype::DType;
use haul_ir::types::CellKind;

use super::write::{Batches, Write, column_type, rows_at_once};
use crate::table::Column;

/// Letters of a column after which a batch ends: its offsets are of 32 bits.
const MOST_LETTERS: u64 = 1 << 30;

/// The rows of columns of one length.
pub(super) struct TableBatches<'a> {
    schema: SchemaRef,
    columns: Vec<ColumnView<'a>>,
    rows: usize,
    row_bytes: usize,
}

impl<'a> TableBatches<'a> {
    /// # Errors
    /// A column holds what files do not have.
    pub(super) fn new<'n>(
        names: impl IntoIterator<Item = &'n str>,
        columns: &'a [Column],
    ) -> io::Result<Self> {
        let mut fields = Vec::new();
        for (name, column) in names.into_iter().zip(columns) {
            let ty = match column.cell.kind {
                CellKind::Text => DataType::Utf8,
                CellKind::Element(dtype) => column_type(dtype)?,
            };
            fields.push(Field::new(name, ty, column.cell.is_optional));
        }
        let rows = columns.first().map_or(0, |column| column.rows);
        let bytes: u64 = columns.iter().map(Column::bytes).sum();
        Ok(Self {
            schema: Arc::new(Schema::new(fields)),
            columns: columns.iter().map(Column::view).collect(),
            rows,
            row_bytes: bytes as usize / rows.max(1),
        })
    }

    /// Where the batch ends that begins with a row.
    fn end(&self, start: usize) -> usize {
        let most = self.rows.min(start + self.rows_at_once());
        let of_text = |column: &&ColumnView<'_>| column.cell.kind == CellKind::Text;
        let ends = self.columns.iter().filter(of_text).map(|column| {
            let mut letters = 0;
            let extents = column.extents()[start..most].iter();
            let fitting = extents.take_while(|extent| {
                letters += extent.len;
                letters <= MOST_LETTERS
            });
            start + fitting.count().max(1)
        });
        ends.min().unwrap_or(most)
    }
}

impl Batches for TableBatches<'_> {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn rows_at_once(&self) -> usize {
        rows_at_once(self.row_bytes)
    }

    fn each(&self, write: Write<'_>) -> io::Result<()> {
        let mut start = 0;
        while start < self.rows {
            let end = self.end(start);
            let arrays = self.columns.iter().map(|column| array(column, start..end));
            let arrays = arrays.collect::<Result<_, _>>();
            let batch = arrays.and_then(|arrays| RecordBatch::try_new(self.schema(), arrays));
            write(batch.map_err(io::Error::other)?)?;
            start = end;
        }
        Ok(())
    }
}

/// Some rows of a column.
fn array(column: &ColumnView<'_>, rows: Range<usize>) -> Result<ArrayRef, ArrowError> {
    let nulls = column.valid.map(|valid| {
        let there = valid[rows.clone()].iter().map(|valid| bool::from(*valid));
        NullBuffer::new(there.collect::<BooleanBuffer>())
    });
    let CellKind::Element(dtype) = column.cell.kind else {
        return texts(column, rows);
    };
    let size = dtype.size() as usize;
    let cells = &column.cells[rows.start * size..rows.end * size];
    if dtype == DType::Bool {
        let truths = cells.iter().map(|cell| *cell != 0);
        return Ok(Arc::new(BooleanArray::new(truths.collect(), nulls)));
    }
    let ty =
        column_type(dtype).map_err(|error| ArrowError::InvalidArgumentError(error.to_string()))?;
    let data = ArrayData::builder(ty)
        .len(rows.len())
        .nulls(nulls)
        .add_buffer(Buffer::from_slice_ref(cells));
    Ok(make_array(data.build()?))
}

fn texts(column: &ColumnView<'_>, rows: Range<usize>) -> Result<ArrayRef, ArrowError> {
    let mut builder = StringBuilder::new();
    for row in rows {
        let text = column.text(column.extents()[row]);
        match column.is_valid(row) {
            true if i32::try_from(text.len()).is_err() => {
                let message = format!("the text of row {row} is longer than 2 GiB");
                return Err(ArrowError::InvalidArgumentError(message));
            }
            true => builder.append_value(text),
            false => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}
