//! Other alternatives where stages would wait.

use haul_ir::id::{Id, IdVec, StageId};

use super::Context;
use super::choice::{Choice, alternatives};
use super::estimates::{planned_tasks, tasks_of};
use crate::simulate::simulate;

/// At most so many runs are simulated, of so many stages and tasks together.
const MOST_RUNS: u64 = 32;
const MOST_SIMULATED: u64 = 2_000_000;

/// Where stages wait in the run, gives each stage with alternatives the one with which the run ends
/// first, of equals the one with which the stage does. Each is tried on its own, in the order of the
/// file.
pub(super) fn choose_again(context: &Context<'_>, choices: &mut IdVec<StageId, Choice>) {
    let requests = |stage: StageId| &context.typed.graph().stages[stage].requests;
    if choices.ids().all(|stage| requests(stage).len() < 2) {
        return;
    }
    let Some(mut tasks) = planned_tasks(context, choices) else {
        return;
    };
    let counts = tasks.iter().map(|tasks| tasks.count);
    let each = counts.fold(tasks.len() as u64, u64::saturating_add).max(1);
    let mut runs_left = MOST_RUNS.min(MOST_SIMULATED / each);
    let mut run = simulate(&tasks, context.target);
    for stage in choices.ids() {
        let at = stage.index();
        let waits = run.queueing.iter().any(|time| *time > 0);
        if requests(stage).len() < 2 || !waits || choices[stage].finish.is_none() {
            continue;
        }
        for other in alternatives(context, stage) {
            let (Some(changed), Some(left)) =
                (tasks_of(context, stage, &other), runs_left.checked_sub(1))
            else {
                continue;
            };
            runs_left = left;
            let planned = std::mem::replace(&mut tasks[at], changed);
            let trial = simulate(&tasks, context.target);
            if (trial.makespan, trial.ends[at]) < (run.makespan, run.ends[at]) {
                choices[stage] = other;
                run = trial;
            } else {
                tasks[at] = planned;
            }
        }
    }
}
