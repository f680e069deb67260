//! Reductions: many elements to one, over an axis, over several, or over all.

mod axes;
mod doubles;
mod extremes;
mod fold;
mod kernels;
mod last;
mod logical;
mod logsumexp;
mod moments;
mod norm;
mod quantile;
mod sums;
mod table;
mod trace;

use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{
    Attr, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work,
};
use haul_ir::types::ValueType;

pub(super) use doubles::doubles;
pub(super) use extremes::{Bounded, Largest, Order, Smallest};
pub(crate) use fold::in_lanes;
pub(super) use fold::{Fold, fold};
pub(super) use norm::Norm;
pub(super) use quantile::{Median, Quantile};
pub(super) use sums::{Convert, Number};
pub(super) use table::*;
pub(super) use trace::Trace;

/// A reduction.
pub(super) struct Reduction {
    name: &'static str,
    doc: &'static str,
    /// Kinds that it takes.
    kinds: &'static [Kind],
    /// The dtype that it works on; the input's own where `None`.
    cast: fn(DType) -> Option<DType>,
    /// The result's dtype.
    result: fn(DType) -> DType,
    /// Whether something comes out of no elements.
    empty: bool,
    /// Whether it takes no list of axes.
    one_axis: bool,
    cost: Cost,
    kernel: fn(&mut KernelCall<'_, '_>) -> Result<(), KernelError>,
    examples: &'static [Example],
}

/// What a reduction counts.
#[derive(Clone, Copy)]
enum Cost {
    /// Each element but the first of a result: `max(in - out, 0)`.
    Merges,
    /// The same and a division for each result.
    Elements,
    /// A comparison, a difference, an exponential and a sum for each element.
    Exponentials,
    /// A sum, a difference, a square and another sum for each element.
    Deviations,
}

const X: Param = Param {
    name: "x",
    kind: ParamKind::Tensor,
    default: None,
};
const AXIS: Param = Param {
    name: "axis",
    kind: ParamKind::Axes,
    default: Some("none"),
};
const KEEPDIMS: Param = Param {
    name: "keepdims",
    kind: ParamKind::Bool,
    default: Some("false"),
};
const LAST: Param = Param {
    name: "last",
    kind: ParamKind::Bool,
    default: Some("false"),
};

const PARAMS: &[Param] = &[X, AXIS, KEEPDIMS];
const PLACE_PARAMS: &[Param] = &[X, AXIS, KEEPDIMS, LAST];

const RULE: &str = "[..] -> [..] without the axes, or with size 1 there (keepdims)";

impl Op for Reduction {
    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn params(&self) -> &'static [Param] {
        if self.one_axis { PLACE_PARAMS } else { PARAMS }
    }

    fn rule(&self) -> &'static str {
        RULE
    }

    fn family(&self) -> Family {
        Family::Reduce
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let input = call.tensor(0)?;
        if !self.kinds.contains(&input.dtype.kind()) {
            let message = format!("is not defined for {}", input.dtype);
            return Err(InferError::new(Fault::DType, message).on(0));
        }
        let axes = axes::axes(call.attrs, input.rank())?;
        if let (true, Attr::Ints(named)) = (self.one_axis, call.attrs.get("axis"))
            && named.len() != 1
        {
            let message = format!("takes one axis or none, not {}", named.len());
            return Err(InferError::new(Fault::Axis, message).on_attr("axis"));
        }
        if !self.empty {
            axes::not_empty(input, &axes)?;
        }
        let keep = call.attrs.flag("keepdims");
        let output = axes::reduced(input, &axes, keep, (self.result)(input.dtype));
        Ok(Inferred::new(
            vec![(self.cast)(input.dtype)],
            vec![output.into()],
        ))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let input = call.inputs.first().and_then(|input| input.tensor());
        let output = outputs.first().and_then(ValueType::tensor);
        let (Some(input), Some(output)) = (input, output) else {
            return Work::Unknown;
        };
        let parts = if input.dtype.kind() == Kind::Complex {
            2
        } else {
            1
        };
        let flops = match self.cost {
            Cost::Merges => (input.elements() - output.elements()).larger(&Expr::ZERO) * parts,
            Cost::Elements => input.elements() * parts,
            Cost::Exponentials => input.elements() * 23,
            Cost::Deviations => input.elements() * 4,
        };
        Work::of(flops, call, outputs)
    }

    fn work_formula(&self) -> &'static str {
        match self.cost {
            Cost::Merges => "max(in - out, 0) flops, complex twice",
            Cost::Elements => "1 flop an element, complex 2",
            Cost::Exponentials => "23 flops an element",
            Cost::Deviations => "4 flops an element",
        }
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(self.kernel)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        self.examples
    }
}
