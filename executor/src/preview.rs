//! The beginning of a value, for people.

use haul_ir::column::ColumnView;
use haul_ir::types::CellKind;

use crate::io::element;
use crate::strided::Walk;
use crate::table::Column;
use crate::tensor::{Data, Tensor};

/// Elements, or rows, that are shown.
const SHOWN: usize = 16;

/// Letters of a text that are shown.
const LETTERS: usize = 60;

/// The first elements of a tensor, the first rows of each column, the first letters of a text.
pub(crate) fn first(data: &Data) -> Vec<Vec<String>> {
    match data {
        Data::Tensor(tensor) => vec![elements(tensor)],
        Data::Column(column) => vec![cells(&column.view(), column.rows)],
        Data::Table(table) => {
            let columns = table.columns.iter().map(Column::view);
            columns.map(|column| cells(&column, table.rows)).collect()
        }
        Data::Text(text) => vec![vec![quoted(text.as_str())]],
    }
}

fn elements(tensor: &Tensor) -> Vec<String> {
    let size = tensor.dtype.size() as usize;
    let shown = tensor.layout.elements().min(SHOWN);
    let mut bytes = vec![0_u128; shown];
    let bytes = &mut bytemuck::cast_slice_mut(&mut bytes)[..shown * size];
    if shown > 0 {
        Walk::new(&tensor.layout).copy(tensor.buffer.bytes(), size, 0, bytes);
    }
    let elements = bytes.chunks_exact(size);
    elements.map(|bytes| element(tensor.dtype, bytes)).collect()
}

fn cells(column: &ColumnView<'_>, rows: usize) -> Vec<String> {
    let cell = |row: usize| match column.cell.kind {
        _ if !column.is_valid(row) => "missing".to_owned(),
        CellKind::Text => quoted(column.text(column.extents()[row])),
        CellKind::Element(dtype) => {
            let size = dtype.size() as usize;
            element(dtype, &column.cells[row * size..][..size])
        }
    };
    (0..rows.min(SHOWN)).map(cell).collect()
}

fn quoted(text: &str) -> String {
    match text.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("'{}…'", &text[..end]),
        None => format!("'{text}'"),
    }
}
