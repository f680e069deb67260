//! What a run did, beside what the plan predicted.

mod devices;

use haul_ir::cost::Nanos;
use haul_ir::plan::Plan;
use haul_ir::report::Preview;
use haul_ir::types::{CellKind, TableType, ValueType};

use super::names::on_one_line;
use super::style::HEADING;
use super::table::{Cell, Column, Table, wrapped};
use super::text::known;
use super::{Colour, units};
use crate::measured::{Measured, MissingTask};

/// A line for each stage, predicted beside measured, then the GPUs that were used and the whole run.
///
/// Times are of all tasks of a stage added up, the predicted one of those that computed; the ratio is
/// measured over predicted. Where results of earlier runs were taken, a column counts them.
pub fn report(report: &Measured, colour: Colour) -> String {
    let reused: u64 = report.stages.iter().map(|stage| stage.reused).sum();
    let mut columns = vec![Column::text("stage"), Column::number("tasks")];
    columns.extend((reused > 0).then(|| Column::number("reused")));
    columns.extend([
        Column::number("predicted"),
        Column::number("measured"),
        Column::number("ratio"),
        Column::number("longest"),
        Column::number("memory"),
        Column::number("peak"),
        Column::text("device"),
    ]);
    let mut table = Table::new(columns);
    for stage in &report.stages {
        let (predicted, measured) = (&stage.predicted, &stage.measured);
        let memory = predicted.peak_memory.map(u128::from).map(units::bytes);
        let name = stage.stage.as_str();
        let mut row = vec![Cell::from(name), stage.tasks.to_string().into()];
        row.extend((reused > 0).then(|| stage.reused.to_string().into()));
        row.extend([
            known(predicted.time.map(units::time)),
            units::time(measured.time).into(),
            ratio(measured.time, predicted.time)
                .unwrap_or_default()
                .into(),
            units::time(measured.longest).into(),
            known(memory),
            units::bytes(measured.peak_memory.into()).into(),
            stage.device.as_str().into(),
        ]);
        table.row(row);
    }
    let devices = devices::devices(report, colour);
    table.print(colour) + "\n" + &devices + &totals(report, colour)
}

/// A task that was skipped: ``stage `score`, item `b`, is skipped: it reads `x`…``.
pub fn skipped(task: &MissingTask) -> String {
    let item = task.item.as_ref();
    let item = item.map_or_else(String::new, |item| format!(", item `{item}`,"));
    format!("stage `{}`{item} is skipped: {}", task.stage, task.reason)
}

/// The beginning of a value: its name and type, then its first elements, or the first rows of a
/// table.
pub fn preview(plan: &Plan, preview: &Preview) -> String {
    let name = &plan.typed.graph().stages[preview.stage].name;
    let item = preview.item.as_ref();
    let item = item.map_or_else(String::new, |item| format!(" of {}", on_one_line(item)));
    let shown = preview.first.first().map_or(0, Vec::len) as u64;
    let sizes = preview.ty.sizes().iter().map(|size| size.as_u64());
    let all = sizes.fold(1_u64, |all, size| all.saturating_mul(size.unwrap_or(0)));
    let more = if shown < all { "…" } else { "" };
    let title = wrapped(0, 2, &format!("{name}{item} {}", preview.ty));
    title
        + &match &preview.ty {
            ValueType::Table(ty) => rows(ty, preview, more),
            _ => {
                let first = preview.first.iter().flatten();
                let first: Vec<_> = first.map(|element| on_one_line(element)).collect();
                wrapped(2, 2, format!("{} {more}", first.join(" ")).trim_end())
            }
        }
}

fn rows(ty: &TableType, preview: &Preview, more: &str) -> String {
    let columns = ty.columns.values().map(|cell| match cell.kind {
        CellKind::Text => Column::text(""),
        CellKind::Element(_) => Column::number(""),
    });
    let mut table = Table::new(columns.collect::<Vec<_>>()).indented(2);
    let names = ty.columns.keys().map(|name| on_one_line(name).into());
    table.row(names.collect::<Vec<_>>());
    for row in 0..preview.first.first().map_or(0, Vec::len) {
        let cells = preview.first.iter();
        let cells = cells.map(|column| on_one_line(&column[row]).into());
        table.row(cells.collect::<Vec<_>>());
    }
    let more = match more {
        "" => String::new(),
        more => format!("  {more}\n"),
    };
    table.print(Colour::Plain) + &more
}

fn totals(report: &Measured, colour: Colour) -> String {
    let took = format!("took {}", units::time(report.measured.makespan));
    let took = colour.paint(HEADING, &took);
    let estimates = &report.plan.estimates;
    let predicted = estimates.total(report.predicted.makespan, units::time);
    let peak = units::bytes(report.measured.peak_memory.into());
    let mut out = format!("{took}; predicted {predicted}; peak memory {peak}\n");
    let (reused, tasks) = report.stages.iter().fold((0, 0), |(reused, tasks), stage| {
        (reused + stage.reused, tasks + stage.tasks)
    });
    if reused > 0 {
        let computed = tasks - reused;
        out += &format!("reused {reused} of {tasks} tasks of earlier runs; computed {computed}\n");
    }
    for stage in report.stages.iter().filter(|s| s.measured.retries > 0) {
        let (name, retries) = (&stage.stage, stage.measured.retries);
        let times = if retries == 1 { "time" } else { "times" };
        out += &format!("retried {name} {retries} {times}\n");
    }
    for file in &report.written {
        let bytes = units::bytes(file.bytes.into());
        out += &format!("wrote {} ({}, {bytes})\n", file.path, file.output);
    }
    out
}

/// `measured / predicted`, as `1.25`, where the prediction is known and not zero.
pub(crate) fn ratio(measured: Nanos, predicted: Option<Nanos>) -> Option<String> {
    let predicted = predicted.filter(|predicted| *predicted > 0)?;
    Some(units::significant(measured.into(), predicted.into()))
}
