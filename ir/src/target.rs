//! The machines that a plan is made for: nodes, devices, links, prices.
//!
//! Rates are whole numbers in base units (operations or bytes a second, nanoseconds), so that
//! a plan is the same on every machine.

use std::collections::BTreeMap;

use crate::dtype::{DType, Kind};
use crate::id::{IdVec, NodeId};
use crate::op::Family;

/// The machines that a plan is made for.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Its name in lists and plans.
    pub name: String,
    /// Its kinds of nodes.
    pub nodes: IdVec<NodeId, Node>,
}

/// Machines of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The name of the kind.
    pub name: String,
    /// How many there are.
    pub count: u32,
    /// CPUs of each.
    pub cpus: u32,
    /// What one CPU does.
    pub cpu: Cpu,
    /// Bytes of memory of each.
    pub memory: u64,
    /// GPUs of each.
    pub gpus: Vec<Gpu>,
    /// Where its cpus and memory come from, and the date; assumed where nothing says so.
    pub source: Option<String>,
    /// What an hour of one costs.
    pub price: Option<Price>,
}

/// Money for an hour, with where the figure comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// Thousandths of a US dollar for an hour.
    pub milli_usd_per_hour: u64,
    /// The source of the figure and its date.
    pub source: String,
}

/// Where figures come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Provenance {
    /// A vendor's or a third party's sheet: which one.
    Datasheet(String),
    /// Measured on the machine itself: when, how often, with which relative spread in per mille.
    #[expect(missing_docs, reason = "the variant says it")]
    Measured {
        date: String,
        runs: u32,
        spread: u32,
    },
}

impl Provenance {
    /// The one word that plans print.
    pub fn word(&self) -> &'static str {
        match self {
            Provenance::Datasheet(_) => "datasheet",
            Provenance::Measured { .. } => "measured",
        }
    }
}

/// What one CPU of a node does, and what all of them share.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpu {
    /// The name of the model.
    pub name: String,
    /// Operations a second of one CPU.
    pub peak: Peak,
    /// Bytes a second between memory and one CPU.
    pub bandwidth: u64,
    /// Bytes a second between memory and all CPUs of the node.
    pub node_bandwidth: u64,
    /// Share of the peak that large work reaches.
    pub efficiency: Efficiency,
    /// Nanoseconds to start a kernel.
    pub launch: u64,
    /// Where the figures come from.
    pub provenance: Provenance,
}

/// A GPU and the link it hangs on.
#[derive(Clone, Debug, PartialEq)]
pub struct Gpu {
    /// The device type: `A100-80GB`.
    pub name: String,
    /// Bytes of device memory.
    pub vram: u64,
    /// Operations a second.
    pub peak: Peak,
    /// Bytes a second between device memory and the device.
    pub bandwidth: u64,
    /// Share of the peak that large work reaches.
    pub efficiency: Efficiency,
    /// Share of the bandwidth that large work reaches, in per mille.
    pub bandwidth_efficiency: u32,
    /// Nanoseconds to start a kernel.
    pub launch: u64,
    /// The link to the host.
    pub link: Link,
    /// Where the figures come from.
    pub provenance: Provenance,
}

/// A link between a host and a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its kind: `PCIe 4 x16`.
    pub name: String,
    /// Bytes a second from host to device.
    pub h2d: u64,
    /// Bytes a second from device to host.
    pub d2h: u64,
    /// Nanoseconds before the first byte.
    pub latency: u64,
}

/// Operations a second by dtype of the operands.
#[derive(Clone, Debug, PartialEq)]
pub struct Peak {
    /// For `f32`, and for what has no figure of its own.
    pub f32: u64,
    /// For `f64`, `c128` and 64-bit integers.
    pub f64: u64,
    /// For `f16`.
    pub f16: u64,
    /// For `bf16`: that of `f32` on what has no units for it.
    pub bf16: u64,
}

impl Peak {
    /// The rate for a dtype.
    pub fn of(&self, dtype: DType) -> u64 {
        match dtype {
            DType::F16 => self.f16,
            DType::Bf16 => self.bf16,
            DType::F64 | DType::C128 => self.f64,
            _ if dtype.kind() == Kind::Int && dtype.size() == 8 => self.f64,
            _ => self.f32,
        }
    }
}

/// Share of the peak rate that work reaches, in per mille: the share of its family where it is
/// large, less where it is too small to fill the device.
///
/// Work of `s` operations reaches `small + (large - small) * s / (s + half)`, where `large` is the
/// family's share and `small` is not above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Efficiency {
    /// Families with a figure of their own.
    pub by_family: BTreeMap<Family, u32>,
    /// For the rest.
    pub other: u32,
    /// The share that work without size would reach.
    pub small: u32,
    /// Operations at which half of the way from small to large is made; 0 where size is no matter.
    pub half: u64,
}

impl Efficiency {
    /// The share that large work of a family reaches, in per mille.
    pub fn of(&self, family: Family) -> u32 {
        self.by_family.get(&family).copied().unwrap_or(self.other)
    }

    /// The share that `flops` operations of a family reach, as a fraction of 1.
    pub fn at(&self, family: Family, flops: u64) -> f64 {
        let large = f64::from(self.of(family));
        let small = f64::from(self.small).min(large);
        if self.half == 0 {
            return large / 1000.0;
        }
        let (size, half) = (flops as f64, self.half as f64);
        (small + (large - small) * (size / (size + half))) / 1000.0
    }
}
