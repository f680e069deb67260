//! Columns by name.

use std::sync::Arc;

use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, ParamKind,
};
use haul_ir::types::TableType;

use super::{WHY, known, table, value};
use crate::ops::NO_WORK;
use crate::ops::array_op::{ArrayOp, required};

const PEOPLE: (&str, &str, &str) = (
    "t",
    "table[2]{name: text, age: i64, height: f64?}",
    "'Ada' 'Bo'; 31 45; 1.7 missing",
);

pub(crate) static COLUMN: ArrayOp = ArrayOp {
    name: "column",
    doc: "A column of a table by its name; also written `t.name` or `t['name']`. It is a tensor \
          where it holds numbers of which none may be missing. Nothing is copied.",
    params: &[value("t"), required("name", ParamKind::Quoted)],
    rule: "table[n]{a: type, ..} -> type[n]",
    family: Family::Move,
    infer: |call| {
        let table = table(call, 0)?;
        let name = call.attrs.quoted("name").unwrap_or_default();
        known(table, name, "name")?;
        let column = table.column(name);
        let column = column.ok_or_else(|| InferError::new(Fault::Value, "there is no column"))?;
        Ok(Inferred::plain(1, column))
    },
    work: |_, _| NO_WORK,
    work_formula: "0 flops",
    cpu: CpuKernel::Columns(|table, attrs| {
        places(table, attrs.quoted("name").into_iter()).collect()
    }),
    gpu: GpuKernel::None(WHY),
    examples: &[
        Example {
            formula: "column(t, 'age')",
            given: &[PEOPLE],
            result: ("i64[2]", "31 45"),
        },
        Example {
            formula: "column(t, 'height')",
            given: &[PEOPLE],
            result: ("f64?[2]", "1.7 missing"),
        },
    ],
};

pub(crate) static SELECT: ArrayOp = ArrayOp {
    name: "select",
    doc: "A table of some columns, in the order in which they are named: \
          `select(t, ['name', 'age'])`. Nothing is copied.",
    params: &[value("t"), required("columns", ParamKind::Words)],
    rule: "table[n]{..} -> table[n]{..}",
    family: Family::Move,
    infer: select,
    work: |_, _| NO_WORK,
    work_formula: "0 flops",
    cpu: CpuKernel::Columns(|table, attrs| {
        let names = attrs.words("columns").iter();
        places(table, names.map(|name| &**name)).collect()
    }),
    gpu: GpuKernel::None(WHY),
    examples: &[Example {
        formula: "select(t, ['height', 'name'])",
        given: &[PEOPLE],
        result: (
            "table[2]{height: f64?, name: text}",
            "1.7 missing; 'Ada' 'Bo'",
        ),
    }],
};

fn select(call: &Call<'_>) -> Result<Inferred, InferError> {
    let table = table(call, 0)?;
    let mut columns = indexmap::IndexMap::new();
    for name in call.attrs.words("columns") {
        known(table, name, "columns")?;
        if columns
            .insert(name.to_string(), table.columns[&**name])
            .is_some()
        {
            let message = format!("column `{name}` is named twice");
            return Err(InferError::new(Fault::Value, message).on_attr("columns"));
        }
    }
    let columns = Arc::new(columns);
    let rows = table.rows.clone();
    Ok(Inferred::plain(
        1,
        haul_ir::types::ValueType::Table(TableType { rows, columns }),
    ))
}

/// Where a table has columns.
fn places<'a>(
    table: &'a TableType,
    names: impl Iterator<Item = &'a str> + 'a,
) -> impl Iterator<Item = usize> + 'a {
    names.filter_map(|name| table.columns.get_index_of(name))
}
