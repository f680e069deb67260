//! The ops. Flops are those of the usual algorithms: Golub and Van Loan, Matrix Computations, 4th
//! edition, sections 3.2, 4.2, 5.2, 7.5, 8.3 and 8.6.

use haul_ir::expr::Expr;
use haul_ir::op::{Example, Fault, InferError, Op, Param, ParamKind};

use super::batch::each;
use super::measure::NORMS;
use super::rules::Sizes;
use super::{Linalg, decompose, measure, solve};
use crate::ops::array_op::{attribute, required, tensor};

const X: Param = tensor("x");
const A: Param = tensor("a");
const B: Param = tensor("b");
const TOLERANCE: Param = attribute("tolerance", ParamKind::Numbers, "none");

fn cube(size: &Expr, numerator: i128, denominator: i128) -> Expr {
    (size * size * size).times_ratio(numerator, denominator)
}

/// `2/3 * k * k * (3*larger - k)` for a matrix whose smaller side is `k`: elimination takes half of
/// it, Householder vectors all.
fn elimination(sizes: &Sizes<'_>) -> Expr {
    let k = sizes.smaller();
    (&k * &k * (sizes.larger() * 3 - &k)).times_ratio(1, 3)
}

fn svd_flops(sizes: &Sizes<'_>) -> Expr {
    let k = sizes.smaller();
    sizes.larger() * &k * &k * 14 + cube(&k, 8, 1)
}

fn svdvals_flops(sizes: &Sizes<'_>) -> Expr {
    elimination(sizes) * 4
}

#[rustfmt::skip]
pub(crate) static OPS: &[&dyn Op] = &[
    &EIGH, &EIGVALSH, &EIGVALS, &SVD, &SVDVALS, &QR, &LU, &CHOLESKY,
    &SOLVE, &TRIANGULAR_SOLVE, &LSTSQ, &INV, &PINV,
    &DET, &SLOGDET, &MATRIX_POWER, &MATRIX_NORM,
];

static EIGH: Linalg = Linalg {
    name: "eigh",
    doc: "Eigenvalues in ascending order and eigenvectors, as columns, of symmetric or Hermitian \
          matrices: `values, vectors = eigh(x)`. Reads only the part on and below the diagonal. Of \
          each vector the first component that is not small (over 1/1000 of the largest) is real \
          and positive. Integers are computed in f64, halves in f32; f32 is computed in f64 and \
          rounded. NaN and infinities are an error when it runs.",
    params: &[X],
    rule: "[.., n, n] -> [.., n], [.., n, n]",
    results: |sizes| {
        let n = sizes.square()?;
        Ok(vec![sizes.each_real(&[n]), sizes.each(&[n, n])])
    },
    flops: |sizes| cube(&sizes.rows, 9, 1),
    work_formula: "9*n^3 flops a matrix, complex 36*n^3",
    kernel: each!(decompose::eigh),
    gpu: "cusolver syevd",
    examples: &[Example {
        formula: "values, vectors = eigh(x)",
        given: &[("x", "f64[2, 2]", "2 1 1 2")],
        result: ("f64[2]", "1 3"),
    }],
};

static EIGVALSH: Linalg = Linalg {
    name: "eigvalsh",
    doc: "Eigenvalues in ascending order of symmetric or Hermitian matrices, as `eigh`.",
    params: &[X],
    rule: "[.., n, n] -> [.., n]",
    results: |sizes| Ok(vec![sizes.each_real(&[sizes.square()?])]),
    flops: |sizes| cube(&sizes.rows, 4, 3),
    work_formula: "4/3*n^3 flops a matrix, complex 16/3*n^3",
    kernel: each!(decompose::eigvalsh),
    gpu: "cusolver syevd",
    examples: &[Example {
        formula: "eigvalsh(x)",
        given: &[("x", "f64[2, 2]", "2 1 1 2")],
        result: ("f64[2]", "1 3"),
    }],
};

