//! The graph of a plan as SVG. Looks are classes of the page's style sheet.

use std::fmt::{self, Write};

use haul_ir::id::{IdVec, StageId};
use haul_ir::plan::Side;

use super::escape;
use super::picture::{Area, LINE, Line, PADDING, Picture};
use crate::render::drawing::{Drawing, Kind, Node, stage_id};

/// Room around the graph, in pixels.
const MARGIN: f64 = 8.0;

/// The graph as an `<svg>` element.
pub(super) fn graph(
    drawing: &Drawing,
    picture: &Picture,
    headings: &IdVec<StageId, Vec<String>>,
) -> String {
    let mut out = String::new();
    match write(&mut out, drawing, picture, headings) {
        Ok(()) => out,
        Err(fmt::Error) => unreachable!("writing to a string does not fail"),
    }
}

fn write(
    out: &mut String,
    drawing: &Drawing,
    picture: &Picture,
    headings: &IdVec<StageId, Vec<String>>,
) -> fmt::Result {
    let [width, height] = picture.size.map(|length| length + 2.0 * MARGIN);
    writeln!(
        out,
        "<svg class=\"graph\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"-{MARGIN} -{MARGIN} {width:.0} {height:.0}\" role=\"group\" \
         aria-label=\"Graph of the plan\">"
    )?;
    for (id, arrow) in [("arrow", "arrow"), ("heavy-arrow", "arrow heavy")] {
        writeln!(
            out,
            "<marker id=\"{id}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
             markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">\
             <path class=\"{arrow}\" d=\"M0 0L8 4L0 8z\"/></marker>"
        )?;
    }
    for (_, area, _) in &picture.stages {
        rect(out, "stage", *area, 6.0)?;
    }
    for line in &picture.lines {
        edge(out, drawing, line)?;
    }
    for (stage, [x, y, width, height], heading) in &picture.stages {
        let lines = &headings[*stage];
        begin(out, &stage_id(*stage), "heading", &label(lines))?;
        rect(out, "heading", [*x, *y, *width, *heading], 6.0)?;
        // A border above the lines that end at it.
        rect(out, "frame", [*x, *y, *width, *height], 6.0)?;
        text(out, [x + PADDING, y + PADDING], None, lines)?;
        writeln!(out, "</g>")?;
    }
    for (node, area) in drawing.nodes.iter().zip(&picture.nodes) {
        write_node(out, node, *area)?;
    }
    writeln!(out, "</svg>")
}

fn write_node(out: &mut String, node: &Node, area: Area) -> fmt::Result {
    let class = class(node);
    begin(out, &node.kind.id(), class, &label(&node.lines))?;
    let [x, y, width, height] = area;
    let round = match node.kind {
        Kind::Transfer(..) => height / 2.0,
        Kind::Input(_) | Kind::Output(_) => 0.0,
        _ => 4.0,
    };
    rect(out, class, area, round)?;
    if node.side == Some(Side::Gpu) {
        let inner = [x + 3.0, y + 3.0, width - 6.0, height - 6.0];
        rect(out, "inner", inner, 2.0)?;
    }
    let middle = x + width / 2.0;
    text(out, [middle, y + PADDING], Some("middle"), &node.lines)?;
    writeln!(out, "</g>")
}

/// The looks of a node.
fn class(node: &Node) -> &'static str {
    match (node.kind, node.side) {
        (Kind::Transfer(..), _) => "transfer",
        (Kind::Input(_) | Kind::Output(_), _) => "file",
        (_, Some(Side::Gpu)) => "gpu",
        (_, _) => "cpu",
    }
}

fn begin(out: &mut String, id: &str, class: &str, label: &str) -> fmt::Result {
    write!(
        out,
        "<g class=\"node {class}\" data-node=\"{id}\" tabindex=\"0\" role=\"button\" \
         aria-label=\"{label}\">"
    )
}

fn label(lines: &[String]) -> String {
    escape(&lines.join(", "))
}

fn rect(out: &mut String, class: &str, area: Area, round: f64) -> fmt::Result {
    let [x, y, width, height] = area;
    write!(
        out,
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
         height=\"{height:.1}\" rx=\"{round:.0}\"/>"
    )
}

/// Lines of text below each other, the first in bold.
fn text(out: &mut String, [x, y]: [f64; 2], anchor: Option<&str>, lines: &[String]) -> fmt::Result {
    let anchor = anchor.map_or_else(String::new, |at| format!(" text-anchor=\"{at}\""));
    for (position, line) in lines.iter().enumerate() {
        let class = if position == 0 { " class=\"name\"" } else { "" };
        let baseline = y + (position as f64 + 0.75) * LINE;
        let line = escape(line);
        write!(
            out,
            "<text x=\"{x:.1}\" y=\"{baseline:.1}\"{anchor}{class}>{line}</text>"
        )?;
    }
    Ok(())
}

fn edge(out: &mut String, drawing: &Drawing, line: &Line) -> fmt::Result {
    let edge = &drawing.edges[line.edge];
    let (class, arrow) = match edge.is_transfer {
        true => ("edge heavy", "heavy-arrow"),
        false => ("edge", "arrow"),
    };
    write!(out, "<path class=\"{class}\" d=\"")?;
    for (position, [x, y]) in line.points.iter().enumerate() {
        match position {
            0 => write!(out, "M{x:.1} {y:.1}")?,
            _ if position % 2 == 1 => write!(out, "V{y:.1}")?,
            _ => {
                let [from_x, from_y] = line.points[position - 1];
                let middle = (from_y + y) / 2.0;
                write!(
                    out,
                    "C{from_x:.1} {middle:.1} {x:.1} {middle:.1} {x:.1} {y:.1}"
                )?;
            }
        }
    }
    write!(out, "\"")?;
    if line.is_end {
        write!(out, " marker-end=\"url(#{arrow})\"")?;
    }
    let ends = [edge.from, edge.to].map(|node| &*drawing.nodes[node].lines[0]);
    let said = [&[format!("{} → {}", ends[0], ends[1])], &edge.label[..]].concat();
    writeln!(out, "><title>{}</title></path>", escape(&said.join("\n")))
}
