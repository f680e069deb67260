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
    /// Makes this thread a pool of its own, for the kernels that run on it.
    ///
    /// # Errors
    /// The thread is in a pool already.
    pub(crate) fn of_this_thread() -> Result<ThreadPool, RunError> {
        let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        pool.build()
            .map_err(|error| RunError::new(format!("cannot start a worker: {error}")))
    }

    /// Computes on exactly `threads` threads; a worker of [`Pools::of_this_thread`] is one itself.
    ///
    /// # Errors
    /// Those of `compute`, or it panics, or the operating system gives no threads.
    pub(crate) fn run<T: Send>(
        &self,
        threads: usize,
        compute: impl FnOnce() -> Result<T, RunError> + Send,
    ) -> Result<T, RunError> {
        if threads == 1
            && rayon::current_thread_index().is_some()
            && rayon::current_num_threads() == 1
        {
            return catch_panic(compute);
        }
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
        let result = pool.install(|| catch_panic(compute));
        self.idle().entry(threads).or_default().push(pool);
        result
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, HashMap<usize, Vec<ThreadPool>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Computes, and makes a panic an error.
///
/// # Errors
/// Those of `compute`, or it panics.
pub(crate) fn catch_panic<T>(compute: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    let result = catch_unwind(AssertUnwindSafe(compute));
    result.unwrap_or_else(|_| Err(fault("a kernel or a reader panicked".into())))
}
