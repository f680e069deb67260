//! The operation graph of a pipeline, and the proof that it was checked.
//!
//! Stages are scheduled; ops compute; values flow. Ops stand in an order in which every value is
//! made before it is used, and so do stages.

use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};

use indexmap::IndexMap;

use crate::cost::Nanos;
use crate::dtype::DType;
use crate::expr::{Expr, Symbol};
use crate::format::{File, Format, Settings};
use crate::id::{CollectionId, GroupId, Id, IdVec, InputId, OpId, StageId, ValueId};
use crate::op::{ArgType, Attrs, Call, CpuKernel, Op, Weak};
use crate::types::{TensorType, ValueType};

/// A pipeline as tables.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Symbolic sizes that the file lists or types mention, in that order.
    pub dims: IndexMap<Symbol, Dim>,
    /// What fan-outs run over.
    pub collections: IdVec<CollectionId, Collection>,
    /// Where data comes from.
    pub inputs: IdVec<InputId, Input>,
    /// What is scheduled, each after those it depends on; ties in the order of the file.
    pub stages: IdVec<StageId, Stage>,
    /// What computes, each after those it depends on, stage by stage.
    pub ops: IdVec<OpId, OpNode>,
    /// What flows.
    pub values: IdVec<ValueId, Value>,
    /// Where results go.
    pub outputs: Vec<Output>,
    /// Renames since an earlier state of the file, from the old name to the new: of a stage, or of
    /// `stage.op`.
    pub moved: Vec<(String, String)>,
}

/// What is known of a symbolic size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dim {
    /// The value that times are evaluated at.
    pub plan: Option<u64>,
    /// The largest value, at which feasibility is checked.
    pub max: Option<u64>,
    /// The collection whose every item has a size of its own.
    pub per_item: Option<CollectionId>,
}

/// Several items that a stage runs over, one task each.
#[derive(Clone, Debug)]
pub struct Collection {
    /// The input that it comes from: `files`.
    pub name: String,
    /// That input.
    pub input: InputId,
    /// How many items there are; the symbol of its name until data binds it.
    pub width: Expr,
}

/// An input of the pipeline.
#[derive(Clone, Debug)]
pub struct Input {
    /// The author's name.
    pub name: String,
    /// Where the data is.
    pub source: Source,
    /// The value it gives; of each item, for a collection.
    pub value: ValueId,
    /// The collection it makes.
    pub collection: Option<CollectionId>,
}

/// Where data comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A file.
    File(File),
    /// One item for each file whose path matches, sorted by path.
    Files {
        /// The pattern.
        glob: String,
        /// How they are read; by their endings where `None`.
        format: Option<&'static Format>,
        /// What the author says of them.
        settings: Settings,
    },
    /// One item for each slice of another input along an axis.
    Split {
        /// That input.
        of: InputId,
        /// The axis that is cut.
        axis: usize,
        /// How long a slice is; the last one may be shorter.
        size: u64,
    },
    /// Numbers uniform in [0, 1), the same on every machine.
    Random {
        /// Which numbers.
        seed: u64,
    },
    /// The same numbers always, in row-major order; one for a value that fills the whole tensor.
    Constant {
        /// The numbers; of complex ones the real and the imaginary part.
        numbers: Vec<f64>,
    },
    /// The same texts always: one, or a row each.
    Texts {
        /// The texts.
        texts: Vec<String>,
    },
    /// Numbers evenly spaced from `start` to `stop`, both included.
    Linspace {
        /// The first number.
        start: f64,
        /// The last number.
        stop: f64,
    },
}

/// The unit that is scheduled and requests resources.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The author's name.
    pub name: String,
    /// Runs once for each item of this collection.
    pub each: Option<CollectionId>,
    /// What it asks for: any one of these; never empty.
    pub requests: Vec<Request>,
    /// What is done about a task that does not succeed.
    pub failure: Failure,
    /// Its ops, in order.
    pub ops: Vec<OpId>,
    /// What it gives to other stages and outputs.
    pub results: Vec<ValueId>,
    /// The value named after the stage.
    pub value: ValueId,
}

/// What is done about a task that does not succeed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// How often a program is started again after it failed.
    pub retries: u32,
    /// How many nanoseconds it may take each time.
    pub timeout: Option<Nanos>,
    /// What becomes of the run in the end.
    pub on_error: OnError,
}

