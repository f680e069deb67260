//! DOT, read and rendered by `layout-rs`.

use haul_compiler::render;
use haul_ir::plan::{Plan, Side};
use layout::backends::svg::SVGWriter;
use layout::gv::parser::ast::{AttributeList, Graph, Stmt};
use layout::gv::{DotParser, GraphBuilder};

use super::{all, chain, names};

#[test]
fn every_stage_and_op_is_drawn() {
    for plan in all() {
        let read = Read::of(&plan);
        let [stages, ops] = names(&plan);
        assert_eq!(read.clusters.len(), stages.len());
        for (name, label) in stages.iter().zip(&read.clusters) {
            assert!(label.starts_with(name), "{name}: {label}");
        }
        for op in ops {
            let is_of = |label: &String| {
                label
                    .lines()
                    .any(|line| line == op || line == format!("after {op}"))
            };
            assert!(read.nodes.iter().any(|(_, label, _)| is_of(label)), "{op}");
        }
    }
}

#[test]
fn what_is_on_a_gpu_has_two_borders() {
    for plan in all() {
        let gpu = plan.groups.iter();
        let gpu = gpu
            .filter(|group| group.placement.side == Side::Gpu)
            .count();
        let read = Read::of(&plan);
        let borders = read.nodes.iter().filter(|(_, _, borders)| *borders == 2);
        assert_eq!(borders.count(), gpu);
    }
}

/// A transfer is one node: an edge comes in, one goes out for each reader, all of them bold.
#[test]
fn transfers_are_bold() {
    for plan in all() {
        let read = Read::of(&plan);
        let of_transfer = |id: &str| id.starts_with("transfer");
        for (from, to, is_bold) in &read.edges {
            assert_eq!(*is_bold, of_transfer(from) || of_transfer(to));
        }
        let transfers = read.nodes.iter().filter(|(id, ..)| of_transfer(id));
        for (id, label, _) in transfers {
            let into = read.edges.iter().filter(|(_, to, _)| to == id).count();
            let out = read.edges.iter().filter(|(from, ..)| from == id).count();
            assert!(into == 1 && out >= 1, "{label}: {into} in, {out} out");
        }
        let planned = plan.stages.iter().map(|stage| stage.transfers.len());
        let drawn = read.nodes.iter().filter(|(id, ..)| of_transfer(id)).count();
        assert_eq!(drawn, planned.sum::<usize>());
    }
}

#[test]
fn what_is_drawn_can_be_rendered() {
    for plan in all().iter().take(6) {
        let mut builder = GraphBuilder::new();
        builder.visit_graph(&parsed(plan));
        let mut svg = SVGWriter::new();
        builder.get().do_it(false, false, false, &mut svg);
        let svg = svg.finalize();
        for op in names(plan)[1].iter() {
            assert!(svg.contains(op.as_str()), "{op}");
        }
    }
}

#[test]
fn large_plans_are_drawn_by_stage() {
    // 3 stages of 701 products are 2,103 ops, more than 2,000.
    let read = Read::of(&chain(3, 700));
    let ids: Vec<_> = read.nodes.iter().map(|(id, ..)| id.as_str()).collect();
    assert_eq!(
        ids,
        ["input_0", "stage_0", "stage_1", "stage_2", "output_0"]
    );
    // The input is read by each; each is read by the next; the last by the output.
    assert_eq!(read.edges.len(), 3 + 2 + 1);
}

/// What a reader of DOT sees.
#[derive(Default)]
struct Read {
    /// Ids, labels, and how many borders.
    nodes: Vec<(String, String, usize)>,
    /// From, to, whether bold.
    edges: Vec<(String, String, bool)>,
    /// Labels.
    clusters: Vec<String>,
}

impl Read {
    fn of(plan: &Plan) -> Self {
        let mut read = Self::default();
        read.visit(&parsed(plan));
        read
    }

    fn visit(&mut self, graph: &Graph) {
        for statement in &graph.list.list {
            match statement {
                Stmt::Node(node) => self.nodes.push((
                    node.id.name.clone(),
                    attribute(&node.list, "label").expect("a label"),
                    attribute(&node.list, "peripheries")
                        .map_or(1, |n| n.parse().expect("a number")),
                )),
                Stmt::Edge(edge) => self.edges.push((
                    edge.from.name.clone(),
                    edge.to[0].0.name.clone(),
                    attribute(&edge.list, "style").as_deref() == Some("bold"),
                )),
                Stmt::Attribute(attributes) => {
                    self.clusters.extend(attribute(&attributes.list, "label"));
                }
                Stmt::SubGraph(graph) => self.visit(graph),
            }
        }
    }
}

fn parsed(plan: &Plan) -> Graph {
    let text = render::dot(plan);
    let graph = DotParser::new(&text).process();
    graph.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn attribute(list: &AttributeList, name: &str) -> Option<String> {
    let found = list.iter().find(|(key, _)| key == name);
    found.map(|(_, value)| value.clone())
}
