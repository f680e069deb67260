//! Formulas are grouped as Python groups them: `cases/formula/python.txt` is what Python's own
//! parser says (`python.py` beside it wrote it).

use haul_compiler::syntax::ast::{Spanned, TypeKind};
use haul_compiler::syntax::{parse, parse_type};
use haul_ir::diagnostic::Span;
use haul_ir::dtype::DType;

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

#[test]
fn types_in_formulas_have_places() {
    let written = Spanned::new("f32[n, 8]".to_owned(), Span::new(10, 19));
    let ty = parse_type(&written).expect("it is a type");
    let TypeKind::Tensor { dtype, dims } = ty.kind else {
        panic!("not a tensor")
    };
    assert_eq!((dtype.value, dtype.span), (DType::F32, Span::new(10, 13)));
    assert_eq!(dims[1].span, Span::new(17, 18));
    let quoted = Spanned::new("f31[n]".to_owned(), Span::new(10, 18));
    let refused = parse_type(&quoted);
    assert_eq!(
        refused.expect_err("no dtype")[0].primary.span,
        Span::new(11, 14)
    );
}
