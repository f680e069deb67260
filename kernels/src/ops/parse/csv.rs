use haul_ir::column::{DataMut, Measured};
use haul_ir::csv::{Columns, CsvRows, Dialect, Table};
use haul_ir::op::{DataCall, KernelError};
use haul_ir::tensor::ViewMut;
use haul_ir::types::{TableType, TensorType, ValueType};
use rayon::prelude::*;

use super::table::check_size;
use super::{declared, table};

/// The sizes of what is read, where the declared type agrees.
pub(super) fn measure(call: &DataCall<'_, '_>) -> Result<Vec<Measured>, KernelError> {
    let (text, header) = (call.text(0), call.attrs.flag("header"));
    match declared(call.attrs).map_err(|error| KernelError::new(error.message))? {
        ValueType::Table(ty) => table::measure(&rows_of(call, ty)?, ty),
        ValueType::Tensor(ty) => {
            let shape = shape(&Table::new(text, header), ty)?;
            Ok(vec![Measured::plain(shape)])
        }
        other => Err(KernelError::new(format!("{other} is not read"))),
    }
}

/// Parses every field.
pub(super) fn fill(
    call: &DataCall<'_, '_>,
    outputs: &mut [DataMut<'_>],
) -> Result<(), KernelError> {
    let (text, header) = (call.text(0), call.attrs.flag("header"));
    let ty = declared(call.attrs).map_err(|error| KernelError::new(error.message))?;
    match (ty, &mut outputs[0]) {
        (ValueType::Table(ty), output) => table::fill(&rows_of(call, ty)?, output),
        (_, DataMut::Tensor(output)) => fill_tensor(&Table::new(text, header), output),
        _ => Err(KernelError::new("there is no space for a tensor")),
    }
}

fn rows_of<'a>(call: &'a DataCall<'_, 'a>, ty: &'a TableType) -> Result<CsvRows<'a>, KernelError> {
    let dialect = Dialect {
        header: call.attrs.flag("header"),
        ..Dialect::default()
    };
    CsvRows::new(
        call.text(0),
        dialect,
        call.attrs.quoted("na").unwrap_or_default(),
        ty,
    )
}

fn shape(table: &Table<'_>, ty: &TensorType) -> Result<Vec<usize>, KernelError> {
    let rows: usize = rows(table)?.iter().sum();
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

fn fill_tensor(table: &Table<'_>, output: &mut ViewMut<'_>) -> Result<(), KernelError> {
    let columns = Columns {
        fields: output.shape.get(1).copied().unwrap_or(1),
        taken: None,
    };
    let dtype = output.dtype;
    let row = columns.fields * dtype.size() as usize;
    let mut rest = &mut output.bytes[..];
    let mut parts = Vec::new();
    for (part, rows) in rows(table)?.into_iter().enumerate() {
        let (first, others) = rest.split_at_mut((rows * row).min(rest.len()));
        parts.push((part, first));
        rest = others;
    }
    let filled = parts
        .into_par_iter()
        .map(|(part, output)| table.fill(part, columns, dtype, output));
    // The error that comes first in the text.
    let filled: Vec<_> = filled.collect();
    filled.into_iter().collect()
}

/// The number of rows of each part.
fn rows(table: &Table<'_>) -> Result<Vec<usize>, KernelError> {
    let rows = (0..table.parts()).into_par_iter();
    let rows: Vec<_> = rows.map(|part| table.rows(part)).collect();
    rows.into_iter().collect()
}
