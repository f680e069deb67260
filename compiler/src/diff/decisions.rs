//! Changes of what was decided, each with its causes.

use std::collections::HashMap;

use super::causes::{Causes, Joined, requests};
use super::{Cause, CauseKind, Change, Changes, Decision};
use crate::render::units;
use crate::saved::{SavedNode, SavedOp, SavedPlan, SavedStage, SavedTransfer, SavedWork, lines};

/// The target, then stage by stage in the order of the new plan; what is gone comes last.
pub(super) fn decisions(old: &SavedPlan, new: &SavedPlan) -> Vec<Decision> {
    let causes = Causes::new(old, new);
    let mut decisions = target(old, new);
    let before: HashMap<_, _> = old.stages.iter().map(|s| (s.name.as_str(), s)).collect();
    let after: HashMap<_, _> = new.stages.iter().map(|s| (s.name.as_str(), s)).collect();
    for stage in &new.stages {
        match before.get(stage.name.as_str()) {
            Some(old) => decisions.extend(of_stage(&causes, old, stage)),
            None => decisions.extend(whole_stage(stage, true)),
        }
    }
    for stage in old
        .stages
        .iter()
        .filter(|s| !after.contains_key(s.name.as_str()))
    {
        decisions.extend(whole_stage(stage, false));
    }
    decisions
}

/// The names of what did not change.
pub(super) struct Unchanged {
    pub(super) ops: Vec<String>,
    pub(super) transfers: Vec<String>,
}

/// Ops and transfers that are the same in work and decisions.
pub(super) fn unchanged(old: &SavedPlan, new: &SavedPlan) -> Unchanged {
    let before: HashMap<_, _> = old.stages.iter().map(|s| (s.name.as_str(), s)).collect();
    let mut unchanged = Unchanged {
        ops: Vec::new(),
        transfers: Vec::new(),
    };
    for stage in &new.stages {
        let Some(old) = before.get(stage.name.as_str()) else {
            continue;
        };
        let (joined, transfers) = (Joined::new(old, stage), by_value(old));
        for op in &stage.ops {
            if joined.old_op(&op.name).is_some_and(|old| is_same(old, op)) {
                unchanged.ops.push(stage.full_name(&op.name));
            }
        }
        for transfer in &stage.transfers {
            if transfers
                .get(&key(transfer))
                .is_some_and(|old| moves(old) == moves(transfer))
            {
                unchanged.transfers.push(subject(stage, transfer));
            }
        }
    }
    unchanged
}

fn is_same(old: &SavedOp, new: &SavedOp) -> bool {
    let exact = |work: &SavedWork| match work {
        SavedWork::Fused => ("fused".to_owned(), String::new()),
        SavedWork::Unknown => ("unknown".to_owned(), String::new()),
        SavedWork::Known { flops, bytes, .. } => (flops.exact.clone(), bytes.exact.clone()),
    };
    let is_exact = exact(&old.work) == exact(&new.work);
    is_exact && old.formula == new.formula && old.types == new.types && place(old) == place(new)
}

/// Transfers by what crosses and which way.
fn by_value(stage: &SavedStage) -> HashMap<(&str, &str), &SavedTransfer> {
    let transfers = stage.transfers.iter();
    transfers
        .map(|transfer| (key(transfer), transfer))
        .collect()
}

fn key(transfer: &SavedTransfer) -> (&str, &str) {
    (&transfer.value, &transfer.direction)
}

/// The machines. For a plan it is given which they are.
fn target(old: &SavedPlan, new: &SavedPlan) -> Vec<Decision> {
    let mut changes = Changes::default();
    changes.compare("target", "name", &old.target.name, &new.target.name);
    let before: HashMap<_, _> = old.target.nodes.iter().map(|n| (&n.name, n)).collect();
    let after: HashMap<_, _> = new.target.nodes.iter().map(|n| (&n.name, n)).collect();
    for node in &new.target.nodes {
        let (subject, is) = (format!("node {}", node.name), shape(node));
        match before.get(&node.name) {
            Some(old) => changes.compare(&subject, "is", &shape(old), &is),
            None => changes.push(&subject, "", None, Some(is)),
        }
    }
    for node in old
        .target
        .nodes
        .iter()
        .filter(|node| !after.contains_key(&node.name))
    {
        changes.push(&format!("node {}", node.name), "", Some(shape(node)), None);
    }
    let cause = Cause {
        kind: CauseKind::TargetChanged,
        text: "the plan is for other machines".to_owned(),
    };
    with_cause(changes, &cause)
}

fn shape(node: &SavedNode) -> String {
    let memory = units::exact_bytes(node.memory);
    let mut text = format!("{} x {} cpus, {memory}", node.count, node.cpus);
    for (gpu, count) in &node.gpus {
        text += &format!(", {count} x {gpu}");
    }
    text
}

fn with_cause(changes: Changes, cause: &Cause) -> Vec<Decision> {
    let decision = |change| Decision {
        change,
        causes: vec![cause.clone()],
    };
    changes.0.into_iter().map(decision).collect()
}

