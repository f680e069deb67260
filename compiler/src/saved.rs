//! The form in which a plan is kept: names and numbers, no graph.
//!
//! [`SavedPlan::of`] makes it of a plan. It is written and read as a [snapshot](SavedPlan::snapshot)
//! for version control, where times and prices have three significant digits, and as
//! [JSON](SavedPlan::json) without loss. Whatever compares plans compares these.

pub(crate) mod expr;
mod facts;
pub(crate) mod json;
pub(crate) mod lines;
mod make;
mod print;
mod read;

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the JSON form: a larger minor number adds names, which readers ignore; a larger
/// major number is another form.
pub const FORMAT: &str = "1.0";

/// A plan: everything decided, nothing run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedPlan {
    /// The version of this form, `major.minor`.
    pub format_version: String,
    /// The name of the pipeline.
    pub pipeline: String,
    /// The name of its file, without folders.
    pub source: String,
    /// The machines.
    pub target: SavedTarget,
    /// The version of the cost model; plans of different ones are not comparable.
    pub cost_model: u32,
    /// Renames that the pipeline declares, from old to new.
    pub moved: Vec<Rename>,
    /// Symbolic sizes.
    pub dims: Vec<SavedDim>,
    /// Where data comes from.
    pub inputs: Vec<SavedInput>,
    /// The stages, each after those it depends on.
    pub stages: Vec<SavedStage>,
    /// Where results go.
    pub outputs: Vec<SavedOutput>,
    /// Times and prices of the whole, at the planned sizes.
    pub estimates: SavedEstimates,
}

/// The machines that a plan is made for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedTarget {
    /// The name.
    pub name: String,
    /// The kinds of nodes.
    pub nodes: Vec<SavedNode>,
}

/// Machines of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedNode {
    /// The name of the kind.
    pub name: String,
    /// How many there are.
    pub count: u32,
    /// CPUs of each.
    pub cpus: u32,
    /// Bytes of memory of each.
    pub memory: u64,
    /// GPUs of each by type.
    pub gpus: BTreeMap<String, u32>,
}

/// A rename, of a stage or of `stage.op`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rename {
    /// The name it had.
    pub old: String,
    /// The name it has.
    pub new: String,
}

/// A symbolic size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedDim {
    /// The name.
    pub name: String,
    /// The collection whose every item has a size of its own.
    pub each: Option<String>,
    /// The largest value, at which feasibility is checked.
    pub max: Option<u64>,
    /// The value that times are evaluated at; unknown where there is none.
    pub plan: Option<u64>,
}

/// Where data comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedInput {
    /// The name.
    pub name: String,
    /// Whether it is a collection; then the type is that of an item.
    pub each: bool,
    /// The type: `f32[n, 8]`.
    #[serde(rename = "type")]
    pub ty: String,
    /// The kind of source, and what it reads.
    pub source: String,
}

/// The unit that is scheduled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedStage {
    /// The name.
    pub name: String,
    /// The collection it runs over.
    pub each: Option<String>,
    /// What each task asks for: one of these.
    pub requests: Vec<SavedRequest>,
    /// Which of them was chosen, counted from 1.
    pub chosen: usize,
    /// How often its program is started again after it failed.
    #[serde(default)]
    pub retries: u32,
    /// How many nanoseconds its program may take each time.
    #[serde(default)]
    pub timeout: Option<u64>,
    /// Whether the run goes on without a task that fails and what depends on it.
    #[serde(default)]
    pub skips: bool,
    /// The kind of node that its tasks run on.
    pub node: String,
    /// The type of GPU that they get.
    pub gpu: Option<String>,
    /// How many tasks there are.
    pub tasks: Amount,
    /// What a task computes, in order.
    pub ops: Vec<SavedOp>,
    /// What crosses between host and device, once a task.
    pub transfers: Vec<SavedTransfer>,
    /// The most bytes of host memory that a task holds at once.
    pub memory: Amount,
    /// The value whose making is that peak.
    pub memory_at: Option<String>,
    /// The most bytes of device memory that a task holds at once.
    pub vram: Amount,
    /// Predicted nanoseconds of a task; unknown where there are none.
    pub time: Option<u64>,
    /// The same with every op on CPUs.
    pub time_on_cpu: Option<u64>,
    /// How long its first task waits for room, and behind whom; it fits where there is none.
    pub waits: Option<Wait>,
    /// How many nanoseconds its tasks wait for room, all together.
    pub queueing: Option<u64>,
}

