//! What resolving yields: calls of ops in order, whose types are not known yet.

use std::fmt;
use std::ops::Range;

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::format::File;
use haul_ir::graph::{Failure, Graph, Pin, Request, Scalar};
use haul_ir::id::{CollectionId, Id, IdVec, InputId};
use haul_ir::op::{Attrs, Op};

use crate::places::{Places, RequestFields};
use crate::syntax::ast::{Name, Settings};

/// A pipeline whose names were looked up.
pub(crate) struct Resolved {
    /// Dims, collections, inputs and their values; nothing else yet.
    pub(crate) graph: Graph,
    /// Places of inputs and outputs.
    pub(crate) places: Places,
    /// Calls of ops, each after those whose results it takes, stage by stage.
    pub(crate) nodes: IdVec<NodeId, Node>,
    /// Uses of functions that nodes come from.
    pub(crate) calls: IdVec<CallId, CallSite>,
    /// Stages in order.
    pub(crate) stages: Vec<Stage>,
    /// Outputs in the order of the file.
    pub(crate) outputs: Vec<Output>,
    /// Warnings of what looks unused, to be told when nothing is wrong that could use it.
    pub(crate) unused: Vec<Diagnostic>,
}

/// A stage.
pub(crate) struct Stage {
    pub(crate) name: Name,
    pub(crate) each: Option<CollectionId>,
    pub(crate) requests: Vec<Request>,
    /// Where each request is written.
    pub(crate) request_spans: Vec<Span>,
    pub(crate) request_fields: Vec<RequestFields>,
    pub(crate) failure: Failure,
    pub(crate) statements: Vec<Statement>,
    /// The value named after the stage.
    pub(crate) value: Operand,
}

/// A line of a formula.
pub(crate) struct Statement {
    /// The names of its results; the name of the stage, where the line has none.
    pub(crate) names: Vec<String>,
    /// Its calls.
    pub(crate) nodes: Range<usize>,
    /// What it computes.
    pub(crate) value: Operand,
    pub(crate) wish: Wish,
}

/// Which side the author wants a line on, and where that is said.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wish {
    pub(crate) pin: Pin,
    pub(crate) span: Option<Span>,
}

/// A call of an op.
pub(crate) struct Node {
    pub(crate) op: &'static dyn Op,
    /// None is unknown.
    pub(crate) args: Vec<Operand>,
    pub(crate) attrs: Attrs,
    /// How many results the line takes of it.
    pub(crate) results: usize,
    pub(crate) origin: Origin,
}

/// Where a call is written.
pub(crate) struct Origin {
    /// All of it.
    pub(crate) whole: Span,
    /// Its operator, or the name of the function.
    pub(crate) at: Span,
    /// As it is written: `@`, `sum`.
    pub(crate) written: &'static str,
    pub(crate) is_operator: bool,
    /// Each value argument.
    pub(crate) args: Vec<Span>,
    /// Each option that is written, by name.
    pub(crate) attrs: Vec<(&'static str, Span)>,
    /// The use of a function that it comes from.
    pub(crate) call: Option<CallId>,
}

/// A use of a function.
pub(crate) struct CallSite {
    pub(crate) function: String,
    pub(crate) span: Span,
    /// The use of another function, in whose body this one is.
    pub(crate) caller: Option<CallId>,
}

/// What an expression stands for.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    /// One value for each task.
    Value(ValueRef),
    /// All items of a collection.
    Items(ValueRef, CollectionId),
    /// A weakly typed scalar.
    Scalar(Scalar),
    /// Something wrong, which was reported.
    Unknown,
}

/// A value before it has a place in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueRef {
    Input(InputId),
    /// A result of a node.
    Node(NodeId, usize),
}

/// An output whose value has no place in the graph yet.
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) sink: File,
    pub(crate) value: ValueRef,
    /// Where its settings are written.
    pub(crate) settings: Settings,
    pub(crate) from: Span,
}

/// Declares an id of a table of this pass.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(usize);

        impl Id for $name {
            fn from_index(index: usize) -> Self {
                Self(index)
            }
            fn index(self) -> usize {
                self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id! {
    /// A call of an op.
    NodeId "node"
}
id! {
    /// A use of a function.
    CallId "call"
}
