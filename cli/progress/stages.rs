//! What is known of the stages of a run.

use std::collections::BTreeMap;

use haul_compiler::render::units;
use haul_executor::Event;
use haul_ir::cost::Nanos;
use haul_ir::id::{IdVec, StageId};
use haul_ir::plan::Plan;

use super::left::{Left, Tasks};

/// The stages of a run.
pub(super) struct Stages {
    all: IdVec<StageId, Stage>,
    /// The stages that wait, for what, since when, and behind whom.
    waiting: BTreeMap<StageId, (&'static str, Nanos, Vec<StageId>)>,
    left: Left,
    tasks: u64,
    done: u64,
    /// When the last task finished.
    last: Nanos,
}

/// A stage.
pub(super) struct Stage {
    pub(super) name: String,
    pub(super) tasks: Tasks,
    /// When its first task started.
    started: Option<Nanos>,
}

/// Most waits that are told at once.
const MOST_WAITS: usize = 3;

impl Stages {
    pub(super) fn of(plan: &Plan, cpus: u32) -> Self {
        let stages = plan.typed.graph().stages.entries();
        let stages = stages.map(|(id, stage)| Stage {
            name: stage.name.clone(),
            tasks: Tasks {
                predicted: plan.stages[id].time,
                ..Tasks::default()
            },
            started: None,
        });
        Self {
            all: stages.collect(),
            waiting: BTreeMap::new(),
            left: Left::new(plan.estimates.makespan, plan.estimates.serial, cpus),
            tasks: 0,
            done: 0,
            last: 0,
        }
    }

    /// Takes notice of an event.
    pub(super) fn note(&mut self, at: Nanos, event: &Event<'_>) {
        match *event {
            Event::Tasks { stage, count } => {
                let tasks = &mut self.all[stage].tasks;
                tasks.count = count as u64;
                self.left.add(tasks);
                self.tasks += count as u64;
            }
            Event::Started { stage, .. } => {
                self.all[stage].started.get_or_insert(at);
                self.waiting.remove(&stage);
            }
            Event::Finished { stage, time, .. } => {
                self.left.finished(&mut self.all[stage].tasks, time);
                self.done += 1;
                self.last = at;
            }
            Event::Skipped { stage, .. } => {
                self.left.skipped(&mut self.all[stage].tasks);
                self.tasks = self.tasks.saturating_sub(1);
                self.last = at;
            }
            Event::Waiting {
                stage,
                lacks,
                behind,
            } => {
                self.waiting.insert(stage, (lacks, at, behind.to_vec()));
            }
            Event::Bound { .. } | Event::Device { .. } | Event::Written { .. } => {}
        }
    }

    pub(super) fn stage(&self, id: StageId) -> &Stage {
        &self.all[id]
    }

    /// How many tasks are done, and how many there are.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.done, self.tasks)
    }

    /// When the run will end, as far as it can be told.
    pub(super) fn end(&self) -> Option<Nanos> {
        Some(self.last.saturating_add(self.left.time()?))
    }

    /// `kernel: 5 of 12 tasks in 3.20 s`, with the time left at this rate where some are.
    pub(super) fn line(&self, id: StageId, now: Nanos) -> String {
        let Stage {
            name,
            tasks,
            started,
        } = &self.all[id];
        let elapsed = now.saturating_sub(started.unwrap_or(now));
        let mut line = counted(name, tasks.done, tasks.count, elapsed);
        if tasks.skipped > 0 {
            line += &format!(", {} skipped", tasks.skipped);
        }
        if !tasks.is_done() && tasks.done > 0 {
            let rest = u128::from(tasks.count - tasks.done);
            let left = u128::from(elapsed) * rest / u128::from(tasks.done);
            let left = u64::try_from(left).unwrap_or(u64::MAX);
            line += &format!(", {} left", units::time(left));
        }
        line
    }

