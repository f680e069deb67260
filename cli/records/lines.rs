//! Events as JSON lines on stdout.

use std::sync::{Mutex, PoisonError};

use haul_compiler::events::{EventLine, RunEvent};
use haul_compiler::measured::Measured;
use haul_executor::{ErrorKind, Event, Observer, RunError};
use haul_ir::cost::Nanos;
use haul_ir::id::StageId;
use haul_ir::plan::Plan;

use crate::exit::Trouble;
use crate::terminal;

pub(super) struct Lines<'a> {
    plan: &'a Plan,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// When the last event was.
    last: Nanos,
    /// The first line that could not be written.
    trouble: Option<Trouble>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            state: Mutex::default(),
        }
    }

    /// Tells how the run ended.
    ///
    /// # Errors
    /// A line could not be written, this one or one before.
    pub(super) fn end(self, report: Result<&Measured, &RunError>) -> Result<(), Trouble> {
        let event = match report {
            Ok(report) => RunEvent::Report { report },
            Err(error) if error.kind == ErrorKind::Cancelled => RunEvent::Interrupted,
            Err(error) => RunEvent::Failed {
                message: error.to_string(),
            },
        };
        self.print(0, event);
        let state = self.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        state.trouble.map_or(Ok(()), Err)
    }

    /// Prints an event; none is before the one that was printed last.
    fn print(&self, at: Nanos, event: RunEvent<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.last = state.last.max(at);
        let line = EventLine {
            at: state.last,
            event,
        };
        if let Err(trouble) = terminal::print(&line.json()) {
            state.trouble.get_or_insert(trouble);
        }
    }

    fn name(&self, stage: StageId) -> &str {
        &self.plan.typed.graph().stages[stage].name
    }
}

impl Observer for Lines<'_> {
    fn event(&self, at: Nanos, event: &Event<'_>) {
        let event = match *event {
            Event::Tasks { stage, count } => RunEvent::Tasks {
                stage: self.name(stage),
                count,
            },
            Event::Device {
                name,
                vram,
                emulated,
            } => RunEvent::Device {
                device: name,
                vram,
                emulated,
            },
            Event::Bound { symbol, size, item } => RunEvent::Bound {
                symbol: symbol.name(),
                size,
                item,
            },
            Event::Waiting {
                stage,
                lacks,
                behind,
            } => RunEvent::Waiting {
                stage: self.name(stage),
                lacks,
                behind: behind.iter().map(|stage| self.name(*stage)).collect(),
            },
            Event::Started {
                stage,
                item,
                worker,
                stolen_from,
            } => RunEvent::Started {
                stage: self.name(stage),
                item,
                worker,
                stolen_from,
            },
            Event::Finished {
                stage,
                item,
                worker,
                start,
                time,
                peak_memory,
            } => RunEvent::Finished {
                stage: self.name(stage),
                item,
                worker,
                start,
                time,
                peak_memory,
            },
            Event::Skipped {
                stage,
                item,
                reason,
            } => RunEvent::Skipped {
                stage: self.name(stage),
                item,
                reason,
            },
            Event::Written { path, bytes } => RunEvent::Written { path, bytes },
        };
        self.print(at, event);
    }
}
