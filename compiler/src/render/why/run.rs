//! Why a stage took as long as it did in a run that was measured.

use super::super::report::ratio;
use super::super::stage::labelled;
use super::super::style::HEADING;
use super::super::{Colour, units};
use crate::measured::{Measured, MeasuredStage, MeasuredWait};

/// What a run measured of a stage beside what was predicted, and what it waited for, since when and
/// behind whom. Ends in a newline.
pub fn run(run: &Measured, stage: &MeasuredStage, colour: Colour) -> String {
    let plan = &run.plan;
    let title = format!("{} in a run of {}", stage.stage, plan.pipeline);
    let mut tasks = match stage.tasks {
        1 => "1 task".to_owned(),
        tasks => format!("{tasks} tasks"),
    };
    if stage.reused > 0 {
        tasks += &format!(", {} of earlier runs,", stage.reused);
    }
    let mut out = colour.paint(HEADING, &title);
    out += &format!(
        ", planned for {}: {tasks} on {}\n",
        plan.target.name, stage.device
    );
    for (label, text) in facts(run, stage) {
        out += &labelled(label, &text, colour);
    }
    for wait in &stage.measured.waits {
        out += &labelled("wait", &told(wait), colour);
    }
    out
}

fn facts(run: &Measured, stage: &MeasuredStage) -> Vec<(&'static str, String)> {
    let (measured, predicted) = (&stage.measured, &stage.predicted);
    let mut time = format!("{} of all tasks", units::time(measured.time));
    time += &match (predicted.time, ratio(measured.time, predicted.time)) {
        (Some(predicted), Some(ratio)) => {
            format!(", {ratio} times the predicted {}", units::time(predicted))
        }
        _ => ", predicted unknown".to_owned(),
    };
    let mut longest = units::time(measured.longest);
    if let Some(item) = &measured.longest_item {
        longest += &format!(", of item {item}");
    }
    let of_run = units::time(run.measured.makespan);
    let (from, to) = (units::time(measured.started), units::time(measured.ended));
    let mut memory = format!("{} at most", units::bytes(measured.peak_memory.into()));
    if let Some(predicted) = predicted.peak_memory {
        memory += &format!(", predicted {}", units::bytes(predicted.into()));
    }
    let waited = match measured.waited {
        0 => "for no other stage".to_owned(),
        time => format!("{} for room", units::time(time)),
    };
    vec![
        ("time", time),
        ("longest", longest),
        ("ran", format!("from {from} to {to} of {of_run}")),
        ("stolen", format!("{} of {}", measured.stolen, stage.tasks)),
        ("memory", memory),
        ("waited", waited),
    ]
}

/// `for memory from 1.00 ms to 3.00 ms, behind a, b`.
fn told(wait: &MeasuredWait) -> String {
    let end = wait.start.saturating_add(wait.time);
    let (from, to) = (units::time(wait.start), units::time(end));
    let behind = match wait.behind.len() {
        0 => String::new(),
        _ => format!(", behind {}", wait.behind.join(", ")),
    };
    format!("for {} from {from} to {to}{behind}", wait.lacks)
}
