//! Bars on a terminal: one for each stage that is at work or waits, below them one for all.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haul_compiler::render::units;
use haul_executor::{Event, Observer};
use haul_ir::cost::Nanos;
use haul_ir::id::StageId;
use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};

use super::left::Tasks;
use super::stages::Stages;

/// How often a bar is drawn anew while nothing finishes.
const TICK: Duration = Duration::from_millis(200);

pub(super) struct Live {
    bars: MultiProgress,
    /// When the run will end, counted from its start; the largest number where that is unknown.
    end: Arc<AtomicU64>,
    state: Mutex<State>,
}

struct State {
    stages: Stages,
    /// The bars that are shown.
    shown: HashMap<StageId, ProgressBar>,
    /// The bar of all stages, from the first event on.
    all: Option<ProgressBar>,
}

impl Live {
    pub(super) fn new(stages: Stages) -> Self {
        Self {
            bars: MultiProgress::new(),
            end: Arc::new(AtomicU64::new(u64::MAX)),
            state: Mutex::new(State {
                stages,
                shown: HashMap::new(),
                all: None,
            }),
        }
    }

    /// The bar of a stage; a new one where there is none.
    fn bar<'s>(&self, state: &'s mut State, stage: StageId) -> &'s ProgressBar {
        let tasks = state.stages.stage(stage).tasks;
        state.shown.entry(stage).or_insert_with(|| {
            let bar = ProgressBar::new(tasks.count).with_style(style(left_of(tasks)));
            let bar = self.bars.insert_from_back(1, bar);
            bar.enable_steady_tick(TICK);
            bar
        })
    }

    /// The bar below all others shows how many tasks of the run are done.
    fn all(&self, state: &mut State) {
        let (done, tasks) = state.stages.counts();
        let end = state.stages.end().unwrap_or(u64::MAX);
        self.end.store(end, Ordering::Relaxed);
        let all = state.all.get_or_insert_with(|| {
            let bar = ProgressBar::new(tasks).with_style(style(left_until(Arc::clone(&self.end))));
            let bar = self.bars.add(bar.with_message("the run"));
            bar.enable_steady_tick(TICK);
            bar
        });
        all.set_length(tasks);
        all.set_position(done);
    }

    fn started(&self, state: &mut State, stage: StageId) {
        let name = state.stages.stage(stage).name.clone();
        self.bar(state, stage).set_message(name);
    }

    fn ended(&self, state: &mut State, stage: StageId, at: Nanos) {
        self.bar(state, stage).inc(1);
        if state.stages.stage(stage).tasks.is_done() {
            if let Some(bar) = state.shown.remove(&stage) {
                bar.finish_and_clear();
            }
            // A terminal that is gone needs no progress.
            let _ = self.bars.println(state.stages.line(stage, at));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Live {
    fn event(&self, at: Nanos, event: &Event<'_>) {
        let state = &mut *self.state();
        state.stages.note(at, event);
        match *event {
            Event::Started { stage, .. } => self.started(state, stage),
            Event::Finished { stage, .. } | Event::Skipped { stage, .. } => {
                self.ended(state, stage, at);
            }
            Event::Waiting { stage, .. } => {
                let message = state.stages.wait(stage).unwrap_or_default();
                self.bar(state, stage).set_message(message);
            }
            Event::Tasks { .. }
            | Event::Bound { .. }
            | Event::Device { .. }
            | Event::Written { .. } => {}
        }
        self.all(state);
    }
}

/// Clears what is left when a run ends.
impl Drop for Live {
    fn drop(&mut self) {
        let state = self.state();
        for bar in state.shown.values().chain(&state.all) {
            bar.finish_and_clear();
        }
    }
}

/// A bar that tells how long something still takes; nothing where that is unknown.
fn style(
    left: impl Fn(&ProgressState) -> Option<Nanos> + Clone + Send + Sync + 'static,
) -> ProgressStyle {
    let template = "{bar:24} {pos}/{len} {elapsed} {rate:>9} {left:>8} left  {msg}";
    let rate = |state: &ProgressState, out: &mut dyn Write| {
        // An error here is one of the terminal.
        let _ = write!(out, "{:.2}/s", state.per_sec());
    };
    let left = move |state: &ProgressState, out: &mut dyn Write| {
        let left = left(state).map_or_else(|| "?".to_owned(), units::time);
        let _ = write!(out, "{left}");
    };
    let style = ProgressStyle::with_template(template).expect("a template of ours");
    style.with_key("rate", rate).with_key("left", left)
}

/// How long a stage still takes at its rate, and as predicted before it has one.
fn left_of(tasks: Tasks) -> impl Fn(&ProgressState) -> Option<Nanos> + Clone {
    move |state| {
        let elapsed = nanos(state.elapsed());
        let (done, count) = (state.pos(), state.len()?);
        let left = match done {
            0 => (tasks.predicted?.saturating_mul(count))
                .saturating_sub(elapsed)
                .into(),
            _ => u128::from(elapsed) * u128::from(count.saturating_sub(done)) / u128::from(done),
        };
        left.try_into().ok()
    }
}

/// How long it is until a moment of the run.
fn left_until(end: Arc<AtomicU64>) -> impl Fn(&ProgressState) -> Option<Nanos> + Clone {
    move |state| match end.load(Ordering::Relaxed) {
        u64::MAX => None,
        end => Some(end.saturating_sub(nanos(state.elapsed()))),
    }
}

fn nanos(time: Duration) -> Nanos {
    Nanos::try_from(time.as_nanos()).unwrap_or(Nanos::MAX)
}
