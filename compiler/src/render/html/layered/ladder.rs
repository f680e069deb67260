//! Layers, with a rung for each node and for each layer that an edge passes.

use std::collections::HashMap;

use super::{End, Graph};

/// A graph whose every edge goes from a layer to the next. Rungs that are nodes have the
/// positions of these; the others come after.
pub(super) struct Ladder {
    /// The width of each rung.
    pub(super) widths: Vec<f64>,
    /// The layer of each rung.
    pub(super) layer_of: Vec<usize>,
    /// The rungs of each layer, from left to right.
    pub(super) layers: Vec<Vec<usize>>,
    /// Steps to the layer below: the other rung, and how far right of its middle this one's is
    /// best, in pixels.
    pub(super) below: Vec<Vec<(usize, f64)>>,
    /// Steps to the layer above, likewise.
    pub(super) above: Vec<Vec<(usize, f64)>>,
    /// The rungs of each edge, from its node above to that below.
    pub(super) chains: Vec<Vec<usize>>,
}

impl Ladder {
    /// `None` where the edges pass more than `limit` layers in all, or run in a circle.
    pub(super) fn of(graph: &Graph, limit: usize) -> Option<Self> {
        let layer_of = layers(graph)?;
        let count = layer_of.iter().map(|layer| layer + 1).max().unwrap_or(0);
        let mut ladder = Self {
            widths: graph.sizes.iter().map(|size| size[0]).collect(),
            layers: vec![Vec::new(); count],
            below: vec![Vec::new(); layer_of.len()],
            above: vec![Vec::new(); layer_of.len()],
            chains: Vec::new(),
            layer_of,
        };
        ladder.stretch(graph, limit)?;
        for (rung, layer) in ladder.layer_of.iter().enumerate() {
            ladder.layers[*layer].push(rung);
        }
        Some(ladder)
    }

    /// Makes the chains. Edges that leave a node at one place share rungs until they part.
    fn stretch(&mut self, graph: &Graph, limit: usize) -> Option<()> {
        let mut trunks: HashMap<(usize, u64), Vec<usize>> = HashMap::new();
        for link in &graph.links {
            let passed = self.layer_of[link.from] + 1..self.layer_of[link.to];
            let key = (link.from, link.leaves.to_bits());
            let mut trunk = trunks.remove(&key).unwrap_or_default();
            for layer in passed.clone().skip(trunk.len()) {
                let rung = self.rung(layer);
                match trunk.last() {
                    Some(last) => self.step(*last, rung, 0.0),
                    None => self.step(link.from, rung, link.leaves),
                }
                trunk.push(rung);
            }
            if self.widths.len() > graph.sizes.len() + limit {
                return None;
            }
            let inner = &trunk[..passed.len()];
            let chain: Vec<_> = [link.from]
                .into_iter()
                .chain(inner.iter().copied())
                .chain([link.to])
                .collect();
            match inner.last() {
                Some(last) => self.step(*last, link.to, -link.arrives),
                None => self.step(link.from, link.to, link.leaves - link.arrives),
            }
            self.chains.push(chain);
            trunks.insert(key, trunk);
        }
        Some(())
    }

    fn rung(&mut self, layer: usize) -> usize {
        self.widths.push(0.0);
        self.layer_of.push(layer);
        self.below.push(Vec::new());
        self.above.push(Vec::new());
        self.widths.len() - 1
    }

    fn step(&mut self, from: usize, to: usize, shift: f64) {
        self.below[from].push((to, -shift));
        self.above[to].push((from, shift));
    }
}

/// The layer of each node: one below the lowest that it depends on. What depends on nothing
/// stands right above the first that needs it.
fn layers(graph: &Graph) -> Option<Vec<usize>> {
    let nodes = graph.sizes.len();
    let (mut below, mut waits) = (vec![Vec::new(); nodes], vec![0_usize; nodes]);
    for link in &graph.links {
        below[link.from].push(link.to);
        waits[link.to] += 1;
    }
    let first = |node: usize| usize::from(graph.ends[node].is_none() && graph.has_top());
    let mut layers: Vec<_> = (0..nodes).map(first).collect();
    let is_source: Vec<_> = waits.iter().map(|waits| *waits == 0).collect();
    let mut ready: Vec<_> = (0..nodes).filter(|node| is_source[*node]).collect();
    let mut done = 0;
    while let Some(node) = ready.get(done).copied() {
        done += 1;
        for reader in &below[node] {
            layers[*reader] = layers[*reader].max(layers[node] + 1);
            waits[*reader] -= 1;
            if waits[*reader] == 0 {
                ready.push(*reader);
            }
        }
    }
    if done < nodes {
        return None;
    }
    for node in (0..nodes).filter(|node| is_source[*node] && graph.ends[*node].is_none()) {
        let nearest = below[node].iter().map(|reader| layers[*reader]).min();
        layers[node] = nearest.map_or(layers[node], |nearest| nearest - 1);
    }
    let bottom = layers.iter().copied().max().unwrap_or(0);
    let is_last = |node: usize| graph.ends[node] == Some(End::Bottom);
    let inner = (0..nodes).filter(|node| !is_last(*node));
    let bottom = inner.map(|node| layers[node] + 1).max().unwrap_or(bottom);
    for node in (0..nodes).filter(|node| is_last(*node)) {
        layers[node] = bottom;
    }
    Some(layers)
}

impl Graph {
    fn has_top(&self) -> bool {
        self.ends.contains(&Some(End::Top))
    }
}
