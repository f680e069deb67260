//! The results themselves, in an entry: elements row by row, cells and letters of columns.

use std::io::{self, Read, Write};
use std::sync::Arc;

use haul_ir::column::{ColumnView, Extent};
use haul_ir::dtype::DType;
use haul_ir::types::{CellKind, CellType};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{Unusable, damaged};
use crate::memory::Account;
use crate::table::{Column, ColumnSpace, HeapSpace, Table};
use crate::tensor::{self, Data, Tensor, Text};

/// What a result is: all that reading it back takes beside its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Shape {
    Tensor {
        dtype: String,
        shape: Vec<usize>,
    },
    Column {
        rows: usize,
        column: Cells,
    },
    Table {
        rows: usize,
        columns: Vec<(String, Cells)>,
    },
    Text {
        bytes: usize,
    },
}

/// What a column holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cells {
    /// A dtype; text where there is none.
    dtype: Option<String>,
    is_optional: bool,
    /// Bytes of the letters of text.
    letters: usize,
}

impl Shape {
    pub(super) fn of(data: &Data) -> Self {
        match data {
            Data::Tensor(tensor) => Shape::Tensor {
                dtype: tensor.dtype.name().to_owned(),
                shape: tensor.layout.shape.clone(),
            },
            Data::Column(column) => Shape::Column {
                rows: column.rows,
                column: Cells::of(column),
            },
            Data::Table(table) => {
                let columns = table.cells.keys().zip(table.columns.iter());
                let columns = columns.map(|(name, column)| (name.clone(), Cells::of(column)));
                Shape::Table {
                    rows: table.rows,
                    columns: columns.collect(),
                }
            }
            Data::Text(text) => Shape::Text {
                bytes: text.as_str().len(),
            },
        }
    }

    /// How many bytes it takes; nothing, where no memory could hold it, or it is no result.
    pub(super) fn bytes(&self) -> Option<u64> {
        match self {
            Shape::Tensor { dtype, shape } => Some(tensor::size(find(dtype)?, shape)? as u64),
            Shape::Column { rows, column } => column.bytes(*rows),
            Shape::Table { rows, columns } => {
                let mut columns = columns.iter().map(|(_, column)| column.bytes(*rows));
                columns.try_fold(0_u64, |all, bytes| all.checked_add(bytes?))
            }
            Shape::Text { bytes } => Some(*bytes as u64),
        }
    }
}

impl Cells {
    fn of(column: &Column) -> Self {
        Self {
            dtype: match column.cell.kind {
                CellKind::Element(dtype) => Some(dtype.name().to_owned()),
                CellKind::Text => None,
            },
            is_optional: column.cell.is_optional,
            letters: Letters::of(&column.view()).bytes(),
        }
    }

    fn cell(&self) -> Option<CellType> {
        let kind = match &self.dtype {
            Some(dtype) => CellKind::Element(find(dtype)?),
            None => CellKind::Text,
        };
        Some(CellType {
            kind,
            is_optional: self.is_optional,
        })
    }

    fn bytes(&self, rows: usize) -> Option<u64> {
        let cells = (rows as u64).checked_mul(self.cell()?.size())?;
        let bytes = cells.checked_add(self.letters as u64)?;
        isize::try_from(bytes).is_ok().then_some(bytes)
    }
}

/// How the letters of a column are written.
enum Letters<'a> {
    /// Those of each row, one after the other: the heap holds more than the rows use.
    ByRow(usize),
    /// The heap as it is: rows share its letters.
    Heap(&'a [u8]),
}

impl<'a> Letters<'a> {
    fn of(column: &ColumnView<'a>) -> Self {
        if column.cell.kind != CellKind::Text {
            return Letters::ByRow(0);
        }
        let mut used = column.texts().map(str::len);
        match used.try_fold(0_usize, usize::checked_add) {
            Some(used) if used <= column.heap.len() => Letters::ByRow(used),
            _ => Letters::Heap(column.heap),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Letters::ByRow(bytes) => *bytes,
            Letters::Heap(heap) => heap.len(),
        }
    }
}

/// Bytes that a result takes, where it is worth keeping.
pub(super) fn size(data: &Data) -> Option<u64> {
    let is_worth_it = match data {
        Data::Tensor(Tensor { buffer, .. }) => {
            !buffer.is_mapped() && data.bytes() <= buffer.bytes().len() as u64
        }
        _ => true,
    };
    Shape::of(data).bytes().filter(|_| is_worth_it)
}

