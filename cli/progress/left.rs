//! How long a run still takes: the plan's estimate, corrected by what was measured.

use haul_ir::cost::Nanos;

/// The tasks of one stage.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tasks {
    /// How many there are.
    pub(super) count: u64,
    /// How many were skipped, and are not counted any more.
    pub(super) skipped: u64,
    /// How many are done.
    pub(super) done: u64,
    /// Time of those that are done, added up.
    pub(super) busy: Nanos,
    /// Predicted time of one.
    pub(super) predicted: Option<Nanos>,
}

/// What is left of all stages. Kept up to date stage by stage, since a run may have many.
#[derive(Debug)]
pub(super) struct Left {
    /// The plan's makespan, no shorter than so many CPUs need, and all its tasks one after the other.
    planned: Option<(Nanos, Nanos)>,
    /// Time that tasks will take, judged by others of their stage.
    measured: u128,
    /// Time that tasks of stages with none done will take, as predicted.
    predicted: u128,
    /// Stages with none done whose time is unknown.
    unknown: usize,
    /// Measured and predicted time of the tasks that are done and were predicted.
    done: (u128, u128),
}

impl Left {
    /// Of a plan with this makespan, and this time of all tasks one after the other. It may be for
    /// another machine than the one with so many CPUs that it runs on.
    pub(super) fn new(makespan: Option<Nanos>, serial: Option<Nanos>, cpus: u32) -> Self {
        let serial = serial.filter(|serial| *serial > 0);
        let planned = makespan.zip(serial);
        Self {
            planned: planned.map(|(makespan, serial)| {
                (makespan.max(serial / Nanos::from(cpus.max(1))), serial)
            }),
            measured: 0,
            predicted: 0,
            unknown: 0,
            done: (0, 0),
        }
    }

    /// A stage was told.
    pub(super) fn add(&mut self, tasks: &Tasks) {
        match tasks.left() {
            Work::Measured(time) => self.measured += time,
            Work::Predicted(time) => self.predicted += time,
            Work::Unknown => self.unknown += 1,
        }
    }

    fn remove(&mut self, tasks: &Tasks) {
        match tasks.left() {
            Work::Measured(time) => self.measured = self.measured.saturating_sub(time),
            Work::Predicted(time) => self.predicted = self.predicted.saturating_sub(time),
            Work::Unknown => self.unknown = self.unknown.saturating_sub(1),
        }
    }

    /// A task of a stage will not run.
    pub(super) fn skipped(&mut self, tasks: &mut Tasks) {
        self.remove(tasks);
        tasks.count = tasks.count.saturating_sub(1);
        tasks.skipped += 1;
        self.add(tasks);
    }

    /// A task of a stage took so long.
    pub(super) fn finished(&mut self, tasks: &mut Tasks, time: Nanos) {
        self.remove(tasks);
        tasks.done += 1;
        tasks.busy = tasks.busy.saturating_add(time);
        if let Some(predicted) = tasks.predicted {
            self.done.0 += u128::from(time);
            self.done.1 += u128::from(predicted);
        }
        self.add(tasks);
    }

    /// How long the run still takes; unknown where a stage is that has not begun.
    ///
    /// Stages that have begun go on as they did. Others take as much longer than predicted as the
    /// finished tasks did. As many tasks run at once as in the plan, and no more than there are CPUs.
    pub(super) fn time(&self) -> Option<Nanos> {
        let (makespan, serial) = self.planned.filter(|_| self.unknown == 0)?;
        let predicted = match self.done {
            (measured, predicted @ 1..) => self.predicted.checked_mul(measured)? / predicted,
            _ => self.predicted,
        };
        let work = self.measured.checked_add(predicted)?;
        let time = work.checked_mul(makespan.into())? / u128::from(serial);
        time.try_into().ok()
    }
}

/// Time that the tasks of a stage will take that are not done.
enum Work {
    Measured(u128),
    Predicted(u128),
    Unknown,
}

impl Tasks {
    fn left(&self) -> Work {
        let left = u128::from(self.count.saturating_sub(self.done));
        match (self.done, self.predicted) {
            _ if left == 0 => Work::Measured(0),
            (1.., _) => Work::Measured(left * u128::from(self.busy) / u128::from(self.done)),
            (0, Some(time)) => Work::Predicted(left * u128::from(time)),
            (0, None) => Work::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(count: u64, predicted: Option<Nanos>) -> Tasks {
        Tasks {
            count,
            predicted,
            ..Tasks::default()
        }
    }

    /// Two stages, of 4 tasks of 10 and 2 of 30, on two workers: 100 of work in 50.
    #[test]
    fn the_estimate_is_corrected_by_what_was_measured() {
        let (mut one, two) = (stage(4, Some(10)), stage(2, Some(30)));
        let mut left = Left::new(Some(50), Some(100), 2);
        left.add(&one);
        left.add(&two);
        assert_eq!(left.time(), Some(50));
        // It took twice as long as predicted: 3 * 20 are left here and 2 * 60 there.
        left.finished(&mut one, 20);
        assert_eq!(left.time(), Some(90));
        // On the average 30, three times the prediction: 2 * 30 and 2 * 90.
        left.finished(&mut one, 40);
        assert_eq!(left.time(), Some(120));
    }

    /// A plan for 64 CPUs ends in 10 there, and in 320 on two.
    #[test]
    fn a_plan_for_a_larger_machine_takes_longer_here() {
        let mut left = Left::new(Some(10), Some(640), 2);
        left.add(&stage(64, Some(10)));
        assert_eq!(left.time(), Some(320));
    }

    #[test]
    fn the_end_is_unknown_until_all_stages_are() {
        let (mut one, mut two) = (stage(1, None), stage(1, Some(7)));
        let mut left = Left::new(Some(7), Some(7), 1);
        left.add(&one);
        left.add(&two);
        assert_eq!(left.time(), None);
        left.finished(&mut one, 100);
        assert_eq!(left.time(), Some(7));
        left.finished(&mut two, 9);
        assert_eq!(left.time(), Some(0));
        assert_eq!(Left::new(None, None, 1).time(), None);
    }
}
