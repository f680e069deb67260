//! What a kernel sees of rows that are no tensor: columns of text, columns with missing rows,
//! tables of columns.
//!
//! A column is one array of fixed-size cells, so that moving rows is the same for numbers and text.
//! A cell of text says where its letters lie in the heap of its column, which columns may share.

use bytemuck::{Pod, Zeroable};

use crate::tensor::{Bool, Element, View, ViewMut};
use crate::types::CellType;

/// Where a text lies in the heap of its column, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Extent {
    /// Its first byte.
    pub start: u64,
    /// How many bytes it has.
    pub len: u64,
}

/// A column that is only read.
#[derive(Clone, Copy, Debug)]
pub struct ColumnView<'a> {
    /// What each row holds.
    pub cell: CellType,
    /// The cells in order: elements, or an [`Extent`] each. What a missing row holds is not said.
    pub cells: &'a [u8],
    /// Whether each row is there; only where rows may be missing.
    pub valid: Option<&'a [Bool]>,
    /// The letters of text, in UTF-8; empty for elements.
    pub heap: &'a [u8],
}

impl<'a> ColumnView<'a> {
    /// The elements of all rows.
    ///
    /// # Panics
    /// When the dtype is not that of `T`: the kernel asks for what its signature does not take.
    pub fn elements<T: Element>(&self) -> &'a [T] {
        bytemuck::cast_slice(self.cells)
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        let missing = u64::from(self.cell.is_optional);
        self.cells.len() / (self.cell.size() - missing) as usize
    }

    /// Where the texts of all rows lie.
    pub fn extents(&self) -> &'a [Extent] {
        bytemuck::cast_slice(self.cells)
    }

    /// The text at an extent.
    pub fn text(&self, extent: Extent) -> &'a str {
        text_at(self.heap, extent)
    }

    /// The texts of all rows in order, empty for missing ones.
    pub fn texts(&self) -> impl ExactSizeIterator<Item = &'a str> + use<'a> {
        let (heap, valid) = (self.heap, self.valid);
        let extents = self.extents().iter().enumerate();
        extents.map(move |(row, extent)| match valid {
            Some(valid) if !bool::from(valid[row]) => "",
            _ => text_at(heap, *extent),
        })
    }

    /// Whether a row is there.
    pub fn is_valid(&self, row: usize) -> bool {
        self.valid.is_none_or(|valid| valid[row].into())
    }
}

/// Space for a column.
#[derive(Debug)]
pub struct ColumnMut<'a> {
    /// What each row holds.
    pub cell: CellType,
    /// The cells in order. What they hold before is not said.
    pub cells: &'a mut [u8],
    /// Whether each row is there; only where rows may be missing.
    pub valid: Option<&'a mut [Bool]>,
    /// Space for the letters of text; none where it is shared with an input.
    pub heap: &'a mut [u8],
}

impl ColumnMut<'_> {
    /// Where the texts of all rows lie.
    pub fn extents(&mut self) -> &mut [Extent] {
        bytemuck::cast_slice_mut(self.cells)
    }
}

/// An input of a kernel.
#[derive(Clone, Debug)]
pub enum DataView<'a> {
    /// A tensor.
    Tensor(View<'a>),
    /// A column.
    Column(ColumnView<'a>),
    /// The columns of a table in order.
    Table(Vec<ColumnView<'a>>),
    /// A text.
    Text(&'a str),
}

/// Space for a result of a kernel.
#[derive(Debug)]
pub enum DataMut<'a> {
    /// A tensor.
    Tensor(ViewMut<'a>),
    /// A column.
    Column(ColumnMut<'a>),
    /// The columns of a table in order.
    Table(Vec<ColumnMut<'a>>),
    /// The letters of a text; they have to be UTF-8 when the kernel is done.
    Text(&'a mut [u8]),
}

/// How large a result is, found before there is space for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Sizes of the axes of a tensor, the rows of a column or table; none for a text.
    pub shape: Vec<usize>,
    /// The heap of each column of text in order, or the bytes of a text.
    pub heaps: Vec<Heap>,
}

impl Measured {
    /// A result that holds no text.
    pub fn plain(shape: Vec<usize>) -> Self {
        let heaps = Vec::new();
        Self { shape, heaps }
    }
}

/// Where the letters of a column of text lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heap {
    /// In space of so many bytes, which the kernel fills.
    New(usize),
    /// In the heap of an input: of the column at that place of a table, or the only one.
    Of {
        /// Which input.
        input: usize,
        /// Which column of it.
        column: usize,
    },
}

fn text_at(heap: &[u8], extent: Extent) -> &str {
    let start = usize::try_from(extent.start).ok();
    let end = start.zip(usize::try_from(extent.len).ok());
    let range = end.and_then(|(start, len)| Some(start..start.checked_add(len)?));
    let bytes = range.and_then(|range| heap.get(range)).unwrap_or_default();
    str::from_utf8(bytes).unwrap_or_default()
}
