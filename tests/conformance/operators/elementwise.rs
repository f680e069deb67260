//! Functions of elements.

use haul_ir::dtype::{DType, Kind};

use super::Rule::{Code, Formula, Without};
use super::{Converted, Node, Table};

pub(super) const TABLE: Table = &[
    ("Abs", Formula("abs({0})")),
    ("Acos", Formula("acos({0})")),
    ("Acosh", Formula("acosh({0})")),
    ("Add", Code(|n| binary(n, "+"))),
    ("And", Formula("{0} & {1}")),
    ("Asin", Formula("asin({0})")),
    ("Asinh", Formula("asinh({0})")),
    ("Atan", Formula("atan({0})")),
    ("Atanh", Formula("atanh({0})")),
    (
        "Bernoulli",
        Without("it draws random numbers that only its own generator gives"),
    ),
    ("BitCast", Code(bit_cast)),
    ("BitShift", Code(bit_shift)),
    ("BitwiseAnd", Formula("{0} & {1}")),
    ("BitwiseNot", Formula("~{0}")),
    ("BitwiseOr", Formula("{0} | {1}")),
    ("BitwiseXor", Formula("{0} ^ {1}")),
    ("Cast", Code(cast)),
    ("CastLike", Code(cast_like)),
    ("Ceil", Formula("ceil({0})")),
    ("Celu", Formula("celu({0}, {alpha=1})")),
    ("Clip", Code(clip)),
    ("Cos", Formula("cos({0})")),
    ("Cosh", Formula("cosh({0})")),
    ("DequantizeLinear", Code(dequantize)),
    ("Div", Code(div)),
    ("Dropout", Code(dropout)),
    ("DynamicQuantizeLinear", Code(dynamic_quantize)),
    ("Elu", Formula("elu({0}, {alpha=1})")),
    ("Equal", Formula("{0} == {1}")),
    ("Erf", Formula("erf({0})")),
    ("Exp", Formula("exp({0})")),
    ("Floor", Formula("floor({0})")),
    ("Gelu", Code(gelu)),
    ("Greater", Formula("{0} > {1}")),
    ("GreaterOrEqual", Formula("{0} >= {1}")),
    (
        "HardSigmoid",
        Formula("hard_sigmoid({0}, {alpha=0.2}, {beta=0.5})"),
    ),
    ("HardSwish", Formula("hard_swish({0})")),
    ("IsInf", Code(is_inf)),
    ("IsNaN", Formula("isnan({0})")),
    ("LeakyRelu", Formula("leaky_relu({0}, {alpha=0.01})")),
    ("Less", Formula("{0} < {1}")),
    ("LessOrEqual", Formula("{0} <= {1}")),
    ("Log", Formula("log({0})")),
    (
        "Max",
        Code(|n| chain(n, |a, b| format!("maximum({a}, {b})"))),
    ),
    ("Mean", Code(mean)),
    (
        "Min",
        Code(|n| chain(n, |a, b| format!("minimum({a}, {b})"))),
    ),
    ("Mish", Formula("mish({0})")),
    ("Mod", Code(modulo)),
    ("Mul", Code(|n| binary(n, "*"))),
    ("Neg", Formula("-{0}")),
    ("Not", Formula("~{0}")),
    ("Or", Formula("{0} | {1}")),
    ("PRelu", Code(prelu)),
    ("Pow", Code(pow)),
    ("QuantizeLinear", Code(quantize)),
    ("Reciprocal", Formula("1 / {0}")),
    ("Relu", Formula("relu({0})")),
    ("Round", Formula("round({0})")),
    (
        "Selu",
        Formula("selu({0}, {alpha=1.6732632423543772}, {gamma=1.0507009873554805})"),
    ),
    ("Shrink", Formula("shrink({0}, {lambd=0.5}, {bias=0})")),
    ("Sigmoid", Formula("sigmoid({0})")),
    ("Sign", Formula("sign({0})")),
    ("Sin", Formula("sin({0})")),
    ("Sinh", Formula("sinh({0})")),
    ("Softplus", Formula("softplus({0})")),
    ("Softsign", Formula("softsign({0})")),
    ("Sqrt", Formula("sqrt({0})")),
    ("Sub", Code(|n| binary(n, "-"))),
    ("Sum", Code(|n| chain(n, |a, b| format!("{a} + {b}")))),
    ("SwiGLU", Formula("silu({0}) * {1}")),
    ("Swish", Formula("silu({0}, {alpha=1})")),
    ("Tan", Formula("tan({0})")),
    ("Tanh", Formula("tanh({0})")),
    (
        "ThresholdedRelu",
        Formula("thresholded_relu({0}, {alpha=1})"),
    ),
    ("Where", Formula("where({0}, {1}, {2})")),
    ("Xor", Formula("{0} ^ {1}")),
];

