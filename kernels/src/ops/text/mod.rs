//! Text: one, or a column of it.

mod change;
mod compare;
mod number;
mod split_text;

pub(crate) use self::change::{LOWER, STRIP, UPPER};
pub(crate) use self::compare::{CONTAINS, ENDS_WITH, FULL_MATCH, STARTS_WITH, TEXT_EQUAL};
pub(crate) use self::number::{TEXT_LENGTH, TO_NUMBER};
pub(crate) use self::split_text::SPLIT_TEXT;

use haul_ir::column::DataView;
use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::op::{
    ArgType, Call, DataCall, Fault, InferError, Inferred, KernelError, Param, ParamKind, Work,
};
use haul_ir::types::{CellType, Shape, TensorType, ValueType};

const WHY: &str = "text is handled in host memory";

const X: Param = Param {
    name: "x",
    kind: ParamKind::Text,
    default: None,
};

/// The sizes of a text, which has none, or of a column of text that is never missing.
fn sizes<'a>(call: &Call<'a>) -> Result<&'a [Expr], InferError> {
    match &call.inputs[0] {
        ArgType::Value(ValueType::Text) => Ok(&[]),
        ArgType::Value(ValueType::Column(column)) if column.cell == CellType::TEXT => {
            Ok(std::slice::from_ref(&column.rows))
        }
        other => {
            let message = format!("needs text, this is {other}");
            let error = InferError::new(Fault::Type, message).on(0);
            Err(error.help("write `fill_missing(x, '')` where text may be missing"))
        }
    }
}

/// A tensor with an element for each text.
fn each_to(call: &Call<'_>, dtype: DType) -> Result<Inferred, InferError> {
    let shape: Shape = sizes(call)?.to_vec();
    Ok(Inferred::plain(1, TensorType::new(dtype, shape)))
}

/// Only the data knows how long texts are.
fn unknown_work(_: &Call<'_>, _: &[ValueType]) -> Work {
    Work::Unknown
}

const WORK: &str = "unknown: the length of the text is known when it is read";

/// The sizes of a result with an element for each text.
fn shape(call: &DataCall<'_, '_>) -> Vec<usize> {
    match &call.inputs[0] {
        DataView::Column(column) => vec![column.rows()],
        _ => Vec::new(),
    }
}

/// All texts in order.
fn texts<'b>(call: &DataCall<'_, 'b>) -> Result<Vec<&'b str>, KernelError> {
    match &call.inputs[0] {
        DataView::Column(column) => Ok(column.texts().collect()),
        DataView::Text(text) => Ok(vec![text]),
        DataView::Tensor(_) | DataView::Table(_) => Err(KernelError::new("the input is no text")),
    }
}
