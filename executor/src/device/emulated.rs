//! GPUs that are not there. Each has a memory of its own, as large as its type has, to which values
//! are copied and from which they are copied back; the kernels of CPUs compute in it, on the cpus
//! of the task. What runs there proves nothing of a GPU's speed, and is told as emulated.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haul_ir::id::ValueId;
use haul_ir::report::{Copies, DeviceReport};
use haul_ir::target::Gpu;

use super::ahead::Ahead;
use super::cpu::Cpu;
use super::{Device, GroupCall, Task, fault};
use crate::error::RunError;
use crate::memory::{Account, Buffer, Memory, Shortage};
use crate::strided;
use crate::tensor::{Data, Tensor};

/// A GPU that is emulated in the memory of this machine.
pub(crate) struct Emulated {
    name: String,
    vram: u64,
    memory: Arc<Memory>,
    cpu: Cpu,
    ahead: Arc<Ahead>,
    /// Pays for what is copied in advance.
    spare: Arc<Account>,
    done: Mutex<(u64, Copies)>,
}

impl Emulated {
    pub(crate) fn new(gpu: &Gpu, machine: &Arc<Memory>) -> Self {
        let ahead = Arc::new(Ahead::default());
        let memory = Memory::device(machine, gpu.vram);
        let weak = Arc::downgrade(&ahead);
        memory.add_spare(weak);
        let name = emulated(gpu);
        Self {
            spare: memory.account(u64::MAX),
            cpu: Cpu::new(name.clone()),
            done: Mutex::default(),
            name,
            vram: gpu.vram,
            memory,
            ahead,
        }
    }

    /// An account in its memory that can hold at most `limit` bytes.
    pub(crate) fn account(&self, limit: u64) -> Arc<Account> {
        self.memory.account(limit)
    }

    /// What was copied, and will be, for tasks that have yet to start.
    pub(crate) fn ahead(&self) -> &Ahead {
        &self.ahead
    }

    /// A copy of a value in memory that nobody else needs now.
    pub(crate) fn copy_ahead(&self, data: &Data) -> Option<Data> {
        let Data::Tensor(tensor) = data else {
            return None;
        };
        let allocate = |bytes| self.spare.allocate_of_free(bytes);
        copy(tensor, allocate).ok()
    }

    /// Counts what a task copied that has ended.
    pub(crate) fn record(&self, copies: &Copies) {
        let mut done = self.done();
        done.0 += 1;
        done.1.add(copies);
    }

    /// What it did so far.
    pub(crate) fn report(&self) -> DeviceReport {
        let done = self.done();
        DeviceReport {
            name: self.name.clone(),
            emulated: true,
            vram: self.vram,
            peak_vram: self.memory.peak(),
            tasks: done.0,
            copies: done.1,
            unused: self.ahead.unused(),
        }
    }

    fn done(&self) -> MutexGuard<'_, (u64, Copies)> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an emulated GPU is called wherever it is told of.
pub(crate) fn emulated(gpu: &Gpu) -> String {
    format!("emulated {}", gpu.name)
}

impl Device for Emulated {
    fn name(&self) -> &str {
        &self.name
    }

    fn upload(&self, value: ValueId, data: &Data, task: &Task<'_>) -> Result<Data, RunError> {
        copy_to(task, value, data)
    }

    fn download(&self, value: ValueId, data: &Data, host: &Task<'_>) -> Result<Data, RunError> {
        copy_to(host, value, data)
    }

    fn run(&self, group: &GroupCall<'_>, task: &mut Task<'_>) -> Result<Vec<Data>, RunError> {
        self.cpu.run(group, task)
    }
}

fn copy_to(task: &Task<'_>, value: ValueId, data: &Data) -> Result<Data, RunError> {
    let Data::Tensor(tensor) = data else {
        return Err(fault(format!("{value:?} is {data} and crosses to a GPU")));
    };
    copy(tensor, |bytes| task.account.allocate(bytes))
        .map_err(|shortage| task.shortage(&task.graph.values[value].name, shortage))
}

/// A copy without gaps.
fn copy(
    tensor: &Tensor,
    allocate: impl FnOnce(usize) -> Result<Buffer, Shortage>,
) -> Result<Data, Shortage> {
    let shape = &tensor.layout.shape;
    let bytes = tensor.layout.elements() * tensor.dtype.size() as usize;
    let mut buffer = allocate(bytes)?;
    strided::copy(&tensor.view(), buffer.bytes_mut());
    Ok(Data::Tensor(Tensor::contiguous(
        tensor.dtype,
        shape,
        buffer,
    )))
}
