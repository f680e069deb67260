//! Rows in the order of a column.

use std::cmp::Ordering;

use haul_ir::column::ColumnView;
use haul_ir::expr::Expr;
use haul_ir::op::{
    ArgType, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, ParamKind,
    Work,
};
use haul_ir::types::{CellKind, ValueType};
use rayon::prelude::*;

use super::rows::{as_column, key_of, measured, take};
use super::{WHY, value};
use crate::ops::array_op::{ArrayOp, attribute};
use crate::ops::order::keys;

pub(crate) static SORT_BY: ArrayOp = ArrayOp {
    name: "sort_by",
    doc: "The rows of a table or column in ascending order of a key, or descending: another column \
          of as many rows, or a tensor. Text is ordered by its code points, NaN counts as larger \
          than every number, and missing values come last. Equal rows stay in their order. Needs 16 \
          bytes for each row.",
    params: &[
        value("x"),
        value("key"),
        attribute("descending", ParamKind::Bool, "false"),
    ],
    rule: "table[n], type[n] -> table[n]",
    family: Family::Reduce,
    infer,
    work: |call, outputs| {
        let rows = call.inputs.first().and_then(rows_of).unwrap_or(&Expr::ZERO);
        Work::of(rows * &rows.log2(), call, outputs)
    },
    work_formula: "n*log2(n) flops of n rows",
    cpu: CpuKernel::Measured {
        measure: |call| {
            Ok(vec![measured(
                &call.inputs[0],
                0,
                as_column(&call.inputs[1])?.rows(),
            )])
        },
        fill: |call, outputs| {
            let rows = order(&as_column(&call.inputs[1])?, call.attrs.flag("descending"));
            take(&call.inputs[0], &rows, &mut outputs[0])
        },
    },
    gpu: GpuKernel::None(WHY),
    examples: &[
        Example {
            formula: "sort_by(t, key)",
            given: &[
                (
                    "t",
                    "table[3]{name: text, n: i64}",
                    "'Ada' 'Bo' 'Cy'; 1 2 3",
                ),
                ("key", "i64?[3]", "45 missing 31"),
            ],
            result: ("table[3]{name: text, n: i64}", "'Cy' 'Ada' 'Bo'; 3 1 2"),
        },
        Example {
            formula: "sort_by(t, key, descending=true)",
            given: &[
                ("t", "table[3]{n: i64}", "1 2 3"),
                ("key", "text[3]", "'b' 'é' 'b'"),
            ],
            result: ("table[3]{n: i64}", "2 1 3"),
        },
    ],
};

fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let rows = call.inputs.first().and_then(rows_of);
    let (Some(rows), ArgType::Value(x)) = (rows, &call.inputs[0]) else {
        let message = format!("needs a table or a column, this is {}", call.inputs[0]);
        let error = InferError::new(Fault::Type, message).on(0);
        return Err(error.help("`sort(x)` sorts a tensor"));
    };
    key_of(call, 1, rows)?;
    Ok(Inferred::plain(2, x.clone()))
}

/// How many rows a table or column has.
fn rows_of(input: &ArgType) -> Option<&Expr> {
    match input {
        ArgType::Value(ValueType::Table(table)) => Some(&table.rows),
        ArgType::Value(ValueType::Column(column)) => Some(&column.rows),
        _ => None,
    }
}

/// Positions of rows in the order of their cells.
fn order(column: &ColumnView<'_>, descending: bool) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..column.rows()).collect();
    match column.cell.kind {
        CellKind::Text => {
            let texts: Vec<&str> = column.texts().collect();
            sort_rows(&mut rows, column, descending, &|a, b| {
                texts[a].cmp(texts[b])
            });
        }
        CellKind::Element(dtype) => {
            let keys = keys(dtype, column.cells);
            sort_rows(&mut rows, column, descending, &|a, b| keys[a].cmp(&keys[b]));
        }
    }
    rows
}

fn sort_rows(
    rows: &mut [usize],
    column: &ColumnView<'_>,
    descending: bool,
    compare: &(dyn Fn(usize, usize) -> Ordering + Sync),
) {
    // No two rows are equal, so the order does not depend on the threads.
    rows.par_sort_unstable_by(|&a, &b| {
        let missing = column.is_valid(b).cmp(&column.is_valid(a));
        let cells = || match descending {
            true => compare(b, a),
            false => compare(a, b),
        };
        missing.then_with(cells).then(a.cmp(&b))
    });
}
