//! Copies of views: before kernels that cannot take strides, and where a view leaves its stage.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use haul_ir::diagnostic::Span;
use haul_ir::expr::Expr;
use haul_ir::graph::{Arg, Graph, OpNode, Producer, Value};
use haul_ir::id::{Id, IdVec, OpId, StageId, ValueId};
use haul_ir::op::{Attrs, CpuKernel, Op};
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
        layouts: HashMap::new(),
        originals: graph.values.len(),
        moved: IdVec::filled(None, graph.values.len()),
        here: HashMap::new(),
        names: HashSet::new(),
        ops: IdVec::new(),
        spans: IdVec::new(),
        pins: IdVec::new(),
        old: graph,
        places,
    };
    for stage in copies.old.stages.ids() {
        copies.stage(stage);
    }
    copies.finish()
}

struct Copies {
    copy: &'static dyn Op,
    /// Where elements of views lie, where that is known.
    layouts: HashMap<ValueId, Layout>,
    /// How many values there are without the copies.
    originals: usize,
    /// The copy that leaves the stage instead of a view.
    moved: IdVec<ValueId, Option<ValueId>>,
    /// Copies in the stage at hand.
    here: HashMap<ValueId, ValueId>,
    /// Names of ops in the stage at hand.
    names: HashSet<String>,
    /// The ops with copies between them.
    ops: IdVec<OpId, OpNode>,
    spans: IdVec<OpId, Span>,
    pins: IdVec<OpId, Option<Span>>,
    /// The graph, whose values and stages are changed in place; producers are of its ops until
    /// the end, and mean nothing for copies.
    old: Graph,
    places: Places,
}

impl Copies {
    fn stage(&mut self, id: StageId) {
        self.here.clear();
        let ops = std::mem::take(&mut self.old.stages[id].ops);
        self.names = ops
            .iter()
            .map(|op| self.old.ops[*op].name.clone())
            .collect();
        let first = self.ops.len();
        for op in ops {
            self.op(op);
        }
        let mut results = std::mem::take(&mut self.old.stages[id].results);
        for value in &mut results {
            *value = self.leaving(*value);
        }
        let value = self.leaving(self.old.stages[id].value);
        let stage = &mut self.old.stages[id];
        (stage.results, stage.value) = (results, value);
        stage.ops = (first..self.ops.len()).map(OpId::from_index).collect();
    }

    fn op(&mut self, old: OpId) {
        let mut node = self.old.ops[old].clone();
        let needs_contiguous =
            matches!(node.op.cpu(), CpuKernel::Contiguous(_) | CpuKernel::Reshape);
        for arg in &mut node.args {
            let (Arg::Value(value) | Arg::Items(value)) = arg else {
                continue;
            };
            let is_gapped = self.is_gapped(*value, node.stage);
            *value = self.moved_from(*value, node.stage);
            if needs_contiguous && is_gapped {
                *value = self.copied(*value, node.stage, old);
            }
        }
        self.note_layout(&node);
        self.push(node, old);
    }

    /// The value as a stage sees it: of another stage, the copy that this gives.
    fn moved_from(&self, value: ValueId, stage: StageId) -> ValueId {
        match self.old.values[value].producer {
            Producer::Op(op) if self.old.ops[op].stage != stage => {
                self.moved[value].unwrap_or(value)
            }
            _ => value,
        }
    }

    /// A value that leaves its stage, not as a view.
    fn leaving(&mut self, value: ValueId) -> ValueId {
        let Producer::Op(op) = self.old.values[value].producer else {
            return value;
        };
        let node = &self.old.ops[op];
        if !matches!(node.op.cpu(), CpuKernel::View(_) | CpuKernel::Reshape) {
            return value;
        }
        let copy = self.copied(value, node.stage, op);
        self.moved[value] = Some(copy);
        copy
    }

