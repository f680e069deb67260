//! The cheapest division of a stage's groups between CPU and GPU, by minimum cut.
//!
//! The source side is the CPU. A group `v` is a node with the edges `v -> sink` of the capacity of
//! its time on the CPU and `source -> v` of its time on the GPU: the one that is cut is paid. A
//! value made by `u` adds a node `a` with `u -> a` of the time to the device and `a -> w` infinite
//! for each reader `w`, and a node `b` with `b -> u` of the time to the host and `w -> b` infinite:
//! each transfer is paid once, however many groups wait for it. Groups whose side is given are the
//! source or the sink themselves, and so are the host's values; what is left falls apart into
//! regions that are solved one by one.

use haul_ir::cost::Nanos;
use haul_ir::plan::Side;

use super::flow::{INFINITE, Network, SINK, SOURCE};

/// The groups of a stage and the values between them, in numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Problem {
    pub(super) groups: Vec<Candidate>,
    pub(super) values: Vec<Flow>,
}

/// What a group takes on either side.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) cpu: Nanos,
    pub(super) gpu: Nanos,
    /// The only side it can be on.
    pub(super) fixed: Option<Side>,
}

/// What a value takes to cross.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// The group that makes it; the host has it already where there is none.
    pub(super) maker: Option<usize>,
    pub(super) readers: Vec<usize>,
    /// Whether the host needs it in the end.
    pub(super) is_result: bool,
    pub(super) h2d: Nanos,
    pub(super) d2h: Nanos,
}

impl Flow {
    /// Its maker and readers.
    pub(super) fn members(&self) -> impl Iterator<Item = usize> {
        self.maker.into_iter().chain(self.readers.iter().copied())
    }

    /// Whether it crosses to the device, and whether to the host.
    pub(super) fn crosses(&self, sides: &[Side]) -> (bool, bool) {
        let made_on_gpu = self.maker.is_some_and(|maker| sides[maker] == Side::Gpu);
        let read_on = |side| self.readers.iter().any(|reader| sides[*reader] == side);
        if made_on_gpu {
            (false, self.is_result || read_on(Side::Cpu))
        } else {
            (read_on(Side::Gpu), false)
        }
    }
}

impl Problem {
    /// The time of all groups and transfers with each group on its side.
    pub(super) fn total(&self, sides: &[Side]) -> Nanos {
        let groups = self
            .groups
            .iter()
            .zip(sides)
            .map(|(group, side)| match side {
                Side::Cpu => group.cpu,
                Side::Gpu => group.gpu,
            });
        let transfers = self.values.iter().map(|value| {
            let (to_device, to_host) = value.crosses(sides);
            let h2d = if to_device { value.h2d } else { 0 };
            let d2h = if to_host { value.d2h } else { 0 };
            h2d.saturating_add(d2h)
        });
        groups.chain(transfers).fold(0, Nanos::saturating_add)
    }

    /// The cheapest sides; of several the one with the fewest groups on the GPU.
    pub(super) fn solve(&self) -> Solution {
        let groups = self.groups.iter();
        let mut sides: Vec<_> = groups
            .map(|group| group.fixed.unwrap_or(Side::Cpu))
            .collect();
        let regions: Vec<_> = self.regions().into_iter().map(|r| r.solved(self)).collect();
        for region in &regions {
            let reaches = region.network.reaching_sink();
            for (position, group) in region.groups.iter().enumerate() {
                if reaches[node(position)] {
                    sides[*group] = Side::Gpu;
                }
            }
        }
        Solution { sides, regions }
    }

