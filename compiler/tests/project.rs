//! What a repository declares: read, told with its place where it is wrong, and held.

use crate::support::plans::try_plan;
use haul_compiler::policy::{Policies, check, unmatched};
use haul_compiler::saved::{SavedPlan, SavedSide};
use haul_compiler::{Project, target};
use haul_ir::id::Id;

const ALL: &str = r#"Project(
    version: 1,
    targets: ["a100", "targets/lab.ron"],
    snapshots: [
        (pipelines: "pipelines/*.ron", targets: ["a100", "cpu"]),
        (
            pipelines: "heavy/*.ron", targets: ["h100x8"],
            policies: (max_vram: "80 GB", no_cpu: ["train"]),
        ),
    ],
    policies: (
        max_makespan: "2 min", max_makespan_growth: "10 %",
        max_price: "0.05 USD", max_price_growth: "2.5 %",
        max_vram: "40 GiB", max_vram_growth: "0 %",
        max_transfer: "10 GiB", max_transfer_growth: "100 %",
        no_cpu: ["kernel", "mixed:kernel.*"],
    ),
    lints: (deny: ["W0301"], allow: ["W0302"]),
    prices: { "a100.node": (rate: "1.10 USD/h", source: "our contract, 2026-10") },
)"#;

#[test]
fn a_project_declares() {
    let project = Project::parse(ALL).expect("a project");
    let targets: Vec<_> = project.targets.iter().map(|t| t.text.as_str()).collect();
    assert_eq!(targets, ["a100", "targets/lab.ron"]);
    let [first, heavy] = &project.snapshots[..] else {
        panic!("two entries")
    };
    assert_eq!(first.pipelines.text, "pipelines/*.ron");
    let general = &first.policies;
    assert_eq!(general.makespan.most, Some(120_000_000_000)); // ns
    assert_eq!(general.makespan.growth, Some(1_000)); // hundredths of a per cent
    assert_eq!(general.price.most, Some(50_000_000)); // billionths of a dollar
    assert_eq!(general.price.growth, Some(250));
    assert_eq!(general.vram.most, Some(40 << 30));
    assert_eq!(general.transfer.growth, Some(10_000));
    // An entry's own limit goes before that of the project; what is not for CPUs adds up.
    assert_eq!(heavy.policies.vram.most, Some(80_000_000_000));
    assert_eq!(heavy.policies.vram.growth, Some(0));
    let no_cpu: Vec<_> = heavy
        .policies
        .no_cpu
        .iter()
        .map(|name| &*name.text)
        .collect();
    assert_eq!(no_cpu, ["train", "kernel", "mixed:kernel.*"]);
}

#[test]
fn prices_of_a_project_go_before_the_targets_own() {
    let project = Project::parse(ALL).expect("a project");
    let mut target = target::find("a100").expect("a target of the library");
    project
        .check_prices(&[target.clone()])
        .expect("it has that node");
    project.reprice(&mut target);
    let price = target.nodes[Id::from_index(0)]
        .price
        .clone()
        .expect("a price");
    assert_eq!(price.milli_usd_per_hour, 1_100);
    assert_eq!(price.source, "our contract, 2026-10");
    let cpu = target::find("cpu").expect("a target of the library");
    let error = project.check_prices(&[cpu]).expect_err("no such node");
    assert_eq!((error.line, error.column), (19, 15), "{error}");
    let near = target::find("a100x4").expect("a target of the library");
    let error = project.check_prices(&[near]).expect_err("no such node");
    assert!(
        error.message.contains("did you mean `a100x4.node`?"),
        "{error}"
    );
}