    /// The copy of a value in a stage; `op` is what it is for.
    fn copied(&mut self, value: ValueId, stage: StageId, op: OpId) -> ValueId {
        if let Some(copy) = self.here.get(&value) {
            return *copy;
        }
        let original = &self.old.values[value];
        let named = Value {
            name: original.name.clone(),
            ty: original.ty.clone(),
            over: self.old.stages[stage].each,
            producer: Producer::Op(OpId::from_index(self.ops.len())),
        };
        let base = match original.producer {
            Producer::Op(maker) if self.old.ops[maker].stage == stage => &self.old.ops[maker].name,
            _ => &self.old.ops[op].name,
        };
        let name = free_name(base, &mut self.names);
        let copy = self.old.values.push(named);
        self.moved.push(None);
        let node = OpNode {
            name,
            stage,
            op: self.copy,
            args: vec![Arg::Value(value)],
            attrs: Attrs::default(),
            results: vec![copy],
            pin: self.old.ops[op].pin,
        };
        self.push(node, op);
        self.here.insert(value, copy);
        copy
    }

    /// Adds an op in the place of an old one.
    fn push(&mut self, node: OpNode, of: OpId) {
        self.ops.push(node);
        self.spans.push(self.places.ops[of]);
        self.pins.push(self.places.pins[of]);
    }

    /// Whether a value may lie in memory with gaps, or in another order, as a stage sees it.
    fn is_gapped(&self, value: ValueId, stage: StageId) -> bool {
        let Producer::Op(op) = self.old.values[value].producer else {
            return false;
        };
        let node = &self.old.ops[op];
        let is_view = matches!(node.op.cpu(), CpuKernel::View(_)) && node.stage == stage;
        is_view
            && !self
                .layout(value, stage)
                .is_some_and(|layout| layout.is_contiguous())
    }

    /// Remembers where the elements of a view lie.
    fn note_layout(&mut self, node: &OpNode) {
        let (CpuKernel::View(view), [Arg::Value(base)]) = (node.op.cpu(), node.args.as_slice())
        else {
            return;
        };
        if has_symbol(&node.attrs) {
            return;
        }
        let layout = self
            .layout(*base, node.stage)
            .and_then(|base| view(&base, &node.attrs).ok());
        if let (Some(layout), Some(result)) = (layout, node.results.first()) {
            self.layouts.insert(*result, layout);
        }
    }

    /// Where the elements of a value lie, as a stage sees it, where its sizes are known.
    fn layout(&self, value: ValueId, stage: StageId) -> Option<Layout> {
        let made = &self.old.values[value];
        if let Producer::Op(op) = made.producer {
            let is_copy = value.index() >= self.originals;
            let is_here = !is_copy && self.old.ops[op].stage == stage;
            if is_here && matches!(self.old.ops[op].op.cpu(), CpuKernel::View(_)) {
                return self.layouts.get(&value).cloned();
            }
        }
        let sizes = made.ty.tensor()?.shape.iter();
        let sizes = sizes.map(|size| usize::try_from(size.as_int()?).ok());
        Some(Layout::contiguous(&sizes.collect::<Option<Vec<_>>>()?))
    }

    /// The graph with the copies in it.
    fn finish(self) -> (Graph, Places) {
        let Self {
            mut old,
            mut places,
            moved,
            ops,
            ..
        } = self;
        for (id, node) in ops.entries() {
            for result in &node.results {
                old.values[*result].producer = Producer::Op(id);
            }
        }
        for output in &mut old.outputs {
            output.value = moved[output.value].unwrap_or(output.value);
        }
        old.ops = ops;
        (places.ops, places.pins) = (self.spans, self.pins);
        (old, places)
    }
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

/// `base.copy`, with a number where that is taken.
fn free_name(base: &str, taken: &mut HashSet<String>) -> String {
    let name = format!("{base}.copy");
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    let free = names.find(|name| taken.insert(name.clone()));
    free.unwrap_or(name)
}
