//! Why something is where it is: the other choice is planned, and agrees with the regret.

use crate::support::plans::try_plan;
use haul_compiler::render::{self, Colour};
use haul_compiler::why::{Behind, Change, NoWhy, Outcome, Sum, WhatIf, Why, why};
use haul_compiler::{Facts, check, target};
use haul_ir::plan::{Reason, Side};

fn told(text: &str, on: &str, name: &str) -> Result<Why, NoWhy> {
    let checked = check(text, haul_kernels::catalogue(), &Facts::default());
    let typed = checked.typed.expect("a graph");
    let target = target::find(on).expect("a target");
    why(typed, &target, ("test", "test.ron"), &checked.places, name)
}

fn mixed() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../pipelines/mixed.ron");
    std::fs::read_to_string(path).expect("a pipeline")
}

/// The regret is what still flows through the cut once a choice is infinitely dear; the forced plan
/// is made from the start with the op pinned. Both are how much longer a task takes.
#[test]
fn the_forced_plan_is_worse_by_the_regret() {
    let text = mixed();
    let plan = try_plan("a100", &text).expect("a plan").plan;
    let mut compared = 0;
    for (group, facts) in plan.groups.entries() {
        let Some(regret) = facts.placement.regret else {
            continue;
        };
        let head = plan.typed.head(group);
        let node = &plan.typed.graph().ops[head];
        let stage = &plan.typed.graph().stages[node.stage].name;
        let why = told(&text, "a100", &format!("{stage}.{}", node.name)).expect("a reason");
        assert_eq!(why.group, Some(group));
        let forced = why.forced.expect("an op").expect("the other side can be");
        // What the parts add up to is the time of the task, to the nanosecond.
        let total = |sum: Option<Sum>| sum.expect("a sum").total();
        assert_eq!(
            total(why.task.sum),
            why.plan.stages[node.stage].time.expect("a time")
        );
        assert_eq!(
            total(forced.task.sum),
            forced.plan.stages[node.stage].time.expect("a time")
        );
        let forced = forced.plan;
        let time = |plan: &haul_ir::plan::Plan| plan.stages[node.stage].time.expect("a time");
        assert_eq!(time(&forced), time(&plan) + regret, "{}", node.name);
        let placement = &forced.groups[group].placement;
        assert_eq!(placement.side, facts.placement.side.other());
        assert_eq!(placement.reason, Reason::PinnedByAuthor);
        compared += 1;
    }
    assert!(compared > 5, "{compared}");
}

#[test]
fn an_op_that_cannot_be_elsewhere_says_so() {
    let why = told(&mixed(), "a100", "summary.trace").expect("a reason");
    let refused = why.forced.expect("an op").expect_err("no gpu is requested");
    assert!(refused.contains("requests no GPU"), "{refused}");
    // What requesting one would do is told all the same.
    let [what] = &why.tried[..] else {
        panic!("{:?}", why.tried);
    };
    assert_eq!(what.change, Change::Gpu("A100-80GB".to_owned()));
}

#[test]
fn a_stage_tells_all_its_candidates() {
    let why = told(&mixed(), "mixed", "kernel").expect("a reason");
    assert!(why.group.is_none() && why.forced.is_none());
    // A GPU on the nodes with A100s; two cpus on any of the three kinds of nodes.
    let of = |request| {
        why.candidates
            .iter()
            .filter(move |c| c.request == request)
            .count()
    };
    assert_eq!((of(0), of(1)), (1, 3));
    assert_eq!(why.candidates.iter().filter(|c| c.is_chosen).count(), 1);
    let finish = |c: &haul_compiler::why::Candidate| c.outcome.as_ref().ok().and_then(|p| p.finish);
    let chosen = why.candidates.iter().find(|c| c.is_chosen).and_then(finish);
    assert_eq!(chosen, why.candidates.iter().filter_map(finish).min());
    // Where no node can hold a request, that is its line.
    let why = told(&mixed(), "cpu", "kernel").expect("a reason");
    assert!(why.candidates[0].node.is_none());
    let text = render::why(&why, Colour::Plain);
    assert!(text.contains("no node can ever hold it"), "{text}");
}

