//! Devices: where groups of ops run.

pub(crate) mod cpu;
mod measured;

use std::collections::HashMap;
use std::sync::Arc;

use haul_ir::graph::{Arg, Graph, OpNode};
use haul_ir::id::{OpId, ValueId};

use crate::bind::Dims;
use crate::cancel::Stop;
use crate::error::RunError;
use crate::memory::{Account, Buffer, Bytes, Holder, Shortage};
use crate::tensor::{Data, Tensor};

/// Runs groups of ops in memory of its own.
pub(crate) trait Device: Sync {
    /// The device, as it names itself.
    fn name(&self) -> &str;

    /// Memory for a result, charged to the task.
    fn allocate(&self, bytes: usize, task: &Task<'_>) -> Result<Buffer, Shortage>;

    /// A value of the host, where the device can read it.
    fn upload(&self, value: Data, task: &Task<'_>) -> Result<Data, RunError>;

    /// A result, where the host can read it.
    fn download(&self, value: Data, task: &Task<'_>) -> Result<Data, RunError>;

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

/// What a running task has.
pub(crate) struct Task<'a> {
    pub(crate) graph: &'a Graph,
    /// What it may hold.
    pub(crate) account: Arc<Account>,
    /// Sizes it knows; parsing adds to them.
    pub(crate) dims: Dims,
    /// Values that it still needs.
    pub(crate) values: HashMap<ValueId, Held>,
    /// What it read of files that are mapped, and so may change below it.
    pub(crate) mapped: Vec<Data>,
    pub(crate) stop: &'a Stop,
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
        shortage_error(value, shortage, self.predicted_peak)
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
        Holder::Machine => RunError::new(format!(
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
