//! What is known of a pipeline beside its file: params from flags, types from the headers of
//! data files, numbers of items.

use haul_compiler::{Checked, Facts, check as compile, render, syntax, undeclared};
use haul_executor::Paths;
use haul_ir::format::{self, Typing};
use haul_ir::graph::{Graph, Input, Pin, Source};
use haul_ir::types::ValueType;

use crate::exit::Trouble;
use crate::file::File;

/// Overrides of what a pipeline file says, as flags.
#[derive(Default, clap::Args)]
pub(crate) struct Set {
    /// Gives a param or dim another value: `--set rate=0.1`.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    params: Vec<(String, String)>,
    /// Pins a stage, a line or an op to a side, whatever the file says: `--pin kernel.g=cpu`.
    #[arg(long = "pin", value_name = "NAME=SIDE", value_parser = pin)]
    pins: Vec<(String, Pin)>,
}

impl Set {
    /// Whether nothing is overridden.
    pub(crate) fn is_empty(&self) -> bool {
        self.params.is_empty() && self.pins.is_empty()
    }

    fn facts(&self) -> Facts {
        Facts {
            params: self.params.clone(),
            pins: self.pins.clone(),
            ..Facts::default()
        }
    }
}

/// Checks a pipeline file. The only data read are headers of inputs that declare no type.
pub(crate) fn check(file: &File, set: &Set) -> Checked {
    check_along(file, set, &Paths::of_files(file.folder()))
}

/// The same, along paths that remember what was read.
pub(crate) fn check_along(file: &File, set: &Set, paths: &Paths) -> Checked {
    let mut facts = set.facts();
    if let (Some(ast), _) = syntax::parse(&file.text) {
        for (name, data) in undeclared(&ast) {
            read_header(&mut facts, file, paths, &name, &data, None);
        }
    }
    compile(&file.text, haul_kernels::catalogue(), &facts)
}

/// Refuses pins of what the pipeline does not have.
pub(crate) fn know_pins(checked: &Checked) -> Result<(), Trouble> {
    match (&checked.unknown_pins[..], &checked.typed) {
        ([name, ..], Some(typed)) => Err(unknown_name(typed.graph(), name)),
        _ => Ok(()),
    }
}

/// A pipeline has no stage, line or op of that name.
pub(crate) fn unknown_name(graph: &Graph, name: &str) -> Trouble {
    let stages = graph.stages.iter().map(|stage| stage.name.clone());
    let ops = graph.ops.ids().map(|op| render::op_name(graph, op));
    let names: Vec<_> = stages.chain(ops).collect();
    let all = "names are those of stages and ops, as `haul plan` prints them: `stage.op`";
    Trouble::unknown("stage or op", name, names.iter().map(String::as_str), all)
}

/// Checks it once more, with the headers of all data and the numbers of items.
pub(crate) fn check_with_data(file: &File, set: &Set, paths: &Paths, graph: &Graph) -> Checked {
    let mut facts = set.facts();
    for input in graph.inputs.iter() {
        read_data(
            &mut facts,
            file,
            paths,
            input,
            &graph.values[input.value].ty,
        );
    }
    compile(&file.text, haul_kernels::catalogue(), &facts)
}

fn read_data(facts: &mut Facts, file: &File, paths: &Paths, input: &Input, ty: &ValueType) {
    let name = &input.name;
    match &input.source {
        Source::File(data) if data.format.typing != Typing::Text => {
            read_header(facts, file, paths, name, data, Some(ty));
        }
        Source::Files { glob, .. } => match haul_executor::files(glob, paths) {
            Ok(files) => {
                facts.widths.insert(name.clone(), files.len() as u64);
            }
            Err(error) => {
                let error = file.renamed(&error.to_string());
                facts.unreadable.insert(name.clone(), error);
            }
        },
        // Made here, or read when the run begins: their types tell nothing new.
        Source::File(_)
        | Source::Split { .. }
        | Source::Random { .. }
        | Source::Constant { .. }
        | Source::Texts { .. }
        | Source::Linspace { .. } => {}
    }
}

fn read_header(
    facts: &mut Facts,
    file: &File,
    paths: &Paths,
    name: &str,
    data: &format::File,
    declared: Option<&ValueType>,
) {
    match haul_executor::header(data, declared, paths) {
        Ok(ty) => {
            facts.headers.insert(name.to_owned(), ty);
        }
        Err(error) => {
            let error = file.renamed(&error.to_string());
            facts.unreadable.insert(name.to_owned(), error);
        }
    }
}

fn pin(text: &str) -> Result<(String, Pin), String> {
    let (name, side) = assignment(text).map_err(|_| "write NAME=cpu or NAME=gpu")?;
    let pin = match side.to_ascii_lowercase().as_str() {
        "cpu" => Pin::Cpu,
        "gpu" => Pin::Gpu,
        "auto" => Pin::Auto,
        _ => return Err("a side is `cpu`, `gpu`, or `auto`".to_owned()),
    };
    Ok((name, pin))
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write NAME=VALUE".to_owned()),
    }
}
