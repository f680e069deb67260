//! A plan made by hand, with one of everything that can be printed.

use haul_compiler::target;
use haul_ir::cost::{Cost, Nanos};
use haul_ir::dtype::DType;
use haul_ir::expr::{Expr, Symbol};
use haul_ir::format::{File, NPY};
use haul_ir::graph::*;
use haul_ir::id::{GroupId, Id, IdVec, NodeId, OpId, StageId, ValueId};
use haul_ir::op::{Attr, Attrs, Call, Work};
use haul_ir::plan::*;
use haul_ir::types::{TensorType, ValueType};

/// The pipeline `spectra` on the library's A100: a stage on both sides, one on the CPU.
pub(crate) fn spectra() -> Plan {
    let mut graph = Graph::default();
    let batch = Symbol::new("B");
    let dim = Dim {
        plan: Some(1024),
        max: Some(8192),
        per_item: None,
    };
    graph.dims.insert(batch.clone(), dim);
    let size = Expr::symbol(batch.clone());
    let audio = input(&mut graph, "audio", vec![size, Expr::from(16384_u64)]);
    let bank = input(
        &mut graph,
        "bank",
        [16384_u64, 128].map(Expr::from).to_vec(),
    );
    let gpu = Request {
        cpus: 4,
        memory: 8 << 30,
        gpus: GpuCount::ONE,
        gpu_type: Some("A100-80GB".to_owned()),
        vram: Some(256 << 20),
    };
    let cpu = Request {
        cpus: 1,
        memory: 2_000_000_000,
        gpus: GpuCount::NONE,
        gpu_type: None,
        vram: None,
    };
    let half = Arg::Scalar(Scalar::Float(0.5), DType::F32);
    let transform = stage(&mut graph, "transform", vec![gpu, cpu.clone()]);
    let window = op(
        &mut graph,
        transform,
        "window",
        "mul",
        vec![Arg::Value(audio), half],
    );
    let args = vec![Arg::Value(window), Arg::Value(bank)];
    let mel = op(&mut graph, transform, "mel", "matmul", args);
    let squared = op(
        &mut graph,
        transform,
        "transform.mul",
        "mul",
        vec![Arg::Value(mel); 2],
    );
    let result = op(
        &mut graph,
        transform,
        "transform",
        "log",
        vec![Arg::Value(squared)],
    );
    finish(&mut graph, transform, vec![result, mel], result);
    let report = stage(&mut graph, "report", vec![cpu]);
    let (left, right) = (Arg::Value(result), Arg::Value(mel));
    let difference = op(&mut graph, report, "report", "sub", vec![left, right]);
    finish(&mut graph, report, vec![difference], difference);
    graph.outputs.push(Output {
        name: "report".to_owned(),
        sink: File::new(&NPY, "out/report.npy"),
        value: difference,
    });
    let groups = [vec![0], vec![1], vec![2, 3], vec![4]].map(|ops| Group {
        ops: ops.into_iter().map(OpId::from_index).collect(),
    });
    let typed = Typed::check(graph, groups.into_iter().collect()).expect("a sound graph");
    decided(typed, batch, audio, mel, result)
}

