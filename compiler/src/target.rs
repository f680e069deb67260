//! Targets: files that describe machines, and the library that comes with the product.
//!
//! A target names its devices; what a device is stands in the library (`compiler/devices`), or in
//! the target file itself. Figures are a datasheet's until measured, and say so.

mod file;

use haul_ir::id::IdVec;
use haul_ir::target::{Cpu, Gpu, Link, Node, Target};

pub(crate) use self::file::NodePrice;
use self::file::{Devices, TargetFile};
use crate::form::{Fault, FileError, Table, read};
use crate::syntax::Step;

/// The devices of the library.
const DEVICES: &str = include_str!("../devices/devices.ron");

/// The targets of the library by name.
const TARGETS: [(&str, &str); 19] = [
    ("laptop", include_str!("../targets/laptop.ron")),
    ("cpu", include_str!("../targets/cpu.ron")),
    ("t4", include_str!("../targets/t4.ron")),
    ("v100", include_str!("../targets/v100.ron")),
    ("v100-32gb", include_str!("../targets/v100-32gb.ron")),
    ("l4", include_str!("../targets/l4.ron")),
    ("a10g", include_str!("../targets/a10g.ron")),
    ("rtx4090", include_str!("../targets/rtx4090.ron")),
    ("l40s", include_str!("../targets/l40s.ron")),
    ("a100-40gb", include_str!("../targets/a100-40gb.ron")),
    ("a100-pcie", include_str!("../targets/a100-pcie.ron")),
    ("a100", include_str!("../targets/a100.ron")),
    ("h100-pcie", include_str!("../targets/h100-pcie.ron")),
    ("h100", include_str!("../targets/h100.ron")),
    ("h200", include_str!("../targets/h200.ron")),
    ("b200", include_str!("../targets/b200.ron")),
    ("a100x4", include_str!("../targets/a100x4.ron")),
    ("h100x8", include_str!("../targets/h100x8.ron")),
    ("mixed", include_str!("../targets/mixed.ron")),
];

/// Most machines of one kind, and most GPUs of one machine, that a file may describe.
const MOST_NODES: u32 = 100_000;
const MOST_GPUS: u32 = 1_000;

/// The targets that come with the product, by name, from small to large.
pub fn library() -> impl Iterator<Item = (&'static str, Target)> {
    TARGETS
        .iter()
        .map(|(name, text)| (*name, of_library(name, text)))
}

/// The target of the library with that name.
pub fn find(name: &str) -> Option<Target> {
    let (name, text) = TARGETS.iter().find(|(n, _)| *n == name)?;
    Some(of_library(name, text))
}

/// What the file of a target of the library says about it: what it is, and which figures are
/// assumptions.
pub fn remarks(name: &str) -> Option<String> {
    let (_, text) = TARGETS.iter().find(|(n, _)| *n == name)?;
    let lines = text.lines().map_while(|line| line.strip_prefix("//"));
    Some(lines.map(str::trim).collect::<Vec<_>>().join(" "))
}

fn of_library(name: &str, text: &str) -> Target {
    parse(name, text).expect("the library's targets are tested")
}

/// The devices of the library: each GPU on the link of its datasheet.
pub fn gpus() -> Vec<Gpu> {
    let devices = devices();
    let names = devices.gpus.0.iter().map(|(name, _)| name);
    let gpus = names.map(|name| find_gpu(name, &[&devices], Vec::new()));
    gpus.collect::<Result<_, _>>()
        .expect("the library's devices are tested")
}

/// The CPU of the library that stands in for one that is not measured.
pub fn reference() -> Cpu {
    find_cpu("reference", &[&devices()], Vec::new()).expect("the library has the reference CPU")
}

/// This machine: so many CPUs of the reference CPU, so many bytes of memory, no GPU.
pub fn local(cpus: u32, memory: u64) -> Target {
    let node = Node {
        name: "local".to_owned(),
        count: 1,
        cpus,
        cpu: reference(),
        memory,
        gpus: Vec::new(),
        source: Some("this machine".to_owned()),
        price: None,
    };
    Target {
        name: "local".to_owned(),
        nodes: [node].into_iter().collect(),
    }
}

/// The kinds of links of the library, each with where its figures come from.
pub fn links() -> Vec<(Link, String)> {
    let devices = devices();
    let links = devices.links.0.iter();
    links
        .map(|(name, link)| (link.to_ir(name), link.source.0.clone()))
        .collect()
}

