//! What alone decides, or what was tried to change the answer.

use haul_ir::cost::Nanos;
use haul_ir::graph::{GpuCount, Request};
use haul_ir::id::GroupId;
use haul_ir::plan::Reason;

use super::super::stage::labelled;
use super::super::style::HEADING;
use super::super::table::{Cell, Column, Table};
use super::super::{Colour, choices, units};
use crate::plan::why::{Change, Outcome, WhatIf, Why};
use crate::render::amounts::several;

/// The fact that decides, then a row for each change that was tried: those that move the group
/// first.
pub(super) fn section(why: &Why, group: GroupId, colour: Colour) -> String {
    let mut out = format!("\n{}\n", colour.paint(HEADING, "what would change it"));
    if let Some(reason) = &why.decides {
        out += &labelled("decides", &decides(reason), colour);
    }
    if why.tried.is_empty() {
        if why.decides.is_none() {
            let text = format!("no node of {} has a GPU to ask for", why.plan.target.name);
            out += &labelled("nothing", &text, colour);
        }
        return out;
    }
    let side = why.plan.groups[group].placement.side;
    let mut table = Table::new([
        Column::word("with"),
        Column::word("side"),
        Column::number("a task"),
        Column::text("reason"),
    ]);
    let moves = |what: &&WhatIf| matches!(what.outcome, Outcome::Moves { .. });
    let (first, rest): (Vec<_>, Vec<_>) = why.tried.iter().partition(moves);
    let time = |time: &Option<Nanos>| units::time_or_unknown(*time);
    let planned = [
        "as planned".to_owned(),
        side.to_string(),
        time(&why.plan.stages[why.stage].time),
        choices::reason(&why.plan.groups[group].placement),
    ];
    table.row(planned.map(Cell::from));
    let mut refused = Vec::new();
    for what in first.into_iter().chain(rest) {
        let change = change(why, what);
        match &what.outcome {
            Outcome::Moves { side, time: is } => {
                table.row([change, side.to_string(), time(is)].map(Cell::from));
            }
            Outcome::Stays { reason, time: is } => {
                let text = [
                    change,
                    format!("stays {side}"),
                    time(is),
                    reason.code().to_owned(),
                ];
                table.row(text.map(Cell::from));
            }
            Outcome::Cannot(text) => refused.push(format!("{change}: {text}")),
        }
    }
    out += &table.indented(2).print(colour);
    for text in refused {
        out += &labelled("refused", &text, colour);
    }
    out
}

/// The fact in a sentence.
fn decides(reason: &Reason) -> String {
    match reason {
        Reason::NoGpuKernel(why) => format!("only that there is no GPU kernel for it: {why}"),
        Reason::NotArrayWork => "only that it works on text, which no GPU kernel does".to_owned(),
        Reason::IoBound => "only that it reads or writes files".to_owned(),
        Reason::PinnedByAuthor => "only that `place` or `--pin` says so".to_owned(),
        Reason::UnknownWork => "only that its work is unknown until data binds it".to_owned(),
        Reason::DoesNotFitVram { needed, available } => format!(
            "only that its values take {} of device memory, of which there are {}",
            units::bytes(u128::from(*needed)),
            units::bytes(u128::from(*available))
        ),
        other => format!("only {}", other.code()),
    }
}

/// A change in a few words; of those that leave the group where it is, the whole range.
fn change(why: &Why, what: &WhatIf) -> String {
    let stays = !matches!(what.outcome, Outcome::Moves { .. });
    let stage = &why.plan.typed.graph().stages[why.stage];
    let asked: &Request = why.plan.stages[why.stage].request(&stage.requests);
    match &what.change {
        Change::Smaller(dim, size) if stays => format!("{dim} from {size}"),
        Change::Smaller(dim, size) => format!("{dim} <= {size}"),
        Change::Larger(dim, size) if stays => format!("{dim} to {size}"),
        Change::Larger(dim, size) => format!("{dim} >= {size}"),
        Change::Cpus(cpus) if !stays => several(*cpus, "cpu"),
        Change::Cpus(cpus) if *cpus > asked.cpus => format!("up to {cpus} cpus"),
        Change::Cpus(cpus) => format!("down to {}", several(*cpus, "cpu")),
        Change::FasterLink(times) if stays => format!("a link up to {times} times as fast"),
        Change::FasterLink(times) => format!("a link {times} times as fast"),
        Change::SlowerLink(parts) if stays => format!("a link up to {parts} times as slow"),
        Change::SlowerLink(parts) => format!("a link {parts} times as slow"),
        Change::Gpu(name) => {
            let gpus = match asked.gpus {
                GpuCount::NONE => GpuCount::ONE,
                asked => asked,
            };
            format!("gpus: {gpus} ({name})")
        }
        Change::WholeVram => "all memory of the device".to_owned(),
        Change::NoPlace => "no `place`".to_owned(),
    }
}
