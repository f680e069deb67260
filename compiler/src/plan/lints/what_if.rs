//! What a change saves of the whole run, by simulating it again.

use std::cell::{Cell, OnceCell};

use haul_ir::cost::Nanos;
use haul_ir::diagnostic::Saving;
use haul_ir::id::{Id, IdVec, StageId};
use haul_ir::plan::Estimates;

use crate::feasibility::slots;
use crate::plan::Context;
use crate::plan::choice::Choice;
use crate::plan::estimates::{planned_tasks, tasks_of};
use crate::simulate::{Tasks, price, simulate};

/// At most so many runs are simulated for savings, and of at most so many stages and waves of their
/// tasks together.
const MOST_RUNS: u64 = 64;
const MOST_WAVES: u64 = 1_000_000;

/// Of a stage of more tasks, several are simulated as one.
const MOST_TASKS: u64 = 1_000_000;

/// What a change saves of the whole run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Saved {
    Known(Saving),
    /// Numbers of tasks are unknown, or the change cannot be made.
    Unknown,
    /// Too much was simulated before.
    NotTried,
}

/// The planned run, to compare others with.
pub(super) struct WhatIf<'a> {
    context: &'a Context<'a>,
    choices: &'a IdVec<StageId, Choice>,
    planned: Option<(Nanos, Option<u64>)>,
    tasks: OnceCell<Option<Vec<Tasks>>>,
    runs_left: Cell<u64>,
    waves: OnceCell<u64>,
    waves_left: Cell<u64>,
    not_tried: Cell<u64>,
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
            waves: OnceCell::new(),
            waves_left: Cell::new(MOST_WAVES),
            not_tried: Cell::new(0),
        }
    }

    /// What it saves to place a stage otherwise.
    pub(super) fn saving(&self, change: impl FnOnce() -> Option<Choice>) -> Saved {
        self.try_saving(1, |planned, tasks| {
            let after = self.placed(tasks, &[&change()?])?;
            Some(difference(planned, self.run(&after)))
        })
    }

    /// What it saves to place several stages otherwise.
    pub(super) fn saving_of_all(&self, changed: &[&Choice]) -> Saved {
        self.try_saving(1, |planned, tasks| {
            let after = self.placed(tasks, changed)?;
            Some(difference(planned, self.run(&after)))
        })
    }

    /// What it saves to run all tasks in another way than planned.
    pub(super) fn saving_with(&self, change: impl FnOnce(&mut [Tasks])) -> Saved {
        self.try_saving(1, |planned, tasks| {
            let mut tasks = tasks.to_vec();
            change(&mut tasks);
            Some(difference(planned, self.run(&tasks)))
        })
    }

    /// What it saves to run all tasks in one way rather than in another, neither of them planned, and
    /// the makespan of the other.
    pub(super) fn saving_of(
        &self,
        before: impl FnOnce(&mut [Tasks]),
        after: impl FnOnce(&mut [Tasks]),
    ) -> (Saved, Nanos) {
        let mut makespan = 0;
        let saved = self.try_saving(2, |_, tasks| {
            let (mut old, mut new) = (tasks.to_vec(), tasks.to_vec());
            before(&mut old);
            after(&mut new);
            let old = self.run(&old);
            makespan = old.0;
            Some(difference(old, self.run(&new)))
        });
        (saved, makespan)
    }

    /// The saving that some more runs tell, with the planned one and its tasks.
    fn try_saving(
        &self,
        runs: u64,
        saving: impl FnOnce((Nanos, Option<u64>), &[Tasks]) -> Option<Saving>,
    ) -> Saved {
        let tasks = self
            .tasks
            .get_or_init(|| planned_tasks(self.context, self.choices));
        let (Some(planned), Some(tasks)) = (self.planned, tasks) else {
            return Saved::Unknown;
        };
        if !self.may_run(runs) {
            self.not_tried.set(self.not_tried.get() + 1);
            return Saved::NotTried;
        }
        saving(planned, tasks).map_or(Saved::Unknown, Saved::Known)
    }

    /// Whether so many runs may be simulated; counts them.
    fn may_run(&self, runs: u64) -> bool {
        let waves = *self.waves.get_or_init(|| self.waves());
        let runs_left = self.runs_left.get().checked_sub(runs);
        let waves_left = self.waves_left.get();
        let waves_left = waves_left.checked_sub(waves.saturating_mul(runs));
        let (Some(runs_left), Some(waves_left)) = (runs_left, waves_left) else {
            self.runs_left.set(0); // Nor is anything smaller simulated from here on.
            return false;
        };
        self.runs_left.set(runs_left);
        self.waves_left.set(waves_left);
        true
    }

    /// About how many batches of tasks a run starts.
    fn waves(&self) -> u64 {
        let waves = self.choices.iter().map(|choice| {
            let machine = choice.machine(self.context);
            let vram = choice.division.vram(machine);
            let slots = slots(machine.request, machine.node, machine.gpu, vram);
            let on_one = slots / u64::from(machine.node.count.max(1));
            let tasks = self.context.sizes.planned.eval(&choice.graph.tasks);
            let tasks = tasks.unwrap_or(1).min(MOST_TASKS);
            tasks.div_ceil(on_one.max(1)).saturating_add(1)
        });
        waves.fold(0, u64::saturating_add)
    }

    /// How many changes were asked about when too much was simulated before.
    pub(super) fn not_tried(&self) -> u64 {
        self.not_tried.get()
    }

    /// The planned tasks, with some stages placed otherwise.
    fn placed(&self, tasks: &[Tasks], changed: &[&Choice]) -> Option<Vec<Tasks>> {
        let mut tasks = tasks.to_vec();
        for choice in changed {
            let stage = choice.graph.stage;
            tasks[stage.index()] = tasks_of(self.context, stage, choice)?;
        }
        Some(tasks)
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
