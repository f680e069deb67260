//! The most memory that a task holds at once, by liveness.
//!
//! Groups run in order. A stage's inputs stay on the host for the whole task; a value made is
//! held from its making to its last reader, and to the end where it is a result. A view holds what
//! it is a view of. A copy of a value is made when its first reader runs, or, to the host, when
//! the value is made. Text counts nothing: only the data knows its length.

use std::collections::BTreeMap;

use haul_ir::expr::Expr;
use haul_ir::id::ValueId;
use haul_ir::plan::Side;

use super::{Sizes, StageGraph};

/// What a symbol without any value counts where the largest of several sums is looked for.
const NOMINAL: u64 = 1 << 10;

/// The most that a task holds on either side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Peaks {
    pub(crate) memory: Peak,
    pub(crate) vram: Peak,
}

/// The most that a task holds at once.
#[derive(Clone, Debug)]
pub(crate) struct Peak {
    /// In dims: what it is at planned sizes, and where at the largest sizes another moment is the
    /// peak, the larger of both.
    pub(crate) bytes: Expr,
    /// The value whose making is the peak at the largest sizes.
    pub(crate) at: Option<ValueId>,
    /// At the largest sizes, where they are known.
    pub(crate) largest: Option<u64>,
}

impl Default for Peak {
    fn default() -> Self {
        Peak {
            bytes: Expr::ZERO,
            at: None,
            largest: None,
        }
    }
}

/// The peaks of a stage whose groups are on given sides.
pub(crate) fn peaks(stage: &StageGraph, sides: &[Side], sizes: &Sizes) -> Peaks {
    let held = Held::of(stage, sides);
    Peaks {
        memory: held.peak(stage, Side::Cpu, sizes),
        vram: held.peak(stage, Side::Gpu, sizes),
    }
}

/// Which buffers there are, and from which group to which.
struct Held {
    /// By the side of the memory and the value that the buffer is made for.
    buffers: BTreeMap<(Side, usize), Span>,
    /// The buffer that a value lies in, on each side where it is.
    lies_in: BTreeMap<(Side, usize), usize>,
}

/// Positions of the first and last group that need a buffer.
struct Span {
    first: usize,
    last: usize,
}

impl Held {
    fn of(stage: &StageGraph, sides: &[Side]) -> Held {
        let mut held = Held {
            buffers: BTreeMap::new(),
            lies_in: BTreeMap::new(),
        };
        let end = stage.groups.len().saturating_sub(1);
        for (value, facts) in stage.values.iter().enumerate() {
            if facts.maker.is_none() {
                held.make(Side::Cpu, value, 0, end);
            }
        }
        for (position, side) in sides.iter().enumerate() {
            held.run(stage, sides, position, *side);
        }
        held
    }

    /// What is held because a group runs.
    fn run(&mut self, stage: &StageGraph, sides: &[Side], position: usize, side: Side) {
        for value in &stage.reads[position] {
            if !self.lies_in.contains_key(&(side, *value)) {
                // It crosses now, so that its copy on the other side is needed until now.
                self.touch(side.other(), *value, position);
                self.make(side, *value, position, position);
            }
            self.touch(side, *value, position);
        }
        let end = stage.groups.len() - 1;
        for value in &stage.writes[position] {
            match stage.reads[position].first() {
                Some(of) if stage.kernels[position].is_view => {
                    let buffer = self.lies_in[&(side, *of)];
                    self.lies_in.insert((side, *value), buffer);
                }
                _ => self.make(side, *value, position, position),
            }
            let facts = &stage.values[*value];
            let mut readers = facts.readers.iter();
            if side == Side::Gpu && (facts.is_result || readers.any(|r| sides[*r] == Side::Cpu)) {
                self.make(Side::Cpu, *value, position, position);
            }
            if facts.is_result {
                self.touch(Side::Cpu, *value, end);
            }
        }
    }

    fn make(&mut self, side: Side, value: usize, first: usize, last: usize) {
        self.buffers.insert((side, value), Span { first, last });
        self.lies_in.insert((side, value), value);
    }

    fn touch(&mut self, side: Side, value: usize, position: usize) {
        let Some(buffer) = self.lies_in.get(&(side, value)) else {
            return;
        };
        if let Some(span) = self.buffers.get_mut(&(side, *buffer)) {
            span.last = span.last.max(position);
        }
    }

    fn peak(&self, stage: &StageGraph, side: Side, sizes: &Sizes) -> Peak {
        let at = |point: &crate::cost::Point| {
            let bytes = |value: usize| {
                point
                    .eval_or(&stage.values[value].bytes, NOMINAL)
                    .unwrap_or(u64::MAX)
            };
            self.fullest(stage.groups.len(), side, &bytes)
        };
        let Some(largest) = at(&sizes.largest) else {
            return Peak::default();
        };
        let bytes = self.bytes_at(stage, side, largest);
        let planned =
            at(&sizes.planned).map_or(Expr::ZERO, |step| self.bytes_at(stage, side, step));
        Peak {
            largest: sizes.largest.eval_saturating(&bytes),
            bytes: bytes.larger(&planned),
            at: self.made_at(stage, side, largest),
        }
    }

    /// The first group at which buffers hold the most, where there are any.
    fn fullest(&self, groups: usize, side: Side, bytes: &dyn Fn(usize) -> u64) -> Option<usize> {
        let mut change = vec![0i128; groups + 1];
        for ((_, value), span) in self.buffers.range((side, 0)..=(side, usize::MAX)) {
            let bytes = i128::from(bytes(*value));
            *change.get_mut(span.first)? += bytes;
            *change.get_mut(span.last + 1)? -= bytes;
        }
        let mut held = 0;
        let mut fullest = None;
        for (position, change) in change[..groups].iter().enumerate() {
            held += change;
            if fullest.is_none_or(|(most, _)| held > most) {
                fullest = Some((held, position));
            }
        }
        fullest.map(|(_, position)| position)
    }

    fn bytes_at(&self, stage: &StageGraph, side: Side, position: usize) -> Expr {
        let buffers = self.buffers.range((side, 0)..=(side, usize::MAX));
        let held = buffers.filter(|(_, span)| (span.first..=span.last).contains(&position));
        Expr::sum(held.map(|((_, value), _)| &stage.values[*value].bytes))
    }

    /// The value that a group makes, or else brings, on a side.
    fn made_at(&self, stage: &StageGraph, side: Side, position: usize) -> Option<ValueId> {
        let written = stage.writes[position].first().copied();
        let is_here = |value: &usize| self.lies_in.contains_key(&(side, *value));
        let value = written
            .filter(is_here)
            .or_else(|| stage.reads[position].iter().copied().find(is_here));
        value.map(|value| stage.values[value].id)
    }
}
