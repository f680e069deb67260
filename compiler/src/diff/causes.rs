//! Why decisions changed, from what else is different in the two plans.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use super::names::names;
use super::{Cause, CauseKind};
use crate::saved::{SavedInput, SavedOp, SavedPlan, SavedStage, SavedTransfer, SavedWork, lines};

/// So many ops are named as causes of one change.
const MOST_NAMED: usize = 3;

/// A stage of both plans, its ops by name.
pub(super) struct Joined<'a> {
    old: &'a SavedStage,
    new: &'a SavedStage,
    old_ops: HashMap<&'a str, &'a SavedOp>,
    new_ops: HashMap<&'a str, &'a SavedOp>,
}

impl<'a> Joined<'a> {
    pub(super) fn new(old: &'a SavedStage, new: &'a SavedStage) -> Self {
        let ops = |stage: &'a SavedStage| {
            let ops = stage.ops.iter();
            ops.map(|op| (op.name.as_str(), op)).collect()
        };
        Self {
            old,
            new,
            old_ops: ops(old),
            new_ops: ops(new),
        }
    }

    pub(super) fn old_op(&self, name: &str) -> Option<&'a SavedOp> {
        self.old_ops.get(name).copied()
    }

    pub(super) fn new_op(&self, name: &str) -> Option<&'a SavedOp> {
        self.new_ops.get(name).copied()
    }
}

/// What is different in two plans, as far as it can be a cause.
pub(super) struct Causes<'a> {
    old_stages: HashMap<&'a str, &'a SavedStage>,
    new_stages: HashMap<&'a str, &'a SavedStage>,
    /// Inputs with another type, or other items.
    inputs: HashMap<&'a str, Cause>,
    /// Sizes that are planned at another value.
    sizes: HashMap<&'a str, Cause>,
    /// The target, the figures of devices, the cost model.
    machines: Vec<Cause>,
}

