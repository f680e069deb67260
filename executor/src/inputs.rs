//! What can be known of the inputs before anything runs: files, headers, items, sizes.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use haul_ir::expr::Expr;
use haul_ir::format::{File, Settings, Typing};
use haul_ir::graph::{Graph, Input, Source};
use haul_ir::id::{CollectionId, IdVec, InputId, ValueId};
use haul_ir::location::Location;
use haul_ir::types::{TensorType, ValueType};

use crate::bind::Dims;
use crate::error::{IoError, RunError};
use crate::io::{self, Access};
use crate::stamp::Stamps;

/// The inputs of a run.
pub(crate) struct Inputs {
    pub(crate) collections: IdVec<CollectionId, Items>,
    /// Sizes that inputs bind for the whole run.
    pub(crate) dims: Dims,
    /// What tells whether their files are written to.
    pub(crate) stamps: Stamps,
}

/// The items of a collection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Items {
    /// What `{item}` stands for: the file's name without its ending, or the position.
    pub(crate) names: Vec<String>,
    /// The files, where they are files.
    pub(crate) files: Vec<PathBuf>,
}

impl Inputs {
    /// Finds the files and reads their headers. Whoever reads an item tells what is wrong with it,
    /// where its value is not `needed`.
    ///
    /// # Errors
    /// A file is missing, malformed, or of another type than declared; no file matches.
    pub(crate) fn open(
        graph: &Graph,
        needed: &HashSet<ValueId>,
        access: Access<'_>,
    ) -> Result<Self, RunError> {
        let limits = graph.dims.iter();
        let limits = limits.filter_map(|(symbol, dim)| Some((symbol.clone(), dim.max?)));
        let mut dims = Dims::with_limits(limits.collect());
        let mut collections = IdVec::filled(Items::default(), graph.collections.len());
        let mut shapes: HashMap<InputId, Vec<usize>> = HashMap::new();
        for (id, input) in graph.inputs.entries() {
            let ty = &graph.values[input.value].ty;
            match (&input.source, input.collection) {
                (Source::Files { glob, .. }, Some(collection)) => {
                    let files = io::files(glob, access.paths)?;
                    for file in &files {
                        match check_item(file, input, ty, &dims, access) {
                            Err(error) if needed.contains(&input.value) => return Err(error),
                            Ok(()) | Err(_) => {}
                        }
                    }
                    collections[collection] = Items::of_files(files);
                }
                (Source::File(file), None) => {
                    let found = io::peek(file, Some(ty), access);
                    let found = found.map_err(|error| error.of_input(&input.name))?;
                    if let Some(shape) =
                        learn(ty, &found, &mut dims).map_err(|reason| of_input(input, reason))?
                    {
                        shapes.insert(id, shape);
                    }
                }
                _ => {}
            }
        }
        let stamps = Stamps::of(graph, &collections, access.paths);
        let mut inputs = Self {
            collections,
            dims,
            stamps,
        };
        inputs.split(graph, &shapes)?;
        inputs.bind_widths(graph)?;
        Ok(inputs)
    }

    /// Counts the slices of inputs that are split.
    fn split(
        &mut self,
        graph: &Graph,
        shapes: &HashMap<InputId, Vec<usize>>,
    ) -> Result<(), RunError> {
        for input in graph.inputs.iter() {
            let (Source::Split { of, axis, size }, Some(collection)) =
                (&input.source, input.collection)
            else {
                continue;
            };
            let shape = match shapes.get(of) {
                Some(shape) => shape.clone(),
                None => self.declared_shape(graph, *of)?,
            };
            let length = shape.get(*axis).copied().unwrap_or(0) as u64;
            let count = length.div_ceil((*size).max(1)) as usize;
            self.collections[collection] = Items::of_slices(count);
        }
        Ok(())
    }

    fn declared_shape(&self, graph: &Graph, input: InputId) -> Result<Vec<usize>, RunError> {
        let input = &graph.inputs[input];
        let ty = graph.values[input.value].ty.tensor();
        let shape = ty.map_or(&[][..], |ty: &TensorType| &ty.shape);
        self.dims
            .shape(shape)
            .map_err(|reason| of_input(input, reason))
    }