/// The decisions about a stage that only one of the plans has.
fn whole_stage(stage: &SavedStage, is_new: bool) -> Vec<Decision> {
    let (kind, what) = match is_new {
        true => (CauseKind::Added, "added"),
        false => (CauseKind::Removed, "removed"),
    };
    let mut changes = Changes::default();
    let name = format!("stage {}", stage.name);
    let is_told = |text: &str| !matches!(text, "none" | "one" | "0" | "fail");
    for (fact, text) in facts(stage) {
        if is_told(&text) {
            changes.one_sided(&name, fact, text, is_new);
        }
    }
    for op in &stage.ops {
        changes.one_sided(&stage.full_name(&op.name), "place", place(op), is_new);
    }
    for transfer in &stage.transfers {
        let text = moves(transfer);
        changes.one_sided(&subject(stage, transfer), "transfer", text, is_new);
    }
    let text = format!("stage `{}` was {what}", stage.name);
    with_cause(changes, &Cause { kind, text })
}

/// The decisions about a stage as a whole.
fn facts(stage: &SavedStage) -> [(&'static str, String); 9] {
    let none = || "none".to_owned();
    let at = stage
        .memory_at
        .as_ref()
        .map_or_else(String::new, |at| format!(" at {at}"));
    let request = stage.request().map_or_else(String::new, lines::request);
    let all = match stage.requests.len() {
        1 => "one".to_owned(),
        _ => requests(stage),
    };
    let timeout = stage.timeout.map(units::exact_time);
    let on_error = if stage.skips { "skip" } else { "fail" };
    [
        ("request", request),
        ("requests", all),
        ("retries", stage.retries.to_string()),
        ("timeout", timeout.unwrap_or_else(none)),
        ("on error", on_error.to_owned()),
        ("node", stage.node.clone()),
        ("gpu", stage.gpu.clone().unwrap_or_else(none)),
        ("memory host peak", format!("{}{at}", stage.memory.exact)),
        ("memory gpu peak", stage.vram.exact.clone()),
    ]
}

/// The decisions about a stage that both plans have.
fn of_stage(causes: &Causes<'_>, old: &SavedStage, new: &SavedStage) -> Vec<Decision> {
    let joined = Joined::new(old, new);
    let mut decisions = Vec::new();
    let mut tell = |changes: Changes, causes: &dyn Fn() -> Vec<Cause>| {
        decisions.extend(changes.0.into_iter().map(|change| Decision {
            change,
            causes: causes(),
        }));
    };
    let name = format!("stage {}", new.name);
    for ((fact, old), (_, new)) in facts(old).iter().zip(facts(new)) {
        let mut changes = Changes::default();
        changes.compare(&name, fact, old, &new);
        match *fact {
            "memory host peak" | "memory gpu peak" => tell(changes, &|| causes.of_memory(&joined)),
            fact => tell(changes, &|| causes.of_request(&joined, fact)),
        }
    }
    for op in &new.ops {
        let mut changes = Changes::default();
        let name = new.full_name(&op.name);
        match joined.old_op(&op.name) {
            Some(old) => changes.compare(&name, "place", &place(old), &place(op)),
            None => changes.one_sided(&name, "place", place(op), true),
        }
        tell(changes, &|| causes.of_place(&joined, op));
    }
    for op in old
        .ops
        .iter()
        .filter(|op| joined.new_op(&op.name).is_none())
    {
        let mut changes = Changes::default();
        changes.one_sided(&new.full_name(&op.name), "place", place(op), false);
        tell(changes, &|| causes.of_place(&joined, op));
    }
    let (before, after) = (by_value(old), by_value(new));
    for transfer in &new.transfers {
        let mut changes = Changes::default();
        let name = subject(new, transfer);
        match before.get(&key(transfer)) {
            Some(old) => changes.compare(&name, "transfer", &moves(old), &moves(transfer)),
            None => changes.one_sided(&name, "transfer", moves(transfer), true),
        }
        tell(changes, &|| causes.of_transfer(&joined, transfer));
    }
    for transfer in old
        .transfers
        .iter()
        .filter(|t| !after.contains_key(&key(t)))
    {
        let mut changes = Changes::default();
        changes.one_sided(&subject(new, transfer), "transfer", moves(transfer), false);
        tell(changes, &|| causes.of_transfer(&joined, transfer));
    }
    decisions
}

/// `kernel: parsed h2d`.
fn subject(stage: &SavedStage, transfer: &SavedTransfer) -> String {
    format!("{}: {} {}", stage.name, transfer.value, transfer.direction)
}

/// `32*n bytes for x`.
fn moves(transfer: &SavedTransfer) -> String {
    let bytes = &transfer.bytes.exact;
    match transfer.readers.is_empty() {
        true => format!("{bytes} bytes"),
        false => format!("{bytes} bytes for {}", transfer.readers.join(", ")),
    }
}

fn place(op: &SavedOp) -> String {
    format!("{} {}", op.side, op.reason)
}

impl Changes {
    /// A fact that only the new plan has, or only the old one.
    fn one_sided(&mut self, subject: &str, fact: &str, text: String, is_new: bool) {
        match is_new {
            true => self.push(subject, fact, None, Some(text)),
            false => self.push(subject, fact, Some(text), None),
        }
    }
}

/// The change of a side, as tests and summaries ask for it.
pub(super) fn changes_side(change: &Change) -> bool {
    let side = |text: &Option<String>| {
        let text = text.as_deref()?;
        text.split(' ').next().map(str::to_owned)
    };
    change.fact == "place" && side(&change.old) != side(&change.new)
}
