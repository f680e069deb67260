//! Changes of what is computed.

use std::collections::HashMap;

use super::{Change, Changes};
use crate::saved::{SavedDim, SavedInput, SavedOp, SavedOutput, SavedPlan, SavedStage, SavedWork};

/// Sizes, inputs and outputs, then stage by stage, in the order of the new plan; what is gone
/// comes last.
pub(super) fn work(old: &SavedPlan, new: &SavedPlan) -> Vec<Change> {
    let mut changes = Changes::default();
    changes.lists(&old.dims, &new.dims);
    changes.lists(&old.inputs, &new.inputs);
    let stages: HashMap<_, _> = old.stages.iter().map(|s| (s.name.as_str(), s)).collect();
    for stage in &new.stages {
        match stages.get(stage.name.as_str()) {
            Some(old) => changes.stage(old, stage),
            None => changes.whole_stage(stage, true),
        }
    }
    let kept: HashMap<_, _> = new.stages.iter().map(|s| (s.name.as_str(), ())).collect();
    for stage in old
        .stages
        .iter()
        .filter(|s| !kept.contains_key(s.name.as_str()))
    {
        changes.whole_stage(stage, false);
    }
    changes.lists(&old.outputs, &new.outputs);
    changes.0
}

/// A thing with a name and facts.
trait Fact {
    fn subject(&self) -> String;
    fn facts(&self) -> Vec<(&'static str, String)>;
}

impl Fact for SavedDim {
    fn subject(&self) -> String {
        format!("dim {}", self.name)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let size = |size: Option<u64>| size.map_or_else(|| "unknown".to_owned(), |n| n.to_string());
        let each = self.each.clone().unwrap_or_else(|| "none".to_owned());
        vec![
            ("each", each),
            ("plan", size(self.plan)),
            ("max", size(self.max)),
        ]
    }
}

impl Fact for SavedInput {
    fn subject(&self) -> String {
        format!("input {}", self.name)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let each = if self.each { "each " } else { "" };
        vec![
            ("type", format!("{each}{}", self.ty)),
            ("from", self.source.clone()),
        ]
    }
}

impl Fact for SavedOutput {
    fn subject(&self) -> String {
        format!("output {}", self.name)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let to = format!("{} {}", self.format, self.path);
        vec![("to", to), ("from", self.from.clone())]
    }
}

impl Changes {
    /// Things of one kind, by name.
    fn lists<T: Fact>(&mut self, old: &[T], new: &[T]) {
        let before: HashMap<_, _> = old.iter().map(|fact| (fact.subject(), fact)).collect();
        let after: HashMap<_, _> = new.iter().map(|fact| (fact.subject(), fact)).collect();
        for fact in new {
            let subject = fact.subject();
            match before.get(&subject) {
                Some(old) => {
                    for ((name, old), (_, new)) in old.facts().iter().zip(fact.facts()) {
                        self.compare(&subject, name, old, &new);
                    }
                }
                None => self.push(&subject, "", None, Some(together(fact))),
            }
        }
        for fact in old {
            let subject = fact.subject();
            if !after.contains_key(&subject) {
                self.push(&subject, "", Some(together(fact)), None);
            }
        }
    }

    fn stage(&mut self, old: &SavedStage, new: &SavedStage) {
        let subject = format!("stage {}", new.name);
        let each = |stage: &SavedStage| stage.each.clone().unwrap_or_else(|| "none".to_owned());
        self.compare(&subject, "each", &each(old), &each(new));
        self.compare(&subject, "tasks", &old.tasks.exact, &new.tasks.exact);
        let before: HashMap<_, _> = old.ops.iter().map(|op| (op.name.as_str(), op)).collect();
        let after: HashMap<_, _> = new.ops.iter().map(|op| (op.name.as_str(), op)).collect();
        let (was, is) = (fused(old), fused(new));
        for op in &new.ops {
            let name = new.full_name(&op.name);
            match before.get(op.name.as_str()) {
                Some(old) => {
                    self.definition(&name, old, op);
                    // Which ops run as one is a decision, and the work of a group hangs on it.
                    if was.get(op.name.as_str()) == is.get(op.name.as_str()) {
                        self.amounts(&name, old, op);
                    }
                }
                None => self.push(&name, "", None, Some(definition(op))),
            }
        }
        for op in old
            .ops
            .iter()
            .filter(|op| !after.contains_key(op.name.as_str()))
        {
            self.push(&new.full_name(&op.name), "", Some(definition(op)), None);
        }
    }

    fn whole_stage(&mut self, stage: &SavedStage, is_new: bool) {
        let sided = |text: String| match is_new {
            true => (None, Some(text)),
            false => (Some(text), None),
        };
        let each = stage
            .each
            .as_ref()
            .map_or_else(String::new, |each| format!("each {each}"));
        let (old, new) = sided(each);
        self.push(&format!("stage {}", stage.name), "", old, new);
        for op in &stage.ops {
            let (old, new) = sided(definition(op));
            self.push(&stage.full_name(&op.name), "", old, new);
        }
    }

    fn definition(&mut self, name: &str, old: &SavedOp, new: &SavedOp) {
        self.compare(name, "formula", &old.formula, &new.formula);
        self.compare(name, "type", &old.types, &new.types);
    }

    fn amounts(&mut self, name: &str, old: &SavedOp, new: &SavedOp) {
        match (&old.work, &new.work) {
            (
                SavedWork::Known { flops, bytes, .. },
                SavedWork::Known {
                    flops: new_flops,
                    bytes: new_bytes,
                    ..
                },
            ) => {
                self.compare(name, "flops", &flops.exact, &new_flops.exact);
                self.compare(name, "bytes", &bytes.exact, &new_bytes.exact);
            }
            (old, new) if kind(old) == "fused" || kind(new) == "fused" => {}
            (old, new) => self.compare(name, "work", kind(old), kind(new)),
        }
    }
}

/// The ops that run in the kernel of each op.
fn fused(stage: &SavedStage) -> HashMap<&str, Vec<&str>> {
    let mut fused: HashMap<&str, Vec<&str>> = HashMap::new();
    for op in &stage.ops {
        if let Some(head) = op.reason.strip_prefix("fused_with ") {
            fused.entry(head).or_default().push(&op.name);
        }
    }
    fused
}

fn kind(work: &SavedWork) -> &'static str {
    match work {
        SavedWork::Fused => "fused",
        SavedWork::Unknown => "unknown",
        SavedWork::Known { .. } => "known",
    }
}

fn together(fact: &impl Fact) -> String {
    let facts = fact.facts().into_iter();
    let facts: Vec<_> = facts.map(|(name, text)| format!("{name} {text}")).collect();
    facts.join(", ")
}

fn definition(op: &SavedOp) -> String {
    format!("{} {}", op.formula, op.types)
}