    /// Groups without a given side that values join, with those values.
    fn regions(&self) -> Vec<Region> {
        let mut joined = Joined::new(self.groups.len());
        let is_free = |group: &usize| self.groups[*group].fixed.is_none();
        let first_of = |value: &Flow| value.members().find(is_free);
        for value in &self.values {
            if let Some(first) = first_of(value) {
                value
                    .members()
                    .filter(is_free)
                    .for_each(|group| joined.join(first, group));
            }
        }
        let mut region_of = vec![None; self.groups.len()];
        let mut regions: Vec<Region> = Vec::new();
        for group in (0..self.groups.len()).filter(is_free) {
            let region = *region_of[joined.root(group)].get_or_insert_with(|| {
                regions.push(Region::default());
                regions.len() - 1
            });
            regions[region].groups.push(group);
        }
        for (position, value) in self.values.iter().enumerate() {
            if let Some(region) = first_of(value).and_then(|first| region_of[joined.root(first)]) {
                regions[region].values.push(position);
            }
        }
        regions
    }
}

/// The cheapest sides, and what tells how much worse others are.
#[derive(Debug)]
pub(super) struct Solution {
    pub(super) sides: Vec<Side>,
    pub(super) regions: Vec<Region>,
}

/// Groups that depend on each other for their sides.
#[derive(Debug, Default)]
pub(super) struct Region {
    pub(super) groups: Vec<usize>,
    values: Vec<usize>,
    /// With the most flow.
    network: Network,
}

/// The node of the group at a position of its region.
fn node(position: usize) -> usize {
    position + 2
}

impl Region {
    /// How much worse the cheapest division is with the group at `position` on the other side
    /// than `side`: what still flows once its choice is infinitely dear.
    pub(super) fn regret(&self, position: usize, side: Side) -> Nanos {
        let mut network = self.network.clone();
        match side {
            Side::Gpu => network.edge(SOURCE, node(position), INFINITE),
            Side::Cpu => network.edge(node(position), SINK, INFINITE),
        }
        Nanos::try_from(network.maximise()).unwrap_or(Nanos::MAX)
    }

    fn solved(mut self, problem: &Problem) -> Region {
        let network = &mut self.network;
        for group in &self.groups {
            let Candidate { cpu, gpu, .. } = problem.groups[*group];
            let node = network.node();
            network.edge(node, SINK, cpu.into());
            network.edge(SOURCE, node, gpu.into());
        }
        let node_of = |group: usize| match problem.groups[group].fixed {
            Some(Side::Cpu) => SOURCE,
            Some(Side::Gpu) => SINK,
            // Groups of a region are in ascending order.
            None => node(self.groups.partition_point(|g| *g < group)),
        };
        for value in &self.values {
            add_value(network, &problem.values[*value], &node_of);
        }
        network.maximise();
        self
    }
}

fn add_value(network: &mut Network, value: &Flow, node_of: &impl Fn(usize) -> usize) {
    let maker = value.maker.map_or(SOURCE, node_of);
    let readers = || value.readers.iter().map(|reader| node_of(*reader));
    if maker != SINK && readers().any(|reader| reader != SOURCE) {
        let to_device = network.node();
        network.edge(maker, to_device, value.h2d.into());
        readers()
            .filter(|reader| *reader != SOURCE)
            .for_each(|reader| network.edge(to_device, reader, INFINITE));
    }
    if maker != SOURCE && (value.is_result || readers().any(|reader| reader != SINK)) {
        let to_host = network.node();
        network.edge(to_host, maker, value.d2h.into());
        if value.is_result {
            network.edge(SOURCE, to_host, INFINITE);
        }
        readers()
            .filter(|reader| *reader != SINK)
            .for_each(|reader| network.edge(reader, to_host, INFINITE));
    }
}

/// Disjoint sets (Tarjan, 1975), by path halving.
struct Joined(Vec<usize>);

impl Joined {
    fn new(len: usize) -> Self {
        Self((0..len).collect())
    }

    fn root(&mut self, mut member: usize) -> usize {
        while self.0[member] != member {
            self.0[member] = self.0[self.0[member]];
            member = self.0[member];
        }
        member
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[b] = a;
    }
}

#[cfg(test)]
mod tests;
