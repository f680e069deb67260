//! Ops and values as authors would write them.

use std::fmt;

use haul_ir::graph::{Arg, Graph, OpNode, Producer};
use haul_ir::id::{OpId, StageId, ValueId};
use haul_ir::op::{Attr, Attrs, IndexItem, Op, Param, ParamKind};

/// The signature of an op: `sum(x, axis=none, keepdims=false)`.
pub fn signature(op: &dyn Op) -> String {
    let one = |param: &Param| match (param.kind, param.default) {
        (ParamKind::Tensors, _) => format!("{}…", param.name),
        (_, Some(default)) => format!("{}={default}", param.name),
        (_, None) => param.name.to_owned(),
    };
    let params: Vec<_> = op.params().iter().map(one).collect();
    format!("{}({})", op.name(), params.join(", "))
}

/// The name of a value as a formula of stage `from` reaches it.
pub(crate) fn value(graph: &Graph, id: ValueId, from: Option<StageId>) -> String {
    let value = &graph.values[id];
    let Producer::Op(op) = value.producer else {
        return value.name.clone();
    };
    let stage = graph.ops[op].stage;
    match () {
        () if from == Some(stage) => value.name.clone(),
        () if graph.stages[stage].value == id => graph.stages[stage].name.clone(),
        () => format!("{}.{}", graph.stages[stage].name, value.name),
    }
}

/// The name of an op in the whole pipeline: `stage.op`, or the op's own where it begins with that
/// of its stage.
pub fn op(graph: &Graph, id: OpId) -> String {
    let node = &graph.ops[id];
    let stage = &graph.stages[node.stage].name;
    match node.name.strip_prefix(stage.as_str()) {
        Some(rest) if rest.is_empty() || rest.starts_with('.') => node.name.clone(),
        _ => format!("{stage}.{}", node.name),
    }
}

/// What an op computes: `sum(x, axis=1)`, `s[:, newaxis]`.
pub(crate) fn formula(graph: &Graph, node: &OpNode) -> String {
    let arg = |arg: &Arg| match arg {
        Arg::Value(id) | Arg::Items(id) => value(graph, *id, Some(node.stage)),
        Arg::Scalar(scalar, _) => scalar.to_string(),
    };
    let mut args: Vec<_> = node.args.iter().map(arg).collect();
    if let Some(index) = index(&node.attrs) {
        return format!("{}[{index}]", args.join(", "));
    }
    name_after_gap(node, &mut args);
    args.extend(keywords(node));
    format!("{}({})", node.op.name(), args.join(", "))
}

/// Writes values by keyword from the first optional one on that is left out.
fn name_after_gap(node: &OpNode, args: &mut [String]) {
    let left_out = |param: &&Param| param.is_optional_tensor() && !node.attrs.flag(param.name);
    let values = node
        .op
        .params()
        .iter()
        .filter(|param| param.kind.is_value());
    let Some(gap) = values.clone().position(|param| left_out(&param)) else {
        return;
    };
    let after = values.skip(gap).filter(|param| !left_out(param));
    for (arg, param) in args.iter_mut().skip(gap).zip(after) {
        *arg = format!("{}={arg}", param.name);
    }
}

/// A text of the author's on one line: control characters as escapes.
pub(crate) fn on_one_line(text: &str) -> String {
    let escaped = |c: char| match c.is_control() {
        true => c.escape_unicode().to_string(),
        false => c.to_string(),
    };
    text.chars().map(escaped).collect()
}

/// A text with control characters other than ends of lines as escapes.
pub fn visible(text: &str) -> String {
    text.lines().map(|line| on_one_line(line) + "\n").collect()
}

/// The types of its results: `f32[n, 8]`.
pub(crate) fn types(graph: &Graph, node: &OpNode) -> String {
    let types = node
        .results
        .iter()
        .map(|id| graph.values[*id].ty.to_string());
    types.collect::<Vec<_>>().join(", ")
}

fn index(attrs: &Attrs) -> Option<String> {
    attrs.0.iter().find_map(|(_, attr)| match attr {
        Attr::Index(items) => Some(items.iter().map(index_item).collect::<Vec<_>>().join(", ")),
        _ => None,
    })
}

/// Attributes other than their default.
fn keywords(node: &OpNode) -> impl Iterator<Item = String> {
    node.attrs.0.iter().filter_map(|(name, attr)| {
        let text = attribute(attr)?;
        let param = node.op.params().iter().find(|param| param.name == *name);
        if param.is_some_and(Param::is_optional_tensor) {
            return None;
        }
        let default = param.and_then(|param| param.default);
        (default != Some(text.as_str())).then(|| format!("{name}={text}"))
    })
}

fn attribute(attr: &Attr) -> Option<String> {
    Some(match attr {
        Attr::None | Attr::Index(_) => return None,
        // Where the author gave no name, the type of the result shows the one that was made.
        Attr::Size(symbol) if symbol.name().contains('.') => return None,
        Attr::Size(symbol) => format!("'{symbol}'"),
        Attr::Bool(value) => value.to_string(),
        Attr::Int(expr) => expr.to_string(),
        Attr::Ints(exprs) => list(exprs),
        Attr::Numbers(numbers) => list(numbers),
        Attr::Word(word) => format!("'{word}'"),
        Attr::Quoted(text) => format!("'{text}'"),
        Attr::Words(words) => {
            let quoted: Vec<_> = words.iter().map(|word| quoted(word)).collect();
            list(&quoted)
        }
        Attr::Type(ty) => format!("'{ty}'"),
    })
}

/// A text in quotes on one line; quotes in it are doubled.
fn quoted(text: &str) -> String {
    format!("'{}'", on_one_line(text).replace('\'', "''"))
}

/// `2`, or `[1, 2]`.
fn list(items: &[impl fmt::Display]) -> String {
    match items {
        [one] => one.to_string(),
        all => {
            let all: Vec<_> = all.iter().map(ToString::to_string).collect();
            format!("[{}]", all.join(", "))
        }
    }
}

fn index_item(item: &IndexItem) -> String {
    match item {
        IndexItem::At(at) => at.to_string(),
        IndexItem::Slice { start, stop, step } => {
            let text = |end: &Option<_>| end.as_ref().map_or_else(String::new, ToString::to_string);
            let step = if *step == 1 {
                String::new()
            } else {
                format!(":{step}")
            };
            format!("{}:{}{step}", text(start), text(stop))
        }
        IndexItem::NewAxis => "newaxis".to_owned(),
        IndexItem::Ellipsis => "...".to_owned(),
    }
}
