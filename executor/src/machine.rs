//! This machine: what a run may use of it.

mod cgroup;

use haul_ir::target::{Gpu, Target};
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use crate::error::RunError;

/// How many GPUs can be emulated at once.
const MOST_EMULATED: u64 = 1024;

/// What this machine has.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// CPUs that this process may run on, within the limits of its control groups.
    pub cpus: u32,
    /// Bytes of memory, or of the least limit of its control groups where that is less.
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
    /// Has all GPUs of a target emulated here.
    ///
    /// # Errors
    /// It has none, or more than 1024.
    pub fn emulate(mut self, target: &Target) -> Result<Self, RunError> {
        let name = &target.name;
        let gpus = target.nodes.iter();
        let gpus = gpus.map(|node| u64::from(node.count).saturating_mul(node.gpus.len() as u64));
        let count = gpus.fold(0, u64::saturating_add);
        if count == 0 {
            let message = format!("target `{name}` has no GPU to emulate");
            return Err(RunError::new(message).help("`haul targets` lists some that have"));
        }
        if count > MOST_EMULATED {
            let message = format!(
                "target `{name}` has {count} GPUs, and at most {MOST_EMULATED} can be emulated"
            );
            return Err(RunError::new(message).help("emulate a target with a smaller `count`"));
        }
        let kinds = target.nodes.iter().filter(|kind| !kind.gpus.is_empty());
        let nodes = kinds
            .flat_map(|kind| (0..kind.count).map(|_| &kind.gpus))
            .enumerate();
        self.emulated = nodes
            .flat_map(|(node, gpus)| {
                gpus.iter()
                    .cloned()
                    .map(move |gpu| EmulatedGpu { node, gpu })
            })
            .collect();
        Ok(self)
    }

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
        let limits = [
            system.cgroup_limits().map(|group| group.total_memory),
            cgroup::memory_limit(),
        ];
        let limits = limits.into_iter().flatten().filter(|limit| *limit > 0);
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let brand = system.cpus().first().map_or("", |cpu| cpu.brand().trim());
        Ok(Self {
            cpus: u32::try_from(cpus).unwrap_or(u32::MAX),
            memory: limits.fold(total, u64::min),
            cpu: if brand.is_empty() { "cpu" } else { brand }.to_owned(),
            emulated: Vec::new(),
        })
    }
}
