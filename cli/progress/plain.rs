//! Lines for logs: one when a stage ends, now and then one in between, and how far all is where
//! nothing else was said for a while.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use haul_executor::{Event, Observer};
use haul_ir::cost::Nanos;

use super::stages::Stages;
use crate::terminal;

/// Lines of stages that go on come at most this often.
const EVERY: Duration = Duration::from_secs(1);

/// So long nothing is said at most.
const QUIET: Duration = Duration::from_secs(10);

pub(super) struct Plain {
    state: Arc<Mutex<State>>,
    /// Tells how far all is; ends when the channel to it closes.
    teller: Option<(Sender<()>, JoinHandle<()>)>,
}

struct State {
    stages: Stages,
    /// The last event, and when it was.
    last: (Nanos, Instant),
    /// When something was said.
    said: Instant,
}

impl Plain {
    pub(super) fn new(stages: Stages) -> Self {
        let now = Instant::now();
        let state = Arc::new(Mutex::new(State {
            stages,
            last: (0, now),
            said: now,
        }));
        let (close, closed) = mpsc::channel();
        let told = Arc::clone(&state);
        let teller = move || {
            while closed.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                lock(&told).tell_if_quiet();
            }
        };
        // Without a thread there is less progress, and nothing else.
        let thread = thread::Builder::new().spawn(teller);
        Self {
            state,
            teller: thread.ok().map(|thread| (close, thread)),
        }
    }
}

impl Observer for Plain {
    fn event(&self, at: Nanos, event: &Event<'_>) {
        let mut state = lock(&self.state);
        state.last = (at, Instant::now());
        state.stages.note(at, event);
        if let Event::Finished { stage, .. } | Event::Skipped { stage, .. } = *event {
            let is_done = state.stages.stage(stage).tasks.is_done();
            if is_done || state.said.elapsed() >= EVERY {
                state.said = Instant::now();
                terminal::tell(&(state.stages.line(stage, at) + "\n"));
            }
        }
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        if let Some((close, thread)) = self.teller.take() {
            drop(close);
            // Had it panicked, there would be less progress, and nothing else.
            let _ = thread.join();
        }
    }
}

impl State {
    fn tell_if_quiet(&mut self) {
        if self.said.elapsed() < QUIET {
            return;
        }
        let (at, then) = self.last;
        let since = Nanos::try_from(then.elapsed().as_nanos()).unwrap_or(Nanos::MAX);
        self.said = Instant::now();
        terminal::tell(&self.stages.lines(at.saturating_add(since)));
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
