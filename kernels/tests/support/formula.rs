//! The formulas of examples: one call, one operator, or one index.

use haul_ir::op::{Attr, Attrs, Example, Op, Param, ParamKind};

use super::rows::{self, Rows};
use super::run::Arg;
use super::tensor::{Lie, Tensor, Value};
use super::text;

const OPERATORS: [(&str, &str); 18] = [
    ("//", "floordiv"),
    ("**", "pow"),
    ("==", "eq"),
    ("!=", "ne"),
    ("<=", "le"),
    (">=", "ge"),
    ("+", "add"),
    ("-", "sub"),
    ("*", "mul"),
    ("/", "div"),
    ("%", "mod"),
    ("@", "matmul"),
    ("<", "lt"),
    (">", "gt"),
    ("&", "bitand"),
    ("|", "bitor"),
    ("^", "bitxor"),
    ("~", "invert"),
];

/// The name of the op that an example calls, its arguments and its attributes.
pub(crate) fn call(example: &Example, op: &dyn Op) -> (&'static str, Vec<Arg>, Attrs) {
    let (name, written) = split(example.call().0);
    let params = op.params();
    let variadic = params.first().is_some_and(|p| p.kind == ParamKind::Tensors);
    let mut slots = vec![Vec::new(); params.len()];
    for (position, item) in written.iter().enumerate() {
        match item.split_once('=') {
            Some((key, text)) if !item.contains('[') || item.find('=') < item.find('[') => {
                let found = params.iter().position(|p| p.name == key.trim());
                slots[found.unwrap_or_else(|| panic!("no parameter `{key}`"))].push(text.trim());
            }
            _ if variadic && item.starts_with('\'') => slots[1].push(*item),
            _ if variadic => slots[0].push(*item),
            _ => slots[position].push(*item),
        }
    }
    let mut args = Vec::new();
    for (param, slot) in params.iter().zip(&slots) {
        let left_out = param
            .default
            .filter(|default| slot.is_empty() && *default != "none");
        let values = slot.iter().copied().chain(left_out);
        if param.kind.is_value() {
            args.extend(values.map(|text| argument(text, example)));
        }
    }
    let given = |(param, slot): (&Param, &Vec<&'static str>)| match param.is_optional_tensor() {
        true => slot.first().map(|_| "true"),
        false => slot.first().copied(),
    };
    let given: Vec<_> = params.iter().zip(&slots).map(given).collect();
    (name, args, attrs(op, &given))
}

/// The attributes of an op from their texts, one for each parameter, or their defaults; of an
/// optional tensor whether it is given.
pub(crate) fn attrs(op: &dyn Op, given: &[Option<&str>]) -> Attrs {
    let attrs = op.params().iter().zip(given).filter_map(|(param, text)| {
        if param.is_optional_tensor() {
            return Some((param.name, Attr::Bool(*text == Some("true"))));
        }
        if param.kind.is_value() {
            return None;
        }
        let text = text.or(param.default);
        let text = text.unwrap_or_else(|| panic!("`{}` of {} is missing", param.name, op.name()));
        Some((param.name, text::attr(param.kind, text)))
    });
    Attrs(attrs.collect())
}

/// A tensor of that type; its elements stand in row-major order.
pub(crate) fn tensor(ty: &str, elements: &str) -> Tensor {
    let ty = text::ty(ty);
    let shape: Vec<_> = ty
        .shape
        .iter()
        .map(|size| size.as_u64().unwrap() as usize)
        .collect();
    let values: Vec<_> = elements.split_whitespace().map(text::value).collect();
    Tensor::new(ty.dtype, &shape, &values, Lie::Contiguous)
}

/// The op and what stands in its brackets or at its sides.
fn split(formula: &'static str) -> (&'static str, Vec<&'static str>) {
    if let Some(operand) = formula.strip_suffix(".T") {
        return ("transpose", vec![operand]);
    }
    if let Some((operand, rest)) = formula.split_once('[')
        && operand.chars().all(char::is_alphanumeric)
    {
        return (
            "index",
            vec![
                operand,
                rest.strip_suffix(']').expect("`]` closes an index"),
            ],
        );
    }
    if let Some((name, rest)) = formula.split_once('(')
        && name
            .chars()
            .all(|letter| letter.is_alphanumeric() || letter == '_')
    {
        return (
            name,
            text::items(rest.strip_suffix(')').expect("`)` closes a call")).collect(),
        );
    }
    match formula.split_once(' ') {
        None => {
            let (operator, operand) = formula.split_at(1);
            (
                if operator == "-" { "neg" } else { "invert" },
                vec![operand],
            )
        }
        Some((left, rest)) => {
            let (operator, right) = rest
                .split_once(' ')
                .expect("an operator stands between spaces");
            let found = OPERATORS.iter().find(|(symbol, _)| *symbol == operator);
            (found.expect("a known operator").1, vec![left, right])
        }
    }
}

/// What a name of the example stands for, or a number.
fn argument(text: &str, example: &Example) -> Arg {
    let Some((_, ty, elements)) = example.given.iter().find(|(name, ..)| *name == text) else {
        return Arg::Weak(text::value(text));
    };
    if rows::is_rows(ty) {
        return Arg::Rows(Rows::new(ty, elements));
    }
    if *ty == "text" {
        return Arg::Text((*elements).to_owned());
    }
    let Some(item) = ty.strip_prefix("each ") else {
        return Arg::Tensor(tensor(ty, elements));
    };
    let values: Vec<_> = elements.split_whitespace().collect();
    let each = text::ty(item).elements().as_u64().unwrap() as usize;
    let items = values
        .chunks(each)
        .map(|chunk| tensor(item, &chunk.join(" ")));
    Arg::Items(items.collect())
}

/// The value of a number that an example writes.
pub(crate) fn weak(value: Value) -> haul_ir::op::Weak {
    match value {
        Value::Int(_) => haul_ir::op::Weak::Int,
        _ => haul_ir::op::Weak::Float,
    }
}
