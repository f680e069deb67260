//! What crossed between the host and GPUs, and what each GPU did.

use haul_ir::cost::Nanos;
use haul_ir::id::StageId;
use haul_ir::plan::{Direction, Plan};
use haul_ir::report::{Copied, DeviceReport, Report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::render::values::Values;

/// Values of a stage that crossed one way between the host and a GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredCopies {
    /// `h2d` or `d2h`.
    pub direction: String,
    /// What the plan says.
    pub predicted: PredictedCopies,
    /// How many values crossed.
    pub values: u64,
    /// How many bytes.
    pub bytes: u64,
    /// How many nanoseconds that took; on an emulated GPU no measure of a link.
    pub time: Nanos,
}

/// What the plan says of copies; unknown where there is nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedCopies {
    /// Bytes that cross.
    pub bytes: Option<u64>,
    /// Nanoseconds on the link.
    pub time: Option<Nanos>,
}

/// A GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredDevice {
    /// Its name.
    pub device: String,
    /// Whether it is not there: CPUs computed in its stead, and nothing here is evidence.
    pub emulated: bool,
    /// How many tasks finished on it.
    pub tasks: u64,
    /// Bytes of its memory.
    pub vram: u64,
    /// Most bytes of it that were held at once.
    pub peak_vram: u64,
    /// Bytes from host to device.
    pub h2d_bytes: u64,
    /// Bytes from device to host.
    pub d2h_bytes: u64,
    /// How many values were on it before the task that reads them started.
    pub ahead: u64,
    /// How many values were copied to it in advance and then not needed there.
    pub unused: u64,
}

impl MeasuredDevice {
    pub(super) fn of(device: &DeviceReport) -> Self {
        Self {
            device: device.name.clone(),
            emulated: device.emulated,
            tasks: device.tasks,
            vram: device.vram,
            peak_vram: device.peak_vram,
            h2d_bytes: device.copies.h2d.bytes,
            d2h_bytes: device.copies.d2h.bytes,
            ahead: device.copies.ahead,
            unused: device.unused,
        }
    }
}

/// What crossed for a stage, each way that anything did.
pub(super) fn copies(plan: &Plan, report: &Report, stage: StageId) -> Vec<MeasuredCopies> {
    let done = &report.stages[stage];
    let ways = [
        (Direction::HostToDevice, &done.copies.h2d),
        (Direction::DeviceToHost, &done.copies.d2h),
    ];
    let crossed = ways.into_iter().filter(|(_, copied)| copied.values > 0);
    let copies = crossed.map(|(direction, copied)| {
        let Copied {
            values,
            bytes,
            time,
        } = *copied;
        MeasuredCopies {
            direction: direction.to_string(),
            predicted: predicted(plan, stage, direction, done.tasks),
            values,
            bytes,
            time,
        }
    });
    copies.collect()
}

fn predicted(plan: &Plan, stage: StageId, direction: Direction, tasks: u64) -> PredictedCopies {
    let values = Values::of(plan);
    let transfers = plan.stages[stage].transfers.iter();
    let transfers = transfers.filter(|transfer| transfer.direction == direction);
    let bytes = transfers
        .clone()
        .map(|transfer| values.eval(&transfer.bytes));
    let bytes = bytes.sum::<Option<u128>>();
    let time = transfers
        .map(|transfer| transfer.time)
        .sum::<Option<Nanos>>();
    PredictedCopies {
        bytes: bytes.and_then(|bytes| u64::try_from(bytes).ok()?.checked_mul(tasks)),
        time: time.and_then(|time| time.checked_mul(tasks)),
    }
}
