//! Why a stage gets its request and node.

use haul_ir::cost::Nanos;
use haul_ir::plan::Plan;

use super::super::stage::{labelled, stage};
use super::super::style::HEADING;
use super::super::table::{Cell, Column, Table};
use super::super::text::request;
use super::super::values::Values;
use super::super::{Colour, units};
use crate::plan::why::{Behind, Candidate, First, Predicted, Why};

/// The stage as plans print it, its candidates, and what would make others win.
pub(super) fn of_stage(why: &Why, values: &Values<'_>, colour: Colour) -> String {
    let mut out = stage(&why.plan, values, why.stage, colour);
    out += &format!("\n{}\n", colour.paint(HEADING, "candidates"));
    out += &candidates(why).print(colour);
    for candidate in &why.candidates {
        if let Some((label, text)) = remark(candidate) {
            out += &labelled(label, &format!("{}: {text}", name(why, candidate)), colour);
        }
    }
    out
}

/// Every request of the stage on every kind of node that could hold it.
fn candidates(why: &Why) -> Table {
    let mut table = Table::new([
        Column::text("request"),
        Column::text("node"),
        Column::text("gpu"),
        Column::number("at once"),
        Column::number("a task"),
        Column::number("all tasks"),
        Column::word("verdict"),
    ]);
    for candidate in &why.candidates {
        let (numbers, verdict) = match &candidate.outcome {
            Ok(predicted) => (numbers(predicted), verdict(candidate, predicted)),
            Err(_) => ([const { String::new() }; 3], "refused".to_owned()),
        };
        let [at_once, task, all] = numbers;
        let (node, gpu) = place(&why.plan, candidate);
        let asked = asked(why, candidate);
        table.row([asked, node, gpu, at_once, task, all, verdict].map(Cell::from));
    }
    table.indented(2)
}

fn numbers(predicted: &Predicted) -> [String; 3] {
    let finish = predicted.finish.map(in_nanos);
    [
        units::count(predicted.at_once.into()),
        units::time_or_unknown(predicted.time),
        units::time_or_unknown(finish),
    ]
}

fn verdict(candidate: &Candidate, predicted: &Predicted) -> String {
    match predicted.behind {
        _ if candidate.is_chosen => "chosen".to_owned(),
        Some(Behind::Finish { by }) => format!("{} later", units::time(in_nanos(by))),
        Some(Behind::Waits) => "the run later".to_owned(),
        Some(Behind::Request) => "a later request".to_owned(),
        Some(Behind::IdleGpus) => "leaves gpus idle".to_owned(),
        Some(Behind::Price) => "dearer".to_owned(),
        Some(Behind::Order) => "as good".to_owned(),
        None => String::new(),
    }
}

/// What is missing, or what would make it win.
fn remark(candidate: &Candidate) -> Option<(&'static str, String)> {
    let predicted = match &candidate.outcome {
        Ok(predicted) => predicted,
        Err(missing) => return Some(("refused", missing.clone())),
    };
    let Behind::Finish { by } = predicted.behind? else {
        return None;
    };
    let share = units::significant(by.checked_mul(100)?, predicted.finish?);
    let tasks = candidate.tasks.map_or_else(String::new, |tasks| {
        let plural = if tasks == 1 { "" } else { "s" };
        format!(", or with {tasks} task{plural}")
    });
    let sizes: String = candidate.first.iter().map(sizes).collect();
    let text = format!("chosen if its tasks took over {share} % less{tasks}{sizes}");
    Some(("others", text))
}

/// `, or with n <= 512`, or that no size of the dim would do.
fn sizes(first: &First) -> String {
    let dim = &first.dim;
    let below = first.below.map(|size| format!("{dim} <= {size}"));
    let above = first.above.map(|size| format!("{dim} >= {size}"));
    match (below, above) {
        (None, None) => format!("; not for any {dim} up to {}", first.most),
        (below, above) => below
            .into_iter()
            .chain(above)
            .map(|sizes| format!(", or with {sizes}"))
            .collect(),
    }
}

/// `2 cpus, 4 GiB on node`.
fn name(why: &Why, candidate: &Candidate) -> String {
    let asked = asked(why, candidate);
    match candidate.node.map(|node| &why.plan.target.nodes[node].name) {
        Some(node) => format!("{asked} on {node}"),
        None => asked,
    }
}

fn asked(why: &Why, candidate: &Candidate) -> String {
    let stage = &why.plan.typed.graph().stages[why.stage];
    request(&stage.requests[candidate.request])
}

fn place(plan: &Plan, candidate: &Candidate) -> (String, String) {
    let Some(node) = candidate.node.map(|node| &plan.target.nodes[node]) else {
        return (String::new(), String::new());
    };
    let gpu = candidate.gpu.and_then(|gpu| node.gpus.get(gpu));
    let gpu = gpu.map_or_else(String::new, |gpu| gpu.name.clone());
    (node.name.clone(), gpu)
}

fn in_nanos(time: u128) -> Nanos {
    Nanos::try_from(time).unwrap_or(Nanos::MAX)
}
