//! [`Resolved`] to a graph: the shape rule of every op asked, casts made plain, ops named.

mod faults;
mod finish;
mod naming;
mod origins;
mod sinks;

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::dtype::DType;
use haul_ir::expr::{Expr, Symbol};
use haul_ir::graph::{Arg, Dim, Graph, OpNode, Producer, Scalar, Value};
use haul_ir::id::{Id, IdVec, OpId, StageId, ValueId};
use haul_ir::op::{ArgType, Attr, Attrs, Call, Inferred, ParamKind, Weak};
use haul_ir::types::ValueType;

use self::naming::Naming;
use crate::diagnostics::codes::{DTYPE, OVERFLOW, PER_ITEM, RESULTS};
use crate::mistakes::Mistakes;
use crate::ops::Ops;
use crate::places::Places;
use crate::resolve;
use crate::resolve::{
    CallId, CallSite, Node, NodeId, Operand, Resolved, Statement, ValueRef, fits, is_too_large,
};

/// Finds the type of every value. Nothing where the pipeline has a mistake, which is reported.
pub(crate) fn infer(
    resolved: Resolved,
    ops: &Ops,
    mistakes: &mut Mistakes,
) -> Option<(Graph, Places)> {
    let mut inference = Inference {
        ops,
        mistakes,
        results: IdVec::filled(Vec::new(), resolved.nodes.len()),
        nodes: resolved.nodes,
        calls: resolved.calls,
        graph: resolved.graph,
        places: resolved.places,
    };
    for (position, stage) in resolved.stages.iter().enumerate() {
        inference.stage(StageId::from_index(position), stage);
    }
    inference.check_sinks(&resolved.outputs);
    if inference.mistakes.any_error() {
        return None;
    }
    inference.finish(resolved.stages, resolved.outputs)
}

struct Inference<'a> {
    ops: &'a Ops,
    mistakes: &'a mut Mistakes,
    nodes: IdVec<NodeId, Node>,
    calls: IdVec<CallId, CallSite>,
    /// The results of each node; none of one that does not fit.
    results: IdVec<NodeId, Vec<ValueId>>,
    graph: Graph,
    places: Places,
}

/// The line whose ops are inferred.
struct Line<'s, 'n> {
    stage: StageId,
    resolved: &'s resolve::Stage,
    statement: &'s Statement,
    naming: &'n mut Naming,
}