static EIGVALS: Linalg = Linalg {
    name: "eigvals",
    doc: "Eigenvalues of square matrices, complex, ordered by real part and then by imaginary part. \
          NaN and infinities are an error when it runs.",
    params: &[X],
    rule: "[.., n, n] -> [.., n]",
    results: |sizes| Ok(vec![sizes.each_complex(&[sizes.square()?])]),
    flops: |sizes| cube(&sizes.rows, 10, 1),
    work_formula: "10*n^3 flops a matrix, complex 40*n^3",
    kernel: each!(decompose::eigvals),
    gpu: "cusolver geev",
    examples: &[Example {
        formula: "eigvals(x)",
        given: &[("x", "f64[2, 2]", "0 -1 1 0")],
        result: ("c128[2]", "0-1j 0+1j"),
    }],
};

static SVD: Linalg = Linalg {
    name: "svd",
    doc: "The singular value decomposition `x = (u * s[.., newaxis, :]) @ vh`: `u, s, vh = svd(x)`. \
          Singular values descend. With `full` the outer factors are square. Of each column of `u` \
          the first component that is not small (over 1/1000 of the largest) is real and positive. \
          Integers are computed in f64, halves in f32; f32 is computed in f64 and rounded. NaN and \
          infinities are an error when it runs.",
    params: &[X, attribute("full", ParamKind::Bool, "false")],
    rule: "[.., m, n] -> [.., m, k], [.., k], [.., k, n], k = min(m, n)",
    results: |sizes| {
        let k = &sizes.smaller();
        let (left, right) = match sizes.attrs.flag("full") {
            true => (&sizes.rows, &sizes.cols),
            false => (k, k),
        };
        let u = sizes.each(&[&sizes.rows, left]);
        Ok(vec![
            u,
            sizes.each_real(&[k]),
            sizes.each(&[right, &sizes.cols]),
        ])
    },
    flops: svd_flops,
    work_formula: "14*max*min^2 + 8*min^3 flops a matrix of sides min and max, complex four times",
    kernel: each!(decompose::svd),
    gpu: "cusolver gesvd",
    examples: &[Example {
        formula: "u, s, vh = svd(x)",
        given: &[("x", "f64[2, 2]", "3 0 0 -2")],
        result: ("f64[2, 2]", "1 0 0 1"),
    }],
};

static SVDVALS: Linalg = Linalg {
    name: "svdvals",
    doc: "Singular values in descending order, as `svd`.",
    params: &[X],
    rule: "[.., m, n] -> [.., min(m, n)]",
    results: |sizes| Ok(vec![sizes.each_real(&[&sizes.smaller()])]),
    flops: svdvals_flops,
    work_formula: "4/3*min^2*(3*max - min) flops a matrix of sides min and max, complex four times",
    kernel: each!(decompose::svdvals),
    gpu: "cusolver gesvd",
    examples: &[Example {
        formula: "svdvals(x)",
        given: &[("x", "f64[2, 2]", "3 0 0 -2")],
        result: ("f64[2]", "3 2"),
    }],
};

static QR: Linalg = Linalg {
    name: "qr",
    doc: "The reduced QR decomposition `x = q @ r`: `q, r = qr(x)`. The columns of `q` are \
          orthonormal, `r` is upper triangular, its diagonal real and not negative. f32 is computed \
          in f64 and rounded.",
    params: &[X],
    rule: "[.., m, n] -> [.., m, k], [.., k, n], k = min(m, n)",
    results: |sizes| {
        let k = &sizes.smaller();
        Ok(vec![
            sizes.each(&[&sizes.rows, k]),
            sizes.each(&[k, &sizes.cols]),
        ])
    },
    flops: |sizes| elimination(sizes) * 4,
    work_formula: "4/3*min^2*(3*max - min) flops a matrix of sides min and max, complex four times",
    kernel: each!(decompose::qr),
    gpu: "cusolver geqrf",
    examples: &[Example {
        formula: "q, r = qr(x)",
        given: &[("x", "f64[2, 2]", "0 -2 3 4")],
        result: ("f64[2, 2]", "0 -1 1 0"),
    }],
};

