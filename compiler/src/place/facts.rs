//! Hard facts: groups whose side is no matter of cost.

use haul_ir::expr::Expr;
use haul_ir::graph::{Arg, OpNode, Pin, Typed};
use haul_ir::id::GroupId;
use haul_ir::op::{CpuKernel, Family, GpuKernel};
use haul_ir::plan::{Reason, Side};
use haul_ir::types::ValueType;

use super::{Costs, Machine, Peak, Refusal, Sizes, StageGraph};

/// The side that a fact gives to a group, with the fact; none where the cut decides.
type Fact = Option<(Side, Reason)>;

/// The facts about each group of a stage.
///
/// # Errors
/// The author wants a group on the GPU, and it cannot be there.
pub(super) fn facts(
    typed: &Typed,
    stage: &StageGraph,
    machine: Machine<'_>,
    sizes: &Sizes,
    costs: &[Costs],
) -> Result<Vec<Fact>, Refusal> {
    let fact = |position: usize| {
        let pin = stage.pins[position];
        let Some(reason) = against_gpu(typed, stage, machine, sizes, position, pin) else {
            return Ok(favouring_gpu(stage, sizes, &costs[position], position, pin));
        };
        match pin {
            Pin::Gpu => Err(refusal(typed, stage, position, reason)),
            _ => Ok(Some((Side::Cpu, reason))),
        }
    };
    (0..stage.groups.len()).map(fact).collect()
}

/// Why a group cannot be, or shall not be, on the GPU.
fn against_gpu(
    typed: &Typed,
    stage: &StageGraph,
    machine: Machine<'_>,
    sizes: &Sizes,
    position: usize,
    pin: Pin,
) -> Option<Reason> {
    if machine.gpu.is_none() {
        return Some(Reason::NoGpuRequested);
    }
    if pin == Pin::Cpu {
        return Some(Reason::PinnedByAuthor);
    }
    if let Some(reason) = without_kernel(typed, stage.groups[position]) {
        return Some(reason);
    }
    let needed = stage.values_of(position).try_fold(0u64, |sum, value| {
        let bytes = sizes.largest.eval_saturating(&stage.values[value].bytes)?;
        Some(sum.saturating_add(bytes))
    })?;
    let available = machine.vram();
    (needed > available).then_some(Reason::DoesNotFitVram { needed, available })
}

/// Why no GPU ever runs a group, whatever is requested.
pub(crate) fn without_kernel(typed: &Typed, group: GroupId) -> Option<Reason> {
    for op in &typed.groups()[group].ops {
        let node = &typed.graph().ops[*op];
        let is_program = matches!(node.op.cpu(), CpuKernel::Program);
        if handles_text(typed, node) && !is_program {
            return Some(Reason::NotArrayWork);
        }
        if node.op.family() == Family::Io && !is_program {
            return Some(Reason::IoBound);
        }
        if let GpuKernel::None(why) = node.op.gpu() {
            return Some(Reason::NoGpuKernel(why));
        }
    }
    None
}

/// What else gives a side to a group that can be on the GPU.
fn favouring_gpu(
    stage: &StageGraph,
    sizes: &Sizes,
    costs: &Costs,
    position: usize,
    pin: Pin,
) -> Fact {
    if pin == Pin::Gpu {
        return Some((Side::Gpu, Reason::PinnedByAuthor));
    }
    let is_known = |value: usize| sizes.planned.eval(&stage.values[value].bytes).is_some();
    let known =
        costs.cpu.is_some() && costs.gpu.is_some() && stage.values_of(position).all(is_known);
    (!known).then_some((Side::Cpu, Reason::UnknownWork))
}

/// What to tell an author who wants the group on the GPU.
fn refusal(typed: &Typed, stage: &StageGraph, position: usize, reason: Reason) -> Refusal {
    let group = stage.groups[position];
    let why = match reason {
        Reason::NoGpuRequested => "its stage requests no GPU".to_owned(),
        Reason::NotArrayWork => "it works on text, which no GPU kernel does".to_owned(),
        Reason::IoBound => "it reads or writes files".to_owned(),
        Reason::NoGpuKernel(why) => format!("there is no GPU kernel for it: {why}"),
        Reason::DoesNotFitVram { needed, available } => {
            let values = stage.values_of(position);
            let peak = Peak {
                bytes: Expr::sum(values.map(|value| &stage.values[value].bytes)),
                at: Some(typed.graph().ops[typed.head(group)].results[0]),
                largest: Some(needed),
            };
            return Refusal::Vram { peak, available };
        }
        _ => unreachable!("facts against the GPU are the above, and no op has two wishes"),
    };
    Refusal::Pin { group, why }
}

fn handles_text(typed: &Typed, node: &OpNode) -> bool {
    let is_text = |value| typed.graph().values[value].ty == ValueType::Text;
    node.args.iter().filter_map(Arg::value).any(is_text)
        || node.results.iter().any(|value| is_text(*value))
}