impl Inference<'_> {
    fn stage(&mut self, id: StageId, stage: &resolve::Stage) {
        let mut naming = Naming::default();
        for statement in &stage.statements {
            naming.begin_line(statement);
            let mut line = Line {
                stage: id,
                resolved: stage,
                statement,
                naming: &mut naming,
            };
            for node in statement.nodes.clone() {
                self.node(NodeId::from_index(node), &mut line);
            }
        }
    }

    fn node(&mut self, id: NodeId, line: &mut Line<'_, '_>) {
        let args = self.nodes[id].args.iter();
        let Some(types) = args
            .map(|arg| self.arg_type(arg))
            .collect::<Option<Vec<_>>>()
        else {
            return;
        };
        self.name_size(id, line);
        let node = &self.nodes[id];
        let inferred = node.op.infer(&Call {
            inputs: &types,
            attrs: &node.attrs,
        });
        match inferred {
            Err(error) => {
                let mistake = self.fault(node, &types, &error);
                self.mistakes.report(mistake);
            }
            Ok(inferred) => {
                self.know_bounds(&inferred, line);
                if self.are_fine(id, &types, &inferred, line) {
                    self.op(id, inferred, line);
                }
            }
        }
    }

    /// Gives a size that only the data tells a name, where the author has not: that of its line.
    fn name_size(&mut self, id: NodeId, line: &Line<'_, '_>) {
        let params = self.nodes[id].op.params().iter();
        let mut sizes = params.filter(|param| param.kind == ParamKind::Size);
        let Some(param) = sizes.next() else { return };
        let attrs = &mut self.nodes[id].attrs.0;
        let Some((_, attr)) = attrs.iter_mut().find(|(name, _)| *name == param.name) else {
            return;
        };
        if *attr == Attr::None {
            let dims = &self.graph.dims;
            let is_taken = &|symbol: &Symbol| dims.contains_key(symbol);
            let symbol = line.naming.size(&line.resolved.name.value, is_taken);
            let dim = Dim {
                per_item: line.resolved.each,
                ..Dim::default()
            };
            self.graph.dims.insert(symbol.clone(), dim);
            *attr = Attr::Size(symbol);
        }
    }

    /// Plans sizes that only the data tells at the largest that they can be, where the file says
    /// nothing of them.
    fn know_bounds(&mut self, inferred: &Inferred, line: &Line<'_, '_>) {
        for (symbol, most) in &inferred.bounds {
            let at = |of: fn(&Dim) -> Option<u64>| {
                let known = |symbol: &Symbol| Some(i128::from(of(self.graph.dims.get(symbol)?)?));
                u64::try_from(most.eval(&known).ok()?).ok()
            };
            let (plan, max) = (at(|dim| dim.plan.or(dim.max)), at(|dim| dim.max));
            let dim = self.graph.dims.entry(symbol.clone()).or_default();
            dim.plan = dim.plan.or(dim.max).or(plan);
            dim.max = dim.max.or(max);
            dim.per_item = dim.per_item.or(line.resolved.each);
        }
    }

    /// The type of an argument; nothing where that is not known.
    fn arg_type(&self, arg: &Operand) -> Option<ArgType> {
        Some(match arg {
            Operand::Unknown => return None,
            Operand::Scalar(scalar) => ArgType::Weak(scalar.weak()),
            Operand::Value(value) => ArgType::Value(self.value_type(*value)?.clone()),
            Operand::Items(value, collection) => {
                let width = self.graph.collections[*collection].width.clone();
                ArgType::Items(self.value_type(*value)?.clone(), width)
            }
        })
    }

    fn value_type(&self, value: ValueRef) -> Option<&ValueType> {
        Some(&self.graph.values[self.value(value)?].ty)
    }

    fn value(&self, value: ValueRef) -> Option<ValueId> {
        match value {
            ValueRef::Input(input) => Some(self.graph.inputs[input].value),
            ValueRef::Node(node, position) => self.results[node].get(position).copied(),
        }
    }

    /// Whether the results are as many as the line takes, and can be.
    fn are_fine(
        &mut self,
        id: NodeId,
        types: &[ArgType],
        inferred: &Inferred,
        line: &Line<'_, '_>,
    ) -> bool {
        let node = &self.nodes[id];
        let (given, taken) = (inferred.outputs.len(), node.results);
        if given != taken {
            let message = format!(
                "`{}` gives {}, not {taken}",
                node.origin.written,
                counted(given)
            );
            let mistake = Diagnostic::error(RESULTS, node.origin.at, message);
            let help = "write a line of its own, with a name for each result";
            self.mistakes.report(if given > 1 {
                mistake.help(help)
            } else {
                mistake
            });
            return false;
        }
        if let Some(ty) = inferred.outputs.iter().find(|ty| is_too_large(ty)) {
            let message = format!("`{}` gives {ty}, which is too large", node.origin.written);
            self.mistakes
                .report(Diagnostic::error(OVERFLOW, node.origin.at, message));
            return false;
        }
        let takes_items = types.iter().any(|ty| matches!(ty, ArgType::Items(..)));
        let mut sizes = inferred.outputs.iter().flat_map(ValueType::sizes);
        match sizes
            .find_map(|size| self.foreign(size, line))
            .filter(|_| takes_items)
        {
            Some((symbol, collection)) => {
                let written = node.origin.written;
                let message = format!(
                    "items of `{collection}` differ in size for `{written}`: each has its own `{symbol}`"
                );
                let help = format!(
                    "reduce each item to one size, in a stage with `each: \"{collection}\"`"
                );
                self.mistakes
                    .report(Diagnostic::error(PER_ITEM, node.origin.at, message).help(help));
                false
            }
            None => true,
        }
    }

    /// A symbol of items that the stage does not run over, with their collection.
    fn foreign(&self, size: &Expr, line: &Line<'_, '_>) -> Option<(String, String)> {
        let mut found = None;
        size.symbols(&mut |symbol| {
            let owner = self.graph.dims.get(symbol).and_then(|dim| dim.per_item);
            if let Some(owner) = owner.filter(|owner| Some(*owner) != line.resolved.each) {
                let collection = self.graph.collections[owner].name.clone();
                found = Some((symbol.to_string(), collection));
            }
        });
        found
    }

    /// Adds the op of a node, after the casts that it needs.
    fn op(&mut self, id: NodeId, inferred: Inferred, line: &mut Line<'_, '_>) {
        let mut args = Vec::new();
        for position in 0..self.nodes[id].args.len() {
            let cast = inferred.cast.get(position).copied().flatten();
            match self.argument(id, position, cast, line) {
                Some(arg) => args.push(arg),
                None => return,
            }
        }
        let node = &self.nodes[id];
        let name = line.naming.name(id, node.op.name(), line.statement);
        let op = OpNode {
            name,
            stage: line.stage,
            op: node.op,
            args,
            attrs: node.attrs.clone(),
            results: Vec::new(),
            pin: line.statement.wish.pin,
        };
        let span = node.origin.whole;
        let names = line.naming.value_names(id, line.statement);
        self.results[id] = self.push(op, inferred.outputs, names, span, line);
    }

    /// An argument of an op, in the dtype that the op computes in.
    fn argument(
        &mut self,
        id: NodeId,
        position: usize,
        cast: Option<DType>,
        line: &mut Line<'_, '_>,
    ) -> Option<Arg> {
        let origin = &self.nodes[id].origin;
        let span = origin.args.get(position).copied().unwrap_or(origin.whole);
        match self.nodes[id].args[position].clone() {
            Operand::Unknown => None,
            Operand::Items(value, _) => Some(Arg::Items(self.value(value)?)),
            Operand::Scalar(scalar) => {
                let dtype = cast.unwrap_or(match scalar.weak() {
                    Weak::Int => DType::I64,
                    Weak::Float => DType::F64,
                });
                self.check_fits(&scalar, dtype, span)?;
                Some(Arg::Scalar(scalar, dtype))
            }
            Operand::Value(value) => {
                let value = self.value(value)?;
                let dtype = self.graph.values[value]
                    .ty
                    .tensor()
                    .map(|tensor| tensor.dtype);
                match cast {
                    Some(cast) if dtype.is_some_and(|dtype| dtype != cast) => {
                        Some(Arg::Value(self.cast(value, cast, span, line)?))
                    }
                    _ => Some(Arg::Value(value)),
                }
            }
        }
    }

    /// A whole number that meets integers has to be one of their range.
    fn check_fits(&mut self, scalar: &Scalar, dtype: DType, span: Span) -> Option<()> {
        let Scalar::Int(value) = scalar else {
            return Some(());
        };
        let Some(value) = value.as_int().filter(|value| !fits(*value, dtype)) else {
            return Some(());
        };
        let message = format!("{value} does not fit {dtype}");
        let help = "cast the array to a wider dtype, for example `i64(x)`";
        self.mistakes
            .report(Diagnostic::error(DTYPE, span, message).help(help));
        None
    }

    /// A value in another dtype, by an op of its own.
    fn cast(
        &mut self,
        value: ValueId,
        dtype: DType,
        span: Span,
        line: &mut Line<'_, '_>,
    ) -> Option<ValueId> {
        let Some(op) = self.ops.cast(dtype) else {
            let message = format!("the catalogue has no cast to {dtype}");
            self.mistakes
                .report(Diagnostic::error(DTYPE, span, message));
            return None;
        };
        let mut tensor = self.graph.values[value].ty.tensor()?.clone();
        tensor.dtype = dtype;
        let node = OpNode {
            name: line.naming.inner(op.name()),
            stage: line.stage,
            op,
            args: vec![Arg::Value(value)],
            attrs: Attrs::default(),
            results: Vec::new(),
            pin: line.statement.wish.pin,
        };
        let results = self.push(node, vec![tensor.into()], &[], span, line);
        results.first().copied()
    }

    /// Adds an op and its results; these have the op's name where they have none.
    fn push(
        &mut self,
        mut node: OpNode,
        types: Vec<ValueType>,
        names: &[String],
        span: Span,
        line: &Line<'_, '_>,
    ) -> Vec<ValueId> {
        let id = OpId::from_index(self.graph.ops.len());
        for (position, ty) in types.into_iter().enumerate() {
            let name = names.get(position).unwrap_or(&node.name).clone();
            node.results.push(self.graph.values.push(Value {
                name,
                ty,
                over: line.resolved.each,
                producer: Producer::Op(id),
            }));
        }
        let results = node.results.clone();
        self.graph.ops.push(node);
        self.places.ops.push(span);
        self.places.pins.push(line.statement.wish.span);
        results
    }
}

/// `1 result`, `2 results`.
fn counted(results: usize) -> String {
    format!("{results} result{}", if results == 1 { "" } else { "s" })
}
