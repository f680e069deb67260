//! Values between tasks: what stages made and others still need, and inputs, read when the first
//! task needs them. Each is freed when the last task that needs it takes it.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haul_ir::format::{File, Typing};
use haul_ir::graph::{Arg, Graph, Input, Output, Producer, Source};
use haul_ir::id::{CollectionId, IdVec, InputId, ValueId};
use haul_ir::report::Skipped;
use haul_ir::tensor::Layout;
use haul_ir::types::ValueType;

use crate::bind::Dims;
use crate::cancel::Stop;
use crate::device::{fault, shortage_error};
use crate::error::RunError;
use crate::inputs::{Inputs, Items, item_file, of_input};
use crate::io::{self, Access};
use crate::memory::Account;
use crate::paths::Paths;
use crate::stamp::Stamps;
use crate::strided;
use crate::tensor::{Data, Tensor, size};

/// Values between tasks.
pub(crate) struct Store<'a> {
    graph: &'a Graph,
    paths: &'a Paths,
    collections: &'a IdVec<CollectionId, Items>,
    stamps: &'a Stamps,
    account: Arc<Account>,
    stop: &'a Stop,
    /// How many tasks read each value, or each item of it.
    readers: IdVec<ValueId, usize>,
    made: Mutex<HashMap<(ValueId, usize), Kept>>,
    /// A lock for each item of each input, so that one task reads it and others wait.
    read: IdVec<InputId, Vec<Mutex<Slot>>>,
    skipped: Mutex<Vec<Skipped>>,
}

struct Kept {
    data: Data,
    readers_left: usize,
}

/// An item of an input, read when the first task needs it.
struct Slot {
    data: Option<Data>,
    readers_left: usize,
}

impl<'a> Store<'a> {
    pub(crate) fn new(graph: &'a Graph, access: Access<'a>, inputs: &'a Inputs) -> Self {
        let collections = &inputs.collections;
        let count = |over: Option<CollectionId>| over.map_or(1, |id| collections[id].names.len());
        let readers = count_readers(graph, &count);
        let slots = graph.inputs.iter().map(|input| {
            let slot = |_| {
                Mutex::new(Slot {
                    data: None,
                    readers_left: readers[input.value],
                })
            };
            (0..count(input.collection)).map(slot).collect()
        });
        Self {
            graph,
            paths: access.paths,
            collections,
            stamps: &inputs.stamps,
            account: access.account.clone(),
            stop: access.stop,
            made: Mutex::default(),
            read: slots.collect(),
            readers,
            skipped: Mutex::default(),
        }
    }

    /// Bytes that values between tasks take.
    pub(crate) fn bytes(&self) -> u64 {
        self.account.used()
    }

    /// Keeps what a task made, where others need it.
    pub(crate) fn put(&self, value: ValueId, item: Option<usize>, data: Data) {
        let readers_left = self.readers[value];
        if readers_left > 0 {
            data.move_to(&self.account);
            let kept = Kept { data, readers_left };
            self.made().insert((value, item.unwrap_or(0)), kept);
        }
    }

    /// The data of a value for one of the tasks that read it.
    ///
    /// # Errors
    /// An input cannot be read.
    pub(crate) fn take(
        &self,
        value: ValueId,
        item: Option<usize>,
        dims: &Dims,
    ) -> Result<Data, RunError> {
        let item = self.index(value, item);
        if let Producer::Input(input) = self.graph.values[value].producer {
            return self.take_input(input, item, dims);
        }
        self.take_made(value, item)
            .ok_or_else(|| fault(format!("{value:?} is read before it is made")))
    }

    /// Says that one of the tasks that read a value will not take it.
    pub(crate) fn release(&self, value: ValueId, item: Option<usize>) {
        let item = self.index(value, item);
        match self.graph.values[value].producer {
            Producer::Input(input) => self.release_input(input, item),
            // What nobody needs is not made.
            Producer::Op(_) => drop(self.take_made(value, item)),
        }
    }

    fn index(&self, value: ValueId, item: Option<usize>) -> usize {
        item.filter(|_| self.graph.values[value].over.is_some())
            .unwrap_or(0)
    }