/// What a task asks for, all on one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedRequest {
    /// Whole CPUs.
    pub cpus: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// GPUs: a whole number, or a share below one.
    pub gpus: String,
    /// The type of GPU, where only that one will do.
    pub gpu_type: Option<String>,
    /// Bytes of device memory.
    pub vram: Option<u64>,
}

/// A wait for room.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Wait {
    /// Nanoseconds.
    pub time: u64,
    /// The stage whose end makes the room.
    pub behind: String,
}

/// An exact amount in terms of dims.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Amount {
    /// The expression: `4*n*n + 32*n`.
    pub exact: String,
    /// Its value at the planned sizes; unknown where there is none.
    pub planned: Option<u64>,
}

/// An op.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedOp {
    /// The name, in its stage.
    pub name: String,
    /// What it computes: `sum(x, axis=1)`.
    pub formula: String,
    /// The types of its results.
    pub types: String,
    /// What there is to do for the group of ops that runs as one kernel and is named after this
    /// one.
    pub work: SavedWork,
    /// The side that the author wants it on.
    pub pin: Option<SavedSide>,
    /// The side that it runs on.
    pub side: SavedSide,
    /// Why, by code: `cheaper_on_gpu`, `fused_with g`.
    pub reason: String,
    /// The prediction for the group; none for an op that is fused with another.
    pub estimate: Option<SavedChoice>,
}

/// A side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum SavedSide {
    Cpu,
    Gpu,
}

/// The work of a group of ops.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SavedWork {
    /// Counted with another op.
    Fused,
    /// Nothing is known of it until it is done.
    Unknown,
    /// So much.
    Known {
        /// Floating-point operations.
        flops: Amount,
        /// Bytes read and written.
        bytes: Amount,
        /// Flops per byte, with the sizes where it hangs on them.
        intensity: Option<String>,
    },
}

/// The predicted choice of side for a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedChoice {
    /// Nanoseconds on its side; unknown where there are none.
    pub time: Option<u64>,
    /// On the CPUs that its stage asks for. Snapshots leave it out.
    pub cpu: Option<Terms>,
    /// On the GPU that its stage gets. Snapshots leave it out.
    pub gpu: Option<Terms>,
    /// Nanoseconds that the GPU saves or would save: of transfer where the reason is
    /// `keeps_data_on_gpu`, else of compute.
    pub saved: Option<u64>,
    /// Nanoseconds that it adds or would add: of compute where the reason is `keeps_data_on_gpu`,
    /// else of transfer.
    pub added: Option<u64>,
    /// How many nanoseconds longer the task takes with it on the other side.
    pub regret: Option<u64>,
    /// Where the choice flips: `cpu when n <= 125`.
    pub flip: Option<String>,
    /// Whether the regret is under 3 % of the task's time.
    pub close_call: bool,
}

/// The terms of a predicted time, in nanoseconds: `launch + max(compute, memory)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Terms {
    pub launch: u64,
    pub compute: u64,
    pub memory: u64,
}

/// One value crossing between host and device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedTransfer {
    /// The value.
    pub value: String,
    /// `h2d` or `d2h`.
    pub direction: String,
    /// How many bytes.
    pub bytes: Amount,
    /// The ops that wait for it; none where another stage or an output does.
    #[serde(rename = "for")]
    pub readers: Vec<String>,
    /// Predicted nanoseconds.
    pub time: Option<u64>,
}

