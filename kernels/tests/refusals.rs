//! What calls are refused, by the shape rule or by what the data shows, and with which words.

use haul_ir::op::Example;
use haul_kernels::catalogue;

use crate::support::formula;
use crate::support::run::{Failure, run};

/// A formula, what its names stand for, and the message.
type Refusal = (
    &'static str,
    &'static [(&'static str, &'static str, &'static str)],
    &'static str,
);

const REFUSALS: &[Refusal] = &[
    (
        "eigh(x)",
        &[("x", "f64[2, 2]", "1 0 nan 1")],
        "it holds NaN or an infinity",
    ),
    (
        "svd(x)",
        &[("x", "f32[2, 1, 1]", "1 inf")],
        "matrix 1 of 2: it holds NaN or an infinity",
    ),
    (
        "cholesky(x)",
        &[("x", "f64[2, 2]", "1 2 2 1")],
        "it is not positive definite",
    ),
    (
        "solve(a, b)",
        &[("a", "f64[2, 2]", "1 2 2 4"), ("b", "f64[2]", "1 1")],
        "it is singular",
    ),
    ("inv(x)", &[("x", "f64[2, 2]", "0 0 0 0")], "it is singular"),
    (
        "triangular_solve(a, b)",
        &[("a", "f64[2, 2]", "1 2 2 0"), ("b", "f64[2]", "1 1")],
        "it is singular: there is a zero on its diagonal",
    ),
    (
        "solve(a, b)",
        &[("a", "f64[2, 2]", "1 2 3 4"), ("b", "f64[3]", "1 1 1")],
        "the right side has 3 rows, the matrix 2",
    ),
    (
        "det(x)",
        &[("x", "f64[1, 2]", "1 2")],
        "needs square matrices, this is 1 by 2",
    ),
    (
        "qr(x)",
        &[("x", "f64[2]", "1 2")],
        "needs matrices, that is two axes or more",
    ),
    (
        "det(x)",
        &[("x", "bool[1, 1]", "true")],
        "is not defined for bool",
    ),
    (
        "einsum('ij,jk->ik', a)",
        &[("a", "f64[1, 1]", "1")],
        "subscripts of 2 inputs for 1",
    ),
    (
        "einsum('ij->i', a)",
        &[("a", "f64[1]", "1")],
        "2 letters for 1 axes",
    ),
    (
        "einsum('i->ii', a)",
        &[("a", "f64[1]", "1")],
        "the result names `i` twice",
    ),
    (
        "einsum('i->j', a)",
        &[("a", "f64[1]", "1")],
        "the result names `j`, which no input has",
    ),
    (
        "einsum('1->', a)",
        &[("a", "f64[1]", "1")],
        "`1` is no letter",
    ),
    (
        "einsum('i,i->', a, b)",
        &[("a", "f64[2]", "1 2"), ("b", "f64[3]", "1 2 3")],
        "axes that are one have sizes 2 and 3",
    ),
    (
        "tensordot(a, a, axes=3)",
        &[("a", "f64[1, 1]", "1")],
        "the number of shared axes is 0 to 2",
    ),
    (
        "outer(a, b)",
        &[("a", "f64[1]", "1"), ("b", "f64[1, 1]", "1")],
        "needs vectors, this has 2 axes",
    ),
];

#[test]
fn refusals() {
    for (formula, given, wanted) in REFUSALS {
        let (name, _) = formula.split_once('(').expect("a call");
        let op = catalogue().find(name).expect("there is the op");
        let example = Example {
            formula,
            given,
            result: ("f64[]", "0"),
        };
        let (_, args, attrs) = formula::call(&example, op);
        let said = match run(op, &args, &attrs) {
            Ok(_) => "nothing".to_owned(),
            Err(Failure::Infer(error)) => error.message,
            Err(Failure::Kernel(error)) => error.to_string(),
        };
        assert_eq!(said, *wanted, "{formula}");
    }
}
