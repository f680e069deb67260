//! What the drawings of a plan share: nodes and edges, and the words on them.
//!
//! A transfer is a node of its own between the value's producer and its readers, so that what is
//! paid once is drawn once.

use std::collections::{BTreeMap, HashMap};

use haul_ir::graph::{Arg, Graph, Producer};
use haul_ir::id::{GroupId, Id, IdVec, InputId, OpId, StageId, ValueId};
use haul_ir::plan::{Direction, Plan, Side, Transfer};
use haul_ir::types::ValueType;

use super::values::Values;
use super::{choices, names, text, units};

/// Most characters of a line in a drawing; longer ones are cut.
const LINE: usize = 64;
/// Most names that one line lists.
const LISTED: usize = 8;

/// How much of a plan is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// A node for each group of ops, inside its stage.
    Groups,
    /// A node for each stage.
    Stages,
}

/// The nodes and edges of a plan.
pub(super) struct Drawing {
    /// The nodes: inputs, then stage by stage, then outputs.
    pub(super) nodes: Vec<Node>,
    /// The edges, each pair of nodes once.
    pub(super) edges: Vec<Edge>,
    /// What is drawn.
    pub(super) detail: Detail,
}

/// A node of a drawing.
pub(super) struct Node {
    /// What it stands for.
    pub(super) kind: Kind,
    /// The stage that it is drawn inside.
    pub(super) stage: Option<StageId>,
    /// The side, of what has one.
    pub(super) side: Option<Side>,
    /// The words on it, the name first.
    pub(super) lines: Vec<String>,
}

/// What a node of a drawing stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Input(InputId),
    Stage(StageId),
    Group(GroupId),
    /// One of the stage's transfers, by position.
    Transfer(StageId, usize),
    /// One of the outputs, by position.
    Output(usize),
}

/// Values that flow from a node to another.
pub(super) struct Edge {
    /// The producer, by position.
    pub(super) from: usize,
    /// The reader, by position.
    pub(super) to: usize,
    /// The types and bytes of the values; empty beside a transfer, which says them.
    pub(super) label: Vec<String>,
    /// Whether it is part of a transfer.
    pub(super) is_transfer: bool,
}

impl Kind {
    /// A name of letters, digits and `_`, unique in the drawing and known to the reader: `group_3`.
    pub(super) fn id(self) -> String {
        match self {
            Kind::Input(id) => format!("input_{}", id.index()),
            Kind::Stage(id) => stage_id(id),
            Kind::Group(id) => format!("group_{}", id.index()),
            Kind::Transfer(stage, at) => format!("transfer_{}_{at}", stage.index()),
            Kind::Output(at) => format!("output_{at}"),
        }
    }
}

/// The name of a stage in a drawing, as [`Kind::id`].
pub(super) fn stage_id(id: StageId) -> String {
    format!("stage_{}", id.index())
}

impl Drawing {
    /// Draws a plan.
    pub(super) fn of(plan: &Plan, detail: Detail) -> Self {
        let graph = plan.typed.graph();
        let mut artist = Artist {
            plan,
            graph,
            words: Words::of(plan),
            nodes: Vec::new(),
            flows: BTreeMap::new(),
            of_input: IdVec::new(),
            of_op: IdVec::filled(0, graph.ops.len()),
            to_device: HashMap::new(),
            to_host: HashMap::new(),
        };
        artist.inputs();
        for stage in graph.stages.ids() {
            match detail {
                Detail::Groups => artist.groups(stage),
                Detail::Stages => artist.stage(stage),
            }
        }
        artist.reads();
        artist.outputs();
        let edges = artist.edges();
        Self {
            nodes: artist.nodes,
            edges,
            detail,
        }
    }

    /// The positions of the nodes that are drawn inside each stage.
    pub(super) fn inside(&self, stages: usize) -> IdVec<StageId, Vec<usize>> {
        let mut inside = IdVec::filled(Vec::new(), stages);
        for (position, node) in self.nodes.iter().enumerate() {
            if let Some(stage) = node.stage {
                inside[stage].push(position);
            }
        }
        inside
    }
}

struct Artist<'a> {
    plan: &'a Plan,
    graph: &'a Graph,
    words: Words<'a>,
    nodes: Vec<Node>,
    /// The values that flow between two nodes.
    flows: BTreeMap<(usize, usize), Vec<ValueId>>,
    of_input: IdVec<InputId, usize>,
    of_op: IdVec<OpId, usize>,
    to_device: HashMap<(StageId, ValueId), usize>,
    to_host: HashMap<ValueId, usize>,
}

