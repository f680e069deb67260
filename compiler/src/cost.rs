//! What groups of ops take on a device, and values on a link.
//!
//! ```text
//! group     launch + max( flops / (peak * eff(family, flops)),  bytes / bandwidth )
//! transfer  latency + bytes / bandwidth of the link, and for a copy to the host one launch more
//! ```
//!
//! A stage that asks for `n` cpus computes at `n` times the peak of one. Its tasks run side by side
//! and share what the node has: each moves
//! `min(n * bandwidth of one, bandwidth of the node / tasks side by side)`. One that asks for a share of a GPU gets that
//! share of its peak, its bandwidth and its link's bandwidth: a share divides the device's time, and
//! others may use the rest of it. `eff` is [`Efficiency::at`]. A group is one
//! launch; bytes are those of its own inputs and outputs, each once. A view costs nothing. A copy
//! back waits until the device is done, which takes as long as a second launch (5 us back to
//! back, 10 us with a synchronisation).
//!
//! Times are computed in `f64` with `+ - * /` only, which every machine rounds alike, and rounded
//! once to whole nanoseconds.
//!
//! [`Efficiency::at`]: haul_ir::target::Efficiency::at

mod point;

use haul_ir::cost::{Cost, Nanos};
use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::graph::{Arg, GpuCount, Graph, OpNode, Typed, arg_types};
use haul_ir::id::GroupId;
use haul_ir::op::{Call, CpuKernel, Family, GpuKernel, Work};
use haul_ir::plan::Direction;
use haul_ir::target::{Cpu, Efficiency, Gpu, Peak};
use haul_ir::types::ValueType;

pub(crate) use self::point::Point;
use crate::usage::{Usage, bytes_in};

/// What a group does, whatever the machine.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    /// How much.
    pub(crate) work: Work,
    family: Family,
    /// The dtype that it computes in.
    dtype: DType,
    /// Whether it changes only the layout, on CPUs and on GPUs.
    pub(crate) is_view: bool,
}

impl Kernel {
    /// The work of a group; of a fused one the arithmetic of all its ops, but only the bytes that
    /// enter and leave it.
    pub(crate) fn of(typed: &Typed, usage: &Usage, group: GroupId) -> Kernel {
        let graph = typed.graph();
        let head = &graph.ops[typed.head(group)];
        Kernel {
            work: group_work(typed, usage, group),
            family: head.op.family(),
            dtype: compute_dtype(graph, head),
            is_view: is_view(head),
        }
    }

    /// Its time on `cpus` CPUs of a node that `side_by_side` such tasks share; unknown where its
    /// work is.
    pub(crate) fn on_cpu(
        &self,
        at: &Point,
        cpu: &Cpu,
        cpus: u32,
        side_by_side: u64,
    ) -> Option<Cost> {
        let amount = Amount::at(&self.work, at)?;
        if self.is_view {
            return Some(Cost::default());
        }
        let cpus = f64::from(cpus);
        let share = cpu.node_bandwidth as f64 / side_by_side as f64;
        let bandwidth = (cpus * cpu.bandwidth as f64).min(share);
        Some(Cost {
            launch: cpu.launch,
            compute: self.compute(&amount, &cpu.peak, &cpu.efficiency, cpus),
            memory: nanos(amount.bytes, bandwidth),
        })
    }

    /// Its time on a GPU, or on the share of one that is asked for; unknown where its work is.
    pub(crate) fn on_gpu(&self, at: &Point, gpu: &Gpu, asked: GpuCount) -> Option<Cost> {
        let amount = Amount::at(&self.work, at)?;
        if self.is_view {
            return Some(Cost::default());
        }
        let share = share(asked);
        let reached = f64::from(gpu.bandwidth_efficiency) / 1000.0;
        Some(Cost {
            launch: gpu.launch,
            compute: self.compute(&amount, &gpu.peak, &gpu.efficiency, share),
            memory: nanos(amount.bytes, gpu.bandwidth as f64 * reached * share),
        })
    }

    fn compute(&self, amount: &Amount, peak: &Peak, reached: &Efficiency, devices: f64) -> Nanos {
        let rate = peak.of(self.dtype) as f64 * reached.at(self.family, amount.flops) * devices;
        nanos(amount.flops, rate)
    }
}

