//! What a run measured beside what its plan predicted, in a form for tools: joined by name, and
//! never mixed.

mod devices;
mod make;
pub mod timeline;

use haul_ir::cost::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::devices::{MeasuredCopies, MeasuredDevice, PredictedCopies};
use crate::saved::{SavedError, SavedPlan, json};

/// The version of the JSON form: see [`saved::FORMAT`](crate::saved::FORMAT).
const FORMAT: &str = "1.0";

/// What a run that ended well did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// The version of this form, `major.minor`.
    pub format_version: String,
    /// The plan that ran, as `haul plan --format json` prints it. It was made on the sizes of the
    /// data.
    #[serde(with = "json::with_digest")]
    #[schemars(with = "json::WithDigest<'static>")]
    pub plan: SavedPlan,
    /// What the plan says of the whole run.
    pub predicted: PredictedRun,
    /// What the whole run did.
    pub measured: MeasuredRun,
    /// Each stage, after those it depends on.
    pub stages: Vec<MeasuredStage>,
    /// Each GPU.
    pub devices: Vec<MeasuredDevice>,
    /// The tasks that finished, in this order; of a long run the first.
    pub tasks: Vec<MeasuredTask>,
    /// How many tasks are left out of `tasks`.
    pub tasks_left_out: u64,
    /// The files that were written, in order of the outputs.
    pub written: Vec<WrittenFile>,
    /// Rows that `bad_rows: Skip` passed over, sorted by file.
    pub skipped: Vec<SkippedRows>,
    /// Tasks that failed and were passed over, and those that read what such tasks should have made,
    /// by stage and item.
    #[serde(default)]
    pub skipped_tasks: Vec<MissingTask>,
}

/// What the plan says of the whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedRun {
    /// Nanoseconds from the first start to the last end.
    pub makespan: Option<Nanos>,
    /// Whether that is a lower bound, as the time of a stage is unknown.
    pub at_least: bool,
}

/// What the whole run did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredRun {
    /// Nanoseconds from when tasks could start to the end of the last one.
    pub makespan: Nanos,
    /// Most bytes of memory that tasks and stored values held at once.
    pub peak_memory: u64,
}

/// A stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredStage {
    /// The name.
    pub stage: String,
    /// How many tasks ran.
    pub tasks: u64,
    /// How many of them did not compute, as an earlier run had.
    pub reused: u64,
    /// The device that computed, as it names itself.
    pub device: String,
    /// What the plan says.
    pub predicted: PredictedStage,
    /// What the tasks did.
    pub measured: MeasuredTasks,
    /// What crossed between the host and GPUs, each way that anything did.
    pub copies: Vec<MeasuredCopies>,
}

/// What the plan says of a stage; unknown where there is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedStage {
    /// Nanoseconds of all tasks that computed added up.
    pub time: Option<Nanos>,
    /// Most bytes that one task holds at once.
    pub peak_memory: Option<u64>,
}

/// What the tasks of a stage did. Moments are nanoseconds since tasks could start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredTasks {
    /// Nanoseconds of all tasks added up.
    pub time: Nanos,
    /// Nanoseconds of the longest task.
    pub longest: Nanos,
    /// The item of the longest task.
    pub longest_item: Option<String>,
    /// When the first task started.
    pub started: Nanos,
    /// When the last task ended.
    pub ended: Nanos,
    /// Most bytes that one task held at once.
    pub peak_memory: u64,
    /// How many ran on another worker than the one that had made them ready.
    pub stolen: u64,
    /// How often their programs failed and were started again.
    #[serde(default)]
    pub retries: u64,
    /// Nanoseconds in which a task could have started, were it not for what others held.
    pub waited: Nanos,
    /// When, for what, and behind whom; of many waits the first.
    pub waits: Vec<MeasuredWait>,
}

/// A wait of a stage: it had tasks that could start, were it not for what others held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredWait {
    /// When it began.
    pub start: Nanos,
    /// How many nanoseconds it took.
    pub time: Nanos,
    /// What was lacking: `cpus`, `memory`, `gpus`, `vram`, or room for `stored values`.
    pub lacks: String,
    /// The stages whose tasks held it when the wait began.
    pub behind: Vec<String>,
}

/// A task that finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredTask {
    /// The name of its stage.
    pub stage: String,
    /// Its item.
    pub item: Option<String>,
    /// The worker that ran it, counted from 0; each runs one task at a time.
    pub worker: usize,
    /// The worker that had it ready, from which this one, which had nothing, took it.
    pub stolen_from: Option<usize>,
    /// When it started there, in nanoseconds since tasks could start.
    pub start: Nanos,
    /// Nanoseconds from its start to its end.
    pub time: Nanos,
}

impl MeasuredTask {
    /// When it ended, in nanoseconds since tasks could start.
    pub fn end(&self) -> Nanos {
        self.start.saturating_add(self.time)
    }
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrittenFile {
    /// The name of the output.
    pub output: String,
    /// The path, relative to where the pipeline file is.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A task that made nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingTask {
    /// The name of its stage.
    pub stage: String,
    /// Its item, where the stage runs over a collection.
    pub item: Option<String>,
    /// What failed, or what it reads.
    pub reason: String,
}

/// Rows of a file that could not be read and were passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedRows {
    /// The name of the input.
    pub input: String,
    /// The path, relative to where the pipeline file is.
    pub path: String,
    /// How many rows.
    pub rows: u64,
}

impl Measured {
    /// Whether a text is a report, or something that should be one, and not a plan.
    pub fn is_report(text: &str) -> bool {
        let fields: Result<Fields, _> = serde_json::from_str(text);
        fields.is_ok_and(|fields| fields.measured.is_some())
    }

    /// Reads a report as [`Measured::json`] writes it.
    ///
    /// # Errors
    /// The text is none, or the plan in it was edited.
    pub fn read(text: &str) -> Result<Self, SavedError> {
        json::parsed(text, "report", FORMAT)?;
        serde_json::from_str(text).map_err(|error| json::no("report", &error))
    }

    /// The report for tools, as the [schema](Measured::schema) says. Ends in a newline.
    pub fn json(&self) -> String {
        json::write(self)
    }

    /// The JSON Schema of [`Measured::json`]. Ends in a newline.
    pub fn schema() -> String {
        json::schema::<Self>()
    }

    /// The stage of that name.
    pub fn stage(&self, name: &str) -> Option<&MeasuredStage> {
        self.stages.iter().find(|stage| stage.stage == name)
    }
}

/// What tells a report from a plan.
#[derive(Deserialize)]
struct Fields {
    measured: Option<serde::de::IgnoredAny>,
}
