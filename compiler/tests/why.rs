//! Why something is where it is: the other choice is planned, and agrees with the regret.

#[path = "support/plans.rs"]
mod plans;

use haul_compiler::render::{self, Colour};
use haul_compiler::why::{Change, NoWhy, Why, why};
use haul_compiler::{Facts, check, target};
use haul_ir::plan::{Reason, Side};
use plans::try_plan;

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
    assert!(why.flips.is_empty());
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
        .flips
        .iter()
        .filter(|flip| matches!(flip.change, Change::Cpus(_)))
        .collect();
    assert_eq!(cpus.len(), 1, "{:?}", why.flips);
    assert_eq!((cpus[0].change, cpus[0].side), (Change::Cpus(4), Side::Cpu));
    // A link half as fast takes 330 ms and is still less than 341; a quarter takes 657.
    let slower = why
        .flips
        .iter()
        .find(|flip| matches!(flip.change, Change::SlowerLink(_)));
    assert_eq!(slower.map(|flip| flip.change), Some(Change::SlowerLink(4)));
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
