//! Symbolic expressions against plain integer arithmetic.

use haul_ir::expr::{EvalError, Expr, Symbol};
use proptest::prelude::*;

fn symbol(name: &str) -> Expr {
    Expr::symbol(Symbol::new(name))
}

/// An expression beside the plain arithmetic that it stands for.
#[derive(Clone, Debug)]
enum Tree {
    Int(i8),
    A,
    B,
    Add(Box<Tree>, Box<Tree>),
    Sub(Box<Tree>, Box<Tree>),
    Mul(Box<Tree>, Box<Tree>),
    FloorDiv(Box<Tree>, Box<Tree>),
    Mod(Box<Tree>, Box<Tree>),
    Min(Box<Tree>, Box<Tree>),
    Max(Box<Tree>, Box<Tree>),
}

impl Tree {
    fn expr(&self) -> Expr {
        match self {
            Tree::Int(n) => Expr::from(i128::from(*n)),
            Tree::A => symbol("a"),
            Tree::B => symbol("b"),
            Tree::Add(x, y) => x.expr() + y.expr(),
            Tree::Sub(x, y) => x.expr() - y.expr(),
            Tree::Mul(x, y) => x.expr() * y.expr(),
            Tree::FloorDiv(x, y) => x.expr().floor_div(&y.expr()),
            Tree::Mod(x, y) => x.expr().modulo(&y.expr()),
            Tree::Min(x, y) => x.expr().smaller(&y.expr()),
            Tree::Max(x, y) => x.expr().larger(&y.expr()),
        }
    }

    /// By i128 and Python's division; nothing where a division by zero is on the way.
    fn value(&self, a: i128, b: i128) -> Option<i128> {
        let floor = |x: i128, y: i128| {
            if y == 0 {
                None
            } else {
                Some(x.div_euclid(y) - i128::from(y < 0 && x.rem_euclid(y) != 0))
            }
        };
        Some(match self {
            Tree::Int(n) => i128::from(*n),
            Tree::A => a,
            Tree::B => b,
            Tree::Add(x, y) => x.value(a, b)? + y.value(a, b)?,
            Tree::Sub(x, y) => x.value(a, b)? - y.value(a, b)?,
            Tree::Mul(x, y) => x.value(a, b)?.checked_mul(y.value(a, b)?)?,
            Tree::FloorDiv(x, y) => floor(x.value(a, b)?, y.value(a, b)?)?,
            Tree::Mod(x, y) => {
                let (x, y) = (x.value(a, b)?, y.value(a, b)?);
                x - floor(x, y)? * y
            }
            Tree::Min(x, y) => x.value(a, b)?.min(y.value(a, b)?),
            Tree::Max(x, y) => x.value(a, b)?.max(y.value(a, b)?),
        })
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        any::<i8>().prop_map(Tree::Int),
        Just(Tree::A),
        Just(Tree::B)
    ];
    leaf.prop_recursive(4, 24, 2, |inner| {
        let pair = || {
            (
                inner.clone().prop_map(Box::new),
                inner.clone().prop_map(Box::new),
            )
        };
        prop_oneof![
            pair().prop_map(|(x, y)| Tree::Add(x, y)),
            pair().prop_map(|(x, y)| Tree::Sub(x, y)),
            pair().prop_map(|(x, y)| Tree::Mul(x, y)),
            pair().prop_map(|(x, y)| Tree::FloorDiv(x, y)),
            pair().prop_map(|(x, y)| Tree::Mod(x, y)),
            pair().prop_map(|(x, y)| Tree::Min(x, y)),
            pair().prop_map(|(x, y)| Tree::Max(x, y)),
        ]
    })
}

proptest! {
    #[test]
    fn evaluates_to_what_plain_arithmetic_gives(tree in trees(), a in 0..10_000_i128, b in 0..50_i128) {
        let expr = tree.expr();
        let Some(expected) = tree.value(a, b) else { return Ok(()) };
        let of = |s: &Symbol| Some(if s.name() == "a" { a } else { b });
        if !expr.is_overflow() {
            match expr.eval(&of) {
                Ok(value) => prop_assert_eq!(value, expected, "{}", expr),
                // The canonical form multiplies out, so it can be larger on the way.
                Err(error) => prop_assert_eq!(error, EvalError::Overflow),
            }
            let bound = expr.bind(&|s| Some(Expr::from(if s.name() == "a" { a } else { b })));
            if let Some(value) = bound.as_int() {
                prop_assert_eq!(value, expected, "{} bound", expr);
            }
        }
    }
}

