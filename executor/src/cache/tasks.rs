//! The cache as tasks use it.

use std::collections::HashSet;
use std::time::Duration;

use haul_ir::expr::Symbol;
use haul_ir::graph::{Input, Producer, Source};
use haul_ir::id::ValueId;

use super::entry::{About, Entry, Unusable};
use super::hash::Key;
use super::resume::{Resume, Step};
use crate::device::{Task, shortage_error};
use crate::error::RunError;
use crate::inputs::files_of;
use crate::program::Read;
use crate::schedule::TaskId;
use crate::task::{Context, Done};
use crate::tensor::Data;

impl Context<'_> {
    /// What a task did that need not compute; nothing, where it has to.
    ///
    /// # Errors
    /// The results of an earlier run cannot be read, or their sizes differ from those of others.
    pub(crate) fn reuse(&self, id: TaskId) -> Result<Option<Done>, RunError> {
        let Some(resume) = &self.resume else {
            return Ok(None);
        };
        let (key, learned) = match resume.step(id) {
            Step::Compute => return Ok(None),
            Step::Load(key, learned) => (Some(*key), learned),
            Step::Skip(learned) => (None, learned),
        };
        self.let_go(id, 0);
        let mut task = self.task(id, u64::MAX);
        for (symbol, size) in learned {
            task.dims.bind(symbol, *size).map_err(RunError::new)?;
        }
        let made = match key {
            Some(key) => self.load(key, resume, id, &mut task)?,
            None => Vec::new(),
        };
        let mut done = self.deliver(id, &mut task, &made)?;
        done.is_reused = true;
        Ok(Some(done))
    }

    /// Keeps the results of a task that took so long.
    pub(crate) fn keep(&self, id: TaskId, took: Duration, done: &Done, made: &[(ValueId, Data)]) {
        let resume = self.resume.as_ref();
        let Some(resume) = resume.filter(|resume| resume.keeper.may_keep(took)) else {
            return;
        };
        let graph = self.plan.typed.graph();
        let results: Vec<_> = made.iter().map(|(_, data)| data.clone()).collect();
        let sizes = |id: TaskId, symbol: &Symbol| self.bindings().size(graph, id, symbol);
        let about = || About {
            pipeline: self.plan.pipeline.clone(),
            stage: graph.stages[id.stage].name.clone(),
            item: self.item_name(id).map(str::to_owned),
            sizes: (done.bound.iter())
                .map(|(symbol, size)| (symbol.name().to_owned(), *size))
                .collect(),
            skipped: self.skipped_by(id),
        };
        resume.keeper.keep(id, took, &results, &sizes, &about);
    }

    fn load(
        &self,
        key: Key,
        resume: &Resume<'_>,
        id: TaskId,
        task: &mut Task<'_>,
    ) -> Result<Vec<(ValueId, Data)>, RunError> {
        let path = resume.keeper.folder().entry(key);
        let entry = Entry::open(&path, key);
        let results = entry.and_then(|entry| entry.read(&task.account, self.stop));
        let results = results.map_err(|unusable| {
            let (path, name) = (path.display(), &task.graph.stages[id.stage].name);
            let reason = match unusable {
                _ if self.stop.is_set() => return RunError::cancelled(),
                Unusable::Memory(shortage) => return shortage_error(name, shortage, None),
                Unusable::Missing => "it was removed during the run".to_owned(),
                Unusable::Damaged(reason) => reason,
            };
            RunError::new(format!(
                "the cached result `{path}` cannot be read: {reason}"
            ))
            .help("run again: what cannot be taken from the cache is computed")
        })?;
        let values = self.programs[id.stage].results.iter().copied();
        Ok(values.zip(results).collect())
    }

    /// Rows that were passed over in the files that a task reads itself.
    fn skipped_by(&self, id: TaskId) -> Vec<(String, String, u64)> {
        let skipped = self.store.skipped();
        if skipped.is_empty() {
            return Vec::new();
        }
        let files = self.files_read_by(id);
        let of_task = skipped
            .iter()
            .filter(|skipped| files.contains(&(skipped.input.as_str(), skipped.path.as_str())));
        let told =
            of_task.map(|skipped| (skipped.input.clone(), skipped.path.clone(), skipped.rows));
        told.collect()
    }

    /// Input and path of each file that a task reads itself.
    fn files_read_by(&self, id: TaskId) -> HashSet<(&str, &str)> {
        let graph = self.plan.typed.graph();
        let mut files = HashSet::new();
        for read in &self.programs[id.stage].reads {
            let Producer::Input(input) = graph.values[read.value()].producer else {
                continue;
            };
            let input: &Input = match graph.inputs[input].source {
                Source::Split { of, .. } => &graph.inputs[of],
                _ => &graph.inputs[input],
            };
            let all = files_of(input, self.collections);
            let read = match (read, id.item) {
                (Read::One(_), Some(item)) if input.collection.is_some() => {
                    all.get(item..=item).unwrap_or_default()
                }
                _ => &all[..],
            };
            let named = read.iter().filter_map(|file| file.to_str());
            files.extend(named.map(|file| (input.name.as_str(), file)));
        }
        files
    }
}
