//! What workers count, each for itself: no task waits for another to be counted.

use std::time::Instant;

use haul_ir::cost::Nanos;
use haul_ir::id::{IdVec, StageId};
use haul_ir::report::{Copies, StageReport};
use rayon::ThreadPool;

use crate::schedule::Start;
use crate::task::Done;

/// What a worker counted.
pub(crate) struct Tally {
    pub(crate) stages: IdVec<StageId, Counts>,
    /// When the last task ended.
    pub(crate) end: Nanos,
    /// The worker's thread as a pool, for as long as it works.
    _pool: Option<ThreadPool>,
}

/// Tasks of one stage that ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) tasks: u64,
    /// Those that another worker had made ready.
    pub(crate) stolen: u64,
    /// Those that an earlier run had computed.
    pub(crate) reused: u64,
    /// Their time added up.
    pub(crate) busy: Nanos,
    pub(crate) longest: Nanos,
    pub(crate) peak_memory: u64,
    pub(crate) peak_vram: u64,
    pub(crate) copies: Copies,
    /// How often their programs were started again.
    pub(crate) retries: u64,
}

impl Tally {
    /// Nothing, of so many stages.
    pub(crate) fn new(stages: usize, pool: Option<ThreadPool>) -> Self {
        Self {
            stages: IdVec::filled(Counts::default(), stages),
            end: 0,
            _pool: pool,
        }
    }

    /// Counts a task that took from `begin` to `end`.
    pub(crate) fn count(&mut self, start: &Start, begin: Nanos, end: Nanos, done: &Done) {
        let time = end.saturating_sub(begin);
        self.end = self.end.max(end);
        self.stages[start.task.stage].add(Counts {
            tasks: 1,
            stolen: u64::from(start.stolen_from.is_some()),
            reused: u64::from(done.is_reused),
            busy: time,
            longest: time,
            peak_memory: done.peak_memory,
            peak_vram: done.peak_vram,
            copies: done.copies,
            retries: done.retries,
        });
    }

    /// What all workers counted, of so many stages.
    pub(crate) fn sum(stages: usize, tallies: &[Self]) -> Self {
        let mut sum = Self::new(stages, None);
        for tally in tallies {
            sum.end = sum.end.max(tally.end);
            for (stage, counts) in tally.stages.entries() {
                sum.stages[stage].add(*counts);
            }
        }
        sum
    }
}

impl Counts {
    /// What a report says of them, computed on a device.
    pub(crate) fn report(self, device: String) -> StageReport {
        StageReport {
            tasks: self.tasks,
            stolen: self.stolen,
            reused: self.reused,
            busy: self.busy,
            longest: self.longest,
            peak_memory: self.peak_memory,
            peak_vram: self.peak_vram,
            copies: self.copies,
            retries: self.retries,
            device,
        }
    }

    fn add(&mut self, other: Self) {
        self.tasks += other.tasks;
        self.stolen += other.stolen;
        self.reused += other.reused;
        self.busy = self.busy.saturating_add(other.busy);
        self.longest = self.longest.max(other.longest);
        self.peak_memory = self.peak_memory.max(other.peak_memory);
        self.peak_vram = self.peak_vram.max(other.peak_vram);
        self.copies.add(&other.copies);
        self.retries += other.retries;
    }
}

/// Nanoseconds since a moment.
pub(crate) fn nanos(since: Instant) -> Nanos {
    Nanos::try_from(since.elapsed().as_nanos()).unwrap_or(Nanos::MAX)
}
