//! Whatever the text, it is read to an end, and every place is in it.

use haul_compiler::diagnostics::{render, render_json};
use haul_compiler::syntax::{MAX_FILE, parse};
use haul_ir::diagnostic::{Diagnostic, Span};
use proptest::prelude::*;
use proptest::sample::Index;

const EVERYTHING: &str = include_str!("cases/syntax/everything.ron");
const FORMULAS: &str = include_str!("cases/syntax/formulas.ron");

/// One edit of a text: at a place, so many characters go, and others come.
#[derive(Clone, Debug)]
struct Edit {
    at: Index,
    removed: usize,
    inserted: String,
}

fn edit() -> impl Strategy<Value = Edit> {
    let mark = prop::sample::select(vec![
        "(", ")", "[", "]", "{", "}", "\"", "'", ",", ":", "=", "\\", "/*", "*/", "//", "#", "\n",
        "r#\"", "b\"", "::", "..", "é", "\u{feff}", "1e", "-", "**", " . ", "T", "Some(", "#![",
    ]);
    let inserted = prop_oneof![
        Just(String::new()),
        mark.prop_map(str::to_owned),
        "[ -~\n]{0,3}",
        "\\PC{0,3}",
    ];
    (any::<Index>(), 0..20usize, inserted).prop_map(|(at, removed, inserted)| Edit {
        at,
        removed,
        inserted,
    })
}

fn edited(text: &str, edits: &[Edit]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for Edit {
        at,
        removed,
        inserted,
    } in edits
    {
        let start = at.index(chars.len() + 1);
        let end = (start + removed).min(chars.len());
        chars.splice(start..end, inserted.chars());
    }
    chars.into_iter().collect()
}

fn check(text: &str) {
    let (ast, mistakes) = parse(text);
    assert!(
        ast.is_some() || !mistakes.is_empty(),
        "refused without a word"
    );
    mistakes
        .iter()
        .for_each(|mistake| check_places(text, mistake));
    let starts = mistakes.iter().map(|mistake| mistake.primary.span.start);
    assert!(starts.is_sorted(), "not in file order");
    let shown = mistakes.len().min(100);
    let rendered = render(&mistakes, "a.ron", text, false);
    assert!(rendered.matches("[E01").count() >= shown);
    assert_eq!(
        render_json(&mistakes, "a.ron", text).lines().count(),
        mistakes.len()
    );
}

fn check_places(text: &str, mistake: &Diagnostic) {
    let fix = mistake.fix.iter().map(|fix| fix.span);
    let labels = mistake.labels.iter().map(|label| label.span);
    for Span { start, end } in labels.chain(fix).chain([mistake.primary.span]) {
        assert!(
            start <= end && text.get(start..end).is_some(),
            "{mistake:?} is outside"
        );
    }
}

proptest! {
    #[test]
    fn edited_files_are_read(edits in prop::collection::vec(edit(), 1..8)) {
        check(&edited(EVERYTHING, &edits));
        check(&edited(FORMULAS, &edits));
    }

    #[test]
    fn cut_off_files_are_read(at in any::<Index>()) {
        check(&EVERYTHING[..EVERYTHING.floor_char_boundary(at.index(EVERYTHING.len()))]);
    }

    #[test]
    fn any_formula_is_read(formula in "[-+*/@a-zT0-9.,:=()\\[\\]' \n<|&~%^]{0,60}") {
        check(&format!("Pipeline(version: 1, stages: {{\"a\": (do: \"{formula}\")}})"));
    }
}

#[test]
fn nesting_is_bounded() {
    for (open, close) in [
        ("[", "]"),
        ("(", ")"),
        ("{", "}"),
        ("A(", ")"),
        ("/*", "*/"),
        ("\"", ""),
    ] {
        check(&open.repeat(200_000));
        check(&close.repeat(200_000));
        check(&(open.repeat(200_000) + &close.repeat(200_000)));
    }
    for part in [
        "(", "[", "f(", "x[", "-", "~", "2 ** ", "x.", "1 + ", "1 < ", "a, ", "(\n", "'",
    ] {
        check(&format!(
            "Pipeline(version: 1, stages: {{\"a\": (do: \"{}\")}})",
            part.repeat(100_000)
        ));
    }
}

#[test]
fn many_mistakes_are_told() {
    let many = |entry: &dyn Fn(usize) -> String| (0..100_000).map(entry).collect::<String>();
    let fields = many(&|at| format!("f{at}: 1, "));
    let functions = many(&|at| format!("\"f{at}()\": \"1\", "));
    let twice = many(&|at| format!("\"s{}\": (do: \"1\"),\n", at % 99_900));
    check(&format!(
        "Pipeline(version: 1, stages: {{\"a\": ({fields})}})"
    ));
    check(&format!(
        "Pipeline(version: 1, functions: {{{functions}}}, stages: {{{twice}}})"
    ));
    check(&format!(
        "Pipeline(version: 1, {}: 1)",
        "v".repeat(1_000_000)
    ));
}

#[test]
fn many_stages_are_read() {
    let stage = |at: usize| format!("\"s{at}\": (cpus: 1, do: \"x = s{at} @ w.T\\nsum(x)\"),\n");
    let stages: String = (0..100_000).map(stage).collect();
    let (ast, mistakes) = parse(&format!("Pipeline(version: 1, stages: {{\n{stages}}})"));
    assert_eq!(mistakes, []);
    assert_eq!(ast.expect("no mistake").stages.len(), 100_000);
}

#[test]
fn large_files_and_calls_are_refused() {
    let too_many = format!("Pipeline(version: 1, stages: [{}])", "1,".repeat(4_000_001));
    let call = format!(
        "Pipeline(version: 1, stages: {{\"a\": (do: \"f({})\")}})",
        "1,".repeat(257)
    );
    for text in ["x".repeat(MAX_FILE + 1), too_many, call] {
        let codes: Vec<_> = parse(&text)
            .1
            .iter()
            .map(|mistake| mistake.code.0)
            .collect();
        assert_eq!(codes, ["E0102"]);
    }
}