impl<'a> Causes<'a> {
    pub(super) fn new(old: &'a SavedPlan, new: &'a SavedPlan) -> Self {
        let stages = |plan: &'a SavedPlan| {
            let stages = plan.stages.iter();
            stages.map(|stage| (stage.name.as_str(), stage)).collect()
        };
        Self {
            old_stages: stages(old),
            new_stages: stages(new),
            inputs: inputs(old, new),
            sizes: sizes(old, new),
            machines: machines(old, new),
        }
    }

    /// Why an op has another side or reason, or came, or went.
    pub(super) fn of_place(&self, stage: &Joined<'_>, op: &SavedOp) -> Vec<Cause> {
        let (old, new) = (stage.old_op(&op.name), stage.new_op(&op.name));
        let (Some(old), Some(new)) = (old, new) else {
            return vec![came_or_went(stage, &op.name)];
        };
        if let Some(pin) = pin(old, new) {
            return vec![pin];
        }
        let mut causes = self.of_work(stage, old, new);
        let asks = "no_gpu_requested";
        if causes.is_empty() || old.reason == asks || new.reason == asks {
            causes.extend(requested(stage));
        }
        causes.extend(self.of_sizes(stage));
        if causes.is_empty() {
            causes.extend(in_stage(stage, &op.name));
        }
        self.finished(causes)
    }

    /// Why a stage gets another request, node or device.
    pub(super) fn of_request(&self, stage: &Joined<'_>) -> Vec<Cause> {
        let mut causes = requested(stage);
        if causes.is_empty() {
            causes.extend(in_stage(stage, ""));
            causes.extend(self.of_all_work(stage));
            causes.extend(self.of_sizes(stage));
        }
        self.finished(causes)
    }

    /// Why a stage holds another amount of memory.
    pub(super) fn of_memory(&self, stage: &Joined<'_>) -> Vec<Cause> {
        let mut causes = in_stage(stage, "");
        causes.extend(self.of_all_work(stage));
        if causes.is_empty() {
            causes.extend(moved(stage, |_| true));
            causes.extend(requested(stage));
        }
        self.finished(causes)
    }

    /// Why something crosses that did not, or no longer, or in another size.
    pub(super) fn of_transfer(&self, stage: &Joined<'_>, transfer: &SavedTransfer) -> Vec<Cause> {
        let reads = |op: &SavedOp| names(&op.formula).any(|name| name == transfer.value);
        let is_near = |op: &SavedOp| op.name == transfer.value || reads(op);
        let mut causes = moved(stage, is_near);
        let ops = stage.old.ops.iter().filter(|op| is_near(op));
        for old in ops {
            if let Some(new) = stage.new_op(&old.name) {
                causes.extend(self.of_work(stage, old, new));
            }
        }
        if let Some(cause) = self.inputs.get(transfer.value.as_str()) {
            causes.push(cause.clone());
        }
        if causes.is_empty() {
            causes.extend(in_stage(stage, ""));
            causes.extend(requested(stage));
        }
        self.finished(causes)
    }

    /// Causes in order, each once; what concerns the machines may be behind everything.
    fn finished(&self, causes: Vec<Cause>) -> Vec<Cause> {
        let mut seen = HashSet::new();
        let all = causes.into_iter().chain(self.machines.iter().cloned());
        let mut causes: Vec<_> = all.filter(|cause| seen.insert(cause.clone())).collect();
        if causes.is_empty() {
            causes.push(Cause {
                kind: CauseKind::Unknown,
                text: "the plans do not tell".to_owned(),
            });
        }
        causes
    }

    /// Why an op has other work: its formula, or what it reads.
    fn of_work(&self, stage: &Joined<'_>, old: &SavedOp, new: &SavedOp) -> Vec<Cause> {
        if old.formula == new.formula && old.types == new.types && old.work == new.work {
            return Vec::new();
        }
        let mut causes = BTreeSet::new();
        let mut seen = HashSet::from([(stage.new.name.as_str(), new.name.as_str())]);
        let mut queue = VecDeque::from([(stage.new, new)]);
        while let Some((of, op)) = queue.pop_front() {
            let full = of.full_name(&op.name);
            match self.old_op(of, &op.name) {
                None => drop(causes.insert(added(&full))),
                Some(old) if old.formula != op.formula => {
                    causes.insert(cause(
                        CauseKind::OpChanged,
                        format!("`{full}` is now {}", op.formula),
                    ));
                }
                Some(old) if old.types == op.types && old.work == op.work => {}
                Some(_) => {
                    for name in names(&op.formula) {
                        causes.extend(self.inputs.get(name).cloned());
                        causes.extend(self.sizes.get(name).cloned());
                        let maker = self.maker(of, name);
                        let maker = maker.filter(|(of, op)| seen.insert((&of.name, &op.name)));
                        queue.extend(maker);
                    }
                }
            }
        }
        causes.into_iter().collect()
    }

    /// Why any op of a stage has other work.
    fn of_all_work(&self, stage: &Joined<'_>) -> Vec<Cause> {
        let mut causes = Vec::new();
        for new in &stage.new.ops {
            if let Some(old) = stage.old_op(&new.name) {
                causes.extend(self.of_work(stage, old, new));
            }
            if causes.len() >= MOST_NAMED {
                break;
            }
        }
        causes
    }

    fn old_op(&self, stage: &SavedStage, name: &str) -> Option<&'a SavedOp> {
        let stage = self.old_stages.get(stage.name.as_str())?;
        stage.ops.iter().find(|op| op.name == name)
    }

    /// The op that makes what a formula of a stage calls by a name.
    fn maker<'s>(
        &'s self,
        stage: &'s SavedStage,
        name: &str,
    ) -> Option<(&'s SavedStage, &'s SavedOp)> {
        let find = |stage: &'s SavedStage, name: &str| {
            let op = stage.ops.iter().find(|op| op.name == name)?;
            Some((stage, op))
        };
        find(stage, name).or_else(|| {
            let (from, op) = name.split_once('.').unwrap_or((name, name));
            let from = self.new_stages.get(from)?;
            find(from, op).or_else(|| from.ops.last().map(|op| (*from, op)))
        })
    }

    /// Sizes planned at another value that the work or the tasks of a stage hang on.
    fn of_sizes(&self, stage: &Joined<'_>) -> Vec<Cause> {
        let mut found = BTreeSet::new();
        let amounts = stage.new.ops.iter().flat_map(|op| match &op.work {
            SavedWork::Known { flops, bytes, .. } => vec![flops, bytes],
            SavedWork::Fused | SavedWork::Unknown => Vec::new(),
        });
        for amount in amounts.chain([&stage.new.tasks]) {
            found.extend(
                names(&amount.exact)
                    .filter_map(|name| self.sizes.get(name))
                    .cloned(),
            );
        }
        found.into_iter().collect()
    }
}

