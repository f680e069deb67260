//! A plan as a flowchart in the language of Mermaid.

use std::fmt::{self, Write};

use haul_ir::plan::{Plan, Side};

use super::drawing::{Detail, Drawing, Kind, Node, Words, stage_id};

/// Most edges that a flowchart may have unless the page that shows it says otherwise.
const MAX_EDGES: usize = 500;
/// Most characters that a diagram may have unless the page that shows it says otherwise.
const MAX_TEXT: usize = 50_000;

/// The plan as a flowchart: a subgraph for each stage, a node for each group of ops, and a node
/// on a thick line for each transfer. Where that is more than Mermaid's default limits let a page
/// show, it has one node for each stage instead.
///
/// What runs on the GPU has double sides, so that it can be told without its colour.
pub fn mermaid(plan: &Plan) -> String {
    if plan.typed.graph().ops.len() <= MAX_EDGES {
        let drawing = Drawing::of(plan, Detail::Groups);
        let out = flowchart(plan, &drawing);
        if drawing.edges.len() <= MAX_EDGES && out.len() <= MAX_TEXT {
            return out;
        }
    }
    flowchart(plan, &Drawing::of(plan, Detail::Stages))
}

fn flowchart(plan: &Plan, drawing: &Drawing) -> String {
    let mut out = String::new();
    match print(plan, drawing, &mut out) {
        Ok(()) => out,
        Err(fmt::Error) => unreachable!("writing to a string does not fail"),
    }
}

fn print(plan: &Plan, drawing: &Drawing, out: &mut String) -> fmt::Result {
    writeln!(out, "flowchart TB")?;
    for node in drawing.nodes.iter().filter(|node| node.stage.is_none()) {
        write_node(out, "  ", node)?;
    }
    if drawing.detail == Detail::Groups {
        let words = Words::of(plan);
        for (stage, inside) in drawing.inside(plan.stages.len()).entries() {
            let (id, label) = (stage_id(stage), quoted(&words.stage(stage)));
            writeln!(out, "  subgraph {id}[{label}]")?;
            for at in inside {
                write_node(out, "    ", &drawing.nodes[*at])?;
            }
            writeln!(out, "  end")?;
        }
    }
    for edge in &drawing.edges {
        let [from, to] = [edge.from, edge.to].map(|at| drawing.nodes[at].kind.id());
        match edge.is_transfer {
            true => writeln!(out, "  {from} ==> {to}")?,
            false => writeln!(out, "  {from} -->|{}| {to}", quoted(&edge.label))?,
        }
    }
    writeln!(out, "  classDef cpu fill:#dbe6f4,stroke:#3a5f8f,color:#111")?;
    writeln!(
        out,
        "  classDef gpu fill:#bfe5c5,stroke:#1f7a33,stroke-width:2px,color:#111"
    )?;
    writeln!(
        out,
        "  classDef transfer fill:#ffe8b3,stroke:#8f6a00,stroke-width:3px,color:#111"
    )
}

fn write_node(out: &mut String, indent: &str, node: &Node) -> fmt::Result {
    let ([open, close], class) = match (node.kind, node.side) {
        (Kind::Transfer(..), _) => (["([", "])"], ":::transfer"),
        (Kind::Input(_), _) => (["[/", "/]"], ""),
        (Kind::Output(_), _) => (["[\\", "\\]"], ""),
        (_, Some(Side::Gpu)) => (["[[", "]]"], ":::gpu"),
        (_, _) => (["[", "]"], ":::cpu"),
    };
    let (id, label) = (node.kind.id(), quoted(&node.lines));
    writeln!(out, "{indent}{id}{open}{label}{close}{class}")
}

/// Lines as one quoted string. Marks that some part of Mermaid gives a meaning to stand as
/// entities: it looks for comments, icons, maths and markdown inside of quotes too.
fn quoted(lines: &[impl AsRef<str>]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| escaped(line.as_ref())).collect();
    format!("\"{}\"", lines.join("<br>"))
}

fn escaped(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            _ if !c.is_ascii() || c.is_ascii_alphanumeric() => out.push(c),
            _ if " ,.:[]()_/+-".contains(c) => out.push(c),
            _ => out += &format!("#{};", u32::from(c)),
        }
    }
    // Some readers take two dashes for a line, even there.
    out.replace("--", "#45;#45;")
}
