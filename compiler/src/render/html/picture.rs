//! Where everything of a drawing is: each stage is laid out by itself, with a port for each node
//! outside that it reads and each inside that others read; then the stages, inputs and outputs.

use std::collections::{BTreeMap, BTreeSet};

use haul_ir::id::{IdVec, StageId};
use unicode_width::UnicodeWidthStr;

use super::layered::{End, Graph, Layout, Link};
use crate::render::drawing::{Drawing, Kind, Node};

/// The height of a line of text, in pixels.
pub(super) const LINE: f64 = 16.0;
/// The width of a character, in pixels, of the page's font at its size; a little more, as fonts
/// differ.
pub(super) const CHARACTER: f64 = 7.4;
/// Room between the text of a box and its border, in pixels.
pub(super) const PADDING: f64 = 8.0;
/// Room between a stage's border and what is inside, beside and above it, in pixels.
const STAGE_PADDING: [f64; 2] = [20.0, 10.0];
/// Most layers that the edges of one graph may pass before it is too much to draw.
const MAX_PASSED: usize = 10_000;

/// Left, top, width, height, in pixels.
pub(super) type Area = [f64; 4];

/// A drawing with places.
pub(super) struct Picture {
    /// The area of each node.
    pub(super) nodes: Vec<Area>,
    /// The area of each stage that has nodes inside, and the height of its heading.
    pub(super) stages: Vec<(StageId, Area, f64)>,
    /// The lines.
    pub(super) lines: Vec<Line>,
    /// Width and height of the whole.
    pub(super) size: [f64; 2],
}

/// A part of an edge.
pub(super) struct Line {
    /// As [`Layout::routes`].
    pub(super) points: Vec<[f64; 2]>,
    /// The edge, by position.
    pub(super) edge: usize,
    /// Whether it ends at a node, not at the border of a stage.
    pub(super) is_end: bool,
}

/// A stage with what is inside.
struct Inside {
    nodes: Vec<usize>,
    layout: Layout,
    /// The edge of each link of the layout.
    edges: Vec<usize>,
    /// The port of each node outside that is read, and of each inside that is read outside.
    ports: BTreeMap<usize, usize>,
    heading: f64,
    size: [f64; 2],
}

impl Picture {
    /// Places a drawing, whose stages have these headings; `None` where it is too large.
    pub(super) fn of(drawing: &Drawing, headings: &IdVec<StageId, Vec<String>>) -> Option<Self> {
        let mut crossing: IdVec<StageId, Vec<usize>> = IdVec::filled(Vec::new(), headings.len());
        for (position, edge) in drawing.edges.iter().enumerate() {
            let stages = [edge.from, edge.to].map(|node| drawing.nodes[node].stage);
            let touched: BTreeSet<_> = stages.into_iter().flatten().collect();
            for stage in touched {
                crossing[stage].push(position);
            }
        }
        let mut insides = BTreeMap::new();
        for (stage, nodes) in drawing.inside(headings.len()).entries() {
            if !nodes.is_empty() {
                let inside = inside(drawing, nodes, &crossing[stage], &headings[stage])?;
                insides.insert(stage, inside);
            }
        }
        outside(drawing, &insides)
    }
}

fn inside(
    drawing: &Drawing,
    nodes: &[usize],
    edges: &[usize],
    heading: &[String],
) -> Option<Inside> {
    let mut graph = Graph::default();
    let mut position = BTreeMap::new();
    for node in nodes {
        position.insert(*node, graph.add(size_of(&drawing.nodes[*node]), None));
    }
    let mut ports = BTreeMap::new();
    for edge in edges {
        let edge = &drawing.edges[*edge];
        let end = match (position.get(&edge.from), position.get(&edge.to)) {
            (None, _) => End::Top,
            (_, None) => End::Bottom,
            _ => continue,
        };
        ports
            .entry(edge.from)
            .or_insert_with(|| graph.add([0.0, 0.0], Some(end)));
    }
    let mut seen = BTreeSet::new();
    let mut linked = Vec::new();
    for at in edges {
        let edge = &drawing.edges[*at];
        let inner = |node| position.get(node).copied();
        let from = inner(&edge.from).unwrap_or_else(|| ports[&edge.from]);
        let to = inner(&edge.to).unwrap_or_else(|| ports[&edge.from]);
        if seen.insert((from, to)) {
            graph.links.push(Link {
                from,
                to,
                leaves: 0.0,
                arrives: 0.0,
            });
            linked.push(*at);
        }
    }
    let layout = graph.layout(MAX_PASSED)?;
    let words = text_size(heading);
    let heading = words[1];
    let width = layout.size[0].max(words[0]) + 2.0 * STAGE_PADDING[0];
    let height = layout.size[1] + heading + 2.0 * STAGE_PADDING[1];
    Some(Inside {
        nodes: nodes.to_vec(),
        layout,
        edges: linked,
        ports,
        heading,
        size: [width, height],
    })
}