fn cause(kind: CauseKind, text: impl Into<String>) -> Cause {
    let text = text.into();
    Cause { kind, text }
}

fn added(name: &str) -> Cause {
    cause(CauseKind::Added, format!("`{name}` was added"))
}

fn came_or_went(stage: &Joined<'_>, op: &str) -> Cause {
    let name = stage.new.full_name(op);
    match stage.new_op(op) {
        Some(_) => added(&name),
        None => cause(CauseKind::Removed, format!("`{name}` was removed")),
    }
}

const PINNED: &str = "pinned_by_author";

fn pin(old: &SavedOp, new: &SavedOp) -> Option<Cause> {
    let text = match (old.reason == PINNED, new.reason == PINNED) {
        (false, true) => format!("the author pins `{}` to the {}", new.name, new.side),
        (true, false) => format!(
            "the author no longer pins `{}` to the {}",
            new.name, old.side
        ),
        (true, true) if old.side != new.side => {
            format!(
                "the author pins `{}` to the {}, no longer to the {}",
                new.name, new.side, old.side
            )
        }
        _ => return None,
    };
    Some(cause(CauseKind::Pin, text))
}

/// Whether the author asks for something else; another alternative of as many is a choice of haul.
fn requested(stage: &Joined<'_>) -> Vec<Cause> {
    let (old, new) = (stage.old, stage.new);
    let of = |stage: &SavedStage| stage.alternative.map_or(1, |(_, of)| of);
    let (name, was, is) = (&new.name, of(old), of(new));
    let (had, asks) = (lines::request(&old.request), lines::request(&new.request));
    let (kind, text) = match () {
        () if was != is => (
            CauseKind::RequestChanged,
            format!("`{name}` has alternatives: {is}, it had {was}"),
        ),
        () if had == asks => return Vec::new(),
        () if old.alternative != new.alternative => (
            CauseKind::Follows,
            format!("`{name}` gets another alternative: {asks}, no longer {had}"),
        ),
        () => (
            CauseKind::RequestChanged,
            format!("`{name}` asks for {asks}, no longer {had}"),
        ),
    };
    vec![cause(kind, text)]
}

/// What else came, went, or is pinned in a stage, besides an op.
fn in_stage(stage: &Joined<'_>, besides: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    for new in stage.new.ops.iter().filter(|op| op.name != besides) {
        match stage.old_op(&new.name) {
            None => causes.push(came_or_went(stage, &new.name)),
            Some(old) if old.formula != new.formula => {
                let text = format!("`{}` is now {}", new.name, new.formula);
                causes.push(cause(CauseKind::OpChanged, text));
            }
            Some(old) => causes.extend(pin(old, new)),
        }
    }
    let gone = stage
        .old
        .ops
        .iter()
        .filter(|op| stage.new_op(&op.name).is_none());
    causes.extend(gone.map(|op| came_or_went(stage, &op.name)));
    causes.truncate(MOST_NAMED);
    causes
}

/// Ops that are on another side than they were, or came, or went.
fn moved(stage: &Joined<'_>, is_meant: impl Fn(&SavedOp) -> bool) -> Vec<Cause> {
    let mut causes = Vec::new();
    for new in stage.new.ops.iter().filter(|op| is_meant(op)) {
        let text = format!("`{}` is on the {}: {}", new.name, new.side, new.reason);
        match stage.old_op(&new.name) {
            None => causes.push(cause(
                CauseKind::Added,
                format!("`{}` was added; {text}", new.name),
            )),
            Some(old) if old.side != new.side => causes.push(cause(CauseKind::Follows, text)),
            Some(_) => {}
        }
    }
    let gone = stage.old.ops.iter().filter(|op| is_meant(op));
    let gone = gone.filter(|op| stage.new_op(&op.name).is_none());
    causes.extend(gone.map(|op| came_or_went(stage, &op.name)));
    causes.truncate(MOST_NAMED);
    causes
}

