//! Which task runs next, and where: work stealing under grants. No threads and no clock are here:
//! whoever drives the lanes does so, on threads or on simulated time.
//!
//! A lane runs what it made ready last, since the data is warm, and of several the one with the
//! longest path to the end. One that has nothing takes the oldest of another lane. What cannot
//! have all it requests waits apart, so that a task whose resources are free never waits behind
//! one whose are not; it goes first, the longest path before others, when it fits.

mod grants;
mod simulate;
mod tasks;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crossbeam_deque::{Injector, Steal, Stealer, Worker};
use haul_ir::id::{CollectionId, IdVec, StageId};
use haul_ir::plan::Plan;

use self::grants::{Grants, News};
use self::tasks::{Ready, Tasks};
use crate::grant::{Grant, Ledger};

pub(crate) use self::grants::Refusal;
pub(crate) use self::simulate::{Simulated, simulate};
pub(crate) use self::tasks::{Outcome, TaskId};

/// The state of a run, which all lanes share.
pub(crate) struct Schedule {
    tasks: Tasks,
    grants: Mutex<Grants>,
    /// What was ready from the beginning and nobody took, the longest path first.
    sources: Injector<Ready>,
    others: Vec<Stealer<Ready>>,
    /// Whether all tasks have ended.
    is_over: AtomicBool,
}

/// What runs one task at a time.
pub(crate) struct Lane {
    pub(crate) index: usize,
    ready: Worker<Ready>,
    /// What it holds for its task.
    grant: Option<Grant>,
    /// What it has not told the others yet.
    news: News,
}

/// A task that starts now.
pub(crate) struct Start {
    pub(crate) task: TaskId,
    /// The lane that had it, where that is another one.
    pub(crate) stolen_from: Option<usize>,
    /// Whether another lane would find something to do.
    pub(crate) more: bool,
}

impl Schedule {
    /// All tasks of a plan, for collections of these widths, and lanes to run them.
    pub(crate) fn new(
        plan: &Plan,
        widths: &IdVec<CollectionId, usize>,
        ledger: Ledger,
        lanes: usize,
    ) -> (Self, Vec<Lane>) {
        let tasks = Tasks::new(plan, widths);
        let lanes: Vec<_> = (0..lanes.clamp(1, tasks.total().max(1)))
            .map(|index| Lane {
                index,
                ready: Worker::new_lifo(),
                grant: None,
                news: News::default(),
            })
            .collect();
        let schedule = Self {
            grants: Mutex::new(Grants::new(plan, &tasks, ledger, lanes.len())),
            sources: Injector::new(),
            others: lanes.iter().map(|lane| lane.ready.stealer()).collect(),
            is_over: AtomicBool::new(tasks.total() == 0),
            tasks,
        };
        let mut news = News::default();
        for ready in schedule.tasks.sources() {
            news.consumers += schedule.consumers(ready);
            schedule.sources.push(ready);
        }
        schedule.grants().settle(news);
        (schedule, lanes)
    }

    /// How many tasks a stage has.
    pub(crate) fn tasks(&self, stage: StageId) -> usize {
        self.tasks.count(stage)
    }

    /// Whether a lane has or finds something that is ready; it may still have to wait.
    pub(crate) fn has_ready(&self) -> bool {
        !self.sources.is_empty() || self.others.iter().any(|lane| !lane.is_empty())
    }

    /// Whether all tasks have ended.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Ends what a lane's last task held and starts its next one, while `stored` bytes are held
    /// between tasks. Tells of stages that were passed over. Nothing, where all that is ready has
    /// to wait for other lanes.
    pub(crate) fn next(
        &self,
        lane: &mut Lane,
        stored: u64,
        refused: &mut dyn FnMut(Refusal),
    ) -> Option<Start> {
        loop {
            let (candidate, stolen_from) = self.find(lane);
            let mut grants = self.settle(lane);
            let decision = grants.decide(lane.index, candidate, stored);
            drop(grants);
            decision.refusals.into_iter().for_each(&mut *refused);
            if let Some((ready, grant)) = decision.start {
                lane.grant = Some(grant);
                let is_found = candidate
                    .is_some_and(|found| found.stage == ready.stage && found.first == ready.first);
                return Some(Start {
                    task: self.tasks.task(ready.stage, lane.split(ready)),
                    stolen_from: stolen_from.filter(|_| is_found),
                    more: decision.more || !lane.ready.is_empty() || !self.sources.is_empty(),
                });
            }
            candidate?; // Nothing is left to try.
        }
    }