    /// `the run: 5 of 12 tasks in 3.20 s, about 7.00 s left`, then a line for some of the stages that wait.
    pub(super) fn lines(&self, now: Nanos) -> String {
        let mut lines = counted("the run", self.done, self.tasks, now);
        if let Some(end) = self.end() {
            let left = units::time(end.saturating_sub(now));
            lines += &format!(", about {left} left");
        }
        lines.push('\n');
        for stage in self.waiting.keys().take(MOST_WAITS) {
            lines += &(self.wait(*stage).unwrap_or_default() + "\n");
        }
        if let Some(more @ 1..) = self.waiting.len().checked_sub(MOST_WAITS) {
            lines += &format!("{more} more stages wait\n");
        }
        lines
    }

    /// `b waits for memory since 1.20 s, behind a`; nothing where it does not wait.
    pub(super) fn wait(&self, id: StageId) -> Option<String> {
        let (lacks, since, behind) = self.waiting.get(&id)?;
        let (name, since) = (&self.all[id].name, units::time(*since));
        let behind: Vec<_> = behind.iter().map(|id| &*self.all[*id].name).collect();
        let behind = match behind.len() {
            0 => String::new(),
            _ => format!(", behind {}", behind.join(", ")),
        };
        Some(format!("{name} waits for {lacks} since {since}{behind}"))
    }
}

impl Tasks {
    pub(super) fn is_done(&self) -> bool {
        self.done == self.count
    }
}

fn counted(name: &str, done: u64, count: u64, elapsed: Nanos) -> String {
    let what = if count == 1 { "task" } else { "tasks" };
    format!(
        "{name}: {done} of {count} {what} in {}",
        units::time(elapsed)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    /// Of a plan of two stages, of 2 and 1 tasks that take 10 ms each, on one worker.
    fn stages() -> (Stages, Vec<StageId>) {
        let stage = |name: &str| Stage {
            name: name.to_owned(),
            tasks: Tasks {
                predicted: Some(10 * MS),
                ..Tasks::default()
            },
            started: None,
        };
        let all: IdVec<StageId, _> = [stage("a"), stage("b")].into_iter().collect();
        let ids: Vec<_> = all.ids().collect();
        let mut stages = Stages {
            all,
            waiting: BTreeMap::new(),
            left: Left::new(Some(30 * MS), Some(30 * MS), 1),
            tasks: 0,
            done: 0,
            last: 0,
        };
        for (stage, count) in ids.iter().zip([2, 1]) {
            let stage = *stage;
            stages.note(0, &Event::Tasks { stage, count });
        }
        (stages, ids)
    }

    #[test]
    fn lines_tell_what_is_left_and_who_waits() {
        let (mut stages, ids) = stages();
        let started = |stage| Event::Started {
            stage,
            item: None,
            worker: 0,
            stolen_from: None,
        };
        stages.note(0, &started(ids[0]));
        let (stage, behind) = (ids[1], &ids[..1]);
        let lacks = "memory";
        stages.note(
            5 * MS,
            &Event::Waiting {
                stage,
                lacks,
                behind,
            },
        );
        stages.note(
            20 * MS,
            &Event::Finished {
                stage: ids[0],
                item: None,
                worker: 0,
                start: 0,
                time: 20 * MS,
                peak_memory: 0,
            },
        );
        // Twice as long as predicted: 40 ms are left when one ended, 30 ms ten later.
        let lines = "the run: 1 of 3 tasks in 30.0 ms, about 30.0 ms left\n\
                     b waits for memory since 5.00 ms, behind a\n";
        assert_eq!(stages.lines(30 * MS), lines);
        let line = "a: 1 of 2 tasks in 20.0 ms, 20.0 ms left";
        assert_eq!(stages.line(ids[0], 20 * MS), line);
        stages.note(40 * MS, &started(ids[1]));
        assert_eq!(stages.wait(ids[1]), None);
    }
}
