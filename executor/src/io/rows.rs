//! Tables in text: comma-separated values, and lines of JSON.

use haul_ir::op::KernelError;
use haul_ir::rows::{PartSize, Rows, cut};
use haul_ir::types::{CellKind, CellType, TableType, ValueType};
use rayon::prelude::*;

use super::open::{OpenError, Opened, Opening};
use crate::memory::{Charge, Shortage};
use crate::table::{ColumnSpace, HeapSpace, Table};
use crate::tensor::Data;

/// What is done with rows.
pub(super) type Visit<'v> = &'v mut dyn FnMut(&dyn Rows) -> Result<(), KernelError>;

/// Looks at a text as rows.
pub(super) type WithRows<'a> = Box<dyn Fn(Visit<'_>) -> Result<(), KernelError> + 'a>;

/// A file whose text was read and measured.
pub(super) struct RowsFile<'a> {
    opening: &'a Opening<'a>,
    ty: &'a TableType,
    with_rows: WithRows<'a>,
    parts: Vec<PartSize>,
    /// For the text.
    _charge: Charge,
}

impl<'a> RowsFile<'a> {
    pub(super) fn open(
        opening: &'a Opening<'a>,
        ty: &'a TableType,
        with_rows: WithRows<'a>,
        charge: Charge,
    ) -> Result<Self, OpenError> {
        let mut parts = Vec::new();
        let measured = with_rows(&mut |rows| {
            let sizes = (0..rows.parts()).into_par_iter();
            let sizes: Vec<_> = sizes.map(|part| rows.measure(part)).collect();
            // The error that comes first in the file.
            parts = sizes.into_iter().collect::<Result<_, _>>()?;
            Ok(())
        });
        measured.map_err(|error| opening.error(error))?;
        Ok(Self {
            opening,
            ty,
            with_rows,
            parts,
            _charge: charge,
        })
    }

    fn rows(&self) -> usize {
        self.parts.iter().map(|part| part.rows).sum()
    }

    fn spaces(&self) -> Result<Vec<ColumnSpace>, Shortage> {
        let allocate = |bytes| self.opening.access.account.allocate(bytes);
        let letters = |at: usize| self.parts.iter().map(|part| part.letters[at]).sum();
        let space = |(at, cell): (usize, &CellType)| {
            let heap = match cell.kind {
                CellKind::Text => HeapSpace::New(allocate(letters(at))?),
                CellKind::Element(_) => HeapSpace::None,
            };
            ColumnSpace::new(*cell, self.rows(), heap, &allocate)
        };
        self.ty.columns.values().enumerate().map(space).collect()
    }
}

impl Opened for RowsFile<'_> {
    fn header(&self) -> ValueType {
        let rows = (self.rows() as u64).into();
        ValueType::Table(self.ty.clone()).with_sizes(vec![rows])
    }

    fn read(self: Box<Self>) -> Result<Data, OpenError> {
        let mut spaces = self.spaces()?;
        let mut columns: Vec<_> = spaces.iter_mut().map(ColumnSpace::space).collect();
        let filled = (self.with_rows)(&mut |rows| {
            let parts = cut(&mut columns, &self.parts).into_par_iter().enumerate();
            let filled: Vec<_> = parts
                .map(|(part, mut columns)| rows.fill(part, &mut columns))
                .collect();
            filled.into_iter().collect()
        });
        filled.map_err(|error| self.opening.error(error))?;
        Ok(Data::Table(Table {
            cells: self.ty.columns.clone(),
            rows: self.rows(),
            columns: spaces.into_iter().map(ColumnSpace::filled).collect(),
        }))
    }
}
