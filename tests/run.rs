//! What a run says and leaves behind.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::support::{self, root};

/// What the data changed of the plan is listed before the run.
#[test]
fn changes_that_data_makes_are_listed() {
    let output = support::haul()
        .args(["run", "tests/cases/cli/bound.ron"])
        .output()
        .expect("the binary starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert_eq!(
        stderr.lines().next(),
        Some("data: `x` is f32[64, 64]"),
        "{stderr}"
    );
    assert!(stderr.contains("\ny: 1 of 1 task in "), "{stderr}");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let header = "stage  tasks  predicted  measured  ratio";
    assert!(stdout.contains(header), "{stdout}");
}

/// Nothing is logged unless a variable asks for it; then each task is a span with its stage.
#[test]
fn tasks_are_logged_where_that_is_asked_for() {
    let run = |log: Option<(&str, &str)>| {
        let mut run = support::haul();
        run.args(["run", "tests/cases/cli/bound.ron", "--quiet"]);
        run.env_remove("HAUL_LOG").env_remove("RUST_LOG").envs(log);
        support::outcome(&mut run)
    };
    assert_eq!(run(None).2, "");
    for (variable, asked) in [("HAUL_LOG", "info"), ("RUST_LOG", "haul_executor=info")] {
        let (status, _, stderr) = run(Some((variable, asked)));
        assert_eq!(status, 0, "{stderr}");
        let finished: Vec<_> = stderr
            .lines()
            .filter(|line| line.contains("finished"))
            .collect();
        assert_eq!(finished.len(), 1, "{stderr}");
        assert!(finished[0].contains("task{stage=\"y\""), "{stderr}");
        assert!(!stderr.contains("computes"), "{stderr}");
    }
    assert!(run(Some(("HAUL_LOG", "debug"))).2.contains("computes"));
    let (status, _, stderr) = run(Some(("HAUL_LOG", "haul=loud")));
    assert_eq!(status, 2, "{stderr}");
    assert!(
        stderr.starts_with("error: HAUL_LOG=haul=loud: "),
        "{stderr}"
    );
}

/// A disk that takes no more, here since a file may have no more bytes, leaves no part of an output.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pipeline = folder.path().join("large.ron");
    let text = r#"Pipeline(
        version: 1,
        inputs: { "x": Random(seed: 1, type: "f32[1000, 1000]") },
        stages: { "y": (do: "x + 1") },
        outputs: { "y": Npy(path: "y.npy", from: "y") },
    )"#;
    fs::write(&pipeline, text).expect("room for it");
    // The signal that comes with the limit would end the process.
    let script = r#"trap "" XFSZ; ulimit -f 100; exec "$0" run "$1" --quiet"#;
    let mut run = Command::new("sh");
    run.args(["-c", script, env!("CARGO_BIN_EXE_haul")]);
    let (status, _, stderr) = support::outcome(run.arg(&pipeline));
    assert_eq!(status, 1, "{stderr}");
    assert!(stderr.contains("output `y` (`y.npy`): "), "{stderr}");
    assert_eq!(support::files(folder.path(), ""), [pipeline]);
}

/// Ctrl-C ends a run with status 130, and leaves neither an output nor a part of one.
#[cfg(unix)]
#[test]
fn ctrl_c_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pipeline = folder.path().join("long.ron");
    fs::copy(root().join("tests/cases/run/long.ron"), &pipeline).expect("a copy");
    let mut run = support::haul()
        .arg("run")
        .arg(&pipeline)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let stderr = BufReader::new(run.stderr.take().expect("a pipe"));
    let started = |line: &String| line.starts_with("first: 1 of 1 task");
    let mut lines = stderr.lines().map(|line| line.expect("UTF-8"));
    assert!(lines.any(|line| started(&line)), "the first stage ends");
    let pid = run.id().to_string();
    let sent = Command::new("kill")
        .args(["-INT", &pid])
        .status()
        .expect("kill starts");
    assert!(sent.success());
    let rest: Vec<_> = lines.collect();
    let status = run.wait().expect("the run ends");
    assert_eq!(status.code(), Some(130), "{rest:?}");
    let left = support::files(folder.path(), "");
    assert_eq!(left, [pipeline], "{rest:?}");
}

/// On simulated time nothing is written, each task is told once, and a seed repeats the schedule.
#[test]
fn a_seed_repeats_a_simulated_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pipeline = folder.path().join("lanes.ron");
    fs::copy(root().join("tests/cases/run/lanes.ron"), &pipeline).expect("a copy");
    let events = |seed: u64| {
        let mut run = support::haul();
        run.args([
            "run",
            "--simulate",
            "--json",
            "--target",
            "cpu",
            "--cpus",
            "2",
        ]);
        run.args(["--seed", &seed.to_string()]).arg(&pipeline);
        support::stdout(&mut run)
    };
    let first = events(7);
    assert_eq!(events(7), first);
    assert_eq!(
        first.matches(r#""event":"finished""#).count(),
        12,
        "{first}"
    );
    assert!(first.contains(r#""device":"simulated""#), "{first}");
    assert!(
        (0..8).any(|seed| events(seed) != first),
        "seeds make no difference"
    );
    assert_eq!(support::files(folder.path(), ""), [pipeline]);
}
