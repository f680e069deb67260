//! Columns of a table, told for each group of rows that have the same key.

use std::sync::Arc;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use half::{bf16, f16};
use haul_ir::column::{ColumnMut, ColumnView, DataMut, DataView, Measured};
use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{
    ArgType, Call, CpuKernel, DataCall, Example, Family, Fault, GpuKernel, InferError, Inferred,
    KernelError, ParamKind, Work,
};
use haul_ir::types::{CellKind, CellType, TableType, ValueType};
use rayon::prelude::*;

use super::rows::{as_column, key_of, measured, take};
use super::{SIZE, WHY, value};
use crate::ops::array_op::{ArrayOp, attribute};
use crate::ops::sizes::Groups;

pub(crate) static GROUP_BY: ArrayOp = ArrayOp {
    name: "group_by",
    doc: "The distinct values of `key` in ascending order, and for each of them the 'mean', 'sum', \
          'min' or 'max' of the cells of `x` in the rows that have it, or their 'count': `x` is a \
          table, whose columns are taken each by itself, a column, or a tensor of one axis. Rows \
          whose key is missing belong to no group, and missing cells do not count: a sum of none \
          is 0, a mean, a least or a largest of none is missing. NaN is a key, the last one, and a \
          cell that makes the result NaN. Sums and means of floats are computed in `f64`; integers \
          are summed in 64 bits, and their mean is `f64`. Only the data knows how many groups there \
          are: plans count with all rows, unless `size` names a size of `dims`. Needs 16 bytes for \
          each row.",
    params: &[
        value("x"),
        value("key"),
        attribute(
            "aggregate",
            ParamKind::Word(&["mean", "sum", "min", "max", "count"]),
            "'mean'",
        ),
        SIZE,
    ],
    rule: "table[n], type[n] -> type[size], table[size]",
    family: Family::Reduce,
    infer,
    work: |call, outputs| {
        let (rows, cells) = match cells_of(&call.inputs[0]) {
            Some((rows, cells)) => (rows, cells.len() as u64),
            None => (Expr::ZERO, 0),
        };
        let told = &rows * &Expr::from(cells);
        Work::of(&rows * &rows.log2() + told, call, outputs)
    },
    work_formula: "n*log2(n) flops of n rows, and one a cell",
    cpu: CpuKernel::Measured {
        measure: |call| {
            let groups = Groups::of(&call.inputs[1])?;
            let count = groups.count();
            Ok(vec![
                measured(&call.inputs[1], 1, count),
                Measured::plain(vec![count]),
            ])
        },
        fill,
    },
    gpu: GpuKernel::None(WHY),
    examples: &[
        Example {
            formula: "towns, means = group_by(t, town)",
            given: &[
                (
                    "t",
                    "table[4]{rain: f64?, days: i64}",
                    "1.5 missing 2.5 4; 3 1 4 2",
                ),
                ("town", "text[4]", "'Ulm' 'Bonn' 'Ulm' 'Bonn'"),
            ],
            result: ("text[2]", "'Bonn' 'Ulm'"),
        },
        Example {
            formula: "keys, most = group_by(x, key, 'max')",
            given: &[
                ("x", "f32[3]", "1.5 -2 4"),
                ("key", "i64?[3]", "7 missing 7"),
            ],
            result: ("i64[1]", "7"),
        },
    ],
};

/// What is told of the cells of a group.
#[derive(Clone, Copy)]
enum Aggregate {
    Mean,
    Sum,
    Min,
    Max,
    Count,
}

impl Aggregate {
    fn of(word: Option<&str>) -> Self {
        match word {
            Some("sum") => Self::Sum,
            Some("min") => Self::Min,
            Some("max") => Self::Max,
            Some("count") => Self::Count,
            _ => Self::Mean,
        }
    }

    /// What it makes of cells; nothing of those that it does not take.
    fn cell(self, cell: CellType) -> Option<CellType> {
        let CellKind::Element(dtype) = cell.kind else {
            let count = CellType::new(CellKind::Element(DType::I64));
            return matches!(self, Self::Count).then_some(count);
        };
        let (dtype, is_optional) = match (self, dtype.kind()) {
            (Self::Count, _) => (DType::I64, false),
            (_, Kind::Complex) => return None,
            (Self::Mean, Kind::Float) | (Self::Min | Self::Max, _) => (dtype, cell.is_optional),
            (Self::Mean, _) => (DType::F64, cell.is_optional),
            (Self::Sum, Kind::Float) => (dtype, false),
            (Self::Sum, _) if dtype.is_unsigned() => (DType::U64, false),
            (Self::Sum, _) => (DType::I64, false),
        };
        let kind = CellKind::Element(dtype);
        Some(CellType { kind, is_optional })
    }

