//! Files of JSON lines, plain or gzipped: numbers as a tensor, or a table.

use haul_ir::dtype::DType;
use haul_ir::format::JSONL;
use haul_ir::jsonl::{JsonArrays, JsonRows};
use haul_ir::op::KernelError;
use haul_ir::types::ValueType;
use rayon::prelude::*;

use super::Codec;
use super::csv::read_text;
use super::open::{Header, OpenError, Opened, Opening};
use super::rows::{RowsFile, Visit};
use crate::error::IoError;
use crate::memory::Charge;
use crate::tensor::Data;

pub(super) static CODEC: Codec = Codec {
    format: &JSONL,
    open: Some(|opening| match opening.table {
        None => Ok(Box::new(JsonlFile::open(opening)?)),
        Some(ty) => {
            let (text, charge) = read_text(opening)?;
            let rows = move |visit: Visit<'_>| visit(&JsonRows::new(&text, ty));
            Ok(Box::new(RowsFile::open(
                opening,
                ty,
                Box::new(rows),
                charge,
            )?))
        }
    }),
    write: None,
};

/// A file of numbers that was read as text and measured.
struct JsonlFile<'a> {
    opening: &'a Opening<'a>,
    text: String,
    rank: usize,
    /// Elements of each line.
    width: usize,
    /// Rows of each part of the text.
    rows: Vec<usize>,
    /// For the text.
    _charge: Charge,
}

impl<'a> JsonlFile<'a> {
    fn open(opening: &'a Opening<'a>) -> Result<Self, OpenError> {
        let (text, charge) = read_text(opening)?;
        let failed = |error: KernelError| opening.error(error);
        let first = text.trim_start_matches('\u{feff}').trim_start();
        let rank = if first.starts_with('[') { 2 } else { 1 };
        let lines = JsonArrays::new(&text, rank).map_err(failed)?;
        let rows = (0..lines.parts()).into_par_iter();
        let rows: Vec<_> = rows.map(|part| lines.rows(part)).collect();
        let rows = rows.into_iter().collect::<Result<_, _>>().map_err(failed)?;
        Ok(Self {
            opening,
            rank,
            width: lines.width().unwrap_or(1),
            rows,
            text,
            _charge: charge,
        })
    }

    fn shape(&self) -> Header {
        let rows = self.rows.iter().sum();
        Header {
            dtype: self.opening.declared.map_or(DType::F64, |ty| ty.dtype),
            shape: match self.rank {
                1 => vec![rows],
                _ => vec![rows, self.width],
            },
        }
    }

    fn fill(&self, dtype: DType, out: &mut [u8]) -> Result<(), IoError> {
        let failed = |error: KernelError| self.opening.error(error);
        let lines = JsonArrays::new(&self.text, self.rank).map_err(failed)?;
        let row = self.width * dtype.size() as usize;
        let mut rest = out;
        let mut parts = Vec::new();
        for (part, rows) in self.rows.iter().enumerate() {
            let (first, others) = rest.split_at_mut(rows * row);
            parts.push((part, first));
            rest = others;
        }
        let filled = parts
            .into_par_iter()
            .map(|(part, out)| lines.fill(part, dtype, out));
        let filled: Vec<_> = filled.collect();
        // The error that comes first in the file.
        filled.into_iter().collect::<Result<_, _>>().map_err(failed)
    }
}

impl Opened for JsonlFile<'_> {
    fn header(&self) -> ValueType {
        self.shape().ty()
    }

    fn read(self: Box<Self>) -> Result<Data, OpenError> {
        let shape = self.shape();
        let dtype = shape.dtype;
        self.opening.tensor(&shape, |out| self.fill(dtype, out))
    }
}
