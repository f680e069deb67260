//! A plan for version control: one fact a line, exact, and the same bytes on every machine.
//!
//! Work and decisions come first, in terms of the dims. What depends on the figures of the
//! target (times, prices, flip points) stands apart under `estimates`, so that a machine
//! measured anew changes numbers and not decisions. Nothing is aligned, and nothing says when,
//! where or from which folder it was made.

use std::fmt::{self, Write};

use haul_ir::expr::Expr;
use haul_ir::graph::{Graph, Request, Sink, Source};
use haul_ir::id::{GroupId, OpId, StageId};
use haul_ir::op::Work;
use haul_ir::plan::{COST_MODEL, Feasibility, Plan, Reason, Transfer};

use super::choices;
use super::values::Values;
use super::{names, units};

/// The version of the layout.
const FORMAT: u32 = 1;

/// The plan as lines of facts; ends in a newline.
pub fn snapshot(plan: &Plan) -> String {
    let mut printer = Printer {
        plan,
        graph: plan.typed.graph(),
        values: Values::of(plan),
        out: String::new(),
    };
    match printer.print() {
        Ok(()) => printer.out,
        Err(fmt::Error) => unreachable!("writing to a string does not fail"),
    }
}

struct Printer<'a> {
    plan: &'a Plan,
    graph: &'a Graph,
    values: Values<'a>,
    out: String,
}

