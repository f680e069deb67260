//! Lints as a whole: what they say to save, by hand, and what their edits do.

use std::fs;
use std::path::Path;

use crate::support::plans::try_plan;
use haul_compiler::diagnostics::codes::{self, codes};
use haul_compiler::diagnostics::edited;
use haul_compiler::{Facts, check};
use haul_ir::diagnostic::{Code, Diagnostic, Saving};
use proptest::prelude::*;

/// `2 * 8192^3 / (8 * 95e9 * 0.8)` seconds: a product of 8192 x 8192 at 8 cpus.
const PRODUCT: i64 = 1_808_407_283;

/// The same on an A100: 70.5215 ms at a share `0.3 + 0.5 * s / (s + 1e9)` of 19.5 TFLOP/s for
/// `s = 2 * 8192^3`, 5 us of launch, and 256 MiB each way at 25 GB/s in 10 us and 15 us more.
const ON_GPU: i64 = 92_026_401;

/// A pipeline of stages over `x`, 8192 x 8192, and `y`, 8 GiB.
fn stages(stages: &[(&str, &str)]) -> String {
    let outputs = stages
        .iter()
        .map(|(name, _)| format!("\"{name}\": Npy(path: \"{name}.npy\", from: \"{name}\"),\n"));
    let stages = stages
        .iter()
        .map(|(name, stage)| format!("\"{name}\": ({stage}),\n"));
    format!(
        "Pipeline(version: 1, inputs: {{\"x\": Npy(path: \"x.npy\", type: \"f32[8192, 8192]\"),
        \"y\": Npy(path: \"y.npy\", type: \"f64[32768, 32768]\")}},
        stages: {{\n{}}},\noutputs: {{\n{}}})",
        stages.collect::<String>(),
        outputs.collect::<String>()
    )
}

fn warnings(target: &str, text: &str) -> Vec<Diagnostic> {
    try_plan(target, text).expect("it can be planned").warnings
}

/// What the only warning of that code would save.
fn saving(target: &str, text: &str, code: Code) -> Saving {
    let mut warnings = warnings(target, text);
    warnings.retain(|warning| warning.code == code);
    let [warning] = &warnings[..] else {
        panic!("{warnings:#?}");
    };
    warning.saving.expect("it is known")
}

#[test]
fn a_gpu_that_pays() {
    let text = stages(&[("a", "cpus: 8, do: \"x @ x\"")]);
    let saving = saving("a100", &text, codes::NO_GPU_REQUESTED);
    assert_eq!(saving.time, PRODUCT - ON_GPU);
    // 1.39 USD/h * 1.716380882 s / 3600 s.
    assert_eq!(saving.nano_usd, Some(662_714));
}

/// `x` and its product hold 256 MiB each on the device, `y` and its product 8 GiB each.
#[test]
fn a_gpu_of_which_too_little_memory_is_asked_for() {
    for (stage, edits) in [
        (
            "cpus: 8, gpus: 1, vram: \"300 MiB\", do: \"x @ x\"",
            vec!["\"512 MiB\""],
        ),
        // 80 GB hold four tasks of 16 GiB, and a fifth lets five on.
        (
            "cpus: 8, memory: \"32 GiB\", gpus: 0.2, vram: \"1 GiB\", do: \"y @ y\"",
            vec!["\"16 GiB\"", "0.25"],
        ),
    ] {
        let mut warnings = warnings("a100", &stages(&[("a", stage)]));
        warnings.retain(|warning| warning.code == codes::IDLE_GPU);
        let [warning] = &warnings[..] else {
            panic!("{warnings:#?}");
        };
        let written: Vec<_> = warning.fix.iter().map(|fix| &*fix.text).collect();
        assert_eq!(written, edits, "{warning:#?}");
        assert!(warning.saving.expect("it is known").time > 0);
    }
}

