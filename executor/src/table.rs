//! Columns and tables at run time: cells in charged buffers, letters of text in heaps that columns
//! share.

use std::sync::Arc;

use haul_ir::column::{ColumnMut, ColumnView, Extent};
use haul_ir::tensor::Bool;
use haul_ir::types::{CellKind, CellType, TableType};
use indexmap::IndexMap;

use crate::memory::{Account, Buffer, Hold, Shortage};
use crate::tensor::{Data, Tensor, Text};

/// The rows of one column.
#[derive(Clone)]
pub(crate) struct Column {
    pub(crate) cell: CellType,
    pub(crate) rows: usize,
    cells: Arc<Buffer>,
    /// Whether each row is there; only where rows may be missing.
    valid: Option<Arc<Buffer>>,
    /// The letters of text.
    heap: Option<Heap>,
    /// Its share of the request of a task that reads it and does not pay for it.
    hold: Option<Arc<Hold>>,
}

/// Where the letters of a column of text lie.
#[derive(Clone)]
pub(crate) enum Heap {
    Buffer(Arc<Buffer>),
    /// In the text that the column was cut out of.
    Text(Text),
}

/// Columns of one length.
#[derive(Clone)]
pub(crate) struct Table {
    /// Their names, and what each row of them holds.
    pub(crate) cells: Arc<IndexMap<String, CellType>>,
    pub(crate) rows: usize,
    pub(crate) columns: Arc<[Column]>,
}

impl Heap {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Heap::Buffer(buffer) => buffer.bytes(),
            Heap::Text(text) => text.as_str().as_bytes(),
        }
    }

    fn move_to(&self, account: &Arc<Account>) {
        match self {
            Heap::Buffer(buffer) => buffer.charge().move_to(account),
            Heap::Text(text) => text.move_to(account),
        }
    }
}

impl Column {
    /// Bytes of its cells and of the letters of its heap.
    pub(crate) fn bytes(&self) -> u64 {
        let letters = self.heap.as_ref().map_or(0, |heap| heap.bytes().len());
        self.rows as u64 * self.cell.size() + letters as u64
    }

    /// As [`Data::move_to`].
    pub(crate) fn move_to(&self, account: &Arc<Account>) {
        let buffers = [Some(&self.cells), self.valid.as_ref()];
        for buffer in buffers.into_iter().flatten() {
            buffer.charge().move_to(account);
        }
        if let Some(heap) = &self.heap {
            heap.move_to(account);
        }
    }

    /// As [`Data::held_by`].
    pub(crate) fn held_by(self, hold: Option<Arc<Hold>>) -> Self {
        Self { hold, ..self }
    }

    /// Where the letters of its text lie.
    pub(crate) fn heap(&self) -> Option<&Heap> {
        self.heap.as_ref()
    }

    pub(crate) fn view(&self) -> ColumnView<'_> {
        let valid = self.valid.as_ref();
        ColumnView {
            cell: self.cell,
            cells: self.cells.bytes(),
            valid: valid.map(|valid| bytemuck::cast_slice(valid.bytes())),
            heap: self.heap.as_ref().map_or(&[], Heap::bytes),
        }
    }

    /// As a value of its own: a tensor, where it can be one.
    pub(crate) fn into_data(self) -> Data {
        match (self.cell.kind, self.cell.is_optional) {
            (CellKind::Element(dtype), false) => {
                Data::Tensor(Tensor::shared(dtype, &[self.rows], self.cells, self.hold))
            }
            _ => Data::Column(self),
        }
    }
}

impl Table {
    /// Bytes of all columns.
    pub(crate) fn bytes(&self) -> u64 {
        self.columns.iter().map(Column::bytes).sum()
    }

    /// As [`Data::held_by`].
    pub(crate) fn held_by(self, hold: Option<Arc<Hold>>) -> Self {
        let columns = self.columns.iter().cloned();
        let columns = columns.map(|column| column.held_by(hold.clone()));
        Self {
            columns: columns.collect(),
            ..self
        }
    }

    /// Its type with the size that it has.
    pub(crate) fn ty(&self) -> TableType {
        TableType {
            rows: (self.rows as u64).into(),
            columns: self.cells.clone(),
        }
    }
}

/// Space for a column, to be filled.
pub(crate) struct ColumnSpace {
    cell: CellType,
    rows: usize,
    cells: Buffer,
    valid: Option<Buffer>,
    heap: HeapSpace,
}

/// Where the letters of a column are to lie.
pub(crate) enum HeapSpace {
    /// There are none.
    None,
    /// In space of its own.
    New(Buffer),
    /// Where those of another column lie.
    Shared(Heap),
}

impl ColumnSpace {
    /// Space for so many rows.
    ///
    /// # Errors
    /// There is no memory for it.
    pub(crate) fn new(
        cell: CellType,
        rows: usize,
        heap: HeapSpace,
        allocate: &dyn Fn(usize) -> Result<Buffer, Shortage>,
    ) -> Result<Self, Shortage> {
        let size = match cell.kind {
            CellKind::Element(dtype) => dtype.size() as usize,
            CellKind::Text => size_of::<Extent>(),
        };
        Ok(Self {
            cell,
            rows,
            cells: allocate(rows.saturating_mul(size))?,
            valid: match cell.is_optional {
                true => Some(allocate(rows)?),
                false => None,
            },
            heap,
        })
    }

    /// What a kernel or a reader fills.
    pub(crate) fn space(&mut self) -> ColumnMut<'_> {
        if let Some(valid) = &mut self.valid {
            // Reused memory may hold what is no truth value.
            valid.bytes_mut().fill(0);
        }
        let valid = self.valid.as_mut().map(Buffer::bytes_mut);
        ColumnMut {
            cell: self.cell,
            cells: self.cells.bytes_mut(),
            valid: valid.map(bytemuck::cast_slice_mut::<u8, Bool>),
            heap: match &mut self.heap {
                HeapSpace::New(heap) => heap.bytes_mut(),
                HeapSpace::None | HeapSpace::Shared(_) => &mut [],
            },
        }
    }

    /// The column, once it is filled.
    pub(crate) fn filled(self) -> Column {
        Column {
            cell: self.cell,
            rows: self.rows,
            cells: Arc::new(self.cells),
            valid: self.valid.map(Arc::new),
            heap: match self.heap {
                HeapSpace::None => None,
                HeapSpace::New(heap) => Some(Heap::Buffer(Arc::new(heap))),
                HeapSpace::Shared(heap) => Some(heap),
            },
            hold: None,
        }
    }
}