/// Before version 7, `axis` says where the axes of the second input stand.
fn binary(n: &mut Node<'_, '_>, operator: &str) -> Converted {
    let (a, mut b) = (n.x(0)?, n.x(1)?);
    if n.attr("broadcast").is_some() && n.attr("axis").is_some() {
        let (whole, mut sizes) = (n.rank(0)?, n.shape(1)?);
        let axis = n.front(n.int("axis", 0), 0)?;
        while (sizes.len() as i64) < whole - axis {
            sizes.push(1);
        }
        b = n.line(format!("reshape({b}, {sizes:?})"));
    }
    n.give(format!("{a} {operator} {b}"))
}

fn chain(n: &mut Node<'_, '_>, meet: fn(&str, &str) -> String) -> Converted {
    let mut whole = n.x(0)?;
    for at in 1..n.inputs() {
        let next = n.x(at)?;
        whole = n.line(meet(&whole, &next));
    }
    Ok(vec![whole])
}

fn mean(n: &mut Node<'_, '_>) -> Converted {
    let sum = chain(n, |a, b| format!("{a} + {b}"))?.remove(0);
    let count = n.inputs();
    n.give(format!("{sum} / {count}"))
}

/// Division of integers is towards 0.
fn div(n: &mut Node<'_, '_>) -> Converted {
    let (a, b) = (n.x(0)?, n.x(1)?);
    match n.dtype(0)?.kind() {
        Kind::Int => n.give(format!("({a} - fmod({a}, {b})) // {b}")),
        _ => binary(n, "/"),
    }
}

fn modulo(n: &mut Node<'_, '_>) -> Converted {
    let (a, b) = (n.x(0)?, n.x(1)?);
    match n.flag("fmod") {
        true => n.give(format!("fmod({a}, {b})")),
        false => n.give(format!("{a} % {b}")),
    }
}

/// The result has the dtype of the base.
fn pow(n: &mut Node<'_, '_>) -> Converted {
    let (a, b) = (n.x(0)?, n.x(1)?);
    let (base, power) = (n.dtype(0)?, n.dtype(1)?);
    if base == power {
        return n.give(format!("{a} ** {b}"));
    }
    if base.kind() == Kind::Int && power.kind() == Kind::Float {
        return n.give(format!("{base}(f64({a}) ** f64({b}))"));
    }
    n.give(format!("{a} ** {base}({b})"))
}

fn cast(n: &mut Node<'_, '_>) -> Converted {
    let dtype = n.dtype_attr("to", DType::F32)?;
    let x = n.x(0)?;
    n.give(format!("{dtype}({x})"))
}

fn cast_like(n: &mut Node<'_, '_>) -> Converted {
    let dtype = n.dtype(1)?;
    let x = n.x(0)?;
    n.give(format!("{dtype}({x})"))
}

fn bit_cast(n: &mut Node<'_, '_>) -> Converted {
    let dtype = n.dtype_attr("to", DType::F32)?;
    let x = n.x(0)?;
    n.give(format!("bitcast({x}, '{dtype}')"))
}

fn bit_shift(n: &mut Node<'_, '_>) -> Converted {
    let (a, b) = (n.x(0)?, n.x(1)?);
    match n.word("direction", "LEFT") {
        "LEFT" => n.give(format!("left_shift({a}, {b})")),
        _ => n.give(format!("right_shift({a}, {b})")),
    }
}

fn clip(n: &mut Node<'_, '_>) -> Converted {
    let mut x = n.x(0)?;
    for (at, name, bound) in [(1, "min", "maximum"), (2, "max", "minimum")] {
        let limit = match n.has(at) {
            true => n.x(at)?,
            false if n.attr(name).is_some() => n.float(name, 0.0).to_string(),
            false => continue,
        };
        x = n.line(format!("{bound}({x}, {limit})"));
    }
    Ok(vec![x])
}

