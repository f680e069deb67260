//! A plan to its saved form.

use std::collections::BTreeMap;

use haul_ir::cost::Cost;
use haul_ir::expr::Expr;
use haul_ir::graph::{Graph, Input, OnError, Output, Pin, Request, Source};
use haul_ir::id::{GroupId, OpId, StageId};
use haul_ir::op::{Family, Work};
use haul_ir::plan::{COST_MODEL, Feasibility, GroupPlan, Plan, Reason, Side, StagePlan, Transfer};
use haul_ir::target::{Cpu, Efficiency, Gpu, Node, Target};

use super::*;
use crate::render::devices::{self, Device};
use crate::render::{choices, names, units, values::Values};

impl SavedPlan {
    /// The saved form of a plan.
    pub fn of(plan: &Plan) -> SavedPlan {
        let maker = Maker {
            plan,
            graph: plan.typed.graph(),
            values: Values::of(plan),
        };
        maker.plan()
    }
}

struct Maker<'a> {
    plan: &'a Plan,
    graph: &'a Graph,
    values: Values<'a>,
}

impl Maker<'_> {
    fn plan(&self) -> SavedPlan {
        let stages: Vec<_> = self.graph.stages.ids().map(|id| self.stage(id)).collect();
        let moved = self.graph.moved.iter();
        SavedPlan {
            format_version: FORMAT.to_owned(),
            pipeline: names::on_one_line(&self.plan.pipeline),
            source: names::on_one_line(&self.plan.source),
            target: target(&self.plan.target),
            cost_model: COST_MODEL,
            moved: sorted(
                moved.map(|(old, new)| Rename {
                    old: old.clone(),
                    new: new.clone(),
                }),
                |rename| &rename.old,
            ),
            dims: sorted(self.dims(), |dim| &dim.name),
            inputs: sorted(self.graph.inputs.iter().map(|i| self.input(i)), |input| {
                &input.name
            }),
            outputs: sorted(
                self.graph.outputs.iter().map(|o| self.output(o)),
                |output| &output.name,
            ),
            estimates: self.estimates(&stages),
            stages,
        }
    }

    fn dims(&self) -> Vec<SavedDim> {
        let dims = self.graph.dims.iter().map(|(symbol, dim)| SavedDim {
            name: symbol.name().to_owned(),
            each: dim
                .per_item
                .map(|over| self.graph.collections[over].name.clone()),
            max: dim.max,
            plan: self.amount(&Expr::symbol(symbol.clone())).planned,
        });
        dims.collect()
    }

    fn input(&self, input: &Input) -> SavedInput {
        SavedInput {
            name: input.name.clone(),
            each: input.collection.is_some(),
            ty: self.graph.values[input.value].ty.to_string(),
            source: names::on_one_line(&self.source(&input.source)),
        }
    }

    fn source(&self, source: &Source) -> String {
        match source {
            Source::File(file) => file.to_string(),
            Source::Files {
                glob,
                format,
                settings,
            } => {
                let format = format.map_or(String::new(), |format| {
                    format!(" as {}", format.name.to_ascii_lowercase())
                });
                format!("files {glob}{format}{settings}")
            }
            Source::Split { of, axis, size } => {
                let of = &self.graph.inputs[*of].name;
                format!("split {of} axis {axis} size {size}")
            }
            Source::Random { seed } => format!("random seed {seed}"),
            Source::Constant { numbers } => format!("constant of {} numbers", numbers.len()),
            Source::Texts { texts } => format!("constant of {} texts", texts.len()),
            Source::Linspace { start, stop } => format!("linspace {start} to {stop}"),
        }
    }

    fn output(&self, output: &Output) -> SavedOutput {
        SavedOutput {
            name: names::on_one_line(&output.name),
            format: output.sink.format.name.to_ascii_lowercase(),
            path: names::on_one_line(&output.sink.path),
            from: names::value(self.graph, output.value, None),
        }
    }

    fn stage(&self, id: StageId) -> SavedStage {
        let (stage, planned) = (&self.graph.stages[id], &self.plan.stages[id]);
        let node = &self.plan.target.nodes[planned.node];
        SavedStage {
            name: stage.name.clone(),
            each: stage
                .each
                .map(|over| self.graph.collections[over].name.clone()),
            requests: stage.requests.iter().map(request).collect(),
            chosen: planned.request + 1,
            retries: stage.failure.retries,
            timeout: stage.failure.timeout,
            skips: stage.failure.on_error == OnError::Skip,
            node: node.name.clone(),
            gpu: gpu(planned, node).map(|gpu| gpu.name.clone()),
            tasks: self.amount(&planned.tasks),
            ops: stage.ops.iter().map(|op| self.op(*op)).collect(),
            transfers: planned
                .transfers
                .iter()
                .map(|transfer| self.transfer(id, transfer))
                .collect(),
            memory: self.amount(&planned.peak_memory),
            memory_at: planned
                .peak_at
                .map(|at| names::value(self.graph, at, Some(id))),
            vram: self.amount(&planned.peak_vram),
            time: planned.time,
            time_on_cpu: planned.time_on_cpu,
            waits: match &planned.feasibility {
                Feasibility::Fits => None,
                Feasibility::Waits { time, behind } => Some(Wait {
                    time: *time,
                    behind: behind.clone(),
                }),
            },
            queueing: planned.queueing,
        }
    }

    fn op(&self, id: OpId) -> SavedOp {
        let node = &self.graph.ops[id];
        let group = self.plan.typed.group_of(id);
        let head = self.plan.typed.head(group);
        let planned = &self.plan.groups[group];
        let is_head = head == id;
        SavedOp {
            name: node.name.clone(),
            formula: names::formula(self.graph, node),
            types: names::types(self.graph, node),
            work: match is_head {
                true => self.work(&planned.work),
                false => SavedWork::Fused,
            },
            pin: match node.pin {
                Pin::Auto => None,
                Pin::Cpu => Some(SavedSide::Cpu),
                Pin::Gpu => Some(SavedSide::Gpu),
            },
            side: side(planned.placement.side),
            reason: match is_head {
                true => exact_reason(&planned.placement.reason),
                false => format!("fused_with {}", self.graph.ops[head].name),
            },
            estimate: is_head.then(|| self.choice(node.stage, planned)),
        }
    }

    fn choice(&self, stage: StageId, planned: &GroupPlan) -> SavedChoice {
        let terms = |cost: &Option<Cost>| {
            cost.map(|cost| Terms {
                launch: cost.launch,
                compute: cost.compute,
                memory: cost.memory,
            })
        };
        let placement = &planned.placement;
        let (saved, added) = saved_and_added(&placement.reason).unzip();
        SavedChoice {
            time: choices::cost(planned),
            cpu: terms(&planned.cpu),
            gpu: terms(&planned.gpu),
            saved,
            added,
            regret: placement.regret,
            flip: choices::flip(self.plan, stage, placement),
            close_call: placement.close_call,
        }
    }

    fn work(&self, work: &Work) -> SavedWork {
        match work {
            Work::Unknown => SavedWork::Unknown,
            Work::Known {
                flops,
                read,
                written,
            } => {
                let bytes = read + written;
                SavedWork::Known {
                    intensity: self.values.intensity(flops, &bytes),
                    flops: self.amount(flops),
                    bytes: self.amount(&bytes),
                }
            }
        }
    }

    fn transfer(&self, stage: StageId, transfer: &Transfer) -> SavedTransfer {
        let name = |group: &GroupId| self.graph.ops[self.plan.typed.head(*group)].name.clone();
        SavedTransfer {
            value: names::value(self.graph, transfer.value, Some(stage)),
            direction: transfer.direction.to_string(),
            bytes: self.amount(&transfer.bytes),
            readers: transfer.readers.iter().map(name).collect(),
            time: transfer.time,
        }
    }

    fn amount(&self, expr: &Expr) -> Amount {
        let planned = self.values.eval(expr);
        Amount {
            exact: expr.to_string(),
            planned: planned.and_then(|value| u64::try_from(value).ok()),
        }
    }

    fn estimates(&self, stages: &[SavedStage]) -> SavedEstimates {
        let estimates = &self.plan.estimates;
        let name = |id: &StageId| self.graph.stages[*id].name.clone();
        let utilisation = estimates.utilisation.iter().map(|used| SavedUtilisation {
            node: self.plan.target.nodes[used.node].name.clone(),
            nodes: used.nodes,
            gpu: used.gpu.clone(),
            held: used.held,
            busy: used.busy,
            each: devices::of(self.plan, used).iter().map(device).collect(),
        });
        let mut vram = stages.iter().map(|stage| stage.vram.planned);
        SavedEstimates {
            figures: choices::provenance(self.plan),
            makespan: estimates.makespan,
            serial: estimates.serial,
            all_on_cpu: estimates.all_on_cpu,
            all_on_gpu: estimates.all_on_gpu,
            nano_usd: estimates.nano_usd,
            transferred: estimates.transferred,
            vram: vram.try_fold(0, |most, vram| Some(vram?.max(most))),
            unknown: estimates.unknown.iter().map(name).collect(),
            critical_path: estimates.critical_path.iter().map(name).collect(),
            utilisation: utilisation.collect(),
            devices: self.devices(),
            prices: self.prices(),
        }
    }

    /// The figures of all devices of the target.
    fn devices(&self) -> BTreeMap<String, String> {
        let mut devices = BTreeMap::new();
        for node in self.plan.target.nodes.iter() {
            let cpu = || cpu_figures(&node.cpu);
            devices.entry(node.cpu.name.clone()).or_insert_with(cpu);
            for gpu in &node.gpus {
                let figures = || gpu_figures(gpu);
                devices.entry(gpu.name.clone()).or_insert_with(figures);
            }
        }
        devices
    }

    fn prices(&self) -> BTreeMap<String, u64> {
        let nodes = self.plan.stages.iter().map(|planned| planned.node);
        let price = |id| {
            let node = &self.plan.target.nodes[id];
            let price = node.price.as_ref()?;
            Some((node.name.clone(), price.milli_usd_per_hour))
        };
        nodes.filter_map(price).collect()
    }
}