impl Printer<'_> {
    fn print(&mut self) -> fmt::Result {
        self.head()?;
        for stage in self.graph.stages.ids() {
            self.stage(stage)?;
        }
        if !self.graph.outputs.is_empty() {
            writeln!(self.out)?;
        }
        for output in &self.graph.outputs {
            let value = names::value(self.graph, output.value, None);
            let format = match output.sink {
                Sink::Npy { .. } => "npy",
                Sink::Csv { .. } => "csv",
                Sink::Image { .. } => "image",
            };
            let path = names::on_one_line(output.sink.path());
            let name = names::on_one_line(&output.name);
            writeln!(self.out, "output {name} {format} {path} from {value}")?;
        }
        self.estimates()
    }

    fn head(&mut self) -> fmt::Result {
        let plan = self.plan;
        writeln!(self.out, "plan {} format {FORMAT}", plan.pipeline)?;
        writeln!(self.out, "source {}", plan.source)?;
        writeln!(
            self.out,
            "target {} cost-model {COST_MODEL}",
            plan.target.name
        )?;
        for (dim, known) in &self.graph.dims {
            write!(self.out, "dim {dim}")?;
            if let Some(over) = known.per_item {
                write!(self.out, " each {}", self.graph.collections[over].name)?;
            }
            if let Some(max) = known.max {
                write!(self.out, " 1..{max}")?;
            }
            match self.values.eval(&Expr::symbol(dim.clone())) {
                Some(value) => writeln!(self.out, " plan {value}")?,
                None => writeln!(self.out, " unknown")?,
            }
        }
        for input in self.graph.inputs.iter() {
            let value = &self.graph.values[input.value];
            let each = if input.collection.is_some() {
                "each "
            } else {
                ""
            };
            let from = names::on_one_line(&self.source(&input.source));
            writeln!(
                self.out,
                "input {} {each}{} from {from}",
                input.name, value.ty
            )?;
        }
        Ok(())
    }

    fn source(&self, source: &Source) -> String {
        match source {
            Source::Npy { path } => format!("npy {path}"),
            Source::Npz { path, array } => format!("npz {path} {array}"),
            Source::Csv { path, columns, .. } if columns.is_empty() => format!("csv {path}"),
            Source::Csv { path, columns, .. } => format!("csv {path} {}", columns.join(" ")),
            Source::Image { path } => format!("image {path}"),
            Source::Text { path } => format!("text {path}"),
            Source::Files { glob } => format!("files {glob}"),
            Source::Split { of, axis, size } => {
                format!(
                    "split {} axis {axis} size {size}",
                    self.graph.inputs[*of].name
                )
            }
            Source::Random { seed } => format!("random seed {seed}"),
            Source::Constant { numbers } => format!("constant of {} numbers", numbers.len()),
            Source::Linspace { start, stop } => format!("linspace {start} to {stop}"),
        }
    }

    fn stage(&mut self, id: StageId) -> fmt::Result {
        let (stage, planned) = (&self.graph.stages[id], &self.plan.stages[id]);
        let each = stage
            .each
            .map_or("none", |over| &self.graph.collections[over].name);
        writeln!(self.out, "\nstage {} each {each}", stage.name)?;
        let request = planned.request(&stage.requests);
        writeln!(self.out, "  request {}", exact_request(request))?;
        if stage.requests.len() > 1 {
            let (chosen, of) = (planned.request + 1, stage.requests.len());
            writeln!(self.out, "  alternative {chosen} of {of}")?;
        }
        writeln!(
            self.out,
            "  node {}",
            self.plan.target.nodes[planned.node].name
        )?;
        writeln!(self.out, "  tasks {}", planned.tasks)?;
        for op in &stage.ops {
            self.op(*op)?;
        }
        for transfer in &planned.transfers {
            self.transfer(id, transfer)?;
        }
        write!(self.out, "  memory host peak {}", planned.peak_memory)?;
        match planned.peak_at {
            Some(at) => writeln!(self.out, " at {}", names::value(self.graph, at, Some(id)))?,
            None => writeln!(self.out)?,
        }
        if planned.peak_vram != Expr::ZERO {
            writeln!(self.out, "  memory gpu peak {}", planned.peak_vram)?;
        }
        Ok(())
    }

    fn op(&mut self, id: OpId) -> fmt::Result {
        let node = &self.graph.ops[id];
        let formula = names::formula(self.graph, node);
        let types = names::types(self.graph, node);
        writeln!(self.out, "  {} {formula} {types}", node.name)?;
        let group = self.plan.typed.group_of(id);
        let head = self.plan.typed.head(group);
        let placement = &self.plan.groups[group].placement;
        if head != id {
            let head = &self.graph.ops[head].name;
            return writeln!(self.out, "    place {} fused_with {head}", placement.side);
        }
        match &self.plan.groups[group].work {
            Work::Known {
                flops,
                read,
                written,
            } => {
                let bytes = read + written;
                writeln!(self.out, "    flops {flops}")?;
                writeln!(self.out, "    bytes {bytes}")?;
                if let Some(intensity) = self.values.intensity(flops, &bytes) {
                    writeln!(self.out, "    intensity {intensity}")?;
                }
            }
            Work::Unknown => writeln!(self.out, "    work unknown")?,
        }
        let (side, reason) = (placement.side, exact_reason(&placement.reason));
        writeln!(self.out, "    place {side} {reason}")
    }

    fn transfer(&mut self, stage: StageId, transfer: &Transfer) -> fmt::Result {
        let value = names::value(self.graph, transfer.value, Some(stage));
        let (direction, bytes) = (transfer.direction, &transfer.bytes);
        write!(self.out, "  transfer {value} {direction} {bytes}")?;
        if !transfer.readers.is_empty() {
            write!(self.out, " for {}", self.readers(transfer))?;
        }
        writeln!(self.out)
    }

    fn readers(&self, transfer: &Transfer) -> String {
        let name = |group: &GroupId| &*self.graph.ops[self.plan.typed.head(*group)].name;
        let names: Vec<_> = transfer.readers.iter().map(name).collect();
        names.join(", ")
    }

    fn estimates(&mut self) -> fmt::Result {
        let all: Vec<_> = self.graph.dims.keys().cloned().map(Expr::symbol).collect();
        writeln!(self.out, "\nestimates{}", self.values.at(&all))?;
        let figures = choices::provenance(self.plan);
        writeln!(self.out, "  figures {figures}")?;
        let estimates = &self.plan.estimates;
        for (what, time) in [
            ("makespan", estimates.makespan),
            ("serial", estimates.serial),
            ("all on cpu", estimates.all_on_cpu),
        ] {
            writeln!(
                self.out,
                "  {what} {}",
                units::total(time, estimates, units::time)
            )?;
        }
        let price = units::total(estimates.nano_usd, estimates, units::usd);
        writeln!(self.out, "  price {price}")?;
        for stage in self.graph.stages.ids() {
            self.stage_estimates(stage)?;
        }
        Ok(())
    }

    fn stage_estimates(&mut self, id: StageId) -> fmt::Result {
        let (stage, planned) = (&self.graph.stages[id], &self.plan.stages[id]);
        let (time, on_cpu) = (planned.time, planned.time_on_cpu);
        let time = units::time_or_unknown(time);
        write!(self.out, "  {} task {time}", stage.name)?;
        if planned.time != on_cpu {
            write!(self.out, "; all on cpu {}", units::time_or_unknown(on_cpu))?;
        }
        match &planned.feasibility {
            Feasibility::Fits => writeln!(self.out)?,
            Feasibility::Waits { time, behind } => {
                writeln!(self.out, "; waits {} behind {behind}", units::time(*time))?;
            }
        }
        for transfer in &planned.transfers {
            let value = names::value(self.graph, transfer.value, Some(id));
            let time = units::time_or_unknown(transfer.time);
            let direction = transfer.direction;
            writeln!(self.out, "  {}.{value} {direction} {time}", stage.name)?;
        }
        for group in self.plan.typed.groups_of(id) {
            let name = names::op(self.graph, self.plan.typed.head(group));
            let planned = &self.plan.groups[group];
            let time = units::time_or_unknown(choices::cost(planned));
            write!(self.out, "  {name} {} {time}", planned.placement.side)?;
            match choices::of(planned) {
                Some(choice) => writeln!(self.out, "; {choice}")?,
                None => writeln!(self.out)?,
            }
        }
        Ok(())
    }
}

/// The request without loss: `cpus 4 memory 8 GiB gpus 1 type A100-80GB vram 256 MiB`.
fn exact_request(request: &Request) -> String {
    let memory = units::exact_bytes(request.memory);
    let mut text = format!("cpus {} memory {memory}", request.cpus);
    if request.gpus.0 > 0 {
        text += &format!(" gpus {}", request.gpus);
    }
    if let Some(ty) = &request.gpu_type {
        text += &format!(" type {ty}");
    }
    if let Some(vram) = request.vram {
        text += &format!(" vram {}", units::exact_bytes(vram));
    }
    text
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
