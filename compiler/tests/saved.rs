//! Plans as they are kept: what is written is read.

use crate::support::plans::try_plan;
use haul_compiler::saved::{SavedChoice, SavedPlan, SavedWork};
use proptest::prelude::*;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

const TARGETS: [&str; 4] = ["a100", "cpu", "l4", "mixed"];

/// Names, sizes and paths of all kinds.
const EVERYTHING: &str = r#"Pipeline(
    version: 1,
    dims: {"n": (plan: 100, max: 4000), "m": (max: 7)},
    inputs: {
        "x": Npy(path: "with space/x \" y.npy", type: "f32[n, n]"),
        "c": Constant(value: [[1, 2], [3, 4]], type: "f32[2, 2]"),
        "files": Files(glob: "*.npy", plan: 5, type: "f32[k, 8]"),
        "parts": Split(of: "x", axis: 0, size: 7),
    },
    stages: {
        "request": (any_of: [(gpus: 0.25, vram: "1 GiB"), (cpus: 3, memory: "1000001 B")], do: "
            node = x @ x
            gpu = node[0:10, newaxis, :]
            tasks = fft(node, axis=1)
            transfer = abs(tasks) + 1
            sum(transfer) + sum(gpu)
        "),
        "memory": (each: "files", do: "files.T @ files"),
        "part": (each: "parts", gpus: 1, do: "sum(parts @ x, axis=0)"),
        "all": (do: "gather(memory)"),
        "unknown": (do: "sum(c)"),
    },
    outputs: {
        "an output": Npy(path: "out/a b.npy", from: "request"),
        "b": Npy(path: "b.npy", from: "all"),
        "c": Npy(path: "c{item}.npy", from: "part"),
        "d": Npy(path: "d.npy", from: "unknown"),
    },
)"#;

/// Every pipeline of the repository, and one of everything, on several targets.
fn all() -> Vec<SavedPlan> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../pipelines");
    let entries = std::fs::read_dir(folder).expect("the pipelines");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "ron"));
    let texts = paths
        .iter()
        .map(|path| std::fs::read_to_string(path).expect("a pipeline"));
    let texts: Vec<_> = texts.chain([EVERYTHING.to_owned()]).collect();
    let pairs = texts
        .iter()
        .flat_map(|text| TARGETS.map(|target| (text, target)));
    let plans = pairs.filter_map(|(text, target)| try_plan(target, text).ok());
    plans.map(|planned| SavedPlan::of(&planned.plan)).collect()
}

#[test]
fn snapshots_are_read() {
    let plans = all();
    assert!(plans.len() >= 20, "{}", plans.len());
    for plan in plans {
        let text = plan.snapshot();
        let read = SavedPlan::read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(read.snapshot(), text);
        // All that a snapshot keeps exactly is the same: the rest is put in place from the plan.
        let mut exact = read;
        exact.estimates = plan.estimates.clone();
        for (stage, made) in exact.stages.iter_mut().zip(&plan.stages) {
            stage.time = made.time;
            stage.time_on_cpu = made.time_on_cpu;
            stage.waits.clone_from(&made.waits);
            stage.queueing = made.queueing;
            for (transfer, made) in stage.transfers.iter_mut().zip(&made.transfers) {
                transfer.time = made.time;
            }
            for (op, made) in stage.ops.iter_mut().zip(&made.ops) {
                assert_eq!(
                    op.estimate.is_some(),
                    made.estimate.is_some(),
                    "{}",
                    op.name
                );
                op.estimate.clone_from(&made.estimate);
            }
        }
        assert_eq!(exact, plan);
    }
}

#[test]
fn json_is_read_without_loss() {
    for plan in all() {
        assert_eq!(SavedPlan::read(&plan.json()), Ok(plan));
    }
}

