//! Reading tables, part by part at once.

use haul_ir::column::{DataMut, Measured};
use haul_ir::expr::Expr;
use haul_ir::op::KernelError;
use haul_ir::rows::{PartSize, Rows, cut, total};
use haul_ir::types::TableType;
use rayon::prelude::*;

/// How large a table is, where the declared type agrees.
pub(super) fn measure(rows: &dyn Rows, ty: &TableType) -> Result<Vec<Measured>, KernelError> {
    let measured = total(ty, &parts(rows)?);
    check_size(&ty.rows, measured.shape[0], "rows")?;
    Ok(vec![measured])
}

/// Reads every cell.
pub(super) fn fill(rows: &dyn Rows, output: &mut DataMut<'_>) -> Result<(), KernelError> {
    let DataMut::Table(columns) = output else {
        return Err(KernelError::new("there is no space for a table"));
    };
    let parts = parts(rows)?;
    let filled: Vec<_> = cut(columns, &parts)
        .into_par_iter()
        .enumerate()
        .map(|(part, mut columns)| rows.fill(part, &mut columns))
        .collect();
    // The error that comes first in the text.
    filled.into_iter().collect()
}

/// Holds a size that was found against the declared one.
pub(super) fn check_size(declared: &Expr, found: usize, what: &str) -> Result<(), KernelError> {
    match declared.as_u64() {
        Some(size) if size != found as u64 => {
            let message = format!("the table has {found} {what}, the type says {size}");
            Err(KernelError::new(message))
        }
        _ => Ok(()),
    }
}

fn parts(rows: &dyn Rows) -> Result<Vec<PartSize>, KernelError> {
    let parts = (0..rows.parts()).into_par_iter();
    let parts: Vec<_> = parts.map(|part| rows.measure(part)).collect();
    parts.into_iter().collect()
}
