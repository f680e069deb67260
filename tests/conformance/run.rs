//! A case from its graph to the comparison of its results.

use std::fs;
use std::path::Path;

use haul_compiler::{Facts, check, plan, target};
use haul_executor::{Cancel, Machine, Options, Paths, Silent};

use super::archive::{Archive, Case};
use super::array::Array;
use super::graph::Graph;
use super::{Left, Outcome};

pub(crate) fn run(archive: &Archive, case: &Case) -> Outcome {
    match compute(archive, case) {
        Ok(results) => compare(archive, case, &results),
        Err(left) => Outcome::Left(left),
    }
}

fn compute(archive: &Archive, case: &Case) -> Result<Vec<Array>, Left> {
    let mut graph = Graph::new(archive, case);
    graph.convert(case)?;
    let folder = tempfile::tempdir().expect("a temporary folder");
    graph.write_inputs(folder.path());
    let text = graph.pipeline();
    fs::write(folder.path().join("case.ron"), &text).expect("the pipeline is written");
    let left = |reason: String| Left {
        operator: case.nodes[0].op.clone(),
        reason,
    };
    execute(&text, folder.path()).map_err(left)?;
    let results = case.outputs.iter().enumerate().map(|(at, _)| {
        let path = folder.path().join(format!("out/{at}.npy"));
        Array::of_npy(&fs::read(path).expect("the run writes its outputs"))
    });
    Ok(results.collect())
}

/// As `haul run` does it.
fn execute(text: &str, folder: &Path) -> Result<(), String> {
    let checked = check(text, haul_kernels::catalogue(), &Facts::default());
    let typed = checked.typed.ok_or("it does not compile")?;
    let machine = Machine {
        cpus: 2,
        memory: 8 << 30,
        cpu: String::new(),
        emulated: Vec::new(),
    };
    let target = target::local(machine.cpus, machine.memory);
    let planned = plan(typed, &target, "case", "case.ron", &checked.places);
    let planned = planned.map_err(|refused| refused.mistakes[0].message.clone())?;
    let options = Options {
        paths: Paths::of_files(folder.to_owned()),
        out: folder.to_owned(),
        machine,
        keep_going: false,
        cancel: Cancel::new(),
        caching: None,
    };
    let outcome = haul_executor::run(&planned.plan, &options, &Silent);
    outcome.map(drop).map_err(|error| error.to_string())
}

fn compare(archive: &Archive, case: &Case, results: &[Array]) -> Outcome {
    for (result, stored) in results.iter().zip(&case.outputs) {
        let (rtol, atol_scale) = case.tolerance[&stored.name];
        if let Err(what) = result.agrees(&archive.array(stored), rtol, atol_scale) {
            return Outcome::Wrong(format!("`{}`: {what}", stored.name));
        }
    }
    Outcome::Right
}
