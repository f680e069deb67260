//! Runs one task: a stage, for one item.

mod gpu;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use haul_ir::expr::Symbol;
use haul_ir::graph::{Graph, Producer};
use haul_ir::id::{CollectionId, IdVec, OpId, StageId, ValueId};
use haul_ir::plan::{Plan, Side};
use haul_ir::report::{Copies, Preview, Written};
use tracing::{debug, info, info_span};

use crate::bind::Dims;
use crate::cache::Resume;
use crate::cancel::Stop;
use crate::device::gpus::Gpus;
use crate::device::on_gpu::OnGpu;
use crate::device::{Device, GroupCall, Held, Task, fault, shortage_error};
use crate::error::RunError;
use crate::inputs::{Items, of_input};
use crate::memory::Memory;
use crate::output::{FilePlace, Outputs};
use crate::pools::Pools;
use crate::preview;
use crate::program::{Program, Read, Step};
use crate::schedule::TaskId;
use crate::store::Store;
use crate::tensor::Data;

/// What all tasks of a run share.
pub(crate) struct Context<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) programs: &'a IdVec<StageId, Program>,
    pub(crate) collections: &'a IdVec<CollectionId, Items>,
    pub(crate) device: &'a dyn Device,
    pub(crate) gpus: Gpus,
    pub(crate) memory: Arc<Memory>,
    pub(crate) store: Store<'a>,
    pub(crate) outputs: Outputs<'a>,
    /// What is taken from a cache and given to it, where there is one.
    pub(crate) resume: Option<Resume<'a>>,
    pub(crate) pools: Pools,
    pub(crate) stop: &'a Stop,
    /// That of the pipeline, where programs run.
    pub(crate) folder: PathBuf,
    pub(crate) bindings: Mutex<Bindings>,
}

/// What the data said of symbolic sizes.
pub(crate) struct Bindings {
    /// For the whole run.
    pub(crate) all: Dims,
    /// For an item only.
    pub(crate) of_item: HashMap<(CollectionId, usize), Vec<(Symbol, u64)>>,
}

/// What a task did.
#[derive(Default)]
pub(crate) struct Done {
    pub(crate) peak_memory: u64,
    pub(crate) peak_vram: u64,
    pub(crate) copies: Copies,
    pub(crate) retries: u64,
    pub(crate) written: Vec<(FilePlace, Written)>,
    pub(crate) bound: Vec<(Symbol, u64)>,
    pub(crate) preview: Option<Preview>,
    /// Whether it did not compute, since an earlier run did.
    pub(crate) is_reused: bool,
}

impl Bindings {
    /// What is known when only the inputs were looked at.
    pub(crate) fn new(all: Dims) -> Self {
        let of_item = HashMap::new();
        Self { all, of_item }
    }

    /// The size of a symbol for a task.
    pub(crate) fn size(&self, graph: &Graph, task: TaskId, symbol: &Symbol) -> Option<u64> {
        let key = graph.stages[task.stage].each.zip(task.item);
        let mut of_item = key
            .and_then(|key| self.of_item.get(&key))
            .into_iter()
            .flatten();
        let found = of_item.find(|(known, _)| known == symbol);
        found
            .map(|(_, size)| *size)
            .or_else(|| self.all.get(symbol))
    }

    /// Says what a task learned of a symbol.
    ///
    /// # Errors
    /// Another task learned something else.
    pub(crate) fn bind(
        &mut self,
        graph: &Graph,
        task: TaskId,
        symbol: &Symbol,
        size: u64,
    ) -> Result<(), RunError> {
        let over = graph.dims.get(symbol).and_then(|dim| dim.per_item);
        let bound = match over.zip(task.item) {
            Some(key) => return bind_item(self.of_item.entry(key).or_default(), symbol, size),
            None => self.all.bind(symbol, size),
        };
        self.all.take_fresh();
        bound.map_err(RunError::new)
    }
}