#[test]
fn mistakes_have_a_place() {
    let policies = |fields: &str| format!("Project(\n  version: 1,\n  policies: ({fields}))");
    let cases = [
        // text, line, column (0 where the place is ron's own), part of the message
        ("Project(version: 2)".to_owned(), 1, 18, "reads version 1"),
        (
            "Project(\n target: [])".to_owned(),
            2,
            2,
            "did you mean `targets`?",
        ),
        (
            "Project()".to_owned(),
            1,
            0,
            "the file needs the field `version`: write for example `version: 1`",
        ),
        (
            "3".to_owned(),
            1,
            1,
            "expected `Project(…)`, found a number",
        ),
        (
            "Project(\"version\": 1)".to_owned(),
            1,
            9,
            "expected the name of a field, without quotes",
        ),
        (
            "Project(version: 1, prices: {\"a100.node\": (rate: \"1 USD/h\")})".to_owned(),
            1,
            0,
            "`a100.node` needs the field `source`: write for example `source: \"our contract, 2026-10\"`",
        ),
        (
            "Project(version: 1, prices: {\"a100.node\": (rate: \"1 USD/h\", source: \"\")})"
                .to_owned(),
            1,
            0,
            "`source`: a source says where a figure is from and when",
        ),
        (
            "Project(version: 1, lint: ())".to_owned(),
            1,
            21,
            "there is no field `lint` here; did you mean `lints`?",
        ),
        (
            "Project(version: 1, targets: \"a100\")".to_owned(),
            1,
            30,
            "`targets` takes a list in `[ ]`, not a string",
        ),
        (
            "Project(version: \"1\")".to_owned(),
            1,
            18,
            "`version` takes a whole number, not a string",
        ),
        (
            "Project(version: 1,\n targets: [\"a100\", 3])".to_owned(),
            2,
            0,
            "`targets` takes a string, not a number",
        ),
        (
            "Project(version: 1, lints: [\"W0301\"])".to_owned(),
            1,
            28,
            "`lints` takes fields in `( )`, not a list",
        ),
        (
            "Project(version: 1, prices: [])".to_owned(),
            1,
            29,
            "`prices` takes a map in `{ }`, not a list",
        ),
        (
            policies("no_cpu: \"train\""),
            3,
            0,
            "`no_cpu` takes a list in `[ ]`, not a string",
        ),
        (
            policies("max_vram: 3"),
            3,
            0,
            "`max_vram` takes a string, not a number",
        ),
        (
            policies("max_vrma: \"1 GiB\""),
            3,
            14,
            "did you mean `max_vram`?",
        ),
        (policies("max_vram: \"1 gigs\""), 3, 0, "one of B, kB"),
        (policies("max_makespan_growth: \"10\""), 3, 0, "one of %"),
        (policies("max_price: \"5 EUR\""), 3, 0, "one of USD"),
        (
            "Project(version: 1, lints: (deny: [\"W0301\", \"W03O2\"]))".to_owned(),
            1,
            45,
            "did you mean `W0302`?",
        ),
        (
            "Project(version: 1, lints: (deny: [\"all\"], allow: [\"all\"]))".to_owned(),
            1,
            28,
            "both allowed and denied",
        ),
        (
            "Project(version: 1, prices: {\"a.b\": (rate: \"1 USD/h\", source: \"ours\"), \"a.b\": \
                (rate: \"2 USD/h\", source: \"ours\")})"
                .to_owned(),
            1,
            0,
            "twice",
        ),
        ("".to_owned(), 1, 1, ""),
        ("Pipeline(version: 1)".to_owned(), 1, 0, "Project"),
    ];
    for (text, line, column, message) in cases {
        let error = Project::parse(&text).expect_err(&text);
        assert!(error.message.contains(message), "{text}: {error}");
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(column == 0 || error.column == column, "{text}: {error}");
    }
}

#[test]
fn a_text_of_the_project_knows_its_place() {
    let project = Project::parse(ALL).expect("a project");
    let cpu = &project.snapshots[0].targets[1];
    let error = project.error(cpu, "no");
    assert_eq!((error.line, error.column), (5, 58), "{error}");
    let train = &project.snapshots[1].policies.no_cpu[0];
    assert_eq!(project.error(train, "no").line, 8);
}

/// A matrix product that goes to the GPU, and what a stage without one does.
const PAIR: &str = r#"Pipeline(
    version: 1,
    inputs: {"x": Npy(path: "x.npy", type: "f32[8192, 8192]")},
    stages: {
        "product": (
            any_of: [(gpus: 1, memory: "4 GiB"), (cpus: 2)],
            do: "y = x @ x\ny + 1",
        ),
        "total": (do: "sum(product)"),
    },
    outputs: {"total": Npy(path: "total.npy", from: "total")},
)"#;

fn plan_for(target: &str) -> SavedPlan {
    SavedPlan::of(&try_plan(target, PAIR).expect("it fits").plan)
}

fn policies(fields: &str) -> Policies {
    let snapshots = "snapshots: [(pipelines: \"*\", targets: [])]";
    let text = format!("Project(version: 1, {snapshots}, policies: ({fields}))");
    let mut project = Project::parse(&text).expect("a project");
    project.snapshots.remove(0).policies
}

/// What is told, without the name of the pipeline and the target.
fn broken(fields: &str, old: Option<&SavedPlan>, new: &SavedPlan) -> Vec<String> {
    let violations = check(&policies(fields), old, new).into_iter();
    violations
        .map(|v| format!("{}: {}", v.rule, v.found))
        .collect()
}

#[test]
fn limits_are_held() {
    let mut plan = plan_for("a100");
    plan.estimates.makespan = Some(2_500_000);
    plan.estimates.nano_usd = Some(1_000_000);
    plan.estimates.vram = Some(3 << 30);
    plan.estimates.transferred = None;
    let at_limit = "max_makespan: \"2500 us\", max_price: \"0.001 USD\", max_vram: \"3 GiB\"";
    assert!(broken(at_limit, None, &plan).is_empty());
    let below = "max_makespan: \"2 ms\", max_price: \"0.0009 USD\", max_vram: \"2 GiB\", \
        max_transfer: \"1 TiB\"";
    let expected = [
        "max_makespan \"2.00 ms\": makespan is 2.50 ms, 500 us too much",
        "max_price \"0.000900 USD\": price is 0.00100 USD, 0.000100 USD too much",
        "max_vram \"2 GiB\": vram is 3.00 GiB, 1.00 GiB too much",
        "max_transfer \"1 TiB\": cannot tell, transfer is unknown",
    ];
    assert_eq!(broken(below, None, &plan), expected);
    let violation = &check(&policies(below), None, &plan)[0];
    assert!(
        violation
            .to_string()
            .starts_with("test on a100: max_makespan ")
    );
}

