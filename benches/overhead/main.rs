//! What scheduling takes for each task, of haul and of rayon, on graphs whose tasks do nothing.
//!
//! Prints a line for each: the system, the shape, how many tasks, and nanoseconds a task of each
//! run. `python3 benches/overhead/run.py` runs it beside other systems and prints a table.

use std::hint::black_box;
use std::time::Instant;

use haul_compiler::{Facts, target};
use haul_executor::{Machine, dispatch};
use haul_ir::plan::Plan;
use rayon::{Scope, ThreadPool, ThreadPoolBuilder};

/// As the binary does.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const THREADS: u32 = 2;
const RUNS: usize = 7;
const TASKS: usize = 100_000;

fn main() {
    let pool = ThreadPoolBuilder::new()
        .num_threads(THREADS as usize)
        .build();
    let pool = pool.expect("threads");
    for shape in [independent, chain, diamonds, tree] {
        let shape = shape(TASKS);
        let (plan, width, tasks) = (&shape.plan, shape.width, shape.tasks);
        print("haul", shape.name, tasks, &|| run_haul(plan, width, tasks));
        print("rayon", shape.name, tasks, &|| (shape.rayon)(&pool, tasks));
    }
    let shape = independent(10 * TASKS);
    print("haul", shape.name, shape.tasks, &|| {
        run_haul(&shape.plan, shape.width, shape.tasks);
    });
    print("rayon", shape.name, shape.tasks, &|| {
        (shape.rayon)(&pool, shape.tasks)
    });
}

/// A graph of tasks: as a pipeline, and as code that spawns it.
struct Shape {
    name: &'static str,
    tasks: usize,
    plan: Plan,
    /// The items of its collection.
    width: usize,
    rayon: fn(&ThreadPool, usize),
}

/// One stage for each of many items.
fn independent(tasks: usize) -> Shape {
    Shape {
        name: "independent",
        tasks,
        plan: plan(r#""s": (each: "rows", do: "rows + 1")"#),
        width: tasks,
        rayon: |pool, tasks| {
            pool.scope(|scope| (0..tasks).for_each(|_| scope.spawn(|_| work())));
        },
    }
}

/// Each stage reads the one before.
fn chain(tasks: usize) -> Shape {
    let stage = |at: usize| match at {
        0 => r#""s0": (do: "x + 1")"#.to_owned(),
        _ => format!(r#""s{at}": (do: "s{} * 2 + {at}")"#, at - 1),
    };
    Shape {
        name: "chain",
        tasks,
        plan: plan(&(0..tasks).map(stage).collect::<Vec<_>>().join(",\n")),
        width: 1,
        rayon: |pool, tasks| pool.scope(|scope| spawn_chain(scope, tasks)),
    }
}

/// Two stages read one and are read by the next, over and over.
fn diamonds(tasks: usize) -> Shape {
    let count = tasks / 3;
    let stages = (0..count).map(|at| {
        let top = match at {
            0 => "x".to_owned(),
            _ => format!("l{0} - r{0}", at - 1),
        };
        format!(
            r#""t{at}": (do: "{top} + {at}"), "l{at}": (do: "t{at} * 2"), "r{at}": (do: "t{at} * 3")"#
        )
    });
    Shape {
        name: "diamonds",
        tasks: 3 * count,
        plan: plan(&stages.collect::<Vec<_>>().join(",\n")),
        width: 1,
        rayon: |pool, tasks| {
            pool.install(|| {
                for _ in 0..tasks / 3 {
                    work();
                    rayon::join(work, work);
                }
            });
        },
    }
}

/// Each stage reads two others, down to one.
fn tree(tasks: usize) -> Shape {
    let depth = tasks.ilog2();
    let leaves = 1 << (depth - 1);
    let count = 2 * leaves - 1;
    let stages = (0..count).map(|at| match at {
        _ if at < leaves => format!(r#""s{at}": (do: "x + {at}")"#),
        _ => {
            let first = 2 * (at - leaves);
            format!(r#""s{at}": (do: "s{first} - s{} * 2")"#, first + 1)
        }
    });
    Shape {
        name: "tree",
        tasks: count,
        plan: plan(&stages.collect::<Vec<_>>().join(",\n")),
        width: 1,
        rayon: |pool, tasks| pool.install(|| join_tree(tasks.ilog2() + 1)),
    }
}

fn spawn_chain<'s>(scope: &Scope<'s>, left: usize) {
    work();
    if left > 1 {
        scope.spawn(move |scope| spawn_chain(scope, left - 1));
    }
}

fn join_tree(depth: u32) {
    if depth > 1 {
        rayon::join(|| join_tree(depth - 1), || join_tree(depth - 1));
    }
    work();
}

/// A task that does nothing and is not left out.
fn work() {
    black_box(0);
}

fn plan(stages: &str) -> Plan {
    let text = format!(
        r#"Pipeline(version: 1,
            inputs: {{
                "x": Random(seed: 1, type: "f32[64]"),
                "rows": Split(of: Random(seed: 2, type: "f32[64]"), axis: 0, size: 1),
            }},
            stages: {{ {stages} }})"#
    );
    let checked = haul_compiler::check(&text, haul_kernels::catalogue(), &Facts::default());
    let typed = checked.typed.expect("the pipeline is fine");
    let local = target::local(THREADS, 1 << 34);
    let planned = haul_compiler::plan(typed, &local, "bench", "bench.ron", &checked.places);
    planned.expect("the pipeline fits").plan
}

/// Schedules the tasks, with grants, records and times, as a run does.
fn run_haul(plan: &Plan, width: usize, tasks: usize) {
    let machine = Machine {
        cpus: THREADS,
        memory: 1 << 34,
        cpu: String::new(),
        emulated: Vec::new(),
    };
    let dispatched = dispatch(plan, width, &machine, &|_, _| work());
    assert_eq!(dispatched.tasks, tasks as u64);
}

fn print(system: &str, shape: &str, tasks: usize, run: &dyn Fn()) {
    run(); // Not counted: the first meets cold caches.
    let times = (0..RUNS).map(|_| {
        let start = Instant::now();
        run();
        format!("{:.1}", start.elapsed().as_nanos() as f64 / tasks as f64)
    });
    println!(
        "{system} {shape} {tasks} {}",
        times.collect::<Vec<_>>().join(" ")
    );
}
