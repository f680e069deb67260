//! The same rule, one task at a time: no batches, no queues, no trees. Ready tasks start by
//! urgency, then position, each on the first node and the first GPU with room.

use haul_ir::graph::GpuCount;
use haul_ir::id::{Id, NodeId};
use haul_ir::target::Target;

use super::super::{OnGpu, of_each_gpu, price, simulate_at_most};
use super::{After, GpuShare, Schedule, Share, Tasks, simulate, utilisation};
use crate::target;

const DEVICE: u32 = GpuCount::ONE.0;

/// One task.
#[derive(Clone, Default)]
struct Task {
    stage: usize,
    /// Which of its stage.
    item: usize,
    time: u64,
    ready: Option<u64>,
    start: Option<u64>,
    end: u64,
    done: bool,
    node: usize,
    gpus: Vec<usize>,
}

/// One node, with what is free of it.
struct Machine {
    kind: usize,
    cpus: u32,
    memory: u64,
    gpus: Vec<(u32, u64)>,
    ran: bool,
}

struct Simulation<'a> {
    stages: &'a [Tasks],
    tasks: Vec<Task>,
    machines: Vec<Machine>,
    now: u64,
}

fn run<'a>(stages: &'a [Tasks], target: &Target) -> Simulation<'a> {
    let times = stages
        .iter()
        .map(|tasks| vec![tasks.time; tasks.count as usize]);
    run_with(stages, &times.collect::<Vec<_>>(), target)
}

/// Tasks of a stage that take different times.
fn run_with<'a>(stages: &'a [Tasks], times: &[Vec<u64>], target: &Target) -> Simulation<'a> {
    let tasks = times.iter().enumerate().flat_map(|(stage, times)| {
        times.iter().enumerate().map(move |(item, time)| Task {
            stage,
            item,
            time: *time,
            ..Task::default()
        })
    });
    let nodes = target.nodes.entries();
    let machines = nodes.flat_map(|(id, node)| {
        (0..node.count).map(move |_| Machine {
            kind: id.index(),
            cpus: node.cpus,
            memory: node.memory,
            gpus: node.gpus.iter().map(|gpu| (DEVICE, gpu.vram)).collect(),
            ran: false,
        })
    });
    let mut simulation = Simulation {
        stages,
        tasks: tasks.collect(),
        machines: machines.collect(),
        now: 0,
    };
    simulation.all();
    simulation
}

impl Simulation<'_> {
    fn all(&mut self) {
        loop {
            let order = self.order();
            while order.iter().any(|task| self.start(*task)) {}
            let running = |task: &&Task| task.start.is_some() && !task.done;
            let Some(next) = self.tasks.iter().filter(running).map(|t| t.end).min() else {
                break;
            };
            self.now = next;
            for task in 0..self.tasks.len() {
                let Task {
                    start, end, done, ..
                } = self.tasks[task];
                if start.is_some() && !done && end == next {
                    self.finish(task);
                }
            }
        }
        assert!(self.tasks.iter().all(|task| task.done));
    }

    /// Tasks that could start, the most urgent first.
    fn order(&mut self) -> Vec<usize> {
        for task in 0..self.tasks.len() {
            if self.tasks[task].ready.is_none() && self.is_ready(task) {
                self.tasks[task].ready = Some(self.now);
            }
        }
        let ready = (0..self.tasks.len())
            .filter(|task| self.tasks[*task].ready.is_some() && self.tasks[*task].start.is_none());
        let mut order: Vec<_> = ready.collect();
        order.sort_by_key(|task| {
            let Task { stage, item, .. } = self.tasks[*task];
            (u64::MAX - self.urgency(stage), stage, item)
        });
        order
    }

    /// The longest chain of tasks from here on.
    fn urgency(&self, stage: usize) -> u64 {
        let next = (0..self.stages.len()).filter(|next| {
            self.stages[*next]
                .after
                .iter()
                .any(|after| after.stage == stage)
        });
        self.stages[stage].time + next.map(|next| self.urgency(next)).max().unwrap_or(0)
    }

    fn is_ready(&self, task: usize) -> bool {
        let task = &self.tasks[task];
        self.stages[task.stage].after.iter().all(|after| {
            let mut before = self.tasks.iter().filter(|other| {
                other.stage == after.stage && (!after.by_item || other.item == task.item)
            });
            before.all(|other| other.done)
        })
    }

    fn start(&mut self, task: usize) -> bool {
        if self.tasks[task].start.is_some() {
            return false;
        }
        let stage = &self.stages[self.tasks[task].stage];
        let share = &stage.share;
        for (position, machine) in self.machines.iter_mut().enumerate() {
            if machine.kind != share.node.index()
                || machine.cpus < share.cpus
                || machine.memory < share.memory
            {
                continue;
            }
            let Some(gpus) = devices(machine, share) else {
                continue;
            };
            machine.ran = true;
            machine.cpus -= share.cpus;
            machine.memory -= share.memory;
            for gpu in &gpus {
                let asked = share.gpu.as_ref().unwrap();
                machine.gpus[*gpu].0 -= asked.gpus.min(DEVICE);
                machine.gpus[*gpu].1 -= asked.vram;
            }
            let task = &mut self.tasks[task];
            task.start = Some(self.now);
            task.end = self.now + task.time;
            (task.node, task.gpus) = (position, gpus);
            return true;
        }
        false
    }

    fn finish(&mut self, task: usize) {
        let task = &mut self.tasks[task];
        task.done = true;
        let share = &self.stages[task.stage].share;
        let machine = &mut self.machines[task.node];
        machine.cpus += share.cpus;
        machine.memory += share.memory;
        for gpu in &task.gpus {
            let asked = share.gpu.as_ref().unwrap();
            machine.gpus[*gpu].0 += asked.gpus.min(DEVICE);
            machine.gpus[*gpu].1 += asked.vram;
        }
    }

    fn of_stage(&self, stage: usize) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(move |task| task.stage == stage)
    }

    /// Tasks that ran on a kind of node, each with what its stage is.
    fn on(&self, kind: usize) -> impl Iterator<Item = (&Task, &Tasks)> {
        let tasks = self.tasks.iter();
        let here = tasks.filter(move |task| self.machines[task.node].kind == kind);
        here.map(|task| (task, &self.stages[task.stage]))
    }

    /// How many nodes of a kind ran a task.
    fn ran(&self, kind: usize) -> u32 {
        let ran = |machine: &&Machine| machine.kind == kind && machine.ran;
        self.machines.iter().filter(ran).count() as u32
    }
}

