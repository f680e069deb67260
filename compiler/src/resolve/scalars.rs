//! Weakly typed scalars: exact arithmetic of whole numbers and sizes, `f64` for the rest.

use haul_ir::diagnostic::Code;
use haul_ir::dtype::Kind;
use haul_ir::expr::Expr;
use haul_ir::graph::Scalar;
use haul_ir::op::{ArgType, Attrs, Call, Op};

use crate::diagnostics::codes::{OVERFLOW, VALUE};
use crate::ops::is_cast;

/// Why scalars do not combine.
pub(super) struct Mistake {
    pub(super) code: Code,
    pub(super) message: String,
}

/// An elementwise op of scalars, where the result is one: whole numbers stay exact, numbers are
/// computed when the sizes are known. Nothing for a cast or test, whose result has a dtype.
pub(super) fn apply(op: &'static dyn Op, args: Vec<Scalar>) -> Result<Option<Scalar>, Mistake> {
    if is_cast(op) {
        return Ok(None);
    }
    if let Some(result) = exact(op.name(), &args)? {
        return Ok(Some(Scalar::Int(result)));
    }
    let inputs: Vec<_> = args.iter().map(|arg| ArgType::Weak(arg.weak())).collect();
    let inferred = op.infer(&Call {
        inputs: &inputs,
        attrs: &Attrs::default(),
    });
    let is_float = inferred.is_ok_and(|inferred| {
        let output = inferred.outputs.first().and_then(|output| output.tensor());
        output.is_some_and(|tensor| tensor.dtype.kind() == Kind::Float)
    });
    if !is_float {
        return Ok(None);
    }
    if let Some(folded) = folded(op.name(), &args) {
        return Ok(Some(Scalar::Float(folded)));
    }
    let result = Scalar::Apply(op, args);
    if operations(&result) > MAX_OPERATIONS {
        return Err(Mistake {
            code: OVERFLOW,
            message: format!("this number takes more than {MAX_OPERATIONS} operations"),
        });
    }
    Ok(Some(result))
}

/// Most ops of a scalar: it is computed as it is written, once for each task.
const MAX_OPERATIONS: usize = 256;

fn operations(scalar: &Scalar) -> usize {
    match scalar {
        Scalar::Int(_) | Scalar::Float(_) => 0,
        Scalar::Apply(_, args) => 1 + args.iter().map(operations).sum::<usize>(),
    }
}

/// Calls `visit` with each size in a scalar.
pub(super) fn sizes(scalar: &Scalar, visit: &mut dyn FnMut(&Expr)) {
    match scalar {
        Scalar::Int(size) => visit(size),
        Scalar::Float(_) => {}
        Scalar::Apply(_, args) => args.iter().for_each(|arg| sizes(arg, visit)),
    }
}

/// The result for whole numbers, where it is whole.
fn exact(op: &str, args: &[Scalar]) -> Result<Option<Expr>, Mistake> {
    let result = match args {
        [Scalar::Int(a)] if op == "neg" => -a,
        [Scalar::Int(a), Scalar::Int(b)] => match op {
            "add" => a + b,
            "sub" => a - b,
            "mul" => a * b,
            "floordiv" => a.floor_div(nonzero(b)?),
            "mod" => a.modulo(nonzero(b)?),
            "minimum" => a.smaller(b),
            "maximum" => a.larger(b),
            "pow" => match power(a, b) {
                Some(power) => power,
                None => return Ok(None),
            },
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    if result.is_overflow() {
        return Err(Mistake {
            code: OVERFLOW,
            message: "this whole number is too large".to_owned(),
        });
    }
    Ok(Some(result))
}

fn nonzero(divisor: &Expr) -> Result<&Expr, Mistake> {
    match divisor.as_int() {
        Some(0) => Err(Mistake {
            code: VALUE,
            message: "this divides a whole number by zero".to_owned(),
        }),
        _ => Ok(divisor),
    }
}

/// A power with a whole exponent that is known and not negative.
fn power(base: &Expr, exponent: &Expr) -> Option<Expr> {
    let exponent = u32::try_from(exponent.as_int()?).ok()?;
    if let Some(base) = base.as_int() {
        return Some(
            base.checked_pow(exponent)
                .map_or(Expr::OVERFLOW, Expr::from),
        );
    }
    // Larger powers leave 63 bits for every size but 0 and 1: 65 factors say `too large`.
    let factors = (0..exponent.min(65)).map(|_| base);
    Some(Expr::product(factors))
}

/// The result for known numbers of an op that IEEE 754 rounds in one way.
fn folded(op: &str, args: &[Scalar]) -> Option<f64> {
    let known: Vec<f64> = args.iter().map(number).collect::<Option<_>>()?;
    match (op, known.as_slice()) {
        ("neg", [a]) => Some(-a),
        ("add", [a, b]) => Some(a + b),
        ("sub", [a, b]) => Some(a - b),
        ("mul", [a, b]) => Some(a * b),
        ("div", [a, b]) => Some(a / b),
        _ => None,
    }
}

fn number(scalar: &Scalar) -> Option<f64> {
    match scalar {
        Scalar::Int(value) => value.as_int().map(|value| value as f64),
        Scalar::Float(value) => Some(*value),
        Scalar::Apply(..) => None,
    }
}
