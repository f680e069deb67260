//! How diagnostics look, as text and as JSON.

use haul_compiler::diagnostics::{render, render_json};
use haul_compiler::syntax::parse;

const TEXT: &str = r#"Pipeline(
    version: 1,
    inputs: { "x": Npy(path: "data/x.npy", type: "f32[batch, 784]") },
    stages: {
        "probabilities": (cpu: 2, do: "
            h = relu(x @ w.T
            softmax(h, axis=1) ** 2 ** = 3
            0 < h < 1
        "),
        "probabilities": (do: "x"),
        "mean": (memory: "3 gigs", do: "x"),
        "größe": (vram: "0.1 GiB", gpus: -1, do: "x")
    },
)
"#;

#[test]
fn text() {
    insta::with_settings!({omit_expression => true}, {
        insta::assert_snapshot!(render(&parse(TEXT).1, "mlp.ron", TEXT, false));
    });
}

#[test]
fn json() {
    insta::with_settings!({omit_expression => true}, {
        insta::assert_snapshot!(render_json(&parse(TEXT).1, "mlp.ron", TEXT));
    });
}

#[test]
fn colour_is_only_escapes() {
    let mistakes = parse(TEXT).1;
    let colored = render(&mistakes, "mlp.ron", TEXT, true);
    let mut plain = String::new();
    for (at, part) in colored.split('\u{1b}').enumerate() {
        plain.push_str(if at == 0 {
            part
        } else {
            part.split_once('m').expect("an escape").1
        });
    }
    assert!(colored.contains('\u{1b}'));
    assert_eq!(plain, render(&mistakes, "mlp.ron", TEXT, false));
}

#[test]
fn many_are_counted() {
    let stages: String = (0..150)
        .map(|at| format!("\"s{at}\": (do: \"(\"),\n"))
        .collect();
    let text = format!("Pipeline(version: 1, stages: {{\n{stages}}})");
    let rendered = render(&parse(&text).1, "many.ron", &text, false);
    assert_eq!(rendered.matches("error[").count(), 100);
    assert!(rendered.ends_with("and 50 more\n"));
}

#[test]
fn far_labels_stand_apart() {
    let lines = "\n".repeat(500);
    let text =
        format!("Pipeline(version: 1, stages: {{\"a\": (do: \"1\"),{lines}\"a\": (do: \"2\")}})");
    insta::with_settings!({omit_expression => true}, {
        insta::assert_snapshot!(render(&parse(&text).1, "far.ron", &text, false));
    });
}

#[test]
fn long_lines_are_cut_around_the_place() {
    let filling = format!("/* {} */", "é".repeat(500_000));
    let starts = |rest: &str| format!("Pipeline(version: 1, {filling}{rest}");
    // `Pipeline(version: 1, ` and the comment are 21 and 500_006 characters.
    let cases = [
        (
            starts("stages: {\"a\": (cpu: 2, do: \"1\")})"),
            500_043,
            "cpu: 2, do",
        ),
        (
            starts("stages: {\"a\": (do: \"1\")})").replace("do: \"1\"", "do: \"1"),
            500_047,
            "do: \"1",
        ),
        (
            format!("Pipeline(version: 1, stages: {{\"{}", "é".repeat(500_000)),
            31,
            "stages: {\"é",
        ),
    ];
    for (text, column, shown) in cases {
        let (_, mistakes) = haul_compiler::syntax::parse(&text);
        assert!(!mistakes.is_empty());
        let rendered = render(&mistakes[..1], "p.ron", &text, false);
        assert!(rendered.len() < 5_000, "{} bytes", rendered.len());
        assert!(
            rendered.contains(&format!("p.ron:1:{column}\n")),
            "{rendered}"
        );
        assert!(rendered.contains(shown), "{rendered}");
    }
}