#[test]
fn a_gpu_that_another_stage_waits_for() {
    let text = stages(&[
        ("a", "cpus: 8, gpus: 1, place: Cpu, do: \"x @ x\""),
        ("b", "cpus: 8, gpus: 1, do: \"x @ x\""),
    ]);
    let saving = saving("a100", &text, codes::IDLE_GPU);
    // One after the other, or `b` beside `a`.
    assert_eq!(saving.time, ON_GPU);
    // 1.39 USD/h for 1.900433684 s, rounded, less that for 1.808407283 s, rounded.
    assert_eq!(saving.nano_usd, Some(733_779 - 698_246));
}

#[test]
fn cpus_that_another_stage_waits_for() {
    // 47 of 64 cpus stand idle beside 17, which the memory keeps busy; `b` asks for 47 of them, a
    // product of 8192 x 8192 at 47 * 76 G/s.
    let text = stages(&[
        ("a", "cpus: 64, do: \"sum(y)\""),
        ("b", "cpus: 47, do: \"x @ x\""),
    ]);
    let saving = saving("cpu", &text, codes::IDLE_CPUS);
    // 8 GiB at 200 GB/s.
    assert_eq!(saving.time, 42_949_673);
    assert_eq!(saving.nano_usd, None);
}

#[test]
fn memory_that_another_stage_waits_for() {
    // 200 and 100 of 256 GiB: one after the other. The second needs 16 GiB, a sixth of that.
    let text = stages(&[
        ("a", "cpus: 8, memory: \"200 GiB\", do: \"x @ x\""),
        (
            "b",
            "cpus: 8, memory: \"100 GiB\", do: \"stack(sum(x @ x), sum(y + 1))\"",
        ),
    ]);
    let saving = saving("cpu", &text, codes::IDLE_MEMORY);
    assert_eq!(saving.time, PRODUCT);
}

#[test]
fn a_second_gpu_that_another_stage_waits_for() {
    let text = stages(&[
        ("a", "cpus: 8, gpus: 4, do: \"x @ x\""),
        ("b", "cpus: 8, gpus: 1, do: \"x @ x\""),
    ]);
    let saving = saving("a100x4", &text, codes::SEVERAL_GPUS);
    assert_eq!(saving.time, ON_GPU);
}

#[test]
fn cpus_that_would_pay() {
    let text = stages(&[("a", "cpus: 2, memory: \"16 GiB\", do: \"sum(y)\"")]);
    let saving = saving("cpu", &text, codes::FEW_CPUS);
    // 8 GiB at 2 * 12 GB/s, and at 200 GB/s.
    let by_hand = 357_913_941 - 42_949_673;
    assert!((saving.time - by_hand).abs() <= 1, "{saving:?}");
}

/// Stages over 6400 files of 300 x 300, a product each. On a CPU it takes 2 * 300^3 / 76e9 s =
/// 710_526 ns. On the A100 its share of 19.5 TFLOP/s is 0.3 + 0.5 * 54e6 / (54e6 + 1e9), which
/// makes 8_505 ns, with 5 us of launch, and 360 kB each way at 25 GB/s in 10 us and 15 us more:
/// 67_305 ns.
fn products(stages: &[(&str, &str)]) -> String {
    let outputs = stages.iter().map(|(name, _)| {
        format!("\"{name}\": Npy(path: \"{name}{{item}}.npy\", from: \"{name}\"),\n")
    });
    let stages = stages
        .iter()
        .map(|(name, stage)| format!("\"{name}\": (each: \"f\", {stage}, do: \"f @ f\"),\n"));
    format!(
        "Pipeline(version: 1, inputs: {{\"f\": Files(glob: \"*.npy\", plan: 6400, type: \"f32[300, 300]\")}},
        stages: {{\n{}}},\noutputs: {{\n{}}})",
        stages.collect::<String>(),
        outputs.collect::<String>()
    )
}

/// Whether two times differ only by the rounding to whole nanoseconds of so many tasks.
fn is_near(time: i64, by_hand: i64, tasks: i64) -> bool {
    (time - by_hand).abs() <= tasks
}