    /// What it makes of some rows of a column; nothing where none of them is there.
    fn of_rows(self, column: &ColumnView<'_>, rows: &[usize]) -> Option<Number> {
        let rows = rows.iter().filter(|row| column.is_valid(**row));
        let CellKind::Element(dtype) = column.cell.kind else {
            return Some(Number::Int(rows.count() as i128));
        };
        let numbers = rows.map(|row| number(dtype, column.cells, *row));
        match self {
            Self::Count => Some(Number::Int(numbers.count() as i128)),
            Self::Sum => Some(numbers.fold(Number::Int(0), Number::plus)),
            Self::Min => numbers.reduce(|least, next| next.before(least)),
            Self::Max => {
                numbers.reduce(|most, next| next.negated().before(most.negated()).negated())
            }
            Self::Mean => {
                let (count, sum) = numbers.fold((0, Number::Int(0)), |(count, sum), next| {
                    (count + 1, sum.plus(next))
                });
                (count > 0).then(|| Number::Float(sum.float() / f64::from(count)))
            }
        }
    }
}

fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let Some((rows, cells)) = cells_of(&call.inputs[0]) else {
        let message = format!("needs a table or a column, this is {}", call.inputs[0]);
        return Err(InferError::new(Fault::Type, message).on(0));
    };
    let key = key_of(call, 1, &rows)?;
    let size = call.attrs.size("size")?;
    let word = call.attrs.word("aggregate");
    let aggregate = Aggregate::of(word);
    let mut cells = cells.iter();
    let refused = cells.find(|(_, cell)| aggregate.cell(*cell).is_none());
    if let Some((name, cell)) = refused {
        let what = word.unwrap_or("mean");
        let message = format!("there is no {what} of {name}, which holds {cell}");
        let help = "leave it out, with `select(t, ['a', 'b'])`, or take the 'count'";
        return Err(InferError::new(Fault::Type, message).on(0).help(help));
    }
    let made = |cell: &CellType| aggregate.cell(*cell).unwrap_or(*cell);
    let told = match &call.inputs[0] {
        ArgType::Value(ValueType::Table(table)) => {
            let columns = table.columns.iter();
            let columns = columns.map(|(name, cell)| (name.clone(), made(cell)));
            ValueType::Table(TableType {
                rows: size.clone(),
                columns: Arc::new(columns.collect()),
            })
        }
        ArgType::Value(ValueType::Column(column)) => {
            ValueType::of_cells(made(&column.cell), size.clone())
        }
        other => {
            let tensor = other.tensor();
            let dtype = tensor.map_or(DType::F64, |tensor| tensor.dtype);
            let cell = CellType::new(CellKind::Element(dtype));
            ValueType::of_cells(made(&cell), size.clone())
        }
    };
    let keys = ValueType::of_cells(CellType::new(key.kind), size.clone());
    let inferred = Inferred::new(vec![None, None], vec![keys, told]);
    Ok(inferred.bounded(&size, rows))
}

/// How many rows an input has, and what each column of it is called and holds.
fn cells_of(input: &ArgType) -> Option<(Expr, Vec<(String, CellType)>)> {
    let one = |cell| vec![("this column".to_owned(), cell)];
    match input {
        ArgType::Value(ValueType::Table(table)) => {
            let cells = table.columns.iter();
            let cells = cells.map(|(name, cell)| (format!("column `{name}`"), *cell));
            Some((table.rows.clone(), cells.collect()))
        }
        ArgType::Value(ValueType::Column(column)) => Some((column.rows.clone(), one(column.cell))),
        ArgType::Value(ValueType::Tensor(tensor)) => match &tensor.shape[..] {
            [rows] => {
                let cell = CellType::new(CellKind::Element(tensor.dtype));
                Some((rows.clone(), one(cell)))
            }
            _ => None,
        },
        _ => None,
    }
}