/// The target of that name which a file describes.
///
/// # Errors
/// The text is no RON of the form of a target, or names a device that neither the library nor
/// the file has.
pub fn parse(name: &str, text: &str) -> Result<Target, FileError> {
    let file: TargetFile = read(text)?;
    let library = devices();
    let tables = [&file.devices, &library];
    let mut nodes = IdVec::new();
    for (node_name, node) in &file.nodes.0 {
        let node = to_node(node_name, node, &tables).map_err(|fault| fault.place(text))?;
        nodes.push(node);
    }
    if nodes.is_empty() {
        let fault = Fault::new(
            [Step::Key("nodes".to_owned())],
            "a target needs at least one kind of node",
        );
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

fn to_node(name: &str, node: &file::Node, tables: &[&Devices]) -> Result<Node, Fault> {
    let at = |field: &str, last: Option<Step>| {
        let value = |name: &str| Step::Value(name.to_owned());
        let steps = [value("nodes"), value(name), value(field)];
        steps.into_iter().chain(last).collect::<Vec<_>>()
    };
    if node.cpus == 0 || node.count == 0 || node.count > MOST_NODES {
        let message =
            format!("node `{name}` needs at least one cpu, and a count from 1 to {MOST_NODES}");
        let field = if node.cpus == 0 { "cpus" } else { "count" };
        return Err(Fault::new(at(field, None), message));
    }
    let mut gpus = Vec::new();
    for (gpu_name, count) in &node.gpus.0 {
        if *count == 0 || *count > MOST_GPUS {
            let message = format!("node `{name}` needs 1 to {MOST_GPUS} GPUs of a type it lists");
            return Err(Fault::new(
                at("gpus", Some(Step::Value(gpu_name.clone()))),
                message,
            ));
        }
        let gpu = find_gpu(
            gpu_name,
            tables,
            at("gpus", Some(Step::Key(gpu_name.clone()))),
        )?;
        gpus.extend(std::iter::repeat_n(gpu, *count as usize));
    }
    Ok(Node {
        name: name.to_owned(),
        count: node.count,
        cpus: node.cpus,
        cpu: find_cpu(&node.cpu, tables, at("cpu", None))?,
        memory: node.memory.0,
        gpus,
        source: node.source.as_ref().map(|source| source.0.clone()),
        price: node.price.as_ref().map(file::NodePrice::to_ir),
    })
}

fn find_cpu(name: &str, tables: &[&Devices], at: Vec<Step>) -> Result<Cpu, Fault> {
    let cpu = look_up("cpu", name, tables, at, |devices| &devices.cpus)?;
    let at = at_device("cpus", name, "efficiency");
    let shares = look_up("shares", &cpu.efficiency, tables, at, |devices| {
        &devices.shares
    })?;
    Ok(cpu.to_ir(name, shares))
}

fn find_gpu(name: &str, tables: &[&Devices], at: Vec<Step>) -> Result<Gpu, Fault> {
    let gpu = look_up("gpu", name, tables, at, |devices| &devices.gpus)?;
    let at = at_device("gpus", name, "efficiency");
    let shares = look_up("shares", &gpu.efficiency, tables, at, |devices| {
        &devices.shares
    })?;
    let at = at_device("gpus", name, "link");
    let link = look_up("link", &gpu.link, tables, at, |devices| &devices.links)?;
    Ok(gpu.to_ir(name, shares, link.to_ir(&gpu.link)))
}

/// Where a device of the file names something.
fn at_device(kind: &str, name: &str, field: &str) -> Vec<Step> {
    let steps = ["devices", kind, name, field];
    steps.map(|step| Step::Value(step.to_owned())).into()
}

/// The entry of that name in the first table that has one; the name is written `at` a place.
fn look_up<'a, T>(
    what: &str,
    name: &str,
    tables: &[&'a Devices],
    at: Vec<Step>,
    of: impl Fn(&'a Devices) -> &'a Table<T>,
) -> Result<&'a T, Fault> {
    let entries = || tables.iter().map(|devices| of(devices));
    entries().find_map(|table| table.get(name)).ok_or_else(|| {
        let names = entries()
            .flat_map(|table| &table.0)
            .map(|(name, _)| name.as_str());
        let known = names.collect::<Vec<_>>().join(", ");
        Fault::new(
            at,
            format!("no {what} is called `{name}`: there are {known}"),
        )
    })
}