#[test]
fn cpus_instead_of_a_queue() {
    let text = products(&[("a", "gpus: 1"), ("b", "gpus: 1")]);
    let saving = saving("a100", &text, codes::SOONER_ON_CPUS);
    // 12800 one after the other, and 64 at once.
    let by_hand = 12_800 * 67_305 - 12_800 / 64 * 710_526;
    assert!(
        is_near(saving.time, by_hand, 12_800),
        "{saving:?} {by_hand}"
    );
    // 1.39 USD/h.
    let price = i128::from(saving.time) * 1_390_000_000 / 3_600_000_000_000;
    assert!(
        i128::from(saving.nano_usd.unwrap()).abs_diff(price) <= 1,
        "{saving:?}"
    );
}

#[test]
fn cpus_beside_what_must_be_on_a_gpu() {
    let text = products(&[("a", "gpus: 1"), ("b", "gpus: 1, place: Gpu")]);
    let saving = saving("a100", &text, codes::SOONER_ON_CPUS);
    // `a`, whose tasks now take longer, goes first, on all 64 cpus; then `b` one after the other.
    let by_hand = 6_400 * 67_305 - 6_400 / 64 * 710_526;
    assert!(is_near(saving.time, by_hand, 6_400), "{saving:?}");
    let mut found = warnings("a100", &text);
    found.retain(|warning| warning.code == codes::SOONER_ON_CPUS);
    let after = edited(&text, &found).text;
    assert_eq!(after, text.replacen("gpus: 1, ", "", 1));
}

