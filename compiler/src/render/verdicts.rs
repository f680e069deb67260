//! Whether the tasks of each stage find room on a target: for people, and for tools.

use haul_ir::graph::{Graph, Request};
use haul_ir::id::{IdVec, StageId};
use haul_ir::target::Target;
use serde::Serialize;

use super::style::{DOUBT, HEADING};
use super::text::request;
use super::{Cell, Colour, Column, Table, units, wrapped};
use crate::diagnostics::Lines;
use crate::plan::{Outcome, Verdict};

/// The verdicts on a pipeline for a target: a line for each stage, and under the table what is
/// missing where a stage is impossible. `text` is the pipeline file.
pub fn verdicts(
    graph: &Graph,
    target: &Target,
    verdicts: &IdVec<StageId, Verdict>,
    text: &str,
    colour: Colour,
) -> String {
    let lines = Lines::new(text);
    let mut table = Table::new([
        Column::text("stage"),
        Column::number("line"),
        Column::text("asks for"),
        Column::text("verdict"),
        Column::text("node"),
    ]);
    let mut below = String::new();
    for (id, verdict) in verdicts.entries() {
        let stage = &graph.stages[id];
        let line = lines.line(verdict.span.start).to_string();
        let node = verdict.node.map(|node| target.nodes[node].name.as_str());
        let asked = stage.requests.get(verdict.request).map(request);
        table.row([
            Cell::from(stage.name.as_str()),
            line.clone().into(),
            asked.unwrap_or_default().into(),
            cell(&verdict.outcome),
            node.unwrap_or_default().into(),
        ]);
        if let Outcome::Impossible { missing, nearest } = &verdict.outcome {
            let missing = missing.join("; ");
            let (name, node) = (&stage.name, node.unwrap_or("the target"));
            let nearest = nearest.as_ref();
            let nearest = nearest.map_or_else(String::new, |works| format!("; nearest: {works}"));
            let text = format!("{name}, line {line}: {node}: {missing}{nearest}");
            below += &wrapped(2, 4, &text);
        }
    }
    let title = colour.paint(HEADING, &format!("on {}", target.name));
    let mut out = format!("{title}\n{}{below}", table.print(colour));
    if !below.is_empty() {
        let note = "what is impossible is taken to need no time: the others may wait longer";
        out += &wrapped(2, 4, note);
    }
    out
}

/// The same for tools, one JSON object a line: `target`, `stage`, `line`, `request` (which of its
/// alternatives, from 1), `asked`, `verdict` (`fits`, `waits` or `impossible`), `wait` in
/// nanoseconds and `behind` which stage, `node`, `missing`, and `nearest`.
pub fn verdicts_json(
    graph: &Graph,
    target: &Target,
    verdicts: &IdVec<StageId, Verdict>,
    file: &str,
    text: &str,
) -> String {
    let lines = Lines::new(text);
    let mut out = String::new();
    for (id, verdict) in verdicts.entries() {
        let stage = &graph.stages[id];
        let request = stage.requests.get(verdict.request);
        let (mut wait, mut behind) = (None, None);
        let (mut missing, mut nearest) = (&[][..], None);
        let word = match &verdict.outcome {
            Outcome::Fits => "fits",
            Outcome::Waits { time, behind: by } => {
                (wait, behind) = (Some(*time), Some(by.as_str()));
                "waits"
            }
            Outcome::Impossible {
                missing: lacks,
                nearest: works,
            } => {
                (missing, nearest) = (lacks, works.as_deref());
                "impossible"
            }
        };
        let record = Record {
            verdict: word,
            file,
            target: &target.name,
            stage: &stage.name,
            line: lines.line(verdict.span.start),
            request: verdict.request + 1,
            asked: request.map(Asked::from),
            wait,
            behind,
            node: verdict.node.map(|node| target.nodes[node].name.as_str()),
            missing,
            nearest,
        };
        out += &serde_json::to_string(&record).unwrap_or_else(|error| error.to_string());
        out.push('\n');
    }
    out
}

#[derive(Serialize)]
struct Record<'a> {
    verdict: &'a str,
    file: &'a str,
    target: &'a str,
    stage: &'a str,
    line: usize,
    request: usize,
    asked: Option<Asked<'a>>,
    wait: Option<u64>,
    behind: Option<&'a str>,
    node: Option<&'a str>,
    missing: &'a [String],
    nearest: Option<&'a str>,
}

#[derive(Serialize)]
struct Asked<'a> {
    cpus: u32,
    memory: u64,
    gpus: String,
    gpu_type: Option<&'a str>,
    vram: Option<u64>,
}

impl<'a> From<&'a Request> for Asked<'a> {
    fn from(request: &'a Request) -> Self {
        Asked {
            cpus: request.cpus,
            memory: request.memory,
            gpus: request.gpus.to_string(),
            gpu_type: request.gpu_type.as_deref(),
            vram: request.vram,
        }
    }
}

fn cell(outcome: &Outcome) -> Cell {
    match outcome {
        Outcome::Fits => "fits".into(),
        Outcome::Waits { time, behind } => {
            Cell::from(format!("waits {} behind {behind}", units::time(*time))).styled(DOUBT)
        }
        Outcome::Impossible { .. } => Cell::from("impossible").styled(DOUBT),
    }
}
