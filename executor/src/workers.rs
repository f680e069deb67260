//! Threads that run the lanes of a schedule.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crossbeam_utils::Backoff;

use crate::schedule::{Lane, Outcome, Refusal, Schedule, Start, TaskId};

/// What the tasks of a schedule do.
pub(crate) trait Work: Sync {
    /// What a worker counts for itself.
    type Tally: Send;

    /// A worker begins, on its thread.
    fn begin(&self) -> Self::Tally;

    /// Whether no task is to start any more.
    fn is_stopped(&self) -> bool;

    /// Bytes that are held between tasks.
    fn stored(&self) -> u64;

    /// Runs a task; nothing, where it failed and the run ends.
    fn run(&self, lane: &Lane, start: &Start, tally: &mut Self::Tally) -> Option<Outcome>;

    /// A stage has to wait.
    fn refused(&self, refusal: &Refusal);

    /// A task will not run, because what it reads was not made.
    fn skipped(&self, task: TaskId);
}

/// Runs each lane on a thread of its own, until all tasks have ended or the work is stopped.
/// Ends as well when none can start, which would be a mistake of the schedule.
pub(crate) fn run<W: Work>(schedule: &Schedule, lanes: Vec<Lane>, work: &W) -> Vec<W::Tally> {
    let workers = Workers {
        schedule,
        work,
        count: lanes.len(),
        idle: AtomicUsize::new(0),
        epoch: AtomicU64::new(0),
        asleep: AtomicUsize::new(0),
        sleep: Mutex::default(),
        wake: Condvar::new(),
    };
    let workers = &workers;
    thread::scope(|scope| {
        let threads: Vec<_> = lanes
            .into_iter()
            .map(|lane| scope.spawn(move || workers.run(lane)))
            .collect();
        let tallies = threads.into_iter().map(thread::ScopedJoinHandle::join);
        // A panic that no task caught goes on here.
        tallies
            .map(|tally| tally.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

struct Workers<'a, W> {
    schedule: &'a Schedule,
    work: &'a W,
    count: usize,
    /// Workers that look for something to do, or sleep.
    idle: AtomicUsize,
    /// Counts when there was more to do than its finder could.
    epoch: AtomicU64,
    /// Those that sleep.
    asleep: AtomicUsize,
    sleep: Mutex<Sleep>,
    wake: Condvar,
}

#[derive(Default)]
struct Sleep {
    /// Sleepers that were told to wake and have not yet.
    woken: usize,
    is_over: bool,
}

impl<W: Work> Workers<'_, W> {
    fn run(&self, mut lane: Lane) -> W::Tally {
        let _end = EndOnPanic(self);
        let mut tally = self.work.begin();
        while let Some(start) = self.next(&mut lane) {
            if start.more {
                self.wake_one();
            }
            if let Some(outcome) = self.work.run(&lane, &start, &mut tally) {
                let skipped = &mut |task| self.work.skipped(task);
                self.schedule
                    .finish(&mut lane, start.task, outcome, skipped);
            }
        }
        self.end();
        self.schedule.close(lane);
        tally
    }

    /// The lane's next task, for which it may have to wait; nothing, when the run is over.
    fn next(&self, lane: &mut Lane) -> Option<Start> {
        if self.is_over() {
            return None;
        }
        if let Some(start) = self.try_next(lane) {
            return Some(start);
        }
        self.idle.fetch_add(1, Ordering::SeqCst);
        let start = self.wait(lane);
        self.idle.fetch_sub(1, Ordering::SeqCst);
        start
    }

    fn wait(&self, lane: &mut Lane) -> Option<Start> {
        loop {
            // Whoever makes more ready after this look counts the epoch on, or takes it itself.
            let epoch = self.epoch.load(Ordering::SeqCst);
            if self.is_over() {
                return None;
            }
            if let Some(start) = self.try_next(lane) {
                return Some(start);
            }
            // Short tasks of others soon make something ready; sleep costs more than they take.
            let backoff = Backoff::new();
            let is_news =
                || self.epoch.load(Ordering::SeqCst) != epoch || self.schedule.has_ready();
            while !is_news() && !backoff.is_completed() {
                backoff.snooze();
            }
            if !is_news() && !self.sleep(epoch) {
                return None;
            }
        }
    }

    fn try_next(&self, lane: &mut Lane) -> Option<Start> {
        let refused = &mut |refusal| self.work.refused(&refusal);
        self.schedule.next(lane, self.work.stored(), refused)
    }

    fn is_over(&self) -> bool {
        self.work.is_stopped() || self.schedule.is_over()
    }

    /// Sleeps until there is more to do than there was at an epoch; whether the run goes on.
    fn sleep(&self, epoch: u64) -> bool {
        let mut sleep = self.state();
        let asleep = self.asleep.fetch_add(1, Ordering::SeqCst) + 1;
        if self.epoch.load(Ordering::SeqCst) == epoch {
            if asleep == self.count && sleep.woken == 0 {
                sleep.is_over = true; // Nobody is left to wake another.
                self.wake.notify_all();
            }
            while !sleep.is_over && sleep.woken == 0 {
                sleep = self
                    .wake
                    .wait(sleep)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            sleep.woken = sleep.woken.saturating_sub(1);
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
        !sleep.is_over
    }

    fn wake_one(&self) {
        // What was made ready is seen by those whom this does not see idle.
        fence(Ordering::SeqCst);
        if self.idle.load(Ordering::SeqCst) == 0 {
            return;
        }
        self.epoch.fetch_add(1, Ordering::SeqCst);
        // Whoever falls asleep after this look sees the epoch before it does.
        if self.asleep.load(Ordering::SeqCst) == 0 {
            return;
        }
        let mut sleep = self.state();
        if self.asleep.load(Ordering::SeqCst) > sleep.woken {
            sleep.woken += 1;
            self.wake.notify_one();
        }
    }

    fn end(&self) {
        self.state().is_over = true;
        self.wake.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, Sleep> {
        self.sleep.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets the others end when a worker panics outside of a task.
struct EndOnPanic<'a, 'b, W: Work>(&'a Workers<'b, W>);

impl<W: Work> Drop for EndOnPanic<'_, '_, W> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end();
        }
    }
}
