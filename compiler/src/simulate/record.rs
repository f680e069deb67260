//! What happened in a simulated run: which batches started where, when, and what they waited for.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use haul_ir::cost::Nanos;
use haul_ir::id::{Id, StageId};
use haul_ir::plan::Batch;

use super::machines::Grant;
use super::{Runs, Tasks};

/// The longest timeline.
const MOST_BATCHES: usize = 2_000;

/// Tasks of a stage that started together on one node.
#[derive(Clone, Debug)]
pub(super) struct Started {
    pub(super) stage: usize,
    pub(super) grant: Grant,
    pub(super) start: Nanos,
    pub(super) end: Nanos,
    /// The batch before it whose end let its last task start; none for what starts the run.
    pub(super) cause: Option<usize>,
}

/// The stages on the way back from a batch to the start of the run, first to last. One that is on
/// it several times stands where it is last.
pub(super) fn critical_path(record: &[Started], last: Option<usize>) -> Vec<usize> {
    let mut path = Vec::new();
    let mut is_on_it = HashSet::new();
    let mut next = last;
    while let Some(batch) = next {
        let started = &record[batch];
        if is_on_it.insert(started.stage) {
            path.push(started.stage);
        }
        next = started.cause;
    }
    path.reverse();
    path
}

/// When the last task of each stage ends.
pub(super) fn ends(record: &[Started], stages: usize) -> Vec<Nanos> {
    let mut ends = vec![0; stages];
    for started in record {
        ends[started.stage] = started.end.max(ends[started.stage]);
    }
    ends
}

/// The batches in order of their starts, at most [`MOST_BATCHES`]. Where there are more, those of
/// one stage that follow each other without a gap on one node and the same GPUs are taken as one,
/// and of what is still too many the shortest are left out. `runs` says how many tasks each counted
/// one stands for, by stage.
pub(super) fn timeline(record: &[Started], stages: &[Tasks], runs: &[Runs]) -> Vec<Batch> {
    let mut left: Vec<_> = stages.iter().map(|tasks| tasks.count).collect();
    let batches = record.iter().filter_map(|started| {
        let left = &mut left[started.stage];
        let tasks = (started.grant.tasks * runs[started.stage].length).min(*left);
        *left -= tasks;
        (tasks > 0).then(|| batch(started, tasks, stages))
    });
    let mut batches: Vec<_> = batches.collect();
    if batches.len() > MOST_BATCHES {
        batches = joined(batches);
    }
    if batches.len() > MOST_BATCHES {
        batches.sort_by_key(|batch| Reverse(batch.end - batch.start));
        batches.truncate(MOST_BATCHES);
        batches.sort_by_key(|batch| batch.start);
    }
    batches
}

fn batch(started: &Started, tasks: u64, stages: &[Tasks]) -> Batch {
    Batch {
        stage: StageId::from_index(started.stage),
        tasks,
        node: stages[started.stage].share.node,
        machine: started.grant.machine,
        gpus: started.grant.devices.clone(),
        start: started.start,
        end: started.end,
    }
}

/// The same with those in one that follow each other without a gap.
fn joined(batches: Vec<Batch>) -> Vec<Batch> {
    let mut all: Vec<Batch> = Vec::new();
    let mut latest = BTreeMap::new();
    for batch in batches {
        let place = (batch.stage, batch.machine, batch.gpus.clone());
        let before = latest
            .get(&place)
            .map(|position: &usize| &mut all[*position]);
        match before {
            Some(before) if batch.start <= before.end => {
                before.tasks += batch.tasks;
                before.end = before.end.max(batch.end);
            }
            _ => {
                latest.insert(place, all.len());
                all.push(batch);
            }
        }
    }
    all
}