impl Task {
    /// How long it holds what it holds.
    fn held(&self) -> u64 {
        self.end - self.start.unwrap()
    }
}

/// The first GPUs with room; none where there is no room, empty where none is asked for.
fn devices(machine: &Machine, share: &Share) -> Option<Vec<usize>> {
    let Some(asked) = &share.gpu else {
        return Some(Vec::new());
    };
    let has_room = |gpu: &&usize| {
        let (units, vram) = machine.gpus[**gpu];
        units >= asked.gpus.min(DEVICE) && vram >= asked.vram
    };
    let count = asked.gpus.div_ceil(DEVICE) as usize;
    let gpus: Vec<_> = asked
        .devices
        .iter()
        .filter(has_room)
        .take(count)
        .copied()
        .collect();
    (gpus.len() == count).then_some(gpus)
}

/// A linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// One kind of node with 2 GPUs of 80 GB and one of 24 GB, and one with none, 1 to 3 nodes of
    /// each.
    fn target(&mut self) -> Target {
        let (a, b) = (1 + self.below(3), 1 + self.below(2));
        let price = self.one_of(&["", r#", price: (rate: "0.125 USD/h", source: "a test")"#]);
        let text = format!(
            r#"Target(nodes: {{
                "a": (count: {a}, cpus: 4, memory: "8 GiB", gpus: {{"A100-80GB": 2, "L4": 1}},
                    price: (rate: "3.473 USD/h", source: "a test")),
                "b": (count: {b}, cpus: 2, memory: "4 GiB"{price}),
            }})"#
        );
        target::parse("random", &text).unwrap()
    }

    /// Up to 5 stages of one task each or of one number of items.
    fn stages(&mut self) -> Vec<Tasks> {
        let items = 1 + self.below(6);
        let mut stages: Vec<Tasks> = Vec::new();
        for stage in 0..1 + self.below(5) as usize {
            let count = self.one_of(&[1, items]);
            let before = (0..stage).filter(|_| self.below(3) == 0);
            let before: Vec<_> = before.collect();
            let after = before.into_iter().map(|stage| After {
                by_item: stages[stage].count == count && self.below(2) == 0,
                stage,
            });
            let after = after.collect();
            let time = self.below(8);
            stages.push(Tasks {
                count,
                time,
                on_gpu: 0,
                share: self.share(),
                after,
            });
            let tasks = &mut stages[stage];
            if tasks.share.gpu.is_some() {
                tasks.on_gpu = self.below(time + 1);
            }
        }
        stages
    }

    fn share(&mut self) -> Share {
        let on_b = self.below(4) == 0;
        let gpu = (!on_b && self.below(2) == 0).then(|| match self.below(4) {
            0 => GpuShare {
                devices: vec![2],
                gpus: self.one_of(&[2_500, 5_000, 10_000]),
                vram: self.one_of(&[0, 8, 24]) * 1_000_000_000,
            },
            _ => GpuShare {
                devices: vec![0, 1],
                gpus: self.one_of(&[1_000, 2_500, 3_333, 5_000, 10_000, 20_000]),
                vram: self.one_of(&[0, 1, 30, 40, 80]) * 1_000_000_000,
            },
        });
        Share {
            node: NodeId::from_index(on_b.into()),
            cpus: self.one_of(&[1, 1, 2]),
            memory: self.one_of(&[1, 2, 3]) << 30,
            gpu,
        }
    }
}