/// Where a result goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedOutput {
    /// The name.
    pub name: String,
    /// The format of the file.
    pub format: String,
    /// The path.
    pub path: String,
    /// The value.
    pub from: String,
}

/// Times in nanoseconds and prices in billionths of a US dollar of the whole run. A total is
/// unknown where it is none, and a lower bound where a stage is unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedEstimates {
    /// Where the figures of the devices come from: `datasheet`, `measured`.
    pub figures: String,
    /// From the first start to the last end.
    pub makespan: Option<u64>,
    /// All tasks one after the other.
    pub serial: Option<u64>,
    /// The makespan with every op on CPUs; none beside a makespan where that is impossible.
    pub all_on_cpu: Option<u64>,
    /// The makespan with every op on GPUs that can be there; none where no stage has a GPU.
    pub all_on_gpu: Option<u64>,
    /// The price.
    pub nano_usd: Option<u64>,
    /// Bytes that cross between host and device, of all tasks together.
    pub transferred: Option<u64>,
    /// The most bytes of device memory that a task of any stage holds at once.
    pub vram: Option<u64>,
    /// The stages whose time is unknown.
    pub unknown: Vec<String>,
    /// The stages that set the makespan, first to last.
    pub critical_path: Vec<String>,
    /// How busy the devices are.
    pub utilisation: Vec<SavedUtilisation>,
    /// What the cost model was told of each device of the target, by its name.
    pub devices: BTreeMap<String, String>,
    /// What an hour of each kind of node costs that the plan uses, in thousandths of a US dollar.
    pub prices: BTreeMap<String, u64>,
}

/// How busy the devices of one type on the used nodes of one kind are, over the makespan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedUtilisation {
    /// The kind of node.
    pub node: String,
    /// How many nodes of the kind run tasks.
    pub nodes: u32,
    /// The type of GPU; the CPUs where there is none.
    pub gpu: Option<String>,
    /// Share of the time that tasks hold them, in per mille; unknown where the time of a task that
    /// holds one is, and at most so much where `unknown` names another stage.
    pub held: Option<u32>,
    /// Share of the time that they compute or move data, in per mille; unknown, and at most so much,
    /// as what is held.
    pub busy: Option<u32>,
    /// Each of these GPUs; none where a long run does not tell them apart. Snapshots leave it out.
    #[serde(default)]
    pub each: Vec<SavedDevice>,
}

/// How busy one GPU is, over the makespan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedDevice {
    /// Which of the used nodes of its kind, counted from 1.
    pub machine: usize,
    /// Which of its node's GPUs, counted from 1.
    pub device: usize,
    /// Share of the time that tasks hold it, in per mille; at most so much where `unknown` names a
    /// stage.
    pub held: u32,
    /// Share of the time that it computes or moves data, in per mille; at most so much as what is held.
    pub busy: u32,
}

/// Why a text is no saved plan, and in which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedError {
    /// What is wrong.
    pub message: String,
    /// The line, counted from 1.
    pub line: usize,
}

impl fmt::Display for SavedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.message)
    }
}

impl std::error::Error for SavedError {}

impl SavedPlan {
    /// Reads a plan file: a snapshot or JSON.
    ///
    /// # Errors
    /// The text is neither, or what it says cannot be of one plan, or was edited: a snapshot that is
    /// not what is printed of the plan that it says, JSON of another digest.
    pub fn read(text: &str) -> Result<SavedPlan, SavedError> {
        let text = text.trim_start_matches('\u{feff}');
        let is_json = text.trim_start().starts_with('{');
        let plan = match is_json {
            true => json::read(text)?,
            false => read::read(text)?,
        };
        plan.check()
            .map_err(|message| SavedError { message, line: 1 })?;
        if !is_json {
            read::refuse_edited(text, &plan)?;
        }
        Ok(plan)
    }

