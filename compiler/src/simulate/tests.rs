//! Schedules against ones made by hand, and by a simulation that is slow and plain.

mod brute_force;

use haul_ir::id::{Id, NodeId, StageId};
use haul_ir::target::Target;

use super::{After, GpuShare, Schedule, Share, Tasks, simulate, utilisation};
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
        on_gpu: 0,
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

    /// With so much of its time on the GPU.
    fn busy(mut self, on_gpu: u64) -> Tasks {
        self.on_gpu = on_gpu;
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
        ..
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
    // Whatever stands beside them: 2 of 4 s run on `b` while a million of 8 ns take 125,000 waves.
    let beside = [tasks(1_000_000, 8, A), tasks(2, 4_000_000_000, B)];
    assert_eq!(makespan(&beside), 4_000_000_000);
    // Nor do many small stages make one large one coarse: of 1,000,000 tasks 990,000 are left for
    // it, so that 7,920,000 are taken in runs of 8, and 990,000 runs of 8 * 10 on 8 cpus take
    // 123,750 waves. The small ones, less urgent, are on `b`: 5,000 waves of 2 of 10.
    let mut many = vec![tasks(7_920_000, 10, A)];
    many.extend(vec![tasks(1, 10, B); 10_000]);
    assert_eq!(makespan(&many), 9_900_000);
}

#[test]
fn queueing_adds_up_what_each_task_waits() {
    // Of 9 tasks 8 start at 0 and one at 10.
    assert_eq!(simulate(&[tasks(9, 10, A)], &lab()).queueing, [10]);
    // One at a time on `b`: the second waits 10, the third 20. Each is followed by a task on `a`
    // that starts at once.
    let stages = [
        tasks(3, 10, (1, 2, 1)),
        tasks(3, 4, A).after(0, true),
        tasks(1, 5, A).after(1, false),
    ];
    assert_eq!(simulate(&stages, &lab()).queueing, [30, 0, 0]);
    // Items end at 10 and 20 (one at a time) and are followed by tasks of 15 on the one GPU that
    // there is: from 10 to 25 and from 25 to 40. The second waits 5.
    let text = r#"Target(nodes: {"g": (cpus: 2, memory: "8 GiB", gpus: {"L4": 1})})"#;
    let mut on_gpu = tasks(2, 15, (0, 1, 1)).on_gpu(10_000, 1).after(0, true);
    on_gpu.share.gpu.as_mut().unwrap().devices = vec![0];
    let mut first = tasks(2, 10, (0, 1, 5));
    first.share.memory = 5 << 30;
    let schedule = simulate(&[first, on_gpu], &target::parse("one", text).unwrap());
    assert_eq!((schedule.makespan, schedule.queueing), (40, vec![10, 5]));
    // Nobody waits where nothing runs, however full it is.
    let full = [tasks(1, 10, (1, 2, 1)), tasks(0, 10, (1, 2, 1))];
    assert_eq!(simulate(&full, &lab()).queueing, [0, 0]);
}

#[test]
fn queueing_of_millions_is_that_of_all_their_waves() {
    // 2 million waves of 8 tasks of 10; the tasks of wave w wait 10 * w:
    // 8 * 10 * (2,000,000 * 1,999,999 / 2).
    let schedule = simulate(&[tasks(16_000_000, 10, A)], &lab());
    assert_eq!(schedule.queueing, [159_999_920_000_000]);
}

#[test]
fn the_critical_path_goes_back_from_the_last_end() {
    // 0 and 1 beside each other on `a`, 2 waits for both, and 1 takes longer; 3 ends before.
    let stages = [
        tasks(1, 10, A),
        tasks(1, 20, A),
        tasks(1, 5, A).after(0, false).after(1, false),
        tasks(1, 24, B),
    ];
    let schedule = simulate(&stages, &lab());
    assert_eq!(
        (schedule.makespan, schedule.critical_path),
        (25, vec![1, 2])
    );
    // Room for one on `b`: the most urgent is 1 with 60, then comes 0 with 20, from 10 to 30. 2
    // ends at 60.
    let wide = (1, 2, 1);
    let stages = [
        tasks(1, 20, wide),
        tasks(1, 10, wide),
        tasks(1, 50, A).after(1, false),
    ];
    assert_eq!(simulate(&stages, &lab()).critical_path, [1, 2]);
    // With 5 less behind it, 0 ends last, and found its room where 1 had been.
    let stages = [
        tasks(1, 20, wide),
        tasks(1, 10, wide),
        tasks(1, 15, A).after(1, false),
    ];
    let schedule = simulate(&stages, &lab());
    assert_eq!(
        (schedule.makespan, schedule.critical_path),
        (30, vec![1, 0])
    );
    // By items: the last of 3 on `b` starts at 20 after two others of its stage, and its
    // successor follows.
    let stages = [tasks(3, 10, wide), tasks(3, 4, A).after(0, true)];
    assert_eq!(simulate(&stages, &lab()).critical_path, [0, 1]);
    assert_eq!(simulate(&[], &lab()).critical_path, [0; 0]);
}