#[test]
fn random_runs_are_as_one_task_at_a_time() {
    let mut random = Random(1);
    let mut crowded = 0;
    for case in 0..4_000 {
        let (target, stages) = (random.target(), random.stages());
        let (found, expected) = (simulate(&stages, &target), run(&stages, &target));
        let about = format!("case {case}: {stages:#?}\n{found:#?}");
        check_times(&found, &expected, &about);
        for stage in 0..stages.len() {
            let tasks = expected.of_stage(stage);
            let waited: u64 = tasks.map(|t| t.start.unwrap() - t.ready.unwrap()).sum();
            assert_eq!(found.queueing[stage], waited, "{about}");
            let ends = expected
                .tasks
                .iter()
                .filter(|task| task.stage == stage)
                .map(|task| task.end);
            assert_eq!(Some(found.ends[stage]), ends.max(), "{about}");
        }
        check_utilisation(&stages, &target, &expected);
        check_devices(&found, &expected, &target, &about);
        check_path_length(&found, &expected, &about);
        check_price(&found, &expected, &target, &about);
        crowded += usize::from(found.queueing.iter().any(|time| *time > 0));
    }
    assert!(crowded > 1_000, "only {crowded} cases in which tasks wait");
}

/// When stages start, how long their first tasks wait and behind whom, when all ends and what sets
/// that, and which nodes have to be paid.
fn check_times(found: &Schedule, expected: &Simulation<'_>, about: &str) {
    assert_eq!(found.makespan, expected.now, "{about}");
    for (kind, used) in found.nodes_used.entries() {
        assert_eq!(*used, expected.ran(kind.index()), "{about}");
    }
    let ends_at = |stage: usize, time| expected.of_stage(stage).any(|task| task.end == time);
    for stage in 0..expected.stages.len() {
        let tasks = || expected.of_stage(stage);
        let batches = || found.timeline.iter().filter(|b| b.stage.index() == stage);
        let first = tasks().filter_map(|task| task.start).min();
        let last = tasks().map(|task| task.end).max();
        let times = (
            batches().map(|b| b.start).min(),
            batches().map(|b| b.end).max(),
        );
        assert_eq!(times, (first, last), "{about}");
        let waited = first.unwrap() - tasks().filter_map(|task| task.ready).min().unwrap();
        let wait = found.waits[stage];
        assert_eq!(wait.map_or(0, |(time, _)| time), waited, "{about}");
        if let Some((_, behind)) = wait {
            assert!(ends_at(behind, first.unwrap()), "{about}");
        }
    }
    // A stage stands where it is last on the path, so that the first need not start the run.
    let path = &found.critical_path;
    let starts_at = |stage: usize, time| expected.of_stage(stage).any(|t| t.start == Some(time));
    assert!(path.iter().any(|stage| starts_at(*stage, 0)), "{about}");
    for stage in path {
        let tasks = path.iter().flat_map(|before| expected.of_stage(*before));
        let mut ends = [0].into_iter().chain(tasks.map(|task| task.end));
        assert!(ends.any(|end| starts_at(*stage, end)), "{about}");
    }
    assert!(ends_at(path[path.len() - 1], found.makespan), "{about}");
}

