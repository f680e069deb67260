//! Graph to a graph that computes the same with less, and the groups that run as one kernel.

mod contiguous;
mod fuse;
mod redundant;
mod rewrite;

use haul_ir::graph::{Graph, Group};
use haul_ir::id::{GroupId, IdVec};

use self::rewrite::Rewrite;
use crate::ops::Ops;
use crate::places::Places;

/// Removes what is computed twice or for nothing, adds the copies that kernels need, and groups
/// elementwise ops. Names and values that leave a stage stay.
pub(crate) fn simplify(
    graph: Graph,
    places: Places,
    ops: &Ops,
) -> (Graph, IdVec<GroupId, Group>, Places) {
    let mut rewrite = Rewrite::new(&graph);
    redundant::replace_redundant(&graph, &mut rewrite);
    let (graph, places) = rewrite.apply(graph, places);
    let (graph, places) = contiguous::copy_views(graph, places, ops);
    let groups = fuse::groups(&graph);
    (graph, groups, places)
}
