//! A plan as a snapshot: one fact a line, exact, and the same bytes on every machine.
//!
//! Work and decisions come first, in terms of the dims. What depends on the figures of the
//! target (times, prices, flip points) stands apart under `estimates`, so that a machine
//! measured anew changes numbers and not decisions. Nothing is aligned, and nothing says when,
//! where or from which folder it was made. The last line is the [digest] of all others.

use std::fmt::{self, Write};

use super::lines::{digest, request, word};
use super::*;
use crate::render::units;

/// The version of the layout.
pub(super) const LAYOUT: u32 = 1;

/// What the last line begins with.
pub(super) const DIGEST: &str = "digest";

/// The plan as lines of facts; ends in a newline.
pub(super) fn snapshot(plan: &SavedPlan) -> String {
    let mut printer = Printer {
        plan,
        out: String::new(),
    };
    match printer.print().and_then(|()| printer.digest()) {
        Ok(()) => printer.out,
        Err(fmt::Error) => unreachable!("writing to a string does not fail"),
    }
}

struct Printer<'a> {
    plan: &'a SavedPlan,
    out: String,
}

impl Printer<'_> {
    fn print(&mut self) -> fmt::Result {
        let plan = self.plan;
        self.head()?;
        for stage in &plan.stages {
            self.stage(stage)?;
        }
        if !plan.outputs.is_empty() {
            writeln!(self.out)?;
        }
        for output in &plan.outputs {
            let SavedOutput { format, from, .. } = output;
            let (name, path) = (word(&output.name), word(&output.path));
            writeln!(self.out, "output {name} {format} {path} from {from}")?;
        }
        self.totals()?;
        for stage in &plan.stages {
            self.stage_estimates(stage)?;
        }
        Ok(())
    }

    fn digest(&mut self) -> fmt::Result {
        writeln!(self.out)?;
        let digest = digest(&self.out);
        writeln!(self.out, "{DIGEST} {digest}")
    }

    fn head(&mut self) -> fmt::Result {
        let plan = self.plan;
        writeln!(self.out, "plan {} format {LAYOUT}", word(&plan.pipeline))?;
        writeln!(self.out, "source {}", word(&plan.source))?;
        let target = word(&plan.target.name);
        writeln!(self.out, "target {target} cost-model {}", plan.cost_model)?;
        for node in &plan.target.nodes {
            self.node(node)?;
        }
        for Rename { old, new } in &plan.moved {
            writeln!(self.out, "moved {} {}", word(old), word(new))?;
        }
        for dim in &plan.dims {
            self.dim(dim)?;
        }
        for input in &plan.inputs {
            let each = if input.each { "each " } else { "" };
            let SavedInput {
                name, ty, source, ..
            } = input;
            writeln!(self.out, "input {name} {each}{ty} from {source}")?;
        }
        Ok(())
    }

    fn node(&mut self, node: &SavedNode) -> fmt::Result {
        let SavedNode { count, cpus, .. } = node;
        let (name, memory) = (word(&node.name), units::exact_bytes(node.memory));
        write!(
            self.out,
            "node {name} count {count} cpus {cpus} memory {memory}"
        )?;
        for (gpu, count) in &node.gpus {
            write!(self.out, " gpus {count} {}", word(gpu))?;
        }
        writeln!(self.out)
    }

    fn dim(&mut self, dim: &SavedDim) -> fmt::Result {
        write!(self.out, "dim {}", dim.name)?;
        if let Some(over) = &dim.each {
            write!(self.out, " each {over}")?;
        }
        if let Some(max) = dim.max {
            write!(self.out, " 1..{max}")?;
        }
        match dim.plan {
            Some(value) => writeln!(self.out, " plan {value}"),
            None => writeln!(self.out, " unknown"),
        }
    }

    fn stage(&mut self, stage: &SavedStage) -> fmt::Result {
        let each = stage.each.as_deref().unwrap_or("none");
        writeln!(self.out, "\nstage {} each {each}", stage.name)?;
        for (position, asked) in stage.requests.iter().enumerate() {
            let word = match position + 1 == stage.chosen {
                true => "request",
                false => "or",
            };
            writeln!(self.out, "  {word} {}", request(asked))?;
        }
        if stage.retries > 0 {
            writeln!(self.out, "  retries {}", stage.retries)?;
        }
        if let Some(timeout) = stage.timeout {
            writeln!(self.out, "  timeout {}", units::exact_time(timeout))?;
        }
        if stage.skips {
            writeln!(self.out, "  on error skip")?;
        }
        writeln!(self.out, "  node {}", word(&stage.node))?;
        if let Some(gpu) = &stage.gpu {
            writeln!(self.out, "  gpu {}", word(gpu))?;
        }
        writeln!(self.out, "  tasks {}", stage.tasks.exact)?;
        for op in &stage.ops {
            self.op(op)?;
        }
        for transfer in &stage.transfers {
            let SavedTransfer {
                value, direction, ..
            } = transfer;
            write!(
                self.out,
                "  transfer {value} {direction} {}",
                transfer.bytes.exact
            )?;
            if !transfer.readers.is_empty() {
                write!(self.out, " for {}", transfer.readers.join(", "))?;
            }
            writeln!(self.out)?;
        }
        write!(self.out, "  memory host peak {}", stage.memory.exact)?;
        if let Some(at) = &stage.memory_at {
            write!(self.out, " at {at}")?;
        }
        writeln!(self.out)?;
        if stage.vram.exact != "0" {
            writeln!(self.out, "  memory gpu peak {}", stage.vram.exact)?;
        }
        Ok(())
    }

    fn op(&mut self, op: &SavedOp) -> fmt::Result {
        writeln!(self.out, "  {} {} {}", op.name, op.formula, op.types)?;
        match &op.work {
            SavedWork::Fused => {}
            SavedWork::Unknown => writeln!(self.out, "    work unknown")?,
            SavedWork::Known {
                flops,
                bytes,
                intensity,
            } => {
                writeln!(self.out, "    flops {}", flops.exact)?;
                writeln!(self.out, "    bytes {}", bytes.exact)?;
                if let Some(intensity) = intensity {
                    writeln!(self.out, "    intensity {intensity}")?;
                }
            }
        }
        if let Some(side) = op.pin {
            writeln!(self.out, "    pin {side}")?;
        }
        writeln!(self.out, "    place {} {}", op.side, op.reason)
    }

    fn totals(&mut self) -> fmt::Result {
        let estimates = &self.plan.estimates;
        writeln!(self.out, "\nestimates{}", self.sizes())?;
        writeln!(self.out, "  figures {}", estimates.figures)?;
        for (device, figures) in &estimates.devices {
            writeln!(self.out, "  device {} {figures}", word(device))?;
        }
        for (node, milli) in &estimates.prices {
            let price = format!("{}.{:03} USD", milli / 1000, milli % 1000);
            writeln!(self.out, "  hour of {} {price}", word(node))?;
        }
        let time = |nanos| estimates.total(nanos, units::time);
        writeln!(self.out, "  makespan {}", time(estimates.makespan))?;
        writeln!(self.out, "  serial {}", time(estimates.serial))?;
        writeln!(self.out, "  all on cpu {}", estimates.all_on_cpu())?;
        if estimates.all_on_gpu.is_some() {
            writeln!(self.out, "  all on gpu {}", time(estimates.all_on_gpu))?;
        }
        let price = estimates.total(estimates.nano_usd, units::usd);
        writeln!(self.out, "  price {price}")?;
        for (what, bytes) in [
            ("transferred", estimates.transferred),
            ("gpu memory", estimates.vram),
        ] {
            let bytes = bytes.map_or_else(|| "unknown".to_owned(), |bytes| format!("{bytes} B"));
            writeln!(self.out, "  {what} {bytes}")?;
        }
        if !estimates.unknown.is_empty() {
            writeln!(self.out, "  unknown {}", estimates.unknown.join(", "))?;
        }
        if !estimates.critical_path.is_empty() {
            let path = estimates.critical_path.join(", ");
            writeln!(self.out, "  critical path {path}")?;
        }
        for used in &estimates.utilisation {
            let SavedUtilisation { nodes, .. } = used;
            let device = used.gpu.as_deref().unwrap_or("cpus");
            let (node, device) = (word(&used.node), word(device));
            let (held, busy) = (estimates.share(used.held), estimates.share(used.busy));
            writeln!(
                self.out,
                "  used {nodes} {node} {device} held {held} busy {busy}"
            )?;
        }
        Ok(())
    }

    /// The sizes that estimates are for: ` at B = 1024`.
    fn sizes(&self) -> String {
        let mut dims: Vec<_> = self.plan.dims.iter().collect();
        dims.sort_by_key(|dim| &dim.name);
        let known = dims.iter();
        let known = known.filter_map(|dim| Some(format!("{} = {}", dim.name, dim.plan?)));
        let known: Vec<_> = known.collect();
        match known.is_empty() {
            true => String::new(),
            false => format!(" at {}", known.join(", ")),
        }
    }

    fn stage_estimates(&mut self, stage: &SavedStage) -> fmt::Result {
        let time = units::time_or_unknown(stage.time);
        write!(self.out, "  stage {} task {time}", stage.name)?;
        if stage.time != stage.time_on_cpu {
            let on_cpu = units::time_or_unknown(stage.time_on_cpu);
            write!(self.out, "; all on cpu {on_cpu}")?;
        }
        if let Some(Wait { time, behind }) = &stage.waits {
            write!(self.out, "; waits {} behind {behind}", units::time(*time))?;
        }
        if let Some(queueing) = stage.queueing.filter(|nanos| *nanos > 0) {
            write!(self.out, "; queueing {}", units::time(queueing))?;
        }
        writeln!(self.out)?;
        for transfer in &stage.transfers {
            let SavedTransfer {
                value, direction, ..
            } = transfer;
            let time = units::time_or_unknown(transfer.time);
            writeln!(self.out, "    {value} {direction} {time}")?;
        }
        for op in &stage.ops {
            if let Some(choice) = &op.estimate {
                writeln!(self.out, "    {} {} {}", op.name, op.side, line(op, choice))?;
            }
        }
        Ok(())
    }
}

