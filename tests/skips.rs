//! Runs that go on without what fails: what is there in the end, and what is said of the rest.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::support::arrays::read_array;
use crate::support::{self, outcome};

/// Three files, of which `b` cannot be used, and what becomes of them: `halved` file by file, `all`
/// of them gathered, and `other`, which reads none of them.
fn case(type_of_files: &str, stages: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = format!(
        "Pipeline(
            version: 1,
            inputs: {{
                \"files\": Files(glob: \"data/*\", plan: 3, {type_of_files}),
                \"x\": Constant(value: 2, type: \"f32[]\"),
            }},
            stages: {{
                {stages}
                \"all\": (do: \"gather(halved)\"),
                \"sum\": (do: \"sum(all)\"),
                \"other\": (do: \"x * 2\"),
            }},
            outputs: {{
                \"halves\": Npy(path: \"out/{{item}}.npy\", from: \"halved\"),
                \"sum\": Npy(path: \"out/sum.npy\", from: \"sum\"),
                \"other\": Npy(path: \"out/other.npy\", from: \"other\"),
            }},
        )"
    );
    fs::write(folder.path().join("case.ron"), text).expect("a pipeline");
    fs::create_dir(folder.path().join("data")).expect("a folder");
    folder
}

fn run(folder: &TempDir, flags: &[&str]) -> Command {
    let mut command = support::haul();
    command
        .arg("run")
        .args(flags)
        .arg(folder.path().join("case.ron"));
    command
}

fn written(folder: &TempDir) -> Vec<String> {
    let name = |path: PathBuf| {
        path.file_name()
            .expect("a file")
            .to_string_lossy()
            .into_owned()
    };
    let out = folder.path().join("out");
    match out.exists() {
        true => support::files(&out, "").into_iter().map(name).collect(),
        false => Vec::new(),
    }
}

fn warnings(stderr: &str) -> Vec<&str> {
    let warnings = stderr
        .lines()
        .filter_map(|line| line.strip_prefix("warning: "));
    warnings.collect()
}

/// A table whose second row is no number.
fn unparsed(on_error: &str) -> TempDir {
    let stages = format!(
        "\"parsed\": (each: \"files\", {on_error} do: \"parse_csv(files, type='f32[2, 1]', header=false)\"),
        \"halved\": (each: \"parsed\", do: \"parsed / 2\"),"
    );
    let folder = case("", &stages);
    for (name, text) in [("a", "1\n2\n"), ("b", "1\nx\n"), ("c", "3\n4\n")] {
        fs::write(folder.path().join("data").join(name), text).expect("a file");
    }
    folder
}

const OF_B: [&str; 4] = [
    "stage `parsed`, item `b`, is skipped: op `parsed`: line 2: column 1: `x` is not a number",
    "stage `halved`, item `b`, is skipped: it reads `parsed`, which is skipped",
    "stage `all` is skipped: it reads `halved`, of which an item is skipped",
    "stage `sum` is skipped: it reads `all`, which is skipped",
];

#[test]
fn a_stage_says_that_it_can_be_skipped() {
    let folder = unparsed("on_error: Skip,");
    let (status, stdout, stderr) = outcome(&mut run(&folder, &[]));
    assert_eq!(status, 4, "{stderr}");
    assert_begin(&warnings(&stderr), &OF_B);
    assert_eq!(written(&folder), ["a.npy", "c.npy", "other.npy"]);
    assert_eq!(
        read_array(&folder.path().join("out/c.npy")).elements,
        [1.5, 2.0]
    );
    assert!(stderr.contains("\nparsed: 2 of 2 tasks in "), "{stderr}");
    assert!(stdout.contains("wrote out/a.npy"), "{stdout}");
}

#[test]
fn a_run_goes_on_where_it_is_asked_to() {
    let folder = unparsed("");
    let (status, _, stderr) = outcome(&mut run(&folder, &[]));
    assert_eq!(status, 1, "{stderr}");
    assert!(stderr.contains("item `b`, op `parsed`: line 2"), "{stderr}");
    let (status, _, stderr) = outcome(&mut run(&folder, &["--keep-going", "--quiet"]));
    assert_eq!(status, 4, "{stderr}");
    assert_begin(&warnings(&stderr), &OF_B);
    assert_eq!(written(&folder), ["a.npy", "c.npy", "other.npy"]);
}

/// What the lines of messages begin with: they go on with types.
fn assert_begin(lines: &[&str], begins: &[&str]) {
    let fits = lines.len() == begins.len()
        && lines
            .iter()
            .zip(begins)
            .all(|(line, begin)| line.starts_with(begin));
    assert!(fits, "{lines:#?}\n{begins:#?}");
}

/// A file that is cut off is found before anything runs, or skipped like any other failure.
#[test]
fn a_truncated_file_is_named() {
    let stages = "\"halved\": (each: \"files\", do: \"files / 2\"),";
    let folder = case("type: \"f32[2]\"", stages);
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{header:<117}\n").bytes());
    bytes.extend(
        [2.0_f32, 4.0]
            .iter()
            .flat_map(|number| number.to_le_bytes()),
    );
    for (name, length) in [("a.npy", 136), ("b.npy", 135), ("c.npy", 136)] {
        fs::write(folder.path().join("data").join(name), &bytes[..length]).expect("a file");
    }
    let (status, _, stderr) = outcome(&mut run(&folder, &[]));
    assert_eq!(status, 1, "{stderr}");
    assert!(stderr.contains("b.npy`: it is truncated"), "{stderr}");
    assert!(written(&folder).is_empty());
    let (status, _, stderr) = outcome(&mut run(&folder, &["--keep-going"]));
    assert_eq!(status, 4, "{stderr}");
    let warnings = warnings(&stderr);
    assert_eq!(warnings.len(), 3, "{stderr}");
    assert!(warnings[0].starts_with("stage `halved`, item `b`, is skipped: input `files`: "));
    assert!(warnings[0].contains("b.npy`: it is truncated"), "{stderr}");
    assert_eq!(written(&folder), ["a.npy", "c.npy", "other.npy"]);
}

#[test]
fn tools_are_told_what_is_skipped() {
    let folder = unparsed("on_error: Skip,");
    let (status, stdout, stderr) = outcome(&mut run(&folder, &["--json", "--quiet"]));
    assert_eq!(status, 4, "{stderr}");
    let events = stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let events: Vec<serde_json::Value> = events.collect();
    let skipped = events.iter().filter(|event| event["event"] == "skipped");
    assert_eq!(skipped.count(), 4);
    let report = &events.last().expect("a report")["report"]["skipped_tasks"];
    let stages: Vec<_> = report
        .as_array()
        .expect("a list")
        .iter()
        .map(|task| &task["stage"])
        .collect();
    assert_eq!(stages, ["parsed", "halved", "all", "sum"]);
    assert_eq!(report[0]["item"], "b");
    assert_eq!(report[2]["item"], serde_json::Value::Null);
}
