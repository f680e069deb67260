//! Why an op is on its side.

use haul_ir::cost::{Cost, Nanos};
use haul_ir::id::{GroupId, StageId};
use haul_ir::op::Work;
use haul_ir::plan::Plan;

use super::super::stage::labelled;
use super::super::style::HEADING;
use super::super::table::{Cell, Column, Table};
use super::super::values::Values;
use super::super::{Colour, choices, names, units};
use super::{crossing, tried};
use crate::pins;
use crate::plan::why::Why;

/// Its work, both sides with their terms, the sums of a task, the cut as planned and with it on the
/// other side, and what was tried.
pub(super) fn of_op(why: &Why, group: GroupId, values: &Values<'_>, colour: Colour) -> String {
    let Why { plan, stage, .. } = why;
    let graph = plan.typed.graph();
    let placement = &plan.groups[group].placement;
    let title = format!(
        "{} on {}: {}, {}",
        names::op(graph, plan.typed.head(group)),
        plan.target.name,
        placement.side,
        choices::reason(placement)
    );
    let mut out = colour.paint(HEADING, &title) + "\n";
    let choice = choices::of(plan, *stage, group).map(|text| ("choice", text));
    let line = others_of_line(plan, group).map(|text| ("line", text));
    let about = about(plan, group, values).into_iter().chain(line);
    for (label, text) in about.chain(choice) {
        out += &labelled(label, &text, colour);
    }
    out += "\n";
    out += &terms(plan, *stage, group, values).print(colour);
    out += &crossing::sections(why, group, colour);
    out + &tried::section(why, group, colour)
}

/// The groups that a pin of the group's name places with it, since they are of its line.
fn others_of_line(plan: &Plan, group: GroupId) -> Option<String> {
    let graph = plan.typed.graph();
    let name = names::op(graph, plan.typed.head(group));
    let mut heads: Vec<_> = pins::ops(graph, &name)
        .into_iter()
        .filter(|op| plan.typed.group_of(*op) != group)
        .map(|op| plan.typed.head(plan.typed.group_of(op)))
        .collect();
    heads.dedup();
    let others: Vec<_> = heads.iter().map(|op| names::op(graph, *op)).collect();
    let text = format!(
        "a side for `{name}` is one for {} as well",
        others.join(", ")
    );
    (!others.is_empty()).then_some(text)
}

/// What the group computes.
fn about(plan: &Plan, group: GroupId, values: &Values<'_>) -> Vec<(&'static str, String)> {
    let graph = plan.typed.graph();
    let ops = &plan.typed.groups()[group].ops;
    let one = |op| {
        let node = &graph.ops[op];
        format!(
            "{} = {} {}",
            node.name,
            names::formula(graph, node),
            names::types(graph, node)
        )
    };
    let mut facts: Vec<_> = ops.iter().map(|op| ("computes", one(*op))).collect();
    let work = match &plan.groups[group].work {
        Work::Unknown => "unknown until it is done".to_owned(),
        Work::Known {
            flops,
            read,
            written,
        } => {
            let bytes = read + written;
            let mut text = format!("{flops} flops, {bytes} bytes");
            if let Some(intensity) = values.intensity(flops, &bytes) {
                text += &format!(": {intensity}");
            }
            text
        }
    };
    facts.push(("work", work));
    facts
}

/// Both candidates with every term.
fn terms(plan: &Plan, stage: StageId, group: GroupId, values: &Values<'_>) -> Table {
    let mut table = Table::new([
        Column::text("side"),
        Column::number("launch"),
        Column::number("compute"),
        Column::number("memory"),
        Column::number("time"),
        Column::text("rates"),
    ]);
    let planned = &plan.stages[stage];
    let node = &plan.target.nodes[planned.node];
    let asked = planned.request(&plan.typed.graph().stages[stage].requests);
    let cpus = match asked.cpus {
        1 => "1 cpu".to_owned(),
        cpus => format!("{cpus} cpus"),
    };
    let gpu = planned.gpu.and_then(|gpu| node.gpus.get(gpu));
    let facts = &plan.groups[group];
    let sides = [
        (format!("cpu ({cpus}, {})", node.cpu.name), facts.cpu),
        (
            gpu.map_or_else(
                || "gpu (none asked for)".to_owned(),
                |gpu| format!("gpu ({} x {})", asked.gpus, gpu.name),
            ),
            facts.gpu,
        ),
    ];
    for ((side, cost), missing) in sides.into_iter().zip(["unknown", "none"]) {
        let cells = match cost {
            Some(cost) => {
                let time = [cost.launch, cost.compute, cost.memory, cost.total()].map(units::time);
                let [launch, compute, memory, total] = time;
                [
                    side,
                    launch,
                    compute,
                    memory,
                    total,
                    rates(&facts.work, &cost, values),
                ]
            }
            None => [side, none(), none(), none(), missing.to_owned(), none()],
        };
        table.row(cells.map(Cell::from));
    }
    table.indented(2)
}

fn none() -> String {
    String::new()
}

/// What the terms come to: `605 Gflop/s, 96.0 GB/s`.
fn rates(work: &Work, cost: &Cost, values: &Values<'_>) -> String {
    let Work::Known {
        flops,
        read,
        written,
    } = work
    else {
        return String::new();
    };
    let rate = |amount: Option<u128>, time: Nanos, unit: &str| {
        let amount = amount.filter(|amount| *amount > 0)?;
        let time = u128::from(time);
        let rate = amount.checked_mul(1_000_000_000)?.checked_div(time)?;
        Some(units::count(rate) + unit)
    };
    let compute = rate(values.eval(flops), cost.compute, "flop/s");
    let memory = rate(values.eval(&(read + written)), cost.memory, "B/s");
    let rates: Vec<_> = [compute, memory].into_iter().flatten().collect();
    rates.join(", ")
}
