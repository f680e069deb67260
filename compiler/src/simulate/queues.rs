//! Stages with tasks that may start, in queues of those whose requests are alike.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use haul_ir::cost::Nanos;
use haul_ir::id::{IdVec, NodeId};

use super::Tasks;
use super::machines::Share;
use super::tree::{Amounts, Tree};

/// The queues of all kinds of nodes.
pub(super) struct Queues {
    places: Vec<Place>,
    /// Ranks of the stages with ready tasks, by request.
    queues: Vec<BTreeSet<usize>>,
    kinds: IdVec<NodeId, Kind>,
}

/// Where a stage stands.
struct Place {
    kind: NodeId,
    /// Among the stages of its kind, the most urgent first.
    rank: usize,
    queue: usize,
    /// What one of its tasks needs.
    least: Amounts,
}

/// The stages of a kind of node.
#[derive(Clone, Default)]
struct Kind {
    by_rank: Vec<usize>,
    /// What the first stage of each queue leaves of the largest numbers there are, by rank; nothing
    /// for the others. Less than a room leaves is what does not fit it.
    heads: Tree,
}

impl Queues {
    /// All empty.
    pub(super) fn new(stages: &[Tasks], urgency: &[Nanos], kinds: usize) -> Queues {
        let mut shapes: BTreeMap<&Share, usize> = BTreeMap::new();
        let mut places = Vec::new();
        for tasks in stages {
            let next = shapes.len();
            places.push(Place {
                kind: tasks.share.node,
                rank: 0,
                queue: *shapes.entry(&tasks.share).or_insert(next),
                least: tasks.share.least(),
            });
        }
        let mut kinds: IdVec<NodeId, Kind> = vec![Kind::default(); kinds].into_iter().collect();
        let mut order: Vec<_> = (0..stages.len()).collect();
        order.sort_by_key(|stage| (Reverse(urgency[*stage]), *stage));
        for stage in order {
            let place = &mut places[stage];
            let kind = &mut kinds[place.kind];
            place.rank = kind.by_rank.len();
            kind.by_rank.push(stage);
            kind.heads.push(Amounts::default());
        }
        Queues {
            places,
            queues: vec![BTreeSet::new(); shapes.len()],
            kinds,
        }
    }

    /// Puts a stage into its queue or takes it out.
    pub(super) fn set(&mut self, stage: usize, is_ready: bool) {
        let place = &self.places[stage];
        let queue = &mut self.queues[place.queue];
        let before = queue.first().copied();
        if is_ready {
            queue.insert(place.rank);
        } else {
            queue.remove(&place.rank);
        }
        let after = queue.first().copied();
        if before == after {
            return;
        }
        let heads = &mut self.kinds[place.kind].heads;
        if let Some(rank) = before {
            heads.set(rank, Amounts::default());
        }
        if let Some(rank) = after {
            heads.set(rank, rest(place.least));
        }
    }

    /// The most urgent stage of a kind, from a rank on, that is the first of its queue and whose
    /// tasks may fit the room of a node; with its rank.
    pub(super) fn first(&self, kind: NodeId, from: usize, room: Amounts) -> Option<(usize, usize)> {
        let kind = &self.kinds[kind];
        let rank = kind.heads.first(from, &rest(room))?;
        Some((rank, kind.by_rank[rank]))
    }
}

/// What amounts leave of the largest numbers there are.
fn rest(amounts: Amounts) -> Amounts {
    amounts.map(|amount| u64::MAX - amount)
}
