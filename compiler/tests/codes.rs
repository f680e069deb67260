//! The table of codes: in order, each with examples that are true and a case that shows it.

use std::fs;
use std::path::Path;

use haul_compiler::diagnostics::codes::{codes, explain};
use haul_compiler::syntax::parse;

#[test]
fn ascending() {
    let names: Vec<&str> = codes().map(|info| info.code.0).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
}

#[test]
fn found_by_name() {
    let info = explain("e0106").expect("it is in the table");
    assert_eq!(info.code.0, "E0106");
    assert!(explain("E9999").is_none());
}

#[test]
fn examples_are_true() {
    let syntax = codes().filter(|info| info.code.0.starts_with("E01"));
    for info in syntax.filter(|info| info.wrong.starts_with("Pipeline(")) {
        let found: Vec<_> = parse(info.wrong)
            .1
            .iter()
            .map(|mistake| mistake.code)
            .collect();
        assert!(found.contains(&info.code), "{}: {found:?}", info.code);
        assert_eq!(parse(info.right).1, [], "{}", info.code);
    }
}

#[test]
fn every_code_of_the_syntax_has_a_case() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/syntax");
    let entries = fs::read_dir(folder).expect("the folder of cases is there");
    let cases: String = entries
        .map(|entry| fs::read_to_string(entry.expect("it lists").path()).expect("a text"))
        .collect();
    // A file that is too large is made in `hostile.rs`.
    let syntax = codes().filter(|info| info.code.0.starts_with("E01") && info.code.0 != "E0102");
    for info in syntax {
        assert!(
            cases.contains(&format!("error: {}", info.code)),
            "no case of {}",
            info.code
        );
    }
}
