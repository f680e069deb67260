//! Ops that move, pick or make elements and compute nothing of them, or next to nothing.

pub(super) mod attrs;
mod bitcast;
mod combine;
mod create;
mod grids;
mod indices;
mod pad;
pub(super) mod pieces;
mod repeat;
mod roll;
mod rows;
mod scatter;
mod split;
mod take;
mod triangles;
mod views;

use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, GpuKernel, InferError, Inferred, Op, Param, Work,
};
use haul_ir::types::{TensorType, ValueType};

use super::NO_WORK;

pub(super) use bitcast::BITCAST;
pub(super) use create::{ARANGE, EYE, FULL, LINSPACE, ONES, ZEROS, floats};
pub(super) use grids::MESHGRID;
pub(super) use pad::PAD;
pub(super) use repeat::{REPEAT, TILE};
pub(super) use roll::{FFTSHIFT, IFFTSHIFT, ROLL};
pub(super) use scatter::{SCATTER, SCATTER_ND};
pub(super) use split::SPLIT;
pub(super) use take::{GATHER_ND, REVERSE_SEQUENCE, TAKE, TAKE_ALONG_AXIS};
pub(super) use triangles::{DIAG, TRIL, TRIU};
pub(super) use views::{DIAGONAL, EXPAND_DIMS, FLATTEN, FLIP, MOVEAXIS, SQUEEZE, SWAPAXES};

/// An op that moves elements.
pub(super) struct Move {
    name: &'static str,
    doc: &'static str,
    params: &'static [Param],
    rule: &'static str,
    infer: fn(&Call<'_>) -> Result<Inferred, InferError>,
    cost: Cost,
    cpu: CpuKernel,
    examples: &'static [Example],
}

/// What a move counts.
#[derive(Clone, Copy)]
enum Cost {
    /// A change of layout.
    Nothing,
    /// Every element of inputs and results once.
    All,
    /// Of the first input only what becomes the result.
    Picked,
    /// As `All`, and a combination for each element of the last input.
    Combined,
    /// As `All`, and a product and a sum for each element of the result.
    Spaced,
}

impl Op for Move {
    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn params(&self) -> &'static [Param] {
        self.params
    }

    fn rule(&self) -> &'static str {
        self.rule
    }

    fn family(&self) -> Family {
        Family::Move
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        (self.infer)(call)
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let elements = |ty: Option<&TensorType>| ty.map_or(Expr::ZERO, TensorType::elements);
        let result = outputs.first().and_then(ValueType::tensor);
        match self.cost {
            Cost::Nothing => NO_WORK,
            Cost::All => Work::of(Expr::ZERO, call, outputs),
            Cost::Picked => picked(call, result),
            Cost::Combined => {
                let updates = call.inputs.last().and_then(|input| input.tensor());
                let combined = attrs::reduction(call.attrs).is_some();
                let flops = if combined {
                    elements(updates)
                } else {
                    Expr::ZERO
                };
                Work::of(flops, call, outputs)
            }
            Cost::Spaced => Work::of(elements(result) * 2, call, outputs),
        }
    }

    fn work_formula(&self) -> &'static str {
        match self.cost {
            Cost::Nothing => "0 flops, 0 bytes",
            Cost::All => "0 flops",
            Cost::Picked => "0 flops; reads of x only what becomes the result",
            Cost::Combined => "1 flop an update, 0 where it only replaces",
            Cost::Spaced => "2 flops an element",
        }
    }

    fn cpu(&self) -> CpuKernel {
        self.cpu
    }

    fn gpu(&self) -> GpuKernel {
        match self.cost {
            Cost::Nothing => GpuKernel::View,
            _ => GpuKernel::Own,
        }
    }

    fn examples(&self) -> &'static [Example] {
        self.examples
    }
}

fn picked(call: &Call<'_>, result: Option<&TensorType>) -> Work {
    let written = result.map_or(Expr::ZERO, TensorType::bytes);
    let others = call
        .inputs
        .iter()
        .skip(1)
        .filter_map(|input| input.tensor());
    let others: Vec<_> = others.map(TensorType::bytes).collect();
    Work::Known {
        flops: Expr::ZERO,
        read: &written + &Expr::sum(&others),
        written,
    }
}
