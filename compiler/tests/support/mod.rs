//! What tests share.

pub(crate) mod plans;

use std::fmt::Write;

use haul_ir::graph::{Arg, Graph, OpNode, Pin, Typed};
use haul_ir::id::{CollectionId, ValueId};
use haul_ir::op::Attr;

/// A typed graph as text: an op a line, in order, with its group where it shares one.
pub(crate) fn dump(typed: &Typed) -> String {
    let graph = typed.graph();
    let mut text = String::new();
    for (symbol, dim) in &graph.dims {
        let owner = dim.per_item.map(|owner| over(graph, Some(owner)));
        let _ = writeln!(
            text,
            "dim {symbol}{}{}{}",
            dim.plan
                .map_or_else(String::new, |plan| format!(" plan {plan}")),
            dim.max
                .map_or_else(String::new, |max| format!(" max {max}")),
            owner.unwrap_or_default()
        );
    }
    for collection in graph.collections.iter() {
        let _ = writeln!(
            text,
            "collection {} of {}",
            collection.name, collection.width
        );
    }
    for input in graph.inputs.iter() {
        let value = &graph.values[input.value];
        let _ = writeln!(
            text,
            "input {}: {}{}",
            input.name,
            value.ty,
            over(graph, value.over)
        );
    }
    for stage in graph.stages.iter() {
        let _ = writeln!(text, "stage {}{}", stage.name, over(graph, stage.each));
        for request in &stage.requests {
            let gpu_type = request.gpu_type.as_deref().map(|ty| format!(" type {ty}"));
            let vram = request.vram.map(|vram| format!(" vram {vram}"));
            let _ = writeln!(
                text,
                "  request cpus {} memory {} gpus {}{}{}",
                request.cpus,
                request.memory,
                request.gpus,
                gpu_type.unwrap_or_default(),
                vram.unwrap_or_default()
            );
        }
        for op in &stage.ops {
            let node = &graph.ops[*op];
            let group = typed.group_of(*op);
            let head = typed.head(group);
            let fused = if head == *op {
                String::new()
            } else {
                format!(" in {}", graph.ops[head].name)
            };
            let pin = match node.pin {
                Pin::Auto => "",
                Pin::Cpu => " on cpu",
                Pin::Gpu => " on gpu",
            };
            let _ = writeln!(text, "  {}{fused}{pin}", op_line(graph, node));
        }
        let results: Vec<_> = stage
            .results
            .iter()
            .map(|value| name(graph, *value))
            .collect();
        let _ = writeln!(
            text,
            "  gives {}; is {}",
            results.join(", "),
            name(graph, stage.value)
        );
    }
    for output in &graph.outputs {
        let _ = writeln!(
            text,
            "output {}: {}",
            output.name,
            name(graph, output.value)
        );
    }
    text
}

fn over(graph: &Graph, collection: Option<CollectionId>) -> String {
    collection.map_or_else(String::new, |id| {
        format!(" each {}", graph.collections[id].name)
    })
}

fn name(graph: &Graph, value: ValueId) -> String {
    format!(
        "{}#{}",
        graph.values[value].name,
        haul_ir::id::Id::index(value)
    )
}

fn op_line(graph: &Graph, node: &OpNode) -> String {
    let results = node
        .results
        .iter()
        .map(|value| format!("{}: {}", name(graph, *value), graph.values[*value].ty));
    let mut args: Vec<_> = node
        .args
        .iter()
        .map(|arg| match arg {
            Arg::Value(value) => name(graph, *value),
            Arg::Items(value) => format!("each {}", name(graph, *value)),
            Arg::Scalar(scalar, dtype) => format!("{scalar} {dtype}"),
        })
        .collect();
    let attrs = node.attrs.0.iter().filter(|(_, attr)| *attr != Attr::None);
    args.extend(attrs.map(|(name, attr)| format!("{name}={attr:?}")));
    format!(
        "{} -> {} = {}({})",
        node.name,
        results.collect::<Vec<_>>().join(", "),
        node.op.name(),
        args.join(", ")
    )
}
