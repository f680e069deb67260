//! Groups of elementwise ops, run block by block: a block of every input is read, all ops
//! compute on it while it is in the cache, and only what leaves the group is written.
//!
//! Blocks are cut at fixed places, so the bits do not depend on how many threads there are.

mod source;

use haul_ir::dtype::DType;
use haul_ir::graph::Arg;
use haul_ir::id::{OpId, ValueId};
use haul_ir::op::{BlockKernel, CpuKernel};
use rayon::prelude::*;

use crate::device::cpu::{Cpu, in_value, tensor_type};
use crate::device::{GroupCall, Task, fault};
use crate::error::RunError;
use crate::memory::{Buffer, Scratch};
use crate::scalar;
use crate::tensor::{Data, Tensor};
use source::Source;

/// Elements of a block: several blocks of 8 bytes an element fit the second-level cache.
const BLOCK: usize = 4096;

/// Elements that a thread takes at once.
const JOB: usize = 16 * BLOCK;

/// Runs a group on the CPUs; gives the values that leave it.
pub(crate) fn run(
    cpu: &Cpu,
    group: &GroupCall<'_>,
    task: &Task<'_>,
) -> Result<Vec<Data>, RunError> {
    let last = task.graph.ops[group.ops[group.ops.len() - 1]].results[0];
    let ty = tensor_type(last, task)?;
    let shape = task
        .dims
        .shape(&ty.shape)
        .map_err(|e| in_value(last, task, e))?;
    let program = Program::new(group, &shape, task)?;
    let mut results = Vec::new();
    for value in group.leaving {
        let ty = tensor_type(*value, task)?;
        results.push((ty.dtype, cpu.space(*value, ty, &shape, task)?));
    }
    let buffers = results.iter_mut().map(|(dtype, buffer)| (*dtype, buffer));
    let jobs = cut(buffers, shape.iter().product());
    jobs.into_par_iter().try_for_each_init(
        || program.scratch(),
        |scratch, job| program.run_job(job, scratch, task),
    )?;
    let tensor = |(dtype, buffer)| Data::Tensor(Tensor::contiguous(dtype, &shape, buffer));
    Ok(results.into_iter().map(tensor).collect())
}

/// A group, ready to run on blocks.
struct Program<'a> {
    sources: Vec<Source<'a>>,
    steps: Vec<Step>,
    /// Bytes of each block of scratch that steps take turns in.
    slots: Vec<usize>,
}

/// One op.
struct Step {
    op: OpId,
    kernel: BlockKernel,
    inputs: Vec<Operand>,
    size: usize,
    place: Place,
}

/// Where a step's block goes.
#[derive(Clone, Copy)]
enum Place {
    /// Into a result of the group.
    Result(usize),
    /// Into scratch, as no other group needs it.
    Slot(usize),
}

#[derive(Clone, Copy)]
enum Operand {
    Source(usize),
    Step(usize),
}

/// A range of the elements of every result.
struct Job<'a> {
    start: usize,
    len: usize,
    results: Vec<&'a mut [u8]>,
}

/// Scratch of one thread.
struct Blocks {
    sources: Vec<Scratch>,
    slots: Vec<Scratch>,
}

impl<'a> Program<'a> {
    fn new(group: &GroupCall<'_>, shape: &[usize], task: &'a Task<'_>) -> Result<Self, RunError> {
        let mut program = Self {
            sources: Vec::new(),
            steps: Vec::new(),
            slots: Vec::new(),
        };
        let mut places: Vec<(ValueId, Operand)> = Vec::new();
        for op in group.ops {
            let node = &task.graph.ops[*op];
            let result = node.results[0];
            let ty = tensor_type(result, task)?;
            if task.dims.shape(&ty.shape).as_deref() != Ok(shape) {
                return Err(fault(format!(
                    "`{}` has another shape than its group",
                    node.name
                )));
            }
            let mut inputs = Vec::new();
            let mut dtypes = Vec::new();
            for arg in &node.args {
                let (dtype, operand) = program
                    .operand(arg, shape, task, &mut places)
                    .map_err(|error| task.at_op(node, error))?;
                dtypes.push(dtype);
                inputs.push(operand);
            }
            let CpuKernel::Elementwise(select) = node.op.cpu() else {
                return Err(fault(format!("`{}` is not elementwise", node.name)));
            };
            let kernel = select(&dtypes, ty.dtype)
                .ok_or_else(|| fault(format!("`{}` has no kernel for {dtypes:?}", node.name)))?;
            places.push((result, Operand::Step(program.steps.len())));
            program.steps.push(Step {
                op: *op,
                kernel,
                inputs,
                size: ty.dtype.size() as usize,
                place: match group.leaving.iter().position(|value| *value == result) {
                    Some(result) => Place::Result(result),
                    None => Place::Slot(0),
                },
            });
        }
        program.take_turns();
        Ok(program)
    }