#[test]
fn readers_ignore_names_that_later_versions_add() {
    let plan = &all()[0];
    let later = with_digest(&plan.json(), |fields| {
        fields.insert("format_version".to_owned(), "1.7".into());
        fields.insert("colour".to_owned(), "green".into());
    });
    let read = SavedPlan::read(&later).expect("a later minor version");
    assert_eq!(
        (read.format_version.as_str(), &read.stages),
        ("1.7", &plan.stages)
    );
    let other = plan.json().replacen("\"1.0\"", "\"2.0\"", 1);
    let error = SavedPlan::read(&other).expect_err("another major version");
    assert!(error.message.contains("format 1.0"), "{error}");
}

/// A plan in JSON with other fields, and the digest of them.
fn with_digest(json: &str, change: impl Fn(&mut Map<String, Value>)) -> String {
    let mut plan: Map<String, Value> = serde_json::from_str(json).expect("it is JSON");
    change(&mut plan);
    plan.remove("digest");
    // Maps are in the order of names.
    let digest = Sha256::digest(Value::from(plan.clone()).to_string());
    let hex: String = digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    plan.insert("digest".to_owned(), hex.into());
    Value::from(plan).to_string()
}

/// Whatever is edited, taken out or put in, unless white space and order alone.
#[test]
fn edited_json_is_refused() {
    let plan = SNAPSHOT.with(|text| SavedPlan::read(text)).expect("a plan");
    let json = plan.json();
    assert_eq!(SavedPlan::read(&with_digest(&json, |_| {})), Ok(plan));
    let edits = [
        ("\"count\": 1", "\"count\": 2"),
        ("out/a b.npy", "out/c d.npy"),
        (
            "\"cost_model\": 1",
            "\"cost_model\": 1, \"colour\": \"green\"",
        ),
        ("\"digest\"", "\"other\""),
    ];
    for (what, instead) in edits {
        assert!(json.contains(what), "{what}");
        let error = SavedPlan::read(&json.replacen(what, instead, 1)).expect_err(instead);
        assert!(error.message.contains("was edited"), "{error}");
    }
}

#[test]
fn line_ends_of_other_systems_are_read() {
    let plan = &all()[0];
    let text = plan.snapshot();
    let read = SavedPlan::read(&text.replace('\n', "\r\n")).expect("a snapshot");
    assert_eq!(read.snapshot(), text);
}

/// No line can be edited, left out, doubled, swapped with another or put in.
#[test]
fn an_edited_plan_is_refused() {
    let original = SNAPSHOT.with(Clone::clone);
    let lines: Vec<&str> = original.lines().collect();
    let refuse = |edited: Vec<&str>, what: &str| {
        let read = SavedPlan::read(&edited.join("\n"));
        assert!(edited == lines || read.is_err(), "{what}");
    };
    for (at, line) in lines.iter().enumerate() {
        let digits = line.replace(|c: char| c.is_ascii_digit(), "7");
        let word = line.replacen("x.npy", "other.npy", 1);
        let double = format!("{line}\n{line}");
        let before = format!("\n{line}");
        let (more, space) = (format!("{line} x"), format!("{line} "));
        for edited in [more, space, digits, word, double, before] {
            let mut text = lines.clone();
            text[at] = &edited;
            refuse(text, &edited);
        }
        let mut text = lines.clone();
        text.remove(at);
        refuse(text, &format!("without {line}"));
        for other in at + 1..lines.len() {
            let mut text = lines.clone();
            text.swap(at, other);
            refuse(text, &format!("{line} for {}", lines[other]));
        }
    }
}

/// Free text prints as it is read, so that only the digest tells an edit of it.
#[test]
fn an_edit_of_free_text_is_told() {
    let original = SNAPSHOT.with(Clone::clone);
    let edited = original.replace("out/a b.npy", "out/c d.npy");
    assert_ne!(edited, original);
    let error = SavedPlan::read(&edited).expect_err("an edit");
    assert_eq!(error.line, original.lines().count());
    assert!(error.message.contains("was edited"), "{error}");
    assert!(!error.message.contains("digest"), "{error}");
}

