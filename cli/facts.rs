//! What is known of a pipeline beside its file: params from flags, types from the headers of
//! data files, numbers of items.

use haul_compiler::{Checked, Facts, check as compile, syntax, undeclared};
use haul_ir::graph::{Graph, Input, Source};
use haul_ir::types::ValueType;

use crate::file::File;

/// Overrides of params, as flags.
#[derive(Default, clap::Args)]
pub(crate) struct Set {
    /// Gives a param or dim another value: `--set rate=0.1`.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    params: Vec<(String, String)>,
}

/// Checks a pipeline file. The only data read are headers of inputs that declare no type.
pub(crate) fn check(file: &File, set: &Set) -> Checked {
    let mut facts = Facts {
        params: set.params.clone(),
        ..Facts::default()
    };
    if let (Some(ast), _) = syntax::parse(&file.text) {
        for (name, source) in undeclared(&ast) {
            read_header(&mut facts, file, &name, &source);
        }
    }
    compile(&file.text, haul_kernels::catalogue(), &facts)
}

/// Checks it once more, with the headers of all data and the numbers of items.
pub(crate) fn check_with_data(file: &File, set: &Set, graph: &Graph) -> Checked {
    let mut facts = Facts {
        params: set.params.clone(),
        ..Facts::default()
    };
    for input in graph.inputs.iter() {
        read_data(&mut facts, file, input);
        if matches!(input.source, Source::Csv { .. }) {
            adopt_dtype(&mut facts, &input.name, &graph.values[input.value].ty);
        }
    }
    compile(&file.text, haul_kernels::catalogue(), &facts)
}

fn read_data(facts: &mut Facts, file: &File, input: &Input) {
    let name = &input.name;
    match &input.source {
        Source::Npy { .. } | Source::Npz { .. } | Source::Csv { .. } | Source::Image { .. } => {
            read_header(facts, file, name, &input.source);
        }
        Source::Files { glob } => match haul_executor::files(glob, &file.folder()) {
            Ok(files) => {
                facts.widths.insert(name.clone(), files.len() as u64);
            }
            Err(error) => {
                facts.unreadable.insert(name.clone(), error.to_string());
            }
        },
        // Made here, or read when the run begins: their types tell nothing new.
        Source::Text { .. }
        | Source::Split { .. }
        | Source::Random { .. }
        | Source::Constant { .. }
        | Source::Linspace { .. } => {}
    }
}

/// Numbers in text have no dtype of their own: they are read as what is declared.
fn adopt_dtype(facts: &mut Facts, name: &str, declared: &ValueType) {
    let found = facts.headers.get_mut(name);
    if let (Some(ValueType::Tensor(found)), Some(declared)) = (found, declared.tensor()) {
        found.dtype = declared.dtype;
    }
}

fn read_header(facts: &mut Facts, file: &File, name: &str, source: &Source) {
    match haul_executor::header(source, &file.folder()) {
        Ok(ty) => {
            facts.headers.insert(name.to_owned(), ty);
        }
        Err(error) => {
            facts.unreadable.insert(name.to_owned(), error.to_string());
        }
    }
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write NAME=VALUE".to_owned()),
    }
}
