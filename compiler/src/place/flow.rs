//! Maximum flow by Dinic's algorithm (E. A. Dinic, 1970), with integer capacities.
//!
//! A network keeps what is left of its capacities, so that edges can be added to a solved one
//! and the flow grown from there.

use std::collections::VecDeque;

/// More than all finite capacities together.
pub(super) const INFINITE: u128 = 1 << 120;

/// A flow network. Node 0 is the source, node 1 the sink.
#[derive(Clone, Debug)]
pub(super) struct Network {
    /// The edges that leave each node. Edge `e ^ 1` is the reverse of edge `e`.
    leaving: Vec<Vec<u32>>,
    edges: Vec<Edge>,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: u32,
    /// What is left of its capacity.
    left: u128,
}

pub(super) const SOURCE: usize = 0;
pub(super) const SINK: usize = 1;

impl Default for Network {
    /// Source and sink.
    fn default() -> Self {
        Self {
            leaving: vec![Vec::new(); 2],
            edges: Vec::new(),
        }
    }
}

impl Network {
    /// One more node.
    pub(super) fn node(&mut self) -> usize {
        self.leaving.push(Vec::new());
        self.leaving.len() - 1
    }

    /// An edge of a capacity.
    pub(super) fn edge(&mut self, from: usize, to: usize, capacity: u128) {
        for (from, to, left) in [(from, to, capacity), (to, from, 0)] {
            self.leaving[from].push(self.edges.len() as u32);
            self.edges.push(Edge {
                to: to as u32,
                left,
            });
        }
    }

    /// Sends as much more as can flow, and tells how much that is.
    pub(super) fn maximise(&mut self) -> u128 {
        let mut sent = 0;
        while let Some(levels) = self.levels() {
            let mut next = vec![0; self.leaving.len()];
            while let Some(amount) = self.augment(&levels, &mut next) {
                sent += amount;
            }
        }
        sent
    }

    /// Which nodes the sink can still be reached from.
    pub(super) fn reaching_sink(&self) -> Vec<bool> {
        let mut reaches = vec![false; self.leaving.len()];
        reaches[SINK] = true;
        let mut queue = vec![SINK];
        while let Some(node) = queue.pop() {
            for edge in &self.leaving[node] {
                let from = self.edges[*edge as usize].to as usize;
                let forward = self.edges[*edge as usize ^ 1];
                if forward.left > 0 && !reaches[from] {
                    reaches[from] = true;
                    queue.push(from);
                }
            }
        }
        reaches
    }

    /// The distance of each node from the source, where the sink can be reached.
    fn levels(&self) -> Option<Vec<u32>> {
        let mut levels = vec![u32::MAX; self.leaving.len()];
        levels[SOURCE] = 0;
        let mut queue = VecDeque::from([SOURCE]);
        while let Some(node) = queue.pop_front() {
            for edge in &self.leaving[node] {
                let Edge { to, left } = self.edges[*edge as usize];
                if left > 0 && levels[to as usize] == u32::MAX {
                    levels[to as usize] = levels[node] + 1;
                    queue.push_back(to as usize);
                }
            }
        }
        (levels[SINK] != u32::MAX).then_some(levels)
    }

    /// Fills one path along the levels. `next` is the first edge of each node worth trying.
    fn augment(&mut self, levels: &[u32], next: &mut [usize]) -> Option<u128> {
        let mut path: Vec<u32> = Vec::new();
        let mut node = SOURCE;
        while node != SINK {
            let candidate = self.leaving[node].get(next[node]).copied();
            match candidate {
                Some(edge) => {
                    let Edge { to, left } = self.edges[edge as usize];
                    if left > 0 && levels[to as usize] == levels[node] + 1 {
                        path.push(edge);
                        node = to as usize;
                    } else {
                        next[node] += 1;
                    }
                }
                None => {
                    // A dead end: back, and past the edge that led here.
                    let edge = path.pop()?;
                    node = self.edges[edge as usize ^ 1].to as usize;
                    next[node] += 1;
                }
            }
        }
        let amount = path
            .iter()
            .map(|edge| self.edges[*edge as usize].left)
            .min()?;
        for edge in path {
            self.edges[edge as usize].left -= amount;
            self.edges[edge as usize ^ 1].left += amount;
        }
        Some(amount)
    }
}

#[cfg(test)]
mod tests {
    use super::{Network, SINK, SOURCE};

    #[test]
    fn the_flow_of_a_textbook_network() {
        // Cormen et al., Introduction to Algorithms, figure 26.1: the maximum is 23.
        let mut network = Network::default();
        let v: Vec<usize> = (0..4).map(|_| network.node()).collect();
        for (from, to, capacity) in [
            (SOURCE, v[0], 16),
            (SOURCE, v[1], 13),
            (v[1], v[0], 4),
            (v[0], v[2], 12),
            (v[2], v[1], 9),
            (v[1], v[3], 14),
            (v[3], v[2], 7),
            (v[2], SINK, 20),
            (v[3], SINK, 4),
        ] {
            network.edge(from, to, capacity);
        }
        assert_eq!(network.maximise(), 23);
        // The cut next to the sink: only v3 (v[2]) still reaches it.
        assert_eq!(
            network.reaching_sink(),
            [false, true, false, false, true, false]
        );
        // One unit more from v4 to the sink lets one more flow.
        network.edge(v[3], SINK, 1);
        assert_eq!(network.maximise(), 1);
    }
}
