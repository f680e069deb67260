//! Columns of Arrow arrays as a table.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::DataType;
use haul_ir::column::{ColumnMut, Extent};
use haul_ir::dtype::DType;
use haul_ir::types::{CellKind, CellType, TableType, ValueType};

use super::columns::{column_at, find, in_cell, in_order, not_as_declared, numbers_of};
use super::element::{Element, Truth, is_readable, with_element};
use super::leaf::{Leaf, is_text, texts};
use super::{Source, visit};
use crate::error::IoError;
use crate::io::open::{OpenError, Opened, Opening};
use crate::memory::Shortage;
use crate::table::{ColumnSpace, HeapSpace, Table};
use crate::tensor::Data;

/// Columns of a file that make a table: those that its type names.
pub(super) struct TableFile<'a> {
    opening: &'a Opening<'a>,
    source: Box<dyn Source + 'a>,
    ty: &'a TableType,
    /// The position of each in the file.
    positions: Vec<usize>,
}

impl<'a> TableFile<'a> {
    /// The columns of a type.
    ///
    /// # Errors
    /// A column is not there, or holds something else than the type says.
    pub(super) fn choose(
        opening: &'a Opening<'a>,
        source: Box<dyn Source + 'a>,
        ty: &'a TableType,
    ) -> Result<Self, IoError> {
        let schema = source.schema();
        let mut positions = Vec::new();
        for (name, cell) in ty.columns.iter() {
            let at = find(schema, name).map_err(|message| opening.error(message))?;
            check(opening, name, *cell, schema.field(at).data_type())?;
            positions.push(at);
        }
        Ok(Self {
            opening,
            source,
            ty,
            positions,
        })
    }

    /// The bytes of all letters of each column, as only reading them tells.
    fn letters(&self) -> Result<Vec<usize>, OpenError> {
        let mut letters = vec![0_usize; self.positions.len()];
        let of_text: Vec<_> = (0..letters.len())
            .filter(|at| self.ty.columns[*at].kind == CellKind::Text)
            .collect();
        if of_text.is_empty() {
            return Ok(letters);
        }
        let read: Vec<_> = of_text.iter().map(|at| self.positions[*at]).collect();
        let read = in_order(&read);
        let columns = (&read[..], self.row_bytes());
        visit(self.opening, &*self.source, columns, &mut |batch, _| {
            for at in &of_text {
                let array = self.column(batch, &read, *at)?;
                let texts = texts(array).map_err(|error| self.opening.error(error))?;
                let found = texts.iter().flatten().map(|text| text.len());
                letters[*at] = letters[*at].saturating_add(found.sum());
            }
            Ok(())
        })?;
        Ok(letters)
    }

    fn spaces(&self, letters: &[usize]) -> Result<Vec<ColumnSpace>, Shortage> {
        let allocate = |bytes| self.opening.access.account.allocate(bytes);
        let space = |(cell, letters): (&CellType, &usize)| {
            let heap = match cell.kind {
                CellKind::Text => HeapSpace::New(allocate(*letters)?),
                CellKind::Element(_) => HeapSpace::None,
            };
            ColumnSpace::new(*cell, self.source.rows(), heap, &allocate)
        };
        self.ty.columns.values().zip(letters).map(space).collect()
    }

