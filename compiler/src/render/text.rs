//! A plan for people.

use haul_ir::expr::Expr;
use haul_ir::graph::{Failure, GpuCount, OnError, Request};
use haul_ir::id::StageId;
use haul_ir::plan::{Feasibility, Plan, Side};

use super::choices::provenance;
use super::stage::stage;
use super::style::{DOUBT, GPU, HEADING};
use super::table::{Cell, Column, Table, wrapped};
use super::totals::{details, totals};
use super::values::Values;
use super::{Colour, units};

/// The whole plan: a table for each stage, then the totals.
pub fn text(plan: &Plan, colour: Colour) -> String {
    let values = Values::of(plan);
    let mut out = head(plan, &values, colour);
    for id in plan.stages.ids() {
        out.push('\n');
        out += &stage(plan, &values, id, colour);
    }
    out.push('\n');
    out + &totals(plan, colour) + &details(plan)
}

/// The plan in short: a line for each stage, then the totals.
pub fn summary(plan: &Plan, colour: Colour) -> String {
    let values = Values::of(plan);
    let mut table = Table::new([
        Column::text("stage"),
        Column::number("tasks"),
        Column::text("request"),
        Column::text("ops"),
        Column::number("memory"),
        Column::number("a task"),
        Column::number("all on cpu"),
    ]);
    for (id, planned) in plan.stages.entries() {
        let stage = &plan.typed.graph().stages[id];
        let count = |expr| values.eval(expr).map(|n| n.to_string());
        let peak = values.eval(&planned.peak_memory).map(units::bytes);
        table.row([
            stage.name.as_str().into(),
            known(count(&planned.tasks)),
            request(planned.request(&stage.requests)).into(),
            sides(plan, id),
            known(peak),
            known(planned.time.map(units::time)),
            known(planned.time_on_cpu.map(units::time)),
        ]);
    }
    let head = head(plan, &values, colour);
    head + "\n" + &table.print(colour) + "\n" + &totals(plan, colour)
}

fn head(plan: &Plan, values: &Values<'_>, colour: Colour) -> String {
    let title = format!("plan {} on {}", plan.pipeline, plan.target.name);
    let figures = provenance(plan);
    let rest = format!(" ({}; figures: {figures})\n", plan.source);
    let dims: Vec<_> = plan
        .typed
        .graph()
        .dims
        .keys()
        .cloned()
        .map(Expr::symbol)
        .collect();
    let at = values.at(&dims);
    let unknown = dims.iter().filter(|dim| values.eval(dim).is_none());
    let unknown: Vec<_> = unknown.map(ToString::to_string).collect();
    let mut out = colour.paint(HEADING, &title) + &rest;
    if !at.is_empty() {
        out += &wrapped(0, 4, at.trim_start());
    }
    if !unknown.is_empty() {
        out += &wrapped(
            0,
            4,
            &format!("unknown until data binds them: {}", unknown.join(", ")),
        );
    }
    out
}

/// What is done about a task that fails; nothing where it ends the run.
pub(super) fn failure(failure: &Failure) -> Option<String> {
    let timeout = failure.timeout.map(units::exact_time);
    let timeout = timeout.map(|time| format!("timeout {time}"));
    let retries = match failure.retries {
        0 => None,
        1 => Some("1 retry".to_owned()),
        retries => Some(format!("{retries} retries")),
    };
    let skip = (failure.on_error == OnError::Skip).then(|| "skipped on error".to_owned());
    let parts: Vec<_> = [timeout, retries, skip].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What a task asks for: `4 cpus, 8 GiB, 1 gpu A100-80GB with 256 MiB`.
pub(super) fn request(request: &Request) -> String {
    let cpus = match request.cpus {
        1 => "1 cpu".to_owned(),
        n => format!("{n} cpus"),
    };
    let mut text = format!("{cpus}, {}", units::exact_bytes(request.memory));
    if request.gpus > GpuCount::NONE {
        let plural = if request.gpus > GpuCount::ONE {
            "s"
        } else {
            ""
        };
        text += &format!(", {} gpu{plural}", request.gpus);
        if let Some(ty) = &request.gpu_type {
            text += &format!(" {ty}");
        }
        if let Some(vram) = request.vram {
            text += &format!(" with {}", units::exact_bytes(vram));
        }
    }
    text
}

/// Whether it can be granted, in words: `fits`.
pub(super) fn feasibility(feasibility: &Feasibility) -> String {
    match feasibility {
        Feasibility::Fits => "fits".to_owned(),
        Feasibility::Waits { time, behind } => {
            format!("waits {} behind {behind}", units::time(*time))
        }
    }
}

/// The cell of a number that may be unknown.
pub(super) fn known(text: Option<String>) -> Cell {
    match text {
        Some(text) => text.into(),
        None => Cell::from("unknown").styled(DOUBT),
    }
}

/// How many groups of ops are on each side: `3 gpu, 2 cpu`.
fn sides(plan: &Plan, stage: StageId) -> Cell {
    let groups = plan.typed.groups_of(stage);
    let on_gpu = |group: &&_| plan.groups[**group].placement.side == Side::Gpu;
    let gpu = groups.iter().filter(on_gpu).count();
    match (gpu, groups.len() - gpu) {
        (0, cpu) => format!("{cpu} cpu").into(),
        (gpu, 0) => Cell::from(format!("{gpu} gpu")).styled(GPU),
        (gpu, cpu) => Cell::from(format!("{gpu} gpu, {cpu} cpu")).styled(GPU),
    }
}
