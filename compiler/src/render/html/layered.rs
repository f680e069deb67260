//! Places the nodes of an acyclic graph in layers, so that every edge goes down and passes through
//! no node: layers by longest path, order in a layer by barycentres, then places that pull
//! neighbours above each other.
//!
//! Sugiyama, Tagawa, Toda: "Methods for visual understanding of hierarchical system structures",
//! 1981. Only `+ - * /` on floats, so a layout is the same on every machine.

mod ladder;
mod order;
mod place;

use ladder::Ladder;

/// Room between nodes of one layer, in pixels.
const GAP: f64 = 24.0;
/// Room between layers, in pixels.
const LAYER_GAP: f64 = 36.0;

/// What is to be placed.
#[derive(Default)]
pub(super) struct Graph {
    /// Width and height of each node, in pixels.
    pub(super) sizes: Vec<[f64; 2]>,
    /// The layer that a node must be in; where none is said, below all that it depends on.
    pub(super) ends: Vec<Option<End>>,
    /// The edges.
    pub(super) links: Vec<Link>,
}

/// The first or the last layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Above all nodes that are at no end.
    Top,
    /// Below all others.
    Bottom,
}

/// An edge between two nodes, with the places where it leaves and arrives, in pixels from the
/// middle of its node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) leaves: f64,
    pub(super) arrives: f64,
}

/// Where everything is, in pixels from the corner at the top left.
pub(super) struct Layout {
    /// The top left corner of each node.
    pub(super) corners: Vec<[f64; 2]>,
    /// For each edge the points that it passes; between an even one and the next it goes straight
    /// down, and then bends to the next.
    pub(super) routes: Vec<Vec<[f64; 2]>>,
    /// Width and height of the whole.
    pub(super) size: [f64; 2],
}

impl Graph {
    /// Adds a node and tells its position.
    pub(super) fn add(&mut self, size: [f64; 2], end: Option<End>) -> usize {
        self.sizes.push(size);
        self.ends.push(end);
        self.sizes.len() - 1
    }

    /// The layout; `None` where the edges pass more than `limit` layers in all, or run in a circle.
    pub(super) fn layout(&self, limit: usize) -> Option<Layout> {
        let mut ladder = Ladder::of(self, limit)?;
        order::order(&mut ladder);
        let middles = place::middles(&ladder);
        Some(self.placed(&ladder, &middles))
    }

    fn placed(&self, ladder: &Ladder, middles: &[f64]) -> Layout {
        let (mut tops, mut bottoms, mut y) = (Vec::new(), Vec::new(), 0.0);
        for layer in &ladder.layers {
            let heights = layer.iter().filter_map(|rung| self.sizes.get(*rung));
            let height = heights.fold(0.0, |height: f64, size| height.max(size[1]));
            tops.push(y);
            y += height;
            bottoms.push(y);
            y += LAYER_GAP;
        }
        let left = |rung: usize| middles[rung] - ladder.widths[rung] / 2.0;
        let right = |rung: usize| middles[rung] + ladder.widths[rung] / 2.0;
        let all = 0..middles.len();
        let origin = all.clone().map(left).fold(f64::MAX, f64::min);
        let width = all.map(right).fold(0.0, f64::max) - origin;
        let corner = |node: usize| [left(node) - origin, tops[ladder.layer_of[node]]];
        let corners: Vec<_> = (0..self.sizes.len()).map(corner).collect();
        let route = |(link, chain): (&Link, &Vec<usize>)| {
            let x = |rung: usize| middles[rung] - origin;
            let last = chain.len() - 1;
            let mut points = Vec::new();
            for (step, rung) in chain.iter().enumerate() {
                let layer = ladder.layer_of[*rung];
                let at = match step {
                    0 => x(*rung) + link.leaves,
                    _ if step == last => x(*rung) + link.arrives,
                    _ => x(*rung),
                };
                if step > 0 {
                    points.push([at, tops[layer]]);
                }
                if step == 0 {
                    points.push([at, corners[*rung][1] + self.sizes[*rung][1]]);
                }
                if step < last {
                    points.push([at, bottoms[layer]]);
                }
            }
            points
        };
        let routes = self.links.iter().zip(&ladder.chains).map(route).collect();
        let height = bottoms.last().copied().unwrap_or(0.0);
        let size = [if corners.is_empty() { 0.0 } else { width }, height];
        Layout {
            corners,
            routes,
            size,
        }
    }
}
