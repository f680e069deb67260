//! Columns and rows of tables, of columns, and of tensors.

mod columns;
mod filter;
mod group_by;
mod missing;
mod rows;
mod sort_by;
mod to_tensor;

pub(crate) use self::columns::{COLUMN, SELECT};
pub(crate) use self::filter::FILTER;
pub(crate) use self::group_by::GROUP_BY;
pub(crate) use self::missing::{DROP_MISSING, FILL_MISSING, IS_MISSING};
pub(in crate::ops) use self::rows::{as_column, measured, take};
pub(crate) use self::sort_by::SORT_BY;
pub(crate) use self::to_tensor::TO_TENSOR;

use haul_ir::op::{ArgType, Call, Fault, InferError, Param, ParamKind};
use haul_ir::types::{TableType, ValueType};

const WHY: &str = "rows of text and of tables are handled in host memory";

/// A value of any kind.
const fn value(name: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Value,
        default: None,
    }
}

/// The name of the size of the result.
const SIZE: Param = Param {
    name: "size",
    kind: ParamKind::Size,
    default: Some("none"),
};

/// The table at a position.
fn table<'a>(call: &Call<'a>, position: usize) -> Result<&'a TableType, InferError> {
    match &call.inputs[position] {
        ArgType::Value(ValueType::Table(table)) => Ok(table),
        other => {
            let message = format!("needs a table, this is {other}");
            Err(InferError::new(Fault::Type, message).on(position))
        }
    }
}

/// That a table has a column.
fn known(table: &TableType, name: &str, attribute: &'static str) -> Result<(), InferError> {
    if table.columns.contains_key(name) {
        return Ok(());
    }
    let there: Vec<_> = table.columns.keys().take(20).map(String::as_str).collect();
    let message = format!("there is no column `{name}`, only: {}", there.join(", "));
    Err(InferError::new(Fault::Value, message).on_attr(attribute))
}
