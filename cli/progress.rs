//! How far a run is, on stderr: bars on a terminal, plain lines elsewhere.

mod left;
mod live;
mod plain;
mod stages;

use haul_executor::{Event, Observer, Silent};
use haul_ir::cost::Nanos;
use haul_ir::plan::Plan;

use self::live::Live;
use self::plain::Plain;
use self::stages::Stages;
use crate::terminal;

/// Whoever shows how far a run of this plan on so many CPUs is.
///
/// Bars are drawn where the terminal is theirs alone.
pub(crate) fn observer(plan: &Plan, cpus: u32, quiet: bool, alone: bool) -> Box<dyn Observer> {
    let stages = || Stages::of(plan, cpus);
    match (quiet, alone && terminal::is_live()) {
        (true, _) => Box::new(Silent),
        (false, true) => Box::new(Live::new(stages())),
        (false, false) => Box::new(Plain::new(stages())),
    }
}

/// Two who watch the same run.
pub(crate) struct Both<'a>(pub(crate) &'a dyn Observer, pub(crate) &'a dyn Observer);

impl Observer for Both<'_> {
    fn event(&self, at: Nanos, event: &Event<'_>) {
        self.0.event(at, event);
        self.1.event(at, event);
    }
}
