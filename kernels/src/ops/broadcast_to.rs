//! Repeated along axes without being copied.

use haul_ir::expr::Expr;
use haul_ir::op::{
    Attr, Attrs, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred,
    KernelError, Op, Param, ParamKind, Work,
};
use haul_ir::tensor::Layout;
use haul_ir::types::{Axes, TensorType, ValueType};

use super::NO_WORK;

/// `broadcast_to(x, [2, 3])`.
pub(crate) struct BroadcastTo;

impl Op for BroadcastTo {
    fn name(&self) -> &'static str {
        "broadcast_to"
    }

    fn doc(&self) -> &'static str {
        "Repeats the elements along new leading axes and axes of size 1, as arithmetic does it \
         with the smaller operand. Nothing is moved."
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "x",
                kind: ParamKind::Tensor,
                default: None,
            },
            Param {
                name: "shape",
                kind: ParamKind::Shape,
                default: None,
            },
        ]
    }

    fn rule(&self) -> &'static str {
        "[..] -> shape"
    }

    fn family(&self) -> Family {
        Family::Move
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let x = call.tensor(0)?;
        let Attr::Ints(shape) = call.attrs.get("shape") else {
            let error = InferError::new(Fault::Value, "needs the sizes of the axes");
            return Err(error.on_attr("shape"));
        };
        let fits = |(size, wanted): (&Expr, &Expr)| *size == Expr::ONE || size == wanted;
        let pairs = x.shape.iter().rev().zip(shape.iter().rev());
        let negative = shape.iter().any(|s| s.as_int().is_some_and(|s| s < 0));
        if negative || x.rank() > shape.len() || !pairs.clone().all(fits) {
            let message = format!("{} does not broadcast to {}", Axes(&x.shape), Axes(shape));
            return Err(InferError::new(Fault::Shape, message).on_attr("shape"));
        }
        Ok(Inferred::plain(1, TensorType::new(x.dtype, shape.clone())))
    }

    fn work(&self, _: &Call<'_>, _: &[ValueType]) -> Work {
        NO_WORK
    }

    fn work_formula(&self) -> &'static str {
        "0 flops, 0 bytes"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::View(broadcast_to)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::View
    }

    fn examples(&self) -> &'static [Example] {
        &[Example {
            formula: "broadcast_to(x, [2, 3])",
            given: &[("x", "i32[3]", "1 2 3")],
            result: ("i32[2, 3]", "1 2 3 1 2 3"),
        }]
    }
}

fn broadcast_to(layout: &Layout, attrs: &Attrs) -> Result<Layout, KernelError> {
    let sizes = attrs.ints("shape").unwrap_or_default();
    let shape: Option<Vec<usize>> = sizes
        .iter()
        .map(|size| usize::try_from(*size).ok())
        .collect();
    let fits = |shape: &Vec<usize>| {
        let mut pairs = layout.shape.iter().rev().zip(shape.iter().rev());
        layout.shape.len() <= shape.len()
            && pairs.all(|(size, wanted)| *size == 1 || size == wanted)
    };
    match shape.filter(fits) {
        Some(shape) => Ok(layout.broadcast_to(&shape)),
        None => {
            let message = format!("{:?} does not broadcast to {sizes:?}", layout.shape);
            Err(KernelError::new(message))
        }
    }
}
