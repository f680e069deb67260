//! Everything known about one decision, for people.

use haul_ir::cost::{Cost, Nanos};
use haul_ir::graph::Graph;
use haul_ir::id::{GroupId, StageId};
use haul_ir::op::Work;
use haul_ir::plan::{Plan, Side};

use super::stage::{labelled, stage as whole_stage, transfer};
use super::style::HEADING;
use super::table::{Cell, Column, Table};
use super::text::request;
use super::values::Values;
use super::{Colour, choices, names, units};
use crate::plan::why::{Candidate, Change, WhatIf, Why};

/// Why a stage or an op is where it is: both candidates with their terms, what crosses, what the
/// other choice would cost and move, and what would change the answer. Ends in a newline.
pub fn why(why: &Why, colour: Colour) -> String {
    let values = Values::of(&why.plan);
    match why.group {
        None => of_stage(why, &values, colour),
        Some(group) => of_op(why, group, &values, colour),
    }
}

fn of_stage(why: &Why, values: &Values<'_>, colour: Colour) -> String {
    let mut out = whole_stage(&why.plan, values, why.stage, colour);
    out += "\ncandidates\n";
    out += &candidates(why).print(colour);
    out
}

/// Every request of the stage on every kind of node that could hold it.
fn candidates(why: &Why) -> Table {
    let stage = &why.plan.typed.graph().stages[why.stage];
    let mut table = Table::new([
        Column::text("request"),
        Column::text("node"),
        Column::text("gpu"),
        Column::number("a task"),
        Column::number("all tasks"),
        Column::text("verdict"),
    ]);
    for candidate in &why.candidates {
        let (task, all, verdict) = match &candidate.outcome {
            Ok(predicted) => {
                let finish = predicted
                    .finish
                    .map(|time| Nanos::try_from(time).unwrap_or(Nanos::MAX));
                let verdict = if candidate.is_chosen { "chosen" } else { "" };
                let (task, all) = (
                    units::time_or_unknown(predicted.time),
                    units::time_or_unknown(finish),
                );
                (task, all, verdict.to_owned())
            }
            Err(refused) => (String::new(), String::new(), refused.clone()),
        };
        let (node, gpu) = place(&why.plan, candidate);
        let asked = request(&stage.requests[candidate.request]);
        table.row([asked, node, gpu, task, all, verdict].map(Cell::from));
    }
    table.indented(2)
}

fn place(plan: &Plan, candidate: &Candidate) -> (String, String) {
    let Some(node) = candidate.node.map(|node| &plan.target.nodes[node]) else {
        return (String::new(), String::new());
    };
    let gpu = candidate.gpu.and_then(|gpu| node.gpus.get(gpu));
    (
        node.name.clone(),
        gpu.map_or_else(String::new, |gpu| gpu.name.clone()),
    )
}

