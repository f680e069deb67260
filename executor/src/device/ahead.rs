//! What the next tasks of a device will read, copied to it while others compute.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use haul_ir::cost::Nanos;
use haul_ir::id::ValueId;

use crate::memory::Spare;
use crate::schedule::TaskId;
use crate::tensor::Data;

/// Values on a device by the task that will read them. They are given up when memory is short.
#[derive(Default)]
pub(crate) struct Ahead {
    tasks: Mutex<HashMap<TaskId, Vec<Copy>>>,
    unused: AtomicU64,
}

/// A value that was copied in advance.
pub(crate) struct Copy {
    pub(crate) value: ValueId,
    pub(crate) data: Data,
    /// How long that took.
    pub(crate) time: Nanos,
}

impl Ahead {
    /// Makes copies for a task, unless they are there; others wait meanwhile, since a device has
    /// one lane for copies. Drops those of tasks that started elsewhere.
    pub(crate) fn fill(
        &self,
        task: TaskId,
        has_started: &dyn Fn(TaskId) -> bool,
        copies: impl Iterator<Item = Copy>,
    ) {
        let mut tasks = self.tasks();
        let late: Vec<_> = tasks
            .keys()
            .copied()
            .filter(|task| has_started(*task))
            .collect();
        for late in late {
            self.count_unused(tasks.remove(&late));
        }
        if !has_started(task) && !tasks.contains_key(&task) {
            tasks.insert(task, copies.collect());
        }
    }

    /// The copies for a task that starts on this device.
    pub(crate) fn take(&self, task: TaskId) -> Vec<Copy> {
        self.tasks().remove(&task).unwrap_or_default()
    }

    /// How many values were copied in vain.
    pub(crate) fn unused(&self) -> u64 {
        self.unused.load(Ordering::Relaxed)
    }

    fn count_unused(&self, copies: impl IntoIterator<Item = Vec<Copy>>) {
        let unused: usize = copies.into_iter().map(|copies| copies.len()).sum();
        self.unused.fetch_add(unused as u64, Ordering::Relaxed);
    }

    fn tasks(&self) -> MutexGuard<'_, HashMap<TaskId, Vec<Copy>>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Spare for Ahead {
    fn give_up(&self) {
        let all = std::mem::take(&mut *self.tasks());
        self.count_unused(all.into_values());
    }
}
