//! This machine: what a run may use of it.

use crate::error::RunError;
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

/// What this machine has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// CPUs that this process may run on.
    pub cpus: u32,
    /// Bytes of memory, or of the control group's limit where that is less.
    pub memory: u64,
    /// The model of the CPUs.
    pub cpu: String,
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
        })
    }
}
