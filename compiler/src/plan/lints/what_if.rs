//! What a change saves of the whole run, by simulating it again.

use std::cell::{Cell, OnceCell};

use haul_ir::cost::Nanos;
use haul_ir::diagnostic::Saving;
use haul_ir::id::{Id, IdVec, StageId};
use haul_ir::plan::Estimates;

use crate::plan::Context;
use crate::plan::choice::Choice;
use crate::plan::estimates::{planned_tasks, price, tasks_of};
use crate::simulate::{Tasks, simulate};

/// At most so many runs are simulated for savings, and of at most so many stages and tasks
/// together: the rest is said without a saving.
const MOST_RUNS: u64 = 64;
const MOST_TASKS: u64 = 1_000_000;

/// The planned run, to compare others with.
pub(super) struct WhatIf<'a> {
    context: &'a Context<'a>,
    choices: &'a IdVec<StageId, Choice>,
    planned: Option<(Nanos, Option<u64>)>,
    tasks: OnceCell<Option<Vec<Tasks>>>,
    runs_left: Cell<u64>,
    tasks_left: Cell<u64>,
}

impl<'a> WhatIf<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        choices: &'a IdVec<StageId, Choice>,
        estimates: &Estimates,
    ) -> Self {
        Self {
            context,
            choices,
            planned: estimates
                .makespan
                .map(|makespan| (makespan, estimates.nano_usd)),
            tasks: OnceCell::new(),
            runs_left: Cell::new(MOST_RUNS),
            tasks_left: Cell::new(MOST_TASKS),
        }
    }

    /// What it saves to place a stage otherwise; nothing where that is unknown, or too much was
    /// simulated before.
    pub(super) fn saving(
        &self,
        change: impl FnOnce() -> Option<(StageId, Choice)>,
    ) -> Option<Saving> {
        let planned = self.planned?;
        let mut tasks = self.tasks()?;
        let (stage, choice) = change()?;
        tasks[stage.index()] = tasks_of(self.context, stage, &choice)?;
        Some(difference(planned, self.run(&tasks)))
    }

    /// What it saves to run all tasks in another way: both ways are simulated.
    pub(super) fn saving_of(
        &self,
        before: impl FnOnce(&mut [Tasks]),
        after: impl FnOnce(&mut [Tasks]),
    ) -> Option<Saving> {
        let mut tasks = self.tasks()?;
        before(&mut tasks);
        let planned = self.run(&tasks);
        let mut tasks = self.tasks()?;
        after(&mut tasks);
        Some(difference(planned, self.run(&tasks)))
    }

    /// The tasks of the planned run, where they may be simulated once more.
    fn tasks(&self) -> Option<Vec<Tasks>> {
        let runs = self.runs_left.get().checked_sub(1)?;
        let tasks = self
            .tasks
            .get_or_init(|| planned_tasks(self.context, self.choices));
        let tasks = tasks.as_ref()?;
        let count = |tasks: &Tasks| tasks.count.saturating_add(1);
        let count = tasks.iter().map(count).fold(0, u64::saturating_add);
        match self.tasks_left.get().checked_sub(count) {
            Some(left) => self.tasks_left.set(left),
            None => {
                self.runs_left.set(0);
                return None;
            }
        }
        self.runs_left.set(runs);
        Some(tasks.clone())
    }

    fn run(&self, tasks: &[Tasks]) -> (Nanos, Option<u64>) {
        let schedule = simulate(tasks, self.context.target);
        (schedule.makespan, price(self.context.target, &schedule))
    }
}

fn difference(before: (Nanos, Option<u64>), after: (Nanos, Option<u64>)) -> Saving {
    let less = |before: u64, after: u64| {
        let less = i128::from(before) - i128::from(after);
        // Differences of two u64 are at most twice as long as what i64 holds.
        i64::try_from(less).unwrap_or(if less < 0 { i64::MIN } else { i64::MAX })
    };
    Saving {
        time: less(before.0, after.0),
        nano_usd: before
            .1
            .zip(after.1)
            .map(|(before, after)| less(before, after)),
    }
}