fn of_op(why: &Why, group: GroupId, values: &Values<'_>, colour: Colour) -> String {
    let Why { plan, stage, .. } = why;
    let graph = plan.typed.graph();
    let head = plan.typed.head(group);
    let placement = &plan.groups[group].placement;
    let reason = choices::reason(placement);
    let title = format!(
        "{} on {}: {}, {reason}",
        names::op(graph, head),
        plan.target.name,
        placement.side
    );
    let mut out = colour.paint(HEADING, &title) + "\n";
    for (label, text) in about(plan, group, values) {
        out += &labelled(label, &text, colour);
    }
    out += "\n";
    out += &terms(plan, *stage, group, values).print(colour);
    out += "\n";
    for (label, text) in others(why, group) {
        out += &labelled(label, &text, colour);
    }
    out
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
                || "gpu".to_owned(),
                |gpu| format!("gpu ({} x {})", asked.gpus, gpu.name),
            ),
            facts.gpu,
        ),
    ];
    for (side, cost) in sides {
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
            None => [side, none(), none(), none(), "none".to_owned(), none()],
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

/// What crosses here and there, what the other choice costs and moves, what would change it.
fn others(why: &Why, group: GroupId) -> Vec<(&'static str, String)> {
    let plan = &why.plan;
    let placement = &plan.groups[group].placement;
    let other = placement.side.other();
    let mut facts = crossings("transfer", plan, why.stage);
    facts.extend(choices::of(&plan.groups[group]).map(|text| ("choice", text)));
    facts.push(("memory", memory(plan, why.stage)));
    match &why.forced {
        None => {}
        Some(Err(refused)) => {
            facts.push(("other", format!("it cannot be on the {other}: {refused}")))
        }
        Some(Ok(forced)) => {
            facts.push(("other", compared(plan, forced, why.stage, other)));
            let moved = moved(plan, forced, why.stage, group);
            if !moved.is_empty() {
                facts.push(("other", format!("with it go {}", moved.join(", "))));
            }
            facts.extend(crossings("other", forced, why.stage));
            facts.push(("other", memory(forced, why.stage)));
        }
    }
    let changes: Vec<_> = why.flips.iter().map(what_if).collect();
    let flip = placement.flip.as_ref().map(choices::flip);
    let all: Vec<_> = flip.into_iter().chain(changes).collect();
    let text = match all.is_empty() {
        true => "nothing that was tried: sizes, cpus, speed of the link".to_owned(),
        false => all.join("; "),
    };
    facts.push(("changes", text));
    facts
}

fn crossings(label: &'static str, plan: &Plan, stage: StageId) -> Vec<(&'static str, String)> {
    let values = Values::of(plan);
    let transfers = plan.stages[stage].transfers.iter();
    transfers
        .map(|one| (label, transfer(plan, &values, stage, one)))
        .collect()
}

fn memory(plan: &Plan, stage: StageId) -> String {
    let values = Values::of(plan);
    let planned = &plan.stages[stage];
    let peak = |expr| {
        values
            .eval(expr)
            .map_or_else(|| "unknown".to_owned(), units::bytes)
    };
    let (host, device) = (peak(&planned.peak_memory), peak(&planned.peak_vram));
    format!("a task holds {host} of memory, {device} of device memory")
}

/// `on the cpu a task takes 7.21 ms, 4.16 ms longer; the run 51.0 ms instead of 39.4 ms`.
fn compared(plan: &Plan, forced: &Plan, stage: StageId, side: Side) -> String {
    let (was, is) = (plan.stages[stage].time, forced.stages[stage].time);
    let mut text = format!("on the {side} a task takes {}", units::time_or_unknown(is));
    if let (Some(was), Some(is)) = (was, is) {
        text += &match is.checked_sub(was) {
            Some(longer) => format!(", {} longer", units::time(longer)),
            None => format!(", {} less", units::time(was - is)),
        };
    }
    let run = |plan: &Plan| units::total(plan.estimates.makespan, &plan.estimates, units::time);
    let price = |plan: &Plan| units::total(plan.estimates.nano_usd, &plan.estimates, units::usd);
    text + &format!(
        "; the run {} instead of {}, for {} instead of {}",
        run(forced),
        run(plan),
        price(forced),
        price(plan)
    )
}

/// Other groups of the stage that are then on another side.
fn moved(plan: &Plan, forced: &Plan, stage: StageId, besides: GroupId) -> Vec<String> {
    let graph: &Graph = plan.typed.graph();
    let groups = plan.typed.groups_of(stage).into_iter();
    let groups = groups.filter(|group| *group != besides);
    let moved = groups.filter_map(|group| {
        let (was, is) = (
            plan.groups[group].placement.side,
            forced.groups[group].placement.side,
        );
        let name = &graph.ops[plan.typed.head(group)].name;
        (was != is).then(|| format!("{name} to the {is}"))
    });
    moved.collect()
}

fn what_if(what: &WhatIf) -> String {
    let time = what.time.map_or_else(String::new, |time| {
        format!(" ({} a task)", units::time(time))
    });
    let change = match what.change {
        Change::Cpus(1) => "1 cpu".to_owned(),
        Change::Cpus(cpus) => format!("{cpus} cpus"),
        Change::FasterLink(times) => format!("a link {times} times as fast"),
        Change::SlowerLink(parts) => format!("a link {parts} times as slow"),
    };
    format!("{} with {change}{time}", what.side)
}