    /// Says how a lane's task ended, and tells what is skipped because of it. The lane holds the
    /// task's grant until it asks for the next.
    pub(crate) fn finish(
        &self,
        lane: &mut Lane,
        task: TaskId,
        outcome: Outcome,
        skipped: &mut dyn FnMut(TaskId),
    ) {
        lane.news.ended += 1;
        lane.news.consumers -= isize::from(self.tasks.consumes(task.stage));
        let mut skips = Vec::new();
        self.release(lane, task, outcome, &mut skips);
        while let Some(ready) = skips.pop() {
            for item in ready.first..ready.end {
                let task = self.tasks.task(ready.stage, item);
                skipped(task);
                lane.news.ended += 1;
                self.release(lane, task, Outcome::Skipped, &mut skips);
            }
        }
    }

    /// Takes back what a lane holds that ends.
    pub(crate) fn close(&self, mut lane: Lane) {
        drop(self.settle(&mut lane));
    }

    /// Takes back what a lane holds, and hears what it has to tell.
    fn settle(&self, lane: &mut Lane) -> MutexGuard<'_, Grants> {
        let mut grants = self.grants();
        grants.give_back(lane.index, lane.grant.take());
        if grants.settle(std::mem::take(&mut lane.news)) {
            self.is_over.store(true, Ordering::Release);
        }
        grants
    }

    fn release(&self, lane: &mut Lane, task: TaskId, outcome: Outcome, skips: &mut Vec<Ready>) {
        self.tasks
            .release(task, outcome, &mut |ready, outcome| match outcome {
                Outcome::Done => {
                    lane.news.consumers += self.consumers(ready);
                    lane.ready.push(ready);
                }
                Outcome::Skipped => skips.push(ready),
            });
    }

    /// How many tasks use stored values up.
    fn consumers(&self, ready: Ready) -> isize {
        match self.tasks.consumes(ready.stage) {
            true => ready.len().cast_signed(),
            false => 0,
        }
    }

    /// The newest of a lane's own, a source, or the oldest of another lane, which is named.
    fn find(&self, lane: &Lane) -> (Option<Ready>, Option<usize>) {
        if let Some(own) = lane.ready.pop() {
            return (Some(own), None);
        }
        if let Some(source) = steal(|| self.sources.steal()) {
            return (Some(source), None);
        }
        let lanes = self.others.len();
        for victim in (lane.index + 1..lane.index + lanes).map(|other| other % lanes) {
            if let Some(stolen) = steal(|| self.others[victim].steal()) {
                return (Some(stolen), Some(victim));
            }
        }
        (None, None)
    }

    fn grants(&self) -> MutexGuard<'_, Grants> {
        self.grants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lane {
    /// The GPUs that its task was granted, by position.
    pub(crate) fn gpus(&self) -> &[usize] {
        self.grant.as_ref().map_or(&[], Grant::devices)
    }

    /// Keeps all but the first item, in halves, the largest where thieves find it.
    fn split(&self, ready: Ready) -> usize {
        let Ready {
            stage,
            first,
            mut end,
        } = ready;
        while end - first > 1 {
            let middle = first + (end - first) / 2;
            self.ready.push(Ready {
                stage,
                first: middle,
                end,
            });
            end = middle;
        }
        first
    }
}

fn steal(mut from: impl FnMut() -> Steal<Ready>) -> Option<Ready> {
    loop {
        match from() {
            Steal::Success(ready) => return Some(ready),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
    }
}
