//! What a run leaves for tools: events, a report, a trace.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::generated::Schema;
use crate::support::{self, root};

/// The stages of `lanes.ron`, with how many tasks they have.
const STAGES: [(&str, usize); 5] = [("sums", 8), ("all", 1), ("a", 1), ("b", 1), ("total", 1)];

/// What a run of `lanes.ron` on two cpus and 1 GiB leaves, and the plan of the same file.
struct Run {
    lines: Vec<Value>,
    report: Value,
    trace: Value,
    plan: Value,
    folder: TempDir,
}

impl Run {
    fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let path = |name: &str| folder.path().join(name);
        let [pipeline, report, trace] = ["lanes.ron", "report.json", "trace.json"].map(path);
        fs::copy(root().join("tests/cases/run/lanes.ron"), &pipeline).expect("a copy");
        let mut run = support::haul();
        run.args(["run", "--target", "cpu", "--cpus", "2", "--memory", "1GiB"]);
        run.arg("--json").arg("--report").arg(&report);
        run.arg("--trace").arg(&trace).arg(&pipeline);
        let lines = support::stdout(&mut run);
        let mut plan = support::haul();
        plan.args(["plan", "--target", "cpu", "--format", "json"]);
        Self {
            lines: lines.lines().map(json).collect(),
            report: json(&support::read(&report)),
            trace: json(&support::read(&trace)),
            plan: json(&support::stdout(plan.arg(&pipeline))),
            folder,
        }
    }

    /// A file of the run's folder: `lanes.ron`, `report.json`, `trace.json`.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The events of a kind.
    fn events(&self, kind: &str) -> Vec<&Value> {
        let events = self.lines.iter().filter(|line| line["event"] == kind);
        events.collect()
    }
}

#[test]
fn events_are_of_their_schema_and_tell_each_task_once() {
    let run = Run::new();
    let schema = Schema::read("events");
    run.lines.iter().for_each(|line| schema.check(line));
    let at: Vec<_> = run.lines.iter().map(|line| number(line, "at")).collect();
    assert!(at.is_sorted(), "{at:?}");
    for kind in ["started", "finished"] {
        let mut counts = BTreeMap::new();
        for event in run.events(kind) {
            *counts.entry(text(event, "stage")).or_insert(0) += 1;
        }
        assert_eq!(counts, BTreeMap::from(STAGES), "{kind}");
    }
    let items = run.events("finished");
    let items = items.iter().filter_map(|event| event["item"].as_str());
    assert_eq!(items.collect::<HashSet<_>>().len(), 8);
    for event in run.events("finished") {
        assert!(number(event, "start") + number(event, "time") <= number(event, "at"));
    }
    let written = run.events("written");
    let [written] = &written[..] else {
        panic!("{written:?}");
    };
    // A header of 128 bytes, and one f32.
    assert_eq!(
        (text(written, "path"), number(written, "bytes")),
        ("total.npy", 132)
    );
    let last = run.lines.last().expect("an event");
    assert_eq!(
        (&last["event"], &last["report"]),
        (&"report".into(), &run.report)
    );
}

fn finished_starts(run: &Run, stage: &str) -> Vec<u64> {
    let finished = run.events("finished");
    let of_stage = finished.iter().filter(|event| event["stage"] == stage);
    of_stage.map(|event| number(event, "start")).collect()
}

/// Of `a` and `b`, the memory of the run holds one: the other waits for it.
#[test]
fn a_stage_that_waits_tells_for_what_and_behind_whom() {
    let run = Run::new();
    let waits = run.events("waiting");
    let wait = waits.iter().find(|wait| wait["lacks"] == "memory");
    let wait = wait.expect("a stage waits for memory");
    let (waits, holds) = match text(wait, "stage") {
        "a" => ("a", "b"),
        _ => ("b", "a"),
    };
    assert_eq!(text(wait, "stage"), waits);
    let behind = wait["behind"].as_array().expect("stages");
    assert!(behind.contains(&holds.into()), "{wait}");
}