    fn bind_widths(&mut self, graph: &Graph) -> Result<(), RunError> {
        for (id, collection) in graph.collections.entries() {
            let found = self.collections[id].names.len();
            let width = &collection.width;
            let bound = match width
                .as_symbol()
                .filter(|symbol| self.dims.get(symbol).is_none())
            {
                Some(symbol) => self.dims.bind(symbol, found as u64),
                None => self.expect_width(width, found),
            };
            bound.map_err(|reason| of_input(&graph.inputs[collection.input], reason))?;
        }
        Ok(())
    }

    fn expect_width(&self, width: &Expr, found: usize) -> Result<(), String> {
        let planned = self.dims.evaluate(width)?;
        match planned == found as i128 {
            true => Ok(()),
            false => Err(format!("there are {found} items, not {planned} as planned")),
        }
    }
}

/// Reads the header of a file of a collection, where that is less than reading or fetching it.
fn check_item(
    path: &Path,
    input: &Input,
    ty: &ValueType,
    dims: &Dims,
    access: Access<'_>,
) -> Result<(), RunError> {
    let file = item_file(path, input, ty)?;
    if file.format.typing == Typing::Numbers || Location::is_remote(&file.path) {
        return Ok(());
    }
    let found = io::peek(&file, Some(ty), access);
    let found = found.map_err(|error| error.of_input(&input.name))?;
    let met = learn(ty, &found, &mut dims.clone());
    met.map(drop).map_err(|reason| {
        let (name, path) = (&input.name, path.display());
        RunError::new(format!("input `{name}` (`{path}`): {reason}"))
    })
}

/// The files that an input reads, called as it calls them.
pub(crate) fn files_of<'a>(
    input: &'a Input,
    collections: &'a IdVec<CollectionId, Items>,
) -> Vec<&'a Path> {
    match (&input.source, input.collection) {
        (Source::File(file), _) => vec![Path::new(&file.path)],
        (Source::Files { .. }, Some(over)) => {
            let files = collections[over].files.iter();
            files.map(PathBuf::as_path).collect()
        }
        _ => Vec::new(),
    }
}

/// A file of a collection, as its input says to read it.
pub(crate) fn item_file(path: &Path, input: &Input, ty: &ValueType) -> Result<File, IoError> {
    match &input.source {
        Source::Files {
            format, settings, ..
        } => io::item(path, ty, *format, settings),
        _ => io::item(path, ty, None, &Settings::default()),
    }
}

/// Binds the sizes of a type to those that were found, and tells these.
fn learn(ty: &ValueType, found: &ValueType, dims: &mut Dims) -> Result<Option<Vec<usize>>, String> {
    if *ty == ValueType::Text {
        return Ok(None);
    }
    let sizes = found.sizes().iter().map(|size| size.as_u64());
    let sizes = sizes.map(|size| size.and_then(|size| usize::try_from(size).ok()));
    let shape: Vec<usize> = sizes
        .collect::<Option<_>>()
        .ok_or_else(|| format!("{found} is too large"))?;
    dims.unify(ty, &shape)?;
    Ok(Some(shape))
}

impl Items {
    fn of_files(files: Vec<PathBuf>) -> Self {
        let names = files.iter().map(|file| item_name(file)).collect();
        Self { names, files }
    }

    fn of_slices(count: usize) -> Self {
        let names = (0..count).map(|index| index.to_string()).collect();
        let files = Vec::new();
        Self { names, files }
    }
}

/// The file's name without its ending: `a.csv.gz` is `a`.
fn item_name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default();
    let stem = match io::is_gzipped(file) {
        true => Path::new(stem).file_stem().unwrap_or(stem),
        false => stem,
    };
    stem.to_string_lossy().into_owned()
}

/// Blames an input, and its file where it has one.
pub(crate) fn of_input(input: &Input, reason: String) -> RunError {
    let place = match &input.source {
        Source::File(File { path, .. }) | Source::Files { glob: path, .. } => {
            format!("input `{}` (`{path}`): ", input.name)
        }
        _ => format!("input `{}`: ", input.name),
    };
    RunError::new(place + &reason)
}
