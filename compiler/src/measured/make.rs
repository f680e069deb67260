//! A report is joined to a plan: the one that ran, or another with stages of the same names.

use std::collections::HashMap;

use haul_ir::id::StageId;
use haul_ir::plan::Plan;
use haul_ir::report::Report;

use super::devices::copies;
use super::timeline::Timeline;
use super::{
    FORMAT, Measured, MeasuredDevice, MeasuredRun, MeasuredStage, MeasuredTask, MeasuredTasks,
    MeasuredWait, MissingTask, PredictedRun, PredictedStage, SkippedRows, WrittenFile,
};
use crate::render::names::on_one_line;
use crate::saved::{SavedPlan, SavedStage};

/// Most tasks that a report tells one by one.
const MOST_TASKS: usize = 10_000;
/// Most waits that it tells of a stage.
const MOST_WAITS: usize = 100;

impl Measured {
    /// Joins what a run did to the plan that ran.
    pub fn of(plan: &Plan, report: &Report, timeline: &Timeline) -> Self {
        let written = report.written.iter().map(|file| WrittenFile {
            output: on_one_line(&file.output),
            path: on_one_line(&file.path),
            bytes: file.bytes,
        });
        let skipped = report.skipped.iter().map(|rows| SkippedRows {
            input: on_one_line(&rows.input),
            path: on_one_line(&rows.path),
            rows: rows.rows,
        });
        let skipped_tasks = report.skipped_tasks.iter().map(|task| MissingTask {
            stage: task.stage.clone(),
            item: task.item.as_deref().map(on_one_line),
            reason: task.reason.clone(),
        });
        let saved = SavedPlan::of(plan);
        let tasks = timeline.tasks.len().min(MOST_TASKS);
        let left_out = (timeline.tasks.len() - tasks) as u64 + timeline.left_out;
        Self {
            format_version: FORMAT.to_owned(),
            predicted: PredictedRun::of(&saved),
            measured: MeasuredRun {
                makespan: report.makespan,
                peak_memory: report.peak_memory,
            },
            stages: stages(plan, &saved, report, timeline),
            devices: report.devices.iter().map(MeasuredDevice::of).collect(),
            tasks: first_tasks(plan, timeline, tasks),
            tasks_left_out: left_out,
            written: written.collect(),
            skipped: skipped.collect(),
            skipped_tasks: skipped_tasks.collect(),
            plan: saved,
        }
    }

    /// What was measured beside what another plan predicts for so many tasks of the stages that both
    /// have, in the order of that plan.
    #[must_use]
    pub fn beside(self, plan: &SavedPlan) -> Self {
        let stages = self.stages.into_iter();
        let mut measured: HashMap<_, _> = stages.map(|s| (s.stage.clone(), s)).collect();
        let joined = plan.stages.iter().filter_map(|planned| {
            let stage = measured.remove(&planned.name)?;
            Some(MeasuredStage {
                predicted: PredictedStage::of(planned, stage.tasks.saturating_sub(stage.reused)),
                ..stage
            })
        });
        Self {
            predicted: PredictedRun::of(plan),
            stages: joined.collect(),
            plan: plan.clone(),
            ..self
        }
    }
}

impl PredictedRun {
    fn of(plan: &SavedPlan) -> Self {
        Self {
            makespan: plan.estimates.makespan,
            at_least: !plan.estimates.unknown.is_empty(),
        }
    }
}

impl PredictedStage {
    /// What is planned for so many tasks.
    fn of(planned: &SavedStage, tasks: u64) -> Self {
        Self {
            time: planned.time.and_then(|time| time.checked_mul(tasks)),
            peak_memory: planned.memory.planned,
        }
    }
}

fn stages(
    plan: &Plan,
    saved: &SavedPlan,
    report: &Report,
    timeline: &Timeline,
) -> Vec<MeasuredStage> {
    let mut waits = waits(plan, timeline);
    let stages = report.stages.entries().zip(&saved.stages);
    let stages = stages.map(|((id, done), planned)| MeasuredStage {
        stage: planned.name.clone(),
        tasks: done.tasks,
        reused: done.reused,
        device: on_one_line(&done.device),
        predicted: PredictedStage::of(planned, done.computed()),
        measured: MeasuredTasks {
            time: done.busy,
            longest: done.longest,
            longest_item: timeline.stages[id].longest.1.as_deref().map(on_one_line),
            started: timeline.stages[id].started.unwrap_or(0),
            ended: timeline.stages[id].ended,
            peak_memory: done.peak_memory,
            stolen: done.stolen,
            retries: done.retries,
            waited: timeline.stages[id].waited,
            waits: waits.remove(&id).unwrap_or_default(),
        },
        copies: copies(plan, report, id),
    });
    stages.collect()
}

/// The first waits of each stage.
fn waits(plan: &Plan, timeline: &Timeline) -> HashMap<StageId, Vec<MeasuredWait>> {
    let mut waits: HashMap<_, Vec<_>> = HashMap::new();
    for wait in &timeline.waits {
        let of_stage = waits.entry(wait.stage).or_default();
        if of_stage.len() < MOST_WAITS {
            let behind = wait.behind.iter().map(|id| name(plan, *id));
            of_stage.push(MeasuredWait {
                start: wait.start,
                time: wait.time,
                lacks: wait.lacks.to_owned(),
                behind: behind.collect(),
            });
        }
    }
    waits
}

fn first_tasks(plan: &Plan, timeline: &Timeline, most: usize) -> Vec<MeasuredTask> {
    let tasks = timeline.tasks.iter().take(most).map(|task| MeasuredTask {
        stage: name(plan, task.stage),
        item: task.item.as_deref().map(on_one_line),
        worker: task.worker,
        stolen_from: task.stolen_from,
        start: task.start,
        time: task.time,
    });
    tasks.collect()
}

fn name(plan: &Plan, stage: StageId) -> String {
    plan.typed.graph().stages[stage].name.clone()
}
