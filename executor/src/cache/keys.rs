//! The keys of tasks: what a task computes, on what, and by which program.

use std::hash::Hash;
use std::path::Path;
use std::sync::OnceLock;

use haul_ir::expr::Symbol;
use haul_ir::graph::{Graph, Input, Producer, Source};
use haul_ir::id::{CollectionId, IdVec, InputId, StageId, ValueId};
use haul_ir::op::CpuKernel;
use haul_ir::plan::Plan;

use super::files::Files;
use super::hash::{Key, KeyHasher};
use super::recipe::{Recipe, hash_type};
use crate::cancel::Stop;
use crate::inputs::{Inputs, Items, item_file};
use crate::paths::Paths;
use crate::program::{Program, Read};
use crate::schedule::TaskId;
use crate::stamp::{Stamp, Stamps, local};

/// What the data says of a symbol, for a task.
pub(super) type Sizes<'a> = dyn Fn(TaskId, &Symbol) -> Option<u64> + Sync + 'a;

/// A key that is made once; none, where what it depends on cannot be told.
type Slot = OnceLock<Option<Key>>;

/// The keys of the tasks of a run.
pub(super) struct Keys<'a> {
    graph: &'a Graph,
    programs: &'a IdVec<StageId, Program>,
    collections: &'a IdVec<CollectionId, Items>,
    paths: &'a Paths,
    stamps: &'a Stamps,
    stop: &'a Stop,
    files: Files,
    recipes: IdVec<StageId, OnceLock<Recipe>>,
    /// The device that computes, by its name.
    device: &'a str,
    /// The file of the program that computes.
    program: &'a Path,
    computes: Slot,
    inputs: IdVec<InputId, Vec<Slot>>,
    tasks: IdVec<StageId, Vec<Slot>>,
}

/// What keys are made of.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) programs: &'a IdVec<StageId, Program>,
    pub(crate) inputs: &'a Inputs,
    pub(crate) paths: &'a Paths,
    pub(crate) stop: &'a Stop,
    /// The device that computes, by its name.
    pub(crate) device: &'a str,
}

impl<'a> Keys<'a> {
    pub(super) fn new(parts: Parts<'a>, program: &'a Path, files: Files) -> Self {
        let graph = parts.plan.typed.graph();
        let slots = |over: Option<CollectionId>| {
            let count = over.map_or(1, |over| parts.inputs.collections[over].names.len());
            (0..count).map(|_| Slot::new()).collect()
        };
        Self {
            graph,
            programs: parts.programs,
            collections: &parts.inputs.collections,
            paths: parts.paths,
            stamps: &parts.inputs.stamps,
            stop: parts.stop,
            files,
            recipes: parts.programs.iter().map(|_| OnceLock::new()).collect(),
            device: parts.device,
            program,
            computes: Slot::new(),
            inputs: (graph.inputs.iter().map(|input| slots(input.collection))).collect(),
            tasks: (graph.stages.iter().map(|stage| slots(stage.each))).collect(),
        }
    }

    pub(super) fn files(&self) -> &Files {
        &self.files
    }

    /// The key of a task; none, where a file cannot be read or a size is not known yet.
    pub(super) fn task(&self, id: TaskId, sizes: &Sizes<'_>) -> Option<Key> {
        // Not by recursion: a pipeline may be a chain of 100,000 stages.
        let mut open = vec![id];
        while let Some(&task) = open.last() {
            let before = open.len();
            if self.slot(task).get().is_none() {
                let needed = self.producers(task);
                open.extend(needed.filter(|task| self.slot(*task).get().is_none()));
            }
            if open.len() == before {
                self.slot(task).get_or_init(|| self.make(task, sizes));
                open.pop();
            }
        }
        *self.slot(id).get()?
    }

    /// The tasks whose results a task reads.
    pub(super) fn producers(&self, id: TaskId) -> impl Iterator<Item = TaskId> {
        let reads = self.programs[id.stage].reads.iter();
        reads.flat_map(move |read| {
            let value = read.value();
            let stage = match self.graph.values[value].producer {
                Producer::Op(op) => Some(self.graph.ops[op].stage),
                Producer::Input(_) => None,
            };
            let items = self.items(*read, id);
            stage.into_iter().flat_map(move |stage| {
                let is_over = self.graph.stages[stage].each.is_some();
                items.clone().map(move |item| TaskId {
                    stage,
                    item: is_over.then_some(item),
                })
            })
        })
    }

    fn slot(&self, id: TaskId) -> &Slot {
        &self.tasks[id.stage][id.item.unwrap_or(0)]
    }