/// What follows from other lines is what haul prints of them, or else is told with its line.
#[test]
fn what_does_not_follow_from_the_rest_is_refused() {
    let original = SNAPSHOT.with(Clone::clone);
    for begins in [
        "    intensity ",
        "estimates at ",
        "  makespan ",
        "    flops ",
    ] {
        let is_it = |(_, line): &(usize, &str)| line.starts_with(begins);
        let (at, line) = original.lines().enumerate().find(is_it).expect("a line");
        let edited = format!("{line} or so");
        let error = SavedPlan::read(&original.replacen(line, &edited, 1)).expect_err("an edit");
        assert_eq!(error.line, at + 1, "{error}");
    }
    let line = original
        .lines()
        .find(|line| line.starts_with("    intensity "));
    let line = line.expect("a line");
    let error = SavedPlan::read(&original.replacen(line, "    intensity 9 flop/B", 1));
    let error = error.expect_err("another intensity").to_string();
    assert!(error.contains(line.trim()), "{error}");
    assert!(error.contains("--accept"), "{error}");
}

#[test]
fn an_error_tells_its_line() {
    let text = all()[0].snapshot();
    let is_request = |line: &(usize, &str)| line.1.contains("request");
    let (line, wrong) = text
        .lines()
        .enumerate()
        .find(is_request)
        .expect("a request");
    let broken = text.replacen(wrong, "  request cpus many", 1);
    let error = SavedPlan::read(&broken).expect_err("a broken line");
    assert_eq!(error.line, line + 1, "{error}");
    assert_eq!(SavedPlan::read("").expect_err("nothing").line, 1);
    assert!(SavedPlan::read("{}").is_err());
    assert!(
        SavedPlan::read("plan x format 99")
            .expect_err("a later layout")
            .message
            .contains("format 1")
    );
}

/// Estimates have three digits in a snapshot, and are within half of the last of them.
#[test]
fn estimates_are_read_to_three_digits() {
    for plan in all() {
        let read = SavedPlan::read(&plan.snapshot()).expect("a snapshot");
        assert_near(plan.estimates.makespan, read.estimates.makespan);
        assert_near(plan.estimates.nano_usd, read.estimates.nano_usd);
        assert_eq!(plan.estimates.transferred, read.estimates.transferred);
        assert_eq!(plan.estimates.vram, read.estimates.vram);
        for (made, read) in plan.stages.iter().zip(&read.stages) {
            assert_near(made.time, read.time);
            for (made, read) in made.ops.iter().zip(&read.ops) {
                let (Some(made), Some(read)) = (&made.estimate, &read.estimate) else {
                    continue;
                };
                let SavedChoice { time, regret, .. } = made;
                assert_near(*time, read.time);
                assert_near(*regret, read.regret);
                assert_eq!((&made.flip, made.close_call), (&read.flip, read.close_call));
            }
        }
    }
}

fn assert_near(made: Option<u64>, read: Option<u64>) {
    let (Some(made), Some(read)) = (made, read) else {
        assert_eq!(made, read);
        return;
    };
    assert!(
        made.abs_diff(read) * 200 <= made,
        "{made} is read as {read}"
    );
}

#[test]
fn work_is_counted_once_for_a_group() {
    let plan = all()
        .into_iter()
        .find(|plan| plan.pipeline == "test")
        .expect("a plan");
    for op in plan.stages.iter().flat_map(|stage| &stage.ops) {
        assert_eq!(
            op.work == SavedWork::Fused,
            op.reason.starts_with("fused_with ")
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    /// Whatever is done to a snapshot, reading it ends in a plan or an error.
    #[test]
    fn hostile_snapshots_are_refused(cut in 0.0..1.0f64, at in 0.0..1.0f64, junk in "[ -~\n\"é]{0,12}") {
        let text = SNAPSHOT.with(Clone::clone);
        let floor = |share: f64| text.floor_char_boundary((text.len() as f64 * share) as usize);
        let (from, to) = (floor(at), floor(at + (1.0 - at) * cut * 0.05));
        let broken = format!("{}{junk}{}", &text[..from], &text[to..]);
        let _ = SavedPlan::read(&broken);
    }
}

thread_local! {
    static SNAPSHOT: String = {
        let planned = try_plan("a100", EVERYTHING).expect("a plan");
        SavedPlan::of(&planned.plan).snapshot()
    };
}