/// In the order of names: that of a map in the file says nothing.
fn sorted<T>(all: impl IntoIterator<Item = T>, name: fn(&T) -> &String) -> Vec<T> {
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by(|a, b| name(a).cmp(name(b)));
    all
}

fn target(target: &Target) -> SavedTarget {
    let node = |node: &Node| {
        let mut gpus = BTreeMap::new();
        for gpu in &node.gpus {
            *gpus.entry(gpu.name.clone()).or_default() += 1;
        }
        SavedNode {
            name: node.name.clone(),
            count: node.count,
            cpus: node.cpus,
            memory: node.memory,
            gpus,
        }
    };
    SavedTarget {
        name: target.name.clone(),
        nodes: target.nodes.iter().map(node).collect(),
    }
}

fn gpu<'a>(planned: &StagePlan, node: &'a Node) -> Option<&'a Gpu> {
    node.gpus.get(planned.gpu?)
}

fn request(request: &Request) -> SavedRequest {
    SavedRequest {
        cpus: request.cpus,
        memory: request.memory,
        gpus: request.gpus.to_string(),
        gpu_type: request.gpu_type.clone(),
        vram: request.vram,
    }
}

fn side(side: Side) -> SavedSide {
    match side {
        Side::Cpu => SavedSide::Cpu,
        Side::Gpu => SavedSide::Gpu,
    }
}

