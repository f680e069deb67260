//! The types of values.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use indexmap::IndexMap;

use crate::column::Extent;
use crate::dtype::DType;
use crate::expr::Expr;

/// Sizes of the axes, outermost first.
pub type Shape = Vec<Expr>;

/// A dense array: `f32[batch, 784]`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Type of each element.
    pub dtype: DType,
    /// Size of each axis; empty for a scalar.
    pub shape: Shape,
}

impl TensorType {
    /// The type with this dtype and shape.
    pub fn new(dtype: DType, shape: Shape) -> Self {
        Self { dtype, shape }
    }

    /// How many axes it has.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// How many elements it has.
    pub fn elements(&self) -> Expr {
        Expr::product(&self.shape)
    }

    /// How many bytes its elements take.
    pub fn bytes(&self) -> Expr {
        self.elements() * self.dtype.size()
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype, Axes(&self.shape))
    }
}

impl fmt::Debug for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Prints a shape: `[batch, 784]`.
pub struct Axes<'a>(pub &'a [Expr]);

impl fmt::Display for Axes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (axis, size) in self.0.iter().enumerate() {
            write!(f, "{}{size}", if axis == 0 { "" } else { ", " })?;
        }
        f.write_str("]")
    }
}

/// What each row of a column holds: `f64`, `i64?`, `text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CellType {
    /// What it is where it is there.
    pub kind: CellKind,
    /// Whether it may be missing, which is neither NaN nor zero nor empty.
    pub is_optional: bool,
}

/// What a cell holds where it is not missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellKind {
    /// A number or a truth value.
    Element(DType),
    /// Text of any length.
    Text,
}

impl CellType {
    /// A cell that is never missing.
    pub const fn new(kind: CellKind) -> Self {
        Self {
            kind,
            is_optional: false,
        }
    }

    /// Text that is never missing.
    pub const TEXT: CellType = CellType::new(CellKind::Text);

    /// Bytes that a row takes, without the letters of text: these lie elsewhere, and only the
    /// data knows how many there are.
    pub fn size(self) -> u64 {
        let value = match self.kind {
            CellKind::Element(dtype) => dtype.size(),
            CellKind::Text => size_of::<Extent>() as u64,
        };
        value + u64::from(self.is_optional)
    }
}

impl fmt::Display for CellType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            CellKind::Element(dtype) => write!(f, "{dtype}")?,
            CellKind::Text => f.write_str("text")?,
        }
        f.write_str(if self.is_optional { "?" } else { "" })
    }
}

/// Rows that are no tensor, since they are text or may be missing: `text[n]`, `i64?[n]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnType {
    /// What each row holds.
    pub cell: CellType,
    /// How many rows there are.
    pub rows: Expr,
}

impl ColumnType {
    /// Bytes of its rows, without the letters of text.
    pub fn bytes(&self) -> Expr {
        &self.rows * self.cell.size()
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.cell, self.rows)
    }
}

/// Columns of one length, by name: `table[n]{time: f64, name: text}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableType {
    /// How many rows there are.
    pub rows: Expr,
    /// What each column holds, in order.
    pub columns: Arc<IndexMap<String, CellType>>,
}

impl TableType {
    /// The type of the value that a column is: a tensor where it can be one.
    pub fn column(&self, name: &str) -> Option<ValueType> {
        let cell = self.columns.get(name)?;
        Some(ValueType::of_cells(*cell, self.rows.clone()))
    }

    /// Bytes of its rows, without the letters of text.
    pub fn bytes(&self) -> Expr {
        let row: u64 = self.columns.values().map(|cell| cell.size()).sum();
        &self.rows * row
    }
}

impl Hash for TableType {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rows.hash(state);
        self.columns.len().hash(state);
        self.columns.iter().for_each(|column| column.hash(state));
    }
}

/// Columns that a type shows before it only counts the others.
const SHOWN: usize = 12;

