//! Where in the file the parts of a graph were written, for diagnostics of later passes.

use haul_ir::diagnostic::Span;
use haul_ir::graph::Graph;
use haul_ir::id::{IdVec, InputId, OpId, StageId};

use crate::diagnostics::Lines;
use crate::syntax::ast::Fields;

/// Places of the parts of a graph. The tables have the lengths of the graph's.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The name of each input.
    pub inputs: IdVec<InputId, Span>,
    /// The name of each stage.
    pub stages: IdVec<StageId, Span>,
    /// The parenthesis of each request of each stage: of the stage, or of an alternative.
    pub requests: IdVec<StageId, Vec<Span>>,
    /// The fields of each request of each stage.
    pub fields: IdVec<StageId, Vec<RequestFields>>,
    /// The expression of each op; in the function, for one that comes from there.
    pub ops: IdVec<OpId, Span>,
    /// The side that the author wishes for each op, where there is a wish.
    pub pins: IdVec<OpId, Option<Span>>,
    /// The name of each output.
    pub outputs: Vec<Span>,
}

impl Places {
    /// The line, from 1, of an op of a stage; of the stage, where no op is given. `None` where the
    /// graph that the places are of has none of that name.
    pub fn line(&self, graph: &Graph, text: &str, stage: &str, op: Option<&str>) -> Option<usize> {
        let mut stages = graph.stages.entries();
        let (id, stage) = stages.find(|(_, other)| other.name == stage)?;
        let span = match op {
            None => self.stages[id],
            Some(name) => {
                let mut ops = stage.ops.iter();
                self.ops[*ops.find(|op| graph.ops[**op].name == name)?]
            }
        };
        Some(Lines::new(text).line(span.start))
    }
}

/// Where the fields of a request are written.
#[derive(Clone, Debug, Default)]
pub struct RequestFields {
    /// Those in its own parenthesis.
    pub own: Fields,
    /// Whether it is an alternative of a stage that asks for memory itself.
    pub inherits_memory: bool,
    /// Whether it is an alternative of a stage that asks for a GPU itself.
    pub inherits_gpu: bool,
    /// What to remove so that the stage says nothing of a GPU itself.
    pub inherited_gpu_parts: Vec<Span>,
    /// The value of its `gpu_type`, or else of the stage's, with its quotes.
    pub gpu_type: Option<Span>,
    /// What to remove so that its stage has no alternatives.
    pub any_of_parts: Vec<Span>,
    /// Whether it is an alternative.
    pub is_alternative: bool,
}

impl RequestFields {
    /// Of the request of a stage, or of an alternative to it.
    pub(crate) fn new(own: &Fields, whole: Option<&Fields>) -> Self {
        Self {
            own: own.clone(),
            inherits_memory: whole.is_some_and(|whole| whole.memory.is_some()),
            inherits_gpu: whole
                .is_some_and(|whole| whole.gpus.is_some() || whole.gpu_type.is_some()),
            inherited_gpu_parts: whole.map_or_else(Vec::new, |whole| whole.gpu_parts.clone()),
            gpu_type: own.gpu_type.or(whole.and_then(|whole| whole.gpu_type)),
            any_of_parts: whole.map_or_else(Vec::new, |whole| whole.any_of_parts.clone()),
            is_alternative: whole.is_some(),
        }
    }
}
