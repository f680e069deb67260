//! Tensors as columns: batches of their rows.

use std::io;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, make_array};
use arrow_buffer::MutableBuffer;
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use super::write::{Batches, Write, column_type, rows_at_once};
use crate::tensor::Tensor;

/// The rows of a tensor that has one axis or two; of a scalar, one row.
pub(super) struct TensorBatches<'a> {
    tensor: &'a Tensor,
    ty: DataType,
    schema: SchemaRef,
}

impl<'a> TensorBatches<'a> {
    /// Columns that are not named have the names of their positions.
    ///
    /// # Errors
    /// The tensor is of a dtype that columns do not have.
    pub(super) fn new(tensor: &'a Tensor, names: &[String]) -> io::Result<Self> {
        let ty = column_type(tensor.dtype)?;
        let width = tensor.layout.shape.iter().skip(1).product::<usize>();
        let name = |at: usize| names.get(at).cloned().unwrap_or_else(|| at.to_string());
        let fields = (0..width).map(|at| Field::new(name(at), ty.clone(), false));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Ok(Self { tensor, ty, schema })
    }
    fn batch(&self, rows: &[u8]) -> Result<RecordBatch, ArrowError> {
        let columns = (0..self.schema.fields().len()).map(|at| self.column(rows, at));
        RecordBatch::try_new(self.schema.clone(), columns.collect::<Result<_, _>>()?)
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

impl Batches for TensorBatches<'_> {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn rows_at_once(&self) -> usize {
        rows_at_once(self.row_bytes())
    }

    fn each(&self, write: Write<'_>) -> io::Result<()> {
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
}
