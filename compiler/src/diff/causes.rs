//! Why decisions changed, from what else is different in the two plans.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::names::names;
use super::{Cause, CauseKind};
use crate::saved::{SavedInput, SavedOp, SavedPlan, SavedStage, SavedTransfer, SavedWork, lines};

/// So many ops are named as causes of one change.
const MOST_NAMED: usize = 3;

/// A stage of both plans, with what is found in it again and again.
pub(super) struct Joined<'a> {
    old: &'a SavedStage,
    new: &'a SavedStage,
    old_ops: HashMap<&'a str, &'a SavedOp>,
    new_ops: HashMap<&'a str, &'a SavedOp>,
    /// Ops by the values that they make or read.
    near: HashMap<&'a str, Vec<&'a str>>,
    /// Ops that came, went, compute something else, or are pinned otherwise.
    edited: Vec<(&'a str, Cause)>,
    /// Sizes planned at another value that its work or its tasks hang on, once they were asked for.
    sizes: OnceCell<Vec<Cause>>,
}

impl<'a> Joined<'a> {
    pub(super) fn new(old: &'a SavedStage, new: &'a SavedStage) -> Self {
        let ops = |stage: &'a SavedStage| {
            let ops = stage.ops.iter();
            ops.map(|op| (op.name.as_str(), op)).collect()
        };
        let mut joined = Self {
            old,
            new,
            old_ops: ops(old),
            new_ops: ops(new),
            near: HashMap::new(),
            edited: Vec::new(),
            sizes: OnceCell::new(),
        };
        joined.edited = joined.find_edited();
        joined.near = joined.find_near();
        joined
    }

    pub(super) fn old_op(&self, name: &str) -> Option<&'a SavedOp> {
        self.old_ops.get(name).copied()
    }

    pub(super) fn new_op(&self, name: &str) -> Option<&'a SavedOp> {
        self.new_ops.get(name).copied()
    }

    fn find_near(&self) -> HashMap<&'a str, Vec<&'a str>> {
        let gone = self.old.ops.iter();
        let gone = gone.filter(|op| self.new_op(&op.name).is_none());
        let mut near: HashMap<_, Vec<_>> = HashMap::new();
        for op in self.new.ops.iter().chain(gone) {
            for value in names(&op.formula).chain([op.name.as_str()]) {
                near.entry(value).or_default().push(op.name.as_str());
            }
        }
        near
    }

    fn find_edited(&self) -> Vec<(&'a str, Cause)> {
        let mut edited = Vec::new();
        for new in &self.new.ops {
            let cause = match self.old_op(&new.name) {
                None => Some(self.came_or_went(&new.name)),
                Some(old) if old.formula != new.formula => {
                    let name = self.new.full_name(&new.name);
                    let text = format!("`{name}` is now {}", new.formula);
                    Some(cause(CauseKind::OpChanged, text))
                }
                Some(old) => pin(old, new),
            };
            edited.extend(cause.map(|cause| (new.name.as_str(), cause)));
        }
        for old in &self.old.ops {
            if self.new_op(&old.name).is_none() {
                edited.push((&old.name, self.came_or_went(&old.name)));
            }
        }
        edited
    }

    /// What the author edited in the stage, besides an op.
    fn edits(&self, besides: &str) -> impl Iterator<Item = Cause> {
        let others = self.edited.iter().filter(move |(op, _)| *op != besides);
        others.take(MOST_NAMED).map(|(_, cause)| cause.clone())
    }

    fn came_or_went(&self, op: &str) -> Cause {
        let name = self.new.full_name(op);
        match self.new_op(op) {
            Some(_) => added(&name),
            None => cause(CauseKind::Removed, format!("`{name}` was removed")),
        }
    }

    /// Of some ops those that are on another side than they were, or came, or went.
    fn moved<'n>(&self, ops: impl Iterator<Item = &'n str>) -> Vec<Cause> {
        let moved = ops.filter_map(|op| {
            let Some(new) = self.new_op(op) else {
                return Some(self.came_or_went(op));
            };
            let text = format!("`{op}` is on the {}: {}", new.side, new.reason);
            match self.old_op(op) {
                None => {
                    let text = format!("`{op}` was added; {text}");
                    Some(cause(CauseKind::Added, text))
                }
                Some(old) => (old.side != new.side).then(|| cause(CauseKind::Follows, text)),
            }
        });
        moved.take(MOST_NAMED).collect()
    }
}