fn fill(call: &DataCall<'_, '_>, outputs: &mut [DataMut<'_>]) -> Result<(), KernelError> {
    let groups = Groups::of(&call.inputs[1])?;
    let aggregate = Aggregate::of(call.attrs.word("aggregate"));
    let [keys, told] = outputs else {
        return Err(KernelError::new("there is no space for keys and columns"));
    };
    take(&call.inputs[1], &groups.firsts(), keys)?;
    let rows: Vec<_> = groups.iter().collect();
    let tell = |column: &ColumnView<'_>, made: &mut ColumnMut<'_>| {
        let results = rows.par_iter().map(|rows| aggregate.of_rows(column, rows));
        put(&results.collect::<Vec<_>>(), made);
    };
    match (&call.inputs[0], told) {
        (DataView::Table(columns), DataMut::Table(made)) => {
            columns
                .iter()
                .zip(made)
                .for_each(|(column, made)| tell(column, made));
        }
        (one, DataMut::Column(made)) => tell(&as_column(one)?, made),
        (one, DataMut::Tensor(made)) => {
            let mut made = ColumnMut {
                cell: CellType::new(CellKind::Element(made.dtype)),
                cells: &mut *made.bytes,
                valid: None,
                heap: &mut [],
            };
            tell(&as_column(one)?, &mut made);
        }
        _ => return Err(KernelError::new("the result is of another kind")),
    }
    Ok(())
}

/// A number of a cell, or what is made of several.
#[derive(Clone, Copy)]
enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    fn float(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Self::Int(a.wrapping_add(b)),
            _ => Self::Float(self.float() + other.float()),
        }
    }

    fn negated(self) -> Self {
        match self {
            Self::Int(value) => Self::Int(-value),
            Self::Float(value) => Self::Float(-value),
        }
    }

    /// The lesser of two, or NaN.
    fn before(self, other: Self) -> Self {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Self::Int(a.min(b)),
            _ if self.float().is_nan() || self.float() < other.float() => self,
            _ => other,
        }
    }
}

fn number(dtype: DType, cells: &[u8], row: usize) -> Number {
    fn at<T: Pod>(cells: &[u8], row: usize) -> T {
        cast_slice::<_, T>(cells)[row]
    }
    match dtype {
        DType::Bool | DType::U8 => Number::Int(cells[row].into()),
        DType::U16 => Number::Int(at::<u16>(cells, row).into()),
        DType::U32 => Number::Int(at::<u32>(cells, row).into()),
        DType::U64 => Number::Int(at::<u64>(cells, row).into()),
        DType::I8 => Number::Int(at::<i8>(cells, row).into()),
        DType::I16 => Number::Int(at::<i16>(cells, row).into()),
        DType::I32 => Number::Int(at::<i32>(cells, row).into()),
        DType::I64 => Number::Int(at::<i64>(cells, row).into()),
        DType::F16 => Number::Float(at::<f16>(cells, row).into()),
        DType::Bf16 => Number::Float(at::<bf16>(cells, row).into()),
        DType::F32 => Number::Float(at::<f32>(cells, row).into()),
        DType::F64 => Number::Float(at::<f64>(cells, row)),
        // Only counted.
        DType::C64 | DType::C128 => Number::Int(0),
    }
}

/// Fills a column; sums of integers wrap.
fn put(numbers: &[Option<Number>], column: &mut ColumnMut<'_>) {
    fn all<T: Pod>(numbers: &[Option<Number>], cells: &mut [u8], as_cell: fn(Number) -> T) {
        let cells: &mut [T] = cast_slice_mut(cells);
        for (cell, number) in cells.iter_mut().zip(numbers) {
            *cell = as_cell(number.unwrap_or(Number::Int(0)));
        }
    }
    fn int(number: Number) -> i128 {
        match number {
            Number::Int(value) => value,
            Number::Float(value) => value as i128,
        }
    }
    if let Some(valid) = &mut column.valid {
        for (valid, number) in valid.iter_mut().zip(numbers) {
            *valid = number.is_some().into();
        }
    }
    let (CellKind::Element(dtype), cells) = (column.cell.kind, &mut *column.cells) else {
        return;
    };
    match dtype {
        DType::Bool | DType::U8 => all::<u8>(numbers, cells, |n| int(n) as u8),
        DType::U16 => all::<u16>(numbers, cells, |n| int(n) as u16),
        DType::U32 => all::<u32>(numbers, cells, |n| int(n) as u32),
        DType::U64 => all::<u64>(numbers, cells, |n| int(n) as u64),
        DType::I8 => all::<i8>(numbers, cells, |n| int(n) as i8),
        DType::I16 => all::<i16>(numbers, cells, |n| int(n) as i16),
        DType::I32 => all::<i32>(numbers, cells, |n| int(n) as i32),
        DType::I64 => all::<i64>(numbers, cells, |n| int(n) as i64),
        DType::F16 => all::<f16>(numbers, cells, |n| f16::from_f64(n.float())),
        DType::Bf16 => all::<bf16>(numbers, cells, |n| bf16::from_f64(n.float())),
        DType::F32 => all::<f32>(numbers, cells, |n| n.float() as f32),
        DType::F64 => all::<f64>(numbers, cells, Number::float),
        DType::C64 | DType::C128 => {}
    }
}
