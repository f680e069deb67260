//! The schedule on simulated time: random graphs, requests, failures and seeds.

use std::collections::BTreeSet;

use haul_ir::cost::Nanos;
use haul_ir::graph::Arg;
use haul_ir::id::Id;
use haul_ir::op::CpuKernel;
use proptest::prelude::*;

use super::*;
use crate::support::{MIB, Pipeline, TestOp, f32, files, value};

static PASS: TestOp = TestOp {
    name: "pass",
    kernel: CpuKernel::Reshape,
};

/// A stage: whether it runs for each item, its cpus, its MiB, its time, and which of the stages
/// before it it reads.
type Shape = (bool, u32, u64, u64, Vec<usize>);

fn shapes() -> impl Strategy<Value = Vec<Shape>> {
    let reads = prop::collection::vec(0..100_usize, 0..3);
    let stage = (any::<bool>(), 1..=4_u32, 0..=8_u64, 0..100_u64, reads);
    prop::collection::vec(stage, 1..8)
}

/// A plan of such stages over a collection, and which stages each one reads.
fn plan(shapes: &[Shape]) -> (Plan, Vec<Vec<usize>>) {
    let mut p = Pipeline::new();
    let (files, item) = p.items("files", files(""), f32(&[1]));
    let mut values = Vec::new();
    let mut all_reads = Vec::new();
    for (number, (each, cpus, memory, time, reads)) in shapes.iter().enumerate() {
        let stage = p.stage(
            &number.to_string(),
            each.then_some(files),
            *cpus,
            memory * MIB,
        );
        p.times.push((stage, *time));
        let earlier: BTreeSet<_> = match number {
            0 => BTreeSet::new(),
            _ => reads.iter().map(|read| read % number).collect(),
        };
        let mut args = vec![if *each { value(item) } else { Arg::Items(item) }];
        args.extend(earlier.iter().map(|read| match shapes[*read].0 && !each {
            true => Arg::Items(values[*read]),
            false => value(values[*read]),
        }));
        // The shape rule of the test's op asks for a value first.
        if !each {
            let one = p.graph.values.ids().next().map(value);
            args = one.into_iter().chain(args.split_off(1)).collect();
        }
        let made = p.op(&number.to_string(), &PASS, args);
        p.gives(made);
        values.push(made);
        all_reads.push(earlier.into_iter().collect());
    }
    (p.plan(), all_reads)
}

const FULL: (u32, u64) = (4, 8 * MIB);

/// What happened, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Record {
    Started(Nanos, usize, TaskId),
    Ended(Nanos, TaskId),
    Skipped(TaskId),
    Refused(Refusal),
    Stolen(TaskId),
}

/// Tasks that take what the plan says, and end as a test says.
struct Recorder<'a> {
    plan: &'a Plan,
    outcome: &'a dyn Fn(TaskId) -> Option<Outcome>,
    stored: &'a dyn Fn(usize) -> u64,
    records: Vec<Record>,
}

impl Simulated for Recorder<'_> {
    fn stored(&mut self) -> u64 {
        (self.stored)(self.records.len())
    }

    fn start(&mut self, at: Nanos, lane: &Lane, start: Start) -> Nanos {
        if start.stolen_from.is_some() {
            self.records.push(Record::Stolen(start.task));
        }
        self.records
            .push(Record::Started(at, lane.index, start.task));
        self.plan.stages[start.task.stage].time.unwrap_or(0)
    }

    fn end(&mut self, at: Nanos, _: &Lane, task: TaskId) -> Option<Outcome> {
        self.records.push(Record::Ended(at, task));
        (self.outcome)(task)
    }

    fn refused(&mut self, _: Nanos, refusal: &Refusal) {
        self.records.push(Record::Refused(refusal.clone()));
    }

    fn skipped(&mut self, _: Nanos, task: TaskId) {
        self.records.push(Record::Skipped(task));
    }
}

/// Runs a plan over so many items and lanes, and looks after the ledger.
fn records(
    plan: &Plan,
    (width, lanes, seed): (usize, usize, u64),
    outcome: &dyn Fn(TaskId) -> Option<Outcome>,
    stored: &dyn Fn(usize) -> u64,
) -> Vec<Record> {
    let full = Ledger::new(FULL.0, FULL.1);
    let (schedule, lanes) =
        Schedule::new(plan, &[width].into_iter().collect(), full.clone(), lanes);
    let mut recorder = Recorder {
        plan,
        outcome,
        stored,
        records: Vec::new(),
    };
    simulate(&schedule, lanes, seed, &mut recorder);
    assert_eq!(schedule.grants().ledger(), &full);
    recorder.records
}

fn all_done(_: TaskId) -> Option<Outcome> {
    Some(Outcome::Done)
}

fn nothing_stored(_: usize) -> u64 {
    0
}