    /// Fills the rows of a batch, of which the first is `first`, where the letters of each column
    /// so far fill `used` bytes.
    fn fill(
        &self,
        batch: &RecordBatch,
        first: usize,
        read: &[usize],
        columns: &mut [ColumnMut<'_>],
        used: &mut [usize],
    ) -> Result<(), IoError> {
        for (at, (column, used)) in columns.iter_mut().zip(used).enumerate() {
            let array = self.column(batch, read, at)?;
            match column.cell.kind {
                CellKind::Text => self.fill_texts(at, array, first, column, used)?,
                CellKind::Element(dtype) => with_element!(
                    dtype,
                    D => self.fill_elements::<D>(at, array, first, column)?,
                    return Err(self.opening.error("a table holds real numbers"))
                ),
            }
        }
        Ok(())
    }

    fn fill_elements<D: Element>(
        &self,
        at: usize,
        array: &ArrayRef,
        first: usize,
        column: &mut ColumnMut<'_>,
    ) -> Result<(), IoError> {
        let leaf = Leaf::of(array).map_err(|error| self.opening.error(error))?;
        leaf.each(|row, number| {
            let row = first + row;
            if !self.is_there(at, row, number.is_some(), column)? {
                return Ok(());
            }
            let number = number.into_iter();
            let elements: &mut [D] = bytemuck::cast_slice_mut(column.cells);
            for number in number {
                let element = D::of(number).ok_or_else(|| {
                    let what = format!("{number} is no {}", column.cell);
                    in_cell(self.opening, row, self.name(at), &what)
                })?;
                elements[row] = element;
            }
            Ok(())
        })
    }

    fn fill_texts(
        &self,
        at: usize,
        array: &ArrayRef,
        first: usize,
        column: &mut ColumnMut<'_>,
        used: &mut usize,
    ) -> Result<(), IoError> {
        let texts = texts(array).map_err(|error| self.opening.error(error))?;
        for (row, text) in texts.into_iter().enumerate() {
            let row = first + row;
            if !self.is_there(at, row, text.is_some(), column)? {
                continue;
            }
            let text = text.unwrap_or_default();
            let letters = column.heap.get_mut(*used..).unwrap_or_default();
            let letters = letters.get_mut(..text.len());
            let letters =
                letters.ok_or_else(|| self.opening.error("it changes while it is read"))?;
            letters.copy_from_slice(text.as_bytes());
            let (start, len) = (*used as u64, text.len() as u64);
            column.extents()[row] = Extent { start, len };
            *used += text.len();
        }
        Ok(())
    }

    /// Notes whether a cell is there.
    ///
    /// # Errors
    /// It is not, and has to be.
    fn is_there(
        &self,
        at: usize,
        row: usize,
        is_there: bool,
        column: &mut ColumnMut<'_>,
    ) -> Result<bool, IoError> {
        match &mut column.valid {
            Some(valid) => valid[row] = is_there.into(),
            None if is_there => {}
            None => {
                let cell = column.cell;
                let what = format!("there is nothing; declare the column as `{cell}?`");
                return Err(in_cell(self.opening, row, self.name(at), &what));
            }
        }
        Ok(is_there)
    }

    fn column<'b>(
        &self,
        batch: &'b RecordBatch,
        read: &[usize],
        at: usize,
    ) -> Result<&'b ArrayRef, IoError> {
        column_at(batch, read, self.positions[at]).map_err(|message| self.opening.error(message))
    }

    fn name(&self, at: usize) -> &str {
        self.ty.columns.get_index(at).map_or("", |(name, _)| name)
    }

    fn row_bytes(&self) -> usize {
        self.ty
            .columns
            .values()
            .map(|cell| cell.size() as usize)
            .sum()
    }
}

impl Opened for TableFile<'_> {
    fn header(&self) -> ValueType {
        let rows = (self.source.rows() as u64).into();
        ValueType::Table(self.ty.clone()).with_sizes(vec![rows])
    }

    fn read(self: Box<Self>) -> Result<Data, OpenError> {
        let mut spaces = self.spaces(&self.letters()?)?;
        let mut columns: Vec<_> = spaces.iter_mut().map(ColumnSpace::space).collect();
        let mut used = vec![0; columns.len()];
        let read = in_order(&self.positions);
        let of_rows = (&read[..], self.row_bytes());
        visit(self.opening, &*self.source, of_rows, &mut |batch, first| {
            self.fill(batch, first, &read, &mut columns, &mut used)
        })?;
        Ok(Data::Table(Table {
            cells: self.ty.columns.clone(),
            rows: self.source.rows(),
            columns: spaces.into_iter().map(ColumnSpace::filled).collect(),
        }))
    }
}

/// Whether a column can be read as cells of a type.
fn check(opening: &Opening<'_>, name: &str, cell: CellType, ty: &DataType) -> Result<(), IoError> {
    let holds = |what: &str| opening.error(format!("column `{name}` holds {what}, not {cell}"));
    let CellKind::Element(declared) = cell.kind else {
        return match is_text(ty) {
            true => Ok(()),
            false => Err(holds(&ty.to_string())),
        };
    };
    match numbers_of(ty) {
        Err((what, _)) => Err(holds(&what)),
        Ok((_, sizes)) if !sizes.is_empty() => Err(holds("lists")),
        Ok((found, _)) if is_readable(found, declared) => Ok(()),
        Ok((found, _)) => Err(not_as_declared(opening, name, found, declared)),
    }
}
