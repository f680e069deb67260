//! Diffs of plans: edits of one pipeline, each with the text that reviewers would read.
//!
//! The texts stand in `tests/cases/diff`. Update them with
//! `INSTA_UPDATE=always cargo test -p haul-compiler diff`, and read the difference.

use std::collections::BTreeSet;

use crate::support::plans::try_plan;
use haul_compiler::diff::{Cause, CauseKind, Change, Comparison, Diff, markdown, text};
use haul_compiler::render::Colour;
use haul_compiler::saved::SavedPlan;
use haul_compiler::{Facts, check, plan, target};
use haul_ir::target::Target;

const SPECTRA: &str = include_str!("cases/diff/spectra.ron");

/// Name, what is replaced by what, and the kinds of causes that the decisions have.
type Case = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [CauseKind],
);

const CASES: &[Case] = &[
    (
        "pinned",
        &[(
            "do: \"\n            window",
            "place: {\"logmel\": Cpu}, do: \"\n            window",
        )],
        // The matrix product after it follows, or not; the copy back is the pin's.
        &[CauseKind::Pin, CauseKind::Follows],
    ),
    (
        "op_added",
        &[(
            "peak / 2",
            "loud = min(transform, axis=1)\n            peak / 2 + loud",
        )],
        &[CauseKind::Added, CauseKind::OpChanged],
    ),
    (
        "op_changed",
        &[("max(transform, axis=1)", "sum(transform, axis=1)")],
        &[],
    ),
    (
        "op_removed",
        &[
            ("            logmel = log(mel)\n", ""),
            ("logmel @ logmel.T", "mel @ mel.T"),
        ],
        &[CauseKind::Removed],
    ),
    (
        "size_shrank",
        &[("plan: 1024", "plan: 2")],
        &[CauseKind::InputShrank, CauseKind::Follows],
    ),
    (
        "input_grew",
        &[("16384, 128", "16384, 256")],
        &[CauseKind::InputGrew],
    ),
    (
        "request",
        &[("cpus: 2", "cpus: 8, memory: \"4 GiB\"")],
        &[CauseKind::RequestChanged],
    ),
    (
        "no_gpu",
        &[(", gpus: 1, gpu_type: \"A100-80GB\"", "")],
        &[CauseKind::RequestChanged, CauseKind::Follows],
    ),
    (
        "op_renamed",
        &[("logmel", "lm"), ("logmel", "lm"), ("logmel", "lm")],
        &[],
    ),
    (
        "moved",
        &[
            ("logmel", "lm"),
            ("logmel", "lm"),
            ("logmel", "lm"),
            (
                "outputs:",
                "moved: {\"transform.logmel\": \"transform.lm\"},\n    outputs:",
            ),
        ],
        &[],
    ),
    (
        "stage_renamed",
        &[
            ("\"transform\"", "\"spectrum\""),
            ("max(transform", "max(spectrum"),
        ],
        &[],
    ),
    (
        "stage_added",
        &[
            (
                "outputs: {",
                "outputs: {\n        \"total\": Npy(path: \"t.npy\", from: \"total\"),",
            ),
            (
                "\"summary\": (",
                "\"total\": (do: \"sum(transform)\"),\n        \"summary\": (",
            ),
        ],
        &[CauseKind::Added],
    ),
    (
        "output",
        &[
            ("out/report.npy", "report.npy"),
            ("from: \"summary\")", "from: \"transform\")"),
        ],
        &[],
    ),
];

fn edited(edits: &[(&str, &str)]) -> String {
    edits.iter().fold(SPECTRA.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    })
}