    fn take_made(&self, value: ValueId, item: usize) -> Option<Data> {
        let mut made = self.made();
        let kept = made.remove(&(value, item))?;
        let data = kept.data.clone();
        if kept.readers_left > 1 {
            let readers_left = kept.readers_left - 1;
            made.insert(
                (value, item),
                Kept {
                    readers_left,
                    ..kept
                },
            );
        }
        Some(data)
    }

    /// The data of an item that some task has yet to take, where it is there or can be read.
    pub(crate) fn peek(&self, value: ValueId, item: usize, dims: &Dims) -> Option<Data> {
        match self.graph.values[value].producer {
            Producer::Input(input) => self.peek_input(input, item, dims),
            Producer::Op(_) => {
                let made = self.made();
                made.get(&(value, item)).map(|kept| kept.data.clone())
            }
        }
    }

    /// Text is not parsed in advance: that takes the threads of a task.
    fn peek_input(&self, id: InputId, item: usize, dims: &Dims) -> Option<Data> {
        let input = &self.graph.inputs[id];
        let slot = self.read[id].get(item)?;
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.data.is_none() && slot.readers_left > 0 {
            if let Source::Files { .. } = input.source {
                let path = &self.collections[input.collection?].files[item];
                let file = item_file(path, input, &self.graph.values[input.value].ty).ok()?;
                if file.format.typing == Typing::Numbers {
                    return None;
                }
            }
            slot.data = self.read_input(id, item, dims).ok();
        }
        slot.data.clone()
    }

    /// How many items a value has.
    pub(crate) fn width(&self, value: ValueId) -> usize {
        let over = self.graph.values[value].over;
        over.map_or(1, |over| self.collections[over].names.len())
    }

    fn take_input(&self, input: InputId, item: usize, dims: &Dims) -> Result<Data, RunError> {
        let Some(slot) = self.read[input].get(item) else {
            return Err(fault(format!("{input:?} has no item {item}")));
        };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let data = match slot.data.take() {
            Some(data) => data,
            None => self.read_input(input, item, dims)?,
        };
        slot.readers_left = slot.readers_left.saturating_sub(1);
        slot.data = (slot.readers_left > 0).then(|| data.clone());
        Ok(data)
    }

    fn release_input(&self, input: InputId, item: usize) {
        let Some(slot) = self.read[input].get(item) else {
            return;
        };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.readers_left = slot.readers_left.saturating_sub(1);
        if slot.readers_left > 0 {
            return;
        }
        // A slice that nobody read did not read what it is cut from either.
        let was_read = slot.data.take().is_some();
        if let Source::Split { of, .. } = self.graph.inputs[input].source
            && !was_read
        {
            self.release_input(of, 0);
        }
    }

    fn read_input(&self, id: InputId, item: usize, dims: &Dims) -> Result<Data, RunError> {
        let input = &self.graph.inputs[id];
        let ty = &self.graph.values[input.value].ty;
        match (&input.source, ty) {
            (Source::Files { .. }, _) => {
                let over = input
                    .collection
                    .ok_or_else(|| fault(format!("{id:?} has no items")))?;
                let path = &self.collections[over].files[item];
                let file = item_file(path, input, ty)?;
                let data = self.read_file(&file, input, ty);
                self.paths.forget(&file.path);
                data
            }
            (Source::Split { of, axis, size }, _) => self.slice(*of, *axis, *size, item, dims),
            (Source::File(file), _) => self.read_file(file, input, ty),
            (Source::Texts { texts }, _) => {
                let made = io::made_texts(texts, ty, &self.account);
                made.map_err(|shortage| shortage_error(&input.name, shortage, None))
            }
            (source, ValueType::Tensor(ty)) => {
                let blame = |reason| of_input(input, reason);
                let shape = dims.shape(&ty.shape).map_err(blame)?;
                let bytes = size(ty.dtype, &shape);
                let bytes = bytes.ok_or_else(|| blame(format!("{ty} is too large")))?;
                let mut buffer = self.allocate(&input.name, bytes)?;
                io::fill_made(source, ty.dtype, buffer.bytes_mut()).map_err(blame)?;
                Ok(Data::Tensor(Tensor::contiguous(ty.dtype, &shape, buffer)))
            }
            (_, ty) => Err(fault(format!("{id:?} makes no {ty}"))),
        }
    }