/// What becomes of a run when a task fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// It ends.
    #[default]
    Fail,
    /// It goes on without what depends on the task.
    Skip,
}

/// What one task of a stage asks for, all on one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// Whole CPUs, at least 1.
    pub cpus: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// GPUs.
    pub gpus: GpuCount,
    /// The device type, where only that one will do.
    pub gpu_type: Option<String>,
    /// Bytes of device memory.
    pub vram: Option<u64>,
}

/// GPUs in ten-thousandths: whole devices, or a share below one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GpuCount(pub u32);

impl GpuCount {
    /// None.
    pub const NONE: GpuCount = GpuCount(0);
    /// One whole device.
    pub const ONE: GpuCount = GpuCount(10_000);
}

impl fmt::Display for GpuCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 10_000, self.0 % 10_000);
        match rest {
            0 => write!(f, "{whole}"),
            _ => f.write_str(format!("{whole}.{rest:04}").trim_end_matches('0')),
        }
    }
}

/// Which side the author wants an op on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pin {
    /// Whatever costs less.
    #[default]
    Auto,
    /// On CPUs.
    Cpu,
    /// On the GPU, or an error.
    Gpu,
}

/// A node of the graph: one op, computed once for each task of its stage.
#[derive(Clone, Debug)]
pub struct OpNode {
    /// The author's name for its result, or one made of it and the op's name: `g`, `g.matmul`.
    /// Unique in its stage.
    pub name: String,
    /// Its stage.
    pub stage: StageId,
    /// What it computes.
    pub op: &'static dyn Op,
    /// Value arguments in order.
    pub args: Vec<Arg>,
    /// Attributes.
    pub attrs: Attrs,
    /// Its results.
    pub results: Vec<ValueId>,
    /// The author's wish.
    pub pin: Pin,
}

/// An argument of an op.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Arg {
    /// A value of the graph, of the dtype that the op computes in.
    Value(ValueId),
    /// Each item of a collection.
    Items(ValueId),
    /// A scalar known when the stage starts, in the dtype that the op computes in.
    Scalar(Scalar, DType),
}

impl Arg {
    /// The value, where it is one or the items of one.
    pub fn value(&self) -> Option<ValueId> {
        match self {
            Arg::Value(value) | Arg::Items(value) => Some(*value),
            Arg::Scalar(..) => None,
        }
    }
}

/// A weakly typed scalar: a number, a dim, or elementwise ops of such.
#[derive(Clone, Debug)]
pub enum Scalar {
    /// A whole number, perhaps in dims.
    Int(Expr),
    /// A number with a fraction.
    Float(f64),
    /// An elementwise op of scalars, computed in `f64` when the dims are known.
    Apply(&'static dyn Op, Vec<Scalar>),
}

impl Scalar {
    /// Its kind.
    pub fn weak(&self) -> Weak {
        match self {
            Scalar::Int(_) => Weak::Int,
            Scalar::Float(_) | Scalar::Apply(..) => Weak::Float,
        }
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Scalar::Int(a), Scalar::Int(b)) => a == b,
            // As bits, so that a NaN is itself and 0.0 is not -0.0.
            (Scalar::Float(a), Scalar::Float(b)) => a.to_bits() == b.to_bits(),
            (Scalar::Apply(f, a), Scalar::Apply(g, b)) => f.name() == g.name() && a == b,
            _ => false,
        }
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Scalar::Int(expr) => expr.hash(state),
            Scalar::Float(value) => value.to_bits().hash(state),
            Scalar::Apply(op, args) => (op.name(), args).hash(state),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Int(expr) => write!(f, "{expr}"),
            Scalar::Float(value) => write!(f, "{value}"),
            Scalar::Apply(op, args) => {
                write!(f, "{}(", op.name())?;
                for (position, arg) in args.iter().enumerate() {
                    write!(f, "{}{arg}", if position == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
        }
    }
}

/// What flows from one producer to any number of consumers.
#[derive(Clone, Debug)]
pub struct Value {
    /// The author's name, or that of the op that makes it. For people; not unique.
    pub name: String,
    /// Its type; of each item, for a collection.
    pub ty: ValueType,
    /// The collection whose every item has one of its own.
    pub over: Option<CollectionId>,
    /// What makes it.
    pub producer: Producer,
}

/// What makes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Producer {
    /// An input.
    Input(InputId),
    /// An op.
    Op(OpId),
}

