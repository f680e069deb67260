//! A plan as one page that needs no network: the graph with its placements, the numbers of what
//! is pointed at, the timeline of the simulated run, and a table of stages; with what a run measured
//! beside it where there was one.
//!
//! Nothing of the pipeline is on the page unescaped, and the page's policy lets only its own
//! script and style run: `page.html` names them by their hashes.

mod chart;
mod facts;
mod layered;
mod picture;
mod svg;
mod table;
mod timeline;

use std::fmt::Write;

use haul_ir::expr::Expr;
use haul_ir::id::{IdVec, StageId};
use haul_ir::plan::{Plan, Utilisation};
use serde::Serialize;

use self::facts::Facts;
use self::picture::Picture;
use super::drawing::{Detail, Drawing, Words};
use super::values::Values;
use super::{choices, names, units};
use crate::measured::Measured;

const PAGE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// Most groups of ops that are drawn; above, each stage is one node.
const MAX_GROUPS: usize = 600;
/// Most stages, inputs and outputs that are drawn; above, there is the table only.
const MAX_NODES: usize = 600;

/// The plan as a page of HTML that is complete in itself.
///
/// More than 600 groups of ops are drawn as stages; of more than 600 stages, inputs and outputs
/// there is a table, no drawing. What was measured of stages of the same names stands beside what
/// is predicted.
pub fn html(plan: &Plan, measured: Option<&Measured>) -> String {
    let (graph, mut nodes) = graph(plan);
    if let Some(measured) = measured {
        facts::add_measured(plan, measured, &mut nodes);
    }
    let data = Data {
        pipeline: &plan.pipeline,
        target: &plan.target.name,
        nodes,
    };
    let data = serde_json::to_string(&data).expect("texts and lists are JSON");
    filled(|part| match part {
        "title" => escape(&title(plan)),
        "style" => STYLE.to_owned(),
        "script" => SCRIPT.to_owned(),
        "subtitle" => escape(&subtitle(plan)),
        "totals" => totals(plan, measured),
        "graph" => graph.clone(),
        "timeline" => timeline::timeline(plan),
        "run" => timeline::measured(plan, measured),
        "stages" => table::stages(plan, measured),
        // In a script element only `<` can begin something else.
        "data" => data.replace('<', "\\u003c"),
        _ => unreachable!("page.html has no other parts"),
    })
}

/// What the page's script knows.
#[derive(Serialize)]
struct Data<'a> {
    pipeline: &'a str,
    target: &'a str,
    nodes: Vec<Facts>,
}

/// The page with its `{{parts}}`; what fills one is not looked at again.
fn filled(mut part: impl FnMut(&str) -> String) -> String {
    let mut out = String::new();
    for (position, piece) in PAGE.split("{{").enumerate() {
        match piece.split_once("}}") {
            Some((name, rest)) if position > 0 => {
                out += &part(name);
                out += rest;
            }
            _ => out += piece,
        }
    }
    out
}

/// The graph in as much detail as can be drawn, and what is said of its nodes.
fn graph(plan: &Plan) -> (String, Vec<Facts>) {
    let words = Words::of(plan);
    let headings: IdVec<StageId, _> = plan.stages.ids().map(|id| words.stage(id)).collect();
    let graph = plan.typed.graph();
    let files = graph.inputs.len() + graph.outputs.len();
    if plan.typed.groups().len() <= MAX_GROUPS && files + plan.stages.len() <= MAX_NODES {
        let drawing = Drawing::of(plan, Detail::Groups);
        if let Some(picture) = Picture::of(&drawing, &headings) {
            let svg = svg::graph(&drawing, &picture, &headings);
            return (svg, facts::all(plan, &drawing));
        }
    }
    if files + plan.stages.len() <= MAX_NODES {
        let drawing = Drawing::of(plan, Detail::Stages);
        if let Some(picture) = Picture::of(&drawing, &headings) {
            let note = "<p>This plan has many ops: each stage is one node.</p>\n";
            let svg = note.to_owned() + &svg::graph(&drawing, &picture, &headings);
            return (svg, facts::all(plan, &drawing));
        }
    }
    let note = "<p>This plan is too large to draw; the stages are below.</p>\n";
    (note.to_owned(), Vec::new())
}

fn title(plan: &Plan) -> String {
    let [pipeline, target] =
        [&plan.pipeline, &plan.target.name].map(|name| names::on_one_line(name));
    format!("plan {pipeline} on {target}")
}

fn subtitle(plan: &Plan) -> String {
    let dims = plan.typed.graph().dims.keys().cloned().map(Expr::symbol);
    let dims: Vec<_> = dims.collect();
    let (source, figures) = (names::on_one_line(&plan.source), choices::provenance(plan));
    let at = Values::of(plan).at(&dims);
    format!("{source}; figures: {figures};{at}")
        .trim_end_matches(';')
        .to_owned()
}

/// Totals of the run, as terms with what they are.
fn totals(plan: &Plan, measured: Option<&Measured>) -> String {
    let estimates = &plan.estimates;
    let time = |total| units::total(total, estimates, units::time);
    let stage = |id: &StageId| plan.typed.graph().stages[*id].name.clone();
    let mut terms = vec![
        ("makespan", time(estimates.makespan)),
        ("one after the other", time(estimates.serial)),
        ("all on cpu", units::all_on_cpu(estimates)),
        ("all on gpu", time(estimates.all_on_gpu)),
        (
            "price",
            units::total(estimates.nano_usd, estimates, units::usd),
        ),
    ];
    let bytes = estimates
        .transferred
        .map(|bytes| units::bytes(u128::from(bytes)));
    terms.extend(bytes.map(|bytes| ("transferred", bytes)));
    if !estimates.critical_path.is_empty() {
        terms.push((
            "critical path",
            listed(estimates.critical_path.iter().map(stage)),
        ));
    }
    if !estimates.unknown.is_empty() {
        terms.push(("unknown", listed(estimates.unknown.iter().map(stage))));
    }
    let used = estimates.utilisation.iter();
    terms.extend(used.map(|used| ("utilisation", utilisation(plan, used))));
    if let Some(Measured { measured, .. }) = measured {
        terms.push(("measured makespan", units::time(measured.makespan)));
        let peak = units::bytes(measured.peak_memory.into());
        terms.push(("measured peak memory", peak));
    }
    let mut out = String::new();
    for (term, what) in terms {
        let what = escape(&what);
        out += &format!("<div><dt>{term}</dt><dd>{what}</dd></div>\n");
    }
    out
}

fn utilisation(plan: &Plan, used: &Utilisation) -> String {
    let node = names::on_one_line(&plan.target.nodes[used.node].name);
    let devices = used.gpu.as_deref().unwrap_or("cpus");
    let percent = |share: u32| format!("{} %", units::significant(share.into(), 10));
    let share = |share| units::share(share, &plan.estimates, percent);
    let (held, busy) = (share(used.held), share(used.busy));
    format!(
        "{devices} of {} {node}: held {held}, busy {busy}",
        used.nodes
    )
}

/// Most names that a list of the header gives.
const LISTED: usize = 12;

fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    let rest = names.len().saturating_sub(LISTED);
    let mut text = names.take(LISTED).collect::<Vec<_>>().join(", ");
    if rest > 0 {
        let _ = write!(text, " and {rest} more");
    }
    text
}

/// A text as it stands in HTML, in an element or between double quotes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            _ => out.push(c),
        }
    }
    out
}
