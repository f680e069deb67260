//! The same rule, one task at a time: no batches, no queues, no trees. Ready tasks start by
//! urgency, then position, each on the first node and the first GPU with room.

use haul_ir::graph::GpuCount;
use haul_ir::id::{Id, NodeId};
use haul_ir::target::Target;

use super::{After, GpuShare, Share, Tasks, simulate, utilisation};
use crate::target;

const DEVICE: u32 = GpuCount::ONE.0;

/// One task.
#[derive(Clone, Default)]
struct Task {
    stage: usize,
    /// Which of its stage.
    item: usize,
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
    let tasks = stages.iter().enumerate().flat_map(|(stage, tasks)| {
        (0..tasks.count as usize).map(move |item| Task {
            stage,
            item,
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
            task.end = self.now + stage.time;
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

    /// Time that tasks hold something of a kind of node, times how much of it.
    fn integral(&self, kind: usize, much: impl Fn(&Tasks) -> u64, time: fn(&Tasks) -> u64) -> u64 {
        let here = self.tasks.iter().map(|task| &self.stages[task.stage]);
        let here = here.filter(|tasks| tasks.share.node.index() == kind);
        here.map(|tasks| much(tasks) * time(tasks)).sum()
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

    /// One kind of node with 2 GPUs of 80 GB and one with none, 1 to 3 nodes of each.
    fn target(&mut self) -> Target {
        let (a, b) = (1 + self.below(3), 1 + self.below(2));
        let text = format!(
            r#"Target(nodes: {{
                "a": (count: {a}, cpus: 4, memory: "8 GiB", gpus: {{"A100-80GB": 2}}),
                "b": (count: {b}, cpus: 2, memory: "4 GiB"),
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
        let gpu = (!on_b && self.below(2) == 0).then(|| GpuShare {
            devices: vec![0, 1],
            gpus: self.one_of(&[1_000, 2_500, 3_333, 5_000, 10_000, 20_000]),
            vram: self.one_of(&[0, 1, 30, 40, 80]) * 1_000_000_000,
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
        assert_eq!(found.makespan, expected.now, "{about}");
        for stage in 0..stages.len() {
            let tasks = || expected.of_stage(stage);
            let waited: u64 = tasks().map(|t| t.start.unwrap() - t.ready.unwrap()).sum();
            assert_eq!(found.queueing[stage], waited, "{about}");
            let batches = || found.timeline.iter().filter(|b| b.stage.index() == stage);
            let starts = (
                batches().map(|b| b.start).min(),
                batches().map(|b| b.end).max(),
            );
            let first = tasks().filter_map(|task| task.start).min();
            assert_eq!(
                starts,
                (first, tasks().map(|task| task.end).max()),
                "{about}"
            );
        }
        check_utilisation(&stages, &target, &expected);
        crowded += usize::from(found.queueing.iter().any(|time| *time > 0));
    }
    assert!(crowded > 1_000, "only {crowded} cases in which tasks wait");
}

/// Held and busy time of CPUs and GPUs against what the tasks took one by one.
fn check_utilisation(stages: &[Tasks], target: &Target, expected: &Simulation<'_>) {
    let schedule = simulate(stages, target);
    for found in utilisation(stages, &schedule, target) {
        let kind = found.node.index();
        let ran = |machine: &&Machine| machine.kind == kind && machine.ran;
        let nodes = expected.machines.iter().filter(ran).count() as u64;
        assert_eq!(u64::from(found.nodes), nodes);
        let (there, held, busy) = match found.gpu {
            None => {
                let cpus = |tasks: &Tasks| u64::from(tasks.share.cpus);
                let there = u64::from(target.nodes[found.node].cpus);
                let held = expected.integral(kind, cpus, |tasks| tasks.time);
                let busy = expected.integral(kind, cpus, |tasks| tasks.time - tasks.on_gpu);
                (there, held, busy)
            }
            Some(_) => {
                let gpus = |t: &Tasks| t.share.gpu.as_ref().map_or(0, |gpu| gpu.gpus.into());
                let held = expected.integral(kind, gpus, |tasks| tasks.time);
                let one = |tasks: &Tasks| gpus(tasks).min(DEVICE.into());
                let busy = expected.integral(kind, one, |tasks| tasks.on_gpu);
                (2 * u64::from(DEVICE), held, busy)
            }
        };
        let there = there * nodes * expected.now;
        let per_mille = |part: u64| match there {
            0 => 0.0,
            _ => (part as f64 * 1000.0 / there as f64).round(),
        };
        assert_eq!(f64::from(found.held), per_mille(held));
        assert_eq!(f64::from(found.busy), per_mille(busy));
    }
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