#[test]
fn the_report_is_of_its_schema_and_joined_to_the_plan() {
    let run = Run::new();
    let schema = Schema::read("report");
    schema.check(&run.report);
    assert_eq!(run.report["plan"], run.plan);
    assert_eq!(
        run.report["predicted"]["makespan"],
        run.plan["estimates"]["makespan"]
    );
    let stages = run.report["stages"].as_array().expect("stages");
    for ((name, tasks), stage) in STAGES.iter().zip(stages) {
        assert_eq!(
            (text(stage, "stage"), number(stage, "tasks")),
            (*name, *tasks as u64)
        );
        let planned = run.plan["stages"].as_array().expect("stages");
        let planned = planned.iter().find(|stage| stage["name"] == *name);
        let of_a_task = number(planned.expect("a stage"), "time");
        assert_eq!(
            number(&stage["predicted"], "time"),
            of_a_task * *tasks as u64
        );
        let finished = run.events("finished");
        let finished = finished.iter().filter(|event| event["stage"] == *name);
        let times: Vec<_> = finished.map(|event| number(event, "time")).collect();
        let measured = &stage["measured"];
        assert_eq!(number(measured, "time"), times.iter().sum::<u64>());
        assert_eq!(Some(&number(measured, "longest")), times.iter().max());
        let starts = finished_starts(&run, name);
        assert_eq!(Some(&number(measured, "started")), starts.iter().min());
    }
    let tasks = run.report["tasks"].as_array().expect("tasks");
    assert_eq!(
        (tasks.len(), &run.report["tasks_left_out"]),
        (12, &0.into())
    );
    assert_eq!(stages.len(), STAGES.len());
    let mut broken = run.report.clone();
    broken["measured"]["makespan"] = "soon".into();
    assert!(!schema.is_valid(&broken));
}

/// As the Trace Event Format asks: complete events and metadata, every lane named, and no two
/// tasks of a thread at once.
#[test]
fn the_trace_has_a_lane_for_each_thread() {
    let run = Run::new();
    let events = run.trace["traceEvents"].as_array().expect("events");
    let lane = |event: &Value| (number(event, "pid"), number(event, "tid"));
    let (names, spans): (Vec<_>, Vec<_>) = events.iter().partition(|event| event["ph"] == "M");
    assert!(spans.iter().all(|span| span["ph"] == "X"));
    let named = names.iter().filter(|name| name["name"] == "thread_name");
    let named: HashSet<_> = named.map(|name| lane(name)).collect();
    assert!(spans.iter().all(|span| named.contains(&lane(span))));
    let starts: Vec<_> = spans.iter().map(|span| micros(span, "ts")).collect();
    assert!(starts.is_sorted(), "{starts:?}");
    let mut ends = HashMap::new();
    for span in &spans {
        let (start, time) = (micros(span, "ts"), micros(span, "dur"));
        let end = ends.insert(lane(span), start + time).unwrap_or(0.0);
        // Microseconds with three decimals are not exact in binary.
        assert!(start >= end - 1e-6, "{span} starts before {end}");
    }
    let tasks = spans.iter().filter(|span| span["cat"] == "task");
    let workers: Vec<_> = tasks.map(|span| lane(span)).collect();
    assert_eq!(workers.len(), 12);
    assert!(workers.iter().collect::<HashSet<_>>().len() <= 2);
    let waits = spans.iter().filter(|span| span["cat"] == "wait");
    let waits: Vec<_> = waits.map(|span| text(span, "name")).collect();
    assert!(
        waits.iter().any(|wait| wait.ends_with(" waits for memory")),
        "{waits:?}"
    );
}

