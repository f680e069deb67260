//! Plans built by hand: every group on the CPU, every request as the test says.

#![allow(dead_code, reason = "each test uses its part")]

use std::collections::BTreeMap;

use haul_ir::dtype::DType;
use haul_ir::expr::{Expr, Symbol};
use haul_ir::format::{File, NPY, Settings};
use haul_ir::graph::{
    Arg, Collection, Failure, GpuCount, Graph, Group, Input, OpNode, Output, Pin, Producer,
    Request, Source, Stage, Typed, Value, arg_types,
};
use haul_ir::id::{CollectionId, IdVec, OpId, StageId, ValueId};
use haul_ir::op::{
    Attr, Attrs, Call, CpuKernel, Example, Family, GpuKernel, InferError, Inferred, Op, Param, Work,
};
use haul_ir::plan::{Estimates, Feasibility, GroupPlan, Placement, Plan, Reason, Side, StagePlan};
use haul_ir::target::{Efficiency, Gpu, Link, Peak, Provenance, Target};
use haul_ir::types::{TensorType, ValueType};

pub(crate) const MIB: u64 = 1 << 20;

/// A pipeline under construction.
#[derive(Default)]
pub(crate) struct Pipeline {
    pub(crate) graph: Graph,
    /// Groups of more than one op, by their first op.
    fused: Vec<Vec<OpId>>,
    /// Predicted times of stages.
    pub(crate) times: Vec<(StageId, u64)>,
}

impl Pipeline {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn input(
        &mut self,
        name: &str,
        source: Source,
        ty: impl Into<ValueType>,
    ) -> ValueId {
        self.add_input(name, source, ty.into(), None)
    }

    /// An input of several items, as many as the symbol of its name says.
    pub(crate) fn items(
        &mut self,
        name: &str,
        source: Source,
        ty: impl Into<ValueType>,
    ) -> (CollectionId, ValueId) {
        let collection = self.graph.collections.push(Collection {
            name: name.into(),
            input: self
                .graph
                .inputs
                .ids()
                .next_back()
                .map_or_else(first, after),
            width: Expr::symbol(Symbol::new(name)),
        });
        let value = self.add_input(name, source, ty.into(), Some(collection));
        (collection, value)
    }

    fn add_input(
        &mut self,
        name: &str,
        source: Source,
        ty: ValueType,
        collection: Option<CollectionId>,
    ) -> ValueId {
        let value = self.graph.values.push(Value {
            name: name.into(),
            ty,
            over: collection,
            producer: Producer::Op(first()),
        });
        let input = self.graph.inputs.push(Input {
            name: name.into(),
            source,
            value,
            collection,
        });
        self.graph.values[value].producer = Producer::Input(input);
        value
    }

    pub(crate) fn stage(
        &mut self,
        name: &str,
        each: Option<CollectionId>,
        cpus: u32,
        memory: u64,
    ) -> StageId {
        self.graph.stages.push(Stage {
            name: name.into(),
            each,
            requests: vec![Request {
                cpus,
                memory,
                gpus: GpuCount::NONE,
                gpu_type: None,
                vram: None,
            }],
            failure: Failure::default(),
            ops: Vec::new(),
            results: Vec::new(),
            value: first(),
        })
    }

    /// Adds an op to the last stage; its results have the types that its shape rule gives.
    pub(crate) fn op(&mut self, name: &str, op: &'static dyn Op, args: Vec<Arg>) -> ValueId {
        self.op_with(name, op, args, &[])
    }

