//! The groups of one stage with the values between them, by position.

use std::collections::{BTreeSet, HashMap};

use haul_ir::cost::{Cost, Nanos};
use haul_ir::expr::{Expr, Symbol};
use haul_ir::graph::{Pin, Typed};
use haul_ir::id::{GroupId, StageId, ValueId};
use haul_ir::op::{GpuKernel, Work};
use haul_ir::plan::{Direction, Side};

use super::cut::{Candidate, Flow, Problem};
use super::{Costs, Machine};
use crate::cost::{Kernel, Point, transfer};
use crate::feasibility::slots_of_one;
use crate::usage::{Usage, bytes_in};

/// A stage, ready to be placed on one machine after the other.
#[derive(Clone)]
pub(crate) struct StageGraph {
    pub(crate) stage: StageId,
    /// How many tasks there are.
    pub(crate) tasks: Expr,
    pub(crate) groups: Vec<GroupId>,
    pub(super) kernels: Vec<Kernel>,
    /// Whether there is a GPU kernel.
    pub(super) has_gpu_kernel: Vec<bool>,
    /// The author's wish for each group; ops of one group have the same.
    pub(super) pins: Vec<Pin>,
    /// Inputs, then what groups make.
    pub(super) values: Vec<StageValue>,
    /// Positions of the values that each group reads, and of those that it makes.
    pub(super) reads: Vec<Vec<usize>>,
    pub(super) writes: Vec<Vec<usize>>,
}

/// A value that a group of the stage reads or makes.
#[derive(Clone)]
pub(super) struct StageValue {
    pub(super) id: ValueId,
    pub(super) bytes: Expr,
    /// The group that makes it, by position; none for what comes from outside.
    pub(super) maker: Option<usize>,
    pub(super) readers: Vec<usize>,
    /// Whether other stages or outputs use it.
    pub(super) is_result: bool,
}

impl StageGraph {
    /// The stage of a graph.
    pub(crate) fn of(typed: &Typed, usage: &Usage, stage: StageId) -> StageGraph {
        let groups = typed.groups_of(stage);
        let kernels = groups.iter().map(|group| Kernel::of(typed, usage, *group));
        let has_kernel = |group: &GroupId| {
            let mut ops = typed.groups()[*group].ops.iter();
            ops.all(|op| !matches!(typed.graph().ops[*op].op.gpu(), GpuKernel::None(_)))
        };
        let mut graph = StageGraph {
            stage,
            tasks: tasks(typed, stage),
            kernels: kernels.collect(),
            has_gpu_kernel: groups.iter().map(has_kernel).collect(),
            pins: groups.iter().map(|group| pin(typed, *group)).collect(),
            values: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            groups,
        };
        graph.add_values(typed, usage);
        graph
    }

    fn add_values(&mut self, typed: &Typed, usage: &Usage) {
        let stage = &typed.graph().stages[self.stage];
        let mut positions = HashMap::new();
        for (position, group) in self.groups.iter().enumerate() {
            let mut find = |values: &mut Vec<StageValue>, id: ValueId, maker: Option<usize>| {
                *positions.entry(id).or_insert_with(|| {
                    values.push(StageValue {
                        id,
                        bytes: bytes_in(typed.graph(), self.stage, id),
                        maker,
                        readers: Vec::new(),
                        is_result: false,
                    });
                    values.len() - 1
                })
            };
            let reads = usage.reads[*group].iter();
            let reads: Vec<_> = reads.map(|id| find(&mut self.values, *id, None)).collect();
            let writes = usage.writes[*group].iter();
            let writes: Vec<_> = writes
                .map(|id| find(&mut self.values, *id, Some(position)))
                .collect();
            reads
                .iter()
                .for_each(|value| self.values[*value].readers.push(position));
            self.reads.push(reads);
            self.writes.push(writes);
        }
        for id in stage.results.iter().chain([&stage.value]) {
            if let Some(position) = positions.get(id) {
                self.values[*position].is_result = true;
            }
        }
    }

