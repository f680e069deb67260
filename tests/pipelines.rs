//! Every pipeline of the repository: its plans are as committed, and it yields what NumPy yields.

use std::fs;
use std::path::Path;

use crate::support::arrays::{Array, read_array};
use crate::support::{self, files, read, root, stdout};
use haul_compiler::{Facts, check};

/// If what differs is meant: `haul snapshot --accept`.
#[test]
fn plans_are_as_committed() {
    let kept = support::outcome(support::haul().args(["snapshot", "--check"]));
    assert_eq!(kept, (0, String::new(), String::new()));
}

#[test]
fn results_are_as_expected() {
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    copy(
        &root().join("pipelines/data"),
        &elsewhere.path().join("data"),
    );
    for pipeline in files(&root().join("pipelines"), ".ron") {
        let name = pipeline
            .file_stem()
            .expect("a file")
            .to_string_lossy()
            .into_owned();
        let here = elsewhere.path().join(format!("{name}.ron"));
        fs::copy(&pipeline, &here).expect("a copy");
        stdout(support::haul().arg("run").arg(&here).arg("--quiet"));
        compare(&name, &read(&pipeline), elsewhere.path());
    }
}

/// Compares every output of a pipeline with the expected array beside it.
fn compare(pipeline: &str, text: &str, folder: &Path) {
    let expected = root().join("pipelines/expected").join(pipeline);
    let tolerances: serde_json::Value =
        serde_json::from_str(&read(&expected.join("tolerance.json"))).expect("JSON");
    let checked = check(text, haul_kernels::catalogue(), &Facts::default());
    let typed = checked
        .typed
        .expect("a pipeline of the repository compiles");
    for output in &typed.graph().outputs {
        let got = read_array(&folder.join(&output.sink.path));
        let want = read_array(&expected.join(format!("{}.npy", output.name)));
        let tolerance = &tolerances[&output.name];
        if let Err(difference) = agree(&got, &want, tolerance) {
            panic!("{pipeline}, output {}: {difference}", output.name);
        }
    }
}

/// As `scripts/expected.py` says: `|got - want| <= atol + rtol |want|` for all elements but the
/// fraction `mismatches`.
fn agree(got: &Array, want: &Array, tolerance: &serde_json::Value) -> Result<(), String> {
    if got.shape != want.shape {
        return Err(format!("shape {:?} instead of {:?}", got.shape, want.shape));
    }
    let number = |name: &str| {
        tolerance[name]
            .as_f64()
            .expect("a number in tolerance.json")
    };
    let (rtol, atol, mismatches) = (number("rtol"), number("atol"), number("mismatches"));
    let pairs = got.elements.iter().zip(&want.elements);
    let far = |(got, want): &(&f64, &f64)| {
        !((*got - *want).abs() <= atol + rtol * want.abs() || got.is_nan() && want.is_nan())
    };
    let different: Vec<_> = pairs.enumerate().filter(|(_, pair)| far(pair)).collect();
    if different.len() as f64 <= mismatches * want.elements.len() as f64 {
        return Ok(());
    }
    let (count, all) = (different.len(), want.elements.len());
    let (at, (got, want)) = different[0];
    Err(format!(
        "{count} of {all} elements differ; the first, {at}, is {got} instead of {want}"
    ))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder of the repository") {
        let path = entry.expect("an entry of the repository").path();
        let target = to.join(path.file_name().expect("an entry has a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("a copy");
        }
    }
}