static LU: Linalg = Linalg {
    name: "lu",
    doc: "Gaussian elimination with partial pivoting, `x = p @ l @ u`: `p, l, u = lu(x)`. `p` is a \
          permutation matrix, `l` lower triangular with ones on the diagonal, `u` upper triangular. \
          f32 is computed in f64 and rounded.",
    params: &[X],
    rule: "[.., m, n] -> [.., m, m], [.., m, k], [.., k, n], k = min(m, n)",
    results: |sizes| {
        let (m, k) = (&sizes.rows, &sizes.smaller());
        Ok(vec![
            sizes.each(&[m, m]),
            sizes.each(&[m, k]),
            sizes.each(&[k, &sizes.cols]),
        ])
    },
    flops: elimination,
    work_formula: "1/3*min^2*(3*max - min) flops a matrix of sides min and max, complex four times",
    kernel: each!(decompose::lu),
    gpu: "cusolver getrf",
    examples: &[Example {
        formula: "p, l, u = lu(x)",
        given: &[("x", "f64[2, 2]", "1 2 4 6")],
        result: ("f64[2, 2]", "0 1 1 0"),
    }],
};

static CHOLESKY: Linalg = Linalg {
    name: "cholesky",
    doc: "The lower triangular `l` with `x = l @ l^H` of symmetric or Hermitian positive definite \
          matrices; reads only the part on and below the diagonal. A matrix that is not positive \
          definite is an error when it runs. f32 is computed in f64 and rounded.",
    params: &[X],
    rule: "[.., n, n] -> [.., n, n]",
    results: |sizes| {
        let n = sizes.square()?;
        Ok(vec![sizes.each(&[n, n])])
    },
    flops: |sizes| cube(&sizes.rows, 1, 3),
    work_formula: "1/3*n^3 flops a matrix, complex 4/3*n^3",
    kernel: each!(decompose::cholesky),
    gpu: "cusolver potrf",
    examples: &[Example {
        formula: "cholesky(x)",
        given: &[("x", "f64[2, 2]", "4 2 2 10")],
        result: ("f64[2, 2]", "2 0 1 3"),
    }],
};

static SOLVE: Linalg = Linalg {
    name: "solve",
    doc: "The `x` with `a @ x = b` for square `a`, by elimination with partial pivoting. `b` is a \
          vector if it has one axis, else matrices; other axes broadcast. A singular matrix is an \
          error when it runs. f32 is computed in f64 and rounded.",
    params: &[A, B],
    rule: "[.., n, n], [.., n, k] -> [.., n, k]; [.., n, n], [n] -> [.., n]",
    results: |sizes| {
        sizes.square()?;
        Ok(vec![sizes.solution()?])
    },
    flops: |sizes| {
        let n = &sizes.rows;
        cube(n, 2, 3) + n * n * &sizes.right * 2
    },
    work_formula: "2/3*n^3 + 2*n^2*k flops a matrix, complex four times",
    kernel: each!(solve::solve),
    gpu: "cusolver getrs",
    examples: &[Example {
        formula: "solve(a, b)",
        given: &[("a", "f64[2, 2]", "2 0 1 1"), ("b", "f64[2]", "4 5")],
        result: ("f64[2]", "2 3"),
    }],
};

static TRIANGULAR_SOLVE: Linalg = Linalg {
    name: "triangular_solve",
    doc: "The `x` with `a @ x = b` for triangular `a`: the part above the diagonal, or with `lower` \
          that below; the other part is not read, with `unit` neither is the diagonal, taken as \
          ones. A zero on the diagonal is an error when it runs.",
    params: &[
        A,
        B,
        attribute("lower", ParamKind::Bool, "false"),
        attribute("unit", ParamKind::Bool, "false"),
    ],
    rule: "[.., n, n], [.., n, k] -> [.., n, k]; [.., n, n], [n] -> [.., n]",
    results: |sizes| {
        sizes.square()?;
        Ok(vec![sizes.solution()?])
    },
    flops: |sizes| &sizes.rows * &sizes.rows * &sizes.right,
    work_formula: "n^2*k flops a matrix, complex 4*n^2*k",
    kernel: each!(solve::triangular_solve),
    gpu: "cublas trsm",
    examples: &[Example {
        formula: "triangular_solve(a, b, lower=true)",
        given: &[("a", "f64[2, 2]", "2 9 1 4"), ("b", "f64[2]", "4 10")],
        result: ("f64[2]", "2 2"),
    }],
};

