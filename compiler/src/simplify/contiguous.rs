//! Copies of views: before kernels that cannot take strides, and where a view leaves its stage.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use haul_ir::expr::Expr;
use haul_ir::graph::{Arg, Graph, OpNode, Producer, Value};
use haul_ir::id::{Id, IdVec, OpId, StageId, ValueId};
use haul_ir::op::{Attrs, CpuKernel, KernelError, Op};
use haul_ir::tensor::Layout;

use crate::ops::{COPY, Ops};
use crate::places::Places;

/// Adds the copies. Where the catalogue has no op for it, none.
pub(super) fn copy_views(graph: Graph, places: Places, ops: &Ops) -> (Graph, Places) {
    let Some(copy) = ops.find(COPY) else {
        return (graph, places);
    };
    let mut copies = Copies {
        copy,
        originals: graph.values.len(),
        layouts: HashMap::new(),
        leaving: HashMap::new(),
        here: HashMap::new(),
        names: HashSet::new(),
        added: Vec::new(),
        graph,
    };
    for stage in copies.graph.stages.ids() {
        copies.stage(stage);
    }
    for output in &mut copies.graph.outputs {
        output.value = copies
            .leaving
            .get(&output.value)
            .copied()
            .unwrap_or(output.value);
    }
    if copies.added.is_empty() {
        return (copies.graph, places);
    }
    insert(copies.graph, places, copies.added)
}

/// A copy, and the op before which it stands; of that it has place and side.
struct Added {
    before: usize,
    of: OpId,
    node: OpNode,
}

struct Copies {
    copy: &'static dyn Op,
    /// How many values there are without the copies.
    originals: usize,
    /// Where elements of views lie, where that is known.
    layouts: HashMap<ValueId, Layout>,
    /// The copy that leaves its stage instead of a view.
    leaving: HashMap<ValueId, ValueId>,
    /// Copies in the stage at hand.
    here: HashMap<ValueId, ValueId>,
    /// Names of ops in the stage at hand, once a copy needs one.
    names: HashSet<String>,
    /// The copies, in order.
    added: Vec<Added>,
    /// The graph, whose arguments are changed in place. It has the copies' values, but their ops
    /// only at the end.
    graph: Graph,
}

impl Copies {
    fn stage(&mut self, id: StageId) {
        self.here.clear();
        self.names.clear();
        let ops = self.graph.stages[id].ops.clone();
        for op in &ops {
            self.op(*op);
        }
        let end = ops.last().map_or(0, |op| op.index() + 1);
        for position in 0..self.graph.stages[id].results.len() {
            let result = self.graph.stages[id].results[position];
            self.graph.stages[id].results[position] = self.leaving(result, end);
        }
        let value = self.graph.stages[id].value;
        self.graph.stages[id].value = self.leaving(value, end);
    }

    fn op(&mut self, id: OpId) {
        let kernel = self.graph.ops[id].op.cpu();
        let needs_contiguous = matches!(
            kernel,
            CpuKernel::Contiguous(_) | CpuKernel::Reshape | CpuKernel::Measured { .. }
        );
        for position in 0..self.graph.ops[id].args.len() {
            let node = &self.graph.ops[id];
            let Some(value) = node.args[position].value() else {
                continue;
            };
            let stage = node.stage;
            let seen = match self.leaving.get(&value) {
                Some(copy) if !self.is_made_in(value, stage) => *copy,
                _ if needs_contiguous && self.is_gapped(value, stage) => {
                    self.copied(value, stage, id, id.index())
                }
                _ => continue,
            };
            match &mut self.graph.ops[id].args[position] {
                Arg::Value(value) | Arg::Items(value) => *value = seen,
                Arg::Scalar(..) => {}
            }
        }
        if let CpuKernel::View(view) = kernel {
            self.note_layout(id, view);
        }
    }

    /// A value that leaves its stage, not as a view.
    fn leaving(&mut self, value: ValueId, end: usize) -> ValueId {
        if value.index() >= self.originals {
            return value;
        }
        let Producer::Op(op) = self.graph.values[value].producer else {
            return value;
        };
        let node = &self.graph.ops[op];
        if !matches!(node.op.cpu(), CpuKernel::View(_) | CpuKernel::Reshape) {
            return value;
        }
        let copy = self.copied(value, node.stage, op, end);
        self.leaving.insert(value, copy);
        copy
    }

