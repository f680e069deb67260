//! Pipelines with something changed: whatever it is, checking ends with a graph or an error, and
//! never with a panic.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use haul_compiler::diagnostics::codes::INTERNAL;
use haul_compiler::{Facts, check};
use haul_ir::diagnostic::Severity;
use proptest::prelude::*;

/// Pipelines that are fine, and such as are not.
static SEEDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        "../pipelines",
        "tests/cases/graphs",
        "tests/cases/resolve",
        "tests/cases/infer",
    ];
    let mut paths: Vec<_> = folders
        .iter()
        .flat_map(|folder| fs::read_dir(root.join(folder)).expect("the folder is there"))
        .map(|entry| entry.expect("it lists").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ron"))
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| fs::read_to_string(path).expect("it is a text"))
        .collect()
});

/// What takes the place of a word or sign.
const PIECES: [&str; 40] = [
    "",
    "0",
    "1",
    "-1",
    "2",
    "0.5",
    "1e308",
    "4294967296",
    "9223372036854775807",
    "n",
    "x",
    "files",
    "pi",
    "nan",
    "none",
    "true",
    "'same'",
    "'f32[n, 8]'",
    "f16",
    "u64",
    "i8",
    "bool",
    "c64",
    "text",
    "sum",
    "gather",
    "stack",
    "reshape",
    "matmul",
    "+",
    "/",
    "//",
    "%",
    "**",
    "@",
    "[0]",
    "[:, newaxis]",
    ".T",
    ",",
    "(",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_pipeline_is_checked(
        seed in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(&PIECES[..]), any::<bool>()), 1..4),
    ) {
        let mut text = seed.get(&SEEDS).clone();
        for (at, piece, replaces) in changes {
            let words = words(&text);
            let (start, end) = *at.get(&words);
            let end = if replaces { end } else { start };
            text.replace_range(start..end, piece);
        }
        let checked = check(&text, haul_kernels::catalogue(), &Facts::default());
        let errors = checked.diagnostics.iter().filter(|d| d.severity == Severity::Error);
        prop_assert_eq!(checked.typed.is_none(), errors.count() > 0, "{}", text);
        prop_assert!(checked.diagnostics.iter().all(|d| d.code != INTERNAL), "{:?}\n{}", checked.diagnostics, text);
        for diagnostic in &checked.diagnostics {
            let labels = diagnostic.labels.iter().chain([&diagnostic.primary]);
            for label in labels {
                prop_assert!(text.get(label.span.range()).is_some(), "{:?}\n{}", diagnostic, text);
            }
        }
    }
}

/// Where words, numbers and signs are.
fn words(text: &str) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut start = 0;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for (at, c) in text.char_indices() {
        let ends_here = at > start && !(is_word(c) && text[start..at].chars().all(is_word));
        if ends_here {
            words.push((start, at));
            start = at;
        }
    }
    words.push((start, text.len()));
    words.retain(|(start, end)| !text[*start..*end].trim().is_empty());
    words
}
