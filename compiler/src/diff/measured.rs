//! What two runs measured, or one beside its own prediction. Like estimates as it prints, and never
//! mixed with them.

use std::collections::HashMap;

use super::{Changes, Diff, RenamedKind};
use crate::measured::{Measured, MeasuredStage};
use crate::render::report::ratio;
use crate::render::units;

impl Diff {
    /// The diff with what the runs of the two plans measured, where there were some. Of one run it
    /// is told how it compares to what its plan predicted.
    #[must_use]
    pub fn with_measured(self, old: Option<&Measured>, new: Option<&Measured>) -> Diff {
        let mut changes = Changes::default();
        match (old, new) {
            (Some(old), Some(new)) => compare(&mut changes, &self, old, new),
            (Some(run), None) => {
                let facts = facts_of(run).into_iter();
                facts
                    .for_each(|(subject, fact, was)| changes.push(&subject, fact, Some(was), None));
            }
            (None, Some(run)) => {
                let facts = facts_of(run).into_iter();
                facts.for_each(|(subject, fact, is)| changes.push(&subject, fact, None, Some(is)));
            }
            (None, None) => {}
        }
        Diff {
            measured: changes.0,
            ..self
        }
    }
}

fn compare(changes: &mut Changes, diff: &Diff, old: &Measured, new: &Measured) {
    for ((fact, was), (_, is)) in run_facts(old).iter().zip(run_facts(new)) {
        changes.compare("run", fact, was, &is);
    }
    let stages = diff.renamed.iter();
    let stages = stages.filter(|renamed| renamed.kind == RenamedKind::Stage);
    let now: HashMap<_, _> = stages
        .map(|to| (to.old.as_str(), to.new.as_str()))
        .collect();
    let before = old.stages.iter().map(|stage| {
        let name = stage.stage.as_str();
        (*now.get(name).unwrap_or(&name), stage)
    });
    let mut before: HashMap<_, _> = before.collect();
    for stage in &new.stages {
        let subject = format!("stage {}", stage.stage);
        let Some(old) = before.remove(stage.stage.as_str()) else {
            let facts = stage_facts(stage).into_iter();
            facts.for_each(|(fact, is)| changes.push(&subject, fact, None, Some(is)));
            continue;
        };
        for ((fact, was), (_, is)) in stage_facts(old).iter().zip(stage_facts(stage)) {
            changes.compare(&subject, fact, was, &is);
        }
    }
    let mut gone: Vec<_> = before.into_iter().collect();
    gone.sort_by_key(|(name, _)| *name);
    for (name, stage) in gone {
        let subject = format!("stage {name}");
        let facts = stage_facts(stage).into_iter();
        facts.for_each(|(fact, was)| changes.push(&subject, fact, Some(was), None));
    }
}

/// What one run measured, with how its times compare to the predicted ones.
fn facts_of(run: &Measured) -> Vec<(String, &'static str, String)> {
    let beside =
        |measured: u64, predicted: Option<u64>| match (predicted, ratio(measured, predicted)) {
            (Some(predicted), Some(ratio)) => {
                format!(", {ratio} times the predicted {}", units::time(predicted))
            }
            _ => String::new(),
        };
    let mut facts: Vec<_> = run_facts(run)
        .map(|(fact, is)| ("run".to_owned(), fact, is))
        .into();
    facts[0].2 += &beside(run.measured.makespan, run.predicted.makespan);
    for stage in &run.stages {
        let [time, rest @ ..] = stage_facts(stage);
        let subject = format!("stage {}", stage.stage);
        let beside = beside(stage.measured.time, stage.predicted.time);
        facts.push((subject.clone(), time.0, time.1 + &beside));
        facts.extend(rest.map(|(fact, is)| (subject.clone(), fact, is)));
    }
    facts
}

fn run_facts(run: &Measured) -> [(&'static str, String); 2] {
    let measured = &run.measured;
    [
        ("makespan", units::time(measured.makespan)),
        ("peak memory", units::bytes(measured.peak_memory.into())),
    ]
}

fn stage_facts(stage: &MeasuredStage) -> [(&'static str, String); 6] {
    let measured = &stage.measured;
    [
        ("time", units::time(measured.time)),
        ("longest", units::time(measured.longest)),
        ("waited", units::time(measured.waited)),
        ("peak memory", units::bytes(measured.peak_memory.into())),
        ("tasks", stage.tasks.to_string()),
        ("device", stage.device.clone()),
    ]
}
