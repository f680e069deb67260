//! What flows at run time: tensors in charged buffers, columns and tables, and text.

use std::fmt;
use std::sync::Arc;

use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::tensor::{Layout, View};
use haul_ir::types::{ColumnType, TensorType, ValueType};

use crate::error::IoError;
use crate::memory::{Account, Buffer, Charge, Hold};
use crate::strided::Walk;
use crate::table::{Column, Table};

/// Elements that are read in order at a time.
const BLOCK: usize = 1 << 14;

/// The data of one value, or of one item of it.
#[derive(Clone)]
pub(crate) enum Data {
    Tensor(Tensor),
    Column(Column),
    Table(Table),
    Text(Text),
}

/// A view of a buffer that others may share.
#[derive(Clone)]
pub(crate) struct Tensor {
    pub(crate) dtype: DType,
    pub(crate) layout: Layout,
    pub(crate) buffer: Arc<Buffer>,
    /// Its share of the request of a task that reads it and does not pay for it.
    _hold: Option<Arc<Hold>>,
}

/// The contents of a text file.
#[derive(Clone)]
pub(crate) struct Text {
    contents: Arc<(String, Charge)>,
    /// As that of a tensor.
    _hold: Option<Arc<Hold>>,
}

impl Data {
    /// Bytes of memory of its elements, or of the text; none where they are mapped.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            _ if self.is_mapped() => 0,
            Data::Tensor(tensor) => tensor.layout.elements() as u64 * tensor.dtype.size(),
            Data::Column(column) => column.bytes(),
            Data::Table(table) => table.bytes(),
            Data::Text(text) => text.contents.0.len() as u64,
        }
    }

    /// Whether its elements lie in a file.
    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self, Data::Tensor(tensor) if tensor.buffer.is_mapped())
    }

    /// Whether it was what it seemed; a file that is mapped may have changed.
    ///
    /// # Errors
    /// The file is not what it was.
    pub(crate) fn check(&self) -> Result<(), IoError> {
        match self {
            Data::Tensor(tensor) => tensor.buffer.check(),
            _ => Ok(()),
        }
    }

    /// Its type with the sizes that it has.
    pub(crate) fn ty(&self) -> ValueType {
        match self {
            Data::Tensor(tensor) => {
                let shape = tensor.layout.shape.iter();
                let shape = shape.map(|size| Expr::from(*size as u64));
                TensorType::new(tensor.dtype, shape.collect()).into()
            }
            Data::Column(column) => ValueType::Column(ColumnType {
                cell: column.cell,
                rows: (column.rows as u64).into(),
            }),
            Data::Table(table) => ValueType::Table(table.ty()),
            Data::Text(_) => ValueType::Text,
        }
    }

    /// The tensor, for a format that holds nothing else.
    ///
    /// # Errors
    /// It is text.
    pub(crate) fn tensor(&self) -> std::io::Result<&Tensor> {
        match self {
            Data::Tensor(tensor) => Ok(tensor),
            _ => Err(std::io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Says what counts it in the task that reads it, as long as it or a view of it lives there;
    /// nothing, when it leaves.
    #[must_use]
    pub(crate) fn held_by(self, hold: Option<Hold>) -> Self {
        let _hold = hold.map(Arc::new);
        match self {
            Data::Tensor(tensor) => Data::Tensor(Tensor { _hold, ..tensor }),
            Data::Column(column) => Data::Column(column.held_by(_hold)),
            Data::Table(table) => Data::Table(table.held_by(_hold)),
            Data::Text(text) => Data::Text(Text { _hold, ..text }),
        }
    }

    /// Charges another account instead of the task that made it.
    pub(crate) fn move_to(&self, account: &Arc<Account>) {
        match self {
            Data::Tensor(tensor) => tensor.buffer.charge().move_to(account),
            Data::Column(column) => column.move_to(account),
            Data::Table(table) => {
                let columns = table.columns.iter();
                columns.for_each(|column| column.move_to(account));
            }
            Data::Text(text) => text.move_to(account),
        }
    }

    /// The sizes of its axes: the rows of a column or table; none for a text.
    pub(crate) fn sizes(&self) -> &[usize] {
        match self {
            Data::Tensor(tensor) => &tensor.layout.shape,
            Data::Column(column) => std::slice::from_ref(&column.rows),
            Data::Table(table) => std::slice::from_ref(&table.rows),
            Data::Text(_) => &[],
        }
    }
}

/// Its type with the sizes that it has: `f32[150, 8]`.
impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Data::Tensor(tensor) => write!(f, "{}{:?}", tensor.dtype, tensor.layout.shape),
            Data::Column(column) => write!(f, "{}[{}]", column.cell, column.rows),
            Data::Table(table) => {
                let (rows, columns) = (table.rows, table.columns.len());
                write!(f, "a table of {rows} rows and {columns} columns")
            }
            Data::Text(_) => f.write_str("text"),
        }
    }
}

impl Tensor {
    /// All of a buffer, row-major.
    pub(crate) fn contiguous(dtype: DType, shape: &[usize], buffer: Buffer) -> Self {
        Self {
            dtype,
            layout: Layout::contiguous(shape),
            buffer: Arc::new(buffer),
            _hold: None,
        }
    }

    /// All of a buffer that others have as well.
    pub(crate) fn shared(
        dtype: DType,
        shape: &[usize],
        buffer: Arc<Buffer>,
        hold: Option<Arc<Hold>>,
    ) -> Self {
        Self {
            dtype,
            layout: Layout::contiguous(shape),
            buffer,
            _hold: hold,
        }
    }

    /// The same buffer with another layout.
    pub(crate) fn with_layout(&self, layout: Layout) -> Self {
        Self {
            layout,
            ..self.clone()
        }
    }

    /// Calls `visit` with the elements in row-major order, a block at a time.
    ///
    /// # Errors
    /// The first of `visit`.
    pub(crate) fn for_each_block<E>(
        &self,
        visit: &mut dyn FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let size = self.dtype.size() as usize;
        let walk = Walk::new(&self.layout);
        let mut block = vec![0_u128; BLOCK];
        let block: &mut [u8] = bytemuck::cast_slice_mut(&mut block);
        let elements = self.layout.elements();
        for start in (0..elements).step_by(BLOCK) {
            let part = &mut block[..BLOCK.min(elements - start) * size];
            walk.copy(self.buffer.bytes(), size, start, part);
            visit(part)?;
        }
        Ok(())
    }

    pub(crate) fn view(&self) -> View<'_> {
        View {
            dtype: self.dtype,
            layout: self.layout.clone(),
            bytes: self.buffer.bytes(),
        }
    }
}

impl Text {
    pub(crate) fn new(text: String, charge: Charge) -> Self {
        Self {
            contents: Arc::new((text, charge)),
            _hold: None,
        }
    }

    pub(crate) fn move_to(&self, account: &Arc<Account>) {
        self.contents.1.move_to(account);
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.contents.0
    }
}

/// Bytes of a tensor, or nothing where no memory could hold it. A size of 0 makes no room for
/// others to be huge: the strides of an empty tensor are counted as well.
pub(crate) fn size(dtype: DType, shape: &[usize]) -> Option<usize> {
    let mut strides = shape.iter().map(|size| *size.max(&1));
    let bytes = strides.try_fold(dtype.size() as usize, |product, size| {
        product.checked_mul(size)
    })?;
    isize::try_from(bytes).ok()?;
    Some(if shape.contains(&0) { 0 } else { bytes })
}
