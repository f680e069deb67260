//! Tasks that compute on a GPU.

use std::thread;
use std::time::Instant;

use haul_ir::id::StageId;

use super::Context;
use crate::device::ahead::Copy;
use crate::device::emulated::{Emulated, emulated};
use crate::device::on_gpu::OnGpu;
use crate::device::{Task, fault};
use crate::error::RunError;
use crate::program::Read;
use crate::schedule::TaskId;
use crate::tally::nanos;

impl Context<'_> {
    /// The device on which a stage computes, as it names itself.
    pub(crate) fn device_of(&self, stage: StageId) -> String {
        let planned = &self.plan.stages[stage];
        let gpu = planned.gpu.filter(|_| self.programs[stage].uses_gpu());
        let gpu = gpu.map(|gpu| &self.plan.target.nodes[planned.node].gpus[gpu]);
        gpu.map_or_else(|| self.device.name().to_owned(), emulated)
    }

    /// The part of a task on the GPU that it was granted, where it computes on one.
    pub(super) fn on_gpu<'a>(
        &'a self,
        id: TaskId,
        granted: &[usize],
        host: &Task<'a>,
    ) -> Result<Option<OnGpu<'a>>, RunError> {
        let planned = &self.plan.stages[id.stage];
        if !self.programs[id.stage].uses_gpu() {
            return Ok(None);
        }
        let device = self.gpus.first(granted);
        let device = device.ok_or_else(|| fault("a task on a GPU was granted none".into()))?;
        let requests = &self.plan.typed.graph().stages[id.stage].requests;
        let vram = planned.request(requests).vram.unwrap_or(u64::MAX);
        let predicted = host.dims.evaluate(&planned.peak_vram).ok();
        let predicted = predicted.and_then(|bytes| u64::try_from(bytes).ok());
        let ahead = device.ahead().take(id);
        Ok(Some(OnGpu::new(device, host, vram, predicted, ahead)))
    }

    /// Computes, while the device copies what the next task on it will read. One that finds
    /// nothing copied copies for itself.
    pub(super) fn beside_copies<T>(
        &self,
        id: TaskId,
        granted: &[usize],
        compute: impl FnOnce() -> T,
    ) -> T {
        let next = self.gpus.next_after(id).zip(self.gpus.first(granted));
        let Some((next, device)) = next else {
            return compute();
        };
        thread::scope(|scope| {
            let lane = thread::Builder::new().name("haul-copy".to_owned());
            let copies = lane.spawn_scoped(scope, || self.copy_ahead(next, device));
            let computed = compute();
            drop(copies);
            computed
        })
    }

    fn copy_ahead(&self, next: TaskId, device: &Emulated) {
        let Some(item) = next.item else { return };
        let has_started = |task| self.gpus.has_started(task);
        let dims = self.dims(next);
        let program = &self.programs[next.stage];
        let of_item = program.reads.iter().filter_map(|read| match read {
            Read::One(value) => Some(*value),
            Read::Items(_) => None,
        });
        let graph = self.plan.typed.graph();
        let uploads = of_item.filter(|value| {
            graph.values[*value].over.is_some()
                && program
                    .steps
                    .iter()
                    .any(|step| step.uploads.contains(value))
        });
        let found = uploads.map(|value| {
            let data = self.store.peek(value, item, &dims);
            data.map(|data| (value, data))
        });
        let Some(found) = found.collect::<Option<Vec<_>>>() else {
            return;
        };
        let copies = found.iter().map_while(|(value, data)| {
            let start = Instant::now();
            let data = device.copy_ahead(data)?;
            Some(Copy {
                value: *value,
                data,
                time: nanos(start),
            })
        });
        device.ahead().fill(next, &has_started, copies);
    }
}
