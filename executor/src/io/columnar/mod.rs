//! Files of columns: Parquet and Arrow. Both give Arrow arrays, a batch of rows at a time, of
//! which the chosen columns become one tensor; tensors become columns the same way back.

mod arrow;
mod batch;
mod columns;
mod element;
mod leaf;
mod parquet;

pub(super) use arrow::CODEC as ARROW;
pub(super) use parquet::CODEC as PARQUET;
