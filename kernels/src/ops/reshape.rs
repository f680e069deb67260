//! The same elements under another shape.

use haul_ir::expr::Expr;
use haul_ir::op::{
    Attr, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, Op, Param,
    ParamKind, Work,
};
use haul_ir::types::{Axes, Shape, TensorType, ValueType};

use super::NO_WORK;

/// `reshape(x, [2, -1])`.
pub(crate) struct Reshape;

impl Op for Reshape {
    fn name(&self) -> &'static str {
        "reshape"
    }

    fn doc(&self) -> &'static str {
        "The same elements in row-major order under another shape. One size may be -1: what is \
         left of the elements. Nothing is moved, unless the input is a view with gaps."
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "x",
                kind: ParamKind::Tensor,
                default: None,
            },
            Param {
                name: "shape",
                kind: ParamKind::Shape,
                default: None,
            },
        ]
    }

    fn rule(&self) -> &'static str {
        "[..] -> shape, of as many elements"
    }

    fn family(&self) -> Family {
        Family::Move
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let x = call.tensor(0)?;
        let Attr::Ints(wanted) = call.attrs.get("shape") else {
            let error = InferError::new(Fault::Value, "needs the sizes of the axes");
            return Err(error.on_attr("shape"));
        };
        let shape = filled(&x.shape, wanted).map_err(|error| error.on_attr("shape"))?;
        Ok(Inferred::plain(1, TensorType::new(x.dtype, shape)))
    }

    fn work(&self, _: &Call<'_>, _: &[ValueType]) -> Work {
        NO_WORK
    }

    fn work_formula(&self) -> &'static str {
        "0 flops, 0 bytes"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Reshape
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::View
    }

    fn examples(&self) -> &'static [Example] {
        &[Example {
            formula: "reshape(x, [3, -1])",
            given: &[("x", "i32[2, 3]", "1 2 3 4 5 6")],
            result: ("i32[3, 2]", "1 2 3 4 5 6"),
        }]
    }
}

/// The wanted shape with a number in place of -1.
fn filled(from: &[Expr], wanted: &[Expr]) -> Result<Shape, InferError> {
    let hole = Expr::from(-1_i128);
    let holes = wanted.iter().filter(|size| **size == hole).count();
    let named: Vec<&Expr> = wanted.iter().filter(|size| **size != hole).collect();
    if let Some(size) = named
        .iter()
        .find(|size| size.as_int().is_some_and(|s| s < 0))
    {
        let message = format!("{size} is no size: sizes are 0 or more, one may be -1");
        return Err(InferError::new(Fault::Value, message));
    }
    if holes > 1 {
        return Err(InferError::new(Fault::Value, "only one size can be -1"));
    }
    let total = Expr::product(from);
    let product = Expr::product(named.iter().copied());
    if holes == 0 {
        return match total == product {
            true => Ok(wanted.to_vec()),
            false => Err(mismatch(from, wanted, &total, &product)),
        };
    }
    let rest = quotient(from, &named).ok_or_else(|| mismatch(from, wanted, &total, &product))?;
    let fill = |size: &Expr| {
        if *size == hole {
            rest.clone()
        } else {
            size.clone()
        }
    };
    Ok(wanted.iter().map(fill).collect())
}

/// The product of `sizes` divided by the product of `divisors`; none where it is known not to be
/// whole. Sizes that stand on both sides cancel, since polynomials do not divide in general.
fn quotient(sizes: &[Expr], divisors: &[&Expr]) -> Option<Expr> {
    let mut sizes: Vec<&Expr> = sizes.iter().collect();
    let mut left = Vec::new();
    for divisor in divisors {
        let same = sizes.iter().position(|size| size == divisor);
        match same.filter(|_| divisor.as_int().is_none()) {
            Some(same) => {
                sizes.swap_remove(same);
            }
            None => left.push(*divisor),
        }
    }
    let (total, divisor) = (Expr::product(sizes), Expr::product(left));
    match (total.as_int(), divisor.as_int()) {
        (_, Some(0)) => None,
        (Some(total), Some(divisor)) if total % divisor != 0 => None,
        _ => Some(total.floor_div(&divisor)),
    }
}

fn mismatch(from: &[Expr], wanted: &[Expr], total: &Expr, product: &Expr) -> InferError {
    let (from, into) = (Axes(from), Axes(wanted));
    let message = if wanted.contains(&Expr::from(-1_i128)) {
        format!("{from} does not fit {into}: {product} does not divide {total} elements")
    } else {
        format!("{from} does not fit {into}: {total} elements against {product}")
    };
    InferError::new(Fault::Shape, message)
}
