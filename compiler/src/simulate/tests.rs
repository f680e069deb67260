//! Schedules against ones made by hand.

use haul_ir::id::{Id, NodeId};
use haul_ir::target::Target;

use super::{After, GpuShare, Schedule, Share, Tasks, simulate};
use crate::target;

/// Two nodes `a` of 4 cpus, 8 GiB and two GPUs of 80 GB each; one node `b` of 2 cpus.
fn lab() -> Target {
    let text = r#"Target(nodes: {
        "a": (count: 2, cpus: 4, memory: "8 GiB", gpus: {"A100-80GB": 2}),
        "b": (cpus: 2, memory: "4 GiB"),
    })"#;
    target::parse("lab", text).unwrap()
}

/// `count` tasks of `time` with `cpus` and GiB of memory on nodes of a kind.
fn tasks(count: u64, time: u64, (node, cpus, gib): (usize, u32, u64)) -> Tasks {
    let share = Share {
        node: NodeId::from_index(node),
        cpus,
        memory: gib << 30,
        gpu: None,
    };
    Tasks {
        count,
        time,
        share,
        after: Vec::new(),
    }
}

impl Tasks {
    fn on_gpu(mut self, gpus: u32, gigabytes: u64) -> Tasks {
        let vram = gigabytes * 1_000_000_000;
        self.share.gpu = Some(GpuShare {
            devices: vec![0, 1],
            gpus,
            vram,
        });
        self
    }

    fn after(mut self, stage: usize, by_item: bool) -> Tasks {
        self.after.push(After { stage, by_item });
        self
    }
}

fn makespan(stages: &[Tasks]) -> u64 {
    simulate(stages, &lab()).makespan
}

const A: (usize, u32, u64) = (0, 1, 1);
const B: (usize, u32, u64) = (1, 1, 1);

#[test]
fn tasks_run_in_waves_of_what_fits() {
    assert_eq!(makespan(&[]), 0);
    // 4 cpus on each of two nodes: 8 at once, 9 take two waves.
    assert_eq!(makespan(&[tasks(8, 10, A)]), 10);
    assert_eq!(makespan(&[tasks(9, 10, A)]), 20);
    // 3 GiB each: 2 on a node of 8 GiB, 4 at once.
    assert_eq!(makespan(&[tasks(9, 10, (0, 1, 3))]), 30);
    // 3 of 4 cpus each: one on a node.
    assert_eq!(makespan(&[tasks(4, 10, (0, 3, 1))]), 20);
}

#[test]
fn gpus_are_held_whole_or_by_share_and_memory() {
    // Whole devices: 4 in all.
    assert_eq!(makespan(&[tasks(5, 10, A).on_gpu(10_000, 0)]), 20);
    // Both devices of a node: 2 at once.
    assert_eq!(makespan(&[tasks(3, 10, A).on_gpu(20_000, 0)]), 20);
    // Halves: 8 at once by GPUs, and by cpus.
    assert_eq!(makespan(&[tasks(8, 10, A).on_gpu(5_000, 40)]), 10);
    // Quarters of 30 GB: only 2 fit the 80 GB of a device, 8 at once.
    assert_eq!(makespan(&[tasks(9, 10, A).on_gpu(2_500, 30)]), 20);
}

#[test]
fn items_follow_items_and_gathers_follow_all() {
    // One at a time on `b` (2 cpus each): 3 items, the second stage by item on `a`.
    let first = tasks(3, 10, (1, 2, 1));
    // Items end at 10, 20, 30; each next one takes 4: the last ends at 34.
    let by_item = [first.clone(), tasks(3, 4, A).after(0, true)];
    assert_eq!(makespan(&by_item), 34);
    // A gather waits for all three.
    let gather = [
        first.clone(),
        tasks(3, 4, A).after(0, true),
        tasks(1, 5, A).after(1, false),
    ];
    assert_eq!(makespan(&gather), 39);
    // No items, no time.
    let empty = [
        tasks(0, 10, B),
        tasks(0, 4, A).after(0, true),
        tasks(1, 5, A).after(1, false),
    ];
    assert_eq!(makespan(&empty), 5);
}

#[test]
fn the_longest_chain_goes_first() {
    // `b` has room for one of these (2 cpus). The short one is first in the file, but the other
    // has 50 more behind it: it goes first, and all ends at max(10 + 50, 10 + 20) = 60.
    let wide = (1, 2, 1);
    let stages = [
        tasks(1, 20, wide),
        tasks(1, 10, wide),
        tasks(1, 50, A).after(1, false),
    ];
    let schedule = simulate(&stages, &lab());
    assert_eq!(schedule.makespan, 60);
    // The short one waited 10 for the second stage.
    assert_eq!(schedule.waits, [Some((10, 1)), None, None]);
}

#[test]
fn none_waits_behind_one_whose_room_is_not_there() {
    // Urgent tasks of a whole node each; a small one runs beside them on `b`.
    let stages = [tasks(3, 100, (0, 4, 8)), tasks(1, 5, B)];
    let Schedule {
        makespan,
        waits,
        nodes_used,
    } = simulate(&stages, &lab());
    assert_eq!((makespan, waits), (200, vec![None, None]));
    assert_eq!(nodes_used.iter().copied().collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn many_requests_that_differ_run_in_their_order() {
    // On `b`, with room for one of 2 cpus at a time, and on an `a` with 8 GiB for one of more
    // than 4 GiB: 10,000 of 10 each on the one, 5,000 after another on each of the two nodes.
    let distinct = |(node, cpus, gib): (usize, u32, u64)| -> Vec<Tasks> {
        let stages = (1..=10_000).map(|extra| {
            let mut tasks = tasks(1, 10, (node, cpus, gib));
            tasks.share.memory += extra;
            tasks
        });
        stages.collect()
    };
    assert_eq!(makespan(&distinct((1, 2, 1))), 100_000);
    assert_eq!(makespan(&distinct((0, 1, 4))), 50_000);
    let on_gpu = distinct((0, 0, 0)).into_iter();
    let on_gpu: Vec<_> = on_gpu.map(|tasks| tasks.on_gpu(10_000, 1)).collect();
    // 4 devices.
    assert_eq!(makespan(&on_gpu), 25_000);
}

#[test]
fn each_of_many_tasks_takes_a_node_of_many() {
    let text = r#"Target(nodes: {"a": (count: 100000, cpus: 4, memory: "8 GiB")})"#;
    let target = target::parse("wide", text).unwrap();
    // Of 160,000 tasks of a whole node 100,000 run in the first wave, the others in the second.
    let schedule = simulate(&[tasks(160_000, 10, (0, 4, 8))], &target);
    assert_eq!(schedule.makespan, 20);
    let used: Vec<_> = schedule.nodes_used.iter().copied().collect();
    assert_eq!(used, [100_000]);
}

#[test]
fn millions_of_tasks_are_taken_in_runs() {
    // 16 million tasks on 8 cpus: 2 million waves of 10, in runs of 16.
    assert_eq!(makespan(&[tasks(16_000_000, 10, A)]), 20_000_000);
}
