//! This machine: what a run may use of it.

use haul_ir::target::Gpu;
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use crate::error::RunError;

/// What this machine has.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// CPUs that this process may run on.
    pub cpus: u32,
    /// Bytes of memory, or of the control group's limit where that is less.
    pub memory: u64,
    /// The model of the CPUs.
    pub cpu: String,
    /// GPUs that are emulated on it.
    pub emulated: Vec<EmulatedGpu>,
}

/// A GPU that is not there: it is emulated, with a memory of its own in that of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct EmulatedGpu {
    /// The number of the node that it is of; several GPUs of one task are of one node.
    pub node: usize,
    /// Its type.
    pub gpu: Gpu,
}

impl Machine {
    /// Asks the operating system.
    ///
    /// # Errors
    /// It does not tell.
    pub fn detect() -> Result<Self, RunError> {
        let what = RefreshKind::nothing()
            .with_memory(MemoryRefreshKind::nothing().with_ram())
            .with_cpu(CpuRefreshKind::nothing());
        let system = System::new_with_specifics(what);
        let total = system.total_memory();
        if total == 0 {
            return Err(RunError::new(
                "this machine does not tell how much memory it has",
            ));
        }
        let limit = system
            .cgroup_limits()
            .map_or(total, |group| group.total_memory);
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let brand = system.cpus().first().map_or("", |cpu| cpu.brand().trim());
        Ok(Self {
            cpus: u32::try_from(cpus).unwrap_or(u32::MAX),
            memory: if limit > 0 { total.min(limit) } else { total },
            cpu: if brand.is_empty() { "cpu" } else { brand }.to_owned(),
            emulated: Vec::new(),
        })
    }
}
