use haul_ir::column::{DataMut, Measured};
use haul_ir::jsonl::{JsonArrays, JsonRows};
use haul_ir::op::{DataCall, KernelError};
use haul_ir::tensor::ViewMut;
use haul_ir::types::ValueType;
use rayon::prelude::*;

use super::table::check_size;
use super::{declared, table};

/// The sizes of what is read, where the declared type agrees.
pub(super) fn measure(call: &DataCall<'_, '_>) -> Result<Vec<Measured>, KernelError> {
    let text = call.text(0);
    match declared(call.attrs).map_err(|error| KernelError::new(error.message))? {
        ValueType::Table(ty) => table::measure(&JsonRows::new(text, ty), ty),
        ValueType::Tensor(ty) => {
            let lines = JsonArrays::new(text, ty.rank())?;
            let mut shape = vec![rows(&lines)?.iter().sum()];
            shape.extend(lines.width());
            for ((declared, found), what) in ty.shape.iter().zip(&shape).zip(["rows", "columns"]) {
                check_size(declared, *found, what)?;
            }
            Ok(vec![Measured::plain(shape)])
        }
        other => Err(KernelError::new(format!("{other} is not read"))),
    }
}

/// Parses every value.
pub(super) fn fill(
    call: &DataCall<'_, '_>,
    outputs: &mut [DataMut<'_>],
) -> Result<(), KernelError> {
    let text = call.text(0);
    let ty = declared(call.attrs).map_err(|error| KernelError::new(error.message))?;
    match (ty, &mut outputs[0]) {
        (ValueType::Table(ty), output) => table::fill(&JsonRows::new(text, ty), output),
        (_, DataMut::Tensor(output)) => {
            fill_tensor(&JsonArrays::new(text, output.shape.len())?, output)
        }
        _ => Err(KernelError::new("there is no space for a tensor")),
    }
}

fn fill_tensor(lines: &JsonArrays<'_>, output: &mut ViewMut<'_>) -> Result<(), KernelError> {
    let dtype = output.dtype;
    let row = lines.width().unwrap_or(1) * dtype.size() as usize;
    let mut rest = &mut output.bytes[..];
    let mut parts = Vec::new();
    for (part, rows) in rows(lines)?.into_iter().enumerate() {
        let (first, others) = rest.split_at_mut((rows * row).min(rest.len()));
        parts.push((part, first));
        rest = others;
    }
    let filled = parts
        .into_par_iter()
        .map(|(part, output)| lines.fill(part, dtype, output));
    // The error that comes first in the text.
    let filled: Vec<_> = filled.collect();
    filled.into_iter().collect()
}

/// The number of rows of each part.
fn rows(lines: &JsonArrays<'_>) -> Result<Vec<usize>, KernelError> {
    let rows = (0..lines.parts()).into_par_iter();
    let rows: Vec<_> = rows.map(|part| lines.rows(part)).collect();
    rows.into_iter().collect()
}