static LSTSQ: Linalg = Linalg {
    name: "lstsq",
    doc: "The `x` that makes `a @ x - b` least in the 2-norm, of all such the least one, by singular \
          values. Those that are at most `tolerance` of the largest count as zero; by default \
          max(m, n) times the distance from 1 to the next number of the dtype.",
    params: &[A, B, TOLERANCE],
    rule: "[.., m, n], [.., m, k] -> [.., n, k]; [.., m, n], [m] -> [.., n]",
    results: |sizes| Ok(vec![sizes.solution()?]),
    flops: |sizes| {
        svd_flops(sizes) + &sizes.rows * &sizes.cols * (sizes.smaller() + &sizes.right) * 2
    },
    work_formula: "those of svd and 2*m*n*(min + k) flops a matrix, complex four times",
    kernel: each!(solve::lstsq),
    gpu: "cusolver gels",
    examples: &[Example {
        formula: "lstsq(a, b)",
        given: &[("a", "f64[3, 1]", "1 1 1"), ("b", "f64[3]", "1 2 6")],
        result: ("f64[1]", "3"),
    }],
};

static INV: Linalg = Linalg {
    name: "inv",
    doc: "The inverse of square matrices. A singular matrix is an error when it runs. To solve \
          equations, `solve` is faster and more exact.",
    params: &[X],
    rule: "[.., n, n] -> [.., n, n]",
    results: |sizes| {
        let n = sizes.square()?;
        Ok(vec![sizes.each(&[n, n])])
    },
    flops: |sizes| cube(&sizes.rows, 8, 3),
    work_formula: "8/3*n^3 flops a matrix, complex 32/3*n^3",
    kernel: each!(solve::inv),
    gpu: "cusolver getrs",
    examples: &[Example {
        formula: "inv(x)",
        given: &[("x", "f64[2, 2]", "2 0 0 4")],
        result: ("f64[2, 2]", "0.5 0 0 0.25"),
    }],
};

static PINV: Linalg = Linalg {
    name: "pinv",
    doc: "The Moore-Penrose inverse, by singular values. Those that are at most `tolerance` of the \
          largest count as zero; by default max(m, n) times the distance from 1 to the next number \
          of the dtype.",
    params: &[X, TOLERANCE],
    rule: "[.., m, n] -> [.., n, m]",
    results: |sizes| Ok(vec![sizes.each(&[&sizes.cols, &sizes.rows])]),
    flops: |sizes| svd_flops(sizes) + &sizes.rows * &sizes.cols * sizes.smaller() * 2,
    work_formula: "those of svd and 2*m*n*min flops a matrix, complex four times",
    kernel: each!(solve::pinv),
    gpu: "cusolver gesvd",
    examples: &[Example {
        formula: "pinv(x)",
        given: &[("x", "f64[1, 2]", "3 4")],
        result: ("f64[2, 1]", "0.12 0.16"),
    }],
};

static DET: Linalg = Linalg {
    name: "det",
    doc: "The determinant of square matrices, by elimination; of an empty matrix it is 1.",
    params: &[X],
    rule: "[.., n, n] -> [..]",
    results: |sizes| {
        sizes.square()?;
        Ok(vec![sizes.each(&[])])
    },
    flops: |sizes| cube(&sizes.rows, 2, 3),
    work_formula: "2/3*n^3 flops a matrix, complex 8/3*n^3",
    kernel: each!(measure::det),
    gpu: "cusolver getrf",
    examples: &[Example {
        formula: "det(x)",
        given: &[("x", "f64[2, 2]", "1 2 4 6")],
        result: ("f64[]", "-2"),
    }],
};

