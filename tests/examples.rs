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
        let shown = op.examples().first().expect("an op has an example");
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

/// Whether a preview of the result shows its type and its first elements; of a table, row by row.
fn agrees(shown: &Example, printed: &str) -> bool {
    let (ty, elements) = shown.result;
    let Some((title, first)) = printed.split_once('\n') else {
        return false;
    };
    let columns: Vec<Vec<_>> = elements.split(';').map(words).collect();
    let wanted = match ty.split_once('{') {
        None if ty == "text" => words(elements),
        None => columns.concat().into_iter().take(16).collect(),
        Some((_, columns_ty)) => {
            let names = columns_ty
                .split(", ")
                .filter_map(|column| column.split(':').next());
            let rows = 0..columns[0].len();
            let cells = rows.flat_map(|row| columns.iter().map(move |column| column[row]));
            names.chain(cells).collect()
        }
    };
    let found: Vec<_> = first
        .lines()
        .flat_map(words)
        .filter(|word| *word != "…")
        .collect();
    title == format!("result {ty}")
        && found.len() == wanted.len()
        && found
            .iter()
            .zip(&wanted)
            .all(|(got, want)| is_near(got, want))
}

/// Words, where those in quotes may hold blanks.
fn words(line: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let words = line.split(move |letter: char| {
        is_quoted ^= letter == '\'';
        letter == ' ' && !is_quoted
    });
    words.filter(|word| !word.is_empty()).collect()
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
