//! What a run measured beside what its plan predicted, in a form for tools: joined by name, and
//! never mixed.

use haul_ir::cost::Nanos;
use haul_ir::id::StageId;
use haul_ir::plan::Plan;
use haul_ir::report::Report;
use schemars::JsonSchema;
use serde::Serialize;

use crate::render::values::Values;
use crate::saved::{SavedPlan, json};

/// The version of the JSON form: see [`saved::FORMAT`](crate::saved::FORMAT).
const FORMAT: &str = "1.0";

/// What a run that ended well did.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Measured {
    /// The version of this form, `major.minor`.
    pub format_version: String,
    /// The name of the pipeline.
    pub pipeline: String,
    /// The name of the target that the plan is for.
    pub target: String,
    /// The digest of the plan that ran, as `haul plan --format json` has it. It was made on the
    /// sizes of the data.
    pub plan: String,
    /// The plan's makespan and peak memory.
    pub predicted: PredictedRun,
    /// Those of the run.
    pub measured: MeasuredRun,
    /// Each stage, after those it depends on.
    pub stages: Vec<MeasuredStage>,
    /// The files that were written, in order of the outputs.
    pub written: Vec<WrittenFile>,
    /// Rows that `bad_rows: Skip` passed over, sorted by file.
    pub skipped: Vec<SkippedRows>,
}

/// What the plan says of the whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PredictedRun {
    /// Nanoseconds from the first start to the last end.
    pub makespan: Option<Nanos>,
    /// Whether that is a lower bound, as the time of a stage is unknown.
    pub at_least: bool,
}

/// What the whole run did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MeasuredRun {
    /// Nanoseconds from when tasks could start to the end of the last one.
    pub makespan: Nanos,
    /// Most bytes of memory that tasks and stored values held at once.
    pub peak_memory: u64,
}

/// A stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
}

/// What the plan says of a stage; unknown where there is nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PredictedStage {
    /// Nanoseconds of all tasks that computed added up.
    pub time: Option<Nanos>,
    /// Most bytes that one task holds at once.
    pub peak_memory: Option<u64>,
}

/// What the tasks of a stage did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MeasuredTasks {
    /// Nanoseconds of all tasks added up.
    pub time: Nanos,
    /// Nanoseconds of the longest task.
    pub longest: Nanos,
    /// Most bytes that one task held at once.
    pub peak_memory: u64,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WrittenFile {
    /// The name of the output.
    pub output: String,
    /// The path, relative to where the pipeline file is.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Rows of a file that could not be read and were passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SkippedRows {
    /// The name of the input.
    pub input: String,
    /// The path, relative to where the pipeline file is.
    pub path: String,
    /// How many rows.
    pub rows: u64,
}

impl Measured {
    /// Joins a report to the plan that ran.
    pub fn of(plan: &Plan, report: &Report) -> Self {
        let written = report.written.iter().map(|file| WrittenFile {
            output: file.output.clone(),
            path: file.path.clone(),
            bytes: file.bytes,
        });
        let skipped = report.skipped.iter().map(|rows| SkippedRows {
            input: rows.input.clone(),
            path: rows.path.clone(),
            rows: rows.rows,
        });
        let saved = SavedPlan::of(plan);
        Self {
            format_version: FORMAT.to_owned(),
            plan: saved.digest(),
            pipeline: saved.pipeline,
            target: saved.target.name,
            predicted: PredictedRun {
                makespan: plan.estimates.makespan,
                at_least: !plan.estimates.unknown.is_empty(),
            },
            measured: MeasuredRun {
                makespan: report.makespan,
                peak_memory: report.peak_memory,
            },
            stages: stages(plan, report),
            written: written.collect(),
            skipped: skipped.collect(),
        }
    }

    /// The report for tools, as the [schema](Measured::schema) says. Ends in a newline.
    pub fn json(&self) -> String {
        json::write(self)
    }

    /// The JSON Schema of [`Measured::json`]. Ends in a newline.
    pub fn schema() -> String {
        json::schema::<Self>()
    }
}

/// Predicted time of so many tasks of a stage; none where it is unknown.
pub(crate) fn predicted_time(plan: &Plan, stage: StageId, tasks: u64) -> Option<Nanos> {
    plan.stages[stage].time?.checked_mul(tasks)
}

fn stages(plan: &Plan, report: &Report) -> Vec<MeasuredStage> {
    let values = Values::of(plan);
    let stages = report.stages.entries().map(|(id, done)| {
        let peak_memory = values.eval(&plan.stages[id].peak_memory);
        MeasuredStage {
            stage: plan.typed.graph().stages[id].name.clone(),
            tasks: done.tasks,
            reused: done.reused,
            device: done.device.clone(),
            predicted: PredictedStage {
                time: predicted_time(plan, id, done.computed()),
                peak_memory: peak_memory.and_then(|bytes| bytes.try_into().ok()),
            },
            measured: MeasuredTasks {
                time: done.busy,
                longest: done.longest,
                peak_memory: done.peak_memory,
            },
        }
    });
    stages.collect()
}
