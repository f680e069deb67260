//! Tensors as columns: batches of their rows.

use std::io;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, make_array};
use arrow_buffer::MutableBuffer;
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use haul_ir::dtype::DType;
use haul_ir::format::Settings;

use crate::tensor::{Data, Tensor};

/// Bytes that the rows of a batch have.
const BATCH: usize = 8 << 20;

/// Most rows of a batch: readers skip whole groups of rows of this order.
const MOST_ROWS: usize = 1 << 20;

/// The rows of a tensor that has one axis or two; of a scalar, one row.
pub(super) struct Batches<'a> {
    tensor: &'a Tensor,
    ty: DataType,
    schema: SchemaRef,
}

impl<'a> Batches<'a> {
    /// Names the columns as the settings do, or else by their positions.
    ///
    /// # Errors
    /// The value is no tensor, or of a dtype that columns do not have.
    pub(super) fn new(data: &'a Data, settings: &Settings) -> io::Result<Self> {
        let Data::Tensor(tensor) = data else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let ty = column_type(tensor.dtype).ok_or(io::ErrorKind::InvalidInput)?;
        let width = tensor.layout.shape.iter().skip(1).product::<usize>();
        let names = settings.columns("columns");
        let name = |at| {
            names
                .get(at)
                .map_or_else(|| format!("{at}"), ToString::to_string)
        };
        let fields = (0..width).map(|at| Field::new(name(at), ty.clone(), false));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Ok(Self { tensor, ty, schema })
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Rows of each batch; the last may have less.
    pub(super) fn rows_at_once(&self) -> usize {
        (BATCH / self.row_bytes().max(1)).clamp(1, MOST_ROWS)
    }

    /// Gives each batch to a writer.
    ///
    /// # Errors
    /// Those of the writer.
    pub(super) fn each(
        &self,
        mut write: impl FnMut(RecordBatch) -> io::Result<()>,
    ) -> io::Result<()> {
        let full = self.rows_at_once() * self.row_bytes();
        let mut rows: Vec<u8> = Vec::new();
        self.tensor
            .for_each_block(&mut |mut block| -> io::Result<()> {
                while !block.is_empty() {
                    let taken = block.len().min(full - rows.len());
                    let (first, rest) = block.split_at_mut(taken);
                    rows.extend_from_slice(first);
                    block = rest;
                    if rows.len() == full {
                        write(self.batch(&rows).map_err(io::Error::other)?)?;
                        rows.clear();
                    }
                }
                Ok(())
            })?;
        match rows.is_empty() {
            true => Ok(()),
            false => write(self.batch(&rows).map_err(io::Error::other)?),
        }
    }

    fn batch(&self, rows: &[u8]) -> Result<RecordBatch, ArrowError> {
        let columns = (0..self.schema.fields().len()).map(|at| self.column(rows, at));
        RecordBatch::try_new(self.schema(), columns.collect::<Result<_, _>>()?)
    }

    /// One number of each row.
    fn column(&self, rows: &[u8], at: usize) -> Result<ArrayRef, ArrowError> {
        let size = self.tensor.dtype.size() as usize;
        let numbers = rows.chunks_exact(self.row_bytes());
        let numbers = numbers.map(|row| &row[at * size..][..size]);
        if self.ty == DataType::Boolean {
            let truths: Vec<_> = numbers.map(|number| number[0] != 0).collect();
            return Ok(Arc::new(BooleanArray::from(truths)));
        }
        let length = numbers.len();
        let mut buffer = MutableBuffer::new(length * size);
        numbers.for_each(|number| buffer.extend_from_slice(number));
        let data = ArrayData::builder(self.ty.clone())
            .len(length)
            .add_buffer(buffer.into());
        Ok(make_array(data.build()?))
    }

    fn row_bytes(&self) -> usize {
        self.schema.fields().len() * self.tensor.dtype.size() as usize
    }
}

fn column_type(dtype: DType) -> Option<DataType> {
    Some(match dtype {
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
        DType::Bf16 | DType::C64 | DType::C128 => return None,
    })
}
