//! Devices: where groups of ops run.

pub(crate) mod ahead;
pub(crate) mod cpu;
pub(crate) mod emulated;
pub(crate) mod gpus;
mod measured;
pub(crate) mod on_gpu;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use haul_ir::graph::{Arg, Graph, OpNode};
use haul_ir::id::{OpId, ValueId};

use crate::bind::Dims;
use crate::cancel::Stop;
use crate::error::RunError;
use crate::memory::{Account, Bytes, Holder, Shortage};
use crate::tensor::{Data, Tensor};

/// Runs groups of ops in memory of its own.
pub(crate) trait Device: Sync {
    /// The device, as it names itself.
    fn name(&self) -> &str;

    /// A value of the host, in memory that the task has on the device.
    fn upload(&self, value: ValueId, data: &Data, task: &Task<'_>) -> Result<Data, RunError>;

    /// A value of the device, in memory that the task has on the host.
    fn download(&self, value: ValueId, data: &Data, host: &Task<'_>) -> Result<Data, RunError>;

    /// Runs ops as one; gives the values that leave the group, in their order.
    fn run(&self, group: &GroupCall<'_>, task: &mut Task<'_>) -> Result<Vec<Data>, RunError>;
}

/// A group to run.
pub(crate) struct GroupCall<'a> {
    /// Its ops, in order.
    pub(crate) ops: &'a [OpId],
    /// The results that are used outside it.
    pub(crate) leaving: &'a [ValueId],
}

/// What a running task has, on the host or on a GPU.
pub(crate) struct Task<'a> {
    pub(crate) graph: &'a Graph,
    /// The GPU, by its name.
    pub(crate) gpu: Option<&'a str>,
    /// What it may hold.
    pub(crate) account: Arc<Account>,
    /// What pays for scalars: they go to a kernel with its call, and are on the host.
    pub(crate) scalars: Arc<Account>,
    /// Sizes it knows; parsing adds to them.
    pub(crate) dims: Dims,
    /// Values that it still needs.
    pub(crate) values: HashMap<ValueId, Held>,
    /// What it read of files that are mapped, and so may change below it.
    pub(crate) mapped: Vec<Data>,
    pub(crate) stop: &'a Stop,
    /// That of the pipeline, where programs run.
    pub(crate) folder: &'a Path,
    /// How often programs were started again.
    pub(crate) retries: u64,
    /// What its stage was predicted to hold at most, for advice.
    pub(crate) predicted_peak: Option<u64>,
}

/// A value that a task holds.
pub(crate) enum Held {
    One(Data),
    /// Each item of a collection.
    Items(Vec<Data>),
}

impl Task<'_> {
    /// The data of a value.
    ///
    /// # Errors
    /// The task does not hold it: the plan is at fault.
    pub(crate) fn one(&self, value: ValueId) -> Result<&Data, RunError> {
        match self.values.get(&value) {
            Some(Held::One(data)) => Ok(data),
            _ => Err(fault(format!("{value:?} is not held as one value"))),
        }
    }

    /// The tensor of a value.
    ///
    /// # Errors
    /// The task does not hold it, or it is no tensor: the plan is at fault.
    pub(crate) fn tensor(&self, value: ValueId) -> Result<&Tensor, RunError> {
        match self.one(value)? {
            Data::Tensor(tensor) => Ok(tensor),
            other => Err(fault(format!("{value:?} is {other}, not a tensor"))),
        }
    }

    /// Blames an op for an error.
    pub(crate) fn at_op(&self, node: &OpNode, error: RunError) -> RunError {
        let types = node.args.iter().map(|arg| match arg {
            Arg::Scalar(scalar, dtype) => format!("{dtype} {scalar}"),
            Arg::Value(value) | Arg::Items(value) => match self.values.get(value) {
                Some(Held::One(data)) => data.to_string(),
                Some(Held::Items(items)) => match items.first() {
                    Some(first) => format!("{} items such as {first}", items.len()),
                    None => "no items".to_owned(),
                },
                None => self.graph.values[*value].ty.to_string(),
            },
        });
        error.at_op(&node.name, types.collect())
    }

    /// Says that a value found no memory, and what would help.
    pub(crate) fn shortage(&self, value: &str, shortage: Shortage) -> RunError {
        match self.gpu {
            Some(gpu) => {
                let held = self.account.used();
                vram_error(value, shortage, gpu, held, self.predicted_peak)
            }
            None => shortage_error(value, shortage, self.predicted_peak),
        }
    }
}

/// An error that no pipeline can cause: something was planned wrongly.
pub(crate) fn fault(message: String) -> RunError {
    RunError::new(format!("the plan cannot be run: {message}"))
        .help("this is a mistake in haul; please report it with the pipeline")
}

/// Says that a value found no memory, and what would help.
pub(crate) fn shortage_error(
    value: &str,
    shortage: Shortage,
    predicted_peak: Option<u64>,
) -> RunError {
    let Shortage {
        needed,
        held,
        limit,
        holder,
    } = shortage;
    let (needs, holds, all) = (Bytes(needed), Bytes(held), Bytes(limit));
    let total = held.saturating_add(needed);
    match holder {
        Holder::Task => {
            let would_do = total.max(predicted_peak.unwrap_or(0)).div_ceil(1 << 20);
            let message = format!(
                "`{value}` needs {needs}; the task holds {holds} of the {all} it requested"
            );
            RunError::new(message).help(format!("request `memory: \"{would_do} MiB\"`, or more"))
        }
        Holder::Machine | Holder::Device => RunError::new(format!(
            "`{value}` needs {needs}; values between stages and running tasks hold {holds} of the \
             {all} that the run may use"
        ))
        .help("use smaller or fewer items, or a machine with more memory"),
        Holder::System => RunError::new(format!(
            "`{value}` needs {needs}; the operating system refuses, with {holds} in use"
        ))
        .help("close other programs, or use a machine with more memory"),
    }
}

/// Says that a value found no memory on a GPU, of which its task holds so much.
fn vram_error(
    value: &str,
    shortage: Shortage,
    gpu: &str,
    held_by_task: u64,
    predicted_peak: Option<u64>,
) -> RunError {
    let Shortage {
        needed,
        held,
        limit,
        holder,
    } = shortage;
    let (needs, holds, all) = (Bytes(needed), Bytes(held), Bytes(limit));
    let total = held_by_task.saturating_add(needed);
    let total = total.max(predicted_peak.unwrap_or(0));
    let would_do = format!("request `vram: \"{} MiB\"`", total.div_ceil(1 << 20));
    match holder {
        Holder::Task => RunError::new(format!(
            "`{value}` needs {needs} on the {gpu}; the task holds {holds} of the {all} of its \
             memory that it requested"
        ))
        .help(would_do + ", or more"),
        Holder::Device if total <= limit => RunError::new(format!(
            "`{value}` needs {needs} on the {gpu}; of its {all}, tasks hold {holds}"
        ))
        .help(would_do + ", so that fewer tasks share the device"),
        Holder::Device => RunError::new(format!(
            "`{value}` needs {needs} on the {gpu}; of its {all}, tasks hold {holds}"
        ))
        .help("use smaller items, or a GPU with more memory"),
        Holder::Machine | Holder::System => RunError::new(format!(
            "`{value}` needs {needs} on the {gpu}, which lies in the memory of this machine: \
             {holds} of {all} are in use"
        ))
        .help("use smaller or fewer items, or a machine with more memory"),
    }
}
