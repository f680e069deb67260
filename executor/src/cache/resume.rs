//! What a run takes from its cache: for each task, whether it computes, takes its results from an
//! earlier run, or is not needed, since all that would read them is there already.

use haul_ir::expr::Symbol;
use haul_ir::graph::{Graph, Producer};
use haul_ir::id::{IdVec, StageId};
use haul_ir::report::Skipped;
use rayon::prelude::*;

use super::entry::{About, Entry, Unusable};
use super::folder::touch;
use super::hash::Key;
use super::keeper::Keeper;
use super::keys::{Keys, Parts};
use super::{Caching, remove};
use crate::schedule::TaskId;
use crate::task::Bindings;

/// What a task does.
pub(crate) enum Step {
    /// It computes.
    Compute,
    /// It takes its results from the entry of this key.
    Load(Key, Learned),
    /// Nothing: nobody needs its results.
    Skip(Learned),
}

/// The sizes that a task learned of its data in an earlier run.
pub(crate) type Learned = Vec<(Symbol, u64)>;

/// A run's use of its cache.
pub(crate) struct Resume<'a> {
    pub(super) keeper: Keeper<'a>,
    /// Of each task; empty for stages that compute whatever there is.
    steps: IdVec<StageId, Vec<Step>>,
    /// Rows that were passed over in what is taken.
    skipped: Vec<Skipped>,
}

impl<'a> Resume<'a> {
    /// Looks for the results of all tasks.
    pub(crate) fn plan(caching: &'a Caching, parts: Parts<'a>) -> Self {
        let keeper = Keeper::new(caching, parts);
        let mut resume = Self {
            keeper,
            steps: IdVec::new(),
            skipped: Vec::new(),
        };
        if caching.resume {
            let found = resume.find(parts);
            resume.decide(parts, found);
            resume.keeper.remember();
        }
        resume
    }

    /// Remembers for the next run what this one learned of files.
    pub(crate) fn remember(&self) {
        self.keeper.remember();
    }

    /// What a task does.
    pub(crate) fn step(&self, id: TaskId) -> &Step {
        let steps = self.steps.get(id.stage);
        let step = steps.and_then(|steps| steps.get(id.item.unwrap_or(0)));
        step.unwrap_or(&Step::Compute)
    }

    /// Rows that were passed over in what is taken.
    pub(crate) fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// The key of each task, where it can be told, and its entry, where there is one.
    fn find(&self, parts: Parts<'a>) -> IdVec<StageId, Vec<Sought>> {
        let graph = parts.plan.typed.graph();
        let mut bindings = Bindings::new(parts.inputs.dims.clone());
        let mut all = IdVec::new();
        for (stage, node) in graph.stages.entries() {
            let count = node
                .each
                .map_or(1, |over| parts.inputs.collections[over].names.len());
            let seek = |index: usize| {
                let item = node.each.map(|_| index);
                let id = TaskId { stage, item };
                let sizes = |id: TaskId, symbol: &Symbol| bindings.size(graph, id, symbol);
                let key = self.keeper.keys.task(id, &sizes);
                let about = key.and_then(|key| self.look_up(key));
                Sought { key, about }
            };
            let found: Vec<_> = (0..count).into_par_iter().map(seek).collect();
            for (index, sought) in found.iter().enumerate() {
                let item = node.each.map(|_| index);
                for (symbol, size) in sought.about.iter().flat_map(learned) {
                    // Of sizes that disagree the task itself tells.
                    let _ = bindings.bind(graph, TaskId { stage, item }, &symbol, size);
                }
            }
            all.push(found);
        }
        all
    }

    fn look_up(&self, key: Key) -> Option<About> {
        let path = self.keeper.folder().entry(key);
        match Entry::open(&path, key) {
            Ok(entry) => {
                touch(&path);
                Some(entry.about)
            }
            Err(unusable) => {
                self.tell(&unusable, key);
                None
            }
        }
    }

    /// Whether the results of an entry are what was written.
    fn is_whole(&self, key: Key) -> bool {
        let entry = Entry::open(&self.keeper.folder().entry(key), key);
        let whole = entry.and_then(|entry| entry.verify(self.keeper.stop));
        whole.map_err(|unusable| self.tell(&unusable, key)).is_ok()
    }

