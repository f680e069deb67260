//! The schedule on simulated time, on one thread: a seed repeats a run exactly.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use haul_ir::cost::Nanos;
use haul_ir::philox;

use super::{Lane, Outcome, Refusal, Schedule, Start, TaskId};

/// What tasks do on simulated time.
pub(crate) trait Simulated {
    /// Bytes that are held between tasks.
    fn stored(&mut self) -> u64;

    /// A task starts on a lane; tells how long it takes.
    fn start(&mut self, at: Nanos, lane: &Lane, start: Start) -> Nanos;

    /// A task ends; nothing, where it fails and no other is to start.
    fn end(&mut self, at: Nanos, lane: &Lane, task: TaskId) -> Option<Outcome>;

    /// A stage has to wait.
    fn refused(&mut self, at: Nanos, refusal: &Refusal);

    /// A task will not run, because what it reads was not made.
    fn skipped(&mut self, at: Nanos, task: TaskId);
}

/// Runs the lanes in simulated time; tells when the last task ended. The seed decides which of
/// the lanes that have nothing to do looks first.
pub(crate) fn simulate(
    schedule: &Schedule,
    mut lanes: Vec<Lane>,
    seed: u64,
    work: &mut dyn Simulated,
) -> Nanos {
    let mut random = Random { seed, drawn: 0 };
    let mut idle: Vec<usize> = (0..lanes.len()).collect();
    let mut running: BinaryHeap<Reverse<(Nanos, usize, TaskId)>> = BinaryHeap::new();
    let mut stopped = false;
    let mut now = 0;
    loop {
        random.shuffle(&mut idle);
        let mut starts = |lane: &usize| {
            let lane = &mut lanes[*lane];
            let stored = work.stored();
            let refused = &mut |refusal| work.refused(now, &refusal);
            let Some(start) = schedule.next(lane, stored, refused) else {
                return false;
            };
            let task = start.task;
            let time = work.start(now, lane, start);
            running.push(Reverse((now.saturating_add(time), lane.index, task)));
            true
        };
        // One that starts may leave something for those that found nothing before it.
        while !stopped && let Some(at) = idle.iter().position(&mut starts) {
            idle.swap_remove(at);
        }
        let Some(Reverse((end, lane, task))) = running.pop() else {
            lanes.into_iter().for_each(|lane| schedule.close(lane));
            return now;
        };
        now = end;
        idle.push(lane);
        let lane = &mut lanes[lane];
        match work.end(now, lane, task) {
            Some(outcome) => {
                let skipped = &mut |task| work.skipped(now, task);
                schedule.finish(lane, task, outcome, skipped);
            }
            None => stopped = true,
        }
    }
}

/// Numbers of a seed.
struct Random {
    seed: u64,
    drawn: u64,
}

impl Random {
    /// A number below `bound`, which is not 0.
    fn below(&mut self, bound: usize) -> usize {
        let [low, high, ..] = philox::block(self.seed, self.drawn);
        self.drawn += 1;
        let word = u64::from(high) << 32 | u64::from(low);
        (word % bound as u64) as usize
    }

    fn shuffle(&mut self, items: &mut [usize]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