fn decided(typed: Typed, batch: Symbol, audio: ValueId, mel: ValueId, result: ValueId) -> Plan {
    let size = Expr::symbol(batch.clone());
    let groups = [
        group(
            known(&size * 16384, &size * 65536, &size * 65536),
            [Some(2_000_000), Some(90_000)],
            Placement {
                side: Side::Gpu,
                reason: Reason::KeepsDataOnGpu {
                    saved: 1_910_000,
                    added: 0,
                },
                regret: Some(1_200_000),
                flip: Some(Flip {
                    dim: batch.clone(),
                    to: Side::Cpu,
                    at: 5,
                    below: true,
                }),
                close_call: false,
            },
        ),
        group(
            known(&size * 4_194_304, &size * 65536 + 8_388_608, &size * 512),
            [Some(45_300_000), Some(310_000)],
            Placement {
                side: Side::Gpu,
                reason: Reason::CheaperOnGpu {
                    saved: 44_990_000,
                    added: 3_110_000,
                },
                regret: Some(41_880_000),
                flip: None,
                close_call: false,
            },
        ),
        group(
            known(&size * 2688, &size * 512, &size * 512),
            [Some(9_000), Some(6_000)],
            Placement {
                side: Side::Cpu,
                reason: Reason::TransferOutweighsGain {
                    saved: 3_000,
                    added: 4_200,
                },
                regret: Some(1_200),
                flip: Some(Flip {
                    dim: batch.clone(),
                    to: Side::Gpu,
                    at: 2419,
                    below: false,
                }),
                close_call: true,
            },
        ),
        group(
            Work::Unknown,
            [None, None],
            Placement {
                side: Side::Cpu,
                reason: Reason::NoGpuRequested,
                regret: None,
                flip: None,
                close_call: false,
            },
        ),
    ];
    let transfers = vec![
        Transfer {
            value: audio,
            direction: Direction::HostToDevice,
            bytes: &size * 65536,
            time: Some(2_700_000),
            readers: vec![GroupId::from_index(0)],
        },
        Transfer {
            value: mel,
            direction: Direction::DeviceToHost,
            bytes: &size * 512,
            time: Some(21_000),
            readers: Vec::new(),
        },
    ];
    let transform = StagePlan {
        request: 0,
        node: NodeId::from_index(0),
        gpu: Some(0),
        tasks: Expr::ONE,
        transfers,
        peak_memory: &size * 66_560 + 8_388_608,
        peak_at: Some(result),
        peak_vram: &size * 131_072,
        time: Some(3_520_000),
        time_on_cpu: Some(47_309_000),
        feasibility: Feasibility::Fits,
        queueing: None,
    };
    let report = StagePlan {
        request: 0,
        gpu: None,
        transfers: Vec::new(),
        peak_memory: &size * 1536,
        peak_at: None,
        peak_vram: Expr::ZERO,
        time: None,
        time_on_cpu: None,
        feasibility: Feasibility::Waits {
            time: 3_520_000,
            behind: "transform".to_owned(),
        },
        queueing: None,
        ..transform.clone()
    };
    Plan {
        pipeline: "spectra".to_owned(),
        source: "spectra.ron".to_owned(),
        typed,
        target: target::find("a100").expect("a target of the library"),
        dims: vec![(batch, 1024)],
        groups: groups.into_iter().collect(),
        stages: [transform, report].into_iter().collect(),
        estimates: Estimates {
            makespan: Some(3_600_000),
            serial: None,
            all_on_cpu: Some(47_400_000),
            nano_usd: Some(2_000),
            unknown: Vec::new(),
            ..Estimates::default()
        },
        timeline: Vec::new(),
    }
}

fn input(graph: &mut Graph, name: &str, shape: Vec<Expr>) -> ValueId {
    let id = graph.inputs.push(Input {
        name: name.to_owned(),
        source: Source::File(File::new(&NPY, format!("{name}.npy"))),
        value: ValueId::from_index(graph.values.len()),
        collection: None,
    });
    value(
        graph,
        name,
        TensorType::new(DType::F32, shape).into(),
        Producer::Input(id),
    )
}

fn value(graph: &mut Graph, name: &str, ty: ValueType, producer: Producer) -> ValueId {
    graph.values.push(Value {
        name: name.to_owned(),
        ty,
        over: None,
        producer,
    })
}

fn stage(graph: &mut Graph, name: &str, requests: Vec<Request>) -> StageId {
    graph.stages.push(Stage {
        name: name.to_owned(),
        each: None,
        requests,
        failure: Failure::default(),
        ops: Vec::new(),
        results: Vec::new(),
        value: ValueId::from_index(0),
    })
}

fn finish(graph: &mut Graph, stage: StageId, results: Vec<ValueId>, value: ValueId) {
    graph.stages[stage].results = results;
    graph.stages[stage].value = value;
}

fn op(graph: &mut Graph, stage: StageId, name: &str, op: &str, args: Vec<Arg>) -> ValueId {
    let op = haul_kernels::catalogue()
        .find(op)
        .expect("an op of the catalogue");
    let params = op.params().iter().filter(|param| !param.kind.is_value());
    let node = OpNode {
        name: name.to_owned(),
        stage,
        op,
        args,
        attrs: Attrs(params.map(|param| (param.name, Attr::None)).collect()),
        results: Vec::new(),
        pin: Pin::Auto,
    };
    let inputs = arg_types(graph, &node);
    let call = Call {
        inputs: &inputs,
        attrs: &node.attrs,
    };
    let ty = op.infer(&call).expect("a call that fits").outputs[0].clone();
    let id = graph.ops.push(node);
    let result = value(graph, name, ty, Producer::Op(id));
    graph.ops[id].results.push(result);
    graph.stages[stage].ops.push(id);
    result
}

fn group(work: Work, times: [Option<Nanos>; 2], placement: Placement) -> GroupPlan {
    let [cpu, gpu] = times.map(|time| {
        time.map(|memory| Cost {
            launch: 0,
            compute: 0,
            memory,
        })
    });
    GroupPlan {
        work,
        cpu,
        gpu,
        placement,
    }
}

fn known(flops: Expr, read: Expr, written: Expr) -> Work {
    Work::Known {
        flops,
        read,
        written,
    }
}

/// A table of one entry for each of the plan's stages.
pub(crate) fn per_stage<T>(entries: [T; 2]) -> IdVec<StageId, T> {
    entries.into_iter().collect()
}