    /// Tells of a damaged entry, and removes it.
    fn tell(&self, unusable: &Unusable, key: Key) {
        if let Unusable::Damaged(reason) = unusable
            && !self.keeper.stop.is_set()
        {
            let path = self.keeper.folder().entry(key);
            let message = format!(
                "the cached result `{}` is damaged, and computed again: {reason}",
                path.display()
            );
            self.keeper.warn(&message);
            let _ = remove(&path);
        }
    }

    /// From the last stage to the first: what is needed and there is taken, what is needed and not
    /// there is computed, and needs what it reads.
    fn decide(&mut self, parts: Parts<'a>, found: IdVec<StageId, Vec<Sought>>) {
        let graph = parts.plan.typed.graph();
        let mut needs = Needs::new(graph, &found);
        // A task that needs a size of nobody knows whom is no reason to leave any other out.
        let all_known = found.iter().flatten().all(|sought| sought.key.is_some());
        let mut steps: Vec<Vec<Step>> = Vec::new();
        for (stage, sought) in found.entries().rev() {
            let step = |(index, sought): (usize, &Sought)| {
                let need = needs.of(stage, index);
                let Some((key, about)) = sought.key.zip(sought.about.as_ref()) else {
                    return match need == Need::None && all_known {
                        true => Step::Skip(Learned::new()),
                        false => Step::Compute,
                    };
                };
                match need {
                    Need::Results if self.is_whole(key) => {
                        Step::Load(key, learned(about).collect())
                    }
                    Need::Results => Step::Compute,
                    Need::Run | Need::None => Step::Skip(learned(about).collect()),
                }
            };
            let of_stage: Vec<_> = sought.par_iter().enumerate().map(step).collect();
            for (index, step) in of_stage.iter().enumerate() {
                if matches!(step, Step::Compute) {
                    let item = graph.stages[stage].each.map(|_| index);
                    needs.read_by(&self.keeper.keys, TaskId { stage, item });
                }
            }
            steps.push(of_stage);
        }
        self.steps = steps.into_iter().rev().collect();
        self.skipped = self.skipped_of(&found);
    }

    fn skipped_of(&self, found: &IdVec<StageId, Vec<Sought>>) -> Vec<Skipped> {
        let steps = self.steps.iter().flatten();
        let reused = steps.zip(found.iter().flatten());
        let reused = reused.filter(|(step, _)| !matches!(step, Step::Compute));
        let told = reused.filter_map(|(_, sought)| sought.about.as_ref());
        let skipped = told.flat_map(|about| &about.skipped);
        let skipped = skipped.map(|(input, path, rows)| Skipped {
            input: input.clone(),
            path: path.clone(),
            rows: *rows,
        });
        skipped.collect()
    }
}

/// What was found of a task.
struct Sought {
    key: Option<Key>,
    about: Option<About>,
}

fn learned(about: &About) -> impl Iterator<Item = (Symbol, u64)> {
    let sizes = about.sizes.iter();
    sizes.map(|(symbol, size)| (Symbol::new(symbol), *size))
}

/// What others need of a task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    /// Nothing.
    None,
    /// That it ran, in this run or an earlier one: nobody reads what it makes.
    Run,
    /// What it makes.
    Results,
}

struct Needs(IdVec<StageId, Vec<Need>>);

impl Needs {
    /// What outputs, and the one who looks at the run, need.
    fn new(graph: &Graph, found: &IdVec<StageId, Vec<Sought>>) -> Self {
        let last = graph.stages.ids().next_back();
        let need = |stage: StageId| match graph.stages[stage].results.is_empty() {
            _ if graph.outputs.is_empty() && Some(stage) == last => Need::Results,
            true => Need::Run,
            false => Need::None,
        };
        let stages = found.entries();
        let mut needs: IdVec<StageId, Vec<Need>> = stages
            .map(|(stage, items)| vec![need(stage); items.len()])
            .collect();
        for output in &graph.outputs {
            if let Producer::Op(op) = graph.values[output.value].producer {
                needs[graph.ops[op].stage].fill(Need::Results);
            }
        }
        Self(needs)
    }

    fn of(&self, stage: StageId, item: usize) -> Need {
        self.0[stage][item]
    }

    /// Says that a task computes.
    fn read_by(&mut self, keys: &Keys<'_>, task: TaskId) {
        for producer in keys.producers(task) {
            self.0[producer.stage][producer.item.unwrap_or(0)] = Need::Results;
        }
    }
}
