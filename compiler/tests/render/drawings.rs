//! Drawings, read back by tools that know nothing of haul: a reader of DOT, a renderer of
//! Mermaid, a tokenizer of HTML.

mod dot;
mod html;
mod mermaid;

use std::path::Path;

use haul_compiler::{Facts, check, plan, target};
use haul_ir::graph::Typed;
use haul_ir::plan::Plan;

use super::plans::spectra;

/// A name that a file may have.
const ODD: &str = "</title>\"&";

/// Names that the language allows and that mean something to one of the tools.
const HOSTILE: &str = r#"Pipeline(
    version: 1,
    inputs: {
        "graph": Npy(path: "data/a.npy", type: "f32[4, 4]"),
        "größe": Npy(path: "data/b.npy", type: "f32[4, 4]"),
    },
    stages: {
        "end":      (do: "subgraph = graph @ größe\nclass = subgraph + 1\n_x_ = class * 2\n__init__ = exp(_x_)\n__init__ @ graph"),
        "style":    (do: "digraph = end @ end\nnode = sum(digraph)\ndefault = digraph - node\ndefault @ graph"),
        "日本語":    (do: "click = style @ style\nedge = click / 3\nedge @ edge"),
        "o1":       (do: "x9 = 日本語 + 1\nx9 @ x9"),
    },
    outputs: {
        "a\"b</script><script>alert(1)</script>": Npy(path: "out/[x]{y}-->|z|.npy", from: "o1"),
        "\\N %%{init}%% `**b**` #quot; &lt;": Npy(path: "out/é \\ fa:fa-ban;.npy", from: "end"),
    },
)"#;

/// Names that no file can give to ops and stages.
const SMUGGLED: [&str; 6] = [
    "</script><script>alert(1)</script>",
    "a\"b[c]{d}|e|-->f",
    "%%{init}%% `**b**` $$x$$",
    "\\N\\l\\\" end",
    "&lt;#quot;' onclick='x",
    "{{script}} ]]> <!-- -->",
];

/// The pipelines of the repository on a machine with a GPU, and what is hostile.
fn all() -> Vec<Plan> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pipelines");
    let names = ["correlation", "denoise", "digits", "filters", "mixed"];
    let read = |name| {
        let path = folder.join(format!("{name}.ron"));
        planned(name, &std::fs::read_to_string(path).expect("a pipeline"))
    };
    let mut all: Vec<_> = names.into_iter().map(read).collect();
    all.extend([planned(ODD, HOSTILE), smuggled(), spectra()]);
    all
}

fn planned(name: &str, text: &str) -> Plan {
    let checked = check(text, haul_kernels::catalogue(), &Facts::default());
    let typed = checked
        .typed
        .unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let target = target::find("a100").expect("a target of the library");
    let planned = plan(
        typed,
        &target,
        name,
        &format!("{name}.ron"),
        &checked.places,
    );
    planned
        .unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
        .plan
}

/// A plan with names that no file can give.
fn smuggled() -> Plan {
    let plan = spectra();
    let groups = plan.typed.groups().clone();
    let mut graph = plan.typed.into_graph();
    let mut names = SMUGGLED.iter().map(|name| (*name).to_owned());
    for op in graph.ops.iter_mut() {
        op.name = names.next().unwrap_or_else(|| op.name.clone());
    }
    for (stage, name) in graph.stages.iter_mut().zip(SMUGGLED) {
        stage.name = name.to_owned();
    }
    let typed = Typed::check(graph, groups).expect("a sound graph");
    Plan {
        pipeline: SMUGGLED[0].to_owned(),
        typed,
        ..plan
    }
}

/// The names of all stages, and of all ops.
fn names(plan: &Plan) -> [Vec<String>; 2] {
    let graph = plan.typed.graph();
    [
        graph
            .stages
            .iter()
            .map(|stage| stage.name.clone())
            .collect(),
        graph.ops.iter().map(|op| op.name.clone()).collect(),
    ]
}

/// A chain of so many stages with so many ops that do not fuse.
fn chain(stages: usize, ops: usize) -> Plan {
    let mut text = String::from(
        "Pipeline(version: 1, inputs: { \"x\": Npy(path: \"x.npy\", type: \"f32[8, 8]\") }, stages: {\n",
    );
    for stage in 0..stages {
        let from = match stage {
            0 => "x".to_owned(),
            _ => format!("s{}", stage - 1),
        };
        let mut lines = format!("a0 = {from} @ x");
        for op in 1..ops {
            lines += &format!("\\na{op} = a{} @ x", op - 1);
        }
        text += &format!("\"s{stage}\": (do: \"{lines}\\na{} @ x\"),\n", ops - 1);
    }
    let last = stages - 1;
    text += &format!("}}, outputs: {{ \"y\": Npy(path: \"y.npy\", from: \"s{last}\") }})");
    planned("chain", &text)
}