impl Artist<'_> {
    fn node(
        &mut self,
        kind: Kind,
        stage: Option<StageId>,
        side: Option<Side>,
        lines: Vec<String>,
    ) -> usize {
        let lines = lines.iter().map(|line| cut(line)).collect();
        self.nodes.push(Node {
            kind,
            stage,
            side,
            lines,
        });
        self.nodes.len() - 1
    }

    fn inputs(&mut self) {
        for (id, input) in self.graph.inputs.entries() {
            let each = input.collection.map_or("", |_| "each ");
            let ty = &self.graph.values[input.value].ty;
            let lines = vec![input.name.clone(), format!("{each}{ty}")];
            let node = self.node(Kind::Input(id), None, None, lines);
            self.of_input.push(node);
        }
    }

    fn stage(&mut self, id: StageId) {
        let mut lines = self.words.stage(id);
        let [gpu, _] = self.words.on_each_side(id);
        let side = if gpu > 0 { Side::Gpu } else { Side::Cpu };
        let time = units::time_or_unknown(self.plan.stages[id].time);
        lines.push(format!("{}; a task {time}", self.words.sides(id)));
        let node = self.node(Kind::Stage(id), None, Some(side), lines);
        for op in &self.graph.stages[id].ops {
            self.of_op[*op] = node;
        }
    }

    fn groups(&mut self, id: StageId) {
        for (at, transfer) in self.plan.stages[id].transfers.iter().enumerate() {
            let lines = vec![self.words.transfer(id, transfer)];
            let node = self.node(Kind::Transfer(id, at), Some(id), None, lines);
            match transfer.direction {
                Direction::HostToDevice => {
                    self.to_device.insert((id, transfer.value), node);
                }
                Direction::DeviceToHost => {
                    self.to_host.insert(transfer.value, node);
                }
            }
        }
        for group in self.plan.typed.groups_of(id) {
            let side = self.plan.groups[group].placement.side;
            let lines = self.words.group(group);
            let node = self.node(Kind::Group(group), Some(id), Some(side), lines);
            for op in &self.plan.typed.groups()[group].ops {
                self.of_op[*op] = node;
            }
        }
    }

    fn reads(&mut self) {
        for node in self.graph.ops.ids() {
            let reader = self.of_op[node];
            for value in self.graph.ops[node].args.iter().filter_map(Arg::value) {
                let op = &self.graph.ops[node];
                let side = self.nodes[reader].side;
                let from = self.arrives(value, Some(op.stage), side);
                self.flow(from, reader, value);
            }
        }
    }

    fn outputs(&mut self) {
        for (at, output) in self.graph.outputs.iter().enumerate() {
            let lines = [&*output.name, &output.sink.path].map(names::on_one_line);
            let node = self.node(Kind::Output(at), None, None, lines.to_vec());
            let from = self.arrives(output.value, None, Some(Side::Cpu));
            self.flow(from, node, output.value);
        }
    }

    /// The node that hands a value to a reader on a side: a transfer, or what makes it.
    fn arrives(&mut self, value: ValueId, at: Option<StageId>, side: Option<Side>) -> usize {
        let (made, from) = match self.graph.values[value].producer {
            Producer::Input(input) => (self.of_input[input], None),
            Producer::Op(op) => (self.of_op[op], Some(self.graph.ops[op].stage)),
        };
        let leaves = from != at || side == Some(Side::Cpu);
        let on_host = self.to_host.get(&value).filter(|_| leaves).copied();
        if let Some(copied) = on_host {
            self.flow(made, copied, value);
        }
        let source = on_host.unwrap_or(made);
        let key = at.map(|stage| (stage, value));
        let on_device = key.and_then(|key| self.to_device.get(&key).copied());
        match on_device.filter(|_| side == Some(Side::Gpu)) {
            Some(copied) => {
                self.flow(source, copied, value);
                copied
            }
            None => source,
        }
    }

    fn flow(&mut self, from: usize, to: usize, value: ValueId) {
        if from == to {
            return;
        }
        let values = self.flows.entry((from, to)).or_default();
        if values.last() != Some(&value) {
            values.push(value);
        }
    }

    fn edges(&mut self) -> Vec<Edge> {
        let flows = std::mem::take(&mut self.flows);
        let edge = |((from, to), values): ((usize, usize), Vec<ValueId>)| {
            let ends = [&self.nodes[from], &self.nodes[to]];
            let is_transfer = ends
                .iter()
                .any(|node| matches!(node.kind, Kind::Transfer(..)));
            let mut label = Vec::new();
            if !is_transfer {
                label = self.label(&ends[0].lines[0], values);
            }
            Edge {
                from,
                to,
                label,
                is_transfer,
            }
        };
        flows.into_iter().map(edge).collect()
    }

    /// A line for each value, with its name where the node that it leaves has another.
    fn label(&self, from: &str, mut values: Vec<ValueId>) -> Vec<String> {
        values.sort_unstable();
        values.dedup();
        let rest = values.len().saturating_sub(LISTED);
        values.truncate(LISTED);
        let line = |id: ValueId| {
            let value = &self.graph.values[id];
            let described = self.words.value(id);
            match value.name == from {
                true => cut(&described),
                false => cut(&format!("{} {described}", value.name)),
            }
        };
        let mut lines: Vec<_> = values.into_iter().map(line).collect();
        if rest > 0 {
            lines.push(format!("and {rest} more"));
        }
        lines
    }
}