fn inputs<'a>(old: &'a SavedPlan, new: &'a SavedPlan) -> HashMap<&'a str, Cause> {
    let before: HashMap<_, _> = old.inputs.iter().map(|i| (i.name.as_str(), i)).collect();
    let changed = new.inputs.iter().filter_map(|input| {
        let old = before.get(input.name.as_str())?;
        (old.ty != input.ty || old.each != input.each)
            .then(|| (input.name.as_str(), input_cause(old, input)))
    });
    changed.collect()
}

/// The type of an input changed. It grew or shrank where only its sizes did, all one way.
fn input_cause(old: &SavedInput, new: &SavedInput) -> Cause {
    let text = |what| format!("input `{}` {what}: {}, it was {}", new.name, new.ty, old.ty);
    match (sizes_of(&old.ty), sizes_of(&new.ty)) {
        (Some(old), Some(new)) if old.len() == new.len() && old != new => {
            let mut pairs = old.iter().zip(&new);
            if pairs.clone().all(|(old, new)| old <= new) {
                return cause(CauseKind::InputGrew, text("grew"));
            }
            if pairs.all(|(old, new)| old >= new) {
                return cause(CauseKind::InputShrank, text("shrank"));
            }
            cause(CauseKind::InputChanged, text("changed"))
        }
        _ => cause(CauseKind::InputChanged, text("changed")),
    }
}

/// The sizes of a type whose sizes are numbers.
fn sizes_of(ty: &str) -> Option<Vec<u64>> {
    let (_, sizes) = ty.strip_suffix(']')?.split_once('[')?;
    sizes.split(", ").map(|size| size.parse().ok()).collect()
}

fn sizes<'a>(old: &'a SavedPlan, new: &'a SavedPlan) -> HashMap<&'a str, Cause> {
    let before: HashMap<_, _> = old.dims.iter().map(|d| (d.name.as_str(), d.plan)).collect();
    let changed = new.dims.iter().filter_map(|dim| {
        let name = dim.name.as_str();
        let (was, is) = (*before.get(name)?, dim.plan);
        let text = |size: Option<u64>| size.map_or_else(|| "unknown".to_owned(), |n| n.to_string());
        let told = format!("{} -> {}", text(was), text(is));
        let cause = match (was, is) {
            _ if was == is => return None,
            (Some(was), Some(is)) if was < is => {
                cause(CauseKind::InputGrew, format!("`{name}` grew: {told}"))
            }
            (Some(_), Some(_)) => cause(CauseKind::InputShrank, format!("`{name}` shrank: {told}")),
            _ => cause(CauseKind::InputChanged, format!("`{name}` changed: {told}")),
        };
        Some((name, cause))
    });
    changed.collect()
}

fn machines(old: &SavedPlan, new: &SavedPlan) -> Vec<Cause> {
    let mut causes = Vec::new();
    if old.target != new.target {
        let (was, is) = (&old.target.name, &new.target.name);
        let text = match was == is {
            true => format!("target `{is}` has other nodes"),
            false => format!("the target is `{is}`, no longer `{was}`"),
        };
        causes.push(cause(CauseKind::TargetChanged, text));
    }
    let (was, is) = (&old.estimates.devices, &new.estimates.devices);
    let changed = is
        .iter()
        .filter(|(name, figures)| was.get(*name).is_some_and(|w| w != *figures));
    let text = |(name, _): (&String, _)| format!("the figures of `{name}` are others");
    causes.extend(changed.map(|device| cause(CauseKind::CalibrationChanged, text(device))));
    if old.cost_model != new.cost_model {
        let text = format!(
            "the cost model is {}, it was {}",
            new.cost_model, old.cost_model
        );
        causes.push(cause(CauseKind::CostModelChanged, text));
    }
    causes
}
