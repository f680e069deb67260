//! The part of a task that is on a GPU: its values there, and what crosses.

use std::collections::HashMap;
use std::time::Instant;

use haul_ir::id::ValueId;
use haul_ir::report::Copies;

use super::ahead::Copy;
use super::emulated::Emulated;
use super::{Device, GroupCall, Held, Task, fault};
use crate::error::RunError;
use crate::program::Step;
use crate::tally::nanos;
use crate::tensor::Data;

/// A task on a GPU.
pub(crate) struct OnGpu<'a> {
    device: &'a Emulated,
    task: Task<'a>,
    /// What was copied before the task started.
    ahead: HashMap<ValueId, Copy>,
    copies: Copies,
}

impl<'a> OnGpu<'a> {
    /// A task with at most `vram` bytes of the device's memory, on which it is predicted to hold
    /// some at most.
    pub(crate) fn new(
        device: &'a Emulated,
        host: &Task<'a>,
        vram: u64,
        predicted_peak: Option<u64>,
        ahead: Vec<Copy>,
    ) -> Self {
        Self {
            task: Task {
                graph: host.graph,
                gpu: Some(device.name()),
                account: device.account(vram),
                scalars: host.account.clone(),
                dims: host.dims.clone(),
                values: HashMap::new(),
                mapped: Vec::new(),
                stop: host.stop,
                folder: host.folder,
                retries: 0,
                predicted_peak,
            },
            ahead: ahead.into_iter().map(|copy| (copy.value, copy)).collect(),
            copies: Copies::default(),
            device,
        }
    }

    /// Brings what a step reads, runs it, and gives to the host what that needs of it.
    ///
    /// # Errors
    /// Memory is short, or the step fails.
    pub(crate) fn run(&mut self, step: &Step, host: &mut Task<'a>) -> Result<(), RunError> {
        for value in &step.uploads {
            let held = match host.values.get(value) {
                Some(Held::One(data)) => Held::One(self.upload(*value, data)?),
                Some(Held::Items(items)) => {
                    let items = items.iter().map(|data| self.upload(*value, data));
                    Held::Items(items.collect::<Result<_, _>>()?)
                }
                None => return Err(fault(format!("{value:?} is not there to be uploaded"))),
            };
            self.task.values.insert(*value, held);
        }
        let group = GroupCall {
            ops: &step.ops,
            leaving: &step.leaving,
        };
        std::mem::swap(&mut self.task.dims, &mut host.dims);
        let results = self.device.run(&group, &mut self.task);
        std::mem::swap(&mut self.task.dims, &mut host.dims);
        for (value, data) in step.leaving.iter().zip(results?) {
            if step.downloads.contains(value) {
                let data = self.download(*value, &data, host)?;
                host.values.insert(*value, Held::One(data));
            }
            self.task.values.insert(*value, Held::One(data));
        }
        Ok(())
    }

    /// Frees a value on the device.
    pub(crate) fn forget(&mut self, value: ValueId) {
        self.task.values.remove(&value);
    }

    /// What crossed, of a task that has ended, and the most that it held there.
    pub(crate) fn end(self) -> (Copies, u64) {
        self.device.record(&self.copies);
        let peak = self.task.account.peak();
        (self.copies, peak)
    }

    fn upload(&mut self, value: ValueId, data: &Data) -> Result<Data, RunError> {
        if let Some(copy) = self.ahead.remove(&value)
            && let Ok(hold) = self.task.account.hold(copy.data.bytes())
        {
            drop(hold); // There is room: it is charged as what the task holds itself.
            copy.data.move_to(&self.task.account);
            self.copies.h2d.count(copy.data.bytes(), copy.time);
            self.copies.ahead += 1;
            return Ok(copy.data);
        }
        let start = Instant::now();
        let copy = self.device.upload(value, data, &self.task)?;
        self.copies.h2d.count(copy.bytes(), nanos(start));
        Ok(copy)
    }

    fn download(&mut self, value: ValueId, data: &Data, host: &Task<'_>) -> Result<Data, RunError> {
        let start = Instant::now();
        let copy = self.device.download(value, data, host)?;
        self.copies.d2h.count(copy.bytes(), nanos(start));
        Ok(copy)
    }
}