    pub(crate) fn op_with(
        &mut self,
        name: &str,
        op: &'static dyn Op,
        args: Vec<Arg>,
        attrs: &[(&'static str, Attr)],
    ) -> ValueId {
        let stage = self
            .graph
            .stages
            .ids()
            .next_back()
            .expect("there is a stage");
        let node = OpNode {
            name: name.into(),
            stage,
            op,
            args,
            attrs: Attrs(attrs.to_vec()),
            results: Vec::new(),
            pin: Pin::Auto,
        };
        let inputs = arg_types(&self.graph, &node);
        let call = Call {
            inputs: &inputs,
            attrs: &node.attrs,
        };
        let inferred = op
            .infer(&call)
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let id = self.graph.ops.push(node);
        for ty in inferred.outputs {
            let value = self.graph.values.push(Value {
                name: name.into(),
                ty,
                over: self.graph.stages[stage].each,
                producer: Producer::Op(id),
            });
            self.graph.ops[id].results.push(value);
        }
        let value = self.graph.ops[id].results[0];
        self.graph.stages[stage].ops.push(id);
        self.graph.stages[stage].value = value;
        value
    }

    /// Says that the last stage gives a value.
    pub(crate) fn gives(&mut self, value: ValueId) {
        let stage = self
            .graph
            .stages
            .ids()
            .next_back()
            .expect("there is a stage");
        self.graph.stages[stage].results.push(value);
    }

    pub(crate) fn output(&mut self, name: &str, sink: File, value: ValueId) {
        self.graph.outputs.push(Output {
            name: name.into(),
            sink,
            value,
        });
    }

    pub(crate) fn npy(&mut self, path: &str, value: ValueId) {
        self.output(path, File::new(&NPY, path), value);
    }

    /// Runs the ops that make these values as one kernel.
    pub(crate) fn fuse(&mut self, values: &[ValueId]) {
        let op = |value: &ValueId| match self.graph.values[*value].producer {
            Producer::Op(op) => op,
            Producer::Input(_) => panic!("an input is no op"),
        };
        self.fused.push(values.iter().map(op).collect());
    }

    pub(crate) fn plan(self) -> Plan {
        let mut groups: IdVec<_, Group> = IdVec::new();
        for op in self.graph.ops.ids() {
            match self.fused.iter().find(|ops| ops.contains(&op)) {
                Some(ops) if ops.last() == Some(&op) => groups.push(Group { ops: ops.clone() }),
                Some(_) => continue,
                None => groups.push(Group { ops: vec![op] }),
            };
        }
        let group_plan = GroupPlan {
            work: Work::Unknown,
            cpu: None,
            gpu: None,
            placement: Placement {
                side: Side::Cpu,
                reason: Reason::NoGpuRequested,
                regret: None,
                flip: None,
                close_call: false,
            },
        };
        let time = |id| {
            self.times
                .iter()
                .find(|(stage, _)| *stage == id)
                .map(|(_, time)| *time)
        };
        let stages = self.graph.stages.ids().map(|id| StagePlan {
            request: 0,
            node: first(),
            gpu: None,
            tasks: Expr::ONE,
            transfers: Vec::new(),
            peak_memory: Expr::ZERO,
            peak_at: None,
            peak_vram: Expr::ZERO,
            time: time(id),
            time_on_cpu: None,
            feasibility: Feasibility::Fits,
            queueing: None,
        });
        Plan {
            pipeline: "test".into(),
            source: "test.ron".into(),
            target: Target {
                name: "local".into(),
                nodes: IdVec::new(),
            },
            dims: Vec::new(),
            groups: IdVec::filled(group_plan, groups.len()),
            stages: stages.collect(),
            estimates: Estimates::default(),
            timeline: Vec::new(),
            typed: Typed::check(self.graph, groups).expect("the plan is well made"),
        }
    }
}

/// A type of GPU with so many bytes of memory; its rates are of no matter.
pub(crate) fn gpu(name: &str, vram: u64) -> Gpu {
    Gpu {
        name: name.into(),
        vram,
        peak: Peak {
            f32: 1,
            f64: 1,
            f16: 1,
            bf16: 1,
        },
        bandwidth: 1,
        efficiency: Efficiency {
            by_family: BTreeMap::new(),
            other: 1000,
            small: 1000,
            half: 0,
        },
        bandwidth_efficiency: 1000,
        launch: 0,
        link: Link {
            name: "link".into(),
            h2d: 1,
            d2h: 1,
            latency: 0,
        },
        provenance: Provenance::Datasheet("a test".into()),
    }
}

fn first<I: haul_ir::id::Id>() -> I {
    I::from_index(0)
}

fn after<I: haul_ir::id::Id>(id: I) -> I {
    I::from_index(id.index() + 1)
}

pub(crate) fn value(id: ValueId) -> Arg {
    Arg::Value(id)
}

pub(crate) fn f32(shape: &[u64]) -> TensorType {
    tensor(DType::F32, shape)
}

pub(crate) fn tensor(dtype: DType, shape: &[u64]) -> TensorType {
    TensorType::new(dtype, shape.iter().map(|size| Expr::from(*size)).collect())
}

/// The files that a pattern names, by their endings.
pub(crate) fn files(glob: &str) -> Source {
    Source::Files {
        glob: glob.into(),
        format: None,
        settings: Settings::default(),
    }
}

/// The op of the catalogue with this name.
pub(crate) fn op(name: &str) -> &'static dyn Op {
    let found = haul_kernels::catalogue().find(name);
    found.unwrap_or_else(|| panic!("there is no op `{name}`"))
}

/// An op for one test: a kernel, and a result of the type of its first argument.
pub(crate) struct TestOp {
    pub(crate) name: &'static str,
    pub(crate) kernel: CpuKernel,
}

impl Op for TestOp {
    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        ""
    }

    fn params(&self) -> &'static [Param] {
        &[]
    }

    fn rule(&self) -> &'static str {
        "[..] -> [..]"
    }

    fn family(&self) -> Family {
        Family::Move
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        Ok(Inferred::plain(call.inputs.len(), call.tensor(0)?.clone()))
    }

    fn work(&self, _: &Call<'_>, _: &[ValueType]) -> Work {
        Work::Unknown
    }

    fn work_formula(&self) -> &'static str {
        ""
    }

    fn cpu(&self) -> CpuKernel {
        self.kernel
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::None("it is for tests")
    }

    fn examples(&self) -> &'static [Example] {
        &[]
    }
}