pub(super) fn write(data: &Data, out: &mut dyn Write) -> io::Result<()> {
    match data {
        Data::Tensor(tensor) => {
            let size = tensor.dtype.size() as usize;
            let (start, elements) = (tensor.layout.offset * size, tensor.layout.elements() * size);
            match tensor.layout.is_contiguous() {
                true if elements == 0 => Ok(()),
                true => out.write_all(&tensor.buffer.bytes()[start..start + elements]),
                false => tensor.for_each_block(&mut |block| out.write_all(block)),
            }
        }
        Data::Column(column) => write_column(&column.view(), out),
        Data::Table(table) => {
            let mut columns = table.columns.iter();
            columns.try_for_each(|column| write_column(&column.view(), out))
        }
        Data::Text(text) => out.write_all(text.as_str().as_bytes()),
    }
}

fn write_column(column: &ColumnView<'_>, out: &mut dyn Write) -> io::Result<()> {
    let letters = Letters::of(column);
    match &letters {
        Letters::ByRow(_) if column.cell.kind == CellKind::Text => {
            let mut start = 0;
            for text in column.texts() {
                let len = text.len() as u64;
                out.write_all(bytemuck::bytes_of(&Extent { start, len }))?;
                start += len;
            }
        }
        _ => out.write_all(column.cells)?,
    }
    if let Some(valid) = column.valid {
        out.write_all(bytemuck::cast_slice(valid))?;
    }
    match letters {
        Letters::ByRow(0) => Ok(()),
        Letters::ByRow(_) => column
            .texts()
            .try_for_each(|text| out.write_all(text.as_bytes())),
        Letters::Heap(heap) => out.write_all(heap),
    }
}

pub(super) fn read(
    shape: &Shape,
    input: &mut dyn Read,
    account: &Arc<Account>,
) -> Result<Data, Unusable> {
    match shape {
        Shape::Tensor { dtype, shape } => {
            let dtype = find(dtype).ok_or_else(unknown)?;
            let bytes = tensor::size(dtype, shape).ok_or_else(unknown)?;
            let mut buffer = account.allocate(bytes)?;
            input.read_exact(buffer.bytes_mut())?;
            Ok(Data::Tensor(Tensor::contiguous(dtype, shape, buffer)))
        }
        Shape::Column { rows, column } => {
            Ok(Data::Column(read_column(column, *rows, input, account)?))
        }
        Shape::Table { rows, columns } => {
            let mut cells = IndexMap::new();
            let mut read = Vec::new();
            for (name, column) in columns {
                cells.insert(name.clone(), column.cell().ok_or_else(unknown)?);
                read.push(read_column(column, *rows, input, account)?);
            }
            Ok(Data::Table(Table {
                cells: Arc::new(cells),
                rows: *rows,
                columns: read.into(),
            }))
        }
        Shape::Text { bytes } => {
            let charge = account.charge(*bytes as u64)?;
            let mut letters = vec![0; *bytes];
            input.read_exact(&mut letters)?;
            let text = String::from_utf8(letters).map_err(|_| damaged("its text is not UTF-8"))?;
            Ok(Data::Text(Text::new(text, charge)))
        }
    }
}

fn read_column(
    column: &Cells,
    rows: usize,
    input: &mut dyn Read,
    account: &Arc<Account>,
) -> Result<Column, Unusable> {
    let allocate = |bytes| account.allocate(bytes);
    let heap = match column.dtype {
        Some(_) => HeapSpace::None,
        None => HeapSpace::New(allocate(column.letters)?),
    };
    let cell = column.cell().ok_or_else(unknown)?;
    let mut space = ColumnSpace::new(cell, rows, heap, &allocate)?;
    let column = space.space();
    input.read_exact(column.cells)?;
    if let Some(valid) = column.valid {
        input.read_exact(bytemuck::cast_slice_mut(valid))?;
    }
    input.read_exact(column.heap)?;
    Ok(space.filled())
}

fn find(dtype: &str) -> Option<DType> {
    dtype.parse().ok()
}

fn unknown() -> Unusable {
    damaged("it holds what this version of haul does not know")
}
