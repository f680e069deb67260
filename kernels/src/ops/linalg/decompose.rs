//! Decompositions. Vectors whose sign is free get the sign that makes them unique.

use faer::linalg::solvers::{PartialPivLu, SolveCore};
use faer::{Mat, MatRef, Side};
use haul_ir::op::Attrs;

use super::batch::{Results, Scalar};

const NOT_FINITE: &str = "it holds NaN or an infinity";
const NOT_CONVERGED: &str = "the iteration does not converge";

type Done = Result<(), &'static str>;

pub(super) fn finite<T: Scalar>(matrix: &Mat<T>) -> Done {
    let mut columns = matrix.col_iter().flat_map(|column| column.iter());
    match columns.all(|value| Scalar::is_finite(*value)) {
        true => Ok(()),
        false => Err(NOT_FINITE),
    }
}

pub(super) fn eigh<T: Scalar>(inputs: &[Mat<T>], _: &Attrs, results: &mut Results<'_>) -> Done {
    finite(&inputs[0])?;
    let decomposed = inputs[0]
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| NOT_CONVERGED)?;
    let mut vectors = decomposed.U().to_owned();
    for column in 0..vectors.ncols() {
        let phase = phase(vectors.as_ref(), column);
        turn(&mut vectors, column, phase);
    }
    results.values(
        0,
        decomposed
            .S()
            .column_vector()
            .iter()
            .map(|value| real(*value)),
    );
    results.matrix(1, vectors.as_ref());
    Ok(())
}

pub(super) fn eigvalsh<T: Scalar>(inputs: &[Mat<T>], _: &Attrs, results: &mut Results<'_>) -> Done {
    finite(&inputs[0])?;
    let values = inputs[0]
        .self_adjoint_eigenvalues(Side::Lower)
        .map_err(|_| NOT_CONVERGED)?;
    results.values(0, values.into_iter());
    Ok(())
}

pub(super) fn eigvals<T: Scalar>(inputs: &[Mat<T>], _: &Attrs, results: &mut Results<'_>) -> Done {
    finite(&inputs[0])?;
    let mut values = T::eigenvalues(&inputs[0]).ok_or(NOT_CONVERGED)?;
    values.sort_by(|a, b| a.re.total_cmp(&b.re).then(a.im.total_cmp(&b.im)));
    results.values(0, values.into_iter());
    Ok(())
}

/// `x = u @ diag(s) @ vh`.
pub(super) struct Svd<T> {
    pub(super) u: Mat<T>,
    pub(super) s: Vec<f64>,
    pub(super) v: Mat<T>,
}

impl<T: Scalar> Svd<T> {
    pub(super) fn of(matrix: &Mat<T>, full: bool) -> Result<Self, &'static str> {
        finite(matrix)?;
        let decomposed = if full {
            matrix.svd()
        } else {
            matrix.thin_svd()
        };
        let decomposed = decomposed.map_err(|_| NOT_CONVERGED)?;
        let (mut u, mut v) = (decomposed.U().to_owned(), decomposed.V().to_owned());
        let values = decomposed.S().column_vector();
        let s: Vec<f64> = values.iter().map(|value| real(*value)).collect();
        for column in 0..s.len() {
            let phase = phase(u.as_ref(), column);
            turn(&mut u, column, phase);
            turn(&mut v, column, phase);
        }
        Ok(Self { u, s, v })
    }
}

pub(super) fn svd<T: Scalar>(inputs: &[Mat<T>], attrs: &Attrs, results: &mut Results<'_>) -> Done {
    let Svd { u, s, v } = Svd::of(&inputs[0], attrs.flag("full"))?;
    results.matrix(0, u.as_ref());
    results.values(1, s.into_iter());
    results.matrix(2, v.adjoint().to_owned().as_ref());
    Ok(())
}

pub(super) fn singular_values<T: Scalar>(matrix: &Mat<T>) -> Result<Vec<f64>, &'static str> {
    finite(matrix)?;
    matrix.singular_values().map_err(|_| NOT_CONVERGED)
}

pub(super) fn svdvals<T: Scalar>(inputs: &[Mat<T>], _: &Attrs, results: &mut Results<'_>) -> Done {
    results.values(0, singular_values(&inputs[0])?.into_iter());
    Ok(())
}

pub(super) fn qr<T: Scalar>(inputs: &[Mat<T>], _: &Attrs, results: &mut Results<'_>) -> Done {
    let decomposed = inputs[0].qr();
    let (mut q, mut r) = (decomposed.compute_thin_Q(), decomposed.thin_R().to_owned());
    for row in 0..r.nrows() {
        let diagonal = r[(row, row)];
        let modulus = diagonal.modulus();
        if modulus > 0.0 && modulus.is_finite() {
            let phase = diagonal.scaled(1.0 / modulus);
            (0..q.nrows()).for_each(|i| q[(i, row)] *= phase);
            (row..r.ncols()).for_each(|j| r[(row, j)] *= phase.conjugate());
        }
    }
    results.matrix(0, q.as_ref());
    results.matrix(1, r.as_ref());
    Ok(())
}

pub(super) fn cholesky<T: Scalar>(inputs: &[Mat<T>], _: &Attrs, results: &mut Results<'_>) -> Done {
    let decomposed = inputs[0].llt(Side::Lower);
    let decomposed = decomposed.map_err(|_| "it is not positive definite")?;
    results.matrix(0, lower(decomposed.L(), false).as_ref());
    Ok(())
}

