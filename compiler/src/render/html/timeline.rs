//! The simulated run as a Gantt chart: a row for the CPUs and for each GPU of each machine.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use haul_ir::id::NodeId;
use haul_ir::plan::{Batch, Plan};

use super::escape;
use crate::render::drawing::stage_id;
use crate::render::{names, units};

/// Most batches that are drawn.
const MAX_BATCHES: usize = 2_000;
/// The width of the whole run, in pixels.
const WIDTH: u64 = 740;
/// The width of the names of rows, in pixels.
const NAMES: u64 = 170;
/// The height of a lane, in pixels.
const LANE: usize = 22;
/// The height of the axis, in pixels.
const AXIS: usize = 24;
/// The width of a character, in pixels.
const CHARACTER: u64 = 8;

/// The chart as an `<svg>` element, or a sentence where there is nothing to draw.
pub(super) fn timeline(plan: &Plan) -> String {
    let batches = &plan.timeline[..plan.timeline.len().min(MAX_BATCHES)];
    let end = batches.iter().map(|batch| batch.end).max().unwrap_or(0);
    if end == 0 {
        return "<p>The simulated run has no time to show.</p>\n".to_owned();
    }
    let chart = Chart {
        plan,
        batches,
        end,
        rows: rows(batches),
    };
    let mut out = String::new();
    match chart.write(&mut out) {
        Ok(()) => out,
        Err(fmt::Error) => unreachable!("writing to a string does not fail"),
    }
}

/// A machine's CPUs, or one of its GPUs.
type Device = (NodeId, usize, Option<usize>);

/// Batches of a device, in lanes where they do not overlap.
#[derive(Default)]
struct Row {
    /// When the last batch of each lane ends.
    ends: Vec<u64>,
    /// The batches, by position, with their lanes.
    batches: Vec<(usize, usize)>,
}

struct Chart<'a> {
    plan: &'a Plan,
    batches: &'a [Batch],
    end: u64,
    rows: BTreeMap<Device, Row>,
}

/// A batch that holds GPUs is in their rows, else in that of the CPUs.
fn rows(batches: &[Batch]) -> BTreeMap<Device, Row> {
    let mut rows: BTreeMap<Device, Row> = BTreeMap::new();
    for (position, batch) in batches.iter().enumerate() {
        let mut devices: Vec<_> = batch.gpus.iter().copied().map(Some).collect();
        if devices.is_empty() {
            devices.push(None);
        }
        for device in devices {
            let row = rows.entry((batch.node, batch.machine, device)).or_default();
            row.add(position, batch);
        }
    }
    rows
}

impl Row {
    fn add(&mut self, position: usize, batch: &Batch) {
        let free = self.ends.iter().position(|end| *end <= batch.start);
        let lane = free.unwrap_or(self.ends.len());
        if lane == self.ends.len() {
            self.ends.push(0);
        }
        self.ends[lane] = batch.end;
        self.batches.push((position, lane));
    }
}

impl Chart<'_> {
    fn write(&self, out: &mut String) -> fmt::Result {
        let lanes: usize = self.rows.values().map(|row| row.ends.len()).sum();
        let (width, height) = (NAMES + WIDTH + 60, AXIS + lanes * LANE);
        writeln!(
            out,
            "<svg class=\"timeline\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"group\" aria-label=\"Timeline\">"
        )?;
        self.axis(out, height)?;
        let mut lane = 0;
        for (device, row) in &self.rows {
            let y = AXIS + lane * LANE;
            let name = escape(&self.name(*device));
            writeln!(out, "<path class=\"row\" d=\"M0 {y}H{width}\"/>")?;
            writeln!(out, "<text x=\"4\" y=\"{}\">{name}</text>", y + 15)?;
            for (position, of_row) in &row.batches {
                let y = AXIS + (lane + of_row) * LANE;
                self.batch(out, &self.batches[*position], y)?;
            }
            lane += row.ends.len();
        }
        writeln!(out, "</svg>")?;
        if self.batches.len() < self.plan.timeline.len() {
            let (shown, all) = (self.batches.len(), self.plan.timeline.len());
            writeln!(out, "<p>The first {shown} of {all} batches.</p>")?;
        }
        Ok(())
    }

    fn axis(&self, out: &mut String, height: usize) -> fmt::Result {
        let step = step(self.end);
        let ticks = (0..=self.end / step).map(|tick| tick * step);
        for tick in ticks {
            let (x, time) = (self.x(tick), units::time(tick));
            writeln!(out, "<path class=\"tick\" d=\"M{x} 18V{height}\"/>")?;
            writeln!(out, "<text x=\"{x}\" y=\"13\" class=\"axis\">{time}</text>")?;
        }
        Ok(())
    }

    fn batch(&self, out: &mut String, batch: &Batch, y: usize) -> fmt::Result {
        let (x, end) = (self.x(batch.start), self.x(batch.end));
        let width = (end - x).max(1);
        let class = if batch.gpus.is_empty() { "cpu" } else { "gpu" };
        let name = &self.plan.typed.graph().stages[batch.stage].name;
        let tasks = match batch.tasks {
            1 => "1 task".to_owned(),
            n => format!("{n} tasks"),
        };
        let (from, to) = (units::time(batch.start), units::time(batch.end));
        let label = escape(&format!("{name}, {tasks}, from {from} to {to}"));
        let id = stage_id(batch.stage);
        write!(
            out,
            "<g class=\"node {class}\" data-node=\"{id}\" tabindex=\"0\" role=\"button\" \
             aria-label=\"{label}\"><title>{label}</title><rect class=\"{class}\" x=\"{x}\" \
             y=\"{}\" width=\"{width}\" height=\"{}\" rx=\"2\"/>",
            y + 2,
            LANE - 4
        )?;
        let full = format!("{name} × {}", batch.tasks);
        let fits = |text: &&str| text.chars().count() as u64 * CHARACTER + 8 <= width;
        if let Some(text) = [&*full, name].into_iter().find(fits) {
            let text = escape(text);
            write!(out, "<text x=\"{}\" y=\"{}\">{text}</text>", x + 5, y + 15)?;
        }
        writeln!(out, "</g>")
    }

    /// `node 0, gpu 1`; the machine is left out where there is one of its kind.
    fn name(&self, (node, machine, gpu): Device) -> String {
        let kind = &self.plan.target.nodes[node];
        let machine = match kind.count {
            1 => String::new(),
            _ => format!(" {machine}"),
        };
        let device = gpu.map_or_else(|| "cpus".to_owned(), |gpu| format!("gpu {gpu}"));
        let name: String = names::on_one_line(&kind.name).chars().take(12).collect();
        format!("{name}{machine}, {device}")
    }

    fn x(&self, time: u64) -> u64 {
        let scaled = u128::from(time) * u128::from(WIDTH) / u128::from(self.end);
        NAMES + u64::try_from(scaled).unwrap_or(WIDTH).min(WIDTH)
    }
}

/// A round time, of which there are at most eight in the run.
fn step(end: u64) -> u64 {
    let mut power: u64 = 1;
    loop {
        for factor in [1, 2, 5] {
            let step = power.saturating_mul(factor);
            if end / step <= 8 {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}
