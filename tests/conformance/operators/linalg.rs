//! Products and matrices.

use super::Rule::{Code, Formula};
use super::{Converted, Node, Table};

pub(super) const TABLE: Table = &[
    ("Det", Formula("det({0})")),
    ("Einsum", Code(einsum)),
    ("Gemm", Code(gemm)),
    ("MatMul", Formula("{0} @ {1}")),
    ("MatMulInteger", Code(matmul_integer)),
    ("QLinearMatMul", Code(quantized_matmul)),
];

fn gemm(n: &mut Node<'_, '_>) -> Converted {
    let side = |name: String, turned: bool| if turned { format!("{name}.T") } else { name };
    let a = side(n.x(0)?, n.flag("transA"));
    let b = side(n.x(1)?, n.flag("transB"));
    let (alpha, beta) = (n.float("alpha", 1.0), n.float("beta", 1.0));
    let scaled = |formula: String, by: f64| {
        if by == 1.0 {
            formula
        } else {
            format!("{by} * {formula}")
        }
    };
    let product = scaled(format!("({a} @ {b})"), alpha);
    if !n.has(2) {
        return n.give(product);
    }
    let c = scaled(n.x(2)?, beta);
    n.give(format!("{product} + {c}"))
}

/// Whole numbers without their zero points, in 32 bits; those of rows stand beside the rows.
fn centred(n: &mut Node<'_, '_>, at: usize, zero: usize, rows: bool) -> Result<String, String> {
    let x = n.x(at)?;
    if !n.has(zero) {
        return Ok(n.line(format!("i32({x})")));
    }
    let (point, shape) = (n.x(zero)?, n.shape(zero)?);
    let column = if rows && shape.len() == 1 && shape[0] > 1 {
        "[:, newaxis]"
    } else {
        ""
    };
    Ok(n.line(format!("i32({x}) - i32({point}{column})")))
}

fn matmul_integer(n: &mut Node<'_, '_>) -> Converted {
    let (a, b) = (centred(n, 0, 2, true)?, centred(n, 1, 3, false)?);
    n.give(format!("{a} @ {b}"))
}

fn quantized_matmul(n: &mut Node<'_, '_>) -> Converted {
    let (a, b) = (centred(n, 0, 2, true)?, centred(n, 3, 5, false)?);
    let (a_scale, b_scale, scale) = (n.x(1)?, n.x(4)?, n.x(6)?);
    let (zero, dtype) = (n.x(7)?, n.dtype(7)?);
    let product = n.line(format!(
        "f32({a} @ {b}) * (f32({a_scale}) * f32({b_scale}) / f32({scale}))"
    ));
    n.give(format!("{dtype}(round({product}) + f32({zero}))"))
}

fn einsum(n: &mut Node<'_, '_>) -> Converted {
    let equation = n.word("equation", "").replace(' ', "");
    let names: Vec<_> = (0..n.inputs())
        .map(|at| n.x(at))
        .collect::<Result<_, _>>()?;
    n.give(format!("einsum('{equation}', {})", names.join(", ")))
}
