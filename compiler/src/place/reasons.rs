//! Why a group is where the cut puts it, in numbers that the cut used.

use haul_ir::cost::Nanos;
use haul_ir::graph::Typed;
use haul_ir::plan::{Direction, Placement, Reason, Side};

use super::cut::Problem;
use super::flip::Flips;
use super::{Division, Machine, Sizes, StageGraph, group_name};
use crate::cost::transfer_start;

/// In regions of more groups neither regrets nor flip points are computed.
const MOST_REGRETS: usize = 1_000;

/// The placement of each group of a stage.
pub(super) fn placements(
    division: &Division,
    typed: &Typed,
    stage: &StageGraph,
    machine: Machine<'_>,
    sizes: &Sizes,
) -> Vec<Placement> {
    let sides = &division.solution.sides;
    let weigher = Weigher::new(division, stage, machine);
    let place = |group: usize| Placement {
        side: sides[group],
        reason: weigher.reason(typed, group),
        regret: None,
        flip: None,
        close_call: false,
    };
    let mut placements: Vec<_> = (0..sides.len()).map(place).collect();
    let mut flips = Flips::new(typed, stage, machine, sizes, division);
    for region in &division.solution.regions {
        if region.groups.len() > MOST_REGRETS {
            continue;
        }
        let dim = flips.only_dim(region);
        for (position, group) in region.groups.iter().enumerate() {
            let regret = region.regret(position, sides[*group]);
            let placement = &mut placements[*group];
            placement.regret = Some(regret);
            placement.close_call = division.time.is_some_and(|time| is_close(regret, time));
            placement.flip = dim.as_ref().and_then(|dim| flips.find(dim, *group));
        }
    }
    placements
}

/// Why a group is on its side.
pub(super) fn reason(
    division: &Division,
    typed: &Typed,
    stage: &StageGraph,
    machine: Machine<'_>,
    group: usize,
) -> Reason {
    Weigher::new(division, stage, machine).reason(typed, group)
}

/// Whether a regret is under 3 % of the task's time.
fn is_close(regret: Nanos, time: Nanos) -> bool {
    u128::from(regret) * 100 < u128::from(time) * 3
}

/// Compares both sides of a group, the others staying where they are.
struct Weigher<'a> {
    division: &'a Division,
    stage: &'a StageGraph,
    machine: Machine<'a>,
    /// How many groups read each value on the GPU.
    on_gpu: Vec<usize>,
}

/// Transfers that a side of a group implies: their time, and the part of it that they take
/// whatever their size.
#[derive(Clone, Copy, Default)]
struct Moves {
    time: Nanos,
    starts: Nanos,
}

impl<'a> Weigher<'a> {
    fn new(division: &'a Division, stage: &'a StageGraph, machine: Machine<'a>) -> Self {
        let sides = &division.solution.sides;
        let values = division.problem.values.iter();
        let on_gpu = values.map(|value| {
            value
                .readers
                .iter()
                .filter(|r| sides[**r] == Side::Gpu)
                .count()
        });
        Self {
            on_gpu: on_gpu.collect(),
            division,
            stage,
            machine,
        }
    }

    fn problem(&self) -> &Problem {
        &self.division.problem
    }

    /// The fact that gives a group its side, or else what the cut weighed.
    fn reason(&self, typed: &Typed, group: usize) -> Reason {
        match &self.division.facts[group] {
            Some((_, reason)) => reason.clone(),
            None => self.weighed(typed, group),
        }
    }

    fn weighed(&self, typed: &Typed, group: usize) -> Reason {
        let candidate = &self.problem().groups[group];
        let saved = candidate.cpu.saturating_sub(candidate.gpu);
        let here = self.moves(group, Side::Cpu);
        let there = self.moves(group, Side::Gpu);
        let added = there.time.saturating_sub(here.time);
        if self.division.solution.sides[group] == Side::Gpu {
            let spared = here.time.saturating_sub(there.time);
            if spared > saved {
                let added = candidate.gpu.saturating_sub(candidate.cpu);
                return Reason::KeepsDataOnGpu {
                    saved: spared,
                    added,
                };
            }
            return match self.shared_input(group, saved, added) {
                Some(op) => Reason::InputAlreadyMovedFor {
                    op: group_name(typed, self.stage.groups[op]).to_owned(),
                    saved,
                    added,
                },
                None => Reason::CheaperOnGpu { saved, added },
            };
        }
        let launch = self.machine.gpu.map_or(0, |gpu| gpu.launch);
        if candidate.cpu <= launch && candidate.cpu < candidate.gpu {
            let cpu = candidate.cpu;
            return Reason::LaunchBound { cpu, launch };
        }
        let by_size = added.saturating_sub(there.starts.saturating_sub(here.starts));
        if by_size >= candidate.cpu && by_size > 0 {
            return Reason::LowIntensity { saved, added };
        }
        Reason::TransferOutweighsGain { saved, added }
    }

    /// The first group that has an input of this one moved to the device, where this one comes
    /// later and would not pay for it alone.
    fn shared_input(&self, group: usize, saved: Nanos, added: Nanos) -> Option<usize> {
        let sides = &self.division.solution.sides;
        for value in &self.stage.reads[group] {
            let flow = &self.problem().values[*value];
            let (to_device, _) = flow.crosses(sides);
            let mut readers = flow.readers.iter().copied();
            let first = readers.find(|reader| sides[*reader] == Side::Gpu);
            let is_later = first.is_some_and(|first| first != group);
            if to_device && is_later && saved <= added.saturating_add(flow.h2d) {
                return first;
            }
        }
        None
    }

    /// The transfers of the values around a group, with it on a side.
    fn moves(&self, group: usize, side: Side) -> Moves {
        let mut moves = Moves::default();
        for value in self.stage.values_of(group) {
            match self.crossing(value, group, side) {
                Some(Direction::HostToDevice) => {
                    self.add(&mut moves, value, Direction::HostToDevice)
                }
                Some(Direction::DeviceToHost) => {
                    self.add(&mut moves, value, Direction::DeviceToHost)
                }
                None => {}
            }
        }
        moves
    }

    fn add(&self, moves: &mut Moves, value: usize, direction: Direction) {
        let flow = &self.problem().values[value];
        let time = match direction {
            Direction::HostToDevice => flow.h2d,
            Direction::DeviceToHost => flow.d2h,
        };
        let start = self
            .machine
            .gpu
            .map_or(0, |gpu| transfer_start(gpu, direction));
        moves.time = moves.time.saturating_add(time);
        moves.starts = moves.starts.saturating_add(start);
    }

    /// How a value crosses with a group, its maker or one of its readers, on a side.
    fn crossing(&self, value: usize, group: usize, side: Side) -> Option<Direction> {
        let sides = &self.division.solution.sides;
        let flow = &self.problem().values[value];
        let side_of = |member: usize| if member == group { side } else { sides[member] };
        let mut on_gpu = self.on_gpu[value];
        if flow.maker != Some(group) {
            on_gpu -= usize::from(sides[group] == Side::Gpu);
            on_gpu += usize::from(side == Side::Gpu);
        }
        let on_cpu = flow.readers.len() - on_gpu;
        match flow.maker.map_or(Side::Cpu, side_of) {
            Side::Cpu => (on_gpu > 0).then_some(Direction::HostToDevice),
            Side::Gpu => (on_cpu > 0 || flow.is_result).then_some(Direction::DeviceToHost),
        }
    }
}