/// The tasks of an earlier stage that a task reads.
fn read_by(task: TaskId, read: usize, shapes: &[Shape], width: usize) -> Vec<TaskId> {
    let stage = haul_ir::id::StageId::from_index(read);
    let of = |item| TaskId { stage, item };
    match (shapes[read].0, task.item) {
        (true, Some(item)) => vec![of(Some(item))],
        (true, None) => (0..width).map(|item| of(Some(item))).collect(),
        (false, _) => vec![of(None)],
    }
}

proptest! {
    /// Each task ends once, done or skipped: done after all that it reads, skipped where one of
    /// those was; never more is held than there is, and at the end nothing.
    #[test]
    fn every_task_ends_once_in_order_and_within_the_machine(
        shapes in shapes(),
        run in (0..5_usize, 1..5_usize, any::<u64>()),
        fails in prop::collection::vec(prop::bool::weighted(0.1), 64),
        stored in prop::collection::vec(0..40 * MIB, 64),
    ) {
        let (plan, reads) = plan(&shapes);
        let width = run.0;
        let outcome = |task: TaskId| {
            let at = task.stage.index() * 7 + task.item.unwrap_or(5);
            let failed = fails[at % fails.len()];
            Some(if failed { Outcome::Skipped } else { Outcome::Done })
        };
        let records = records(&plan, run, &outcome, &|turn| stored[turn % stored.len()]);
        let (mut running, mut done, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
        for record in records {
            match record {
                Record::Started(_, _, task) => {
                    for read in &reads[task.stage.index()] {
                        let read = read_by(task, *read, &shapes, width);
                        prop_assert!(read.iter().all(|read| done.contains(read)));
                    }
                    running.push(task);
                    let held = |of: fn(&Shape) -> u64| -> u64 {
                        running.iter().map(|task| of(&shapes[task.stage.index()])).sum()
                    };
                    prop_assert!(held(|shape| shape.1.into()) <= FULL.0.into());
                    prop_assert!(held(|shape| shape.2 * MIB) <= FULL.1);
                }
                Record::Ended(_, task) => {
                    running.retain(|other| *other != task);
                    match outcome(task) {
                        Some(Outcome::Done) => done.push(task),
                        _ => skipped.push(task),
                    }
                }
                Record::Skipped(task) => {
                    let mut read = reads[task.stage.index()].iter();
                    let lost = read.any(|read| {
                        let read = read_by(task, *read, &shapes, width);
                        read.iter().any(|read| skipped.contains(read))
                    });
                    prop_assert!(lost);
                    skipped.push(task);
                }
                Record::Refused(_) | Record::Stolen(_) => {}
            }
        }
        let ended: BTreeSet<_> = done.iter().chain(&skipped).collect();
        prop_assert_eq!(ended.len(), done.len() + skipped.len());
        let all = shapes.iter().map(|shape| if shape.0 { width } else { 1 });
        prop_assert_eq!(ended.len(), all.sum::<usize>());
    }

    /// At no moment is there a lane without a task while one is ready whose request fits.
    #[test]
    fn a_task_whose_resources_are_free_waits_for_no_other(
        shapes in shapes(),
        (width, seed) in (0..5_usize, any::<u64>()),
    ) {
        let (plan, reads) = plan(&shapes);
        // As many lanes as can run at once.
        let records = records(&plan, (width, 4, seed), &all_done, &nothing_stored);
        let mut left: BTreeSet<TaskId> = BTreeSet::new();
        for (stage, shape) in plan.typed.graph().stages.ids().zip(&shapes) {
            match shape.0 {
                true => left.extend((0..width).map(|item| TaskId { stage, item: Some(item) })),
                false => left.extend([TaskId { stage, item: None }]),
            }
        }
        let (mut running, mut done) = (BTreeSet::new(), BTreeSet::new());
        for (at, record) in records.iter().enumerate() {
            match record {
                Record::Started(_, _, task) => {
                    left.remove(task);
                    running.insert(*task);
                }
                Record::Ended(_, task) => {
                    running.remove(task);
                    done.insert(*task);
                }
                _ => {}
            }
            // Time passes before the next record, so nothing else starts now.
            let passes = matches!(records.get(at + 1), Some(Record::Ended(..)));
            let starts = matches!(record, Record::Started(..));
            if !(passes && starts) {
                continue;
            }
            let held = |of: fn(&Shape) -> u64| -> u64 {
                running.iter().map(|task| of(&shapes[task.stage.index()])).sum()
            };
            for task in &left {
                let shape = &shapes[task.stage.index()];
                let mut read = reads[task.stage.index()].iter();
                let ready = read.all(|read| {
                    read_by(*task, *read, &shapes, width).iter().all(|read| done.contains(read))
                });
                let cpus = held(|shape| shape.1.into()) + u64::from(shape.1);
                let memory = held(|shape| shape.2 * MIB) + shape.2 * MIB;
                prop_assert!(!ready || cpus > 4 || memory > FULL.1, "{task:?} could run");
            }
        }
    }

    /// Another run of the same seed is the same, to the last record.
    #[test]
    fn a_seed_repeats_a_schedule(shapes in shapes(), run in (0..5_usize, 1..5_usize, any::<u64>())) {
        let (plan, _) = plan(&shapes);
        let once = || records(&plan, run, &all_done, &nothing_stored);
        prop_assert_eq!(once(), once());
    }

    /// After a failure that ends the run nothing starts, and nothing stays held.
    #[test]
    fn a_failure_leaves_nothing_held(
        shapes in shapes(),
        run in (0..5_usize, 1..5_usize, any::<u64>()),
        last in 0..20_usize,
    ) {
        let (plan, _) = plan(&shapes);
        let ended = std::cell::Cell::new(0);
        let outcome = |_| {
            ended.set(ended.get() + 1);
            (ended.get() <= last).then_some(Outcome::Done)
        };
        let records = records(&plan, run, &outcome, &nothing_stored);
        let is_end = |record: &Record| matches!(record, Record::Ended(..));
        if let Some(failed) = records.iter().enumerate().filter(|(_, r)| is_end(r)).nth(last) {
            prop_assert!(records[failed.0..].iter().all(is_end));
        }
    }
}

/// Of several sources the one on the longest path starts; a task for which there is no room holds
/// up nothing, and is told of with who has the room.
#[test]
fn the_longest_path_goes_first_but_holds_up_nothing() {
    let shapes = [
        (false, 1, 1, 10, vec![]),
        (false, 3, 1, 90, vec![]),
        (false, 2, 1, 80, vec![]),
        (false, 1, 1, 5, vec![]),
    ];
    let (plan, _) = plan(&shapes);
    let records = records(&plan, (1, 4, 0), &all_done, &nothing_stored);
    let stage = |index| haul_ir::id::StageId::from_index(index);
    let refusal = records.iter().find_map(|record| match record {
        Record::Refused(refusal) => Some(refusal),
        _ => None,
    });
    let expected = Refusal {
        stage: stage(2),
        lacks: "cpus",
        behind: vec![stage(1)],
    };
    assert_eq!(refusal, Some(&expected));
    let starts = records.iter().filter_map(|record| match record {
        Record::Started(at, _, task) => Some((*at, task.stage.index())),
        _ => None,
    });
    assert_eq!(
        starts.collect::<Vec<_>>(),
        [(0, 1), (0, 0), (10, 3), (90, 2)]
    );
}

/// One lane goes through the stages of an item before it begins the next, the longest path first.
#[test]
fn a_lane_runs_what_it_made_ready_last() {
    let shapes = [
        (true, 1, 1, 10, vec![]),
        (true, 1, 1, 5, vec![0]),
        (true, 1, 1, 50, vec![0]),
    ];
    let (plan, _) = plan(&shapes);
    let records = records(&plan, (2, 1, 0), &all_done, &nothing_stored);
    let starts = records.iter().filter_map(|record| match record {
        Record::Started(_, _, task) => Some((task.stage.index(), task.item)),
        _ => None,
    });
    let (first, second) = (Some(0), Some(1));
    let expected = [
        (0, first),
        (2, first),
        (1, first),
        (0, second),
        (2, second),
        (1, second),
    ];
    assert_eq!(starts.collect::<Vec<_>>(), expected);
}

/// Lanes without work take half of what the fullest entry of another holds, and the record says so.
#[test]
fn idle_lanes_steal() {
    let (plan, _) = plan(&[(true, 1, 1, 10, vec![])]);
    let records = records(&plan, (64, 4, 0), &all_done, &nothing_stored);
    let last = records.iter().filter_map(|record| match record {
        Record::Ended(at, _) => Some(*at),
        _ => None,
    });
    assert_eq!(last.max(), Some(160), "four lanes share 64 tasks evenly");
    assert!(
        records
            .iter()
            .any(|record| matches!(record, Record::Stolen(_)))
    );
}

/// While stored values fill half of the memory, who uses them up goes before who adds.
#[test]
fn consumers_go_first_when_memory_is_crowded() {
    let produce = (true, 1, 1, 50, vec![]);
    let consume = (true, 4, 1, 10, vec![0]);
    let (plan, _) = plan(&[produce, consume]);
    let crowded = records(&plan, (3, 2, 0), &all_done, &|_| 5 * MIB);
    let refused = |record: &Record| match record {
        Record::Refused(refusal) => refusal.lacks == "stored values",
        _ => false,
    };
    assert!(crowded.iter().any(refused));
    let free = records(&plan, (3, 2, 0), &all_done, &nothing_stored);
    assert!(!free.iter().any(refused));
}
