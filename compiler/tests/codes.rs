//! The examples of the codes that checking a file can give.

use haul_compiler::diagnostics::codes::{CodeInfo, codes};
use haul_compiler::{Facts, check};
use haul_ir::diagnostic::{Code, Severity};

/// Codes of checking a file alone that have a whole pipeline as example.
fn examples() -> impl Iterator<Item = &'static CodeInfo> {
    let of_check = |name: &str| {
        let group = ["E01", "E02", "W02"]
            .iter()
            .any(|group| name.starts_with(group));
        group || ("E0301"..="E0309").contains(&name)
    };
    codes().filter(move |info| of_check(info.code.0) && info.wrong.starts_with("Pipeline("))
}

#[test]
fn wrong_examples_have_the_mistake() {
    for info in examples() {
        let found = found(info.wrong);
        assert!(
            found.iter().any(|(code, _)| *code == info.code),
            "{} of {}",
            info.code,
            info.wrong
        );
    }
}

#[test]
fn right_examples_have_no_mistake() {
    for info in examples() {
        let found = found(info.right);
        let of_example = found
            .iter()
            .any(|(code, severity)| *code == info.code || *severity == Severity::Error);
        assert!(!of_example, "{}: {found:?} of {}", info.code, info.right);
    }
}

#[test]
fn codes_ascend() {
    let all: Vec<_> = codes().map(|info| info.code).collect();
    assert!(all.is_sorted_by(|a, b| a < b), "{all:?}");
}

fn found(text: &str) -> Vec<(Code, Severity)> {
    let checked = check(text, haul_kernels::catalogue(), &Facts::default());
    let diagnostics = checked.diagnostics.iter();
    diagnostics
        .map(|diagnostic| (diagnostic.code, diagnostic.severity))
        .collect()
}