    /// The items of a value that a task reads; the only one, where it has no items.
    fn items(&self, read: Read, id: TaskId) -> std::ops::Range<usize> {
        match (read, self.graph.values[read.value()].over) {
            (Read::One(_), Some(_)) => id.item.map_or(0..0, |item| item..item + 1),
            (Read::One(_), None) => 0..1,
            (Read::Items(_), over) => 0..over.map_or(1, |over| self.collections[over].names.len()),
        }
    }

    fn make(&self, id: TaskId, sizes: &Sizes<'_>) -> Option<Key> {
        let mut ops = self.graph.stages[id.stage].ops.iter();
        if ops.any(|op| matches!(self.graph.ops[*op].op.cpu(), CpuKernel::Program)) {
            return None; // Nobody knows what a program reads beside its values.
        }
        let recipe = self.recipes[id.stage]
            .get_or_init(|| Recipe::of(self.graph, id.stage, &self.programs[id.stage]));
        let known = recipe.sizes.iter().map(|symbol| sizes(id, symbol));
        let known: Vec<u64> = known.collect::<Option<_>>()?;
        let mut hasher = KeyHasher::default();
        ("task", self.computes()?.0, recipe.key.0, known).hash(&mut hasher);
        for read in &self.programs[id.stage].reads {
            let items = self.items(*read, id);
            items.len().hash(&mut hasher);
            for item in items {
                self.value(read.value(), item, id, sizes)?.hash(&mut hasher);
            }
        }
        Some(hasher.key())
    }

    /// What computes: another build or another device may give other bits.
    fn computes(&self) -> Option<Key> {
        *self.computes.get_or_init(|| {
            let stamp = Stamp::at(self.program).ok()?;
            let program = self.files.hash(self.program, &stamp, self.stop).ok()?;
            Some(Key::of("computes", &|hasher| {
                (program.0, self.device).hash(hasher);
            }))
        })
    }

    /// The key of a value, or of an item of it, and which of the results of its task it is.
    fn value(
        &self,
        value: ValueId,
        item: usize,
        reader: TaskId,
        sizes: &Sizes<'_>,
    ) -> Option<([u8; 32], usize)> {
        let Producer::Op(op) = self.graph.values[value].producer else {
            let Producer::Input(input) = self.graph.values[value].producer else {
                return None;
            };
            return Some((self.input(input, item, reader, sizes)?.0, 0));
        };
        let stage = self.graph.ops[op].stage;
        let mut results = self.programs[stage].results.iter();
        let position = results.position(|result| *result == value)?;
        let key = (*self.tasks[stage].get(item)?.get()?)?;
        Some((key.0, position))
    }

    fn input(&self, id: InputId, item: usize, reader: TaskId, sizes: &Sizes<'_>) -> Option<Key> {
        let make = || self.make_input(id, item, reader, sizes);
        *self.inputs[id].get(item)?.get_or_init(make)
    }

    fn make_input(
        &self,
        id: InputId,
        item: usize,
        reader: TaskId,
        sizes: &Sizes<'_>,
    ) -> Option<Key> {
        let input = &self.graph.inputs[id];
        match &input.source {
            Source::File(file) => self.file(Path::new(&file.path), input),
            Source::Files { .. } => {
                self.file(self.collections[input.collection?].files.get(item)?, input)
            }
            Source::Split { of, axis, size } => {
                let whole = self.input(*of, 0, reader, sizes)?;
                Some(Key::of("slice", &|hasher| {
                    (whole.0, axis, size, item).hash(hasher);
                }))
            }
            made => {
                let ty = &self.graph.values[input.value].ty;
                let shape = ty.sizes().iter().map(|size| {
                    let known = |symbol: &Symbol| sizes(reader, symbol).map(i128::from);
                    size.eval(&known).ok()
                });
                let shape: Vec<i128> = shape.collect::<Option<_>>()?;
                // As it prints for programmers, where every number has a spelling of its own.
                let rule = format!("{made:?}");
                Some(Key::of("made", &|hasher| {
                    (&rule, &shape).hash(hasher);
                    hash_type(ty, hasher);
                }))
            }
        }
    }

    /// The key of what an input reads of a file.
    fn file(&self, path: &Path, input: &Input) -> Option<Key> {
        let ty = &self.graph.values[input.value].ty;
        let file = match &input.source {
            Source::File(file) => file.clone(),
            _ => item_file(path, input, ty).ok()?,
        };
        let contents = match self.stamps.get(path) {
            Some(stamp) => {
                let here = local(path, self.paths)?;
                self.files.hash(&here, stamp, self.stop).ok()?
            }
            None => return None,
        };
        // What is unpacked, the ending says.
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        let settings = format!("{:?}", file.settings);
        Some(Key::of("file", &|hasher| {
            (contents.0, file.format.name, &settings, &ending).hash(hasher);
            hash_type(ty, hasher);
        }))
    }
}
