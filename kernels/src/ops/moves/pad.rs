//! Elements before and after the elements of axes.

use haul_ir::expr::Expr;
use haul_ir::op::{
    Attr, Attrs, CpuKernel, Example, Fault, InferError, Inferred, KernelCall, KernelError,
    ParamKind,
};
use haul_ir::types::TensorType;

use super::attrs::{X, at_run, axes, element, number, optional, required};
use super::pieces::{Axis, Beyond, MODES, fill};
use super::{Cost, Move};

pub(crate) static PAD: Move = Move {
    name: "pad",
    doc: "With more elements before and after those of each axis, or of the axes named: \
          `pad_width` is one number for all, one for each axis, or those before each axis and then \
          those after each; a negative number takes elements away. `mode` says what they are: \
          'constant' for `value`, 'edge' for the nearest element, 'reflect' for the elements \
          mirrored without those at the edges, 'symmetric' with them, 'wrap' for those from the \
          other end, each again and again where there are not enough.",
    params: &[
        X,
        required("pad_width", ParamKind::Ints),
        optional("mode", ParamKind::Word(MODES), "'constant'"),
        optional("value", ParamKind::Numbers, "0"),
        optional("axis", ParamKind::Axes, "none"),
    ],
    rule: "[.., n, ..] -> [.., before + n + after, ..]",
    infer: |call| {
        let x = call.tensor(0)?;
        let beyond = Beyond::of(call.attrs.word("mode"));
        if beyond == Beyond::Number {
            element(number(call.attrs, "value")?, x.dtype)
                .map_err(|message| InferError::new(Fault::Value, message).on_attr("value"))?;
        }
        let mut shape = x.shape.clone();
        for Width {
            axis,
            before,
            after,
        } in widths(call.attrs, x.rank())?
        {
            let padded = &(&before + &shape[axis]) + &after;
            if padded.as_int().is_some_and(|size| size < 0) {
                let message = format!("axis {axis} of {x} has not so many elements to take away");
                return Err(InferError::new(Fault::Shape, message).on_attr("pad_width"));
            }
            if shape[axis] == Expr::ZERO && padded != Expr::ZERO && beyond != Beyond::Number {
                let message = format!("axis {axis} of {x} has no element to repeat");
                return Err(InferError::new(Fault::Shape, message).on_attr("mode"));
            }
            shape[axis] = padded;
        }
        Ok(Inferred::plain(1, TensorType::new(x.dtype, shape)))
    },
    cost: Cost::All,
    cpu: CpuKernel::Array(pad),
    examples: &[
        Example {
            formula: "pad(x, [0, 1, 1, 0])",
            given: &[("x", "i32[1, 2]", "1 2")],
            result: ("i32[2, 3]", "0 1 2 0 0 0"),
        },
        Example {
            formula: "pad(x, 2, mode='reflect')",
            given: &[("x", "i32[3]", "1 2 3")],
            result: ("i32[7]", "3 2 1 2 3 2 1"),
        },
        Example {
            formula: "pad(x, [2, -1], mode='edge', axis=1)",
            given: &[("x", "i32[1, 3]", "1 2 3")],
            result: ("i32[1, 4]", "1 1 1 2"),
        },
    ],
};

/// What is added to an axis.
struct Width {
    axis: usize,
    before: Expr,
    after: Expr,
}

fn widths(attrs: &Attrs, rank: usize) -> Result<Vec<Width>, InferError> {
    let Attr::Ints(given) = attrs.get("pad_width") else {
        return Err(InferError::new(Fault::Value, "needs numbers").on_attr("pad_width"));
    };
    let axes = axes(attrs, "axis", rank)?.unwrap_or_else(|| (0..rank).collect());
    let count = axes.len();
    let [before, after] = match given.len() {
        1 => [vec![given[0].clone(); count], vec![given[0].clone(); count]],
        n if n == count => [given.clone(), given.clone()],
        n if n == 2 * count => [given[..count].to_vec(), given[count..].to_vec()],
        n => {
            let message = format!(
                "{n} numbers for {count} axes: give 1, {count} or {}",
                2 * count
            );
            return Err(InferError::new(Fault::Value, message).on_attr("pad_width"));
        }
    };
    let pairs = axes.into_iter().zip(before.into_iter().zip(after));
    Ok(pairs
        .map(|(axis, (before, after))| Width {
            axis,
            before,
            after,
        })
        .collect())
}

fn pad(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let (x, output) = (&call.inputs[0], &mut call.outputs[0]);
    let beyond = Beyond::of(call.attrs.word("mode"));
    let number = match beyond {
        Beyond::Number => number(call.attrs, "value").map_err(at_run)?,
        _ => 0.0,
    };
    let number = element(number, output.dtype).map_err(KernelError::new)?;
    let mut axes: Vec<_> = x.shape().iter().map(|size| Axis::whole(*size)).collect();
    for Width { axis, before, .. } in widths(call.attrs, axes.len()).map_err(at_run)? {
        let start = before
            .as_int()
            .and_then(|before| i64::try_from(before).ok());
        let start = start.ok_or_else(|| KernelError::new("a width is not known, or too large"))?;
        let (from, to) = (x.shape()[axis], output.shape[axis]);
        if from == 0 && to > 0 && beyond != Beyond::Number {
            let message = format!("axis {axis} has no element to repeat");
            return Err(KernelError::new(message));
        }
        axes[axis] = Axis {
            from,
            to,
            start,
            beyond,
        };
    }
    fill(x, &axes, &number, output);
    Ok(())
}
