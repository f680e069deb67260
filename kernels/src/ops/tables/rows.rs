//! Taking rows: cells are of a fixed size, so that all columns are alike.

use haul_ir::column::{ColumnMut, ColumnView, DataMut, DataView, Heap, Measured};
use haul_ir::op::KernelError;
use haul_ir::tensor::Element;
use haul_ir::types::CellKind;

use crate::parallel;

/// Rows that are worth a task.
const TASK: usize = 1 << 14;

/// How large so many rows of an input are; text stays where it lies.
pub(crate) fn measured(data: &DataView<'_>, input: usize, rows: usize) -> Measured {
    let texts: Vec<usize> = match data {
        DataView::Column(column) if column.cell.kind == CellKind::Text => vec![0],
        DataView::Table(columns) => {
            let is_text = |at: &usize| columns[*at].cell.kind == CellKind::Text;
            (0..columns.len()).filter(is_text).collect()
        }
        _ => Vec::new(),
    };
    let heap = |column| Heap::Of { input, column };
    Measured {
        shape: vec![rows],
        heaps: texts.into_iter().map(heap).collect(),
    }
}

/// Fills a result with rows of an input, by position; with elements of a tensor without gaps.
///
/// # Errors
/// The result is of another kind: the op was inferred wrongly.
pub(crate) fn take(
    data: &DataView<'_>,
    rows: &[usize],
    output: &mut DataMut<'_>,
) -> Result<(), KernelError> {
    match (data, output) {
        (DataView::Tensor(from), DataMut::Tensor(to)) => {
            let size = from.dtype.size() as usize;
            let from = &from.bytes[from.layout.offset * size..];
            take_cells(from, size, rows, to.bytes);
        }
        (DataView::Column(from), DataMut::Column(to)) => take_column(from, rows, to),
        // What was never missing, or is no longer, is a tensor.
        (DataView::Column(from), DataMut::Tensor(to)) => {
            let size = to.dtype.size() as usize;
            take_cells(from.cells, size, rows, to.bytes);
        }
        (DataView::Table(from), DataMut::Table(to)) => {
            for (from, to) in from.iter().zip(to) {
                take_column(from, rows, to);
            }
        }
        _ => return Err(KernelError::new("the result is of another kind")),
    }
    Ok(())
}

fn take_column(from: &ColumnView<'_>, rows: &[usize], to: &mut ColumnMut<'_>) {
    let size = from.cell.size() as usize - usize::from(from.cell.is_optional);
    take_cells(from.cells, size, rows, to.cells);
    if let (Some(from), Some(to)) = (from.valid, &mut to.valid) {
        take_cells(
            bytemuck::cast_slice(from),
            1,
            rows,
            bytemuck::cast_slice_mut(to),
        );
    }
}

/// Cells of `size` bytes by position.
pub(crate) fn take_cells(from: &[u8], size: usize, rows: &[usize], to: &mut [u8]) {
    match size {
        1 => take_as::<u8>(from, rows, to),
        2 => take_as::<u16>(from, rows, to),
        4 => take_as::<u32>(from, rows, to),
        8 => take_as::<u64>(from, rows, to),
        _ => parallel::chunks(to, TASK * size, &|chunk, cells| {
            for (cell, row) in cells.chunks_exact_mut(size).zip(&rows[chunk * TASK..]) {
                cell.copy_from_slice(&from[row * size..][..size]);
            }
        }),
    }
}

fn take_as<T: Element>(from: &[u8], rows: &[usize], to: &mut [u8]) {
    let from: &[T] = bytemuck::cast_slice(from);
    parallel::chunks(to, TASK * size_of::<T>(), &|chunk, cells| {
        let cells: &mut [T] = bytemuck::cast_slice_mut(cells);
        for (cell, row) in cells.iter_mut().zip(&rows[chunk * TASK..]) {
            *cell = from[*row];
        }
    });
}
