//! Where in the file the parts of a graph were written, for diagnostics of later passes.

use haul_ir::diagnostic::Span;
use haul_ir::id::{IdVec, InputId, OpId, StageId};

/// Places of the parts of a graph. The tables have the lengths of the graph's.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The name of each input.
    pub inputs: IdVec<InputId, Span>,
    /// The name of each stage.
    pub stages: IdVec<StageId, Span>,
    /// The parenthesis of each request of each stage: of the stage, or of an alternative.
    pub requests: IdVec<StageId, Vec<Span>>,
    /// The expression of each op; in the function, for one that comes from there.
    pub ops: IdVec<OpId, Span>,
    /// The side that the author wishes for each op, where there is a wish.
    pub pins: IdVec<OpId, Option<Span>>,
    /// The name of each output.
    pub outputs: Vec<Span>,
}
