//! Columns and tables as tests write them: `'a' 'b'; 1 missing` are two columns of two rows.

use haul_ir::column::{ColumnMut, ColumnView, Extent};
use haul_ir::expr::Expr;
use haul_ir::tensor::Bool;
use haul_ir::types::{CellKind, CellType, ColumnType, TableType, ValueType};

use super::tensor::{Bytes, Lie, Tensor};
use super::text;

/// The rows of a column.
#[derive(Clone)]
pub(crate) struct Column {
    cell: CellType,
    rows: usize,
    cells: Bytes,
    valid: Option<Vec<Bool>>,
    heap: Vec<u8>,
}

/// A column, or the columns of a table.
#[derive(Clone)]
pub(crate) struct Rows {
    pub(crate) ty: ValueType,
    pub(crate) columns: Vec<Column>,
}

impl Column {
    /// Space for rows; their letters lie in a heap that is given.
    pub(crate) fn dirty(cell: CellType, rows: usize, heap: Vec<u8>) -> Self {
        let size = cell.size() as usize - usize::from(cell.is_optional);
        Self {
            cell,
            rows,
            cells: Bytes::dirty(rows * size),
            valid: cell.is_optional.then(|| vec![Bool(0); rows]),
            heap,
        }
    }

    fn new(cell: CellType, words: &[String]) -> Self {
        let mut column = Self::dirty(cell, words.len(), Vec::new());
        let space = column.view_mut();
        let (cells, mut heap) = (space.cells, Vec::new());
        let size = cells.len() / words.len().max(1);
        for (row, word) in words.iter().enumerate() {
            let cell_bytes = &mut cells[row * size..][..size];
            match cell.kind {
                _ if word == "missing" => cell_bytes.fill(0),
                CellKind::Text => {
                    let letters = word.trim_matches('\'').as_bytes();
                    let (start, len) = (heap.len() as u64, letters.len() as u64);
                    heap.extend_from_slice(letters);
                    cell_bytes.copy_from_slice(bytemuck::bytes_of(&Extent { start, len }));
                }
                CellKind::Element(dtype) => {
                    let one = Tensor::new(dtype, &[1], &[text::value(word)], Lie::Contiguous);
                    cell_bytes.copy_from_slice(&one.bytes.get()[..size]);
                }
            }
        }
        if let Some(valid) = space.valid {
            let there = words.iter().map(|word| Bool::from(word != "missing"));
            valid
                .iter_mut()
                .zip(there)
                .for_each(|(to, from)| *to = from);
        }
        column.heap = heap;
        column
    }

    pub(crate) fn view(&self) -> ColumnView<'_> {
        ColumnView {
            cell: self.cell,
            cells: self.cells.get(),
            valid: self.valid.as_deref(),
            heap: &self.heap,
        }
    }

    pub(crate) fn view_mut(&mut self) -> ColumnMut<'_> {
        ColumnMut {
            cell: self.cell,
            cells: self.cells.get_mut(),
            valid: self.valid.as_deref_mut(),
            heap: &mut self.heap,
        }
    }

    /// What each row holds.
    fn words(&self) -> Vec<String> {
        let view = self.view();
        let word = |row: usize| match self.cell.kind {
            _ if !view.is_valid(row) => "missing".to_owned(),
            CellKind::Text => format!("{:?}", view.text(view.extents()[row])),
            CellKind::Element(dtype) => {
                let size = dtype.size() as usize;
                let mut one = Tensor::dirty(dtype, &[1]);
                let cell = &self.cells.get()[row * size..][..size];
                one.bytes.get_mut()[..size].copy_from_slice(cell);
                format!("{:?}", one.values()[0])
            }
        };
        (0..self.rows).map(word).collect()
    }
}

impl Rows {
    /// Columns of a type from words, between semicolons.
    pub(crate) fn new(written: &str, words: &str) -> Self {
        let ty = ty(written);
        let cells: Vec<CellType> = match &ty {
            ValueType::Table(table) => table.columns.values().copied().collect(),
            ValueType::Column(column) => vec![column.cell],
            other => panic!("{other} has no rows"),
        };
        let columns = cells.iter().zip(words.split("; "));
        let columns = columns.map(|(cell, words)| Column::new(*cell, &split(words)));
        let columns: Vec<_> = columns.collect();
        assert_eq!(columns.len(), cells.len(), "columns of {written}");
        Self { ty, columns }
    }

    /// Type and rows in words.
    pub(crate) fn words(&self) -> String {
        let columns: Vec<_> = self.columns.iter().map(Column::words).collect();
        format!("{} {columns:?}", self.ty)
    }
}

/// Whether a type is that of a column or a table.
pub(crate) fn is_rows(ty: &str) -> bool {
    ty.contains('{') || ty.contains('?') || ty.starts_with("text[")
}

/// `table[2]{a: f64, b: text?}`, `text[2]`, `i64?[2]`.
pub(crate) fn ty(written: &str) -> ValueType {
    let (head, columns) = match written.split_once('{') {
        Some((head, columns)) => (head, Some(columns.trim_end_matches('}'))),
        None => (written, None),
    };
    let (cell, rows) = head.split_once('[').expect("a type has a size");
    let rows = text::size(rows.trim_end_matches(']'));
    let Some(columns) = columns else {
        let cell = cell_type(cell);
        return ValueType::Column(ColumnType { cell, rows });
    };
    let column = |column: &str| {
        let (name, cell) = column.split_once(": ").expect("a column has a type");
        (name.to_owned(), cell_type(cell))
    };
    let columns = columns.split(", ").map(column).collect();
    ValueType::Table(TableType {
        rows,
        columns: std::sync::Arc::new(columns),
    })
}

/// The rows of a type, which are known.
pub(crate) fn with_rows(ty: &ValueType, rows: usize) -> ValueType {
    ty.with_sizes(vec![Expr::from(rows as u64)])
}

fn cell_type(written: &str) -> CellType {
    let (kind, is_optional) = match written.strip_suffix('?') {
        Some(kind) => (kind, true),
        None => (written, false),
    };
    let kind = match kind {
        "text" => CellKind::Text,
        dtype => CellKind::Element(dtype.parse().expect("a dtype")),
    };
    CellType { kind, is_optional }
}

/// Words at blanks; what is in quotes is one, with its quotes.
fn split(words: &str) -> Vec<String> {
    let (mut found, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for letter in words.chars() {
        is_quoted ^= letter == '\'';
        if letter == ' ' && !is_quoted {
            found.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        } else {
            word.push(letter);
        }
    }
    found.extend((!word.is_empty()).then_some(word));
    found
}
