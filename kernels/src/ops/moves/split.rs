//! A tensor cut along an axis.

use haul_ir::expr::Expr;
use haul_ir::op::{
    Attr, Attrs, CpuKernel, Example, Fault, InferError, Inferred, KernelCall, KernelError,
    ParamKind,
};
use haul_ir::tensor::View;
use haul_ir::types::TensorType;

use super::attrs::{X, at_run, axis, optional, required};
use super::{Cost, Move};
use crate::strided::copy_view;

pub(crate) static SPLIT: Move = Move {
    name: "split",
    doc: "Parts of a tensor along an axis, one result each: `parts` is how many, of the same size, \
          or a list of their sizes, of which one may be -1 for what is left.",
    params: &[
        X,
        required("parts", ParamKind::Ints),
        optional("axis", ParamKind::Int, "0"),
    ],
    rule: "[.., n, ..] -> [.., n / parts, ..] so many times, or one for each size",
    infer: |call| {
        let x = call.tensor(0)?;
        let axis = axis(call.attrs, "axis", x.rank())?;
        let sizes = sizes(call.attrs, &x.shape[axis]).map_err(|error| error.on_attr("parts"))?;
        let part = |size: Expr| {
            let mut shape = x.shape.clone();
            shape[axis] = size;
            TensorType::new(x.dtype, shape).into()
        };
        Ok(Inferred::new(
            vec![None],
            sizes.into_iter().map(part).collect(),
        ))
    },
    cost: Cost::All,
    cpu: CpuKernel::Array(split),
    examples: &[
        Example {
            formula: "first, second = split(x, 2)",
            given: &[("x", "i32[4]", "1 2 3 4")],
            result: ("i32[2]", "1 2"),
        },
        Example {
            formula: "first, second = split(x, [1, -1], axis=1)",
            given: &[("x", "i32[2, 3]", "1 2 3 4 5 6")],
            result: ("i32[2, 1]", "1 4"),
        },
    ],
};

/// Most parts that one call gives.
const MOST: i128 = 1 << 16;

fn sizes(attrs: &Attrs, whole: &Expr) -> Result<Vec<Expr>, InferError> {
    let wrong = |message: String| InferError::new(Fault::Value, message);
    let Attr::Ints(given) = attrs.get("parts") else {
        return Err(wrong("needs a number, or sizes".into()));
    };
    if let [parts] = &given[..] {
        let count = parts.as_int().filter(|count| (1..=MOST).contains(count));
        let count = count.ok_or_else(|| wrong(format!("{parts} is no number of parts")))?;
        if whole.as_int().is_some_and(|size| size % count != 0) {
            let help = "give the size of each part, such as `[2, 2, 1]`";
            return Err(wrong(format!("{whole} is not divisible into {count} parts")).help(help));
        }
        return Ok(vec![whole.floor_div(parts); count as usize]);
    }
    let hole = Expr::from(-1_i128);
    let named = || given.iter().filter(|size| **size != hole);
    let rest = whole - &Expr::sum(named());
    let fits = match given.len() - named().count() {
        0 => rest == Expr::ZERO,
        1 => rest.as_int().is_none_or(|rest| rest >= 0),
        _ => return Err(wrong("only one size can be -1".into())),
    };
    if !fits || named().any(|size| size.as_int().is_some_and(|size| size < 0)) {
        let given: Vec<_> = given.iter().map(Expr::to_string).collect();
        return Err(wrong(format!(
            "{whole} is not [{}] in sum",
            given.join(", ")
        )));
    }
    let filled = |size: &Expr| if *size == hole { &rest } else { size }.clone();
    Ok(given.iter().map(filled).collect())
}

fn split(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let x = &call.inputs[0];
    let axis = axis(call.attrs, "axis", x.shape().len()).map_err(at_run)?;
    let given: usize = call.outputs.iter().map(|part| part.shape[axis]).sum();
    if given != x.shape()[axis] {
        let message = format!(
            "the parts have {given} elements, axis {axis} {}",
            x.shape()[axis]
        );
        return Err(KernelError::new(message));
    }
    let mut layout = x.layout.clone();
    for output in call.outputs.iter_mut() {
        layout.shape[axis] = output.shape[axis];
        let part = View {
            layout: layout.clone(),
            ..x.clone()
        };
        copy_view(&part, output.bytes);
        let length = output.shape[axis] as isize * layout.strides[axis];
        layout.offset = layout.offset.wrapping_add_signed(length);
    }
    Ok(())
}
