//! A Gantt chart: bars in rows over time.

use std::borrow::Cow;
use std::fmt::{self, Write};

use haul_ir::cost::Nanos;
use haul_ir::id::StageId;

use super::escape;
use crate::render::drawing::stage_id;
use crate::render::units;

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

/// Tasks of a stage, in time.
pub(super) struct Bar<'a> {
    /// The stage.
    pub(super) stage: StageId,
    /// Its looks.
    pub(super) class: &'static str,
    /// The words on it, where there is room: the first that fit.
    pub(super) words: Vec<Cow<'a, str>>,
    /// What it says when it is pointed at.
    pub(super) label: String,
    /// When it begins.
    pub(super) start: Nanos,
    /// When it ends.
    pub(super) end: Nanos,
}

/// Bars of one name, in lanes where they do not overlap.
#[derive(Default)]
pub(super) struct Row<'a> {
    /// When the last bar of each lane ends.
    ends: Vec<Nanos>,
    /// The bars with their lanes.
    bars: Vec<(Bar<'a>, usize)>,
}

impl<'a> Row<'a> {
    /// Adds a bar that begins no sooner than those before it.
    pub(super) fn add(&mut self, bar: Bar<'a>) {
        let free = self.ends.iter().position(|end| *end <= bar.start);
        let lane = free.unwrap_or(self.ends.len());
        if lane == self.ends.len() {
            self.ends.push(0);
        }
        self.ends[lane] = bar.end;
        self.bars.push((bar, lane));
    }
}

/// Named rows of a run of some length, as an `<svg>` element.
pub(super) fn chart(rows: &[(String, Row<'_>)], end: Nanos, label: &str) -> String {
    let chart = Chart { rows, end };
    let mut out = String::new();
    match chart.write(&mut out, label) {
        Ok(()) => out,
        Err(fmt::Error) => unreachable!("writing to a string does not fail"),
    }
}

struct Chart<'a, 'b> {
    rows: &'b [(String, Row<'a>)],
    end: Nanos,
}

impl Chart<'_, '_> {
    fn write(&self, out: &mut String, label: &str) -> fmt::Result {
        let lanes: usize = self.rows.iter().map(|(_, row)| row.ends.len()).sum();
        let (width, height) = (NAMES + WIDTH + 60, AXIS + lanes * LANE);
        writeln!(
            out,
            "<svg class=\"timeline\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"group\" aria-label=\"{label}\">"
        )?;
        self.axis(out, height)?;
        let mut lane = 0;
        for (name, row) in self.rows {
            let y = AXIS + lane * LANE;
            let name = escape(name);
            writeln!(out, "<path class=\"row\" d=\"M0 {y}H{width}\"/>")?;
            writeln!(out, "<text x=\"4\" y=\"{}\">{name}</text>", y + 15)?;
            for (bar, of_row) in &row.bars {
                self.bar(out, bar, AXIS + (lane + of_row) * LANE)?;
            }
            lane += row.ends.len();
        }
        writeln!(out, "</svg>")
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

    fn bar(&self, out: &mut String, bar: &Bar<'_>, y: usize) -> fmt::Result {
        let (x, end) = (self.x(bar.start), self.x(bar.end));
        let width = (end - x).max(1);
        let (class, label, id) = (bar.class, escape(&bar.label), stage_id(bar.stage));
        write!(
            out,
            "<g class=\"node {class}\" data-node=\"{id}\" tabindex=\"0\" role=\"button\" \
             aria-label=\"{label}\"><title>{label}</title><rect class=\"{class}\" x=\"{x}\" \
             y=\"{}\" width=\"{width}\" height=\"{}\" rx=\"2\"/>",
            y + 2,
            LANE - 4
        )?;
        let fits = |text: &&Cow<'_, str>| text.chars().count() as u64 * CHARACTER + 8 <= width;
        if let Some(text) = bar.words.iter().find(fits) {
            let text = escape(text);
            write!(out, "<text x=\"{}\" y=\"{}\">{text}</text>", x + 5, y + 15)?;
        }
        writeln!(out, "</g>")
    }

    fn x(&self, time: Nanos) -> u64 {
        let scaled = u128::from(time) * u128::from(WIDTH) / u128::from(self.end);
        NAMES + u64::try_from(scaled).unwrap_or(WIDTH).min(WIDTH)
    }
}

/// A round time, of which there are at most eight in the run.
fn step(end: Nanos) -> Nanos {
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
