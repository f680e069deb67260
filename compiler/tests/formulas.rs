//! Formulas are grouped as Python groups them: `cases/formula/python.txt` is what Python's own
//! parser says (`python.py` beside it wrote it).

use haul_compiler::syntax::parse;

#[test]
fn grouped_as_python_does() {
    for case in include_str!("cases/formula/python.txt").lines() {
        let (formula, grouped) = case.split_once("  =>  ").expect("an arrow");
        let text = format!("Pipeline(version: 1, stages: {{\"a\": (do: \"{formula}\")}})");
        let (ast, mistakes) = parse(&text);
        assert_eq!(mistakes, [], "{formula}");
        let mut ast = ast.expect("no mistake");
        let body = ast.stages.remove(0).body.expect("no mistake");
        let statements: Vec<String> = body.statements.iter().map(ToString::to_string).collect();
        assert_eq!(statements, [grouped], "{formula}");
    }
}

#[test]
fn places_hold_through_escapes() {
    let text = r#"Pipeline(version: 1, stages: {"a": (do: "\u{e9} = 1\n\tx = '\x61' + \
        y[0]\n(z.é)")})"#;
    let (ast, mistakes) = parse(text);
    assert_eq!(mistakes, []);
    let body = ast
        .expect("no mistake")
        .stages
        .remove(0)
        .body
        .expect("no mistake");
    let places: Vec<&str> = body
        .statements
        .iter()
        .map(|statement| &text[statement.value.span.range()])
        .collect();
    assert_eq!(places, ["1", "'\\x61' + \\\n        y[0]", "(z.é)"]);
}
