//! The GPUs of a run, and which task a stage will likely run next on each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use haul_ir::id::{CollectionId, IdVec, StageId};
use haul_ir::plan::Plan;
use haul_ir::report::DeviceReport;

use super::emulated::Emulated;
use crate::grant::{self, Ledger};
use crate::machine::EmulatedGpu;
use crate::memory::{Memory, Spare};
use crate::program::Program;
use crate::schedule::TaskId;

/// The GPUs of a run.
pub(crate) struct Gpus {
    devices: Vec<Emulated>,
    /// Of stages that compute on a GPU, for each item of a collection.
    stages: IdVec<StageId, Option<Items>>,
}

/// The items of a stage.
struct Items {
    /// How many of its tasks there is room for at once.
    at_once: usize,
    has_started: Vec<AtomicBool>,
    /// The item that started last.
    last: AtomicUsize,
}

/// How many items are looked at to find the next.
const LOOKS: usize = 64;

impl Gpus {
    /// Devices in the memory of the machine, which the ledger knows by the same positions.
    pub(crate) fn new(
        devices: &[EmulatedGpu],
        memory: &Arc<Memory>,
        ledger: &Ledger,
        (plan, programs): (&Plan, &IdVec<StageId, Program>),
        widths: &IdVec<CollectionId, usize>,
    ) -> Self {
        let stages = plan.typed.graph().stages.entries().map(|(id, stage)| {
            let width = widths[stage.each.filter(|_| programs[id].uses_gpu())?];
            Some(Items {
                at_once: ledger.at_once(&grant::request(plan, id), width),
                has_started: (0..width).map(|_| AtomicBool::new(false)).collect(),
                last: AtomicUsize::new(0),
            })
        });
        let devices = devices.iter();
        Self {
            devices: devices
                .map(|device| Emulated::new(&device.gpu, memory))
                .collect(),
            stages: stages.collect(),
        }
    }

    /// The one of those that a task was granted on which it computes: ops do not divide over
    /// several.
    pub(crate) fn first(&self, granted: &[usize]) -> Option<&Emulated> {
        self.devices.get(*granted.first()?)
    }

    /// A task starts: whatever is copied in advance is not for it.
    pub(crate) fn start(&self, task: TaskId) {
        if let Some(has_started) = self.item(task) {
            has_started.store(true, Ordering::SeqCst);
        }
    }

    pub(crate) fn has_started(&self, task: TaskId) -> bool {
        let item = self.item(task);
        item.is_none_or(|has_started| has_started.load(Ordering::SeqCst))
    }

    /// The task that will likely follow on the device of one that starts.
    pub(crate) fn next_after(&self, task: TaskId) -> Option<TaskId> {
        let items = self.stages[task.stage].as_ref()?;
        let item = Some(items.next_after(task.item?)?);
        Some(TaskId { item, ..task })
    }

    /// What each device has and did so far.
    pub(crate) fn reports(&self) -> impl Iterator<Item = DeviceReport> {
        self.devices.iter().map(Emulated::report)
    }

    /// What each device did, at the end of a run.
    pub(crate) fn end(&self) -> Vec<DeviceReport> {
        for device in &self.devices {
            device.ahead().give_up();
        }
        self.reports().collect()
    }

    fn item(&self, task: TaskId) -> Option<&AtomicBool> {
        let items = self.stages[task.stage].as_ref()?;
        items.has_started.get(task.item?)
    }
}

impl Items {
    /// Items go up or down, and those that run now end before this one does: each of them goes on
    /// with one that has not started.
    fn next_after(&self, item: usize) -> Option<usize> {
        let goes_down = self.last.swap(item, Ordering::SeqCst) > item;
        let is_yet_to_start = |item: &usize| !self.has_started[*item].load(Ordering::SeqCst);
        let others = self.at_once.saturating_sub(1);
        let looks = LOOKS + others;
        match goes_down {
            true => (0..item)
                .rev()
                .take(looks)
                .filter(is_yet_to_start)
                .nth(others),
            false => {
                let items = item + 1..self.has_started.len();
                items.take(looks).filter(is_yet_to_start).nth(others)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(count: usize, at_once: usize, started: &[usize]) -> Items {
        Items {
            at_once,
            has_started: (0..count)
                .map(|item| AtomicBool::new(started.contains(&item)))
                .collect(),
            last: AtomicUsize::new(started.last().copied().unwrap_or(0)),
        }
    }

    #[test]
    fn items_that_others_go_on_with_are_left_to_them() {
        // Three run: 2 starts last, so that 3 and 4 go to the others.
        assert_eq!(items(9, 3, &[0, 1]).next_after(2), Some(5));
        // Down: 6 starts after 7.
        assert_eq!(items(9, 2, &[8, 7]).next_after(6), Some(4));
        assert_eq!(items(9, 1, &[6, 7]).next_after(8), None);
        assert_eq!(items(9, 1, &[5, 3, 4]).next_after(2), Some(1));
    }
}
