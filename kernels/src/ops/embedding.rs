//! Rows of a table, by their numbers.

use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Param, Work,
};
use haul_ir::types::{TensorType, ValueType};

use super::array_op::{ArrayOp, at_least_rank, tensor};
use crate::parallel;
use crate::strided::contiguous;

const PARAMS: &[Param] = &[tensor("i"), tensor("table")];

/// `embedding(i, table)`.
pub(super) static EMBEDDING: ArrayOp = ArrayOp {
    name: "embedding",
    doc: "The rows of a table with the numbers `i`. Negative numbers count from the end; a row \
          that does not exist is a run error.",
    params: PARAMS,
    rule: "[..], [V, D] -> [.., D]",
    family: Family::Move,
    infer,
    work,
    work_formula: "0 flops, only rows that are taken are read",
    cpu: CpuKernel::Contiguous(embedding),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "embedding(i, t)",
        given: &[("i", "i32[2]", "2 0"), ("t", "f32[3, 2]", "1 2 3 4 5 6")],
        result: ("f32[2, 2]", "5 6 1 2"),
    }],
};

fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let [rows, table] = [call.tensor(0)?, call.tensor(1)?];
    if rows.dtype.kind() != Kind::Int {
        let message = format!("numbers of rows are whole, these are {}", rows.dtype);
        return Err(InferError::new(Fault::DType, message).on(0));
    }
    at_least_rank(table, 2, "[V, D]").map_err(|error| error.on(1))?;
    let [_, width] = &table.shape[..] else {
        let message = format!("needs [V, D], this is {table}");
        return Err(InferError::new(Fault::Rank, message).on(1));
    };
    let mut shape = rows.shape.clone();
    shape.push(width.clone());
    Ok(Inferred::new(
        vec![Some(DType::I64), None],
        vec![TensorType::new(table.dtype, shape).into()],
    ))
}

fn work(call: &Call<'_>, outputs: &[ValueType]) -> Work {
    let (Ok(rows), Some(output)) = (call.tensor(0), outputs.first().and_then(ValueType::tensor))
    else {
        return Work::Unknown;
    };
    Work::Known {
        flops: Expr::ZERO,
        read: rows.bytes() + output.bytes(),
        written: output.bytes(),
    }
}

/// Bytes that are worth a task.
const TASK: usize = 1 << 16;

fn embedding(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let (table, output) = (&call.inputs[1], &mut call.outputs[0]);
    let (count, width) = (table.shape()[0], table.shape()[1]);
    let rows = contiguous::<i64>(&call.inputs[0]);
    let place = |row: i64| {
        let from_end = if row < 0 {
            row.checked_add_unsigned(count as u64)
        } else {
            Some(row)
        };
        let place = from_end.and_then(|row| usize::try_from(row).ok());
        place.filter(|place| *place < count)
    };
    if let Some(row) = rows.iter().find(|row| place(**row).is_none()) {
        let message = format!("row {row} does not exist: the table has {count}");
        return Err(KernelError::new(message));
    }
    let size = table.dtype.size() as usize;
    if output.bytes.is_empty() {
        return Ok(());
    }
    let bytes = width * size;
    let table = &table.bytes[table.layout.offset * size..];
    let together = (TASK / bytes).max(1);
    parallel::chunks(output.bytes, together * bytes, &|chunk, output| {
        let rows = &rows[chunk * together..];
        for (output, row) in output.chunks_exact_mut(bytes).zip(rows) {
            let start = place(*row).unwrap_or(0) * bytes;
            output.copy_from_slice(&table[start..start + bytes]);
        }
    });
    Ok(())
}
