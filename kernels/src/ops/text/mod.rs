//! Text: one, or a column of it.

mod change;
mod compare;
mod concat_text;
mod number;
mod replace;
mod split_text;
mod text_compare;

pub(crate) use self::change::{LOWER, LSTRIP, RSTRIP, STRIP, UPPER};
pub(crate) use self::compare::{CONTAINS, ENDS_WITH, FULL_MATCH, STARTS_WITH, TEXT_EQUAL};
pub(crate) use self::concat_text::CONCAT_TEXT;
pub(crate) use self::number::{TEXT_LENGTH, TO_NUMBER};
pub(crate) use self::replace::REPLACE;
pub(crate) use self::split_text::SPLIT_TEXT;
pub(crate) use self::text_compare::TEXT_COMPARE;

use haul_ir::column::{DataMut, DataView, Extent};
use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::op::{
    ArgType, Call, DataCall, Fault, InferError, Inferred, KernelError, Param, ParamKind, Work,
};
use haul_ir::types::{CellType, Shape, TensorType, ValueType};

use super::array_op::required;

const WHY: &str = "text is handled in host memory";

const X: Param = required("x", ParamKind::Text);
const Y: Param = required("y", ParamKind::Text);

/// The sizes of a text, which has none, or of a column of text that is never missing.
fn sizes<'a>(call: &Call<'a>, position: usize) -> Result<&'a [Expr], InferError> {
    match &call.inputs[position] {
        ArgType::Value(ValueType::Text) => Ok(&[]),
        ArgType::Value(ValueType::Column(column)) if column.cell == CellType::TEXT => {
            Ok(std::slice::from_ref(&column.rows))
        }
        other => {
            let message = format!("needs text, this is {other}");
            let error = InferError::new(Fault::Type, message).on(position);
            Err(error.help("write `fill_missing(x, '')` where text may be missing"))
        }
    }
}

/// The sizes of two texts or columns, where one text stands for each row of a column.
fn sizes_of_both<'a>(call: &Call<'a>) -> Result<&'a [Expr], InferError> {
    match (sizes(call, 0)?, sizes(call, 1)?) {
        ([], sizes) | (sizes, []) => Ok(sizes),
        (x, y) if x == y => Ok(x),
        (x, y) => {
            let message = format!("has {} rows, the other column has {}", y[0], x[0]);
            Err(InferError::new(Fault::Shape, message).on(1))
        }
    }
}

/// One text, or a column of texts.
fn text_of(sizes: &[Expr]) -> ValueType {
    match sizes {
        [rows] => ValueType::of_cells(CellType::TEXT, rows.clone()),
        _ => ValueType::Text,
    }
}

/// A tensor with an element for each text.
fn each_to(call: &Call<'_>, dtype: DType) -> Result<Inferred, InferError> {
    let shape: Shape = sizes(call, 0)?.to_vec();
    Ok(Inferred::plain(1, TensorType::new(dtype, shape)))
}

/// Only the data knows how long texts are.
fn unknown_work(_: &Call<'_>, _: &[ValueType]) -> Work {
    Work::Unknown
}

const WORK: &str = "unknown: the length of the text is known when it is read";

/// The sizes of a result with an element for each text.
fn shape(call: &DataCall<'_, '_>) -> Vec<usize> {
    let rows = |input: &DataView<'_>| match input {
        DataView::Column(column) => Some(column.rows()),
        _ => None,
    };
    call.inputs.iter().find_map(rows).into_iter().collect()
}

/// All texts in order.
fn texts<'b>(call: &DataCall<'_, 'b>) -> Result<Vec<&'b str>, KernelError> {
    texts_at(call, 0)
}

/// The texts of both arguments in order, row by row; one text stands for each row of a column.
fn pairs<'b>(
    call: &DataCall<'_, 'b>,
) -> Result<impl Iterator<Item = (&'b str, &'b str)> + use<'b>, KernelError> {
    let rows = shape(call).first().copied().unwrap_or(1);
    let (x, y) = (texts_at(call, 0)?, texts_at(call, 1)?);
    let is_one = |position: usize| matches!(call.inputs[position], DataView::Text(_));
    let (x_is_one, y_is_one) = (is_one(0), is_one(1));
    let at = |row: usize, is_one: bool| if is_one { 0 } else { row };
    Ok((0..rows).map(move |row| (x[at(row, x_is_one)], y[at(row, y_is_one)])))
}

fn texts_at<'b>(call: &DataCall<'_, 'b>, position: usize) -> Result<Vec<&'b str>, KernelError> {
    match &call.inputs[position] {
        DataView::Column(column) => Ok(column.texts().collect()),
        DataView::Text(text) => Ok(vec![text]),
        DataView::Tensor(_) | DataView::Table(_) => Err(KernelError::new("the input is no text")),
    }
}

/// Fills one text, or a column of them, with what `write` makes of each in turn: it fills the start of
/// the space that is left, and says how much of it.
fn fill_texts<T>(
    texts: impl Iterator<Item = T>,
    output: &mut DataMut<'_>,
    mut write: impl FnMut(T, &mut [u8]) -> usize,
) -> Result<(), KernelError> {
    match output {
        DataMut::Text(output) => texts.for_each(|text| _ = write(text, output)),
        DataMut::Column(output) => {
            let extents: &mut [Extent] = bytemuck::cast_slice_mut(output.cells);
            let mut start = 0;
            for (extent, text) in extents.iter_mut().zip(texts) {
                let len = write(text, &mut output.heap[start..]);
                *extent = Extent {
                    start: start as u64,
                    len: len as u64,
                };
                start += len;
            }
        }
        _ => return Err(KernelError::new("the result is of another kind")),
    }
    Ok(())
}

/// Puts a text at the start of the space, and gives its length.
fn put(text: &str, space: &mut [u8]) -> usize {
    space[..text.len()].copy_from_slice(text.as_bytes());
    text.len()
}
