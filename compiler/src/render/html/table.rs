//! The stages of a plan as a table.

use std::collections::HashMap;
use std::fmt::{self, Write};

use haul_ir::id::StageId;
use haul_ir::plan::Plan;

use super::escape;
use crate::measured::{Measured, MeasuredStage};
use crate::render::drawing::{Words, stage_id};
use crate::render::report::ratio;
use crate::render::values::Values;
use crate::render::{names, text, units};

/// Most stages that are listed.
const MAX_ROWS: usize = 10_000;

/// Headings, with whether what is below them are numbers.
const COLUMNS: [(&str, bool); 9] = [
    ("stage", false),
    ("tasks", true),
    ("request", false),
    ("node", false),
    ("verdict", false),
    ("ops", false),
    ("memory", true),
    ("a task", true),
    ("all on cpu", true),
];

/// Headings of what was measured.
const MEASURED: [(&str, bool); 5] = [
    ("measured", true),
    ("ratio", true),
    ("longest", true),
    ("peak", true),
    ("device", false),
];

/// A row for each stage; with what was measured of all its tasks, where there was a run.
pub(super) fn stages(plan: &Plan, measured: Option<&Measured>) -> String {
    let mut out = String::new();
    match write(plan, measured, &mut out) {
        Ok(()) => out,
        Err(fmt::Error) => unreachable!("writing to a string does not fail"),
    }
}

fn write(plan: &Plan, measured: Option<&Measured>, out: &mut String) -> fmt::Result {
    let (words, values) = (Words::of(plan), Values::of(plan));
    let measured = measured.map(|measured| {
        let stages = measured.stages.iter();
        let by_name = stages.map(|stage| (stage.stage.as_str(), stage));
        by_name.collect::<HashMap<_, _>>()
    });
    let more = if measured.is_some() {
        &MEASURED[..]
    } else {
        &[]
    };
    write!(out, "<table>\n<thead><tr>")?;
    for (name, is_number) in COLUMNS.iter().chain(more) {
        write!(out, "<th scope=\"col\"{}>{name}</th>", number(*is_number))?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for stage in plan.stages.ids().take(MAX_ROWS) {
        write!(out, "<tr class=\"node\" data-node=\"{}\">", stage_id(stage))?;
        let mut cells = cells(plan, &words, &values, stage).to_vec();
        let name = &*plan.typed.graph().stages[stage].name;
        let run = measured.as_ref().and_then(|stages| stages.get(name));
        cells.extend(run.into_iter().flat_map(|stage| measured_cells(stage)));
        for (cell, (_, is_number)) in cells.iter().zip(COLUMNS.iter().chain(more)) {
            write!(out, "<td{}>{}</td>", number(*is_number), escape(cell))?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody>\n</table>")?;
    if plan.stages.len() > MAX_ROWS {
        let all = plan.stages.len();
        writeln!(out, "<p>The first {MAX_ROWS} of {all} stages.</p>")?;
    }
    Ok(())
}

fn cells(plan: &Plan, words: &Words<'_>, values: &Values<'_>, id: StageId) -> [String; 9] {
    let (stage, planned) = (&plan.typed.graph().stages[id], &plan.stages[id]);
    let peak = values.eval(&planned.peak_memory).map(units::bytes);
    [
        stage.name.clone(),
        words.tasks(id),
        text::request(planned.request(&stage.requests)),
        names::on_one_line(&plan.target.nodes[planned.node].name),
        text::feasibility(&planned.feasibility),
        words.sides(id),
        peak.unwrap_or_else(|| "unknown".to_owned()),
        units::time_or_unknown(planned.time),
        units::time_or_unknown(planned.time_on_cpu),
    ]
}

fn measured_cells(stage: &MeasuredStage) -> [String; 5] {
    let measured = &stage.measured;
    [
        units::time(measured.time),
        ratio(measured.time, stage.predicted.time).unwrap_or_default(),
        units::time(measured.longest),
        units::bytes(measured.peak_memory.into()),
        stage.device.clone(),
    ]
}

fn number(is_number: bool) -> &'static str {
    if is_number { " class=\"number\"" } else { "" }
}
