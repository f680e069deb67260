//! Determinants, powers and norms.

use faer::Mat;
use haul_ir::op::Attrs;

use super::batch::{Results, Scalar};
use super::decompose::{Lu, singular_values};
use super::solve::inverse;

type Done = Result<(), &'static str>;

pub(super) fn det<T: Scalar>(inputs: &[Mat<T>], _: &Attrs, results: &mut Results<'_>) -> Done {
    let lu = Lu::of(&inputs[0]);
    let sign = T::of(if lu.is_odd() { -1.0 } else { 1.0 });
    let product = lu.pivots().fold(sign, |product, pivot| product * pivot);
    results.values(0, std::iter::once(product));
    Ok(())
}

pub(super) fn slogdet<T: Scalar>(inputs: &[Mat<T>], _: &Attrs, results: &mut Results<'_>) -> Done {
    let lu = Lu::of(&inputs[0]);
    let (mut sign, mut log) = (T::of(if lu.is_odd() { -1.0 } else { 1.0 }), 0.0);
    for pivot in lu.pivots() {
        let modulus = pivot.modulus();
        sign = match modulus > 0.0 {
            true => sign * pivot.scaled(1.0 / modulus),
            false => sign * pivot,
        };
        log += modulus.ln();
    }
    results.values(0, std::iter::once(sign));
    results.values(1, std::iter::once(log));
    Ok(())
}

pub(super) fn matrix_power<T: Scalar>(
    inputs: &[Mat<T>],
    attrs: &Attrs,
    results: &mut Results<'_>,
) -> Done {
    let exponent = attrs.int("n").unwrap_or(1);
    let mut square = match exponent < 0 {
        true => inverse(&inputs[0])?,
        false => inputs[0].clone(),
    };
    let mut power = Mat::identity(square.nrows(), square.ncols());
    let mut rest = exponent.unsigned_abs();
    while rest > 0 {
        if rest & 1 == 1 {
            power = &power * &square;
        }
        rest >>= 1;
        if rest > 0 {
            square = &square * &square;
        }
    }
    results.matrix(0, power.as_ref());
    Ok(())
}

/// The names of matrix norms.
pub(super) const NORMS: [&str; 8] = ["fro", "nuc", "1", "-1", "2", "-2", "inf", "-inf"];

pub(super) fn matrix_norm<T: Scalar>(
    inputs: &[Mat<T>],
    attrs: &Attrs,
    results: &mut Results<'_>,
) -> Done {
    let matrix = &inputs[0];
    let word = attrs.word("ord").unwrap_or("fro");
    let moduli = |row: Option<usize>, column: Option<usize>| {
        let rows = row.map_or(0..matrix.nrows(), |row| row..row + 1);
        let columns = column.map_or(0..matrix.ncols(), |column| column..column + 1);
        rows.flat_map(move |i| columns.clone().map(move |j| matrix[(i, j)].modulus()))
    };
    let columns = || (0..matrix.ncols()).map(|j| moduli(None, Some(j)).sum());
    let rows = || (0..matrix.nrows()).map(|i| moduli(Some(i), None).sum());
    let norm = match word {
        "1" => columns().fold(0.0, larger),
        "-1" => columns().fold(f64::INFINITY, smaller),
        "inf" => rows().fold(0.0, larger),
        "-inf" => rows().fold(f64::INFINITY, smaller),
        "nuc" => singular_values(matrix)?.iter().sum(),
        "2" => singular_values(matrix)?.into_iter().fold(0.0, larger),
        "-2" => singular_values(matrix)?
            .into_iter()
            .fold(f64::INFINITY, smaller),
        _ => frobenius(moduli(None, None)),
    };
    results.values(0, std::iter::once(norm));
    Ok(())
}

/// Scaled by the largest, so that no square overflows.
fn frobenius(moduli: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = moduli.clone().fold(0.0, larger);
    match largest.is_finite() && largest > 0.0 {
        true => {
            moduli
                .map(|value| (value / largest).powi(2))
                .sum::<f64>()
                .sqrt()
                * largest
        }
        false => largest,
    }
}

/// NaN where one of them is.
fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

fn smaller(a: f64, b: f64) -> f64 {
    if b < a || b.is_nan() { b } else { a }
}