/// Held and busy time of CPUs and GPUs against what the tasks took one by one.
fn check_utilisation(stages: &[Tasks], target: &Target, expected: &Simulation<'_>) {
    let schedule = simulate(stages, target);
    for found in utilisation(stages, &schedule, target, &[]) {
        let (kind, node) = (found.node.index(), &target.nodes[found.node]);
        let nodes = expected.ran(kind);
        assert_eq!(found.nodes, nodes);
        let (mut held, mut busy) = (0, 0);
        for (task, of) in expected.on(kind) {
            let on_gpu = of.on_gpu;
            let Some(name) = &found.gpu else {
                held += u64::from(of.share.cpus) * task.held();
                busy += u64::from(of.share.cpus) * (task.held() - on_gpu);
                continue;
            };
            let here = task
                .gpus
                .iter()
                .filter(|gpu| node.gpus[**gpu].name == *name);
            let share = of.share.gpu.as_ref().map_or(0, |gpu| gpu.gpus.min(DEVICE));
            let here = here.count() as u64;
            held += here * u64::from(share) * task.held();
            // Only one of several GPUs computes.
            busy += here.min(1) * u64::from(share) * on_gpu;
        }
        let there = match &found.gpu {
            None => u64::from(node.cpus),
            Some(name) if name == "L4" => u64::from(DEVICE),
            Some(_) => 2 * u64::from(DEVICE),
        };
        let there = there * u64::from(nodes) * expected.now;
        let per_mille = |part: u64| match there {
            0 => 0.0,
            _ => (part as f64 * 1000.0 / there as f64).round(),
        };
        assert_eq!(f64::from(found.held.unwrap()), per_mille(held));
        assert_eq!(f64::from(found.busy.unwrap()), per_mille(busy));
    }
}

/// How long each single GPU is held and busy, in ten-thousandths of it, against the batches of the
/// schedule.
fn check_devices(found: &Schedule, expected: &Simulation<'_>, target: &Target, about: &str) {
    let first_of = |kind: usize| {
        let before = expected.machines.iter().take_while(|m| m.kind != kind);
        before.count()
    };
    let sums = of_each_gpu(&found.timeline, |stage| {
        let tasks = &expected.stages[stage.index()];
        let gpu = tasks.share.gpu.as_ref().unwrap();
        OnGpu {
            share: gpu.gpus.min(DEVICE),
            time: tasks.time,
            busy: tasks.on_gpu,
        }
    });
    for (id, node) in target.nodes.entries() {
        for machine in 0..node.count as usize {
            for gpu in 0..node.gpus.len() {
                let (mut held, mut busy) = (0, 0);
                for (task, of) in expected.on(id.index()) {
                    let is_here = task.node == first_of(id.index()) + machine;
                    let share = of.share.gpu.as_ref().map_or(0, |gpu| gpu.gpus.min(DEVICE));
                    if is_here && task.gpus.contains(&gpu) {
                        held += u64::from(share) * task.held();
                    }
                    // It computes on the first of those that it holds.
                    if is_here && task.gpus.first() == Some(&gpu) {
                        busy += u64::from(share) * of.on_gpu;
                    }
                }
                let place = (id, machine, gpu);
                let sums = sums.get(&place).copied().unwrap_or_default();
                assert_eq!(sums, (held.into(), busy.into()), "{about}");
            }
        }
    }
}

/// The tasks of the path, one after the other without a gap, are as long as the run: following the
/// causes of starts back from the last end, task by task.
fn check_path_length(found: &Schedule, expected: &Simulation<'_>, about: &str) {
    let tasks = &expected.tasks;
    let mut reached = vec![false; tasks.len()];
    // From the start of the run on: a task that begins when one on the path ends is on one.
    let is_of_path = |task: &Task| found.critical_path.contains(&task.stage);
    let mut order: Vec<_> = (0..tasks.len())
        .filter(|t| is_of_path(&tasks[*t]))
        .collect();
    order.sort_by_key(|task| (tasks[*task].start, tasks[*task].end));
    for _ in 0..order.len() {
        for task in &order {
            let start = tasks[*task].start.unwrap();
            let mut before = order.iter().filter(|t| reached[**t]);
            reached[*task] |= start == 0 || before.any(|t| tasks[*t].end == start);
        }
    }
    let length = order.iter().filter(|t| reached[**t]).map(|t| tasks[*t].end);
    assert_eq!(length.max(), Some(found.makespan), "{about}");
}

/// What the nodes that ran a task cost for all of the run, in dollars as a fraction.
fn check_price(found: &Schedule, expected: &Simulation<'_>, target: &Target, about: &str) {
    let usd_per_hour: Option<f64> =
        expected
            .machines
            .iter()
            .filter(|m| m.ran)
            .try_fold(0.0, |sum, machine| {
                let node = &target.nodes[NodeId::from_index(machine.kind)];
                let milli = node.price.as_ref()?.milli_usd_per_hour;
                Some(sum + milli as f64 / 1000.0)
            });
    // Runs of nanoseconds cost nothing: as if they took hours.
    let hours = 3_600_000_000_000;
    let long = Schedule {
        makespan: found.makespan * hours,
        ..found.clone()
    };
    let price = price(target, &long);
    let by_hand = usd_per_hour.map(|usd| (usd * expected.now as f64 * 1e9).round() as u64);
    assert_eq!(price, by_hand, "{about}");
}