/// Stages over 100 files of 4096 x 4096, 64 MiB. They cross the link to the GPU and back in 2 *
/// 2_684_355 ns at 25 GB/s, 10 us and 15 us.
fn large(stages: &[(&str, &str)]) -> String {
    let (last, _) = stages[stages.len() - 1];
    let stages = stages
        .iter()
        .map(|(name, stage)| format!("\"{name}\": ({stage}),\n"));
    format!(
        "Pipeline(version: 1, inputs: {{\"x\": Files(glob: \"*.npy\", plan: 100, type: \"f32[4096, 4096]\")}},
        stages: {{\n{}}},\noutputs: {{\"o\": Npy(path: \"o{{item}}.npy\", from: \"{last}\")}})",
        stages.collect::<String>()
    )
}

#[test]
fn a_detour() {
    let text = large(&[(
        "s",
        "each: \"x\", gpus: 1, place: {\"b\": Cpu}, do: \"a = x @ x\\nb = exp(a)\\nb @ b\"",
    )]);
    let saving = saving("a100", &text, codes::DETOUR);
    // 128 MiB in and out of `exp`: 11.18 ms on a CPU at 12 GB/s, and on the GPU 73.1 us at 0.9 *
    // 2039 GB/s after 5 us of launch.
    let each = 2 * 2_684_355 + 25_000 + 11_184_811 - (73_139 + 5_000);
    assert!(is_near(saving.time, 100 * each, 400), "{saving:?} {each}");
}

#[test]
fn a_value_between_stages() {
    let text = large(&[
        ("a", "each: \"x\", gpus: 1, do: \"x @ x\""),
        ("b", "each: \"a\", gpus: 1, do: \"a @ a\""),
    ]);
    let saving = saving("a100", &text, codes::DETOUR);
    // One GPU for all: what `a` makes crosses no more.
    let each = 2 * 2_684_355 + 25_000;
    assert!(is_near(saving.time, 100 * each, 200), "{saving:?} {each}");
}

#[test]
fn larger_slices() {
    let text = "Pipeline(version: 1,
        inputs: {\"rows\": Split(of: Npy(path: \"x.npy\", type: \"f32[100000, 8]\"), size: 1)},
        stages: {\"row\": (each: \"rows\", do: \"rows * 2\")},
        outputs: {\"a\": Npy(path: \"a{item}.npy\", from: \"row\")})";
    let saving = saving("cpu", text, codes::SMALL_TASKS);
    // On 64 cpus ceil(100000 / 64) = 1563 starts of 100 us one after the other, or one: what the
    // rows themselves take is the same.
    assert_eq!(saving.time, 1_562 * 100_000);
}

/// Beside a product of 14.5 s on one CPU, 100,000 starts fill CPUs that are free anyway.
#[test]
fn starts_that_make_no_run_longer_free_cpus() {
    let text = "Pipeline(version: 1,
        inputs: {
            \"rows\": Split(of: Npy(path: \"r.npy\", type: \"f32[100000, 8]\"), size: 1),
            \"x\": Npy(path: \"x.npy\", type: \"f32[8192, 8192]\"),
        },
        stages: {\"row\": (each: \"rows\", do: \"rows * 2\"), \"product\": (do: \"x @ x\")},
        outputs: {
            \"a\": Npy(path: \"a{item}.npy\", from: \"row\"),
            \"b\": Npy(path: \"b.npy\", from: \"product\"),
        })";
    let found = warnings("cpu", text);
    let small = found.iter().find(|found| found.code == codes::SMALL_TASKS);
    let small = small.expect("it is said");
    // ceil(100000 / 1563) = 64 of the 100,000 starts of 100 us are left.
    let help = small.help.as_deref().expect("help");
    assert!(help.ends_with(": that frees 9.99 s of CPU time"), "{help}");
}

#[test]
fn several_items_in_a_file() {
    let text = "Pipeline(version: 1,
        inputs: {\"files\": Files(glob: \"*.npy\", plan: 5000, type: \"f32[8]\")},
        stages: {\"file\": (each: \"files\", do: \"files * 2\")},
        outputs: {\"a\": Npy(path: \"a{item}.npy\", from: \"file\")})";
    let saving = saving("cpu", text, codes::SMALL_TASKS);
    // ceil(5000 / 64) = 79 starts one after the other.
    assert_eq!(saving.time, 79 * 100_000);
}

#[test]
fn what_was_not_simulated_is_counted_and_of_the_shortest_stages() {
    let names: Vec<String> = (0..70).map(|at| format!("s{at}")).collect();
    let mut all: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), "gpus: 2, do: \"x @ x\""))
        .collect();
    all.push(("longest", "gpus: 2, do: \"x @ x @ x\""));
    let planned = try_plan("a100x4", &stages(&all)).expect("it can be planned");
    assert_eq!(planned.not_simulated, 71 - 64);
    let known = planned
        .warnings
        .iter()
        .map(|warning| warning.saving.is_some());
    let known: Vec<bool> = known.collect();
    let expected: Vec<bool> = (0..71).map(|at| at < 63 || at == 70).collect();
    assert_eq!(known, expected);
}

#[test]
fn stages_that_are_alike_are_told_alike() {
    // More cpus for one of a hundred make no run shorter that all cpus are busy in; after 64 of
    // them no more runs are simulated, and nobody knows of the rest.
    let names: Vec<String> = (0..100).map(|at| format!("s{at}")).collect();
    let all: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), "cpus: 2, memory: \"2 GiB\", do: \"x @ x\""))
        .collect();
    let found = warnings("cpu", &stages(&all));
    assert!(found.is_empty(), "{found:#?}");
}

/// Each pipeline of the cases, and each example of a lint, with its target.
fn pipelines() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/plan");
    let entries = fs::read_dir(folder).expect("the folder of cases is there");
    let mut texts: Vec<String> = entries
        .map(|entry| fs::read_to_string(entry.expect("it lists").path()).expect("it is a text"))
        .collect();
    texts.sort();
    let target = |text: &str| {
        let first = text
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("// target: "));
        first.expect("the first line names a target").to_owned()
    };
    let cases = texts.into_iter().map(|text| (target(&text), text));
    let lints = codes().filter(|info| info.code.0.starts_with("W03"));
    let examples = lints.filter(|info| info.wrong.starts_with("Pipeline("));
    cases
        .chain(examples.map(|info| ("a100".to_owned(), info.wrong.to_owned())))
        .collect()
}