    /// Gives steps that stay inside the group slots, each free again after its last reader.
    fn take_turns(&mut self) {
        let mut last_reader = vec![0; self.steps.len()];
        for (at, step) in self.steps.iter().enumerate() {
            for operand in &step.inputs {
                if let Operand::Step(earlier) = *operand {
                    last_reader[earlier] = at;
                }
            }
        }
        let mut free: Vec<usize> = Vec::new();
        for at in 0..self.steps.len() {
            if let Place::Slot(_) = self.steps[at].place {
                let slot = free.pop().unwrap_or(self.slots.len());
                self.slots.resize(self.slots.len().max(slot + 1), 0);
                self.slots[slot] = self.slots[slot].max(BLOCK * self.steps[at].size);
                self.steps[at].place = Place::Slot(slot);
            }
            for operand in &self.steps[at].inputs {
                let Operand::Step(earlier) = *operand else {
                    continue;
                };
                if last_reader[earlier] == at
                    && let Place::Slot(slot) = self.steps[earlier].place
                    && !free.contains(&slot)
                {
                    free.push(slot);
                }
            }
        }
    }

    /// Where an argument comes from; new inputs of the group are added.
    fn operand(
        &mut self,
        arg: &Arg,
        shape: &[usize],
        task: &'a Task<'_>,
        places: &mut Vec<(ValueId, Operand)>,
    ) -> Result<(DType, Operand), RunError> {
        let next = Operand::Source(self.sources.len());
        match arg {
            Arg::Scalar(scalar, dtype) => {
                let element = scalar::bytes(scalar, *dtype, &task.dims).map_err(RunError::new)?;
                self.sources.push(Source::splat(&element));
                Ok((*dtype, next))
            }
            Arg::Value(value) => {
                let dtype = tensor_type(*value, task)?.dtype;
                if let Some((_, place)) = places.iter().find(|(known, _)| known == value) {
                    return Ok((dtype, *place));
                }
                self.sources.push(Source::new(task.tensor(*value)?, shape));
                places.push((*value, next));
                Ok((dtype, next))
            }
            Arg::Items(value) => Err(fault(format!("{value:?} is read item by item by one op"))),
        }
    }

    fn scratch(&self) -> Blocks {
        Blocks {
            sources: self.sources.iter().map(Source::scratch).collect(),
            slots: self
                .slots
                .iter()
                .map(|bytes| Scratch::new(*bytes))
                .collect(),
        }
    }

    fn run_job(
        &self,
        mut job: Job<'_>,
        blocks: &mut Blocks,
        task: &Task<'_>,
    ) -> Result<(), RunError> {
        for (source, scratch) in self.sources.iter().zip(&mut blocks.sources) {
            source.load(job.start, job.len, scratch);
        }
        for from in (0..job.len).step_by(BLOCK) {
            if task.stop.is_set() {
                return Err(RunError::cancelled());
            }
            let len = BLOCK.min(job.len - from);
            for at in 0..self.steps.len() {
                self.run_step(at, &mut job, from, len, blocks, task)?;
            }
        }
        Ok(())
    }

    fn run_step(
        &self,
        at: usize,
        job: &mut Job<'_>,
        from: usize,
        len: usize,
        blocks: &mut Blocks,
        task: &Task<'_>,
    ) -> Result<(), RunError> {
        let step = &self.steps[at];
        let range = |size: usize| from * size..(from + len) * size;
        // The output is taken out while the inputs are borrowed beside it.
        let mut inside = Scratch::new(0);
        let mut outside: &mut [u8] = &mut [];
        match step.place {
            Place::Slot(slot) => std::mem::swap(&mut inside, &mut blocks.slots[slot]),
            Place::Result(result) => std::mem::swap(&mut outside, &mut job.results[result]),
        }
        let output = match step.place {
            Place::Slot(_) => &mut inside.bytes_mut()[..len * step.size],
            Place::Result(_) => &mut outside[range(step.size)],
        };
        let inputs = step.inputs.iter().map(|operand| match *operand {
            Operand::Source(source) => {
                self.sources[source].block(job.start, from, len, &blocks.sources[source])
            }
            Operand::Step(earlier) => {
                let size = self.steps[earlier].size;
                match self.steps[earlier].place {
                    Place::Slot(slot) => &blocks.slots[slot].bytes()[..len * size],
                    Place::Result(result) => &job.results[result][range(size)],
                }
            }
        });
        let done = (step.kernel)(&inputs.collect::<Vec<_>>(), output);
        match step.place {
            Place::Slot(slot) => blocks.slots[slot] = inside,
            Place::Result(result) => job.results[result] = outside,
        }
        done.map_err(|error| task.at_op(&task.graph.ops[step.op], RunError::new(error.to_string())))
    }
}

/// Cuts results into ranges that threads take.
fn cut<'a>(
    results: impl Iterator<Item = (DType, &'a mut Buffer)>,
    elements: usize,
) -> Vec<Job<'a>> {
    let starts = (0..elements).step_by(JOB);
    let mut jobs: Vec<Job<'a>> = starts
        .map(|start| Job {
            start,
            len: JOB.min(elements - start),
            results: Vec::new(),
        })
        .collect();
    for (dtype, buffer) in results {
        let size = dtype.size() as usize;
        for (job, part) in jobs
            .iter_mut()
            .zip(buffer.bytes_mut().chunks_mut(JOB * size))
        {
            job.results.push(part);
        }
    }
    jobs
}
