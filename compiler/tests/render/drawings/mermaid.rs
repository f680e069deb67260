//! Mermaid, read and rendered by `mermaid-rs-renderer`.

use haul_compiler::render;
use haul_ir::plan::{Plan, Side};
use mermaid_rs_renderer::{Graph, RenderOptions, parse_mermaid_strict, render_strict};

use super::{ODD, all, chain, names};

#[test]
fn every_stage_and_op_is_drawn() {
    for plan in all() {
        let read = parsed(&plan);
        let [stages, ops] = names(&plan);
        let labels: Vec<_> = read
            .subgraphs
            .iter()
            .map(|graph| text(&graph.label))
            .collect();
        assert_eq!(labels.len(), stages.len());
        for name in stages {
            assert!(
                labels.iter().any(|label| label.starts_with(&name)),
                "{name}"
            );
        }
        let labels = read.nodes.values().map(|node| text(&node.label));
        let labels: Vec<_> = labels.collect();
        for op in ops {
            let is_of = |label: &String| {
                label
                    .lines()
                    .any(|line| line == op || line == format!("after {op}"))
            };
            assert!(labels.iter().any(is_of), "{op}");
        }
    }
}

/// Every node and edge of the text is one: no label broke out of its quotes.
#[test]
fn nothing_else_is_drawn() {
    for plan in all() {
        let read = parsed(&plan);
        let graph = plan.typed.graph();
        let transfers = plan.stages.iter().map(|stage| stage.transfers.len());
        let files = graph.inputs.len() + graph.outputs.len();
        let nodes = plan.groups.len() + files + transfers.sum::<usize>();
        assert_eq!(read.nodes.len(), nodes);
        let lines = render::mermaid(&plan);
        let edges = lines.lines().filter(|line| {
            line.contains(" --> ") || line.contains(" ==> ") || line.contains(" -->|")
        });
        assert_eq!(read.edges.len(), edges.count());
    }
}

#[test]
fn what_is_on_a_gpu_has_double_sides() {
    for plan in all() {
        let gpu = plan.groups.iter();
        let gpu = gpu
            .filter(|group| group.placement.side == Side::Gpu)
            .count();
        let drawn = render::mermaid(&plan);
        assert_eq!(drawn.matches("]]:::gpu\n").count(), gpu);
        assert_eq!(drawn.matches(":::gpu").count(), gpu);
    }
}

/// The others are as those, and large: the renderer takes seconds for each.
#[test]
fn what_is_drawn_can_be_rendered() {
    let rendered = ["correlation", "mixed", ODD];
    let plans = all();
    for plan in plans
        .iter()
        .filter(|plan| rendered.contains(&&*plan.pipeline))
    {
        let svg = render_strict(&render::mermaid(plan), RenderOptions::default());
        let svg = svg.expect("a flowchart");
        let [stages, ops] = names(plan);
        for name in stages.iter().chain(&ops) {
            assert!(svg.contains(name.as_str()), "{name}");
        }
    }
}

/// A page shows at most 500 edges and 50,000 characters unless it is told otherwise.
#[test]
fn large_plans_are_drawn_by_stage() {
    let read = parsed(&chain(3, 200));
    assert_eq!(read.nodes.len(), 1 + 3 + 1);
    assert!(read.subgraphs.is_empty());
    assert!(render::mermaid(&chain(3, 40)).len() <= 50_000);
}

fn parsed(plan: &Plan) -> Graph {
    let text = render::mermaid(plan);
    let parsed = parse_mermaid_strict(&text);
    parsed
        .unwrap_or_else(|error| panic!("{error:?}\n{text}"))
        .graph
}

/// A label as a browser shows it: entities are characters, `<br>` ends a line.
fn text(label: &str) -> String {
    let label = label.trim_matches('"').replace("<br>", "\n");
    let mut parts = label.split('#');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_once(';').expect("an entity");
        let code = code.parse().expect("a number");
        out.push(char::from_u32(code).expect("a character"));
        out += rest;
    }
    out
}
