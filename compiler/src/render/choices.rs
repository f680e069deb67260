//! Why a group is where it is, with the numbers of both choices.

use haul_ir::cost::Nanos;
use haul_ir::id::{GroupId, StageId};
use haul_ir::plan::{Flip, GroupPlan, Placement, Plan, Reason, Side};

use super::units::{bytes, time};

/// What there is to say of a group that had a choice: the numbers of the reason, the cost of the
/// other choice, and where it would flip with the request that its stage gets.
pub(super) fn of(plan: &Plan, stage: StageId, group: GroupId) -> Option<String> {
    let placement = &plan.groups[group].placement;
    let other = placement.side.other();
    let mut parts: Vec<String> = numbers(&placement.reason).into_iter().collect();
    parts.extend(placement.regret.map(|regret| {
        let longer = time(regret);
        format!("with it on the {other} the task takes {longer} longer")
    }));
    parts.extend(flip(plan, stage, placement));
    let doubt = if placement.close_call {
        " (close call)"
    } else {
        ""
    };
    (!parts.is_empty()).then(|| parts.join("; ") + doubt)
}

/// The predicted time of a group where it is placed.
pub(crate) fn cost(group: &GroupPlan) -> Option<Nanos> {
    let cost = match group.placement.side {
        Side::Cpu => group.cpu,
        Side::Gpu => group.gpu,
    };
    cost.map(|cost| cost.total())
}

/// The numbers of a reason, where it has some that depend on the target's figures.
pub(super) fn numbers(reason: &Reason) -> Option<String> {
    match reason {
        Reason::KeepsDataOnGpu { saved, added } => Some(format!(
            "the gpu saves {} of transfer and adds {} of compute",
            time(*saved),
            time(*added)
        )),
        Reason::CheaperOnGpu { saved, added }
        | Reason::InputAlreadyMovedFor { saved, added, .. }
        | Reason::TransferOutweighsGain { saved, added }
        | Reason::LowIntensity { saved, added } => Some(format!(
            "the gpu saves {} of compute and adds {} of transfer",
            time(*saved),
            time(*added)
        )),
        Reason::LaunchBound { cpu, launch } => Some(format!(
            "{} here, {} to start a gpu kernel",
            time(*cpu),
            time(*launch)
        )),
        Reason::DoesNotFitVram { needed, available } => Some(format!(
            "needs {} of device memory, there is {}",
            bytes(u128::from(*needed)),
            bytes(u128::from(*available))
        )),
        _ => None,
    }
}

/// The reason in a few words: its code, and the op that it names.
pub(super) fn reason(placement: &Placement) -> String {
    let code = placement.reason.code();
    match &placement.reason {
        Reason::FusedWith(op) | Reason::InputAlreadyMovedFor { op, .. } => format!("{code} {op}"),
        _ => code.to_owned(),
    }
}

/// Where the figures of the nodes that the plan uses come from: `datasheet`, `measured`, or both.
pub(crate) fn provenance(plan: &Plan) -> String {
    let mut words = Vec::new();
    for stage in plan.stages.iter() {
        let node = &plan.target.nodes[stage.node];
        let gpu = stage.gpu.and_then(|gpu| node.gpus.get(gpu));
        words.push(node.cpu.provenance.word());
        words.extend(gpu.map(|gpu| gpu.provenance.word()));
    }
    words.sort_unstable();
    words.dedup();
    if words.is_empty() {
        words.push("unused");
    }
    words.join(", ")
}

/// `cpu when n <= 125`; of a stage of several requests, `with this request`.
pub(crate) fn flip(plan: &Plan, stage: StageId, placement: &Placement) -> Option<String> {
    let Flip { dim, to, at, below } = placement.flip.as_ref()?;
    let sign = if *below { "<=" } else { ">=" };
    let is_only = plan.typed.graph().stages[stage].requests.len() == 1;
    let request = if is_only { "" } else { " with this request" };
    Some(format!("{to} when {dim} {sign} {at}{request}"))
}