/// `x = p @ l @ u`: row `i` of `l @ u` is row `rows[i]` of `x`.
pub(super) struct Lu<T> {
    pub(super) rows: Vec<usize>,
    pub(super) l: Mat<T>,
    pub(super) u: Mat<T>,
    fast: Option<PartialPivLu<T>>,
}

impl<T: Scalar> Lu<T> {
    pub(super) fn of(matrix: &Mat<T>) -> Self {
        let fast = matrix.partial_piv_lu();
        let (l, u) = (fast.L(), fast.U());
        let pivots = 0..l.ncols().min(u.nrows());
        if pivots.clone().any(|k| u[(k, k)] == T::of(0.0)) {
            return Self::of_singular(matrix);
        }
        Self {
            rows: fast.P().arrays().0.to_vec(),
            l: lower(l, true),
            u: upper(u),
            fast: Some(fast),
        }
    }

    /// By plain elimination, which goes on below a pivot of zero where there is nothing to do.
    fn of_singular(matrix: &Mat<T>) -> Self {
        let (rows, cols) = (matrix.nrows(), matrix.ncols());
        let mut work = matrix.clone();
        let mut order: Vec<usize> = (0..rows).collect();
        for k in 0..rows.min(cols) {
            let larger = |best: usize, i: usize| {
                let is_larger = work[(i, k)].modulus() > work[(best, k)].modulus();
                if is_larger { i } else { best }
            };
            let pivot = (k + 1..rows).fold(k, larger);
            if pivot != k {
                order.swap(k, pivot);
                for j in 0..cols {
                    let above = work[(k, j)];
                    work[(k, j)] = work[(pivot, j)];
                    work[(pivot, j)] = above;
                }
            }
            if work[(k, k)] == T::of(0.0) {
                continue;
            }
            for i in k + 1..rows {
                work[(i, k)] = work[(i, k)] / work[(k, k)];
            }
            for j in k + 1..cols {
                for i in k + 1..rows {
                    work[(i, j)] = work[(i, j)] - work[(i, k)] * work[(k, j)];
                }
            }
        }
        let inner = rows.min(cols);
        Self {
            rows: order,
            l: lower(work.subcols(0, inner), true),
            u: upper(work.subrows(0, inner)),
            fast: None,
        }
    }

    /// Whether the rows are an odd permutation of those of the matrix.
    pub(super) fn is_odd(&self) -> bool {
        let mut seen = vec![false; self.rows.len()];
        let mut odd = false;
        for start in 0..self.rows.len() {
            let mut at = self.rows[start];
            while !seen[start] && at != start {
                seen[at] = true;
                odd = !odd;
                at = self.rows[at];
            }
            seen[start] = true;
        }
        odd
    }

    pub(super) fn pivots(&self) -> impl Iterator<Item = T> {
        (0..self.u.nrows().min(self.u.ncols())).map(|k| self.u[(k, k)])
    }

    /// Replaces the right side by the solution.
    pub(super) fn solve(&self, right: &mut Mat<T>) -> Done {
        let fast = self.fast.as_ref().ok_or("it is singular")?;
        fast.solve_in_place_with_conj(faer::Conj::No, right.as_mut());
        Ok(())
    }
}

pub(super) fn lu<T: Scalar>(inputs: &[Mat<T>], _: &Attrs, results: &mut Results<'_>) -> Done {
    let Lu { rows, l, u, .. } = Lu::of(&inputs[0]);
    let mut p = Mat::zeros(rows.len(), rows.len());
    rows.iter()
        .enumerate()
        .for_each(|(i, row)| p[(*row, i)] = T::of(1.0));
    results.matrix(0, p.as_ref());
    results.matrix(1, l.as_ref());
    results.matrix(2, u.as_ref());
    Ok(())
}

/// The part on and below the diagonal; with ones on it where asked.
fn lower<T: Scalar>(matrix: MatRef<'_, T>, unit: bool) -> Mat<T> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => T::of(0.0),
        std::cmp::Ordering::Equal if unit => T::of(1.0),
        _ => matrix[(i, j)],
    })
}

fn upper<T: Scalar>(matrix: MatRef<'_, T>) -> Mat<T> {
    let zero = T::of(0.0);
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| {
        if i > j { zero } else { matrix[(i, j)] }
    })
}

fn real<T: Scalar>(value: T) -> f64 {
    faer::traits::math_utils::real(&value)
}

/// The phase of the first component of a column that is not small beside the largest.
fn phase<T: Scalar>(vectors: MatRef<'_, T>, column: usize) -> T {
    let moduli = || (0..vectors.nrows()).map(|i| vectors[(i, column)].modulus());
    let largest = moduli().fold(0.0, f64::max);
    match moduli().position(|modulus| modulus > largest / 1000.0) {
        Some(first) => {
            let component = vectors[(first, column)];
            component.scaled(1.0 / component.modulus())
        }
        None => T::of(1.0),
    }
}

/// Divides a column by a phase.
fn turn<T: Scalar>(vectors: &mut Mat<T>, column: usize, phase: T) {
    let back = phase.conjugate();
    (0..vectors.nrows()).for_each(|i| vectors[(i, column)] *= back);
}
