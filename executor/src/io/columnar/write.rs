//! Values as batches of rows for a writer.

use std::io;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use haul_ir::dtype::DType;
use haul_ir::format::{Column, Settings};

use super::batch::TensorBatches;
use super::cells::TableBatches;
use crate::tensor::Data;

/// Bytes that the rows of a batch have.
const BATCH: usize = 8 << 20;

/// Most rows of a batch: readers skip whole groups of rows of this order.
const MOST_ROWS: usize = 1 << 20;

/// The rows of a value.
pub(super) trait Batches {
    /// The columns.
    fn schema(&self) -> SchemaRef;

    /// Most rows of a batch.
    fn rows_at_once(&self) -> usize;

    /// Gives each batch to a writer.
    ///
    /// # Errors
    /// Those of the writer.
    fn each(&self, write: Write<'_>) -> io::Result<()>;
}

/// Writes a batch.
pub(super) type Write<'w> = &'w mut dyn FnMut(RecordBatch) -> io::Result<()>;

/// The rows of a tensor that has one axis or two, of a scalar one row; of a column, of a table.
///
/// # Errors
/// The value is of a type that columns do not have.
pub(super) fn batches<'a>(
    data: &'a Data,
    settings: &Settings,
) -> io::Result<Box<dyn Batches + 'a>> {
    let names = settings.columns("columns").iter().map(Column::to_string);
    let names: Vec<_> = names.collect();
    Ok(match data {
        Data::Tensor(tensor) => Box::new(TensorBatches::new(tensor, &names)?),
        Data::Column(column) => {
            let name = names.first().map_or("0", String::as_str);
            Box::new(TableBatches::new([name], std::slice::from_ref(column))?)
        }
        Data::Table(table) => {
            let names = table.cells.keys().map(String::as_str);
            Box::new(TableBatches::new(names, &table.columns)?)
        }
        Data::Text(_) => return Err(io::ErrorKind::InvalidInput.into()),
    })
}

/// Rows of so many bytes that a batch has.
pub(super) fn rows_at_once(row_bytes: usize) -> usize {
    (BATCH / row_bytes.max(1)).clamp(1, MOST_ROWS)
}

/// The type of columns of numbers.
///
/// # Errors
/// There is none.
pub(super) fn column_type(dtype: DType) -> io::Result<DataType> {
    Ok(match dtype {
        DType::Bool => DataType::Boolean,
        DType::U8 => DataType::UInt8,
        DType::U16 => DataType::UInt16,
        DType::U32 => DataType::UInt32,
        DType::U64 => DataType::UInt64,
        DType::I8 => DataType::Int8,
        DType::I16 => DataType::Int16,
        DType::I32 => DataType::Int32,
        DType::I64 => DataType::Int64,
        DType::F16 => DataType::Float16,
        DType::F32 => DataType::Float32,
        DType::F64 => DataType::Float64,
        DType::Bf16 | DType::C64 | DType::C128 => return Err(io::ErrorKind::InvalidInput.into()),
    })
}
