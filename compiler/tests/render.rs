//! How plans and reports look. The plan is made by hand, so that a change of the cost model
//! changes nothing here.

mod drawings;
mod plans;
mod runs;

use haul_compiler::render::{Colour, WIDTH, changes, comparison, dot, mermaid, summary, text};
use haul_compiler::saved::SavedPlan;
use haul_compiler::{Outcome, Verdict};
use haul_ir::diagnostic::Span;
use haul_ir::expr::Symbol;
use haul_ir::plan::{Plan, Reason, Side};

use plans::{per_stage, spectra};

fn snapshot(plan: &Plan) -> String {
    SavedPlan::of(plan).snapshot()
}

macro_rules! assert_page {
    ($name:literal, $text:expr) => {
        let text = $text;
        insta::with_settings!({
            snapshot_path => "render", prepend_module_to_snapshot => false, omit_expression => true
        }, {
            insta::assert_snapshot!($name, &text);
        });
        assert!(text.ends_with('\n'));
    };
}

#[test]
fn for_people() {
    assert_page!("text", text(&spectra(), Colour::Plain));
    assert_page!("summary", summary(&spectra(), Colour::Plain));
}

#[test]
fn for_version_control() {
    assert_page!("snapshot", snapshot(&spectra()));
}

#[test]
fn as_graphs() {
    assert_page!("dot", dot(&spectra()));
    assert_page!("mermaid", mermaid(&spectra()));
}

#[test]
fn unknown_sizes() {
    let mut plan = spectra();
    plan.dims.clear();
    assert_page!("unknown_sizes", text(&plan, Colour::Plain));
    assert!(snapshot(&plan).contains("\ndim B 1..8192 unknown\n"));
}

#[test]
fn targets_side_by_side() {
    let plan = spectra();
    let verdict = |outcome| Verdict {
        request: 0,
        span: Span::new(0, 0),
        node: None,
        outcome,
    };
    let impossible = Outcome::Impossible {
        missing: vec!["it has no GPU".to_owned()],
        nearest: Some("gpus: 0".to_owned()),
    };
    let verdicts = per_stage([verdict(impossible), verdict(Outcome::Fits)]);
    let rows = [("a100", Ok(&plan)), ("laptop", Err(&verdicts))];
    let graph = plan.typed.graph();
    assert_page!("comparison", comparison(graph, &rows, Colour::Plain));
}

#[test]
fn what_data_changed() {
    let before = spectra();
    assert_eq!(changes(&before, &before), "");
    let mut after = spectra();
    after.stages.iter_mut().next().expect("a stage").request = 1;
    let placement = &mut after.groups.iter_mut().next().expect("a group").placement;
    (placement.side, placement.reason) = (Side::Cpu, Reason::NoGpuRequested);
    assert_page!("changes", changes(&before, &after));
}

#[test]
fn text_for_people_fits() {
    let plan = spectra();
    for page in [text(&plan, Colour::Plain), summary(&plan, Colour::Plain)] {
        assert!(
            page.lines().all(|line| line.chars().count() <= WIDTH),
            "{page}"
        );
    }
}

/// Colours are escapes around the same text.
#[test]
fn colours_change_no_text() {
    let plan = spectra();
    let coloured = text(&plan, Colour::Ansi);
    assert!(coloured.contains("\u{1b}["));
    let mut plain = String::new();
    for (position, part) in coloured.split("\u{1b}[").enumerate() {
        let part = if position == 0 {
            part
        } else {
            part.split_once('m').expect("a style").1
        };
        plain += part;
    }
    assert_eq!(plain, text(&plan, Colour::Plain));
}

/// The layout holds facts, one a line, and nothing of the figures above `estimates`.
#[test]
fn figures_of_the_target_stand_under_estimates() {
    let (plan, mut slower) = (spectra(), spectra());
    slower.estimates.makespan = Some(1);
    for group in slower.groups.iter_mut() {
        group.placement.regret = None;
        group.placement.flip = None;
        (group.cpu, group.gpu) = (None, None);
    }
    let (a, b) = (snapshot(&plan), snapshot(&slower));
    let decisions = |text: &str| text.split("\nestimates").next().map(str::to_owned);
    assert_eq!(decisions(&a), decisions(&b));
    assert_ne!(a, b);
}

/// Names of any length and script keep the table within its width.
#[test]
fn long_names_are_cut() {
    let plan = renamed(&"größe_".repeat(30));
    let text = text(&plan, Colour::Plain);
    assert!(text.contains('…'));
    let table = text.lines().filter(|line| line.starts_with("  größe"));
    assert!(table.count() > 0);
    assert!(
        text.lines()
            .filter(|line| line.contains('…'))
            .all(|line| line.chars().count() <= WIDTH)
    );
}

fn renamed(name: &str) -> Plan {
    let plan = spectra();
    let groups = plan.typed.groups().clone();
    let mut graph = plan.typed.into_graph();
    graph.ops.iter_mut().next().expect("an op").name = name.to_owned();
    let typed = haul_ir::graph::Typed::check(graph, groups).expect("a sound graph");
    Plan {
        typed,
        dims: vec![(Symbol::new("B"), 1024)],
        ..plan
    }
}
