//! `haul targets`: the machines that plans can be made for.

use haul_compiler::render::{Cell, Column, Table, units, wrapped};
use haul_compiler::target;
use haul_ir::target::{Efficiency, Gpu, Node, Provenance, Target};

use crate::exit::{Exit, Trouble};
use crate::{machine, terminal};

/// Lists the targets that come with haul, or tells all about one.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The target to tell about: a name of the list, a target file, or `local`.
    name: Option<String>,
    /// Lists the GPUs and links that come with haul.
    #[arg(long, conflicts_with = "name")]
    devices: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let text = match &args.name {
        None if args.devices => devices(),
        None => list(),
        Some(name) => page(&machine::target(name)?),
    };
    terminal::print(&text)?;
    Ok(Exit::Fine)
}

fn list() -> String {
    let mut table = Table::new([
        Column::word("target"),
        Column::text("nodes"),
        Column::text("gpus of a node"),
        Column::number("USD/h"),
        Column::text("from"),
    ]);
    let mut sources = Sources::default();
    for (name, target) in target::library() {
        for (position, node) in target.nodes.iter().enumerate() {
            let price = node.price.as_ref();
            table.row([
                Cell::from(if position == 0 { name } else { "" }),
                format!("{} x {} cpus, {}", node.count, node.cpus, memory(node)).into(),
                gpus(node).into(),
                price
                    .map_or_else(
                        || "unknown".to_owned(),
                        |price| usd(price.milli_usd_per_hour),
                    )
                    .into(),
                price
                    .map_or_else(String::new, |price| sources.number(&price.source))
                    .into(),
            ]);
        }
    }
    format!("{}\n{}", table.print(terminal::colour()), sources.print())
}

fn devices() -> String {
    let mut sources = Sources::default();
    let mut gpus = Table::new([
        Column::word("gpu"),
        Column::number("memory"),
        Column::number("f64"),
        Column::number("f32"),
        Column::number("f16"),
        Column::number("bf16"),
        Column::number("bandwidth"),
        Column::word("link"),
        Column::text("from"),
    ]);
    for gpu in target::gpus() {
        let peaks = [gpu.peak.f64, gpu.peak.f32, gpu.peak.f16, gpu.peak.bf16];
        let [f64, f32, f16, bf16] = peaks.map(|peak| Cell::from(flops(peak)));
        gpus.row([
            Cell::from(gpu.name.as_str()),
            units::exact_bytes(gpu.vram).into(),
            f64,
            f32,
            f16,
            bf16,
            rate(gpu.bandwidth).into(),
            gpu.link.name.as_str().into(),
            sources.number(&figures(&gpu.provenance)).into(),
        ]);
    }
    let mut links = Table::new([
        Column::word("link"),
        Column::number("h2d"),
        Column::number("d2h"),
        Column::number("latency"),
        Column::text("from"),
    ]);
    for (link, source) in target::links() {
        links.row([
            Cell::from(link.name.as_str()),
            rate(link.h2d).into(),
            rate(link.d2h).into(),
            units::time(link.latency).into(),
            sources.number(&source).into(),
        ]);
    }
    let colour = terminal::colour();
    let (gpus, links) = (gpus.print(colour), links.print(colour));
    format!("{gpus}\n{links}\n{}", sources.print())
}

/// Where figures come from: by number in a table, in full below it.
#[derive(Default)]
struct Sources(Vec<String>);

impl Sources {
    fn number(&mut self, source: &str) -> String {
        let known = self.0.iter().position(|known| known == source);
        let at = known.unwrap_or_else(|| {
            self.0.push(source.to_owned());
            self.0.len() - 1
        });
        format!("[{}]", at + 1)
    }

    fn print(&self) -> String {
        let numbered = self.0.iter().enumerate();
        let lines = numbered.map(|(at, source)| {
            let number = format!("[{}]", at + 1);
            wrapped(0, 5, &format!("{number:<4} {source}"))
        });
        lines.collect()
    }
}

fn page(target: &Target) -> String {
    let mut page = format!("{}\n", target.name);
    let is_of_library = target::find(&target.name).is_some_and(|known| known.nodes == target.nodes);
    if let Some(remarks) = target::remarks(&target.name).filter(|_| is_of_library) {
        page += &wrapped(0, 0, &remarks);
    }
    for node in target.nodes.iter() {
        page += &format!("\n{} x {}\n", node.count, node.name);
        let cpu = &node.cpu;
        page += &fact("cpus", &format!("{} x {}", node.cpus, cpu.name));
        page += &fact("peak", &peaks(&cpu.peak, "a cpu"));
        page += &fact("shares", &shares(&cpu.efficiency, None));
        page += &fact(
            "bandwidth",
            &format!(
                "{} a cpu, {} a node",
                rate(cpu.bandwidth),
                rate(cpu.node_bandwidth)
            ),
        );
        page += &fact("launch", &units::time(cpu.launch));
        page += &fact("figures", &figures(&cpu.provenance));
        if *cpu == target::reference() {
            page += &fact(
                "",
                "assumption: shares and launch, until a machine is measured",
            );
        }
        page += &fact("memory", &memory(node));
        let source = match &node.source {
            Some(source) => format!("cpus and memory: {source}"),
            None => "assumption: cpus and memory, as the target names no source".to_owned(),
        };
        page += &fact("", &source);
        for alike in node.gpus.chunk_by(|a, b| a == b) {
            page += &gpu_facts(&alike[0], alike.len());
        }
        let price = node.price.as_ref().map(|price| {
            let usd = usd(price.milli_usd_per_hour);
            format!("{usd} USD an hour ({})", price.source)
        });
        page += &fact("price", price.as_deref().unwrap_or("unknown"));
    }
    page
}

