//! Rows where a mask is true.

use haul_ir::column::{DataMut, DataView, Measured};
use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::op::{
    ArgType, Call, CpuKernel, DataCall, Example, Family, Fault, GpuKernel, InferError, Inferred,
    KernelError, ParamKind, Work, axis_of,
};
use haul_ir::tensor::{Bool, View};
use haul_ir::types::{Axes, ValueType};

use super::rows::{measured, take, take_cells};
use super::{SIZE, value};
use crate::ops::array_op::{ArrayOp, attribute, tensor};
use crate::ops::one_axis;

pub(crate) static FILTER: ArrayOp = ArrayOp {
    name: "filter",
    doc: "Where a mask of `bool` is true: the rows of a table or column, the parts of a tensor \
          along an axis; also written `x[mask]`. A mask of several axes stands for as many axes \
          of the tensor, from `axis` on, of which one is left. Only the data knows how many there \
          are: plans count with all of them, unless `size` names a size of `dims`.",
    params: &[
        value("x"),
        tensor("mask"),
        attribute("axis", ParamKind::Int, "0"),
        SIZE,
    ],
    rule: "[.., n, ..], bool[n] -> [.., size, ..]; table[n], bool[n] -> table[size]",
    family: Family::Move,
    infer,
    work: |call, outputs| Work::of(Expr::ZERO, call, outputs),
    work_formula: "0 flops",
    cpu: CpuKernel::Measured { measure, fill },
    gpu: GpuKernel::None("how much is left is known when it is counted, in host memory"),
    examples: &[
        Example {
            formula: "filter(x, mask)",
            given: &[
                ("x", "f32[3, 2]", "1 2 3 4 5 6"),
                ("mask", "bool[3]", "true false true"),
            ],
            result: ("f32[2, 2]", "1 2 5 6"),
        },
        Example {
            formula: "filter(x, mask, axis=1)",
            given: &[
                ("x", "i64[2, 3]", "1 2 3 4 5 6"),
                ("mask", "bool[3]", "false true true"),
            ],
            result: ("i64[2, 2]", "2 3 5 6"),
        },
        Example {
            formula: "filter(t, mask)",
            given: &[
                (
                    "t",
                    "table[3]{name: text, age: i64?}",
                    "'Ada' 'Bo' ''; 31 45 missing",
                ),
                ("mask", "bool[3]", "true false true"),
            ],
            result: ("table[2]{name: text, age: i64?}", "'Ada' ''; 31 missing"),
        },
    ],
};

fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let mask = call.tensor(1)?;
    if mask.dtype != DType::Bool || mask.rank() == 0 {
        let message = format!("needs a mask of bool, this is {mask}");
        let error = InferError::new(Fault::DType, message).on(1);
        return Err(error.help("to take by position, write `take(x, i)`"));
    }
    let ArgType::Value(x) = &call.inputs[0] else {
        let message = format!("needs rows, this is {}", call.inputs[0]);
        return Err(InferError::new(Fault::Type, message).on(0));
    };
    if *x == ValueType::Text {
        let message = "needs rows, this is one text";
        return Err(InferError::new(Fault::Type, message).on(0));
    }
    let axis = one_axis(call.attrs, x.sizes().len())?;
    let size = call.attrs.size("size")?;
    let end = axis + mask.rank();
    if x.sizes().get(axis..end) != Some(&mask.shape[..]) {
        let message = format!("a mask of {} does not fit {x}", Axes(&mask.shape));
        return Err(InferError::new(Fault::Shape, message).on(1));
    }
    let mut sizes = x.sizes()[..axis].to_vec();
    sizes.push(size.clone());
    sizes.extend_from_slice(&x.sizes()[end..]);
    let inferred = Inferred::plain(2, x.with_sizes(sizes));
    Ok(inferred.bounded(&size, mask.elements()))
}

fn measure(call: &DataCall<'_, '_>) -> Result<Vec<Measured>, KernelError> {
    let rows = count(mask(call));
    Ok(vec![match &call.inputs[0] {
        DataView::Tensor(x) => {
            let (axis, end) = axes(call, x)?;
            let mut shape = x.shape()[..axis].to_vec();
            shape.push(rows);
            shape.extend_from_slice(&x.shape()[end..]);
            Measured::plain(shape)
        }
        other => measured(other, 0, rows),
    }])
}

fn fill(call: &DataCall<'_, '_>, outputs: &mut [DataMut<'_>]) -> Result<(), KernelError> {
    let rows = places(mask(call));
    match (&call.inputs[0], &mut outputs[0]) {
        (DataView::Tensor(x), DataMut::Tensor(output)) => {
            let (axis, end) = axes(call, x)?;
            let inner: usize = x.shape()[end..].iter().product();
            let all: usize = x.shape()[axis..end].iter().product();
            let size = x.dtype.size() as usize;
            let from = &x.bytes[x.layout.offset * size..];
            let (all, kept) = (all * inner * size, rows.len() * inner * size);
            if kept == 0 || all == 0 {
                return Ok(());
            }
            let parts = from
                .chunks_exact(all)
                .zip(output.bytes.chunks_exact_mut(kept));
            parts.for_each(|(from, to)| take_cells(from, inner * size, &rows, to));
            Ok(())
        }
        (data, output) => take(data, &rows, output),
    }
}

/// The axes that the mask stands for: the first, and the one after the last.
fn axes(call: &DataCall<'_, '_>, x: &View<'_>) -> Result<(usize, usize), KernelError> {
    let failed = |error: InferError| KernelError::new(error.message);
    let axis = axis_of(call.attrs.int("axis").unwrap_or(0), x.shape().len()).map_err(failed)?;
    let end = axis + call.tensor(1).shape().len();
    match x.shape().get(axis..end) == Some(call.tensor(1).shape()) {
        true => Ok((axis, end)),
        false => Err(KernelError::new(
            "the mask does not fit the sizes of this data",
        )),
    }
}

fn mask<'a>(call: &DataCall<'_, 'a>) -> &'a [Bool] {
    call.tensor(1).contiguous().unwrap_or_default()
}

/// How many are true.
pub(super) fn count(mask: &[Bool]) -> usize {
    mask.iter().map(|is_kept| usize::from(is_kept.0)).sum()
}

/// Where a mask is true.
pub(super) fn places(mask: &[Bool]) -> Vec<usize> {
    let rows = mask.iter().enumerate();
    let kept = rows.filter(|(_, is_kept)| bool::from(**is_kept));
    kept.map(|(row, _)| row).collect()
}
