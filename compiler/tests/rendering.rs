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