/// The facts of so many GPUs that are alike.
fn gpu_facts(gpu: &Gpu, count: usize) -> String {
    let counted = match count {
        1 => String::new(),
        _ => format!("{count} x "),
    };
    let vram = units::exact_bytes(gpu.vram);
    let mut facts = fact("gpu", &format!("{counted}{} with {vram}", gpu.name));
    facts += &fact("peak", &peaks(&gpu.peak, "a gpu"));
    let reached = Some(gpu.bandwidth_efficiency);
    facts += &fact("shares", &shares(&gpu.efficiency, reached));
    facts += &fact("bandwidth", &rate(gpu.bandwidth));
    facts += &fact("launch", &units::time(gpu.launch));
    facts += &fact("link", &link(gpu));
    facts += &fact("figures", &figures(&gpu.provenance));
    let links = target::links();
    if let Some((_, source)) = links.iter().find(|(link, _)| *link == gpu.link) {
        facts += &fact("", &format!("link: {source}"));
    }
    if target::gpus().contains(gpu) {
        let what = "assumption: shares, launch and latency, until a machine is measured";
        facts += &fact("", what);
    }
    facts
}

fn fact(label: &str, fact: &str) -> String {
    wrapped(2, 13, &format!("{label:<11}{fact}"))
}

/// `of the peak: matmul 80 %, others 30 %; of the bandwidth 90 %`.
fn shares(efficiency: &Efficiency, bandwidth: Option<u32>) -> String {
    let percent = |per_mille: u32| format!("{} %", units::significant(u128::from(per_mille), 10));
    let families = efficiency.by_family.iter();
    let families = families.map(|(family, share)| format!("{} {}", family.name(), percent(*share)));
    let others = format!("others {}", percent(efficiency.other));
    let of_peak: Vec<_> = families.chain([others]).collect();
    let mut shares = format!("of the peak: {}", of_peak.join(", "));
    if efficiency.half > 0 {
        let half = units::count(u128::from(efficiency.half));
        let small = percent(efficiency.small);
        shares += &format!("; {small} of it where work is small, half way up at {half}flop");
    }
    if let Some(reached) = bandwidth {
        shares += &format!("; of the bandwidth: {}", percent(reached));
    }
    shares
}

fn peaks(peak: &haul_ir::target::Peak, of: &str) -> String {
    format!(
        "f32 {}, f64 {}, f16 {}, bf16 {} {of}",
        flops(peak.f32),
        flops(peak.f64),
        flops(peak.f16),
        flops(peak.bf16)
    )
}

fn link(gpu: &Gpu) -> String {
    let link = &gpu.link;
    format!(
        "{}: h2d {}, d2h {}, latency {}",
        link.name,
        rate(link.h2d),
        rate(link.d2h),
        units::time(link.latency)
    )
}

/// `19.5 Tflop/s`.
fn flops(per_second: u64) -> String {
    units::count(u128::from(per_second)) + "flop/s"
}

/// `25.0 GB/s`: sheets count bandwidth in powers of ten.
fn rate(bytes_per_second: u64) -> String {
    units::count(u128::from(bytes_per_second)) + "B/s"
}

fn figures(provenance: &Provenance) -> String {
    match provenance {
        // What is assumed is in no sheet.
        Provenance::Datasheet(source) if source.starts_with("assumption") => source.clone(),
        Provenance::Datasheet(source) => format!("datasheet: {source}"),
        Provenance::Measured { date, runs, spread } => {
            let spread = units::significant(u128::from(*spread), 10);
            format!("measured {date}, {runs} runs, spread {spread} %")
        }
    }
}

pub(crate) fn memory(node: &Node) -> String {
    units::exact_bytes(node.memory)
}

/// `4 x A100-80GB`: the devices of a node by type.
pub(crate) fn gpus(node: &Node) -> String {
    let mut types: Vec<(&str, usize)> = Vec::new();
    for gpu in &node.gpus {
        match types.iter_mut().find(|(name, _)| *name == gpu.name) {
            Some((_, count)) => *count += 1,
            None => types.push((&gpu.name, 1)),
        }
    }
    let types: Vec<_> = types
        .iter()
        .map(|(name, count)| format!("{count} x {name}"))
        .collect();
    types.join(", ")
}

/// Thousandths of a dollar as dollars: `3.673`.
pub(crate) fn usd(milli: u64) -> String {
    format!("{}.{:03}", milli / 1000, milli % 1000)
}