fn outside(drawing: &Drawing, insides: &BTreeMap<StageId, Inside>) -> Option<Picture> {
    let mut graph = Graph::default();
    let mut of_node = vec![0; drawing.nodes.len()];
    let mut of_stage = BTreeMap::new();
    for (position, node) in drawing.nodes.iter().enumerate() {
        of_node[position] = match node.stage {
            None => graph.add(size_of(node), None),
            Some(stage) => *of_stage
                .entry(stage)
                .or_insert_with(|| graph.add(insides[&stage].size, None)),
        };
    }
    let mut seen = BTreeSet::new();
    let mut linked = Vec::new();
    for (at, edge) in drawing.edges.iter().enumerate() {
        let [from, to] = [edge.from, edge.to].map(|node| of_node[node]);
        if from != to && seen.insert((edge.from, to)) {
            let port = |node: usize| {
                let stage = drawing.nodes[node].stage;
                stage.map_or(0.0, |stage| insides[&stage].port(edge.from))
            };
            graph.links.push(Link {
                from,
                to,
                leaves: port(edge.from),
                arrives: port(edge.to),
            });
            linked.push(at);
        }
    }
    let layout = graph.layout(MAX_PASSED)?;
    let area = |item: usize| {
        let ([x, y], [width, height]) = (layout.corners[item], graph.sizes[item]);
        [x, y, width, height]
    };
    let mut picture = Picture {
        nodes: of_node.iter().map(|item| area(*item)).collect(),
        stages: Vec::new(),
        lines: Vec::new(),
        size: layout.size,
    };
    for (points, edge) in layout.routes.iter().zip(linked) {
        picture.lines.push(Line {
            points: points.clone(),
            edge,
            is_end: drawing.nodes[drawing.edges[edge].to].stage.is_none(),
        });
    }
    for (stage, item) in of_stage {
        let inside = &insides[&stage];
        picture.stages.push((stage, area(item), inside.heading));
        inside.draw(drawing, area(item), &mut picture);
    }
    Some(picture)
}

impl Inside {
    /// Where the port of a node is, in pixels from the middle of the stage.
    fn port(&self, node: usize) -> f64 {
        let port = self.ports[&node];
        self.layout.corners[port][0] - self.layout.size[0] / 2.0
    }

    fn draw(&self, drawing: &Drawing, area: Area, picture: &mut Picture) {
        let left = area[0] + (area[2] - self.layout.size[0]) / 2.0;
        let top = area[1] + self.heading + STAGE_PADDING[1];
        for (node, [x, y]) in self.nodes.iter().zip(&self.layout.corners) {
            let [width, height] = size_of(&drawing.nodes[*node]);
            picture.nodes[*node] = [left + x, top + y, width, height];
        }
        for (route, edge) in self.layout.routes.iter().zip(&self.edges) {
            let mut points: Vec<_> = route.iter().map(|[x, y]| [left + x, top + y]).collect();
            let ends = &drawing.edges[*edge];
            let stage = |node: usize| drawing.nodes[node].stage;
            let is_end = stage(ends.to) == stage(self.nodes[0]);
            if stage(ends.from) != stage(self.nodes[0]) {
                points[0][1] = area[1];
            }
            if let (false, Some(last)) = (is_end, points.last_mut()) {
                last[1] = area[1] + area[3];
            }
            picture.lines.push(Line {
                points,
                edge: *edge,
                is_end,
            });
        }
    }
}

fn size_of(node: &Node) -> [f64; 2] {
    let [width, height] = text_size(&node.lines);
    match node.kind {
        Kind::Transfer(..) => [width + 2.0 * PADDING, height],
        _ => [width, height],
    }
}

/// The size of a box around lines of text.
fn text_size(lines: &[String]) -> [f64; 2] {
    let widest = lines.iter().map(|line| line.width()).max().unwrap_or(0);
    [
        widest as f64 * CHARACTER + 2.0 * PADDING,
        lines.len() as f64 * LINE + 2.0 * PADDING,
    ]
}
