//! A plan as a graph in the language of Graphviz.

use std::fmt::{self, Write};

use haul_ir::id::StageId;
use haul_ir::plan::{Plan, Side};

use super::drawing::{Detail, Drawing, Kind, Node, Words, stage_id};
use super::names;

/// Above so many ops, each stage is one node.
const MAX_OPS: usize = 2_000;

/// The plan in the DOT language: a cluster for each stage, a node for each group of ops, and a
/// node on a bold line for each transfer. A plan of more than 2,000 ops has one node for each
/// stage instead.
///
/// What runs on the GPU has a double border, so that it can be told without its colour.
pub fn dot(plan: &Plan) -> String {
    let detail = match plan.typed.graph().ops.len() {
        ..=MAX_OPS => Detail::Groups,
        _ => Detail::Stages,
    };
    let drawing = Drawing::of(plan, detail);
    let mut out = String::new();
    match print(plan, &drawing, &mut out) {
        Ok(()) => out,
        Err(fmt::Error) => unreachable!("writing to a string does not fail"),
    }
}

fn print(plan: &Plan, drawing: &Drawing, out: &mut String) -> fmt::Result {
    writeln!(
        out,
        "digraph {} {{",
        quoted(&[names::on_one_line(&plan.pipeline)])
    )?;
    writeln!(out, "  graph [fontname=\"sans-serif\", labeljust=l]")?;
    writeln!(
        out,
        "  node [fontname=\"sans-serif\", fontsize=11, shape=box, style=filled, fillcolor=white]"
    )?;
    writeln!(out, "  edge [fontname=\"sans-serif\", fontsize=9]")?;
    for node in drawing.nodes.iter().filter(|node| node.stage.is_none()) {
        write_node(out, "  ", node)?;
    }
    if drawing.detail == Detail::Groups {
        let words = Words::of(plan);
        for (stage, inside) in drawing.inside(plan.stages.len()).entries() {
            cluster(
                out,
                &words,
                stage,
                inside.iter().map(|at| &drawing.nodes[*at]),
            )?;
        }
    }
    for edge in &drawing.edges {
        let (from, to) = (&drawing.nodes[edge.from], &drawing.nodes[edge.to]);
        write!(out, "  {} -> {}", from.kind.id(), to.kind.id())?;
        match edge.is_transfer {
            true => writeln!(out, " [style=bold, penwidth=3]")?,
            false => writeln!(out, " [label={}]", quoted(&edge.label))?,
        }
    }
    writeln!(out, "}}")
}

fn cluster<'d>(
    out: &mut String,
    words: &Words<'_>,
    stage: StageId,
    nodes: impl Iterator<Item = &'d Node>,
) -> fmt::Result {
    writeln!(out, "  subgraph cluster_{} {{", stage_id(stage))?;
    writeln!(out, "    label={}", quoted(&words.stage(stage)))?;
    for node in nodes {
        write_node(out, "    ", node)?;
    }
    writeln!(out, "  }}")
}

fn write_node(out: &mut String, indent: &str, node: &Node) -> fmt::Result {
    let look = match (node.kind, node.side) {
        (Kind::Transfer(..), _) => ", fillcolor=\"#ffe8b3\", style=\"filled,bold\"",
        (Kind::Input(_), _) => ", shape=note",
        (Kind::Output(_), _) => ", shape=folder",
        (_, Some(Side::Gpu)) => ", fillcolor=\"#bfe5c5\", peripheries=2",
        (_, _) => ", fillcolor=\"#dbe6f4\"",
    };
    let label = quoted(&node.lines);
    writeln!(out, "{indent}{} [label={label}{look}]", node.kind.id())
}

/// Lines as one quoted string. A backslash begins an escape of Graphviz, which then also stands
/// for names of the graph.
fn quoted(lines: &[impl AsRef<str>]) -> String {
    let escaped = |line: &str| line.replace('\\', "\\\\").replace('"', "\\\"");
    let lines: Vec<_> = lines.iter().map(|line| escaped(line.as_ref())).collect();
    format!("\"{}\"", lines.join("\\n"))
}
