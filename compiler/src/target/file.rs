//! The form of target and device files.

use haul_ir::op::Family;
use haul_ir::target::{self, Efficiency, Provenance};
use serde::Deserialize;

use crate::form::units::{Bandwidth, Bytes, Flops, Price, Rate, Time};
use crate::form::{Origin, Table};

/// A target file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Target")]
pub(super) struct TargetFile {
    pub(super) nodes: Table<Node>,
    /// Devices beside those of the library.
    #[serde(default)]
    pub(super) devices: Devices,
}

/// Machines of one kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Node {
    #[serde(default = "one")]
    pub(super) count: u32,
    pub(super) cpus: u32,
    /// The name of the CPU.
    #[serde(default = "reference")]
    pub(super) cpu: String,
    pub(super) memory: Bytes,
    /// Names of GPUs, with how many of them a node has.
    #[serde(default)]
    pub(super) gpus: Table<u32>,
    /// Where cpus and memory come from, and the date.
    pub(super) source: Option<Origin>,
    pub(super) price: Option<NodePrice>,
}

/// Money, with where the figure comes from and its date.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodePrice {
    rate: Price,
    source: Origin,
}

/// CPUs and GPUs, and what they name, each by name.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Devices {
    pub(super) shares: Table<Shares>,
    pub(super) cpus: Table<Cpu>,
    pub(super) links: Table<Link>,
    pub(super) gpus: Table<Gpu>,
}

/// What one CPU does, and the bandwidth that all CPUs of a node share.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cpu {
    peak: Peak,
    bandwidth: Bandwidth,
    node_bandwidth: Bandwidth,
    /// The name of its shares.
    pub(super) efficiency: String,
    launch: Time,
    source: Source,
}

/// A link between a host and a device.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    h2d: Bandwidth,
    d2h: Bandwidth,
    latency: Time,
    /// Where the figures come from, and their date.
    #[serde(default)]
    pub(super) source: Origin,
}

/// A GPU.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Gpu {
    vram: Bytes,
    peak: Peak,
    bandwidth: Bandwidth,
    /// The name of its shares.
    pub(super) efficiency: String,
    launch: Time,
    /// The name of the link.
    pub(super) link: String,
    source: Source,
}

/// Operations a second by dtype.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Peak {
    f32: Rate,
    f64: Rate,
    f16: Rate,
    /// As `f16` where it is left out.
    bf16: Option<Rate>,
}

/// Shares of the peak that families reach, and of the bandwidth, from 0 to 1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shares {
    matmul: Option<Share>,
    conv: Option<Share>,
    fft: Option<Share>,
    elementwise: Option<Share>,
    reduce: Option<Share>,
    others: Share,
    #[serde(default)]
    bandwidth: Share,
    /// The share that the smallest work reaches; without, size is no matter.
    small: Option<Small>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Small {
    share: Share,
    half: Flops,
}

/// Where figures come from.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
enum Source {
    Datasheet(Origin),
    Measured {
        date: String,
        runs: u32,
        spread: Share,
    },
}

/// A fraction from 0 to 1, in per mille.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "f64")]
struct Share(u32);

impl Default for Share {
    fn default() -> Self {
        Share(1000)
    }
}

impl TryFrom<f64> for Share {
    type Error = String;

    fn try_from(share: f64) -> Result<Self, String> {
        if (0.001..=1.0).contains(&share) {
            Ok(Share((share * 1000.0 + 0.5) as u32))
        } else {
            Err(format!(
                "{share} is no share: write a number from 0.001 to 1.0"
            ))
        }
    }
}

fn one() -> u32 {
    1
}

fn reference() -> String {
    "reference".to_owned()
}

impl Cpu {
    /// As the compiler sees it.
    pub(super) fn to_ir(&self, name: &str, shares: &Shares) -> target::Cpu {
        target::Cpu {
            name: name.to_owned(),
            peak: self.peak.to_ir(),
            bandwidth: self.bandwidth.0,
            node_bandwidth: self.node_bandwidth.0,
            efficiency: shares.to_ir(),
            launch: self.launch.0,
            provenance: self.source.to_ir(),
        }
    }
}

impl Link {
    /// As the compiler sees it.
    pub(super) fn to_ir(&self, name: &str) -> target::Link {
        target::Link {
            name: name.to_owned(),
            h2d: self.h2d.0,
            d2h: self.d2h.0,
            latency: self.latency.0,
        }
    }
}

impl Gpu {
    /// As the compiler sees it, on its link.
    pub(super) fn to_ir(&self, name: &str, shares: &Shares, link: target::Link) -> target::Gpu {
        target::Gpu {
            name: name.to_owned(),
            vram: self.vram.0,
            peak: self.peak.to_ir(),
            bandwidth: self.bandwidth.0,
            efficiency: shares.to_ir(),
            bandwidth_efficiency: shares.bandwidth.0,
            launch: self.launch.0,
            link,
            provenance: self.source.to_ir(),
        }
    }
}

impl NodePrice {
    /// As the compiler sees it.
    pub(crate) fn to_ir(&self) -> target::Price {
        target::Price {
            milli_usd_per_hour: self.rate.0,
            source: self.source.0.clone(),
        }
    }
}

impl Peak {
    fn to_ir(&self) -> target::Peak {
        target::Peak {
            f32: self.f32.0,
            f64: self.f64.0,
            f16: self.f16.0,
            bf16: self.bf16.as_ref().unwrap_or(&self.f16).0,
        }
    }
}

impl Shares {
    fn to_ir(&self) -> Efficiency {
        let families = [
            (Family::Matmul, self.matmul),
            (Family::Conv, self.conv),
            (Family::Fft, self.fft),
            (Family::Elementwise, self.elementwise),
            (Family::Reduce, self.reduce),
        ];
        let given = families
            .into_iter()
            .filter_map(|(family, share)| Some((family, share?.0)));
        Efficiency {
            by_family: given.collect(),
            other: self.others.0,
            small: self.small.as_ref().map_or(1000, |small| small.share.0),
            half: self.small.as_ref().map_or(0, |small| small.half.0),
        }
    }
}

impl Source {
    fn to_ir(&self) -> Provenance {
        match self {
            Source::Datasheet(source) => Provenance::Datasheet(source.0.clone()),
            Source::Measured { date, runs, spread } => Provenance::Measured {
                date: date.clone(),
                runs: *runs,
                spread: spread.0,
            },
        }
    }
}
