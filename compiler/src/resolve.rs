//! Ast to [`Resolved`]: names looked up, functions put in place of their calls, stages in an
//! order in which they can run, requests checked. Types of inputs are known afterwards, types
//! of what ops compute are not.

mod attributes;
mod calls;
mod command;
mod constants;
mod formula;
mod functions;
mod headers;
mod inputs;
mod lookup;
mod moved;
mod names;
mod node;
mod order;
mod outputs;
mod paths;
mod requests;
mod scalars;
mod sizes;
mod sources;
mod stages;
mod tables;
mod used;

use std::collections::HashSet;

use haul_ir::graph::Graph;
use haul_ir::id::{CollectionId, IdVec, InputId};

use self::headers::Bindings;
use self::names::Names;
use self::stages::Exports;
use self::used::Used;
use crate::facts::Facts;
use crate::mistakes::Mistakes;
use crate::ops::Ops;
use crate::places::Places;
use crate::syntax::Ast;

pub(crate) use self::constants::fits;
pub(crate) use self::inputs::inner_name;
pub(crate) use self::node::{
    CallId, CallSite, Node, NodeId, Operand, Origin, Output, Resolved, Stage, Statement, ValueRef,
    Wish,
};
pub(crate) use self::requests::MEMORY_PER_CPU;
pub(crate) use self::sizes::is_too_large;
pub(crate) use self::sources::plain;

/// Looks up everything that a pipeline names. What could not be understood is reported and
/// left out, or [`Operand::Unknown`].
pub(crate) fn resolve(ast: &Ast, ops: &Ops, facts: &Facts, mistakes: &mut Mistakes) -> Resolved {
    let mut names = Names::new(ast, ops, mistakes);
    let bindings = Bindings::new(ast, &mut names, facts, mistakes);
    let mut resolver = Resolver {
        ast,
        ops,
        facts,
        mistakes,
        names,
        bindings,
        mentioned: HashSet::new(),
        each: Each::Once,
        graph: Graph::default(),
        places: Places::default(),
        nodes: IdVec::new(),
        calls: IdVec::new(),
        inputs: vec![InputState::Pending; ast.inputs.len()],
        stages: Vec::new(),
        exports: ast.stages.iter().map(|_| None).collect(),
        used: Used::new(ast),
        depth: 0,
        budget: functions::BUDGET,
        is_too_much: false,
        circular: Vec::new(),
        called: vec![false; ast.functions.len()],
    };
    resolver.dims();
    resolver.inputs();
    resolver.stages();
    let outputs = resolver.outputs();
    resolver.graph.moved = resolver.moved();
    let unused = resolver.unused();
    resolver.check_uncalled();
    Resolved {
        graph: resolver.graph,
        places: resolver.places,
        nodes: resolver.nodes,
        calls: resolver.calls,
        stages: resolver.stages,
        outputs,
        unused,
    }
}

/// What is known while a pipeline is resolved.
struct Resolver<'a> {
    ast: &'a Ast,
    ops: &'a Ops,
    facts: &'a Facts,
    mistakes: &'a mut Mistakes,
    names: Names<'a>,
    bindings: Bindings,
    /// Names of sizes that a type or formula has mentioned so far.
    mentioned: HashSet<String>,
    /// What the stage at hand runs over.
    each: Each,
    /// Dims, collections and inputs.
    graph: Graph,
    places: Places,
    nodes: IdVec<NodeId, Node>,
    calls: IdVec<CallId, CallSite>,
    /// What became of each input of the file, once it was looked at.
    inputs: Vec<InputState>,
    stages: Vec<Stage>,
    /// What each stage of the file gives, once it was looked at.
    exports: Vec<Option<Exports<'a>>>,
    used: Used<'a>,
    /// How deep expressions and calls of functions are nested.
    depth: usize,
    /// How many calls and ops more there may be.
    budget: usize,
    /// Whether it was reported that functions expand to too much.
    is_too_much: bool,
    /// Functions that are put in place of their calls without end, or use a stage that waits for
    /// itself; by position in the file.
    circular: Vec<bool>,
    /// Whether something calls each function.
    called: Vec<bool>,
}

/// What a stage runs over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Each {
    Once,
    Over(CollectionId),
    /// It was not understood and reported.
    Unknown,
}

impl Each {
    fn collection(self) -> Option<CollectionId> {
        match self {
            Each::Over(collection) => Some(collection),
            Each::Once | Each::Unknown => None,
        }
    }
}

/// What became of an input.
#[derive(Clone, Copy, Debug)]
enum InputState {
    Pending,
    Known(InputId),
    /// It was not understood and reported.
    Unknown,
}