/// A sink.
#[derive(Clone, Debug)]
pub struct Output {
    /// The author's name.
    pub name: String,
    /// Where and in which format it is written.
    pub sink: File,
    /// What is written; each item, for a collection.
    pub value: ValueId,
}

/// Ops that run as one kernel: a chain of elementwise ops, or any single op. What is costed and
/// placed. It is named after its last op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its ops, in order; never empty, all of one stage.
    pub ops: Vec<OpId>,
}

/// A graph that was checked: the one thing that costing, placing and running accept.
///
/// What holds of it:
/// 1. every id is of its table;
/// 2. a value is made by the producer that it names, before it is used;
/// 3. ops stand stage by stage, and an op uses values of other stages only where these give them;
/// 4. the shape rule of every op accepts its arguments and gives the types of its results;
/// 5. every op is in one group, of its own stage, and only elementwise ops share one;
/// 6. names of stages are unique, and names of ops in a stage;
/// 7. no size is too large for 63 bits.
#[derive(Clone, Debug)]
pub struct Typed {
    graph: Graph,
    groups: IdVec<GroupId, Group>,
    group_of: IdVec<OpId, GroupId>,
}

impl Typed {
    /// Checks what the [type's page](Typed) lists.
    ///
    /// # Errors
    /// What does not hold, in words for whoever wrote the pass before.
    pub fn check(graph: Graph, groups: IdVec<GroupId, Group>) -> Result<Typed, String> {
        check_values(&graph)?;
        check_stages(&graph)?;
        let mut is_result = IdVec::filled(false, graph.values.len());
        for value in graph.stages.iter().flat_map(|stage| &stage.results) {
            is_result[*value] = true;
        }
        for (id, node) in graph.ops.entries() {
            check_uses(&graph, id, node, &is_result)?;
            check_types(&graph, id, node)?;
        }
        let group_of = check_groups(&graph, &groups)?;
        Ok(Typed {
            graph,
            groups,
            group_of,
        })
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The groups, each after those it depends on, stage by stage.
    pub fn groups(&self) -> &IdVec<GroupId, Group> {
        &self.groups
    }

    /// The group that an op is in.
    pub fn group_of(&self, op: OpId) -> GroupId {
        self.group_of[op]
    }

    /// The groups of a stage, in order.
    pub fn groups_of(&self, stage: StageId) -> Vec<GroupId> {
        let mut groups: Vec<_> = self.graph.stages[stage]
            .ops
            .iter()
            .map(|op| self.group_of[*op])
            .collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    /// The last op of a group, which names it.
    pub fn head(&self, group: GroupId) -> OpId {
        self.groups[group].ops[self.groups[group].ops.len() - 1]
    }

    /// Values that a group reads and does not make, each once, in order of first use.
    pub fn reads(&self, group: GroupId) -> Vec<ValueId> {
        let mut seen = HashSet::new();
        let args = self.groups[group]
            .ops
            .iter()
            .flat_map(|op| &self.graph.ops[*op].args)
            .filter_map(Arg::value);
        args.filter(|value| match self.graph.values[*value].producer {
            Producer::Op(op) => self.group_of[op] != group,
            Producer::Input(_) => true,
        })
        .filter(|value| seen.insert(*value))
        .collect()
    }

    /// Back to a graph that can be changed; the proof is gone.
    pub fn into_graph(self) -> Graph {
        self.graph
    }
}

/// The types of an op's arguments.
pub fn arg_types(graph: &Graph, node: &OpNode) -> Vec<ArgType> {
    let one = |arg: &Arg| match arg {
        Arg::Value(value) => ArgType::Value(graph.values[*value].ty.clone()),
        Arg::Items(value) => {
            let value = &graph.values[*value];
            let width = value
                .over
                .map_or(Expr::ONE, |over| graph.collections[over].width.clone());
            ArgType::Items(value.ty.clone(), width)
        }
        Arg::Scalar(_, dtype) => ArgType::Value(TensorType::new(*dtype, Vec::new()).into()),
    };
    node.args.iter().map(one).collect()
}

fn known<I: Id, T: fmt::Debug>(table: &IdVec<I, T>, id: I) -> Result<(), String> {
    table
        .get(id)
        .map(drop)
        .ok_or_else(|| format!("{id:?} is of no table"))
}

fn check_values(graph: &Graph) -> Result<(), String> {
    for (id, value) in graph.values.entries() {
        let made = match value.producer {
            Producer::Op(op) => {
                known(&graph.ops, op)?;
                graph.ops[op].results.contains(&id)
            }
            Producer::Input(input) => {
                known(&graph.inputs, input)?;
                graph.inputs[input].value == id
            }
        };
        if !made {
            return Err(format!(
                "{id:?} `{}` is not made by {:?}",
                value.name, value.producer
            ));
        }
        let too_large = |size: &Expr| {
            size.is_overflow() || size.as_int().is_some_and(|n| i64::try_from(n).is_err())
        };
        if value.ty.sizes().iter().any(too_large) || too_large(&value.ty.bytes()) {
            let ty = &value.ty;
            return Err(format!("{id:?} `{}` is too large: {ty}", value.name));
        }
    }
    graph
        .outputs
        .iter()
        .try_for_each(|output| known(&graph.values, output.value))
}

fn check_stages(graph: &Graph) -> Result<(), String> {
    let mut names = HashSet::new();
    let mut next = 0;
    for (id, stage) in graph.stages.entries() {
        if !names.insert(&stage.name) {
            return Err(format!("two stages are called `{}`", stage.name));
        }
        if stage.requests.is_empty() {
            return Err(format!("stage `{}` requests nothing", stage.name));
        }
        let mut op_names = HashSet::new();
        for op in &stage.ops {
            known(&graph.ops, *op)?;
            if graph.ops[*op].stage != id || op.index() != next {
                return Err(format!("{op:?} does not stand in the order of its stage"));
            }
            if !op_names.insert(&graph.ops[*op].name) {
                return Err(format!("two ops of `{}` have one name", stage.name));
            }
            next += 1;
        }
        stage
            .results
            .iter()
            .chain([&stage.value])
            .try_for_each(|v| known(&graph.values, *v))?;
    }
    if next != graph.ops.len() {
        Err("an op is in no stage".into())
    } else {
        Ok(())
    }
}

fn check_uses(
    graph: &Graph,
    id: OpId,
    node: &OpNode,
    is_result: &IdVec<ValueId, bool>,
) -> Result<(), String> {
    for value in node.args.iter().filter_map(Arg::value) {
        known(&graph.values, value)?;
        let Producer::Op(producer) = graph.values[value].producer else {
            continue;
        };
        if producer >= id {
            return Err(format!(
                "{id:?} `{}` uses {value:?} before it is made",
                node.name
            ));
        }
        let from = graph.ops[producer].stage;
        if from != node.stage && !is_result[value] {
            return Err(format!(
                "{value:?} is used outside `{}`",
                graph.stages[from].name
            ));
        }
    }
    Ok(())
}

fn check_types(graph: &Graph, id: OpId, node: &OpNode) -> Result<(), String> {
    let inputs = arg_types(graph, node);
    let inferred = node.op.infer(&Call {
        inputs: &inputs,
        attrs: &node.attrs,
    });
    let inferred = inferred.map_err(|e| format!("{id:?} `{}`: {}", node.name, e.message))?;
    let results: Vec<_> = node
        .results
        .iter()
        .map(|v| graph.values[*v].ty.clone())
        .collect();
    if inferred.outputs != results {
        let found = &inferred.outputs;
        return Err(format!(
            "{id:?} `{}` gives {found:?}, its results are {results:?}",
            node.name
        ));
    }
    Ok(())
}

fn check_groups(
    graph: &Graph,
    groups: &IdVec<GroupId, Group>,
) -> Result<IdVec<OpId, GroupId>, String> {
    let mut group_of: IdVec<OpId, Option<GroupId>> = IdVec::filled(None, graph.ops.len());
    for (id, group) in groups.entries() {
        let Some(first) = group.ops.first() else {
            return Err(format!("{id:?} is empty"));
        };
        for op in &group.ops {
            known(&graph.ops, *op)?;
            let node = &graph.ops[*op];
            let elementwise = matches!(node.op.cpu(), CpuKernel::Elementwise(_));
            if node.stage != graph.ops[*first].stage || (group.ops.len() > 1 && !elementwise) {
                return Err(format!("{op:?} `{}` cannot be in {id:?}", node.name));
            }
            if group_of[*op].replace(id).is_some() {
                return Err(format!("{op:?} is in two groups"));
            }
        }
    }
    let all: Option<Vec<_>> = group_of.iter().copied().collect();
    Ok(all.ok_or("an op is in no group")?.into_iter().collect())
}
