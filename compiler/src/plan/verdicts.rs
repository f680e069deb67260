//! Whether the tasks of each stage find room on a target, whatever becomes of the others.

use haul_ir::cost::Nanos;
use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::id::{Id, IdVec, NodeId, StageId};
use haul_ir::plan::Feasibility;

use super::choice::{Choice, NoChoice};
use super::estimates::{after, feasibility, tasks_of};
use super::{Context, refusals};
use crate::place::tasks;
use crate::places::Places;
use crate::simulate::{Schedule, Share, Tasks, simulate};

/// Why there is no plan.
#[derive(Clone, Debug)]
pub struct Refused {
    /// All that does not fit the target, sorted by place.
    pub mistakes: Vec<Diagnostic>,
    /// What becomes of each stage. Those that are impossible take no time and hold nothing for the
    /// others.
    pub verdicts: IdVec<StageId, Verdict>,
}

/// Whether the tasks of a stage find room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Which of the stage's requests: the one that is granted, or else that comes nearest.
    pub request: usize,
    /// Where that request is written.
    pub span: Span,
    /// The kind of node that holds it, or else comes nearest.
    pub node: Option<NodeId>,
    /// What becomes of it.
    pub outcome: Outcome,
}

/// One of the three verdicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Some node can hold a task when the run reaches it.
    Fits,
    /// Some node can, when others have left.
    Waits {
        /// How long the first task waits.
        time: Nanos,
        /// The stage whose end makes the room.
        behind: String,
    },
    /// No node ever can.
    Impossible {
        /// What it takes and is not there, each in a few words; never empty.
        missing: Vec<String>,
        /// The fields with which the nearest node can hold it; none where no other request
        /// would help.
        nearest: Option<String>,
    },
}

/// The verdicts of a plan.
pub(super) fn granted(
    choices: &IdVec<StageId, Choice>,
    feasibility: &IdVec<StageId, Feasibility>,
    places: &Places,
) -> IdVec<StageId, Verdict> {
    let choices = choices.entries();
    let one = |(stage, choice): (StageId, &Choice)| of_choice(choice, &feasibility[stage], places);
    choices.map(one).collect()
}

/// What to tell where some stages cannot be placed.
pub(super) fn refused(
    context: &Context<'_>,
    placed: &IdVec<StageId, Result<Choice, NoChoice>>,
    places: &Places,
) -> Refused {
    let schedule = schedule(context, placed);
    let mut mistakes = Vec::new();
    let verdict = |(stage, placed): (StageId, &Result<Choice, NoChoice>)| match placed {
        Ok(choice) => {
            let feasibility = feasibility(context.typed, schedule.as_ref(), stage);
            of_choice(choice, &feasibility, places)
        }
        Err(none) => {
            let (mistake, verdict) = refusals::told(context, stage, none, places);
            mistakes.push(mistake);
            verdict
        }
    };
    let verdicts = placed.entries().map(verdict).collect();
    mistakes.sort_by_key(|mistake| (mistake.primary.span, mistake.code));
    Refused { mistakes, verdicts }
}

fn of_choice(choice: &Choice, feasibility: &Feasibility, places: &Places) -> Verdict {
    let spans = places.requests.get(choice.graph.stage);
    let span = spans.and_then(|spans| spans.get(choice.request));
    Verdict {
        request: choice.request,
        span: span.copied().unwrap_or_default(),
        node: Some(choice.home.node),
        outcome: match feasibility {
            Feasibility::Fits => Outcome::Fits,
            Feasibility::Waits { time, behind } => Outcome::Waits {
                time: *time,
                behind: behind.clone(),
            },
        },
    }
}

/// The run of the stages that can be placed; the others take no time and hold nothing.
fn schedule(
    context: &Context<'_>,
    placed: &IdVec<StageId, Result<Choice, NoChoice>>,
) -> Option<Schedule> {
    let tasks = placed.entries().map(|(stage, placed)| match placed {
        Ok(choice) => tasks_of(context, stage, choice),
        Err(_) => Some(Tasks {
            count: context.sizes.planned.eval(&tasks(context.typed, stage))?,
            time: 0,
            on_gpu: 0,
            share: Share::nothing(NodeId::from_index(0)),
            after: after(context, stage),
        }),
    });
    let tasks: Option<Vec<_>> = tasks.collect();
    Some(simulate(&tasks?, context.target))
}
