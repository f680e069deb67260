//! What compiling yields: everything decided, nothing run.

use std::fmt;

use crate::cost::{Cost, Nanos};
use crate::expr::{Expr, Symbol};
use crate::graph::{Request, Typed};
use crate::id::{GroupId, IdVec, NodeId, StageId, ValueId};
use crate::op::Work;
use crate::target::Target;

/// The version of the cost model; plans made by different ones are not comparable.
pub const COST_MODEL: u32 = 1;

/// A pipeline compiled for a target.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The name of the pipeline: the file's, without its ending.
    pub pipeline: String,
    /// The name of the pipeline file, without folders.
    pub source: String,
    /// The checked graph.
    pub typed: Typed,
    /// The machines.
    pub target: Target,
    /// The value at which each dim was evaluated for times, where there is one.
    pub dims: Vec<(Symbol, u64)>,
    /// Facts about each group of ops.
    pub groups: IdVec<GroupId, GroupPlan>,
    /// Facts about each stage.
    pub stages: IdVec<StageId, StagePlan>,
    /// Times and prices of the whole.
    pub estimates: Estimates,
    /// What the simulated run does, batch by batch, in order of their starts.
    pub timeline: Vec<Batch>,
}

/// The side of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Side {
    Cpu,
    Gpu,
}

impl Side {
    /// The one that it is not.
    pub fn other(self) -> Side {
        match self {
            Side::Cpu => Side::Gpu,
            Side::Gpu => Side::Cpu,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Side::Cpu => "cpu",
            Side::Gpu => "gpu",
        })
    }
}

/// A group of ops: its work, its costs, its place.
#[derive(Clone, Debug)]
pub struct GroupPlan {
    /// What there is to do, per task.
    pub work: Work,
    /// Predicted on the CPUs that its stage requests.
    pub cpu: Option<Cost>,
    /// Predicted on the GPU that its stage gets, where it gets one and there is a kernel.
    pub gpu: Option<Cost>,
    /// Where it runs, and why.
    pub placement: Placement,
}

/// The side of a group, with the reason and the cost of the other choice.
#[derive(Clone, Debug)]
pub struct Placement {
    /// The side.
    pub side: Side,
    /// Why.
    pub reason: Reason,
    /// How much longer the stage's task takes with this group forced to the other side, where
    /// it has a choice.
    pub regret: Option<Nanos>,
    /// Where the choice would flip.
    pub flip: Option<Flip>,
    /// Whether the regret is under 3 % of the task's time.
    pub close_call: bool,
}

/// Why a group is where it is. A closed list; numbers are for one task.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// The compute this saves is larger than the transfer it adds.
    #[expect(missing_docs, reason = "the variant says it")]
    CheaperOnGpu { saved: Nanos, added: Nanos },
    /// Its inputs or readers are on the GPU: being there saves more transfer than compute, of which
    /// it may even add some.
    #[expect(missing_docs, reason = "the variant says it")]
    KeepsDataOnGpu { saved: Nanos, added: Nanos },
    /// Its input is on the GPU for an op before it; alone, the compute it saves would not pay for
    /// that and the transfer that it adds itself.
    #[expect(missing_docs, reason = "the variant says it")]
    InputAlreadyMovedFor {
        op: String,
        saved: Nanos,
        added: Nanos,
    },
    /// It runs inside another op's kernel.
    FusedWith(String),
    /// Starting a GPU kernel takes longer than computing it here.
    #[expect(missing_docs, reason = "the variant says it")]
    LaunchBound { cpu: Nanos, launch: Nanos },
    /// The compute saved is smaller than the transfer added.
    #[expect(missing_docs, reason = "the variant says it")]
    TransferOutweighsGain { saved: Nanos, added: Nanos },
    /// So little arithmetic per byte that moving the bytes takes longer than all of it on CPUs.
    #[expect(missing_docs, reason = "the variant says it")]
    LowIntensity { saved: Nanos, added: Nanos },
    /// There is no GPU kernel, and why.
    NoGpuKernel(&'static str),
    /// Text, tables, files.
    NotArrayWork,
    /// Reading or writing sets its time.
    IoBound,
    /// Its stage requests no GPU.
    NoGpuRequested,
    /// `place:` says so.
    PinnedByAuthor,
    /// Its inputs and results together do not fit device memory.
    #[expect(missing_docs, reason = "the variant says it")]
    DoesNotFitVram { needed: u64, available: u64 },
    /// Nothing is known of its work until data binds it.
    UnknownWork,
}

impl Reason {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Reason::CheaperOnGpu { .. } => "cheaper_on_gpu",
            Reason::KeepsDataOnGpu { .. } => "keeps_data_on_gpu",
            Reason::InputAlreadyMovedFor { .. } => "input_already_moved_for",
            Reason::FusedWith(_) => "fused_with",
            Reason::LaunchBound { .. } => "launch_bound",
            Reason::TransferOutweighsGain { .. } => "transfer_outweighs_gain",
            Reason::LowIntensity { .. } => "low_intensity",
            Reason::NoGpuKernel(_) => "no_gpu_kernel",
            Reason::NotArrayWork => "not_array_work",
            Reason::IoBound => "io_bound",
            Reason::NoGpuRequested => "no_gpu_requested",
            Reason::PinnedByAuthor => "pinned_by_author",
            Reason::DoesNotFitVram { .. } => "does_not_fit_vram",
            Reason::UnknownWork => "unknown_work",
        }
    }
}

