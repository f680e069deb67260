//! Bars on a terminal: one for each stage that is at work or waits.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use haul_executor::{Event, Observer};
use haul_ir::cost::Nanos;
use haul_ir::id::{IdVec, StageId};
use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};

use super::Stage;

/// How often a bar is drawn anew while nothing finishes.
const TICK: Duration = Duration::from_millis(200);

pub(super) struct Live {
    bars: MultiProgress,
    state: Mutex<State>,
}

struct State {
    stages: IdVec<StageId, Stage>,
    /// The bars that are shown.
    shown: HashMap<StageId, ProgressBar>,
}

impl Live {
    pub(super) fn new(stages: IdVec<StageId, Stage>) -> Self {
        let shown = HashMap::new();
        Self {
            bars: MultiProgress::new(),
            state: Mutex::new(State { stages, shown }),
        }
    }

    /// The bar of a stage; a new one where there is none.
    fn bar<'s>(&self, state: &'s mut State, stage: StageId) -> &'s ProgressBar {
        let tasks = state.stages[stage].tasks as u64;
        state.shown.entry(stage).or_insert_with(|| {
            let bar = self.bars.add(ProgressBar::new(tasks).with_style(style()));
            bar.enable_steady_tick(TICK);
            bar
        })
    }

    fn started(&self, state: &mut State, stage: StageId) {
        state.stages[stage].start();
        let name = state.stages[stage].name.clone();
        self.bar(state, stage).set_message(name);
    }

    fn finished(&self, state: &mut State, stage: StageId) {
        state.stages[stage].done += 1;
        self.bar(state, stage).inc(1);
        if state.stages[stage].is_done() {
            if let Some(bar) = state.shown.remove(&stage) {
                bar.finish_and_clear();
            }
            let line = state.stages[stage].line();
            // A terminal that is gone needs no progress.
            let _ = self.bars.println(line.trim_end());
        }
    }

    fn waiting(&self, state: &mut State, stage: StageId, lacks: &str, behind: &[StageId]) {
        let behind: Vec<_> = behind.iter().map(|id| &*state.stages[*id].name).collect();
        let behind = match behind.len() {
            0 => String::new(),
            _ => format!(" behind {}", behind.join(", ")),
        };
        let message = format!("{} waits for {lacks}{behind}", state.stages[stage].name);
        self.bar(state, stage).set_message(message);
    }
}

impl Observer for Live {
    fn event(&self, _: Nanos, event: &Event<'_>) {
        let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Tasks { stage, count } => state.stages[*stage].tasks = *count,
            Event::Started { stage, .. } => self.started(state, *stage),
            Event::Finished { stage, .. } => self.finished(state, *stage),
            Event::Waiting {
                stage,
                lacks,
                behind,
            } => self.waiting(state, *stage, lacks, behind),
            Event::Bound { .. } | Event::Written { .. } => {}
        }
    }
}

/// Clears what is left when a run ends early.
impl Drop for Live {
    fn drop(&mut self) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for bar in state.shown.values() {
            bar.finish_and_clear();
        }
    }
}

fn style() -> ProgressStyle {
    let template = "{bar:24} {pos}/{len} {elapsed} {rate:>9} {eta:>4} left  {msg}";
    let rate = |state: &ProgressState, out: &mut dyn Write| {
        // An error here is one of the terminal.
        let _ = write!(out, "{:.2}/s", state.per_sec());
    };
    let style = ProgressStyle::with_template(template).expect("a template of ours");
    style.with_key("rate", rate)
}