/// The time of a transfer between the host and a GPU, or the share of one that is asked for.
pub(crate) fn transfer(bytes: u64, gpu: &Gpu, asked: GpuCount, direction: Direction) -> Nanos {
    let time = nanos(bytes, link_rate(gpu, asked, direction));
    transfer_start(gpu, direction).saturating_add(time)
}

/// Bytes a second that a GPU's link moves, or the share of it that is asked for.
pub(crate) fn link_rate(gpu: &Gpu, asked: GpuCount, direction: Direction) -> f64 {
    let bandwidth = match direction {
        Direction::HostToDevice => gpu.link.h2d,
        Direction::DeviceToHost => gpu.link.d2h,
    };
    bandwidth as f64 * share(asked)
}

/// How much of each device a task has: all of it where it asks for whole ones.
fn share(asked: GpuCount) -> f64 {
    f64::from(asked.0.min(GpuCount::ONE.0)) / f64::from(GpuCount::ONE.0)
}

/// The part of a transfer's time that does not depend on its size.
pub(crate) fn transfer_start(gpu: &Gpu, direction: Direction) -> Nanos {
    match direction {
        Direction::HostToDevice => gpu.link.latency,
        Direction::DeviceToHost => gpu.link.latency.saturating_add(gpu.launch),
    }
}

/// The work of a group at one point.
struct Amount {
    flops: u64,
    bytes: u64,
}

impl Amount {
    fn at(work: &Work, at: &Point) -> Option<Amount> {
        let Work::Known {
            flops,
            read,
            written,
        } = work
        else {
            return None;
        };
        let bytes = at.eval(read)?.checked_add(at.eval(written)?)?;
        let flops = at.eval(flops)?;
        Some(Amount { flops, bytes })
    }
}

/// `amount / rate` in nanoseconds; as long as can be where the rate is zero.
fn nanos(amount: u64, rate: f64) -> Nanos {
    if amount == 0 {
        return 0;
    }
    // A cast from f64 saturates.
    (amount as f64 / rate * 1e9 + 0.5) as Nanos
}

fn group_work(typed: &Typed, usage: &Usage, group: GroupId) -> Work {
    let graph = typed.graph();
    let ops = &typed.groups()[group].ops;
    if let [op] = ops[..] {
        return op_work(graph, &graph.ops[op]);
    }
    let mut total = Expr::ZERO;
    for op in ops {
        match op_work(graph, &graph.ops[*op]) {
            Work::Known { flops, .. } => total = &total + &flops,
            Work::Unknown => return Work::Unknown,
        }
    }
    let stage = graph.ops[ops[0]].stage;
    let bytes = |values: &[_]| {
        let each: Vec<_> = values
            .iter()
            .map(|value| bytes_in(graph, stage, *value))
            .collect();
        Expr::sum(&each)
    };
    Work::Known {
        flops: total,
        read: bytes(&usage.reads[group]),
        written: bytes(&usage.writes[group]),
    }
}

fn op_work(graph: &Graph, node: &OpNode) -> Work {
    let inputs = arg_types(graph, node);
    let results = node.results.iter();
    let outputs: Vec<ValueType> = results
        .map(|value| graph.values[*value].ty.clone())
        .collect();
    let call = Call {
        inputs: &inputs,
        attrs: &node.attrs,
    };
    node.op.work(&call, &outputs)
}

/// The dtype of the first operand that is a number, or else of the result.
fn compute_dtype(graph: &Graph, node: &OpNode) -> DType {
    let dtype_of = |value| graph.values[value].ty.tensor().map(|tensor| tensor.dtype);
    let operands = node.args.iter().filter_map(|arg| match arg {
        Arg::Value(value) | Arg::Items(value) => dtype_of(*value),
        Arg::Scalar(_, dtype) => Some(*dtype),
    });
    let mut operands = operands.filter(|dtype| *dtype != DType::Bool);
    let result = node.results.first().and_then(|value| dtype_of(*value));
    operands.next().or(result).unwrap_or(DType::F32)
}

fn is_view(node: &OpNode) -> bool {
    match node.op.cpu() {
        CpuKernel::View(_) | CpuKernel::Reshape => node.op.gpu() == GpuKernel::View,
        CpuKernel::Columns(_) => true,
        _ => false,
    }
}
