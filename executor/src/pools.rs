//! Thread pools of the widths that tasks are granted, kept for the next task of that width.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::device::fault;
use crate::error::RunError;

/// Pools that no task uses.
#[derive(Default)]
pub(crate) struct Pools {
    idle: Mutex<HashMap<usize, Vec<ThreadPool>>>,
}

impl Pools {
    /// Computes on exactly `threads` threads.
    ///
    /// # Errors
    /// Those of `compute`, or it panics, or the operating system gives no threads.
    pub(crate) fn run<T: Send>(
        &self,
        threads: usize,
        compute: impl FnOnce() -> Result<T, RunError> + Send,
    ) -> Result<T, RunError> {
        let idle = self.idle().get_mut(&threads).and_then(Vec::pop);
        let pool = match idle {
            Some(pool) => pool,
            None => ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(|index| format!("haul-compute-{index}"))
                .build()
                .map_err(|error| {
                    RunError::new(format!("cannot start {threads} threads: {error}"))
                })?,
        };
        let result = pool.install(|| catch_unwind(AssertUnwindSafe(compute)));
        self.idle().entry(threads).or_default().push(pool);
        result.unwrap_or_else(|_| Err(fault("a kernel or a reader panicked".into())))
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, HashMap<usize, Vec<ThreadPool>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