/// `haul plan --actual` shows what was measured; of another plan it says so, and joins by names.
#[test]
fn a_plan_shows_what_was_measured() {
    let run = Run::new();
    let of_run = |file: &str| {
        let mut plan = support::haul();
        plan.args(["plan", "--target", "cpu", "--actual"]);
        plan.arg(run.path("report.json")).arg(run.path(file));
        support::outcome(&mut plan)
    };
    let (status, stdout, stderr) = of_run("lanes.ron");
    assert_eq!((status, stderr.as_str()), (0, ""));
    let heading = "\nstage  tasks  predicted  measured ";
    let measured = stdout.split_once(heading).expect("what was measured").1;
    for (line, (name, tasks)) in measured.lines().skip(1).zip(STAGES) {
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(words[..2], [name, &tasks.to_string()], "{stdout}");
    }
    let text = support::read(&run.path("lanes.ron"));
    let other = text.replace(r#""b""#, r#""c""#).replace("a + b", "a + c");
    fs::write(run.path("other.ron"), other).expect("a file");
    let (status, stdout, stderr) = of_run("other.ron");
    assert!(
        stderr.starts_with("note: the run was of another plan"),
        "{stderr}"
    );
    let measured = stdout.split_once(heading).expect("what was measured").1;
    let names = measured.lines().skip(1).map(|line| line.split(' ').next());
    let names: Vec<_> = names.take(4).flatten().collect();
    assert_eq!(
        (status, &names[..]),
        (0, &["sums", "all", "a", "total"][..])
    );
}

/// Two reports of one plan differ in what was measured, which is no change; a report beside a
/// pipeline says how it compares to the prediction.
#[test]
fn reports_are_compared() {
    let (one, two) = (Run::new(), Run::new());
    let diff =
        |old: &Path, new: &Path| support::outcome(support::haul().arg("diff").arg(old).arg(new));
    let (status, stdout, stderr) = diff(&one.path("report.json"), &two.path("report.json"));
    assert_eq!((status, stderr.as_str()), (0, ""), "{stdout}");
    let (head, rest) = stdout.split_once('\n').expect("lines");
    assert_eq!(head, "plan lanes on cpu: no changes");
    assert!(rest.starts_with("\nmeasured\n~ "), "{stdout}");
    let (status, stdout, _) = diff(&one.path("lanes.ron"), &one.path("report.json"));
    assert_eq!(status, 0, "{stdout}");
    assert!(stdout.contains("\n+ stage sums\n    time "), "{stdout}");
    assert!(stdout.contains(" times the predicted "), "{stdout}");
    let edited = support::read(&one.path("report.json")).replacen("\"sums\"", "\"sume\"", 1);
    fs::write(one.path("edited.json"), edited).expect("a file");
    let (status, _, stderr) = diff(&one.path("edited.json"), &one.path("report.json"));
    assert_eq!(status, 2);
    assert!(
        stderr.contains("this plan was edited after haul wrote it"),
        "{stderr}"
    );
}

/// `haul why --run` tells what a stage waited for, and behind whom.
#[test]
fn why_a_stage_took_as_long_is_told_of_a_report() {
    let run = Run::new();
    let why = |names: &[&str]| {
        let mut why = support::haul();
        why.args(["why", "--run"]).arg(run.path("report.json"));
        support::outcome(why.args(names))
    };
    let stages = run.report["stages"].as_array().expect("stages");
    let waits = stages.iter().find(|stage| {
        let waits = stage["measured"]["waits"].as_array().expect("waits");
        waits.iter().any(|wait| wait["lacks"] == "memory")
    });
    let waits = text(waits.expect("a stage waits for memory"), "stage");
    let (status, stdout, stderr) = why(&[waits]);
    assert_eq!((status, stderr.as_str()), (0, ""));
    let head = format!("{waits} in a run of lanes, planned for cpu: 1 task on ");
    assert!(stdout.starts_with(&head), "{stdout}");
    assert!(stdout.contains("\n  wait     for memory from "), "{stdout}");
    assert!(stdout.contains(", behind "), "{stdout}");
    let (status, _, stderr) = why(&["sum"]);
    assert_eq!(status, 2);
    let unknown = "error: there is no stage `sum`, did you mean `sums`?\n";
    assert!(stderr.starts_with(unknown), "{stderr}");
    assert_eq!(why(&["lanes.ron", "sums"]).0, 2);
}

/// A report whose name ends so is the plan as a page, with what was measured.
#[test]
fn a_report_can_be_a_page() {
    let folder = TempDir::new().expect("a temporary folder");
    let page = folder.path().join("report.html");
    let mut run = support::haul();
    run.args(["run", "tests/cases/cli/preview.ron", "--quiet", "--report"]);
    support::stdout(run.arg(&page));
    let page = support::read(&page);
    assert!(page.contains("<h1>plan preview on "), "{page}");
    assert!(page.contains("Timeline of the run, measured"), "{page}");
}

/// A run that fails says so in its last line, and leaves no report.
#[test]
fn a_failure_is_the_last_event() {
    let folder = TempDir::new().expect("a temporary folder");
    let report = folder.path().join("report.json");
    let mut run = support::haul();
    run.args([
        "run",
        "tests/cases/cli/fails.ron",
        "--quiet",
        "--json",
        "--report",
    ]);
    let (status, stdout, stderr) = support::outcome(run.arg(&report));
    assert_eq!(status, 1);
    let last = json(stdout.lines().last().expect("an event"));
    Schema::read("events").check(&last);
    assert_eq!(last["event"], "failed");
    assert_eq!(format!("error: {}\n", text(&last, "message")), stderr);
    assert!(!report.exists());
}

/// Where a file cannot be written, nothing runs.
#[test]
fn records_that_cannot_be_written_are_told_first() {
    for (path, why) in [
        ("no_such_folder/out.json", "its folder is not there"),
        ("tests", "it is a folder"),
    ] {
        let args = ["run", "tests/cases/cli/preview.ron", "--trace", path];
        let (status, stdout, stderr) = support::outcome(support::haul().args(args));
        assert_eq!((status, &*stdout), (2, ""));
        assert_eq!(stderr, format!("error: could not write {path}: {why}\n"));
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().expect("a text")
}

fn number(value: &Value, field: &str) -> u64 {
    value[field].as_u64().expect("a whole number")
}

fn micros(value: &Value, field: &str) -> f64 {
    value[field].as_f64().expect("a number")
}