/// The prediction for an op: `23.6 us; saves 2.77 ms, adds 0 ns; on cpu 4.16 ms longer`.
fn line(op: &SavedOp, choice: &SavedChoice) -> String {
    let other = match op.side {
        SavedSide::Cpu => SavedSide::Gpu,
        SavedSide::Gpu => SavedSide::Cpu,
    };
    let mut parts = vec![units::time_or_unknown(choice.time)];
    if let (Some(saved), Some(added)) = (choice.saved, choice.added) {
        let (saved, added) = (units::time(saved), units::time(added));
        parts.push(format!("saves {saved}, adds {added}"));
    }
    if let Some(regret) = choice.regret {
        parts.push(format!("on {other} {} longer", units::time(regret)));
    }
    parts.extend(choice.flip.clone());
    let doubt = if choice.close_call {
        " (close call)"
    } else {
        ""
    };
    parts.join("; ") + doubt
}

impl SavedEstimates {
    /// A total in words: `unknown`, or `at least` so much where a stage is unknown.
    pub(crate) fn total(&self, total: Option<u64>, print: fn(u64) -> String) -> String {
        match total {
            None => "unknown".to_owned(),
            Some(total) if self.unknown.is_empty() => print(total),
            Some(total) => format!("at least {}", print(total)),
        }
    }

    /// The makespan with every op on CPUs; `impossible` where there is none beside a makespan.
    pub(crate) fn all_on_cpu(&self) -> String {
        match (self.makespan, self.all_on_cpu) {
            (Some(_), None) => "impossible".to_owned(),
            (_, all_on_cpu) => self.total(all_on_cpu, units::time),
        }
    }

    /// A share of the makespan: `92.0 %`, `unknown`, or `at most` so much where a stage is unknown.
    pub(crate) fn share(&self, per_mille: Option<u32>) -> String {
        let Some(per_mille) = per_mille else {
            return "unknown".to_owned();
        };
        let share = format!("{}.{} %", per_mille / 10, per_mille % 10);
        match per_mille == 0 || self.unknown.is_empty() {
            true => share,
            false => format!("at most {share}"),
        }
    }
}