/// What is different in two plans, as far as it can be a cause.
pub(super) struct Causes<'a> {
    /// Inputs with another type, or other items.
    inputs: HashMap<&'a str, Cause>,
    /// Sizes that are planned at another value.
    sizes: HashMap<&'a str, Cause>,
    /// The target, the figures of devices, the cost model.
    machines: Vec<Cause>,
    /// Why an op of the new plan, by stage and name, has other work.
    work: HashMap<(&'a str, &'a str), Vec<Cause>>,
}

impl<'a> Causes<'a> {
    pub(super) fn new(old: &'a SavedPlan, new: &'a SavedPlan) -> Self {
        let mut causes = Self {
            inputs: inputs(old, new),
            sizes: sizes(old, new),
            machines: machines(old, new),
            work: HashMap::new(),
        };
        let mut before = HashMap::new();
        for stage in &old.stages {
            let ops = stage.ops.iter();
            before.extend(ops.map(|op| ((stage.name.as_str(), op.name.as_str()), op)));
        }
        // Ops and stages come after those that they read.
        for stage in &new.stages {
            for op in &stage.ops {
                let key = (stage.name.as_str(), op.name.as_str());
                let found = causes.find_work(stage, before.get(&key).copied(), op);
                causes.work.insert(key, found);
            }
            // Other stages read the value of its last op by the stage's name.
            let value = stage
                .ops
                .last()
                .map(|op| (stage.name.as_str(), op.name.as_str()));
            if let Some(found) = value.and_then(|value| causes.work.get(&value)) {
                let found = found.clone();
                let key = (stage.name.as_str(), stage.name.as_str());
                causes.work.entry(key).or_insert(found);
            }
        }
        causes
    }

    /// Why an op has other work than before: its formula, or what it reads.
    fn find_work(&self, stage: &SavedStage, old: Option<&SavedOp>, new: &SavedOp) -> Vec<Cause> {
        let name = || stage.full_name(&new.name);
        match old {
            None => vec![added(&name())],
            Some(old) if old.formula != new.formula => {
                let text = format!("`{}` is now {}", name(), new.formula);
                vec![cause(CauseKind::OpChanged, text)]
            }
            Some(old) if old.types == new.types && old.work == new.work => Vec::new(),
            Some(_) => {
                let mut causes = BTreeSet::new();
                for name in names(&new.formula) {
                    causes.extend(self.inputs.get(name).cloned());
                    causes.extend(self.sizes.get(name).cloned());
                    let (from, op) = name.split_once('.').unwrap_or((name, name));
                    let keys = [(stage.name.as_str(), name), (from, op), (from, name)];
                    let made = keys.iter().find_map(|key| self.work.get(key));
                    causes.extend(made.into_iter().flatten().cloned());
                }
                causes.into_iter().take(MOST_NAMED).collect()
            }
        }
    }

    /// Why an op has another side or reason, or came, or went.
    pub(super) fn of_place(&self, stage: &Joined<'_>, op: &SavedOp) -> Vec<Cause> {
        let (old, new) = (stage.old_op(&op.name), stage.new_op(&op.name));
        let (Some(old), Some(new)) = (old, new) else {
            return vec![stage.came_or_went(&op.name)];
        };
        if let Some(pin) = pin(old, new) {
            return vec![pin];
        }
        let mut causes = self.of_work(stage, &op.name);
        let asks = "no_gpu_requested";
        if causes.is_empty() || old.reason == asks || new.reason == asks {
            causes.extend(requested(stage));
            causes.extend(chosen(stage));
        }
        causes.extend(self.of_sizes(stage));
        if causes.is_empty() {
            causes.extend(stage.edits(&op.name));
        }
        causes.extend(self.machines.iter().cloned());
        finished(causes)
    }

    /// Why a stage has another request, node or device. What the author asks for needs no other
    /// reason; what haul chooses has all that it hangs on.
    pub(super) fn of_request(&self, stage: &Joined<'_>, fact: &str) -> Vec<Cause> {
        let mut causes: Vec<_> = requested(stage).into_iter().collect();
        if let "retries" | "timeout" | "on error" = fact {
            let text = format!("`{}` says so", stage.new.name);
            return vec![cause(CauseKind::RequestChanged, text)];
        }
        if causes.is_empty() {
            if !matches!(fact, "request" | "requests") {
                causes.extend(chosen(stage));
            }
            causes.extend(stage.edits(""));
            causes.extend(self.of_all_work(stage));
            causes.extend(self.of_sizes(stage));
            causes.extend(self.machines.iter().cloned());
        }
        finished(causes)
    }