/// The words of a drawing, at the sizes that the plan was made for.
pub(super) struct Words<'a> {
    plan: &'a Plan,
    graph: &'a Graph,
    values: Values<'a>,
}

impl<'a> Words<'a> {
    pub(super) fn of(plan: &'a Plan) -> Self {
        Self {
            plan,
            graph: plan.typed.graph(),
            values: Values::of(plan),
        }
    }

    /// A stage: its name with its tasks, its request with its node.
    pub(super) fn stage(&self, id: StageId) -> Vec<String> {
        let (stage, planned) = (&self.graph.stages[id], &self.plan.stages[id]);
        let each = stage.each.map_or_else(String::new, |over| {
            let collection = &self.graph.collections[over].name;
            format!(" each {collection}: {} tasks", self.tasks(id))
        });
        let request = text::request(planned.request(&stage.requests));
        let node = &self.plan.target.nodes[planned.node].name;
        vec![
            cut(&format!("{}{each}", stage.name)),
            cut(&format!("{request} on {}", names::on_one_line(node))),
        ]
    }

    /// How many tasks a stage has, or `unknown`.
    pub(super) fn tasks(&self, id: StageId) -> String {
        let tasks = self.values.eval(&self.plan.stages[id].tasks);
        tasks.map_or_else(|| "unknown".to_owned(), |tasks| tasks.to_string())
    }

    /// How many groups of ops a stage has on the GPU and on the CPU.
    fn on_each_side(&self, id: StageId) -> [usize; 2] {
        let groups = self.plan.typed.groups_of(id);
        let on_gpu = |group: &&GroupId| self.plan.groups[**group].placement.side == Side::Gpu;
        let gpu = groups.iter().filter(on_gpu).count();
        [gpu, groups.len() - gpu]
    }

    /// How many groups of ops a stage has on each side: `3 gpu, 2 cpu`.
    pub(super) fn sides(&self, id: StageId) -> String {
        match self.on_each_side(id) {
            [0, cpu] => format!("{cpu} cpu"),
            [gpu, 0] => format!("{gpu} gpu"),
            [gpu, cpu] => format!("{gpu} gpu, {cpu} cpu"),
        }
    }

    /// A value: `f32[n, 8] 64.0 KiB`.
    fn value(&self, id: ValueId) -> String {
        let ty = &self.graph.values[id].ty;
        let bytes = self.values.eval(&ty.bytes());
        match bytes.filter(|_| *ty != ValueType::Text) {
            Some(bytes) => format!("{ty} {}", units::bytes(bytes)),
            None => ty.to_string(),
        }
    }

    /// A transfer: `h2d parsed 64.0 KiB, 12.6 us`.
    pub(super) fn transfer(&self, stage: StageId, transfer: &Transfer) -> String {
        let value = names::value(self.graph, transfer.value, Some(stage));
        let bytes = self.values.eval(&transfer.bytes).map(units::bytes);
        let bytes = bytes.unwrap_or_else(|| "unknown bytes".to_owned());
        let time = units::time_or_unknown(transfer.time);
        format!("{} {value} {bytes}, {time}", transfer.direction)
    }

    /// A group: its name, its ops, its type, its side with its time.
    fn group(&self, id: GroupId) -> Vec<String> {
        let head = &self.graph.ops[self.plan.typed.head(id)];
        let planned = &self.plan.groups[id];
        let time = units::time_or_unknown(choices::cost(planned));
        let doubt = if planned.placement.close_call {
            ", close call"
        } else {
            ""
        };
        let mut lines = vec![head.name.clone(), head.op.name().to_owned()];
        lines.extend(self.fused(id));
        lines.push(names::types(self.graph, head));
        lines.push(format!("{} {time}{doubt}", planned.placement.side));
        lines
    }

    /// The ops that run inside a group's kernel before its head, in lines that fit.
    fn fused(&self, id: GroupId) -> Vec<String> {
        let ops = &self.plan.typed.groups()[id].ops;
        let inner = &ops[..ops.len() - 1];
        let listed = inner.iter().take(LISTED);
        let named = listed.map(|op| format!("after {}", self.graph.ops[*op].name));
        let mut lines: Vec<_> = named.collect();
        if inner.len() > LISTED {
            lines.push(format!("and {} more", inner.len() - LISTED));
        }
        lines
    }
}

/// The text, or as much of it as one line takes.
fn cut(text: &str) -> String {
    match text.char_indices().nth(LINE) {
        None => text.to_owned(),
        Some(_) => text.chars().take(LINE - 1).chain(['…']).collect(),
    }
}
