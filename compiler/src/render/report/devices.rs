//! What crossed between the host and GPUs, and what each GPU did.

use super::super::table::{Column, Table};
use super::super::text::known;
use super::super::{Colour, units};
use crate::measured::{Measured, MeasuredDevice};

/// Below the stages: their copies, predicted beside counted, then the GPUs; nothing where none was
/// used.
pub(super) fn devices(report: &Measured, colour: Colour) -> String {
    let devices = report.devices.iter().enumerate();
    let used: Vec<_> = devices.filter(|(_, device)| device.tasks > 0).collect();
    if used.is_empty() {
        return String::new();
    }
    let emulated = match used.iter().any(|(_, device)| device.emulated) {
        true => EMULATED,
        false => "",
    };
    let copies = copies_of_stages(report).print(colour);
    let devices = list(&used).print(colour);
    format!("{copies}\n{devices}\n{emulated}")
}

const EMULATED: &str = "\
emulated: CPUs computed what the plan has on GPUs, in memory of this machine; no time here is one
of a GPU or its link, and none is evidence

";

fn copies_of_stages(report: &Measured) -> Table {
    let mut table = Table::new([
        Column::text("copies of"),
        Column::text("way"),
        Column::number("values"),
        Column::number("predicted"),
        Column::number("bytes"),
        Column::number("predicted"),
        Column::number("took"),
    ]);
    for stage in &report.stages {
        for copied in &stage.copies {
            let predicted = &copied.predicted;
            let predicted_bytes = predicted.bytes.map(|bytes| units::bytes(bytes.into()));
            table.row([
                stage.stage.as_str().into(),
                copied.direction.as_str().into(),
                copied.values.to_string().into(),
                known(predicted_bytes),
                units::bytes(copied.bytes.into()).into(),
                known(predicted.time.map(units::time)),
                units::time(copied.time).into(),
            ]);
        }
    }
    table
}

fn list(used: &[(usize, &MeasuredDevice)]) -> Table {
    let mut table = Table::new([
        Column::number("gpu"),
        Column::text("device"),
        Column::number("tasks"),
        Column::number("memory"),
        Column::number("peak"),
        Column::number("h2d"),
        Column::number("d2h"),
        Column::number("ahead"),
    ]);
    for (position, device) in used {
        table.row([
            position.to_string().into(),
            device.device.as_str().into(),
            device.tasks.to_string().into(),
            units::bytes(device.vram.into()).into(),
            units::bytes(device.peak_vram.into()).into(),
            units::bytes(device.h2d_bytes.into()).into(),
            units::bytes(device.d2h_bytes.into()).into(),
            device.ahead.to_string().into(),
        ]);
    }
    table
}
