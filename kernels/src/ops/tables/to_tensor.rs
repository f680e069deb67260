//! Tables of numbers as one tensor.

use haul_ir::column::{DataMut, DataView, Measured};
use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::op::{
    BlockKernel, Call, CpuKernel, DataCall, Example, Family, Fault, GpuKernel, InferError,
    Inferred, KernelError, Work,
};
use haul_ir::types::{CellKind, TensorType};

use super::{WHY, table, value};
use crate::ops::OPS;
use crate::ops::array_op::ArrayOp;
use crate::parallel;

/// Rows that are cast at a time.
const BLOCK: usize = 1 << 12;

pub(crate) static TO_TENSOR: ArrayOp = ArrayOp {
    name: "to_tensor",
    doc: "The columns of a table side by side, in the dtype in which they meet. All have to be \
          numbers of which none may be missing.",
    params: &[value("t")],
    rule: "table[n]{m columns} -> [n, m]",
    family: Family::Move,
    infer,
    work: |call, outputs| Work::of(Expr::ZERO, call, outputs),
    work_formula: "0 flops",
    cpu: CpuKernel::Measured { measure, fill },
    gpu: GpuKernel::None(WHY),
    examples: &[Example {
        formula: "to_tensor(t)",
        given: &[("t", "table[2]{a: i32, b: f32}", "1 2; 0.5 -0.5")],
        result: ("f64[2, 2]", "1 0.5 2 -0.5"),
    }],
};

fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let table = table(call, 0)?;
    let mut met: Option<DType> = None;
    for (name, cell) in table.columns.iter() {
        let (CellKind::Element(dtype), false) = (cell.kind, cell.is_optional) else {
            let message = format!("needs columns of numbers, `{name}` is {cell}");
            let error = InferError::new(Fault::Type, message).on(0);
            return Err(error.help("choose columns with `select`, or rows with `drop_missing`"));
        };
        let both = met.map_or(Some(dtype), |met| met.promote(dtype));
        met = Some(both.ok_or_else(|| {
            let message = format!("no dtype holds {dtype} of `{name}` and the columns before");
            InferError::new(Fault::DType, message).on(0)
        })?);
    }
    let columns = table.columns.len() as u64;
    let shape = vec![table.rows.clone(), columns.into()];
    let dtype = met.unwrap_or(DType::F64);
    Ok(Inferred::plain(1, TensorType::new(dtype, shape)))
}

fn measure(call: &DataCall<'_, '_>) -> Result<Vec<Measured>, KernelError> {
    let DataView::Table(columns) = &call.inputs[0] else {
        return Err(KernelError::new("the input is no table"));
    };
    let rows = columns.first().map_or(0, |column| column.rows());
    Ok(vec![Measured::plain(vec![rows, columns.len()])])
}

fn fill(call: &DataCall<'_, '_>, outputs: &mut [DataMut<'_>]) -> Result<(), KernelError> {
    let (DataView::Table(columns), DataMut::Tensor(output)) = (&call.inputs[0], &mut outputs[0])
    else {
        return Err(KernelError::new("the input is no table"));
    };
    let size = output.dtype.size() as usize;
    let row = columns.len() * size;
    let mut casts = Vec::new();
    for column in columns {
        let CellKind::Element(from) = column.cell.kind else {
            return Err(KernelError::new("a column holds no numbers"));
        };
        casts.push((
            column.cells,
            from.size() as usize,
            cast(from, output.dtype)?,
        ));
    }
    parallel::chunks(output.bytes, BLOCK * row.max(1), &|chunk, results| {
        let mut block = vec![0_u64; BLOCK];
        let block: &mut [u8] = bytemuck::cast_slice_mut(&mut block);
        let rows = results.len() / row;
        for (at, (cells, from, cast)) in casts.iter().enumerate() {
            let cells = &cells[chunk * BLOCK * from..][..rows * from];
            // Casts do not fail.
            let _ = cast(&[cells], &mut block[..rows * size]);
            let elements = block.chunks_exact(size);
            for (row, element) in results.chunks_exact_mut(row).zip(elements) {
                row[at * size..][..size].copy_from_slice(element);
            }
        }
    });
    Ok(())
}

/// The kernel that makes one dtype of another.
fn cast(from: DType, to: DType) -> Result<BlockKernel, KernelError> {
    let op = OPS.iter().find(|op| op.name() == to.name());
    let kernel = op.and_then(|op| match op.cpu() {
        CpuKernel::Elementwise(kernel) => kernel(&[from], to),
        _ => None,
    });
    kernel.ok_or_else(|| KernelError::new(format!("there is no cast from {from} to {to}")))
}
