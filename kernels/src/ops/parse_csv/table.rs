use haul_ir::csv::{Columns, Table};
use haul_ir::expr::Expr;
use haul_ir::op::{Attrs, KernelError};
use haul_ir::tensor::ViewMut;
use rayon::prelude::*;

use super::declared;

/// The shape of the table, where the declared type agrees.
pub(super) fn measure(text: &str, attrs: &Attrs) -> Result<Vec<usize>, KernelError> {
    let ty = declared(attrs).map_err(|error| KernelError::new(error.message))?;
    let table = Table::new(text, attrs.flag("header"));
    let rows: usize = rows(&table)?.iter().sum();
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
    let table = Table::new(text, attrs.flag("header"));
    let columns = Columns {
        fields: output.shape.get(1).copied().unwrap_or(1),
        taken: None,
    };
    let dtype = output.dtype;
    let row = columns.fields * dtype.size() as usize;
    let mut rest = &mut output.bytes[..];
    let mut parts = Vec::new();
    for (part, rows) in rows(&table)?.into_iter().enumerate() {
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

fn check_size(declared: &Expr, found: usize, what: &str) -> Result<(), KernelError> {
    match declared.as_u64() {
        Some(size) if size != found as u64 => {
            let message = format!("the table has {found} {what}, the type says {size}");
            Err(KernelError::new(message))
        }
        _ => Ok(()),
    }
}
