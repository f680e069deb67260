//! What a run tells while it goes on, in a form for tools: one JSON object a line.

use haul_ir::cost::Nanos;
use schemars::JsonSchema;
use serde::Serialize;

use crate::measured::Measured;
use crate::saved::json;

/// Something that happened, and when.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EventLine<'a> {
    /// Nanoseconds since tasks could start; 0 for what happened before.
    pub at: Nanos,
    /// What happened.
    #[serde(flatten)]
    pub event: RunEvent<'a>,
}

/// Something that happened in a run. The last one is `report`, `failed` or `interrupted`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent<'a> {
    /// How many tasks a stage has; told of each stage before any starts.
    Tasks {
        /// The name of the stage.
        stage: &'a str,
        /// How many there are.
        count: usize,
    },
    /// A GPU that tasks may be granted; told of each before any task starts.
    Device {
        /// Its name.
        device: &'a str,
        /// Bytes of its memory.
        vram: u64,
        /// Whether it is not there: CPUs compute in its stead, and nothing here is evidence.
        emulated: bool,
    },
    /// The data bound a symbolic size.
    Bound {
        /// The name of the size.
        symbol: &'a str,
        /// Its value.
        size: u64,
        /// The item whose own size it is.
        item: Option<&'a str>,
    },
    /// A stage has tasks that could start, were it not for what others hold. It waits until one of
    /// its tasks starts.
    Waiting {
        /// The name of the stage.
        stage: &'a str,
        /// What is lacking: `cpus`, `memory`, `gpus`, `vram`, or room for `stored values`.
        lacks: &'a str,
        /// The stages whose tasks hold it.
        behind: Vec<&'a str>,
    },
    /// A task was started.
    Started {
        /// The name of its stage.
        stage: &'a str,
        /// Its item.
        item: Option<&'a str>,
        /// The worker that runs it, counted from 0; each runs one task at a time.
        worker: usize,
        /// The worker that had it ready, from which this one, which had nothing, took it.
        stolen_from: Option<usize>,
    },
    /// A task finished.
    Finished {
        /// The name of its stage.
        stage: &'a str,
        /// Its item.
        item: Option<&'a str>,
        /// The worker that ran it.
        worker: usize,
        /// When it began there, as `at` counts.
        start: Nanos,
        /// Nanoseconds from its start to its end.
        time: Nanos,
        /// Most bytes that it held at once.
        peak_memory: u64,
    },
    /// A task failed and was passed over, or reads what such a task should have made.
    Skipped {
        /// The name of its stage.
        stage: &'a str,
        /// Its item.
        item: Option<&'a str>,
        /// What failed, or what it reads.
        reason: &'a str,
    },
    /// A file is there under its final name.
    Written {
        /// The path, relative to where the pipeline file is.
        path: &'a str,
        /// Its size in bytes.
        bytes: u64,
    },
    /// The run ended well.
    Report {
        /// What was measured beside what was predicted.
        report: &'a Measured,
    },
    /// The run failed.
    Failed {
        /// What is wrong, where, and what to do.
        message: String,
    },
    /// The run was stopped by Ctrl-C.
    Interrupted,
}

impl EventLine<'_> {
    /// The event on one line, as the [schema](EventLine::schema) says. Ends in a newline.
    pub fn json(&self) -> String {
        json::line(self)
    }

    /// The JSON Schema of [`EventLine::json`]. Ends in a newline.
    pub fn schema() -> String {
        json::schema::<EventLine<'_>>()
    }
}