/// Where a choice flips: on the other side when the dim is past the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flip {
    /// The dim.
    pub dim: Symbol,
    /// The side it flips to.
    pub to: Side,
    /// The first value at which it is on that side, coming from the planned one.
    pub at: u64,
    /// Whether that side is chosen at and below it; else at and above it.
    pub below: bool,
}

/// One value crossing between host and device, once per task.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// What crosses.
    pub value: ValueId,
    /// Which way.
    pub direction: Direction,
    /// How many bytes.
    pub bytes: Expr,
    /// How long, predicted.
    pub time: Option<Nanos>,
    /// The groups that wait for it; empty where another stage or an output does.
    pub readers: Vec<GroupId>,
}

/// Which way a transfer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Direction {
    HostToDevice,
    DeviceToHost,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Direction::HostToDevice => "h2d",
            Direction::DeviceToHost => "d2h",
        })
    }
}

/// A stage: the request that was chosen, where its tasks go, what one needs.
#[derive(Clone, Debug)]
pub struct StagePlan {
    /// Which of the stage's requests was chosen.
    pub request: usize,
    /// The kind of node that its tasks run on.
    pub node: NodeId,
    /// Which of the node's GPUs, by position, where it requests one.
    pub gpu: Option<usize>,
    /// How many tasks there are; unknown until data binds it.
    pub tasks: Expr,
    /// Values crossing between host and device, per task.
    pub transfers: Vec<Transfer>,
    /// Most bytes of host memory that a task holds at once.
    pub peak_memory: Expr,
    /// The value whose making is that peak.
    pub peak_at: Option<ValueId>,
    /// Most bytes of device memory that a task holds at once.
    pub peak_vram: Expr,
    /// Predicted time of one task.
    pub time: Option<Nanos>,
    /// Predicted time of one task with every op on CPUs.
    pub time_on_cpu: Option<Nanos>,
    /// Whether its request can be granted.
    pub feasibility: Feasibility,
    /// How long its tasks wait for room once they could start, all of them together; unknown where
    /// the number of tasks is.
    pub queueing: Option<Nanos>,
}

impl StagePlan {
    /// What its tasks ask for.
    pub fn request<'a>(&self, requests: &'a [Request]) -> &'a Request {
        &requests[self.request]
    }
}

/// Whether some node can hold a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feasibility {
    /// Some node can, when the run reaches it.
    Fits,
    /// Some node can, when others have left.
    #[expect(missing_docs, reason = "the variant says it")]
    Waits { time: Nanos, behind: String },
}

/// Times and prices of a whole run, predicted. `None` where the number of tasks is unknown; where
/// only the time of some stages is, they are taken to need none, and the rest is a lower bound, or
/// `None` where it is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Estimates {
    /// From the first task's start to the last one's end.
    pub makespan: Option<Nanos>,
    /// All tasks one after the other.
    pub serial: Option<Nanos>,
    /// The makespan with every op on CPUs, GPUs left free; `None` beside a makespan where an op has to
    /// be on a GPU, or its stage's memory does not suffice on CPUs.
    pub all_on_cpu: Option<Nanos>,
    /// The makespan with every op on GPUs that can be there.
    pub all_on_gpu: Option<Nanos>,
    /// Billionths of a US dollar for the nodes used over the makespan.
    pub nano_usd: Option<u64>,
    /// The stages whose time is unknown.
    pub unknown: Vec<StageId>,
    /// The stages that set the makespan, first to last: each one's last task could start, or found
    /// room, when the one before it ended.
    pub critical_path: Vec<StageId>,
    /// How busy the devices of the nodes that are used are.
    pub utilisation: Vec<Utilisation>,
    /// Bytes that cross between host and device, of all tasks together.
    pub transferred: Option<u64>,
}

/// How busy the devices of one type on the used nodes of one kind are, over the makespan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Utilisation {
    /// The kind of node.
    pub node: NodeId,
    /// How many nodes of the kind run tasks.
    pub nodes: u32,
    /// The type of GPU; `None` for the CPUs.
    pub gpu: Option<String>,
    /// Share of the devices' time that tasks hold them, in per mille; unknown where the time of a task
    /// that holds one is, and at most so much where that of another stage is.
    pub held: Option<u32>,
    /// Share of the devices' time that they compute or, a GPU, move data, in per mille; the rest of
    /// what is held is idle. Unknown, and at most so much, as what is held.
    pub busy: Option<u32>,
}

/// Tasks of a stage that start together on one node in the simulated run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The stage.
    pub stage: StageId,
    /// How many tasks.
    pub tasks: u64,
    /// The kind of node.
    pub node: NodeId,
    /// Which of the nodes of that kind, by position.
    pub machine: usize,
    /// Which of its GPUs, by position.
    pub gpus: Vec<usize>,
    /// When they start, from the start of the run.
    pub start: Nanos,
    /// When they end.
    pub end: Nanos,
}