#[test]
fn edits_mend_what_they_are_for() {
    let mut mended = Vec::new();
    for (target, text) in pipelines() {
        let found = match try_plan(&target, &text) {
            Ok(planned) => planned.warnings,
            Err(errors) => errors,
        };
        for diagnostic in found.iter().filter(|diagnostic| !diagnostic.fix.is_empty()) {
            let after = edited(&text, std::slice::from_ref(diagnostic));
            assert_eq!(after.made, [0], "{diagnostic:?}");
            let left = match try_plan(&target, &after.text) {
                Ok(planned) => planned.warnings,
                Err(errors) => errors,
            };
            let count = |of: &[Diagnostic]| of.iter().filter(|d| d.code == diagnostic.code).count();
            assert_eq!(
                count(&left) + 1,
                count(&found),
                "{diagnostic:#?}\n{}\n{left:#?}",
                after.text
            );
            mended.push(diagnostic.code);
        }
    }
    mended.sort();
    mended.dedup();
    let mechanical = [
        codes::IMPOSSIBLE,
        codes::MEMORY,
        codes::VRAM,
        codes::IDLE_GPU,
        codes::NO_GPU_REQUESTED,
        codes::SOONER_ON_CPUS,
        codes::IDLE_CPUS,
        codes::FEW_CPUS,
        codes::UNKNOWN_VRAM,
        codes::CROWDED_VRAM,
        codes::SEVERAL_GPUS,
        codes::IDLE_MEMORY,
        codes::DETOUR,
        codes::UNKNOWN_GPU,
    ];
    assert_eq!(mended, mechanical);
}

/// The pieces of a pipeline with edits in two of its stages, with room for a comment after each.
#[rustfmt::skip]
const PIECES: [&str; 35] = [
    "Pipeline(", "version: 1,", "inputs: {\"x\":",
    "Npy(path: \"x.npy\", type: \"f32[8192, 8192]\")},", "stages: {",
    "\"a\": (", "gpus:", "1", ",", "gpu_type:", "\"A100-80GB\"", ",", "memory:", "\"200 GiB\"", ",",
    "vram: \"1 GiB\",", "cpus: 8,", "do: \"sum(x)\")", ",",
    "\"b\":", "(", "cpus: 8,", "do:", "\"x @ x\"", ")", ",",
    "\"c\":", "(do: \"x @ x\",", "place: Cpu,", "gpu_type:", "\"A100-80GB\",", "gpus:", "1", ")", "})",
];

proptest! {
    /// Whatever the layout, comments and all that no edit is about stay.
    #[test]
    fn edits_keep_comments(gaps in prop::collection::vec(0..6usize, PIECES.len())) {
        let mut text = String::new();
        let mut comments = Vec::new();
        for (position, (piece, gap)) in PIECES.iter().zip(&gaps).enumerate() {
            text += piece;
            let comment = match gap {
                0 => String::new(),
                1 => " ".to_owned(),
                2 => "\n    ".to_owned(),
                3 => format!(" /* {position} */ "),
                4 => format!(" // {position} \"gpus: 1,\"\n\t"),
                _ => "\r\n".to_owned(),
            };
            text += &comment;
            comments.push(comment.trim().to_owned());
        }
        comments.retain(|comment| !comment.is_empty());
        let found = warnings("a100", &text);
        let after = edited(&text, &found);
        prop_assert!(after.made.len() >= 2, "{found:?}");
        let mut rest = after.text.as_str();
        for comment in &comments {
            let at = rest.find(comment.as_str());
            prop_assert!(at.is_some(), "{comment} of\n{text}\nis not in\n{}", after.text);
            rest = &rest[at.unwrap_or(0) + comment.len()..];
        }
        let checked = check(&after.text, haul_kernels::catalogue(), &Facts::default());
        prop_assert!(checked.typed.is_some(), "{:?}\n{}", checked.diagnostics, after.text);
        let idle = |found: &[Diagnostic]| found.iter().filter(|d| d.code == codes::IDLE_GPU).count();
        prop_assert_eq!((idle(&found), idle(&warnings("a100", &after.text))), (2, 0));
    }
}