static SLOGDET: Linalg = Linalg {
    name: "slogdet",
    doc: "The sign, or for complex numbers the phase, of the determinant and the natural logarithm \
          of its modulus: `sign, log = slogdet(x)`. Of a singular matrix they are 0 and -inf.",
    params: &[X],
    rule: "[.., n, n] -> [..], [..]",
    results: |sizes| {
        sizes.square()?;
        Ok(vec![sizes.each(&[]), sizes.each_real(&[])])
    },
    flops: |sizes| cube(&sizes.rows, 2, 3),
    work_formula: "2/3*n^3 flops a matrix, complex 8/3*n^3",
    kernel: each!(measure::slogdet),
    gpu: "cusolver getrf",
    examples: &[Example {
        formula: "sign_of, log_of = slogdet(x)",
        given: &[("x", "f64[2, 2]", "1 2 4 6")],
        result: ("f64[]", "-1"),
    }],
};

static MATRIX_POWER: Linalg = Linalg {
    name: "matrix_power",
    doc: "The product of `n` times the same square matrix, by repeated squaring; of its inverse for \
          a negative `n`, the identity for 0. Integers are computed in f64.",
    params: &[X, required("n", ParamKind::Int)],
    rule: "[.., n, n] -> [.., n, n]",
    results: |sizes| {
        let n = sizes.square()?;
        if sizes.attrs.int("n").is_none() {
            let message = "the exponent is a known whole number";
            return Err(InferError::new(Fault::Value, message).on_attr("n"));
        }
        Ok(vec![sizes.each(&[n, n])])
    },
    flops: |sizes| {
        let exponent = sizes.attrs.int("n").unwrap_or(1);
        let bits = exponent.unsigned_abs();
        let products = match bits {
            0 => 0,
            _ => bits.ilog2() + bits.count_ones(),
        };
        let inverse = if exponent < 0 {
            cube(&sizes.rows, 8, 3)
        } else {
            Expr::ZERO
        };
        cube(&sizes.rows, 2 * i128::from(products), 1) + inverse
    },
    work_formula: "2*n^3 flops a product, of which there are as many as the exponent has binary \
                   digits and ones, less one",
    kernel: each!(measure::matrix_power),
    gpu: "cublas gemm",
    examples: &[Example {
        formula: "matrix_power(x, 3)",
        given: &[("x", "f64[2, 2]", "1 1 0 1")],
        result: ("f64[2, 2]", "1 3 0 1"),
    }],
};

static MATRIX_NORM: Linalg = Linalg {
    name: "matrix_norm",
    doc: "A norm of matrices: 'fro' the root of the sum of squares, 'nuc' the sum of singular \
          values, '2' and '-2' the largest and least singular value, '1' and '-1' the largest and \
          least sum of moduli of a column, 'inf' and '-inf' of a row.",
    params: &[X, attribute("ord", ParamKind::Word(&NORMS), "'fro'")],
    rule: "[.., m, n] -> [..]",
    results: |sizes| Ok(vec![sizes.each_real(&[])]),
    flops: |sizes| match sizes.attrs.word("ord") {
        Some("nuc" | "2" | "-2") => svdvals_flops(sizes),
        _ => &sizes.rows * &sizes.cols * 2,
    },
    work_formula: "2*m*n flops a matrix, or those of svdvals, complex four times",
    kernel: each!(measure::matrix_norm),
    gpu: "cusolver gesvd",
    examples: &[
        Example {
            formula: "matrix_norm(x)",
            given: &[("x", "f64[2, 2]", "1 2 4 -2")],
            result: ("f64[]", "5"),
        },
        Example {
            formula: "matrix_norm(x, ord='1')",
            given: &[("x", "f64[2, 2]", "1 2 4 -2")],
            result: ("f64[]", "5"),
        },
    ],
};
