//! Targets: files that describe machines, and the library that comes with the product.
//!
//! A target names its devices; what a device is stands in the library (`compiler/devices`), or in
//! the target file itself. Figures are a datasheet's until measured, and say so.

mod file;
mod units;

use std::fmt;

use haul_ir::id::IdVec;
use haul_ir::target::{Cpu, Gpu, Node, Price, Target};
use ron::extensions::Extensions;
use ron::options::Options;
use serde::de::DeserializeOwned;

use self::file::{Devices, Table, TargetFile};

/// The devices of the library.
const DEVICES: &str = include_str!("../devices/devices.ron");

/// The targets of the library by name.
const TARGETS: [(&str, &str); 10] = [
    ("laptop", include_str!("../targets/laptop.ron")),
    ("cpu", include_str!("../targets/cpu.ron")),
    ("t4", include_str!("../targets/t4.ron")),
    ("l4", include_str!("../targets/l4.ron")),
    ("a10g", include_str!("../targets/a10g.ron")),
    ("a100", include_str!("../targets/a100.ron")),
    ("a100x4", include_str!("../targets/a100x4.ron")),
    ("h100-pcie", include_str!("../targets/h100-pcie.ron")),
    ("h100x8", include_str!("../targets/h100x8.ron")),
    ("mixed", include_str!("../targets/mixed.ron")),
];

/// Most machines of one kind, and most GPUs of one machine, that a file may describe.
const MOST_NODES: u32 = 100_000;
const MOST_GPUS: u32 = 1_000;

/// Why a text is no target, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetError {
    /// What is wrong and what to do.
    pub message: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The character in the line, counted from 1.
    pub column: usize,
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for TargetError {}

/// The targets that come with the product, by name, from small to large.
pub fn library() -> impl Iterator<Item = (&'static str, Target)> {
    TARGETS.iter().map(|(name, text)| {
        let target = parse(name, text).expect("the library's targets are tested");
        (*name, target)
    })
}

/// The target of the library with that name.
pub fn find(name: &str) -> Option<Target> {
    library()
        .find(|(n, _)| *n == name)
        .map(|(_, target)| target)
}

/// The devices of the library: each GPU on the link of its datasheet.
pub fn gpus() -> Vec<Gpu> {
    let devices = devices();
    let names = devices.gpus.0.iter().map(|(name, _)| name);
    let gpus = names.map(|name| find_gpu(name, &[&devices]));
    gpus.collect::<Result<_, _>>()
        .expect("the library's devices are tested")
}

/// This machine: so many CPUs of the reference CPU, so many bytes of memory, no GPU.
pub fn local(cpus: u32, memory: u64) -> Target {
    let node = Node {
        name: "local".to_owned(),
        count: 1,
        cpus,
        cpu: find_cpu("reference", &[&devices()]).expect("the library has the reference CPU"),
        memory,
        gpus: Vec::new(),
        price: None,
    };
    Target {
        name: "local".to_owned(),
        nodes: [node].into_iter().collect(),
    }
}

/// The target of that name which a file describes.
///
/// # Errors
/// The text is no RON of the form of a target, or names a device that neither the library nor
/// the file has.
pub fn parse(name: &str, text: &str) -> Result<Target, TargetError> {
    let file: TargetFile = read(text)?;
    let library = devices();
    let tables = [&file.devices, &library];
    let mut nodes = IdVec::new();
    for (node_name, node) in &file.nodes.0 {
        let node = to_node(node_name, node, &tables).map_err(|fault| fault.place(text))?;
        nodes.push(node);
    }
    if nodes.is_empty() {
        let fault = Fault::new("nodes", "a target needs at least one kind of node");
        return Err(fault.place(text));
    }
    Ok(Target {
        name: name.to_owned(),
        nodes,
    })
}

fn devices() -> Devices {
    read(DEVICES).expect("the library's devices are tested")
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, TargetError> {
    let options = Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
    options.from_str(text).map_err(|error| TargetError {
        message: error.code.to_string(),
        line: error.span.start.line,
        column: error.span.start.col,
    })
}

/// A mistake that reads well as RON: the word in the file that shows where, and the message.
#[derive(Debug)]
struct Fault {
    word: String,
    message: String,
}

impl Fault {
    fn new(word: &str, message: impl Into<String>) -> Self {
        Self {
            word: word.to_owned(),
            message: message.into(),
        }
    }

    /// At the first place where the text has the word.
    fn place(self, text: &str) -> TargetError {
        let before = &text[..text.find(&self.word).unwrap_or(0)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        TargetError {
            message: self.message,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

fn to_node(name: &str, node: &file::Node, tables: &[&Devices]) -> Result<Node, Fault> {
    let here = format!("\"{name}\"");
    if node.cpus == 0 || node.count == 0 || node.count > MOST_NODES {
        let message =
            format!("node `{name}` needs at least one cpu, and a count from 1 to {MOST_NODES}");
        return Err(Fault::new(&here, message));
    }
    let mut gpus = Vec::new();
    for (gpu_name, count) in &node.gpus.0 {
        if *count == 0 || *count > MOST_GPUS {
            let message = format!("node `{name}` needs 1 to {MOST_GPUS} GPUs of a type it lists");
            return Err(Fault::new(&here, message));
        }
        let gpu = find_gpu(gpu_name, tables)?;
        gpus.extend(std::iter::repeat_n(gpu, *count as usize));
    }
    Ok(Node {
        name: name.to_owned(),
        count: node.count,
        cpus: node.cpus,
        cpu: find_cpu(&node.cpu, tables)?,
        memory: node.memory.0,
        gpus,
        price: node.price.as_ref().map(|price| Price {
            milli_usd_per_hour: price.rate.0,
            source: price.source.clone(),
        }),
    })
}

fn find_cpu(name: &str, tables: &[&Devices]) -> Result<Cpu, Fault> {
    let cpu = look_up("cpu", name, tables, |devices| &devices.cpus)?;
    let shares = look_up("shares", &cpu.efficiency, tables, |devices| &devices.shares)?;
    Ok(cpu.to_ir(name, shares))
}

fn find_gpu(name: &str, tables: &[&Devices]) -> Result<Gpu, Fault> {
    let gpu = look_up("gpu", name, tables, |devices| &devices.gpus)?;
    let shares = look_up("shares", &gpu.efficiency, tables, |devices| &devices.shares)?;
    let link = look_up("link", &gpu.link, tables, |devices| &devices.links)?;
    Ok(gpu.to_ir(name, shares, link.to_ir(&gpu.link)))
}

/// The entry of that name in the first table that has one.
fn look_up<'a, T>(
    what: &str,
    name: &str,
    tables: &[&'a Devices],
    of: impl Fn(&'a Devices) -> &'a Table<T>,
) -> Result<&'a T, Fault> {
    let entries = || tables.iter().map(|devices| of(devices));
    entries().find_map(|table| table.get(name)).ok_or_else(|| {
        let names = entries()
            .flat_map(|table| &table.0)
            .map(|(name, _)| name.as_str());
        let known = names.collect::<Vec<_>>().join(", ");
        let message = format!("no {what} is called `{name}`: there are {known}");
        Fault::new(&format!("\"{name}\""), message)
    })
}
