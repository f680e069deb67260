//! Holds the architecture, and that lists and docs agree.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

use crate::support::{files, read, relative, root};
use haul_compiler::diagnostics::codes::{INTERNAL, codes};
use haul_ir::op::{Param, ParamKind};

/// `compiler`, `kernels` and `executor` depend on `ir` and not on each other.
#[test]
fn the_crates_are_a_star() {
    for (krate, allowed) in [
        ("ir", vec![]),
        ("compiler", vec!["haul-ir"]),
        ("kernels", vec!["haul-ir"]),
        ("executor", vec!["haul-ir"]),
    ] {
        let manifest = read(&root().join(krate).join("Cargo.toml"));
        let lines = manifest
            .lines()
            .skip_while(|line| *line != "[dependencies]");
        let ours = lines
            .skip(1)
            .take_while(|line| !line.starts_with('['))
            .filter_map(|line| line.split(['.', ' ', '=']).next())
            .filter(|name| name.starts_with("haul-"));
        assert_eq!(ours.collect::<Vec<_>>(), allowed, "dependencies of {krate}");
    }
}

/// No dependency needs a newer Rust than the one that this project says it needs.
#[test]
fn the_rust_version_is_enough_for_all_dependencies() {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.args([
        "metadata",
        "--format-version=1",
        "--all-features",
        "--locked",
    ]);
    let output = cargo.current_dir(root()).output().expect("cargo runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let version = |package: &serde_json::Value| -> Option<Vec<u32>> {
        let parts = package["rust_version"].as_str()?.split('.');
        parts.take(2).map(|part| part.parse().ok()).collect()
    };
    let ours = packages.iter().find(|package| package["name"] == "haul");
    let ours = ours.and_then(version).expect("a rust-version");
    let newer = packages
        .iter()
        .filter(|package| version(package) > Some(ours.clone()));
    let newer: Vec<_> = newer.map(|package| &package["id"]).collect();
    assert!(
        newer.is_empty(),
        "{newer:?} need a newer Rust than {ours:?}"
    );
}

#[test]
fn every_op_is_documented_and_has_an_example_and_a_reference_case() {
    let cases = reference_ops();
    let mut without_case = Vec::new();
    for op in haul_kernels::catalogue().0 {
        let name = op.name();
        assert!(!op.doc().is_empty(), "{name} has no doc");
        assert!(!op.work_formula().is_empty(), "{name} has no work formula");
        assert!(!op.examples().is_empty(), "{name} has no example");
        // The reference cases hold tensors; ops of text and collections have tests of their own.
        let of_tensors = |param: &Param| {
            use ParamKind::{Collection, Size, Text, Value};
            !matches!(param.kind, Text | Value | Collection | Size)
        };
        if op.params().iter().all(of_tensors) && !cases.contains(name) {
            without_case.push(name);
        }
    }
    assert!(
        without_case.is_empty(),
        "no case in kernels/tests/reference for {without_case:?}"
    );
}

#[test]
fn every_diagnostic_has_a_case() {
    let folders = ["tests", "compiler/tests", "executor/tests"].map(|folder| root().join(folder));
    let existing = folders.iter().filter(|folder| folder.is_dir());
    let all: String = existing
        .flat_map(|folder| ["ron", "rs", "snap"].map(|ending| files(folder, ending)))
        .flatten()
        .map(|path| read(&path))
        .collect();
    let missing: Vec<_> = codes()
        // A mistake of haul itself, which nobody knows how to cause.
        .filter(|info| info.code != INTERNAL)
        .map(|info| info.code.0)
        .filter(|code| !all.contains(code))
        .collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}

/// Each way in which a run can fail is shown by tests that are there.
#[test]
fn every_failure_in_the_book_has_a_test() {
    let page = read(&root().join("docs/running.md"));
    let after = page.split("## What goes wrong").nth(1);
    let table = after.and_then(|text| text.split("\n## ").next());
    let rows = table
        .expect("the table")
        .lines()
        .filter(|line| line.starts_with("| "));
    for row in rows.skip(2) {
        let cells: Vec<_> = row.trim_matches(['|', ' ']).split(" | ").collect();
        let [what, _, tests] = cells[..] else {
            panic!("{row}: what happens, what you get, and the tests that show it");
        };
        assert!(!tests.is_empty(), "{what}: no test shows it");
        for test in tests.split(", ") {
            let named = test.trim_matches('`').split_once(": ");
            let (file, test) =
                named.unwrap_or_else(|| panic!("{what}: {test}: write `file: test`"));
            let text = read(&root().join(file));
            assert!(
                text.contains(&format!("fn {test}()")),
                "{what}: no {test} in {file}"
            );
        }
    }
}

#[test]
fn paths_in_docs_exist() {
    for page in pages() {
        let text = read(&page);
        let prose = without_blocks(&text);
        for path in links(&prose) {
            let target = page.parent().expect("a page is in a folder").join(path);
            assert!(
                target.exists(),
                "{}: {path} does not exist",
                relative(&page)
            );
        }
        for path in quoted_paths(&prose) {
            assert!(
                root().join(path).exists(),
                "{}: {path} does not exist",
                relative(&page)
            );
        }
    }
}

fn reference_ops() -> HashSet<String> {
    let folder = root().join("kernels/tests/reference");
    let mut ops = HashSet::new();
    for path in files(&folder, ".json") {
        let cases: serde_json::Value = serde_json::from_str(&read(&path)).expect("JSON");
        let cases = cases.as_array().expect("a list of cases");
        ops.extend(
            cases
                .iter()
                .filter_map(|case| Some(case["op"].as_str()?.to_owned())),
        );
    }
    ops
}

fn pages() -> Vec<std::path::PathBuf> {
    let mut pages = files(&root().join("docs"), ".md");
    pages.extend(["README.md", "pipelines/README.md"].map(|path| root().join(path)));
    pages
}

fn without_blocks(markdown: &str) -> String {
    let mut inside = false;
    let outside = |line: &&str| {
        let fence = line.starts_with("```");
        inside ^= fence;
        !inside && !fence
    };
    markdown
        .lines()
        .filter(outside)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Where `[text](path)` points, if it is in the repository.
fn links(markdown: &str) -> impl Iterator<Item = &str> {
    let targets = markdown
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let targets = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    targets.map(|target| target.split('#').next().unwrap_or(target))
}

/// Quoted words that begin with a folder of the repository: `ir/src/op.rs`.
fn quoted_paths(markdown: &str) -> impl Iterator<Item = &str> {
    let quoted = markdown.split('`').skip(1).step_by(2);
    quoted.filter(|word| {
        let Some((folder, rest)) = word.split_once('/') else {
            return false;
        };
        let plain = !rest.contains(['<', '*', '{', ' ']) && !rest.ends_with(".npy");
        !folder.is_empty() && plain && Path::new(&root().join(folder)).is_dir()
    })
}