fn device(device: &Device) -> SavedDevice {
    SavedDevice {
        machine: device.machine + 1,
        device: device.gpu + 1,
        held: device.held,
        busy: device.busy,
    }
}

fn saved_and_added(reason: &Reason) -> Option<(u64, u64)> {
    match reason {
        Reason::CheaperOnGpu { saved, added }
        | Reason::KeepsDataOnGpu { saved, added }
        | Reason::InputAlreadyMovedFor { saved, added, .. }
        | Reason::TransferOutweighsGain { saved, added }
        | Reason::LowIntensity { saved, added } => Some((*saved, *added)),
        _ => None,
    }
}

/// The reason with what does not depend on the target's figures.
fn exact_reason(reason: &Reason) -> String {
    let code = reason.code();
    match reason {
        Reason::FusedWith(op) | Reason::InputAlreadyMovedFor { op, .. } => format!("{code} {op}"),
        Reason::NoGpuKernel(why) => format!("{code}: {why}"),
        Reason::DoesNotFitVram { needed, available } => {
            format!("{code}: needs {needed} of {available} bytes")
        }
        _ => code.to_owned(),
    }
}

fn cpu_figures(cpu: &Cpu) -> String {
    format!(
        "{}, {}, memory {} a cpu and {} a node, launch {}, {}",
        cpu.provenance.word(),
        peaks(&cpu.peak),
        rate(cpu.bandwidth),
        rate(cpu.node_bandwidth),
        units::time(cpu.launch),
        shares(&cpu.efficiency)
    )
}

fn gpu_figures(gpu: &Gpu) -> String {
    let share = units::significant(gpu.bandwidth_efficiency.into(), 1000);
    format!(
        "{}, {}, {} of memory at {} of which {share}, launch {}, link h2d {} d2h {} after {}, {}",
        gpu.provenance.word(),
        peaks(&gpu.peak),
        units::exact_bytes(gpu.vram),
        rate(gpu.bandwidth),
        units::time(gpu.launch),
        rate(gpu.link.h2d),
        rate(gpu.link.d2h),
        units::time(gpu.link.latency),
        shares(&gpu.efficiency)
    )
}

fn peaks(peak: &haul_ir::target::Peak) -> String {
    let rate = |rate: u64| units::count(rate.into()) + "flop/s";
    let (f32, f64, f16) = (rate(peak.f32), rate(peak.f64), rate(peak.f16));
    let bf16 = match peak.bf16 == peak.f16 {
        true => String::new(),
        false => format!(", bf16 {}", rate(peak.bf16)),
    };
    format!("f32 {f32}, f64 {f64}, f16 {f16}{bf16}")
}

fn rate(bytes_per_second: u64) -> String {
    units::count(bytes_per_second.into()) + "B/s"
}

/// Shares of the peak by family.
fn shares(efficiency: &Efficiency) -> String {
    let share = |per_mille: u32| units::significant(per_mille.into(), 1000);
    let one =
        |(family, per_mille): (&Family, &u32)| format!("{} {}", family.name(), share(*per_mille));
    let mut parts: Vec<_> = efficiency.by_family.iter().map(one).collect();
    parts.push(format!("others {}", share(efficiency.other)));
    if efficiency.half > 0 {
        let half = units::count(efficiency.half.into());
        parts.push(format!(
            "from {} with half of the way at {half}flop",
            share(efficiency.small)
        ));
    }
    format!("shares {}", parts.join(" "))
}
