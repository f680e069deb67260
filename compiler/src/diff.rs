//! What changed between two plans, joined by name.
//!
//! Changes are of three classes that are never mixed: the work (what is computed), the decisions
//! (requests, places, transfers, memory), and the estimates. Every changed decision says why. What
//! runs measured is apart from all of these, and no change of a plan.

mod causes;
mod decisions;
mod estimates;
mod markdown;
mod measured;
mod names;
mod renames;
mod text;
mod work;

use schemars::JsonSchema;
use serde::Serialize;

use crate::saved::{SavedPlan, json};

/// The version of the JSON form: see [`saved::FORMAT`](crate::saved::FORMAT).
const FORMAT: &str = "1.0";

/// What changed from an old plan to a new one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Diff {
    /// The old plan.
    pub old: Heading,
    /// The new plan.
    pub new: Heading,
    /// What has another name, by which the rest is joined.
    pub renamed: Vec<Renamed>,
    /// What is computed.
    pub work: Vec<Change>,
    /// Where, with what, and why.
    pub decisions: Vec<Decision>,
    /// How long and how dear.
    pub estimates: Vec<Change>,
    /// What the runs measured, where a side is a report: it differs from run to run, and is no
    /// change.
    pub measured: Vec<Change>,
    /// Ops of which neither the work nor a decision changed.
    pub unchanged_ops: Vec<String>,
    /// Transfers that did not change.
    pub unchanged_transfers: Vec<String>,
}

/// Several diffs, and the policies that the new plans break.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// The version of this form, `major.minor`.
    pub format_version: String,
    /// What changed, plan by plan.
    pub diffs: Vec<Diff>,
    /// The policies that failed, in words.
    pub failed: Vec<String>,
    /// The pipelines that have no plan any more, with the target.
    pub unplanned: Vec<String>,
    /// The pipelines that have a plan now and had a mistake before: there is nothing to compare with.
    pub unplanned_before: Vec<String>,
}

/// Which plan it is, and its totals.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Heading {
    /// The name of the pipeline.
    pub pipeline: String,
    /// The name of the target.
    pub target: String,
    /// Whether its totals are lower bounds, as the time of a stage is unknown.
    pub at_least: bool,
    /// The makespan in nanoseconds.
    pub makespan: Option<u64>,
    /// The price in billionths of a US dollar.
    pub nano_usd: Option<u64>,
    /// How many ops it has.
    pub ops: usize,
    /// How many transfers.
    pub transfers: usize,
}

/// What has another name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Renamed {
    /// The kind.
    pub kind: RenamedKind,
    /// The name it had.
    pub old: String,
    /// The name it has.
    pub new: String,
    /// Whether it is a guess, as the file does not say so under `moved`: the only one that computes,
    /// reads or writes the same.
    pub guessed: bool,
}

/// The kinds of what can have another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RenamedKind {
    /// A size.
    Dim,
    /// An input.
    Input,
    /// A stage.
    Stage,
    /// A line of a stage, `stage.line`, with the ops in it.
    Line,
    /// An output.
    Output,
}

/// One fact that was added, removed or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Change {
    /// What it is about: `stage kernel`, `kernel.g`, `run`.
    pub subject: String,
    /// Which of its facts: `formula`, `place`, `makespan`; empty where all of it came or went.
    pub fact: String,
    /// What it was; none where it was not there.
    pub old: Option<String>,
    /// What it is; none where it is not there.
    pub new: Option<String>,
}

/// A changed decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Decision {
    /// What changed.
    #[serde(flatten)]
    pub change: Change,
    /// Why; never empty.
    pub causes: Vec<Cause>,
}

/// Why a decision changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct Cause {
    /// The kind.
    pub kind: CauseKind,
    /// In words.
    pub text: String,
}

/// The kinds of causes, a closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// The author pins an op to a side, or no longer does.
    Pin,
    /// An op or stage was added.
    Added,
    /// An op or stage was removed.
    Removed,
    /// An op computes something else.
    OpChanged,
    /// The author asks for something else.
    RequestChanged,
    /// An input or a size grew.
    InputGrew,
    /// An input or a size shrank.
    InputShrank,
    /// An input has another type or source.
    InputChanged,
    /// It follows from another decision.
    Follows,
    /// The plan is for other machines.
    TargetChanged,
    /// The figures of a device are others.
    CalibrationChanged,
    /// The cost model is another version.
    CostModelChanged,
    /// The plans do not tell.
    Unknown,
}

impl Renamed {
    /// The kind in a word before the name; stages and lines need none.
    fn word(&self) -> &'static str {
        match self.kind {
            RenamedKind::Dim => "dim ",
            RenamedKind::Input => "input ",
            RenamedKind::Output => "output ",
            RenamedKind::Stage | RenamedKind::Line => "",
        }
    }
}

impl Diff {
    /// What changed from `old` to `new`. Renames are those that `new` declares, and guesses where
    /// what is left computes the same as one other.
    pub fn of(old: &SavedPlan, new: &SavedPlan) -> Diff {
        let (old, renamed) = renames::renamed(old, new);
        let decisions = decisions::decisions(&old, new);
        let unchanged = decisions::unchanged(&old, new);
        Diff {
            old: heading(&old),
            new: heading(new),
            work: work::work(&old, new),
            estimates: estimates::estimates(&old, new),
            measured: Vec::new(),
            renamed,
            decisions,
            unchanged_ops: unchanged.ops,
            unchanged_transfers: unchanged.transfers,
        }
    }

    /// Whether nothing of the plan changed.
    pub fn is_empty(&self) -> bool {
        self.renamed.is_empty()
            && self.work.is_empty()
            && self.decisions.is_empty()
            && self.estimates.is_empty()
    }
}

impl Default for Comparison {
    fn default() -> Self {
        Self {
            format_version: FORMAT.to_owned(),
            diffs: Vec::new(),
            failed: Vec::new(),
            unplanned: Vec::new(),
            unplanned_before: Vec::new(),
        }
    }
}

impl Comparison {
    /// For tools, as the [schema](Comparison::schema) says. Ends in a newline.
    pub fn json(&self) -> String {
        json::write(self)
    }

    /// The JSON Schema of [`Comparison::json`]. Ends in a newline.
    pub fn schema() -> String {
        json::schema::<Comparison>()
    }
}

pub use self::markdown::markdown;
pub use self::text::text;

fn heading(plan: &SavedPlan) -> Heading {
    Heading {
        pipeline: plan.pipeline.clone(),
        target: plan.target.name.clone(),
        at_least: !plan.estimates.unknown.is_empty(),
        makespan: plan.estimates.makespan,
        nano_usd: plan.estimates.nano_usd,
        ops: plan.stages.iter().map(|stage| stage.ops.len()).sum(),
        transfers: plan.stages.iter().map(|stage| stage.transfers.len()).sum(),
    }
}

/// Gathers changes.
#[derive(Default)]
struct Changes(Vec<Change>);

impl Changes {
    /// A fact that both have, where it differs.
    fn compare(&mut self, subject: &str, fact: &str, old: &str, new: &str) {
        if old != new {
            self.push(subject, fact, Some(old.to_owned()), Some(new.to_owned()));
        }
    }

    fn push(&mut self, subject: &str, fact: &str, old: Option<String>, new: Option<String>) {
        self.0.push(Change {
            subject: subject.to_owned(),
            fact: fact.to_owned(),
            old,
            new,
        });
    }
}
