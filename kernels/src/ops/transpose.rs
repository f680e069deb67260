//! Axes in another order.

use haul_ir::op::{
    Attr, Attrs, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred,
    KernelError, Op, Param, ParamKind, Work, axis_of,
};
use haul_ir::tensor::Layout;
use haul_ir::types::{TensorType, ValueType};

use super::NO_WORK;

/// `transpose(x, axes=[1, 0])`, `x.T`.
pub(crate) struct Transpose;

impl Op for Transpose {
    fn name(&self) -> &'static str {
        "transpose"
    }

    fn doc(&self) -> &'static str {
        "The axes in another order: axis `i` of the result is axis `axes[i]` of the input. \
         Without `axes`, and as `x.T`, their order is reversed. Nothing is moved."
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "x",
                kind: ParamKind::Tensor,
                default: None,
            },
            Param {
                name: "axes",
                kind: ParamKind::Axes,
                default: Some("none"),
            },
        ]
    }

    fn rule(&self) -> &'static str {
        "[a, .., z] -> [z, .., a]; with axes: result[i] = x[axes[i]]"
    }

    fn family(&self) -> Family {
        Family::Move
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let x = call.tensor(0)?;
        let order = order(call.attrs, x.rank())?;
        let shape = order.iter().map(|axis| x.shape[*axis].clone()).collect();
        Ok(Inferred::plain(1, TensorType::new(x.dtype, shape)))
    }

    fn work(&self, _: &Call<'_>, _: &[ValueType]) -> Work {
        NO_WORK
    }

    fn work_formula(&self) -> &'static str {
        "0 flops, 0 bytes"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::View(transpose)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::View
    }

    fn examples(&self) -> &'static [Example] {
        &[
            Example {
                formula: "transpose(x)",
                given: &[("x", "i32[2, 3]", "1 2 3 4 5 6")],
                result: ("i32[3, 2]", "1 4 2 5 3 6"),
            },
            Example {
                formula: "transpose(x, axes=[1, 0, 2])",
                given: &[("x", "i32[2, 2, 2]", "1 2 3 4 5 6 7 8")],
                result: ("i32[2, 2, 2]", "1 2 5 6 3 4 7 8"),
            },
        ]
    }
}

fn order(attrs: &Attrs, rank: usize) -> Result<Vec<usize>, InferError> {
    let axes = match attrs.get("axes") {
        Attr::None => return Ok((0..rank).rev().collect()),
        _ => attrs.ints("axes"),
    };
    let wrong = |fault, message: String| InferError::new(fault, message).on_attr("axes");
    let axes = axes.ok_or_else(|| wrong(Fault::Value, "axes are whole numbers".into()))?;
    if axes.len() != rank {
        let message = format!("names {} axes of a tensor with {rank}", axes.len());
        return Err(wrong(Fault::Axis, message));
    }
    let mut order = Vec::with_capacity(rank);
    for axis in axes {
        let found = axis_of(axis, rank).map_err(|error| error.on_attr("axes"))?;
        if order.contains(&found) {
            return Err(wrong(Fault::Axis, format!("axis {axis} is given twice")));
        }
        order.push(found);
    }
    Ok(order)
}

fn transpose(layout: &Layout, attrs: &Attrs) -> Result<Layout, KernelError> {
    let order =
        order(attrs, layout.shape.len()).map_err(|error| KernelError::new(error.message))?;
    Ok(Layout {
        shape: order.iter().map(|axis| layout.shape[*axis]).collect(),
        strides: order.iter().map(|axis| layout.strides[*axis]).collect(),
        offset: layout.offset,
    })
}
