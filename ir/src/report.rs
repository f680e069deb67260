//! What a run did: the plan's stages with what was measured beside what was predicted.

use crate::cost::Nanos;
use crate::id::{IdVec, StageId};
use crate::types::ValueType;

/// What a whole run did.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Each stage.
    pub stages: IdVec<StageId, StageReport>,
    /// Each GPU.
    pub devices: Vec<DeviceReport>,
    /// From the first task's start to the last one's end.
    pub makespan: Nanos,
    /// Most bytes of memory that tasks and stored values held at once.
    pub peak_memory: u64,
    /// What was written, in order of the outputs.
    pub written: Vec<Written>,
    /// Rows that `bad_rows: Skip` passed over, sorted by file.
    pub skipped: Vec<Skipped>,
    /// Tasks that were skipped, by stage and item.
    pub skipped_tasks: Vec<SkippedTask>,
    /// The value of the last stage, where the pipeline has no outputs.
    pub preview: Option<Preview>,
}

/// The beginning of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The stage whose value it is.
    pub stage: StageId,
    /// The item it is of, for a collection.
    pub item: Option<String>,
    /// Its type, with the sizes that it has.
    pub ty: ValueType,
    /// The first elements in row-major order, as text that gives them back exactly; the first rows
    /// of each column, texts in quotes; the first line of a text.
    pub first: Vec<Vec<String>>,
}

/// What the tasks of a stage did.
#[derive(Clone, Debug, Default)]
pub struct StageReport {
    /// Tasks that finished.
    pub tasks: u64,
    /// Those that ran on another worker than the one that had made them ready.
    pub stolen: u64,
    /// Those of them that did not compute: an earlier run had, of the same data.
    pub reused: u64,
    /// Time of the tasks added up.
    pub busy: Nanos,
    /// The longest task.
    pub longest: Nanos,
    /// Most bytes that one task held at once.
    pub peak_memory: u64,
    /// How often their programs failed and were started again.
    pub retries: u64,
    /// The device that computed, as it names itself.
    pub device: String,
    /// What crossed between it and the host.
    pub copies: Copies,
    /// Most bytes of device memory that one task held at once.
    pub peak_vram: u64,
}

/// Values that crossed between the host and a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// From host to device.
    pub h2d: Copied,
    /// From device to host.
    pub d2h: Copied,
    /// How many were on the device before the task that reads them started.
    pub ahead: u64,
}

/// Values that crossed one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// How many.
    pub values: u64,
    /// How many bytes.
    pub bytes: u64,
    /// How long that took.
    pub time: Nanos,
}

impl Copies {
    /// Adds others.
    pub fn add(&mut self, others: &Copies) {
        self.h2d.add(&others.h2d);
        self.d2h.add(&others.d2h);
        self.ahead += others.ahead;
    }
}

impl Copied {
    /// Adds one value.
    pub fn count(&mut self, bytes: u64, time: Nanos) {
        self.add(&Copied {
            values: 1,
            bytes,
            time,
        });
    }

    fn add(&mut self, others: &Copied) {
        self.values += others.values;
        self.bytes = self.bytes.saturating_add(others.bytes);
        self.time = self.time.saturating_add(others.time);
    }
}

/// What a GPU did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceReport {
    /// Its name: `emulated L4`.
    pub name: String,
    /// Whether it is not there: CPUs computed in its stead, and nothing here is evidence.
    pub emulated: bool,
    /// Bytes of its memory.
    pub vram: u64,
    /// Most bytes of it that were held at once.
    pub peak_vram: u64,
    /// Tasks that finished on it.
    pub tasks: u64,
    /// What crossed between it and the host.
    pub copies: Copies,
    /// How many values were copied to it in advance and then not needed there.
    pub unused: u64,
}

impl StageReport {
    /// Tasks that computed.
    pub fn computed(&self) -> u64 {
        self.tasks.saturating_sub(self.reused)
    }
}

/// Rows of a file that could not be read and were passed over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// The name of the input.
    pub input: String,
    /// The path, relative to where the pipeline file is.
    pub path: String,
    /// How many rows.
    pub rows: u64,
}

/// A task that failed and was passed over, or that reads what such a task should have made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedTask {
    /// The name of its stage.
    pub stage: String,
    /// Its item, where the stage runs over a collection.
    pub item: Option<String>,
    /// Why: what failed, or what it reads.
    pub reason: String,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The name of the output.
    pub output: String,
    /// The path, relative to where the pipeline file is.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
}