/// Outside of training, and where nothing is dropped, it changes nothing.
fn dropout(n: &mut Node<'_, '_>) -> Converted {
    let trains = n.has(2) && n.fixed(2)?.to_ints() != [0];
    let drops = !n.has(1) || n.fixed(1)?.elements.iter().any(|ratio| ratio.real() != 0.0);
    if trains && drops {
        return Err("it draws random numbers that only its own generator gives".to_owned());
    }
    let x = n.x(0)?;
    let y = n.line(format!("copy({x})"));
    if !n.wants(1) {
        return Ok(vec![y]);
    }
    let shape = n.shape(0)?;
    let kept = n.line(format!("ones({shape:?}, dtype='bool')"));
    Ok(vec![y, kept])
}

fn gelu(n: &mut Node<'_, '_>) -> Converted {
    let x = n.x(0)?;
    match n.word("approximate", "none") {
        "tanh" => n.give(format!("gelu_tanh({x})")),
        _ => n.give(format!("gelu({x})")),
    }
}

fn is_inf(n: &mut Node<'_, '_>) -> Converted {
    let x = n.x(0)?;
    match (n.int("detect_positive", 1), n.int("detect_negative", 1)) {
        (0, 0) => n.give(format!("isinf({x}) & ({x} == 0)")),
        (0, _) => n.give(format!("{x} == -inf")),
        (_, 0) => n.give(format!("{x} == inf")),
        _ => n.give(format!("isinf({x})")),
    }
}

/// Before version 9, the slopes are those of the second axis.
fn prelu(n: &mut Node<'_, '_>) -> Converted {
    let (x, mut slope) = (n.x(0)?, n.x(1)?);
    let (rank, sizes) = (n.rank(0)?, n.shape(1)?);
    if n.opset() < 9 && sizes.len() == 1 {
        let mut shape = sizes;
        shape.extend(vec![1; rank as usize - 2]);
        slope = n.line(format!("reshape({slope}, {shape:?})"));
    }
    n.give(format!("prelu({x}, {slope})"))
}

/// A scale or zero point in the place of the axis that it is about.
fn along(n: &mut Node<'_, '_>, at: usize) -> Result<String, String> {
    let name = n.x(at)?;
    let (shape, rank) = (n.shape(at)?, n.rank(0)?);
    let axis = n.front(n.int("axis", 1), 0)?;
    let block = n.int("block_size", 0);
    if block > 0 {
        return Ok(n.line(format!("repeat({name}, {block}, axis={axis})")));
    }
    match shape[..] {
        [size] if size > 1 || rank > 1 => {
            let mut sizes = vec![1; rank as usize];
            sizes[axis as usize] = size;
            Ok(n.line(format!("reshape({name}, {sizes:?})")))
        }
        _ => Ok(name),
    }
}

fn dequantize(n: &mut Node<'_, '_>) -> Converted {
    let (x, dtype) = (n.x(0)?, n.dtype(1)?);
    let scale = along(n, 1)?;
    if !n.has(2) {
        return n.give(format!("{dtype}({x}) * {scale}"));
    }
    let zero = along(n, 2)?;
    n.give(format!("{dtype}(i32({x}) - i32({zero})) * {scale}"))
}

/// Casts to integers saturate.
fn quantize(n: &mut Node<'_, '_>) -> Converted {
    let x = n.x(0)?;
    let scale = along(n, 1)?;
    if !n.has(2) {
        return n.give(format!("u8(round({x} / {scale}))"));
    }
    let dtype = n.dtype(2)?;
    let zero = along(n, 2)?;
    n.give(format!("{dtype}(round({x} / {scale}) + f32({zero}))"))
}

fn dynamic_quantize(n: &mut Node<'_, '_>) -> Converted {
    let x = n.x(0)?;
    let low = n.line(format!("minimum(min({x}), 0)"));
    let high = n.line(format!("maximum(max({x}), 0)"));
    let scale = n.line(format!("({high} - {low}) / 255"));
    let zero = n.line(format!("u8(round(-{low} / {scale}))"));
    let y = n.line(format!("u8(round({x} / {scale}) + f32({zero}))"));
    Ok(vec![y, scale, zero])
}
