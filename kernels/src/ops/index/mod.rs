//! `x[…]`: single indices, slices, new axes.

mod rule;
mod view;

use haul_ir::op::{
    Attr, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, Op, Param,
    ParamKind, Work,
};
use haul_ir::types::{TensorType, ValueType};

use super::NO_WORK;

/// `x[2:5, -1]`.
pub(crate) struct Index;

impl Op for Index {
    fn name(&self) -> &'static str {
        "index"
    }

    fn doc(&self) -> &'static str {
        "Part of a tensor, written `x[…]` with Python's rules: `i` takes one index and drops the \
         axis, `start:stop:step` takes several, negative ones count from the end, `newaxis` adds \
         an axis of size 1, `...` stands for all axes not named. Bounds of slices are clamped; a \
         single index out of bounds is an error. A bound in dims counts from the front. Nothing \
         is moved."
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "x",
                kind: ParamKind::Tensor,
                default: None,
            },
            Param {
                name: "index",
                kind: ParamKind::Index,
                default: None,
            },
        ]
    }

    fn rule(&self) -> &'static str {
        "x[i] drops an axis; x[a:b:s] gives ceil((b - a) / s) of it"
    }

    fn family(&self) -> Family {
        Family::Move
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let x = call.tensor(0)?;
        let Attr::Index(items) = call.attrs.get("index") else {
            return Err(InferError::new(Fault::Value, "needs an index").on_attr("index"));
        };
        let shape = rule::shape(&x.shape, items).map_err(|error| error.on_attr("index"))?;
        Ok(Inferred::plain(1, TensorType::new(x.dtype, shape)))
    }

    fn work(&self, _: &Call<'_>, _: &[ValueType]) -> Work {
        NO_WORK
    }

    fn work_formula(&self) -> &'static str {
        "0 flops, 0 bytes"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::View(view::index)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::View
    }

    fn examples(&self) -> &'static [Example] {
        &[
            Example {
                formula: "x[1:, ::-1]",
                given: &[("x", "i32[3, 2]", "1 2 3 4 5 6")],
                result: ("i32[2, 2]", "4 3 6 5"),
            },
            Example {
                formula: "x[-1]",
                given: &[("x", "i32[3, 2]", "1 2 3 4 5 6")],
                result: ("i32[2]", "5 6"),
            },
            Example {
                formula: "x[..., newaxis, 0]",
                given: &[("x", "i32[3, 2]", "1 2 3 4 5 6")],
                result: ("i32[3, 1]", "1 3 5"),
            },
        ]
    }
}