#[test]
fn whoever_waits_for_a_gpu_waits_behind_the_one_that_held_it() {
    // One GPU. 0 holds it until 10, when 2, which holds none, ends as well and after it. 1 has
    // waited for the GPU.
    let text = r#"Target(nodes: {"g": (cpus: 4, memory: "8 GiB", gpus: {"L4": 1})})"#;
    let target = target::parse("one", text).unwrap();
    let on_gpu = |time| {
        let mut tasks = tasks(1, time, A).on_gpu(10_000, 1);
        tasks.share.gpu.as_mut().unwrap().devices = vec![0];
        tasks
    };
    let stages = [on_gpu(10), on_gpu(5), tasks(1, 10, A)];
    let schedule = simulate(&stages, &target);
    assert_eq!(schedule.waits, [None, Some((10, 0)), None]);
    assert_eq!(schedule.critical_path, [0, 1]);
}

#[test]
fn whoever_waits_waits_behind_the_one_whose_end_made_the_room() {
    let text = r#"Target(nodes: {"g": (cpus: 8, memory: "8 GiB", gpus: {"A100-80GB": 1})})"#;
    let target = target::parse("one", text).unwrap();
    let on_gpu = |time, gpus, gigabytes| {
        let mut tasks = tasks(1, time, (0, 1, 0)).on_gpu(gpus, gigabytes);
        tasks.share.gpu.as_mut().unwrap().devices = vec![0];
        tasks
    };
    let behind = |stages: &[Tasks]| simulate(stages, &target).waits[2].unwrap();
    // 60 GB and 10 GB leave 10 of 80; both end at 10. The 60 GB that 2 needs were where 0 was.
    let stages = [
        on_gpu(10, 5_000, 60),
        on_gpu(10, 5_000, 10),
        on_gpu(5, 5_000, 60),
    ];
    assert_eq!(behind(&stages), (10, 0));
    // Its half of the device would be there after either, its 70 GB after 1.
    let stages = [
        on_gpu(10, 5_000, 10),
        on_gpu(10, 5_000, 60),
        on_gpu(5, 5_000, 70),
    ];
    assert_eq!(behind(&stages), (10, 1));
    // It needs the room of both: the last of them.
    let stages = [
        on_gpu(10, 5_000, 1),
        on_gpu(10, 5_000, 1),
        on_gpu(5, 10_000, 1),
    ];
    assert_eq!(behind(&stages), (10, 1));
    // 6 of 8 cpus and 2, both until 10: 5 are free after 0 alone.
    let stages = [
        tasks(1, 10, (0, 6, 1)),
        tasks(1, 10, (0, 2, 1)),
        tasks(1, 5, (0, 5, 1)),
    ];
    assert_eq!(behind(&stages), (10, 0));
}

#[test]
fn memory_of_a_gpu_may_be_full_before_its_shares_are() {
    // Ten tasks of 0.1 with 30 GB each: of 80 GB on each of 4 devices, 2 fit. 8 at once, where
    // shares alone would let 40 on: 2 waves.
    let stages = [tasks(10, 10, (0, 0, 0)).on_gpu(1_000, 30)];
    let schedule = simulate(&stages, &lab());
    assert_eq!((schedule.makespan, schedule.queueing), (20, vec![20]));
    // Two whole GPUs are on one node: beside one task on each node's first device there is no
    // room, although two devices are free.
    let stages = [
        tasks(2, 10, (0, 3, 0)).on_gpu(10_000, 1),
        tasks(1, 5, (0, 1, 0)).on_gpu(20_000, 1),
    ];
    let schedule = simulate(&stages, &lab());
    assert_eq!(
        (schedule.makespan, schedule.queueing),
        (15, vec![0, 10]),
        "both start on the two nodes"
    );
    assert_eq!(schedule.timeline[2].gpus, [0, 1]);
}

