//! Which groups make and read which values, found once.

use std::collections::HashSet;

use haul_ir::expr::Expr;
use haul_ir::graph::{Graph, Typed};
use haul_ir::id::{GroupId, IdVec, StageId, ValueId};

/// What groups read and write. Values that never leave their group are of no group.
pub(crate) struct Usage {
    /// Values that a group reads and does not make, each once, in order of first use.
    pub(crate) reads: IdVec<GroupId, Vec<ValueId>>,
    /// Values that a group makes and others use.
    pub(crate) writes: IdVec<GroupId, Vec<ValueId>>,
}

impl Usage {
    /// Of all groups, in time linear in the graph.
    pub(crate) fn of(typed: &Typed) -> Usage {
        let reads: IdVec<_, _> = typed.groups().ids().map(|g| typed.reads(g)).collect();
        let mut used: HashSet<ValueId> = reads.iter().flatten().copied().collect();
        let stages = typed.graph().stages.iter();
        used.extend(stages.flat_map(|stage| stage.results.iter().chain([&stage.value])));
        let writes = |group: GroupId| {
            let ops = typed.groups()[group].ops.iter();
            let made = ops.flat_map(|op| typed.graph().ops[*op].results.iter().copied());
            made.filter(|value| used.contains(value)).collect()
        };
        let writes = typed.groups().ids().map(writes).collect();
        Usage { reads, writes }
    }
}

/// The bytes of a value as a task of a stage sees it: one item where the stage runs over the
/// value's collection, else all of them. The letters of text are not counted: only the data knows how many there are.
pub(crate) fn bytes_in(graph: &Graph, stage: StageId, value: ValueId) -> Expr {
    let value = &graph.values[value];
    let bytes = value.ty.bytes();
    match value.over {
        Some(over) if graph.stages[stage].each != Some(over) => {
            &bytes * &graph.collections[over].width
        }
        _ => bytes,
    }
}
