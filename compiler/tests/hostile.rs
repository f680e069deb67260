//! Pipelines that want too much: they end in a diagnostic, soon.

use haul_compiler::{Facts, check};

/// A pipeline with these functions and this formula.
fn pipeline(functions: &[(String, String)], formula: &str) -> String {
    let functions: String = functions
        .iter()
        .map(|(name, body)| format!("\"{name}\": \"{body}\", "))
        .collect();
    format!(
        "Pipeline(version: 1, functions: {{{functions}}}, stages: {{\"s\": (do: \"{formula}\")}})"
    )
}

fn codes(text: &str) -> Vec<&'static str> {
    let checked = check(text, haul_kernels::catalogue(), &Facts::default());
    checked
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code.0)
        .collect()
}

#[test]
fn functions_that_double_each_other() {
    let name = |level: usize| format!("g{level}");
    let mut functions = vec![("g0(x)".to_owned(), "sum(x[newaxis])".to_owned())];
    for level in 1..60 {
        let before = name(level - 1);
        functions.push((
            format!("{}(x)", name(level)),
            format!("{before}({before}(x))"),
        ));
    }
    assert_eq!(codes(&pipeline(&functions, "g59(f32(1))")), ["E0212"]);
}

#[test]
fn functions_that_call_each_other_deep() {
    let mut functions = vec![("g0(x)".to_owned(), "x".to_owned())];
    for level in 1..10_000 {
        functions.push((format!("g{level}(x)"), format!("g{}(x)", level - 1)));
    }
    assert_eq!(codes(&pipeline(&functions, "g9999(1)")), ["E0212"]);
}

#[test]
fn functions_with_tall_expressions_in_each_other() {
    // 250 operations stand on the call in each of ten functions.
    let tall = |inner: &str| format!("{inner}{}", " + 1".repeat(250));
    let mut functions = vec![("g0(x)".to_owned(), tall("x"))];
    for level in 1..10 {
        functions.push((format!("g{level}(x)"), tall(&format!("g{}(x)", level - 1))));
    }
    assert_eq!(codes(&pipeline(&functions, "g9(1)")), ["E0212"]);
}

#[test]
fn sizes_that_grow() {
    let text = "Pipeline(version: 1, stages: {\"s\": (do: \"2 ** 200\")})";
    assert_eq!(codes(text), ["E0209"]);
    let text =
        "Pipeline(version: 1, dims: {\"n\": (plan: 2)}, stages: {\"s\": (do: \"n ** 1000000\")})";
    assert_eq!(codes(text), ["E0209"]);
}

#[test]
fn numbers_that_grow() {
    let lines: String = (1..1_000)
        .map(|line| format!("\n x{line} = sqrt(x{})", line - 1))
        .collect();
    let formula = format!("x0 = 2{lines}");
    assert_eq!(codes(&pipeline(&[], &formula)), ["E0209"]);
    let lines: String = (1..1_000)
        .map(|line| format!("\n x{line} = (x{} + 1) // 2", line - 1))
        .collect();
    let text = pipeline(&[], &format!("x0 = n{lines}"));
    let text = text.replace("functions: {}", "dims: {\"n\": (plan: 2)}");
    assert_eq!(codes(&text), ["E0209"]);
}

#[test]
fn ten_thousand_stages_in_a_chain_and_a_fan() {
    let mut stages = String::from("\"s0\": (do: \"x\"), ");
    for stage in 1..10_000 {
        let before = stage - 1;
        stages += &format!("\"s{stage}\": (do: \"y = s{before} * 2\\ny + s0\"), ");
    }
    let text = format!(
        "Pipeline(version: 1, inputs: {{\"x\": Random(seed: 1, type: \"f32[n, 4]\")}}, stages: {{{stages}}})"
    );
    let checked = check(&text, haul_kernels::catalogue(), &Facts::default());
    assert_eq!(checked.diagnostics, []);
    let typed = checked.typed.expect("it is fine");
    assert_eq!(typed.graph().stages.len(), 10_000);
}

#[test]
fn a_cycle_of_ten_thousand_stages() {
    let mut stages = String::new();
    for stage in 0..10_000 {
        let next = (stage + 1) % 10_000;
        stages += &format!("\"s{stage}\": (do: \"s{next} * 2\"), ");
    }
    assert_eq!(
        codes(&format!("Pipeline(version: 1, stages: {{{stages}}})")),
        ["E0210"]
    );
}
