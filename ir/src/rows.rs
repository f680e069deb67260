//! Filling the columns of a table from text, row by row, in parts that can be read at once.

use half::{bf16, f16};

use crate::column::{ColumnMut, Extent, Heap, Measured};
use crate::csv::Field;
use crate::dtype::DType;
use crate::op::KernelError;
use crate::tensor::Bool;
use crate::types::{CellKind, TableType};

/// Bytes that one line, or a record of several, may have: it is copied before it is looked at.
pub(crate) const MOST_BYTES: usize = 1 << 26;

/// A table in text, cut into parts.
pub trait Rows: Sync {
    /// How many parts there are.
    fn parts(&self) -> usize;

    /// How large a part is.
    ///
    /// # Errors
    /// The text is no such table.
    fn measure(&self, part: usize) -> Result<PartSize, KernelError>;

    /// Reads the rows of a part, as many as were measured.
    ///
    /// # Errors
    /// The text is no such table, or a cell is not of its column's type.
    fn fill(&self, part: usize, columns: &mut [PartColumn<'_>]) -> Result<(), KernelError>;
}

/// How large a part of a table is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartSize {
    /// Its rows.
    pub rows: usize,
    /// Bytes of the letters in each column; zero where it holds none.
    pub letters: Vec<usize>,
}

/// How large a table of such parts is.
pub fn total(ty: &TableType, parts: &[PartSize]) -> Measured {
    let is_text = |at: &usize| ty.columns[*at].kind == CellKind::Text;
    let columns = (0..ty.columns.len()).filter(is_text);
    let letters = |at: usize| parts.iter().map(|part| part.letters[at]).sum();
    Measured {
        shape: vec![parts.iter().map(|part| part.rows).sum()],
        heaps: columns.map(|at| Heap::New(letters(at))).collect(),
    }
}

/// The space for a table, cut into that of its parts.
pub fn cut<'a>(columns: &'a mut [ColumnMut<'_>], parts: &[PartSize]) -> Vec<Vec<PartColumn<'a>>> {
    let mut cut: Vec<Vec<_>> = parts.iter().map(|_| Vec::new()).collect();
    for (at, column) in columns.iter_mut().enumerate() {
        let size = column.cell.size() as usize - usize::from(column.cell.is_optional);
        let (mut cells, mut heap) = (&mut *column.cells, &mut *column.heap);
        let mut valid = column.valid.as_deref_mut();
        let mut base = 0;
        for (part, into) in parts.iter().zip(&mut cut) {
            let letters = part.letters[at];
            into.push(PartColumn {
                column: ColumnMut {
                    cell: column.cell,
                    cells: take(&mut cells, part.rows * size),
                    valid: valid.as_mut().map(|valid| take(valid, part.rows)),
                    heap: take(&mut heap, letters),
                },
                base,
                row: 0,
                used: 0,
            });
            base += letters;
        }
    }
    cut
}

/// The rows of a column that one part fills, one after the other.
#[derive(Debug)]
pub struct PartColumn<'a> {
    column: ColumnMut<'a>,
    /// Where its letters begin in the heap of the column.
    base: usize,
    row: usize,
    /// Bytes of its letters that are filled.
    used: usize,
}

impl PartColumn<'_> {
    /// Whether it holds text.
    pub(crate) fn is_text(&self) -> bool {
        self.column.cell.kind == CellKind::Text
    }

    /// Whether it holds truth values.
    pub(crate) fn is_bool(&self) -> bool {
        self.column.cell.kind == CellKind::Element(DType::Bool)
    }

    /// The next row is missing.
    ///
    /// # Errors
    /// None may be.
    pub(crate) fn push_missing(&mut self) -> Result<(), String> {
        let cell = self.column.cell;
        let Some(valid) = &mut self.column.valid else {
            return Err(format!(
                "the value is missing; declare the column as `{cell}?` where that may be"
            ));
        };
        let size = cell.size() as usize - 1;
        self.column.cells[self.row * size..][..size].fill(0);
        valid[self.row] = false.into();
        self.row += 1;
        Ok(())
    }

    /// The next row is a text.
    pub(crate) fn push_text(&mut self, text: &[u8]) {
        let end = self.used + text.len();
        self.column.heap[self.used..end].copy_from_slice(text);
        let extent = Extent {
            start: (self.base + self.used) as u64,
            len: text.len() as u64,
        };
        self.column.extents()[self.row] = extent;
        self.used = end;
        self.is_there();
    }

    /// The next row is an element, written without blanks around it.
    ///
    /// # Errors
    /// It is none of the dtype.
    pub(crate) fn push_element(&mut self, written: &[u8]) -> Result<(), String> {
        let CellKind::Element(dtype) = self.column.cell.kind else {
            return Err("text stands for a number".into());
        };
        parse(dtype, written, self.column.cells, self.row)?;
        self.is_there();
        Ok(())
    }

    fn is_there(&mut self) {
        if let Some(valid) = &mut self.column.valid {
            valid[self.row] = true.into();
        }
        self.row += 1;
    }
}

/// Reads an element, written without blanks around it, into its place among others; nothing stands
/// for NaN among floats.
///
/// # Errors
/// It is none of the dtype.
pub fn parse(dtype: DType, written: &[u8], into: &mut [u8], at: usize) -> Result<(), String> {
    fn put<T: Field>(written: &[u8], into: &mut [u8], at: usize) -> Result<(), String> {
        let elements: &mut [T] = bytemuck::cast_slice_mut(into);
        elements[at] = T::parse(written)?;
        Ok(())
    }
    let put = match dtype {
        DType::Bool => put::<Bool>,
        DType::U8 => put::<u8>,
        DType::U16 => put::<u16>,
        DType::U32 => put::<u32>,
        DType::U64 => put::<u64>,
        DType::I8 => put::<i8>,
        DType::I16 => put::<i16>,
        DType::I32 => put::<i32>,
        DType::I64 => put::<i64>,
        DType::F16 => put::<f16>,
        DType::Bf16 => put::<bf16>,
        DType::F32 => put::<f32>,
        DType::F64 => put::<f64>,
        DType::C64 | DType::C128 => return Err(format!("{dtype} is not read from text")),
    };
    put(written, into, at)
}

/// The first items of a slice, which keeps the others.
fn take<'a, T>(slice: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (first, others) = std::mem::take(slice).split_at_mut(count);
    *slice = others;
    first
}