#[test]
fn growth_is_from_the_earlier_plan() {
    let (mut old, mut new) = (plan_for("a100"), plan_for("a100"));
    old.estimates.makespan = Some(1_000);
    new.estimates.makespan = Some(1_100); // just 10 %
    assert!(broken("max_makespan_growth: \"10 %\"", Some(&old), &new).is_empty());
    new.estimates.makespan = Some(1_110);
    assert_eq!(
        broken("max_makespan_growth: \"10 %\"", Some(&old), &new),
        ["max_makespan_growth \"10 %\": makespan 1.00 us -> 1.11 us (+11.0 %)"]
    );
    // A new plan has not grown; nor has one that shrank.
    assert!(broken("max_makespan_growth: \"0 %\"", None, &new).is_empty());
    assert!(broken("max_makespan_growth: \"0 %\"", Some(&new), &old).is_empty());
    old.estimates.vram = Some(0);
    new.estimates.vram = Some(1 << 20);
    assert_eq!(
        broken("max_vram_growth: \"900 %\"", Some(&old), &new),
        ["max_vram_growth \"900 %\": vram 0 B -> 1.00 MiB (from nothing)"]
    );
    for (was, is, told) in [
        (None, Some(1_000), "price was unknown and is 0.00000100 USD"),
        (Some(1_000), None, "price was 0.00000100 USD and is unknown"),
    ] {
        (old.estimates.nano_usd, new.estimates.nano_usd) = (was, is);
        assert_eq!(
            broken("max_price_growth: \"2.5 %\"", Some(&old), &new),
            [format!("max_price_growth \"2.5 %\": cannot tell, {told}")]
        );
    }
    // A target without prices has none now either.
    (old.estimates.nano_usd, new.estimates.nano_usd) = (None, None);
    assert!(broken("max_price_growth: \"2.5 %\"", Some(&old), &new).is_empty());
}

#[test]
fn what_may_not_be_on_cpus() {
    let mut plan = plan_for("a100");
    let none = broken("no_cpu: [\"product\"]", None, &plan);
    assert!(none.is_empty(), "the product is on the gpu: {none:?}");
    assert_eq!(
        broken("no_cpu: [\"test:t*\", \"other:t*\"]", None, &plan),
        ["no_cpu \"test:t*\": total is on the cpu"]
    );
    plan.stages[0].ops[0].side = SavedSide::Cpu;
    assert_eq!(
        broken("no_cpu: [\"product.y\"]", None, &plan),
        ["no_cpu \"product.y\": product.y is on the cpu"]
    );
    assert_eq!(broken("no_cpu: [\"product\"]", None, &plan).len(), 1);
    assert!(broken("no_cpu: [\"product.z\"]", None, &plan).is_empty());
    // A target without GPUs has no other side.
    let cpu = plan_for("cpu");
    assert!(cpu.target.nodes.iter().all(|node| node.gpus.is_empty()));
    assert!(broken("no_cpu: [\"total\"]", None, &cpu).is_empty());
}

#[test]
fn names_that_match_nothing_are_found() {
    let plan = plan_for("a100");
    let names = policies(
        "no_cpu: [\"product\", \"prodct\", \"product.y\", \"*.y\", \"test:total\", \"tset:total\", \
            \"product.[\"]",
    );
    let unmatched = unmatched(&[(&names, &plan)]);
    let unmatched: Vec<_> = unmatched.iter().map(|name| name.text.as_str()).collect();
    assert_eq!(unmatched, ["prodct", "tset:total", "product.["]);
}

/// A plan and what is read of its file break the same policies, by the same numbers.
#[test]
fn growth_is_that_of_plans_as_they_are_kept() {
    let (mut old, mut new) = (plan_for("a100"), plan_for("a100"));
    // Kept as 1.00 -> 1.00 ms, 1.00 -> 1.10 ms and 0.995 -> 1.10 ms.
    for (was, is) in [
        (1_000_000, 1_004_900),
        (1_004_900, 1_104_900),
        (995_100, 1_099_000),
    ] {
        old.estimates.makespan = Some(was);
        new.estimates.makespan = Some(is);
        old.estimates.nano_usd = Some(was);
        new.estimates.nano_usd = Some(is);
        let read = |plan: &SavedPlan| SavedPlan::read(&plan.snapshot()).expect("a plan");
        for limit in [
            "max_makespan_growth: \"10 %\"",
            "max_makespan_growth: \"0 %\"",
            "max_price_growth: \"0.4 %\"",
            "max_makespan: \"1 ms\"",
            "max_price: \"0.001 USD\"",
        ] {
            let kept = broken(limit, Some(&read(&old)), &read(&new));
            assert_eq!(
                broken(limit, Some(&old), &new),
                kept,
                "{limit}: {was} -> {is}"
            );
        }
    }
}
