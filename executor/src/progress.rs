//! What a run tells while it goes on.

use haul_ir::cost::Nanos;
use haul_ir::expr::Symbol;
use haul_ir::id::StageId;

/// Watches a run. Called on the threads that run tasks, between them: it has to be quick.
pub trait Observer: Sync {
    /// Something happened, so long after tasks could start; at 0 where it happened before.
    fn event(&self, at: Nanos, event: &Event<'_>);
}

/// Watches nothing.
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _: Nanos, _: &Event<'_>) {}
}

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// How many tasks a stage has; told of each stage before any starts.
    Tasks {
        /// The stage.
        stage: StageId,
        /// How many there are.
        count: usize,
    },
    /// A GPU that tasks may be granted; told of each before any task starts.
    Device {
        /// Its name.
        name: &'a str,
        /// Bytes of its memory.
        vram: u64,
        /// Whether it is not there, and CPUs compute in its stead.
        emulated: bool,
    },
    /// The data bound a symbolic size.
    Bound {
        /// The symbol.
        symbol: &'a Symbol,
        /// Its size.
        size: u64,
        /// The item whose own size it is.
        item: Option<&'a str>,
    },
    /// A task started.
    Started {
        /// Its stage.
        stage: StageId,
        /// Its item.
        item: Option<&'a str>,
        /// The worker that runs it, counted from 0; each runs one task at a time.
        worker: usize,
        /// The worker that had it ready, from which this one, which had nothing, took it.
        stolen_from: Option<usize>,
    },
    /// A task finished.
    Finished {
        /// Its stage.
        stage: StageId,
        /// Its item.
        item: Option<&'a str>,
        /// The worker that ran it.
        worker: usize,
        /// When it started.
        start: Nanos,
        /// From its start to its end.
        time: Nanos,
        /// Most bytes that it held at once.
        peak_memory: u64,
    },
    /// A task failed and was passed over, or reads what such a task should have made.
    Skipped {
        /// Its stage.
        stage: StageId,
        /// Its item.
        item: Option<&'a str>,
        /// Why.
        reason: &'a str,
    },
    /// A stage has tasks that could start, were it not for what others hold.
    Waiting {
        /// The stage.
        stage: StageId,
        /// What is lacking: `cpus`, `memory`, `gpus`, `vram`, or room for `stored values`.
        lacks: &'static str,
        /// The stages whose tasks hold it.
        behind: &'a [StageId],
    },
    /// A file is there under its final name.
    Written {
        /// The path, relative to where the pipeline file is.
        path: &'a str,
        /// Its size in bytes.
        bytes: u64,
    },
}