    /// Why a stage holds another amount of memory.
    pub(super) fn of_memory(&self, stage: &Joined<'_>) -> Vec<Cause> {
        let mut causes: Vec<_> = stage.edits("").collect();
        causes.extend(self.of_all_work(stage));
        if causes.is_empty() {
            let all = stage.new.ops.iter().map(|op| op.name.as_str());
            causes.extend(stage.moved(all));
        }
        if causes.is_empty() {
            causes.extend(requested(stage));
            causes.extend(chosen(stage));
            causes.extend(self.machines.iter().cloned());
        }
        finished(causes)
    }

    /// Why something crosses that did not, or no longer, or in another size.
    pub(super) fn of_transfer(&self, stage: &Joined<'_>, transfer: &SavedTransfer) -> Vec<Cause> {
        let near = stage.near.get(transfer.value.as_str());
        let near = near.map_or(&[][..], Vec::as_slice);
        let mut causes = stage.moved(near.iter().copied());
        let work = near.iter().flat_map(|op| self.of_work(stage, op));
        causes.extend(work.take(MOST_NAMED));
        if let Some(cause) = self.inputs.get(transfer.value.as_str()) {
            causes.push(cause.clone());
        }
        if causes.is_empty() {
            causes.extend(stage.edits(""));
            causes.extend(requested(stage));
            causes.extend(chosen(stage));
        }
        if causes.is_empty() {
            causes.extend(self.machines.iter().cloned());
        }
        finished(causes)
    }

    /// Why an op has other work.
    fn of_work(&self, stage: &Joined<'_>, op: &str) -> Vec<Cause> {
        let causes = self.work.get(&(stage.new.name.as_str(), op));
        causes.cloned().unwrap_or_default()
    }

    /// Why any op of a stage has other work.
    fn of_all_work(&self, stage: &Joined<'_>) -> Vec<Cause> {
        let ops = stage.new.ops.iter();
        let causes = ops.flat_map(|op| self.of_work(stage, &op.name));
        causes.take(MOST_NAMED).collect()
    }

    /// Sizes planned at another value that the work or the tasks of a stage hang on.
    fn of_sizes(&self, stage: &Joined<'_>) -> Vec<Cause> {
        let find = || {
            let amounts = stage.new.ops.iter().flat_map(|op| match &op.work {
                SavedWork::Known { flops, bytes, .. } => vec![flops, bytes],
                SavedWork::Fused | SavedWork::Unknown => Vec::new(),
            });
            let amounts = amounts.chain([&stage.new.tasks]);
            let names = amounts.flat_map(|amount| names(&amount.exact));
            let found: BTreeSet<_> = names.filter_map(|name| self.sizes.get(name)).collect();
            found.into_iter().cloned().collect()
        };
        stage.sizes.get_or_init(find).clone()
    }
}

/// Causes in order, each once.
fn finished(mut causes: Vec<Cause>) -> Vec<Cause> {
    let mut seen = HashSet::new();
    causes.retain(|cause| seen.insert(cause.clone()));
    if causes.is_empty() {
        causes.push(cause(CauseKind::Unknown, "the plans do not tell"));
    }
    causes
}

fn cause(kind: CauseKind, text: impl Into<String>) -> Cause {
    let text = text.into();
    Cause { kind, text }
}

fn added(name: &str) -> Cause {
    cause(CauseKind::Added, format!("`{name}` was added"))
}

fn pin(old: &SavedOp, new: &SavedOp) -> Option<Cause> {
    let name = &new.name;
    let text = match (old.pin, new.pin) {
        (was, is) if was == is => return None,
        (_, Some(side)) => format!("the author pins `{name}` to the {side}"),
        (Some(side), None) => format!("the author no longer pins `{name}` to the {side}"),
        (None, None) => return None,
    };
    Some(cause(CauseKind::Pin, text))
}

/// That the author asks for something else.
fn requested(stage: &Joined<'_>) -> Option<Cause> {
    let (old, new) = (requests(stage.old), requests(stage.new));
    (old != new).then(|| {
        let text = format!("`{}` asks for {new}, no longer {old}", stage.new.name);
        cause(CauseKind::RequestChanged, text)
    })
}

/// That haul chose another of the same requests.
fn chosen(stage: &Joined<'_>) -> Option<Cause> {
    let request = |stage: &SavedStage| stage.request().map_or_else(String::new, lines::request);
    let (old, new) = (stage.old, stage.new);
    let is_chosen = requests(old) == requests(new) && old.chosen != new.chosen;
    is_chosen.then(|| {
        let (name, was, is) = (&new.name, request(old), request(new));
        let text = format!("`{name}` gets another of its requests: {is}, no longer {was}");
        cause(CauseKind::Follows, text)
    })
}

/// All that a stage asks for.
pub(super) fn requests(stage: &SavedStage) -> String {
    let all: Vec<_> = stage.requests.iter().map(lines::request).collect();
    all.join(" or ")
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
