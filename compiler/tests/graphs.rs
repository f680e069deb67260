//! What pipelines compile to, as text beside each case in `tests/cases/graphs`.

use std::fs;
use std::path::Path;

use crate::support::dump;
use haul_compiler::{Facts, check};

#[test]
fn graphs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/graphs");
    let entries = fs::read_dir(&folder).expect("the folder of cases is there");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("it lists").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ron"));
    paths.sort();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for path in paths {
        let text = fs::read_to_string(&path).expect("a case is a text");
        let name = path
            .file_stem()
            .expect("a case has a name")
            .to_string_lossy()
            .into_owned();
        let dumped = graph(&text);
        settings.bind(|| insta::assert_snapshot!(name, dumped));
    }
}

#[test]
fn pipelines_of_the_repository_compile() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pipelines");
    for entry in fs::read_dir(folder).expect("the folder of pipelines is there") {
        let path = entry.expect("it lists").path();
        if path.extension().is_some_and(|extension| extension == "ron") {
            let text = fs::read_to_string(&path).expect("a pipeline is a text");
            let checked = check(&text, haul_kernels::catalogue(), &Facts::default());
            assert_eq!(checked.diagnostics, [], "{}", path.display());
        }
    }
}

/// The graph of a pipeline that is fine.
fn graph(text: &str) -> String {
    let checked = check(text, haul_kernels::catalogue(), &Facts::default());
    assert_eq!(checked.diagnostics, [], "the case is fine");
    dump(&checked.typed.expect("what has no mistakes compiles"))
}