#[test]
fn equal_polynomials_are_equal() {
    let (n, m) = (symbol("n"), symbol("m"));
    assert_eq!(&n + &n, &n * 2);
    assert_eq!((&n + &m) * (&n - &m), &n * &n - &m * &m);
    assert_eq!((&n * 6).floor_div(&Expr::from(3_u64)), &n * 2);
    assert_eq!(n.larger(&(&n - 1)), n);
    assert_ne!(n, m);
}

#[test]
fn prints_as_authors_write() {
    let (b, n) = (symbol("B"), symbol("n"));
    let cases = [
        (&b * 131_072 + 65_536, "131072*B + 65536"),
        (&n * &b * 2 - 1, "2*B*n - 1"),
        (-&n, "-n"),
        (&n * &n, "n*n"),
        (n.floor_div(&Expr::from(2_u64)), "(n // 2)"),
        ((&n * n.log2()).times_ratio(5, 2), "5/2*n*log2(n)"),
        (Expr::ZERO, "0"),
    ];
    for (expr, text) in cases {
        assert_eq!(expr.to_string(), text);
    }
}

#[test]
fn rounds_once() {
    // 5 * 1000 * log2(1000) = 5000 * 9.965784284662087 = 49828.92...
    let n = symbol("n");
    let flops = &n * n.log2() * 5;
    assert_eq!(flops.eval(&|_| Some(1000)), Ok(49_829));
    // A half goes up: 7 / 2 = 3.5.
    assert_eq!(n.times_ratio(1, 2).eval(&|_| Some(7)), Ok(4));
    assert_eq!(Expr::from(1_024_u64).log2(), Expr::from(10_u64));
}

#[test]
fn the_most_negative_number_is_too_large() {
    let n = symbol("n");
    assert!((&n * Expr::from(i128::MIN)).is_overflow());
    assert!((&n * Expr::from(i128::MIN / 2) * 2).is_overflow());
    let printed = (&n * Expr::from(i128::MIN + 1)).to_string();
    assert_eq!(printed, "-170141183460469231731687303715884105727*n");
}

#[test]
fn what_has_no_value_says_why() {
    let n = symbol("n");
    let huge = Expr::from(i128::MAX);
    assert_eq!(n.eval(&|_| None), Err(EvalError::Unbound(Symbol::new("n"))));
    assert_eq!((&huge + 1).eval(&|_| None), Err(EvalError::Overflow));
    assert_eq!((&huge * &n).eval(&|_| Some(2)), Err(EvalError::Overflow));
    assert_eq!(
        n.floor_div(&n.modulo(&n)).eval(&|_| Some(3)),
        Err(EvalError::Undefined)
    );
}

#[test]
fn stays_small() {
    // Each step doubles what is written out: after a hundred there are 2^100 symbols.
    let mut doubled = symbol("n");
    for _ in 0..100 {
        doubled = doubled.floor_div(&(&doubled + 1));
    }
    assert!(doubled.is_overflow());
    // A chain is as deep as it is long.
    let mut deep = symbol("n");
    for _ in 0..100_000 {
        deep = (deep + 1).floor_div(&Expr::from(2_u64));
    }
    assert!(deep.is_overflow());
}

#[test]
fn divisions_print_what_they_divide() {
    let (n, k) = (symbol("n"), symbol("k"));
    let hop = Expr::from(160_u64);
    assert_eq!((&n - 400).floor_div(&hop).to_string(), "((n - 400) // 160)");
    assert_eq!((&n * 3).floor_div(&hop).to_string(), "(3*n // 160)");
    assert_eq!(n.floor_div(&(&k * 2)).to_string(), "(n // (2*k))");
    assert_eq!(n.modulo(&(&k + 1)).to_string(), "(n % (k + 1))");
}
