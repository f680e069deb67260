//! What can be granted and run but is probably not what is meant, with what the other way would
//! save of the whole run.

mod cpus;
mod detours;
mod devices;
mod dispatch;
mod gpus;
mod memory;
mod narrow_vram;
mod neighbours;
mod queues;
mod shares;
mod what_if;
mod without_gpu;

use std::cmp::Reverse;

use haul_ir::cost::Nanos;
use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::graph::Request;
use haul_ir::id::{IdVec, StageId, ValueId};

use self::what_if::{Saved, WhatIf};
use super::Context;
use super::choice::{Choice, choose_among};
use super::estimates::Estimated;
use crate::places::{Places, RequestFields};
use crate::resolve::MEMORY_PER_CPU;

/// Less time than this is not worth saying a word about: 0.1 s.
const WORTH_SAYING: u128 = 100_000_000;

/// Looks at one stage.
type Lint = fn(&Lints<'_>, &Choice) -> Option<Diagnostic>;

/// Those that look at one stage after the other.
const OF_STAGE: [Lint; 9] = [
    gpus::idle,
    gpus::missing,
    gpus::several,
    cpus::idle,
    cpus::missing,
    shares::unknown_memory,
    shares::more_than_memory,
    memory::idle,
    detours::between_stages,
];

/// The warnings about all stages, sorted by place, and of how many changes it was not simulated
/// what they would save, since so many were before: first those of the whole run, then those of the
/// stages that take the longest.
pub(super) fn lints(
    context: &Context<'_>,
    choices: &IdVec<StageId, Choice>,
    estimated: &Estimated,
    places: &Places,
) -> (Vec<Diagnostic>, u64) {
    let lints = Lints {
        context,
        choices,
        estimated,
        places,
        uses: detours::uses(context),
        what_if: WhatIf::new(context, choices, &estimated.estimates),
    };
    let mut warnings = Vec::new();
    warnings.extend(queues::sooner_on_cpus(&lints));
    warnings.extend(dispatch::small_tasks(&lints));
    warnings.extend(neighbours::crowded(&lints));
    warnings.extend(devices::unknown(&lints));
    let mut longest_first: Vec<&Choice> = choices.iter().collect();
    // Stable: of equals the first.
    longest_first.sort_by_key(|choice| Reverse(choice.finish));
    for choice in longest_first {
        warnings.extend(OF_STAGE.iter().filter_map(|lint| lint(&lints, choice)));
        warnings.extend(detours::in_stage(&lints, choice));
    }
    warnings.sort_by_key(|warning| (warning.primary.span, warning.code));
    (warnings, lints.what_if.not_tried())
}

/// What lints look at.
struct Lints<'a> {
    context: &'a Context<'a>,
    choices: &'a IdVec<StageId, Choice>,
    estimated: &'a Estimated,
    places: &'a Places,
    /// How many stages but its own, and outputs, use each value.
    uses: IdVec<ValueId, u32>,
    what_if: WhatIf<'a>,
}

impl Lints<'_> {
    fn name(&self, stage: StageId) -> &str {
        &self.context.typed.graph().stages[stage].name
    }

    /// The parenthesis of the request that a stage gets.
    fn span(&self, choice: &Choice) -> Span {
        let spans = self.places.requests.get(choice.graph.stage);
        let span = spans.and_then(|spans| spans.get(choice.request));
        span.copied().unwrap_or_default()
    }

    /// Where the fields of that request are written.
    fn fields(&self, choice: &Choice) -> Option<&RequestFields> {
        let fields = self.places.fields.get(choice.graph.stage)?;
        fields.get(choice.request)
    }

    /// The stage as it would be placed with another request instead of the one that it gets;
    /// nothing where it could not be.
    fn instead(&self, choice: &Choice, request: Request) -> Option<Choice> {
        let stage = &self.context.typed.graph().stages[choice.graph.stage];
        let mut requests = stage.requests.clone();
        requests[choice.request] = request;
        choose_among(self.context, choice.graph.clone(), &requests).ok()
    }

    /// What another request instead of the one that a stage gets saves of the run.
    fn saving(&self, choice: &Choice, request: Request) -> Saved {
        self.what_if.saving(|| self.instead(choice, request))
    }

    /// A stage's request with another number of CPUs, and the memory that comes with them where
    /// none is asked for.
    fn with_cpus(&self, choice: &Choice, cpus: u32) -> Request {
        let mut request = choice.asked.clone();
        request.cpus = cpus;
        if !self.asks_for_memory(choice) {
            request.memory = default_memory(cpus);
        }
        request
    }

    fn asks_for_memory(&self, choice: &Choice) -> bool {
        let fields = self.fields(choice);
        fields.is_none_or(|fields| fields.own.memory.is_some() || fields.inherits_memory)
    }

    /// How many tasks a stage has; one where that is unknown.
    fn tasks(&self, choice: &Choice) -> u64 {
        let tasks = self.context.sizes.planned.eval(&choice.graph.tasks);
        tasks.unwrap_or(1)
    }

    /// Time that all tasks of a stage hold something, of which each holds `held / per`.
    fn held(&self, choice: &Choice, held: u32, per: u32) -> Nanos {
        let time = u128::from(choice.division.time.unwrap_or(0));
        let all = time
            .saturating_mul(self.tasks(choice).into())
            .saturating_mul(held.into());
        whole_nanos(all / u128::from(per))
    }
}

/// Memory that comes with so many CPUs.
fn default_memory(cpus: u32) -> u64 {
    u64::from(cpus).saturating_mul(MEMORY_PER_CPU)
}

fn whole_nanos(time: u128) -> Nanos {
    Nanos::try_from(time).unwrap_or(Nanos::MAX)
}

/// What to do, and where the run does not end sooner for it, what it is good for.
fn advice(what: String, saved: Saved, frees: &str) -> String {
    match saved {
        Saved::Known(saving) if saving.time > 0 => what,
        _ => format!("{what}: that frees {frees}"),
    }
}

/// Adds what is saved, where that is known.
fn with_saving(diagnostic: Diagnostic, saved: Saved) -> Diagnostic {
    match saved {
        Saved::Known(saving) => diagnostic.saves(saving),
        Saved::Unknown | Saved::NotTried => diagnostic,
    }
}