    /// What each group takes on the machine.
    pub(super) fn costs(&self, machine: Machine<'_>, at: &Point) -> Vec<Costs> {
        let (cpu, cpus) = (&machine.node.cpu, machine.request.cpus);
        let side_by_side = self.side_by_side(machine, at);
        let kernels = self.kernels.iter().zip(&self.has_gpu_kernel);
        let costs = kernels.map(|(kernel, has_gpu_kernel)| Costs {
            cpu: kernel.on_cpu(at, cpu, cpus, side_by_side),
            gpu: match machine.gpu {
                Some(gpu) if *has_gpu_kernel => kernel.on_gpu(at, gpu, machine.request.gpus),
                _ => None,
            },
        });
        costs.collect()
    }

    /// How many of its tasks a node runs at once, one at least: as many as it holds of their
    /// request, and no more than there are where that is known.
    fn side_by_side(&self, machine: Machine<'_>, at: &Point) -> u64 {
        let Machine { node, gpu, request } = machine;
        let held = slots_of_one(request, node, gpu, request.vram.unwrap_or(0));
        let tasks = at.eval(&self.tasks).unwrap_or(u64::MAX);
        held.min(tasks).max(1)
    }

    /// In numbers; what is unknown counts nothing, and must be of groups whose side is given.
    pub(super) fn problem(
        &self,
        machine: Machine<'_>,
        at: &Point,
        costs: &[Costs],
        fixed: &[Option<Side>],
    ) -> Problem {
        let total = |cost: Option<Cost>| cost.map_or(0, |cost| cost.total());
        let groups = costs.iter().zip(fixed).map(|(costs, fixed)| Candidate {
            cpu: total(costs.cpu),
            gpu: total(costs.gpu),
            fixed: *fixed,
        });
        let time = |bytes: &Expr, direction| -> Nanos {
            let (Some(gpu), Some(bytes)) = (machine.gpu, at.eval(bytes)) else {
                return 0;
            };
            transfer(bytes, gpu, machine.request.gpus, direction)
        };
        let values = self.values.iter().map(|value| Flow {
            maker: value.maker,
            readers: value.readers.clone(),
            is_result: value.is_result && value.maker.is_some(),
            h2d: time(&value.bytes, Direction::HostToDevice),
            d2h: time(&value.bytes, Direction::DeviceToHost),
        });
        Problem {
            groups: groups.collect(),
            values: values.collect(),
        }
    }

    /// The dims that work and values depend on.
    pub(crate) fn dims(&self) -> BTreeSet<Symbol> {
        let mut dims = BTreeSet::new();
        let mut note = |expr: &Expr| {
            expr.symbols(&mut |dim| {
                dims.insert(dim.clone());
            });
        };
        for kernel in &self.kernels {
            if let Work::Known {
                flops,
                read,
                written,
            } = &kernel.work
            {
                [flops, read, written].into_iter().for_each(&mut note);
            }
        }
        self.values.iter().for_each(|value| note(&value.bytes));
        dims
    }

    /// The values that a group reads or makes, by position.
    pub(super) fn values_of(&self, group: usize) -> impl Iterator<Item = usize> {
        self.reads[group].iter().chain(&self.writes[group]).copied()
    }
}

/// How many tasks a stage has.
pub(crate) fn tasks(typed: &Typed, stage: StageId) -> Expr {
    let graph = typed.graph();
    let each = graph.stages[stage].each;
    each.map_or(Expr::ONE, |each| graph.collections[each].width.clone())
}

fn pin(typed: &Typed, group: GroupId) -> Pin {
    let ops = typed.groups()[group].ops.iter();
    let mut pins = ops.map(|op| typed.graph().ops[*op].pin);
    pins.find(|pin| *pin != Pin::Auto).unwrap_or_default()
}
