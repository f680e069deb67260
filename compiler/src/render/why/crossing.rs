//! The sums of a task, and the cut: what crosses with a group on either side.

use haul_ir::cost::Nanos;
use haul_ir::id::{GroupId, StageId};
use haul_ir::plan::{Plan, Side, Transfer};

use super::super::stage::{labelled, transfer};
use super::super::style::HEADING;
use super::super::table::{Cell, Column, Table};
use super::super::values::Values;
use super::super::{Colour, names, units};
use crate::cost::{link_rate, transfer_start};
use crate::plan::why::{Forced, Held, Sum, Task, Why};

/// The sums of a task with the group on either side, then a section for each: what crosses, what is
/// held, and what else is different.
pub(super) fn sections(why: &Why, group: GroupId, colour: Colour) -> String {
    let side = why.plan.groups[group].placement.side;
    let heading = |text: &str| format!("\n{}\n", colour.paint(HEADING, text));
    let mut out = sums(why, side).map_or_else(String::new, |sums| {
        heading("a task, in us") + &sums.print(colour)
    });
    let lines = |facts: Vec<(&str, String)>| -> String {
        let lines = facts.into_iter();
        lines
            .map(|(label, text)| labelled(label, &text, colour))
            .collect()
    };
    out += &heading(&format!("on the {side}, as planned"));
    out += &lines(cut(&why.plan, why.stage, &why.task));
    match &why.forced {
        None => {}
        Some(Err(refused)) => {
            out += &heading(&format!("on the {}", side.other()));
            out += &labelled("refused", refused, colour);
        }
        Some(Ok(forced)) => {
            out += &heading(&format!("with it on the {}", side.other()));
            out += &lines(differences(why, forced, group));
            out += &lines(cut(&forced.plan, why.stage, &forced.task));
        }
    }
    out
}

/// The parts of a task's time with the group on either side, to the nanosecond, so that they add up.
fn sums(why: &Why, side: Side) -> Option<Table> {
    let mut table = Table::new([
        Column::text(""),
        Column::number("on cpus"),
        Column::number("on the gpu"),
        Column::number("h2d"),
        Column::number("d2h"),
        Column::number("together"),
    ]);
    let mut row = |name: String, sum: &Sum| {
        let parts = [sum.cpu, sum.gpu, sum.to_device, sum.to_host, sum.total()];
        let [cpu, gpu, h2d, d2h, all] = parts.map(micros);
        table.row([name, cpu, gpu, h2d, d2h, all].map(Cell::from));
    };
    row(format!("on the {side}, as planned"), &why.task.sum?);
    if let Some(Ok(forced)) = &why.forced
        && let Some(sum) = &forced.task.sum
    {
        row(format!("with it on the {}", side.other()), sum);
    }
    Some(table.indented(2))
}

/// Microseconds without loss: `2349.127`.
fn micros(time: Nanos) -> String {
    format!("{}.{:03}", time / 1000, time % 1000)
}

/// What crosses, and what is held.
fn cut(plan: &Plan, stage: StageId, task: &Task) -> Vec<(&'static str, String)> {
    let values = Values::of(plan);
    let planned = &plan.stages[stage];
    let transfers = planned.transfers.iter();
    let mut facts: Vec<_> = transfers
        .map(|one| ("crosses", crossing(plan, &values, stage, one)))
        .collect();
    if facts.is_empty() {
        facts.push(("crosses", "nothing".to_owned()));
    }
    let name = |value| names::value(plan.typed.graph(), value, Some(stage));
    let held = |held: &Held, peak| {
        let peak = values.eval(peak);
        let largest = held
            .largest
            .map(u128::from)
            .filter(|most| Some(*most) != peak);
        let largest = largest.map_or_else(String::new, |most| {
            format!(" ({} at the largest sizes)", units::bytes(most))
        });
        let peak = peak.map_or_else(|| "unknown".to_owned(), units::bytes);
        let at = held.at.map_or_else(String::new, |value| {
            format!(", when {} is made", name(value))
        });
        format!(
            "peak {peak}{largest} of {}{at}",
            units::exact_bytes(held.of)
        )
    };
    facts.push(("memory", held(&task.memory, &planned.peak_memory)));
    if let Some(vram) = &task.vram {
        facts.push(("vram", held(vram, &planned.peak_vram)));
    }
    facts
}

/// `parsed h2d 64.0 KiB, 12.6 us for x.mean, x: 10.0 us to start, 2.62 us at 25.0 GB/s`.
fn crossing(plan: &Plan, values: &Values<'_>, stage: StageId, one: &Transfer) -> String {
    let text = transfer(plan, values, stage, one);
    let planned = &plan.stages[stage];
    let gpus = &plan.target.nodes[planned.node].gpus;
    let (Some(gpu), Some(time)) = (planned.gpu.and_then(|gpu| gpus.get(gpu)), one.time) else {
        return text;
    };
    let asked = planned
        .request(&plan.typed.graph().stages[stage].requests)
        .gpus;
    let start = transfer_start(gpu, one.direction);
    // A cast from f64 saturates.
    let rate = units::count(link_rate(gpu, asked, one.direction) as u128);
    format!(
        "{text}: {} to start, {} at {rate}B/s",
        units::time(start),
        units::time(time.saturating_sub(start))
    )
}

/// How a task and the run differ from the plan, and which other groups move along.
fn differences(why: &Why, forced: &Forced, group: GroupId) -> Vec<(&'static str, String)> {
    let (plan, other) = (&why.plan, &forced.plan);
    let (was, is) = (plan.stages[why.stage].time, other.stages[why.stage].time);
    let mut task = units::time_or_unknown(is);
    if let (Some(was), Some(is)) = (was, is) {
        task += &match is.checked_sub(was) {
            Some(longer) => format!(", {} longer", units::time(longer)),
            None => format!(", {} less", units::time(was - is)),
        };
    }
    let (here, there) = (plan.stages[why.stage].node, other.stages[why.stage].node);
    if here != there {
        task += &format!(", on {}", plan.target.nodes[there].name);
    }
    let time = |plan: &Plan| units::total(plan.estimates.makespan, &plan.estimates, units::time);
    let price = |plan: &Plan| units::total(plan.estimates.nano_usd, &plan.estimates, units::usd);
    let mut run = format!("{} instead of {}", time(other), time(plan));
    if plan.estimates.nano_usd.is_some() {
        run += &format!(", for {} instead of {}", price(other), price(plan));
    }
    let mut facts = vec![("task", task), ("run", run)];
    let moved = moved(plan, other, why.stage, group);
    if !moved.is_empty() {
        facts.push(("along", moved.join(", ")));
    }
    facts
}

/// Other groups of the stage that are then on another side.
fn moved(plan: &Plan, forced: &Plan, stage: StageId, besides: GroupId) -> Vec<String> {
    let groups = plan.typed.groups_of(stage).into_iter();
    let moved = groups
        .filter(|group| *group != besides)
        .filter_map(|group| {
            let side = |plan: &Plan| plan.groups[group].placement.side;
            let name = &plan.typed.graph().ops[plan.typed.head(group)].name;
            (side(plan) != side(forced)).then(|| format!("{name} to the {}", side(forced)))
        });
    moved.collect()
}