#[test]
fn runs_of_tasks_are_as_tasks_that_are_longer() {
    let mut random = Random(3);
    let mut coarse = 0;
    for case in 0..2_000 {
        let (target, mut stages) = (random.target(), random.stages());
        let limit = 4 + random.below(12);
        // Of runs that differ in length it is not said which items they are.
        for after in stages.iter_mut().flat_map(|tasks| &mut tasks.after) {
            after.by_item = false;
        }
        let lengths = lengths(&stages, limit);
        let times = stages.iter().zip(&lengths).map(|(tasks, length)| {
            let items: Vec<_> = (0..tasks.count).collect();
            let runs = items.chunks(*length as usize);
            runs.map(|run| run.len() as u64 * tasks.time).collect()
        });
        let times: Vec<Vec<u64>> = times.collect();
        let mut longer = stages.clone();
        for (tasks, times) in longer.iter_mut().zip(&times) {
            tasks.time = times[0];
        }
        let found = simulate_at_most(limit, &stages, &target);
        let expected = run_with(&longer, &times, &target);
        let about = format!("case {case}, {limit}: {stages:#?}\n{found:#?}");
        check_times(&found, &expected, &about);
        coarse += usize::from(lengths.iter().any(|length| *length > 1));
    }
    assert!(coarse > 500, "only {coarse} cases with runs");
}

#[test]
fn runs_of_tasks_end_no_later_than_one_after_the_other() {
    let mut random = Random(5);
    for case in 0..2_000 {
        let (target, stages) = (random.target(), random.stages());
        let found = simulate_at_most(1 + random.below(12), &stages, &target);
        let serial: u64 = stages.iter().map(|tasks| tasks.time * tasks.count).sum();
        let about = format!("case {case}: {stages:#?}\n{found:#?}");
        assert!(found.makespan <= serial, "{about}");
        for (stage, tasks) in stages.iter().enumerate() {
            let batches = found.timeline.iter().filter(|b| b.stage.index() == stage);
            let ran: u64 = batches.map(|batch| batch.tasks).sum();
            assert_eq!(ran, tasks.count, "{about}");
        }
    }
}

/// How many tasks of each stage are one run, by trying: with the most tasks of any stage at which
/// there are at most `limit` in all.
fn lengths(stages: &[Tasks], limit: u64) -> Vec<u64> {
    let total = |most: u64| -> u64 { stages.iter().map(|tasks| tasks.count.min(most)).sum() };
    let most = (2..=limit).rev().find(|most| total(*most) <= limit);
    let most = most.unwrap_or(1);
    stages
        .iter()
        .map(|tasks| tasks.count.div_ceil(most))
        .collect()
}

/// What each node holds at any time is at most what it has: a check of the timeline by itself.
#[test]
fn no_node_holds_more_than_it_has() {
    let mut random = Random(7);
    for _ in 0..1_000 {
        let (target, stages) = (random.target(), random.stages());
        let timeline = simulate(&stages, &target).timeline;
        for at in timeline.iter().map(|batch| batch.start) {
            for (kind, node) in target.nodes.entries() {
                for machine in 0..node.count as usize {
                    let here = timeline.iter().filter(|b| {
                        (b.node, b.machine) == (kind, machine) && b.start <= at && at < b.end
                    });
                    let share = |b: &haul_ir::plan::Batch| &stages[b.stage.index()].share;
                    let here: Vec<_> = here.map(|b| (b, share(b))).collect();
                    let cpus: u64 = here.iter().map(|(b, s)| b.tasks * u64::from(s.cpus)).sum();
                    let memory: u64 = here.iter().map(|(b, s)| b.tasks * s.memory).sum();
                    assert!(cpus <= node.cpus.into() && memory <= node.memory);
                    for gpu in 0..node.gpus.len() {
                        let on_it = here.iter().filter(|(b, _)| b.gpus.contains(&gpu));
                        let held = on_it.map(|(b, s)| {
                            let asked = s.gpu.as_ref().unwrap();
                            let units = u64::from(asked.gpus.min(DEVICE));
                            (b.tasks * units, b.tasks * asked.vram)
                        });
                        let sum = held.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
                        assert!(sum.0 <= DEVICE.into() && sum.1 <= node.gpus[gpu].vram);
                    }
                }
            }
        }
    }
}