    /// The copy of a value in a stage, made at the latest before the op at a position.
    fn copied(&mut self, value: ValueId, stage: StageId, of: OpId, before: usize) -> ValueId {
        if let Some(copy) = self.here.get(&value) {
            return *copy;
        }
        let original = &self.graph.values[value];
        let base = match original.producer {
            Producer::Op(maker) if self.graph.ops[maker].stage == stage => maker,
            _ => of,
        };
        let name = self.free_name(base, stage);
        let original = &self.graph.values[value];
        let copy = self.graph.values.push(Value {
            over: self.graph.stages[stage].each,
            ..original.clone()
        });
        let node = OpNode {
            name,
            stage,
            op: self.copy,
            args: vec![Arg::Value(value)],
            attrs: Attrs::default(),
            results: vec![copy],
            pin: self.graph.ops[of].pin,
        };
        self.added.push(Added { before, of, node });
        self.here.insert(value, copy);
        copy
    }

    /// `base.copy`, with a number where the stage has that name.
    fn free_name(&mut self, base: OpId, stage: StageId) -> String {
        if self.names.is_empty() {
            let ops = self.graph.stages[stage].ops.iter();
            self.names = ops.map(|op| self.graph.ops[*op].name.clone()).collect();
        }
        let name = format!("{}.copy", self.graph.ops[base].name);
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        let free = names.find(|name| self.names.insert(name.clone()));
        free.unwrap_or(name)
    }

    fn is_made_in(&self, value: ValueId, stage: StageId) -> bool {
        match self.graph.values[value].producer {
            Producer::Op(op) => self.graph.ops[op].stage == stage,
            Producer::Input(_) => false,
        }
    }

    /// Whether a value is a view made in the stage; others lie in memory without gaps.
    fn is_view(&self, value: ValueId, stage: StageId) -> bool {
        match self.graph.values[value].producer {
            Producer::Op(op) => {
                let node = &self.graph.ops[op];
                node.stage == stage && matches!(node.op.cpu(), CpuKernel::View(_))
            }
            Producer::Input(_) => false,
        }
    }

    /// Whether a value may lie in memory with gaps, or in another order.
    fn is_gapped(&self, value: ValueId, stage: StageId) -> bool {
        let layout = self.layouts.get(&value);
        self.is_view(value, stage) && !layout.is_some_and(Layout::is_contiguous)
    }

    /// Remembers where the elements of a view lie, where its sizes are known.
    fn note_layout(&mut self, id: OpId, view: fn(&Layout, &Attrs) -> Result<Layout, KernelError>) {
        let node = &self.graph.ops[id];
        let ([Arg::Value(base)], [result]) = (node.args.as_slice(), node.results.as_slice()) else {
            return;
        };
        if has_symbol(&node.attrs) {
            return;
        }
        let base = match self.is_view(*base, node.stage) {
            true => self.layouts.get(base).cloned(),
            false => contiguous(&self.graph.values[*base]),
        };
        if let Some(layout) = base.and_then(|base| view(&base, &node.attrs).ok()) {
            self.layouts.insert(*result, layout);
        }
    }
}

/// The layout of a value without gaps.
fn contiguous(value: &Value) -> Option<Layout> {
    let sizes = value.ty.tensor()?.shape.iter();
    let sizes = sizes.map(|size| usize::try_from(size.as_int()?).ok());
    Some(Layout::contiguous(&sizes.collect::<Option<Vec<_>>>()?))
}

/// Whether an attribute is known only when data binds it.
fn has_symbol(attrs: &Attrs) -> bool {
    let found = Cell::new(false);
    let _: Attrs = attrs.bind(&|_| -> Option<Expr> {
        found.set(true);
        None
    });
    found.get()
}

/// The graph with the copies among its ops, which are renumbered.
fn insert(mut graph: Graph, mut places: Places, mut added: Vec<Added>) -> (Graph, Places) {
    added.sort_by_key(|added| added.before);
    let ops = std::mem::take(&mut graph.ops);
    let (spans, pins) = (
        std::mem::take(&mut places.ops),
        std::mem::take(&mut places.pins),
    );
    let mut push = |graph: &mut Graph, node: OpNode, of: OpId| {
        places.ops.push(spans[of]);
        places.pins.push(pins[of]);
        graph.ops.push(node);
    };
    let mut added = added.into_iter().peekable();
    for (position, node) in ops.into_iter().enumerate() {
        while let Some(copy) = added.next_if(|added| added.before <= position) {
            push(&mut graph, copy.node, copy.of);
        }
        push(&mut graph, node, OpId::from_index(position));
    }
    for copy in added {
        push(&mut graph, copy.node, copy.of);
    }
    let mut by_stage: IdVec<StageId, Vec<OpId>> = IdVec::filled(Vec::new(), graph.stages.len());
    for (id, node) in graph.ops.entries() {
        by_stage[node.stage].push(id);
        for result in &node.results {
            graph.values[*result].producer = Producer::Op(id);
        }
    }
    for (stage, ops) in graph.stages.iter_mut().zip(by_stage) {
        stage.ops = ops;
    }
    (graph, places)
}
