//! The example of every op is a pipeline that computes what the catalogue says.

use std::fs;

use haul_compiler::render::example;
use haul_ir::op::Example;

use crate::support::{haul, outcome};

#[test]
fn examples_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut wrong = String::new();
    for op in haul_kernels::catalogue().0 {
        // There is no constant of text, nor of a table.
        let is_constant = |ty: &str| !ty.contains("text") && !ty.contains(['?', '{']);
        let are_constants =
            |example: &&Example| example.given.iter().all(|(_, ty, _)| is_constant(ty));
        let Some(shown) = op.examples().first().filter(are_constants) else {
            continue;
        };
        let file = folder.path().join(format!("{}.ron", op.name()));
        fs::write(&file, example(shown)).expect("a file");
        let (_, printed, trouble) = outcome(haul().arg("run").arg(&file).arg("--quiet"));
        if !agrees(shown, &printed) {
            wrong += &format!(
                "{}: {trouble}{printed}instead of {:?}\n",
                op.name(),
                shown.result
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Whether a preview of the result shows its type and its first elements.
fn agrees(shown: &Example, printed: &str) -> bool {
    let (ty, elements) = shown.result;
    let Some((title, first)) = printed.split_once('\n') else {
        return false;
    };
    let first: Vec<_> = first
        .split_whitespace()
        .filter(|word| *word != "…")
        .collect();
    let elements: Vec<_> = elements.split_whitespace().collect();
    let count = elements.len().min(16);
    title == format!("result {ty}")
        && first.len() == count
        && first
            .iter()
            .zip(&elements)
            .all(|(got, want)| is_near(got, want))
}

/// Examples are written with six digits or so.
fn is_near(got: &str, want: &str) -> bool {
    match (complex(got), complex(want)) {
        (Some(got), Some(want)) => {
            got == want || (got - want).norm() <= 1e-5 * want.norm().max(1.0)
        }
        _ => got == want || got.eq_ignore_ascii_case(want),
    }
}

fn complex(text: &str) -> Option<num_complex::Complex<f64>> {
    let number: num_complex::Complex<f64> = text.parse().ok()?;
    (!number.is_nan()).then_some(number)
}