/// An elementwise chain over 512 M numbers: with 8 cpus the CPUs win, with 1 the GPU does, as
/// the table of six rows says.
#[test]
fn more_cpus_bring_work_back_from_the_gpu() {
    let text = "Pipeline(version: 1,
        inputs: {\"x\": Npy(path: \"x.npy\", type: \"f32[512000000]\")},
        stages: {\"e\": (cpus: 1, memory: \"16 GiB\", gpus: 1, do: \"exp(x)\")},
        outputs: {\"o\": Npy(path: \"o.npy\", from: \"e\")})";
    let why = told(text, "a100", "e.e").expect("a reason");
    let group = why.group.expect("an op");
    assert_eq!(why.plan.groups[group].placement.side, Side::Gpu);
    // On n cpus: 4.096e9 B / (12e9 n B/s) = 341 ms / n of memory against 20 * 5.12e8 / (47.5e9 n)
    // = 216 ms / n of arithmetic. On the GPU: 2.048e9 / 25e9 = 81.9 ms there, and back as much, and
    // 2.2 ms there: 166 ms. 341 / 2 = 171 is more, 341 / 4 = 85 is less.
    let cpus: Vec<_> = why
        .tried
        .iter()
        .filter(|what| matches!(what.change, Change::Cpus(_)))
        .collect();
    assert_eq!(cpus.len(), 1, "{:?}", why.tried);
    assert_eq!(cpus[0].change, Change::Cpus(4));
    assert!(moves_to_cpu(&cpus[0].outcome));
    // A link half as fast takes 330 ms and is still less than 341; a quarter takes 657.
    let is_slower = |what: &&WhatIf| matches!(what.change, Change::SlowerLink(_));
    let slower = why.tried.iter().find(is_slower).expect("tried");
    assert_eq!(slower.change, Change::SlowerLink(4));
    assert!(moves_to_cpu(&slower.outcome));
    // A faster one leaves it where it is, however fast, and that is told too.
    let is_faster = |what: &&WhatIf| matches!(what.change, Change::FasterLink(64));
    let faster = why.tried.iter().find(is_faster).expect("tried");
    assert!(matches!(faster.outcome, Outcome::Stays { .. }));
}

fn moves_to_cpu(outcome: &Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Moves {
            side: Side::Cpu,
            ..
        }
    )
}

/// The parts of a task of `kernel`, by hand: 2048 * 8 * 4 = 65,536 B at 25 GB/s are 2,621 ns, with
/// 10,000 to start 12,621; 2048 * 2048 * 4 = 16,777,216 B are 671,089, with 15,000 to start and to
/// wait for the device 686,089.
#[test]
fn the_cut_adds_up() {
    let why = told(&mixed(), "a100", "kernel.g").expect("a reason");
    let sum = why.task.sum.expect("a sum");
    assert_eq!((sum.cpu, sum.to_device, sum.to_host), (0, 12_621, 686_089));
    // There and back for `g.matmul` and `g` with it on the cpu, and `s`: 8,192 B, 328 ns.
    let forced = why
        .forced
        .as_ref()
        .expect("an op")
        .as_ref()
        .expect("can be");
    let sum = forced.task.sum.expect("a sum");
    assert_eq!(sum.to_device, 12_621 + 681_089);
    assert_eq!(sum.to_host, 15_328 + 2 * 686_089);
    let text = render::why(&why, Colour::Plain);
    let s = "s d2h 8.00 KiB, 15.3 us for g.index, g: 15.0 us to start, 328 ns at 25.0 GB/s";
    assert!(text.contains(s), "{text}");
    // Three matrices of 4 n n bytes: 48 MiB at 2048, 192 MiB at 4096.
    let vram =
        "vram     peak 48.0 MiB (192 MiB at the largest sizes) of 1 GiB, when kernel is made";
    assert!(text.contains(vram), "{text}");
}

/// A share of a GPU has its share of the link: 65,536 B at 12.5 GB/s are 5.24 us.
#[test]
fn a_share_of_a_gpu_has_its_share_of_the_link() {
    let text = mixed().replace("(gpus: 1,", "(gpus: 0.5,");
    let why = told(&text, "a100", "kernel.g").expect("a reason");
    let text = render::why(&why, Colour::Plain);
    assert!(
        text.contains(": 10.0 us to start, 5.24 us at 12.5 GB/s"),
        "{text}"
    );
}

/// 16 MiB at 25 GB/s and 10 us take 681 us, which three kernels on the device hardly add to; on CPUs
/// two sums over 16 MiB at 12 GB/s take 1.40 ms each.
#[test]
fn a_gpu_is_tried_where_none_is_requested() {
    let why = told(&mixed(), "a100", "summary.max").expect("a reason");
    let [what] = &why.tried[..] else {
        panic!("{:?}", why.tried);
    };
    assert_eq!(what.change, Change::Gpu("A100-80GB".to_owned()));
    let Outcome::Moves {
        side: Side::Gpu,
        time: Some(time),
    } = what.outcome
    else {
        panic!("{what:?}");
    };
    assert!((681_089..800_000).contains(&time), "{time}");
    let why = told(&mixed(), "cpu", "summary.max").expect("a reason");
    assert!(why.tried.is_empty() && why.decides.is_none());
    let text = render::why(&why, Colour::Plain);
    assert!(
        text.contains("no node of cpu has a GPU to ask for"),
        "{text}"
    );
}

#[test]
fn a_fact_that_alone_decides_is_named() {
    let why = told(&mixed(), "a100", "parsed.parsed").expect("a reason");
    assert_eq!(why.decides, Some(Reason::NotArrayWork));
    assert!(why.tried.is_empty());
}

/// Nearest sizes agree with the flip point of the plan, which another search finds.
#[test]
fn sizes_agree_with_the_flip_point() {
    let why = told(&mixed(), "a100", "kernel.g").expect("a reason");
    let flip = &why.plan.groups[why.group.expect("an op")].placement.flip;
    let flip = flip.as_ref().expect("a flip");
    let smaller = Change::Smaller(flip.dim.clone(), flip.at);
    assert!(why.tried.iter().any(|what| what.change == smaller));
}

/// One GPU takes 12 tasks of 734 us one after the other, 8.81 ms; CPUs take all at once, 2.80 ms. Six
/// tasks take 4.4 ms on the GPU, three 2.2 ms.
#[test]
fn fewer_tasks_make_another_candidate_win() {
    let text = mixed().replace(
        "\"summary\": (each: \"kernel\",",
        "\"summary\": (each: \"kernel\", any_of: [(gpus: 1), (cpus: 1)],",
    );
    let why = told(&text, "a100", "summary").expect("a reason");
    let predicted = why.candidates[0].outcome.as_ref().expect("can be");
    assert!(matches!(predicted.behind, Some(Behind::Finish { .. })));
    assert_eq!(why.candidates[0].tasks, Some(3));
    // Where 16 cpus may do as well, three tasks, and one, are done sooner on them: 32 MiB each at 192
    // of the node's 200 GB/s are 175 us.
    let text = text.replace("(gpus: 1), (cpus: 1)", "(gpus: 1), (cpus: 1), (cpus: 16)");
    let why = told(&text, "a100", "summary").expect("a reason");
    assert_eq!(why.candidates[0].tasks, None, "{:?}", why.candidates);
}

/// The sizes that it tells are those between which the choice flips.
#[test]
fn sizes_at_which_another_candidate_wins_are_told() {
    let text = |requests: &str, plan: u64| {
        format!(
            "Pipeline(version: 1, dims: {{\"n\": (plan: {plan}, max: 20000)}},
                inputs: {{\"x\": Npy(path: \"x.npy\", type: \"f32[n, n]\")}},
                stages: {{\"p\": (memory: \"16 GiB\", any_of: [{requests}], do: \"x @ x\")}},
                outputs: {{\"o\": Npy(path: \"o.npy\", from: \"p\")}})"
        )
    };
    let either = "(gpus: 1), (cpus: 8)";
    let why = told(&text(either, 8192), "a100", "p").expect("a reason");
    let [gpu, cpus] = &why.candidates[..] else {
        panic!("{:?}", why.candidates);
    };
    assert!(gpu.is_chosen && gpu.first.is_empty());
    let [first] = &cpus.first[..] else {
        panic!("{cpus:?}");
    };
    assert_eq!((first.above, first.most), (None, 20_000));
    let below = first.below.expect("a small product stays on CPUs");
    let chosen = |plan: u64| {
        let planned = try_plan("a100", &text(either, plan)).expect("it can be planned");
        planned.plan.stages.iter().next().expect("a stage").request
    };
    assert_eq!((chosen(below), chosen(below + 1)), (1, 0));
    let page = in_one_line(&why);
    assert!(page.contains(&format!("or with n <= {below}")), "{page}");

    // Eight CPUs are faster than one at every size.
    let why = told(&text("(cpus: 1), (cpus: 8)", 8192), "a100", "p").expect("a reason");
    let first = &why.candidates[0].first;
    assert!(
        first
            .iter()
            .all(|first| (first.below, first.above) == (None, None))
    );
    let page = in_one_line(&why);
    assert!(page.contains("; not for any n up to 20000"), "{page}");
}

/// `--pin kernel.g=cpu` is of the whole line `g`, of which `g` is only the last op.
#[test]
fn what_a_pin_of_the_line_places_as_well_is_told() {
    let page = in_one_line(&told(&mixed(), "a100", "kernel.g").expect("a reason"));
    let others = "kernel.g.transpose, kernel.g.matmul, kernel.g.index";
    let line = format!("line a side for `kernel.g` is one for {others} as well");
    assert!(page.contains(&line), "{page}");
    let page = in_one_line(&told(&mixed(), "a100", "kernel.g.matmul").expect("a reason"));
    assert!(!page.contains(" line "), "{page}");
}

fn in_one_line(why: &Why) -> String {
    let page = render::why(why, Colour::Plain);
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_not_there_is_unknown() {
    for name in [
        "nothing",
        "kernel.nothing",
        "",
        ".",
        "kernel.",
        "parsed.kernel",
    ] {
        assert!(
            matches!(told(&mixed(), "a100", name), Err(NoWhy::Unknown)),
            "{name}"
        );
    }
    let text = "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"x.npy\", type: \"f32[8]\")},
        stages: {\"e\": (cpus: 1000, do: \"exp(x)\")}, outputs: {\"o\": Npy(path: \"o.npy\", from: \"e\")})";
    assert!(matches!(told(text, "a100", "e"), Err(NoWhy::Refused(_))));
}