fn saved(target: &str, text: &str) -> SavedPlan {
    let planned = try_plan(target, text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
    SavedPlan::of(&planned.plan)
}

/// The plan for a target that a text describes.
fn saved_on(target: &str, text: &str) -> SavedPlan {
    let target: Target = target::parse("lab", target).expect("a target");
    let checked = check(text, haul_kernels::catalogue(), &Facts::default());
    let typed = checked.typed.expect("a graph");
    let planned = plan(typed, &target, "test", "test.ron", &checked.places).ok();
    SavedPlan::of(&planned.expect("a plan").plan)
}

fn causes(diff: &Diff) -> BTreeSet<CauseKind> {
    let causes = diff.decisions.iter().flat_map(|decision| &decision.causes);
    causes.map(|cause| cause.kind).collect()
}

fn comparison(diffs: Vec<Diff>, failed: Vec<String>) -> Comparison {
    Comparison {
        diffs,
        failed,
        ..Comparison::default()
    }
}

#[test]
fn edits_are_told() {
    let old = saved("a100", SPECTRA);
    let mut wrong = Vec::new();
    for (name, edits, kinds) in CASES {
        let new = saved("a100", &edited(edits));
        let diff = Diff::of(&old, &new);
        assert!(!diff.is_empty(), "{name}");
        let kinds: BTreeSet<_> = kinds.iter().copied().collect();
        let found = causes(&diff);
        if found != kinds {
            let told = text(&diff, Colour::Plain, false);
            wrong.push(format!("{name}: {found:?} instead of {kinds:?}\n{told}"));
        }
        assert_told(name, &diff);
        assert_mirrored(name, &diff, &Diff::of(&new, &old));
        assert_same_of_files(&diff, &old, &new);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn assert_told(name: &str, diff: &Diff) {
    insta::with_settings!({
        snapshot_path => "cases/diff", prepend_module_to_snapshot => false, omit_expression => true
    }, {
        insta::assert_snapshot!(name, text(diff, Colour::Plain, false));
    });
}

/// Back again, what came goes, and what went comes.
fn assert_mirrored(name: &str, there: &Diff, back: &Diff) {
    let turned = |change: &Change| {
        let Change {
            subject,
            fact,
            old,
            new,
        } = change.clone();
        (subject, fact, new, old)
    };
    // A rename is told under the new name.
    if there.renamed.is_empty() {
        let mut expected: Vec<_> = there.work.iter().map(turned).collect();
        let found = back.work.iter();
        let mut found: Vec<_> = found
            .map(|c| {
                (
                    c.subject.clone(),
                    c.fact.clone(),
                    c.old.clone(),
                    c.new.clone(),
                )
            })
            .collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{name}");
    }
    assert_eq!(there.work.len(), back.work.len(), "{name}");
    assert_eq!(there.decisions.len(), back.decisions.len(), "{name}");
    assert_eq!(there.estimates.len(), back.estimates.len(), "{name}");
}

/// Plans that were kept as files give the same diff.
fn assert_same_of_files(diff: &Diff, old: &SavedPlan, new: &SavedPlan) {
    let kept = |plan: &SavedPlan| SavedPlan::read(&plan.snapshot()).expect("a snapshot");
    let of_files = Diff::of(&kept(old), &kept(new));
    assert_eq!(of_files.work, diff.work);
    assert_eq!(of_files.decisions, diff.decisions);
    assert_eq!(of_files.estimates, diff.estimates);
    assert_eq!(of_files.renamed, diff.renamed);
}

#[test]
fn what_changes_nothing_is_no_change() {
    let old = saved("a100", SPECTRA);
    let reordered = SPECTRA
        .replace(
            "        \"hann\": Npy(path: \"hann.npy\", type: \"f32[16384]\"),\n",
            "",
        )
        .replace(
            "inputs: {",
            "inputs: {\n        \"hann\": Npy(path: \"hann.npy\", type: \"f32[16384]\"),",
        )
        .replace("cpus: 4, memory: \"8 GiB\"", "memory: \"8 GiB\", cpus: 4");
    assert_ne!(reordered, SPECTRA);
    let edits = [
        SPECTRA.to_owned(),
        format!("// more\n{SPECTRA}// words\n"),
        SPECTRA.replace("    ", "\t").replace('\n', "\r\n"),
        SPECTRA.replace("audio * hann", "( audio   *\n hann )  # windows"),
        reordered,
    ];
    for text in edits {
        let diff = Diff::of(&old, &saved("a100", &text));
        assert!(diff.is_empty(), "{diff:#?}");
        assert_eq!(diff.unchanged_ops.len(), diff.new.ops);
        assert_eq!(markdown(&comparison(vec![diff], Vec::new())), "");
    }
}

#[test]
fn another_target_is_told_as_the_cause() {
    let text = SPECTRA.replace(", gpu_type: \"A100-80GB\"", "");
    let diff = Diff::of(&saved("a100", &text), &saved("t4", &text));
    assert!(diff.work.is_empty(), "{:?}", diff.work);
    assert_eq!(causes(&diff), BTreeSet::from([CauseKind::TargetChanged]));
    assert_told("target", &diff);
}

/// A stage that can choose gets another of its requests: the cause is what made it choose so.
#[test]
fn another_choice_says_what_it_hangs_on() {
    let text = SPECTRA.replace(
        "gpus: 1, gpu_type: \"A100-80GB\"",
        "any_of: [(gpus: 1, gpu_type: \"A100-80GB\", vram: \"2 GiB\"), (cpus: 4)]",
    );
    let old = saved("a100", &text);
    assert_eq!(old.stage("transform").map(|stage| stage.chosen), Some(1));
    let other = |kind: CauseKind, new: &SavedPlan| {
        assert_eq!(new.stage("transform").map(|stage| stage.chosen), Some(2));
        let diff = Diff::of(&old, new);
        for decision in &diff.decisions {
            let is_it = |cause: &Cause| cause.kind == kind;
            let follows = |cause: &Cause| cause.kind == CauseKind::Follows;
            let all = &decision.causes;
            assert!(all.iter().any(|c| is_it(c) || follows(c)), "{decision:?}");
            if decision.change.fact == "request" {
                assert!(
                    all.iter().any(is_it) && !all.iter().any(follows),
                    "{decision:?}"
                );
            }
        }
    };
    let with = |from: &str, to: &str| saved("a100", &text.replace(from, to));
    other(CauseKind::InputShrank, &with("plan: 1024", "plan: 2"));
    let lines = [
        ("window", "Cpu"),
        ("mel", "Cpu"),
        ("logmel", "Cpu"),
        ("transform", "Cpu"),
    ];
    let pins = lines
        .map(|(line, side)| format!("\"{line}\": {side}"))
        .join(", ");
    other(
        CauseKind::Pin,
        &with(
            "do: \"\n            window",
            &format!("place: {{{pins}}}, do: \"\n            window"),
        ),
    );
    // The author leaves the request that lost out as it is, and takes the other away or changes it.
    let edited = Diff::of(&old, &with("(cpus: 4)]", "(cpus: 3)]"));
    assert_eq!(causes(&edited), BTreeSet::from([CauseKind::RequestChanged]));
}

#[test]
fn functions_and_options_are_no_names_of_values() {
    let text = |name: &str, moved: &str| {
        format!("Pipeline(version: 1, inputs: {{\"x\": Npy(path: \"x.npy\", type: \"f32[8, 8]\")}},
            stages: {{\"norm\": (do: \"{name} = mean(x, axis=0)\\nx - {name}\"), \"axis\": (do: \"sum(norm, axis=0)\")}},
            {moved}outputs: {{\"o\": Npy(path: \"o.npy\", from: \"axis\")}})")
    };
    for (moved, guessed) in [
        ("moved: {\"norm.mean\": \"norm.avg\"}, ", false),
        ("", true),
    ] {
        let diff = Diff::of(
            &saved("cpu", &text("mean", "")),
            &saved("cpu", &text("avg", moved)),
        );
        assert_eq!(diff.renamed.len(), 1, "{}", text_of(&diff));
        assert_eq!(diff.renamed[0].guessed, guessed);
        assert!(
            diff.work.is_empty() && diff.decisions.is_empty(),
            "{}",
            text_of(&diff)
        );
    }
}

/// A stage and a line elsewhere have one name: only the stage is renamed.
#[test]
fn a_line_keeps_its_name_when_a_stage_of_that_name_is_renamed() {
    let text = |name: &str| {
        format!("Pipeline(version: 1, inputs: {{\"x\": Npy(path: \"x.npy\", type: \"f32[8, 8]\")}},
            stages: {{\"{name}\": (do: \"x * 2\"), \"other\": (do: \"s = sin(x)\\nexp(s) + {name}\")}},
            outputs: {{\"o\": Npy(path: \"o.npy\", from: \"other\")}})")
    };
    let diff = Diff::of(
        &saved("cpu", &text("scale")),
        &saved("cpu", &text("factor")),
    );
    assert_eq!(diff.renamed.len(), 1, "{}", text_of(&diff));
    assert!(
        diff.work.is_empty() && diff.decisions.is_empty(),
        "{}",
        text_of(&diff)
    );
}

/// A pin takes an op out of the kernel it was fused into: that is no change of the work.
#[test]
fn fusion_is_a_decision() {
    let text = |place: &str| {
        format!("Pipeline(version: 1, inputs: {{\"x\": Npy(path: \"x.npy\", type: \"f32[4096, 4096]\")}},
            stages: {{\"s\": (memory: \"4 GiB\", gpus: 1, {place}do: \"a = exp(x)\\nb = a * 2\\nb @ b\")}},
            outputs: {{\"o\": Npy(path: \"o.npy\", from: \"s\")}})")
    };
    let diff = Diff::of(
        &saved("a100", &text("")),
        &saved("a100", &text("place: {\"a\": Cpu}, ")),
    );
    assert!(diff.work.is_empty(), "{}", text_of(&diff));
    assert!(!diff.decisions.is_empty());
}

#[test]
fn another_calibration_is_told_as_the_cause() {
    let lab = |rate: &str| {
        format!(
            "Target(nodes: {{\"node\": (cpus: 64, memory: \"256 GiB\", gpus: {{\"A100-80GB\": 1}})}},
            devices: (gpus: {{\"A100-80GB\": (vram: \"80 GB\",
                peak: (f32: \"{rate}\", f64: \"9.7 TFLOP/s\", f16: \"312 TFLOP/s\"),
                bandwidth: \"2039 GB/s\", efficiency: \"gpu\", launch: \"5 us\", link: \"PCIe 4 x16\",
                source: Datasheet(\"made up for this test, 2026-11\"))}}))"
        )
    };
    let (fast, slow) = (lab("19.5 TFLOP/s"), lab("10 GFLOP/s"));
    let diff = Diff::of(&saved_on(&fast, SPECTRA), &saved_on(&slow, SPECTRA));
    assert!(diff.work.is_empty());
    // Ops go back to the CPUs, and the copies with them.
    assert!(!diff.decisions.is_empty());
    for decision in &diff.decisions {
        let has = |kind: CauseKind| decision.causes.iter().any(|cause| cause.kind == kind);
        let is_place = decision.change.fact == "place";
        let follows = !is_place && has(CauseKind::Follows);
        assert!(
            has(CauseKind::CalibrationChanged) || follows,
            "{decision:?}"
        );
    }
    assert!(
        diff.estimates
            .iter()
            .any(|change| change.subject == "device A100-80GB")
    );
}

/// Every line of a stage and the stage itself have other names; another stage reads a line.
#[test]
fn renames_of_renames_are_followed() {
    let text = SPECTRA.replace("peak / 2", "peak / 2 + max(transform.mel)");
    let old = saved("a100", &text);
    let renamed = text
        .replace("transform", "spectrum")
        .replace("logmel", "lm")
        .replace("window", "w")
        .replace("mel", "m");
    let moved = r#"moved: {"transform": "spectrum", "spectrum.window": "spectrum.w",
        "spectrum.mel": "spectrum.m", "spectrum.logmel": "spectrum.lm"}, outputs:"#;
    for (new, guessed) in [
        (renamed.clone(), true),
        (renamed.replace("outputs:", moved), false),
    ] {
        let diff = Diff::of(&old, &saved("a100", &new));
        let names: BTreeSet<_> = diff
            .renamed
            .iter()
            .map(|r| (r.old.as_str(), r.new.as_str()))
            .collect();
        let expected = [
            ("transform", "spectrum"),
            ("spectrum.window", "spectrum.w"),
            ("spectrum.mel", "spectrum.m"),
            ("spectrum.logmel", "spectrum.lm"),
        ];
        assert_eq!(names, BTreeSet::from(expected), "{}", text_of(&diff));
        assert!(
            diff.renamed
                .iter()
                .all(|renamed| renamed.guessed == guessed)
        );
        assert!(diff.work.is_empty(), "{}", text_of(&diff));
        assert!(diff.decisions.is_empty(), "{}", text_of(&diff));
        assert!(diff.estimates.is_empty(), "{}", text_of(&diff));
    }
}

/// Dims, inputs and outputs have other names, wherever they are mentioned; params and functions are
/// not in a plan.
#[test]
fn declarations_under_other_names_are_renamed() {
    let text = r#"Pipeline(version: 1,
        dims: {"rows": (plan: 3000, max: 4000), "cols": (plan: 500)},
        params: {"scale": 2},
        inputs: {
            "table": Npy(path: "x.npy", type: "f32[rows, cols]"),
            "files": Files(glob: "*.npy", plan: 5, type: "f32[k, 8]"),
            "parts": Split(of: "table", axis: 0, size: 7),
        },
        functions: {"twice(a)": "a + a"},
        stages: {
            "gram": (gpus: 1, do: "t = table.T @ table\nscale * twice(t)"),
            "each": (each: "files", do: "files.T @ files"),
            "part": (each: "parts", do: "sum(parts * 2, axis=0)"),
            "flat": (do: "f = reshape(table, [rows * cols])\nflatten(table[0:rows // 2, :]) * sum(f)"),
            "all": (do: "gather(each)"),
        },
        outputs: {
            "result": Npy(path: "r.npy", from: "gram"),
            "all": Npy(path: "a.npy", from: "all"),
            "part": Npy(path: "p{item}.npy", from: "part"),
            "flat": Npy(path: "f.npy", from: "flat"),
        },
    )"#;
    let old = saved("a100", text);
    let names = [
        ("rows", "count"),
        ("cols", "zones"),
        ("table", "data"),
        ("files", "runs"),
        ("parts", "slices"),
        ("scale", "factor"),
        ("twice", "double"),
        ("result", "gram_matrix"),
    ];
    let mut renamed = text.replace("*.npy", "GLOB");
    for (old, new) in names {
        renamed = renamed.replace(old, new);
    }
    let renamed = renamed.replace("GLOB", "*.npy");
    let moved = names.map(|(old, new)| format!("\"{old}\": \"{new}\""));
    let moved = format!("moved: {{{}}}, outputs:", moved.join(", "));
    for (new, guessed) in [
        (renamed.clone(), true),
        (renamed.replace("outputs:", &moved), false),
    ] {
        let diff = Diff::of(&old, &saved("a100", &new));
        let told: BTreeSet<_> = diff
            .renamed
            .iter()
            .map(|r| (format!("{:?}", r.kind), r.old.as_str(), r.new.as_str()))
            .collect();
        let expected = [
            ("Dim", "cols", "zones"),
            ("Dim", "rows", "count"),
            ("Input", "files", "runs"),
            ("Input", "parts", "slices"),
            ("Input", "table", "data"),
            ("Output", "result", "gram_matrix"),
        ];
        let expected = expected.map(|(kind, old, new)| (kind.to_owned(), old, new));
        assert_eq!(told, BTreeSet::from(expected), "{}", text_of(&diff));
        assert!(diff.renamed.iter().all(|r| r.guessed == guessed));
        assert!(
            diff.work.is_empty() && diff.decisions.is_empty() && diff.estimates.is_empty(),
            "{}",
            text_of(&diff)
        );
    }
}

fn text_of(diff: &Diff) -> String {
    text(diff, Colour::Plain, true)
}

#[test]
fn swapped_names_are_no_rename() {
    // Both new names are there already: what they compute has changed.
    let text = edited(&[
        ("window = audio * hann", "mel = audio * hann"),
        ("mel = window @ bank", "window = mel @ bank"),
        ("log(mel)", "log(window)"),
    ]);
    let diff = Diff::of(&saved("a100", SPECTRA), &saved("a100", &text));
    assert!(diff.renamed.is_empty(), "{:?}", diff.renamed);
    assert!(!diff.work.is_empty());
}

#[test]
fn two_candidates_are_no_guess() {
    let two = |a: &str, b: &str| {
        edited(&[(
            "peak / 2",
            &*format!(
                "{a} = sum(transform, axis=1)\n{b} = sum(transform, axis=1)\npeak / 2 + {a} + {b} * 2"
            ),
        )])
    };
    // Each of the old two could be each of the new two; equal ops are computed once.
    let diff = Diff::of(
        &saved("a100", &two("p", "q")),
        &saved("a100", &two("r", "s")),
    );
    assert!(diff.renamed.iter().all(|renamed| renamed.guessed));
    assert!(causes(&diff).iter().all(|kind| *kind != CauseKind::Unknown));
}

#[test]
fn a_comment_shows_totals_and_decisions_and_folds_the_rest() {
    let old = saved("a100", SPECTRA);
    let new = saved("a100", &edited(CASES[0].1));
    let diffs = vec![Diff::of(&old, &old), Diff::of(&old, &new)];
    let failed = vec!["test on a100: no_cpu \"transform.logmel\": it is on the cpu".to_owned()];
    let comment = markdown(&comparison(diffs.clone(), failed.clone()));
    insta::with_settings!({
        snapshot_path => "cases/diff", prepend_module_to_snapshot => false, omit_expression => true
    }, {
        insta::assert_snapshot!("comment", comment);
    });
    let many = vec![diffs[1].clone(); 500];
    let long = markdown(&comparison(many, vec![failed[0].clone(); 500]));
    assert!(long.len() < 65_536 && long.contains("more plans changed"));
    // A plan of which everything is new tells the first of its decisions.
    let stages = (0..2_000).map(|i| format!("\"s{i}\": (do: \"{i} + 1\"),"));
    let text = format!(
        "Pipeline(version: 1, stages: {{{}}})",
        stages.collect::<String>()
    );
    let large = saved("a100", &text);
    let comment = markdown(&comparison(
        vec![Diff::of(&large.emptied(), &large)],
        Vec::new(),
    ));
    assert!(comment.len() < 65_536, "{}", comment.len());
    assert!(
        comment.contains("`s0`") && comment.contains("more\n"),
        "{comment}"
    );
    assert_eq!(
        comment.matches("<details>").count(),
        comment.matches("</details>").count()
    );
}