impl Context<'_> {
    /// The name of a task's item.
    pub(crate) fn item_name(&self, task: TaskId) -> Option<&str> {
        let over = self.plan.typed.graph().stages[task.stage].each?;
        self.collections[over]
            .names
            .get(task.item?)
            .map(String::as_str)
    }

    /// Runs a task on as many threads as it was granted CPUs, and the GPUs that it was granted.
    ///
    /// # Errors
    /// What went wrong, with its op where there is one.
    pub(crate) fn run(&self, id: TaskId, gpus: &[usize]) -> Result<Done, RunError> {
        let stage = &self.plan.typed.graph().stages[id.stage];
        let request = self.plan.stages[id.stage].request(&stage.requests);
        let threads = request.cpus.max(1) as usize;
        let name = stage.name.as_str();
        let span = info_span!("task", stage = name, item = self.item_name(id), threads);
        let mut taken = 0;
        let done = self.pools.run(threads, || {
            let _in_span = span.entered();
            let done = self.compute(id, request.memory, gpus, &mut taken)?;
            info!(bytes = done.peak_memory, "finished");
            Ok(done)
        });
        if done.is_err() {
            self.let_go(id, taken);
        }
        done
    }

    /// Says that a task does not read what it would after so many values and items.
    pub(crate) fn let_go(&self, id: TaskId, taken: usize) {
        let reads = self.programs[id.stage].reads.iter();
        let values = reads.flat_map(|read| {
            let items = match read {
                Read::One(_) => 0..1,
                Read::Items(value) => 0..self.store.width(*value),
            };
            items.map(|item| match read {
                Read::One(value) => (*value, id.item),
                Read::Items(value) => (*value, Some(item)),
            })
        });
        let rest = values.skip(taken);
        rest.for_each(|(value, item)| self.store.release(value, item));
    }

    /// A task before it reads anything; it may hold so many bytes.
    pub(crate) fn task(&self, id: TaskId, memory: u64) -> Task<'_> {
        let account = self.memory.account(memory);
        Task {
            graph: self.plan.typed.graph(),
            gpu: None,
            scalars: account.clone(),
            account,
            dims: self.dims(id),
            values: HashMap::new(),
            mapped: Vec::new(),
            stop: self.stop,
            folder: &self.folder,
            retries: 0,
            predicted_peak: None,
        }
    }

    /// Counts what it took of values and their items.
    fn compute(
        &self,
        id: TaskId,
        memory: u64,
        gpus: &[usize],
        taken: &mut usize,
    ) -> Result<Done, RunError> {
        self.gpus.start(id);
        let reused = self.reuse(id);
        // It lets go of all that it would read, before it can fail.
        let reused = reused.inspect_err(|_| *taken = usize::MAX);
        if let Some(done) = reused? {
            return Ok(done);
        }
        let start = Instant::now();
        let program = &self.programs[id.stage];
        let mut task = self.task(id, memory);
        for read in &program.reads {
            self.fetch(*read, id, &mut task, taken)?;
        }
        task.predicted_peak = self.predicted_peak(id, &task.dims);
        let mut on_gpu = self.on_gpu(id, gpus, &task)?;
        let compute = || self.steps(program, &mut task, on_gpu.as_mut());
        let computed = self.beside_copies(id, gpus, compute);
        // What is wrong with the data comes before what follows from it.
        task.mapped.iter().try_for_each(Data::check)?;
        computed?;
        let made = self.results(id, &mut task)?;
        let took = start.elapsed();
        let mut done = self.deliver(id, &mut task, &made)?;
        if let Some(on_gpu) = on_gpu {
            (done.copies, done.peak_vram) = on_gpu.end();
        }
        self.keep(id, took, &done, &made);
        Ok(done)
    }

    fn steps<'a>(
        &self,
        program: &Program,
        task: &mut Task<'a>,
        mut on_gpu: Option<&mut OnGpu<'a>>,
    ) -> Result<(), RunError> {
        for step in &program.steps {
            if self.stop.is_set() {
                return Err(RunError::cancelled());
            }
            let op = |op: &OpId| task.graph.ops[*op].name.as_str();
            debug!(op = step.ops.last().map(op), "computes");
            match (step.side, on_gpu.as_mut()) {
                (Side::Gpu, Some(on_gpu)) => on_gpu.run(step, task)?,
                (Side::Gpu, None) => return Err(fault("a task on a GPU has none".into())),
                (Side::Cpu, _) => self.step(step, task)?,
            }
            for (side, value) in &step.done_with {
                match (side, on_gpu.as_mut()) {
                    (Side::Gpu, Some(on_gpu)) => on_gpu.forget(*value),
                    _ => drop(task.values.remove(value)),
                }
            }
        }
        Ok(())
    }

    fn step(&self, step: &Step, task: &mut Task<'_>) -> Result<(), RunError> {
        let group = GroupCall {
            ops: &step.ops,
            leaving: &step.leaving,
        };
        let results = self.device.run(&group, task)?;
        for (value, data) in step.leaving.iter().zip(results) {
            task.values.insert(*value, Held::One(data));
        }
        Ok(())
    }

    /// What is known of sizes when a task starts.
    fn dims(&self, id: TaskId) -> Dims {
        let over = self.plan.typed.graph().stages[id.stage].each;
        let bindings = self.bindings();
        let mut dims = bindings.all.clone();
        if let Some(key) = over.zip(id.item) {
            for (symbol, size) in bindings.of_item.get(&key).into_iter().flatten() {
                dims.know(symbol, *size);
            }
        }
        dims
    }

    /// Gets a value from outside the stage, and learns sizes from it.
    fn fetch(
        &self,
        read: Read,
        id: TaskId,
        task: &mut Task<'_>,
        taken: &mut usize,
    ) -> Result<(), RunError> {
        let held = match read {
            Read::One(value) => {
                let data = self.store.take(value, id.item, &task.dims)?;
                *taken += 1;
                self.learn(value, id.item, &data, &mut task.dims)?;
                Held::One(self.admit(value, data, id, task)?)
            }
            Read::Items(value) => {
                let items = 0..self.store.width(value);
                let items = items.map(|item| {
                    let data = self.store.take(value, Some(item), &task.dims)?;
                    *taken += 1;
                    self.admit(value, data, id, task)
                });
                Held::Items(items.collect::<Result<_, _>>()?)
            }
        };
        task.values.insert(read.value(), held);
        Ok(())
    }

    /// Counts what a task reads towards its request.
    fn admit(
        &self,
        value: ValueId,
        data: Data,
        id: TaskId,
        task: &mut Task<'_>,
    ) -> Result<Data, RunError> {
        let hold = task.account.hold(data.bytes()).map_err(|shortage| {
            let name = &task.graph.values[value].name;
            shortage_error(name, shortage, self.predicted_peak(id, &task.dims))
        })?;
        if data.is_mapped() {
            task.mapped.push(data.clone());
        }
        Ok(data.held_by(Some(hold)))
    }

    fn predicted_peak(&self, id: TaskId, dims: &Dims) -> Option<u64> {
        let peak = dims
            .evaluate(&self.plan.stages[id.stage].peak_memory)
            .ok()?;
        u64::try_from(peak).ok()
    }

    fn learn(
        &self,
        value: ValueId,
        item: Option<usize>,
        data: &Data,
        dims: &mut Dims,
    ) -> Result<(), RunError> {
        let graph = self.plan.typed.graph();
        let met = dims.unify(&graph.values[value].ty, data.sizes());
        met.map_err(|reason| match graph.values[value].producer {
            Producer::Input(input) => {
                let input = &graph.inputs[input];
                let files = input.collection.map(|over| &self.collections[over].files);
                match files.zip(item).and_then(|(files, item)| files.get(item)) {
                    Some(file) => RunError::new(format!("`{}`: {reason}", file.display())),
                    None => of_input(input, reason),
                }
            }
            Producer::Op(_) => RunError::new(format!("`{}`: {reason}", graph.values[value].name)),
        })
    }

    /// What a task made for others, on the host.
    fn results(&self, id: TaskId, task: &mut Task<'_>) -> Result<Vec<(ValueId, Data)>, RunError> {
        let results = self.programs[id.stage].results.iter();
        let result = |value: &ValueId| {
            let Some(Held::One(data)) = task.values.remove(value) else {
                return Err(fault(format!("{value:?} was not made")));
            };
            Ok((*value, data))
        };
        results.map(result).collect()
    }

    /// Writes, stores and shows the results of a task.
    ///
    /// # Errors
    /// A file cannot be written, or what was read of one is no longer what it was.
    pub(crate) fn deliver(
        &self,
        id: TaskId,
        task: &mut Task<'_>,
        made: &[(ValueId, Data)],
    ) -> Result<Done, RunError> {
        let graph = task.graph;
        let mut done = Done {
            bound: self.publish(id, &mut task.dims)?,
            retries: task.retries,
            ..Done::default()
        };
        for (value, data) in made {
            self.outputs
                .write_all(*value, id.item, data, self.stop, &mut done.written)?;
            if graph.outputs.is_empty() && graph.stages[id.stage].value == *value {
                done.preview = Some(self.preview(id, data));
                data.check()?;
            }
            self.store.put(*value, id.item, data.clone().held_by(None));
        }
        task.values.clear();
        done.peak_memory = task.account.peak();
        Ok(done)
    }

    /// Tells other tasks the sizes that this one learned.
    fn publish(&self, id: TaskId, dims: &mut Dims) -> Result<Vec<(Symbol, u64)>, RunError> {
        let graph = self.plan.typed.graph();
        let fresh = dims.take_fresh();
        let mut bindings = self.bindings();
        for (symbol, size) in &fresh {
            bindings.bind(graph, id, symbol, *size)?;
        }
        Ok(fresh)
    }

    fn preview(&self, id: TaskId, data: &Data) -> Preview {
        Preview {
            stage: id.stage,
            item: self.item_name(id).map(str::to_owned),
            ty: data.ty(),
            first: preview::first(data),
        }
    }

    /// Writes the outputs that take an input as it is.
    ///
    /// # Errors
    /// An input cannot be read, or a file not written.
    pub(crate) fn write_inputs(&self) -> Result<Vec<(FilePlace, Written)>, RunError> {
        let graph = self.plan.typed.graph();
        let dims = self.bindings().all.clone();
        let mut written = Vec::new();
        for input in graph.inputs.iter() {
            if self.outputs.is_written(input.value) {
                for item in 0..self.store.width(input.value) {
                    let data = self.store.take(input.value, Some(item), &dims)?;
                    // What one item tells does not hold for the next.
                    self.learn(input.value, Some(item), &data, &mut dims.clone())?;
                    self.outputs.write_all(
                        input.value,
                        Some(item),
                        &data,
                        self.stop,
                        &mut written,
                    )?;
                }
            }
        }
        Ok(written)
    }

    pub(crate) fn bindings(&self) -> MutexGuard<'_, Bindings> {
        self.bindings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says what a symbol is for an item; another task may have said it meanwhile.
fn bind_item(known: &mut Vec<(Symbol, u64)>, symbol: &Symbol, size: u64) -> Result<(), RunError> {
    match known.iter().find(|(other, _)| other == symbol) {
        Some((_, other)) if *other != size => {
            let message = format!("`{symbol}` is {size} here and {other} elsewhere");
            Err(RunError::new(message))
        }
        Some(_) => Ok(()),
        None => {
            known.push((symbol.clone(), size));
            Ok(())
        }
    }
}