#[test]
fn the_timeline_has_each_batch_until_there_are_too_many() {
    let schedule = simulate(&[tasks(9, 10, A)], &lab());
    let times = |schedule: &Schedule| -> Vec<_> {
        let batches = schedule.timeline.iter();
        batches
            .map(|batch| (batch.machine, batch.tasks, batch.start, batch.end))
            .collect()
    };
    // 4 on each node, then one.
    assert_eq!(
        times(&schedule),
        [(0, 4, 0, 10), (1, 4, 0, 10), (0, 1, 10, 20)]
    );
    // 2,001 waves of 8 and one task more: on each node one bar.
    let schedule = simulate(&[tasks(16_009, 10, A)], &lab());
    assert_eq!(
        times(&schedule),
        [(0, 8_005, 0, 20_020), (1, 8_004, 0, 20_010)]
    );
    // 2,500 stages that cannot be joined: the 500 shortest are left out.
    let stages: Vec<_> = (1..=2_500).map(|time| tasks(1, time, (1, 2, 1))).collect();
    let schedule = simulate(&stages, &lab());
    assert_eq!(schedule.timeline.len(), 2_000);
    let mut lengths = schedule.timeline.iter().map(|b| b.end - b.start);
    assert!(lengths.all(|length| length > 500));
    assert!(schedule.timeline.is_sorted_by_key(|batch| batch.start));
}

#[test]
fn utilisation_is_what_is_held_and_used_of_what_is_there() {
    let of = |stages: &[Tasks]| -> Vec<_> {
        let schedule = simulate(stages, &lab());
        let all = utilisation(stages, &schedule, &lab(), &[]).into_iter();
        all.map(|u| {
            (
                u.node.index(),
                u.nodes,
                u.gpu,
                u.held.unwrap(),
                u.busy.unwrap(),
            )
        })
        .collect()
    };
    let a100 = || Some("A100-80GB".to_owned());
    // Alone on one `a` for 100: 1 of 4 cpus is held, and computes for 40; half of one of 2 GPUs is
    // held, and used for 60. Of a node that is not used nothing is said.
    let one = tasks(1, 100, A).on_gpu(5_000, 1).busy(60);
    assert_eq!(
        of(&[one]),
        [(0, 1, None, 250, 100), (0, 1, a100(), 250, 150)]
    );
    // 8 quarters of 10 GB fit two GPUs of one node: 4 cpus are held by 4 tasks, so that it takes
    // two nodes. Each node: all cpus, one of two GPUs.
    let eight = tasks(8, 10, A).on_gpu(2_500, 10).busy(10);
    assert_eq!(
        of(&[eight]),
        [(0, 2, None, 1000, 0), (0, 2, a100(), 500, 500)]
    );
    // Both GPUs for 10, then a gather of 30 beside them: 2 * 10 of 2 * 40 are held. Of 160 cpu
    // times 10 and 30 are held, 4 and 30 used. Of the two GPUs one computes: 6 of 80.
    let both = tasks(1, 10, A).on_gpu(20_000, 1).busy(6);
    let gather = tasks(1, 30, A).after(0, false);
    assert_eq!(
        of(&[both, gather]),
        [(0, 1, None, 250, 213), (0, 1, a100(), 250, 75)]
    );
    // On `b` alone there is no GPU.
    assert_eq!(of(&[tasks(1, 7, B)]), [(1, 1, None, 500, 500)]);
    assert_eq!(of(&[tasks(1, 0, B)]), [(1, 1, None, 0, 0)]);
}

#[test]
fn the_use_of_what_tasks_of_unknown_time_hold_is_unknown() {
    // Stage 1, of unknown time, holds cpus; the half GPU of stage 0 is held, and busy, for 10 of 10.
    let stages = [tasks(1, 10, A).on_gpu(5_000, 1).busy(10), tasks(1, 0, A)];
    let of = |stages: &[Tasks]| -> Vec<_> {
        let schedule = simulate(stages, &lab());
        let all = utilisation(stages, &schedule, &lab(), &[StageId::from_index(1)]);
        all.into_iter().map(|u| (u.held, u.busy)).collect()
    };
    assert_eq!(of(&stages), [(None, None), (Some(250), Some(250))]);
    // It holds a GPU of its own type as well.
    let stages = [stages[0].clone(), tasks(1, 0, A).on_gpu(5_000, 1)];
    assert_eq!(of(&stages), [(None, None), (None, None)]);
    // One without tasks holds nothing.
    let stages = [stages[0].clone(), tasks(0, 0, A)];
    assert_eq!(of(&stages), [(Some(250), Some(0)), (Some(250), Some(250))]);
}
