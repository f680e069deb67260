//! Groups of elementwise ops that run as one kernel.

use haul_ir::expr::Expr;
use haul_ir::graph::{Arg, Graph, Group, OpNode};
use haul_ir::id::{GroupId, IdVec, OpId, ValueId};
use haul_ir::op::CpuKernel;

use super::rewrite::kept;

/// Most ops of a group: kernels hold something for each, and longer ones gain nothing.
const MAX_OPS: usize = 64;

/// The groups, each after those it depends on, stage by stage.
///
/// An op joins the group of its consumers when all of them are in it, of its own shape and side,
/// its value does not leave the stage, and there is room. So only the last op of a group gives a value to
/// others, and groups depend on each other in the order of these.
pub(super) fn groups(graph: &Graph) -> IdVec<GroupId, Group> {
    let kept = kept(graph);
    let users = users(graph);
    let mut last: IdVec<OpId, OpId> = graph.ops.ids().collect();
    let mut sizes: IdVec<OpId, usize> = IdVec::filled(1, graph.ops.len());
    for (id, node) in graph.ops.entries().rev() {
        let joined = joined(graph, node, &users, &kept, &last);
        if let Some(joined) = joined.filter(|last| sizes[*last] < MAX_OPS) {
            last[id] = joined;
            sizes[joined] += 1;
        }
    }
    let mut members: IdVec<OpId, Vec<OpId>> = IdVec::filled(Vec::new(), graph.ops.len());
    for (id, last) in last.entries() {
        members[*last].push(id);
    }
    let groups = members.into_iter().filter(|ops| !ops.is_empty());
    groups.map(|ops| Group { ops }).collect()
}

/// The last op of the group that an op can join.
fn joined(
    graph: &Graph,
    node: &OpNode,
    users: &IdVec<ValueId, Vec<OpId>>,
    kept: &IdVec<ValueId, bool>,
    last: &IdVec<OpId, OpId>,
) -> Option<OpId> {
    let [result] = node.results[..] else {
        return None;
    };
    if kept[result] {
        return None;
    }
    let shape = iteration(graph, node)?;
    let mut group = None;
    for user in &users[result] {
        let user_node = &graph.ops[*user];
        let fits = user_node.stage == node.stage
            && user_node.pin == node.pin
            && iteration(graph, user_node) == Some(shape)
            && *group.get_or_insert(last[*user]) == last[*user];
        if !fits {
            return None;
        }
    }
    group
}

/// The shape that an elementwise op walks through.
fn iteration<'g>(graph: &'g Graph, node: &OpNode) -> Option<&'g [Expr]> {
    if !matches!(node.op.cpu(), CpuKernel::Elementwise(_)) {
        return None;
    }
    let result = graph.values[*node.results.first()?].ty.tensor()?;
    Some(&result.shape)
}

/// The ops that use each value.
fn users(graph: &Graph) -> IdVec<ValueId, Vec<OpId>> {
    let mut users = IdVec::filled(Vec::new(), graph.values.len());
    for (id, node) in graph.ops.entries() {
        for value in node.args.iter().filter_map(Arg::value) {
            users[value].push(id);
        }
    }
    users
}
