//! Taking rows: cells are of a fixed size, so that all columns are alike.

use haul_ir::column::{ColumnMut, ColumnView, DataMut, DataView, Heap, Measured};
use haul_ir::dtype::Kind;
use haul_ir::expr::Expr;
use haul_ir::op::{ArgType, Call, Fault, InferError, KernelError};
use haul_ir::tensor::Element;
use haul_ir::types::{CellKind, CellType, ValueType};

use crate::parallel;

/// Rows that are worth a task.
const TASK: usize = 1 << 14;

/// What the keys at a position are, of which there is one for each row: a column, or a tensor.
pub(super) fn key_of(
    call: &Call<'_>,
    position: usize,
    rows: &Expr,
) -> Result<CellType, InferError> {
    let key = match &call.inputs[position] {
        ArgType::Value(ValueType::Column(column)) => Some((&column.rows, column.cell)),
        ArgType::Value(ValueType::Tensor(tensor)) => match &tensor.shape[..] {
            [rows] if tensor.dtype.kind() != Kind::Complex => {
                Some((rows, CellType::new(CellKind::Element(tensor.dtype))))
            }
            _ => None,
        },
        _ => None,
    };
    match key {
        Some((keys, cell)) if keys == rows => Ok(cell),
        _ => {
            let given = &call.inputs[position];
            let message = format!("needs a key for each of {rows} rows, this is {given}");
            Err(InferError::new(Fault::Shape, message).on(position))
        }
    }
}

/// A column, or a tensor of one axis as such.
///
/// # Errors
/// It is something else: the op was inferred wrongly.
pub(crate) fn as_column<'b>(data: &DataView<'b>) -> Result<ColumnView<'b>, KernelError> {
    match data {
        DataView::Column(column) => Ok(*column),
        DataView::Tensor(view) => {
            let size = view.dtype.size() as usize;
            let start = view.layout.offset * size;
            Ok(ColumnView {
                cell: CellType::new(CellKind::Element(view.dtype)),
                cells: &view.bytes[start..start + view.layout.elements() * size],
                valid: None,
                heap: &[],
            })
        }
        DataView::Table(_) | DataView::Text(_) => Err(KernelError::new("there is no column")),
    }
}

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
