//! Systems of equations.

use faer::Mat;
use haul_ir::op::Attrs;

use super::batch::{Results, Scalar};
use super::decompose::{Lu, Svd};

type Done = Result<(), &'static str>;

pub(super) fn solve<T: Scalar>(inputs: &[Mat<T>], _: &Attrs, results: &mut Results<'_>) -> Done {
    let mut right = inputs[1].clone();
    Lu::of(&inputs[0]).solve(&mut right)?;
    results.matrix(0, right.as_ref());
    Ok(())
}

pub(super) fn inverse<T: Scalar>(matrix: &Mat<T>) -> Result<Mat<T>, &'static str> {
    let mut right = Mat::identity(matrix.nrows(), matrix.nrows());
    Lu::of(matrix).solve(&mut right)?;
    Ok(right)
}

pub(super) fn inv<T: Scalar>(inputs: &[Mat<T>], _: &Attrs, results: &mut Results<'_>) -> Done {
    results.matrix(0, inverse(&inputs[0])?.as_ref());
    Ok(())
}

pub(super) fn triangular_solve<T: Scalar>(
    inputs: &[Mat<T>],
    attrs: &Attrs,
    results: &mut Results<'_>,
) -> Done {
    let (matrix, mut right) = (&inputs[0], inputs[1].clone());
    let unit = attrs.flag("unit");
    if !unit && (0..matrix.nrows()).any(|k| matrix[(k, k)] == T::of(0.0)) {
        return Err("it is singular: there is a zero on its diagonal");
    }
    match (attrs.flag("lower"), unit) {
        (true, true) => matrix
            .as_ref()
            .solve_unit_lower_triangular_in_place(right.as_mut()),
        (true, false) => matrix
            .as_ref()
            .solve_lower_triangular_in_place(right.as_mut()),
        (false, true) => matrix
            .as_ref()
            .solve_unit_upper_triangular_in_place(right.as_mut()),
        (false, false) => matrix
            .as_ref()
            .solve_upper_triangular_in_place(right.as_mut()),
    }
    results.matrix(0, right.as_ref());
    Ok(())
}

pub(super) fn lstsq<T: Scalar>(
    inputs: &[Mat<T>],
    attrs: &Attrs,
    results: &mut Results<'_>,
) -> Done {
    let solution = pseudoinverse(&inputs[0], attrs, results.epsilon(0))? * &inputs[1];
    results.matrix(0, solution.as_ref());
    Ok(())
}

pub(super) fn pinv<T: Scalar>(inputs: &[Mat<T>], attrs: &Attrs, results: &mut Results<'_>) -> Done {
    results.matrix(
        0,
        pseudoinverse(&inputs[0], attrs, results.epsilon(0))?.as_ref(),
    );
    Ok(())
}

/// Of the singular values that are larger than `tolerance` of the largest.
fn pseudoinverse<T: Scalar>(
    matrix: &Mat<T>,
    attrs: &Attrs,
    epsilon: f64,
) -> Result<Mat<T>, &'static str> {
    let Svd { u, s, v } = Svd::of(matrix, false)?;
    let given = attrs
        .numbers("tolerance")
        .and_then(|numbers| numbers.first().copied());
    let size = matrix.nrows().max(matrix.ncols()) as f64;
    let tolerance = given.unwrap_or(size * epsilon) * s.first().copied().unwrap_or(0.0);
    let scaled = Mat::from_fn(v.nrows(), s.len(), |i, j| match s[j] > tolerance {
        true => v[(i, j)].scaled(1.0 / s[j]),
        false => T::of(0.0),
    });
    Ok(scaled * u.adjoint())
}
