//! Pipelines for GPUs, rehearsed on this machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{self, root};

/// A copy of a case in a folder of its own.
fn case(name: &str) -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("a temporary folder");
    let pipeline = folder.path().join(name);
    fs::copy(root().join("tests/cases/run").join(name), &pipeline).expect("a copy");
    (folder, pipeline)
}

/// The arrays in a folder, by name.
fn outputs(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = support::files(folder, "npy").into_iter();
    let named = files.map(|file| {
        let bytes = fs::read(&file).expect("it was written");
        (file.strip_prefix(folder).expect("inside").to_owned(), bytes)
    });
    named.collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

/// A node with eight GPUs gives the bits of CPUs; what crossed is what the plan says; all that is
/// told of it says that it is emulated.
#[test]
fn eight_gpus_are_rehearsed() {
    let (folder, pipeline) = case("eight.ron");
    let report = folder.path().join("report.json");
    let mut run = support::haul();
    run.args(["run", "--target", "h100x8", "--emulate", "--cpus", "8"]);
    run.args(["--memory", "1GiB", "--report"])
        .arg(&report)
        .arg(&pipeline);
    let printed = support::stdout(&mut run);
    assert!(printed.contains("powers     24"), "{printed}");
    assert!(printed.contains("emulated H100"), "{printed}");
    assert!(printed.contains("none is evidence"), "{printed}");

    let report: Value = serde_json::from_str(&support::read(&report)).expect("JSON");
    let devices = report["devices"].as_array().expect("a list");
    assert_eq!(devices.len(), 8);
    for device in devices {
        assert_eq!(device["emulated"], true);
        assert!(number(&device["peak_vram"]) <= number(&device["vram"]));
    }
    let tasks: u64 = devices.iter().map(|device| number(&device["tasks"])).sum();
    assert_eq!(tasks, 24);
    let powers = &report["stages"][0];
    assert!(
        powers["device"]
            .as_str()
            .is_some_and(|name| name.starts_with("emulated H100"))
    );
    let copies = powers["copies"].as_array().expect("a list");
    assert_eq!(copies.len(), 2);
    for copied in copies {
        // Each task sends and receives 256 by 256 numbers of 4 bytes.
        assert_eq!(number(&copied["bytes"]), 24 * 256 * 256 * 4);
        assert_eq!(copied["bytes"], copied["predicted"]["bytes"]);
    }

    let (on_cpus, pipeline) = case("eight.ron");
    let mut run = support::haul();
    run.args(["run", "--target", "cpu", "--memory", "1GiB"])
        .arg(&pipeline);
    assert!(!support::stdout(&mut run).contains("emulated"));
    assert_eq!(outputs(folder.path()).len(), 48);
    assert_eq!(outputs(folder.path()), outputs(on_cpus.path()));
}

#[test]
fn events_tell_emulated_devices() {
    let (_folder, pipeline) = case("eight.ron");
    let mut run = support::haul();
    run.args(["run", "--target", "h100x8", "--emulate", "--json"])
        .arg(&pipeline);
    let lines = support::stdout(&mut run);
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let devices = lines.filter(|line| line["event"] == "device");
    assert_eq!(
        devices.filter(|device| device["emulated"] == true).count(),
        8
    );
}

#[test]
fn evidence_that_is_demanded_has_a_status_of_its_own() {
    let (folder, pipeline) = case("eight.ron");
    let refusals = [
        (
            &["--target", "h100x8", "--emulate"][..],
            "emulated give no evidence",
        ),
        (&["--target", "h100x8"], "this build has no CUDA device"),
        (&["--target", "cpu"], "the plan has nothing on a GPU"),
    ];
    for (flags, reason) in refusals {
        let mut run = support::haul();
        run.args(["run", "--require-gpu"])
            .args(flags)
            .arg(&pipeline);
        let (status, _, stderr) = support::outcome(&mut run);
        assert_eq!(status, 5, "{stderr}");
        assert!(stderr.contains(reason), "{stderr}");
    }
    assert!(outputs(folder.path()).is_empty());
}

#[test]
fn a_gpu_that_is_not_there_is_no_silent_run_on_cpus() {
    let (_folder, pipeline) = case("eight.ron");
    let mut run = support::haul();
    run.args(["run", "--target", "h100x8"]).arg(&pipeline);
    let (status, _, stderr) = support::outcome(&mut run);
    assert_eq!(status, 1, "{stderr}");
    assert!(stderr.contains("`--emulate`"), "{stderr}");
    let mut run = support::haul();
    run.args(["run", "--emulate"]).arg(&pipeline);
    let (status, _, stderr) = support::outcome(&mut run);
    assert_eq!(status, 2, "{stderr}");
    assert!(
        stderr.contains("target `local` has no GPU to emulate"),
        "{stderr}"
    );
}