impl fmt::Display for TableType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table[{}]{{", self.rows)?;
        for (at, (name, cell)) in self.columns.iter().take(SHOWN).enumerate() {
            write!(
                f,
                "{}{}: {cell}",
                if at == 0 { "" } else { ", " },
                ColumnName(name)
            )?;
        }
        match self.columns.len().saturating_sub(SHOWN) {
            0 => f.write_str("}"),
            more => write!(f, ", and {more} more}}"),
        }
    }
}

/// The name of a column as it stands in a type: in quotes, where it is not a word.
struct ColumnName<'a>(&'a str);

impl fmt::Display for ColumnName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut letters = self.0.chars();
        let is_word = letters
            .next()
            .is_some_and(|c| c == '_' || c.is_alphabetic())
            && letters.all(|c| c == '_' || c.is_alphanumeric());
        match is_word {
            true => f.write_str(self.0),
            false => write!(f, "'{}'", self.0.escape_debug()),
        }
    }
}

/// The type of a value, or of each item of a collection.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// A dense array.
    Tensor(TensorType),
    /// Rows of text, or rows that may be missing.
    Column(ColumnType),
    /// Columns by name.
    Table(TableType),
    /// One text, such as the contents of a file, whose length only the data knows.
    Text,
}

impl ValueType {
    /// The type of rows: a tensor, where they are numbers and never missing.
    pub fn of_cells(cell: CellType, rows: Expr) -> Self {
        match cell {
            CellType {
                kind: CellKind::Element(dtype),
                is_optional: false,
            } => TensorType::new(dtype, vec![rows]).into(),
            _ => ValueType::Column(ColumnType { cell, rows }),
        }
    }

    /// The tensor type, where it is one.
    pub fn tensor(&self) -> Option<&TensorType> {
        match self {
            ValueType::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// The sizes of its axes: one for rows, none for a text.
    pub fn sizes(&self) -> &[Expr] {
        match self {
            ValueType::Tensor(tensor) => &tensor.shape,
            ValueType::Column(column) => std::slice::from_ref(&column.rows),
            ValueType::Table(table) => std::slice::from_ref(&table.rows),
            ValueType::Text => &[],
        }
    }

    /// How many bytes it takes, without the letters of text.
    pub fn bytes(&self) -> Expr {
        match self {
            ValueType::Tensor(tensor) => tensor.bytes(),
            ValueType::Column(column) => column.bytes(),
            ValueType::Table(table) => table.bytes(),
            ValueType::Text => Expr::ZERO,
        }
    }

    /// Whether it holds text, whose bytes only the data knows.
    pub fn holds_text(&self) -> bool {
        match self {
            ValueType::Tensor(_) => false,
            ValueType::Column(column) => column.cell.kind == CellKind::Text,
            ValueType::Table(table) => {
                let mut cells = table.columns.values();
                cells.any(|cell| cell.kind == CellKind::Text)
            }
            ValueType::Text => true,
        }
    }

    /// The same with other sizes of its axes; rows have one.
    #[must_use]
    pub fn with_sizes(&self, sizes: Shape) -> Self {
        let rows = || sizes.first().cloned().unwrap_or(Expr::ZERO);
        match self {
            ValueType::Tensor(tensor) => TensorType::new(tensor.dtype, sizes).into(),
            ValueType::Column(column) => ValueType::Column(ColumnType {
                cell: column.cell,
                rows: rows(),
            }),
            ValueType::Table(table) => ValueType::Table(TableType {
                rows: rows(),
                columns: table.columns.clone(),
            }),
            ValueType::Text => ValueType::Text,
        }
    }
}

impl From<TensorType> for ValueType {
    fn from(tensor: TensorType) -> Self {
        ValueType::Tensor(tensor)
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueType::Tensor(tensor) => write!(f, "{tensor}"),
            ValueType::Column(column) => write!(f, "{column}"),
            ValueType::Table(table) => write!(f, "{table}"),
            ValueType::Text => f.write_str("text"),
        }
    }
}

impl fmt::Debug for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
