//! Pages that are made from lists are as the lists say.

use haul_compiler::diagnostics::codes::codes;
use haul_compiler::diff::Comparison;
use haul_compiler::events::EventLine;
use haul_compiler::measured::Measured;
use haul_compiler::render::{signature, visible, wrapped};
use haul_compiler::saved::SavedPlan;
use haul_ir::op::{Family, GpuKernel, Op};

use crate::support::{self, assert_fresh, files, relative, root};

const HOW: &str = "HAUL_ACCEPT=1 cargo test --test whole generated";

#[test]
fn the_page_of_ops() {
    let mut page =
        "# Ops\n\nWhat formulas can call. `haul ops` and `haul ops NAME` print the same, \
        `haul ops WORDS` finds ops\nby what they say, and `haul ops NAME --example` prints the \
        example as a pipeline to run. This page is\nmade from the list in `kernels/src/ops.rs`.\n"
            .to_owned();
    for family in Family::ALL {
        let ops = haul_kernels::catalogue()
            .0
            .iter()
            .filter(|op| op.family() == family);
        page += &format!("\n## {}\n", family.name());
        ops.for_each(|op| page += &entry(*op));
    }
    assert_fresh(&root().join("docs/ops.md"), &page, HOW);
}

#[test]
fn the_page_of_diagnostics() {
    let mut page =
        "# Diagnostics\n\nWhat `haul` says about a pipeline, by code; `haul explain CODE` \
        prints the same. E01 is the file,\nE02 names, types and shapes, E03 requests, E04 data; W \
        are warnings. This page is made from the list in\n`compiler/src/diagnostics/codes.rs`.\n"
            .to_owned();
    for info in codes() {
        let [wrong, right] = [info.wrong, info.right].map(|text| visible(text.trim_matches('\n')));
        let explanation = wrapped(0, 0, info.explanation);
        page += &format!("\n## {}: {}\n\n{explanation}", info.code, info.title);
        page += &format!("\n```text\nwrong: {wrong}right: {right}```\n");
    }
    assert_fresh(&root().join("docs/diagnostics.md"), &page, HOW);
}

#[test]
fn the_schemas_of_json_forms() {
    let folder = root().join("docs/schema");
    assert_fresh(&folder.join("plan.json"), &SavedPlan::schema(), HOW);
    assert_fresh(&folder.join("diff.json"), &Comparison::schema(), HOW);
    assert_fresh(&folder.join("report.json"), &Measured::schema(), HOW);
    assert_fresh(&folder.join("events.json"), &EventLine::schema(), HOW);
}

/// What is printed as JSON is as the published schemas say, and what is not is found.
#[test]
fn json_is_of_its_schema() {
    let plan = Schema::read("plan");
    let diff = Schema::read("diff");
    for file in files(&root().join("pipelines"), ".ron") {
        let file = relative(&file);
        let of = |target: &str| {
            let args = ["plan", &file, "--target", target, "--format", "json"];
            let json = support::stdout(support::haul().args(args));
            serde_json::from_str(&json).expect("JSON")
        };
        for target in ["a100", "cpu", "mixed"] {
            plan.check(&of(target));
        }
        let old = file.replace(".ron", ".cpu.plan");
        let args = ["diff", &old, &file, "--target", "a100", "--format", "json"];
        let (_, json, _) = support::outcome(support::haul().args(args));
        diff.check(&serde_json::from_str(&json).expect("JSON"));
        let mut broken: serde_json::Value = of("cpu");
        broken["stages"][0]["requests"][0]["cpus"] = "many".into();
        assert!(!plan.is_valid(&broken));
    }
}

/// A published schema.
pub(crate) struct Schema(jsonschema::Validator);

impl Schema {
    pub(crate) fn read(name: &str) -> Self {
        let path = root().join(format!("docs/schema/{name}.json"));
        let schema = serde_json::from_str(&support::read(&path)).expect("JSON");
        Self(jsonschema::validator_for(&schema).expect("a schema"))
    }

    pub(crate) fn is_valid(&self, json: &serde_json::Value) -> bool {
        self.0.is_valid(json)
    }

    pub(crate) fn check(&self, json: &serde_json::Value) {
        let errors = self.0.iter_errors(json);
        let errors: Vec<_> = errors
            .map(|e| format!("{e} at {}", e.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{}", errors.join("\n"));
    }
}

fn entry(op: &dyn Op) -> String {
    let gpu = match op.gpu() {
        GpuKernel::Generated => "generated for its fused group".to_owned(),
        GpuKernel::Library(routine) => routine.to_owned(),
        GpuKernel::Own => "a kernel of its own".to_owned(),
        GpuKernel::View => "a change of layout".to_owned(),
        GpuKernel::None(why) => format!("none: {why}"),
    };
    let mut entry = format!("\n### `{}`\n\n{}\n", signature(op), wrapped(0, 0, op.doc()));
    entry += &format!("- shapes: `{}`\n", op.rule());
    entry += &format!(
        "- work: {}\n- on a GPU: {gpu}\n",
        op.work_formula().replace('*', "\\*")
    );
    if let Some(example) = op.examples().first() {
        let given = example
            .given
            .iter()
            .map(|(name, ty, elements)| format!("{name} = {ty} {elements}\n"));
        let (ty, elements) = example.result;
        let given: String = given.collect();
        let formula = match example.call() {
            (call, None) => call.to_owned(),
            (_, Some(first)) => format!("{}\n{first}", example.formula),
        };
        entry += &format!("\n```text\n{given}{formula} = {ty} {elements}\n```\n");
    }
    entry
}