    /// The pipeline and the target that a snapshot says it is of; also one that was edited, and is
    /// no plan any more.
    pub fn names_of(text: &str) -> Option<(String, String)> {
        read::names_of(text)
    }

    /// Names are unique, as everything that compares plans takes for granted.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut stages = HashSet::new();
        for stage in &self.stages {
            let name = &stage.name;
            if !stages.insert(name) || name.contains('.') {
                return Err(format!(
                    "this is no plan: a stage cannot be called `{name}` here"
                ));
            }
            let mut ops = HashSet::new();
            if let Some(op) = stage.ops.iter().find(|op| !ops.insert(&op.name)) {
                return Err(format!(
                    "this is no plan: `{name}` has two ops `{}`",
                    op.name
                ));
            }
            if !(1..=stage.requests.len()).contains(&stage.chosen) {
                return Err(format!(
                    "this is no plan: `{name}` has no request {}",
                    stage.chosen
                ));
            }
        }
        Ok(())
    }

    /// The plan for version control: one fact a line, exact where it is exact, and the same bytes
    /// on every machine. Ends in a newline.
    pub fn snapshot(&self) -> String {
        print::snapshot(self)
    }

    /// The plan for tools, as the [schema](SavedPlan::schema) says, with a digest of all else. Ends in
    /// a newline.
    pub fn json(&self) -> String {
        json::write_plan(self)
    }

    /// As [`SavedPlan::json`], on one line.
    pub fn json_line(&self) -> String {
        json::plan_line(self)
    }

    /// The digest in [`SavedPlan::json`].
    pub fn digest(&self) -> String {
        json::plan_digest(self)
    }

    /// The JSON Schema of [`SavedPlan::json`]. Ends in a newline.
    pub fn schema() -> String {
        json::schema::<json::WithDigest<'_>>()
    }

    /// A plan of the same name for the same target that has nothing in it.
    pub fn emptied(&self) -> SavedPlan {
        SavedPlan {
            moved: Vec::new(),
            dims: Vec::new(),
            inputs: Vec::new(),
            stages: Vec::new(),
            outputs: Vec::new(),
            estimates: SavedEstimates::default(),
            ..self.clone()
        }
    }

    /// The stage of that name.
    pub fn stage(&self, name: &str) -> Option<&SavedStage> {
        self.stages.iter().find(|stage| stage.name == name)
    }
}

impl SavedStage {
    /// What each task asks for.
    pub fn request(&self) -> Option<&SavedRequest> {
        self.requests.get(self.chosen.checked_sub(1)?)
    }

    /// All amounts of the stage, of its ops and of its transfers.
    pub(crate) fn amounts_mut(&mut self) -> impl Iterator<Item = &mut Amount> {
        let work = self.ops.iter_mut().flat_map(|op| match &mut op.work {
            SavedWork::Known { flops, bytes, .. } => vec![flops, bytes],
            SavedWork::Fused | SavedWork::Unknown => Vec::new(),
        });
        let transfers = self.transfers.iter_mut();
        let own = [&mut self.tasks, &mut self.memory, &mut self.vram];
        let all = own.into_iter().chain(work);
        all.chain(transfers.map(|transfer| &mut transfer.bytes))
    }

    /// The name of an op in the whole pipeline: `stage.op`, or the op's own where it begins with
    /// that of its stage.
    pub fn full_name(&self, op: &str) -> String {
        full_name(&self.name, op)
    }
}

/// The name of an op in the whole pipeline.
pub(crate) fn full_name(stage: &str, op: &str) -> String {
    match op.strip_prefix(stage) {
        Some(rest) if rest.is_empty() || rest.starts_with('.') => op.to_owned(),
        _ => format!("{stage}.{op}"),
    }
}

impl fmt::Display for SavedSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            SavedSide::Cpu => "cpu",
            SavedSide::Gpu => "gpu",
        })
    }
}
