//! Reductions, running totals, order.

use haul_ir::dtype::Kind;

use super::Rule::Code;
use super::{Converted, Node, Table};

pub(super) const TABLE: Table = &[
    ("ArgMax", Code(|n| arg(n, "argmax"))),
    ("ArgMin", Code(|n| arg(n, "argmin"))),
    ("CumProd", Code(|n| running(n, "cumprod"))),
    ("CumSum", Code(|n| running(n, "cumsum"))),
    (
        "ReduceL1",
        Code(|n| reduce(n, |x, axes| format!("sum(abs({x}), {axes})"))),
    ),
    (
        "ReduceL2",
        Code(|n| reduce(n, |x, axes| format!("norm({x}, {axes})"))),
    ),
    (
        "ReduceLogSum",
        Code(|n| reduce(n, |x, axes| format!("log(sum({x}, {axes}))"))),
    ),
    (
        "ReduceLogSumExp",
        Code(|n| reduce(n, |x, axes| format!("logsumexp({x}, {axes})"))),
    ),
    ("ReduceMax", Code(|n| extreme(n, "max"))),
    (
        "ReduceMean",
        Code(|n| reduce(n, |x, axes| format!("mean({x}, {axes})"))),
    ),
    ("ReduceMin", Code(|n| extreme(n, "min"))),
    (
        "ReduceProd",
        Code(|n| reduce(n, |x, axes| format!("prod({x}, {axes})"))),
    ),
    (
        "ReduceSum",
        Code(|n| reduce(n, |x, axes| format!("sum({x}, {axes})"))),
    ),
    (
        "ReduceSumSquare",
        Code(|n| reduce(n, |x, axes| format!("sum(square({x}), {axes})"))),
    ),
    ("TopK", Code(top_k)),
];

/// The axes and `keepdims` of a reduction, as options; nothing where it reduces nothing.
fn axes(n: &Node<'_, '_>) -> Result<Option<String>, String> {
    let given = match n.ints("axes") {
        Some(axes) => Some(axes),
        None => n.fixed_ints(1)?,
    };
    let keep = n.int("keepdims", 1) == 1;
    let axes = given.unwrap_or_default();
    if axes.is_empty() {
        let reduces = !n.flag("noop_with_empty_axes");
        return Ok(reduces.then(|| format!("keepdims={keep}")));
    }
    Ok(Some(format!("axis={axes:?}, keepdims={keep}")))
}

/// Sums and products of integers stay in their dtype.
fn reduce(n: &mut Node<'_, '_>, formula: fn(&str, &str) -> String) -> Converted {
    let x = n.x(0)?;
    let Some(axes) = axes(n)? else {
        return n.give(format!("copy({x})"));
    };
    match n.dtype(0)?.kind() {
        Kind::Int => n.give_as(formula(&x, &axes), 0),
        _ => n.give(formula(&x, &axes)),
    }
}

/// Truth values are compared as numbers.
fn extreme(n: &mut Node<'_, '_>, name: &str) -> Converted {
    let x = n.x(0)?;
    let Some(axes) = axes(n)? else {
        return n.give(format!("copy({x})"));
    };
    match n.dtype(0)?.kind() {
        Kind::Bool => n.give(format!("bool({name}(u8({x}), {axes}))")),
        _ => n.give(format!("{name}({x}, {axes})")),
    }
}

/// The last of several is the first in reverse order.
fn arg(n: &mut Node<'_, '_>, name: &str) -> Converted {
    let x = n.x(0)?;
    let (axis, keep) = (n.int("axis", 0), n.int("keepdims", 1) == 1);
    if !n.flag("select_last_index") {
        return n.give(format!("{name}({x}, axis={axis}, keepdims={keep})"));
    }
    let size = n.shape(0)?[n.front(axis, 0)? as usize];
    n.give(format!(
        "{} - {name}(flip({x}, axis={axis}), axis={axis}, keepdims={keep})",
        size - 1
    ))
}

fn running(n: &mut Node<'_, '_>, name: &str) -> Converted {
    let x = n.x(0)?;
    let axis = n.fixed(1)?.to_ints()[0];
    let (exclusive, reverse) = (n.flag("exclusive"), n.flag("reverse"));
    let formula = format!("{name}({x}, axis={axis}, exclusive={exclusive}, reverse={reverse})");
    match n.dtype(0)?.kind() {
        Kind::Int => n.give_as(formula, 0),
        _ => n.give(formula),
    }
}

fn top_k(n: &mut Node<'_, '_>) -> Converted {
    let x = n.x(0)?;
    let (k, axis) = (n.fixed(1)?.to_ints()[0], n.int("axis", -1));
    let largest = n.int("largest", 1) == 1;
    Ok(n.results(format!("topk({x}, {k}, axis={axis}, largest={largest})"), 2))
}