    fn read_file(&self, file: &File, input: &Input, ty: &ValueType) -> Result<Data, RunError> {
        let access = Access {
            paths: self.paths,
            account: &self.account,
            stop: self.stop,
        };
        let read = io::read(file, ty, access).map_err(|error| match self.stop.is_set() {
            true => RunError::cancelled(),
            false => error.of_input(&input.name),
        })?;
        self.stamps.check(Path::new(&file.path), self.paths)?;
        if read.skipped > 0 {
            self.skipped().push(Skipped {
                input: input.name.clone(),
                path: file.path.clone(),
                rows: read.skipped as u64,
            });
        }
        Ok(read.data)
    }

    /// Rows of files that were passed over.
    pub(crate) fn skipped(&self) -> MutexGuard<'_, Vec<Skipped>> {
        self.skipped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A slice of another input: a view where it lies without gaps, else a copy.
    fn slice(
        &self,
        of: InputId,
        axis: usize,
        length: u64,
        item: usize,
        dims: &Dims,
    ) -> Result<Data, RunError> {
        let Data::Tensor(whole) = self.take_input(of, 0, dims)? else {
            return Err(fault(format!("{of:?} is no tensor and cannot be split")));
        };
        let Some(&all) = whole.layout.shape.get(axis) else {
            return Err(fault(format!("{of:?} has no axis {axis} to split")));
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let start = item.saturating_mul(length).min(all);
        let mut layout: Layout = whole.layout.clone();
        layout.shape[axis] = length.min(all - start);
        layout.offset = layout
            .offset
            .wrapping_add_signed(layout.strides[axis] * start as isize);
        let slice = whole.with_layout(layout);
        if slice.layout.is_contiguous() {
            return Ok(Data::Tensor(slice));
        }
        let shape = &slice.layout.shape;
        let bytes = slice.layout.elements() * slice.dtype.size() as usize;
        let mut buffer = self.allocate(&self.graph.inputs[of].name, bytes)?;
        strided::copy(&slice.view(), buffer.bytes_mut());
        slice.buffer.check()?;
        Ok(Data::Tensor(Tensor::contiguous(slice.dtype, shape, buffer)))
    }

    fn allocate(&self, name: &str, bytes: usize) -> Result<crate::memory::Buffer, RunError> {
        let buffer = self.account.allocate(bytes);
        buffer.map_err(|shortage| shortage_error(name, shortage, None))
    }

    fn made(&self) -> MutexGuard<'_, HashMap<(ValueId, usize), Kept>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many tasks and outputs read each value from outside the stage, or each item of it.
fn count_readers(
    graph: &Graph,
    count: &dyn Fn(Option<CollectionId>) -> usize,
) -> IdVec<ValueId, usize> {
    let mut readers = IdVec::filled(0, graph.values.len());
    for (id, stage) in graph.stages.entries() {
        let mut seen = HashSet::new();
        for arg in stage.ops.iter().flat_map(|op| &graph.ops[*op].args) {
            let Some(value) = arg.value() else { continue };
            if matches!(graph.values[value].producer, Producer::Op(op) if graph.ops[op].stage == id)
            {
                continue;
            }
            let of_this_item = matches!(arg, Arg::Value(_)) && graph.values[value].over.is_some();
            if seen.insert((value, of_this_item)) {
                readers[value] += if of_this_item { 1 } else { count(stage.each) };
            }
        }
    }
    // Outputs that take an input as it is are written after all tasks.
    for input in graph.inputs.iter() {
        let is_written = |output: &Output| output.value == input.value;
        readers[input.value] += usize::from(graph.outputs.iter().any(is_written));
    }
    // Slices read what they are cut from.
    for input in graph.inputs.iter() {
        if let Source::Split { of, .. } = input.source {
            let slices = if readers[input.value] > 0 {
                count(input.collection)
            } else {
                0
            };
            readers[graph.inputs[of].value] += slices;
        }
    }
    readers
}
