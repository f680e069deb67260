//! Data that is hauled to the host and back.

use std::collections::BTreeSet;

use haul_ir::cost::Nanos;
use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::graph::{Arg, Producer};
use haul_ir::id::{Id, IdVec, OpId, StageId, ValueId};
use haul_ir::plan::{Direction, Reason, Transfer};

use super::{Lints, WORTH_SAYING, with_saving};
use crate::diagnostics::codes::DETOUR;
use crate::place::{Detour, group_name, value_name};
use crate::plan::Context;
use crate::plan::choice::{Choice, choose_among};
use crate::render::units::{bytes, time};
use crate::usage::bytes_in;

/// Ops of a stage that keep data from staying on the GPU: pinned to CPUs, or without a kernel.
pub(super) fn in_stage(lints: &Lints<'_>, choice: &Choice) -> Vec<Diagnostic> {
    if !choice.division.uses_gpu() {
        return Vec::new();
    }
    let detours = choice.division.detours(&choice.graph).into_iter();
    let detours = detours.filter(|detour| is_worth_saying(lints, choice, detour.time));
    detours
        .filter_map(|detour| detour_of(lints, choice, &detour))
        .collect()
}

fn detour_of(lints: &Lints<'_>, choice: &Choice, detour: &Detour) -> Option<Diagnostic> {
    let context = lints.context;
    let typed = context.typed;
    let op = typed.head(detour.group);
    let name = group_name(typed, detour.group);
    let are = if detour.forth.len() == 1 { "is" } else { "are" };
    let message = format!(
        "{} {are} copied from the GPU for `{name}`, and {} back to it: {} a task",
        values(lints, choice, &detour.forth),
        values(lints, choice, &detour.back),
        time(detour.time)
    );
    let span = lints.places.ops.get(op).copied().unwrap_or_default();
    let diagnostic = Diagnostic::warning(DETOUR, span, message);
    match &detour.reason {
        Reason::PinnedByAuthor => {
            let stage = choice.graph.without_wish(detour.group);
            let requests = &typed.graph().stages[stage.stage].requests;
            let free = choose_among(context, stage, requests).ok()?;
            if free.division.time? >= choice.division.time? {
                return None; // On CPUs it is where it would be anyway.
            }
            let saving = lints.what_if.saving_of_all(&[&free]);
            let diagnostic = diagnostic
                .at("`place` keeps it on CPUs")
                .help("let it be where it costs less");
            let diagnostic = with_saving(diagnostic, saving);
            let wishes = wishes(lints, &typed.groups()[detour.group].ops).into_iter();
            let edited = wishes.fold(diagnostic, |diagnostic, wish| diagnostic.fix(wish, "Auto"));
            Some(edited.machine_applicable())
        }
        Reason::NoGpuKernel(why) => Some(
            diagnostic
                .at(format!("no GPU kernel: {why}"))
                .help("compute it before the first or after the last op on the GPU"),
        ),
        _ => None,
    }
}

/// Where the author wishes a side for ops, each place once.
fn wishes(lints: &Lints<'_>, ops: &[OpId]) -> BTreeSet<Span> {
    let pins = ops
        .iter()
        .filter_map(|op| lints.places.pins.get(*op).copied());
    pins.flatten().collect()
}

/// Values that a stage makes on a GPU and this one takes to the same kind of GPU again.
pub(super) fn between_stages(lints: &Lints<'_>, choice: &Choice) -> Option<Diagnostic> {
    if !choice.division.uses_gpu() {
        return None;
    }
    let context = lints.context;
    let transfers = |of: &Choice| {
        let machine = of.machine(context);
        of.division.transfers(&of.graph, machine, &context.sizes)
    };
    let taken = transfers(choice).into_iter();
    let taken = taken.filter(|transfer| transfer.direction == Direction::HostToDevice);
    let shared = taken.filter_map(|h2d| Some((made_next_to(lints, choice, h2d.value)?, h2d)));
    let (from, h2d) = shared.max_by_key(|(_, h2d)| h2d.time)?;
    let maker = &lints.choices[from];
    let is_d2h =
        |d2h: &Transfer| d2h.value == h2d.value && d2h.direction == Direction::DeviceToHost;
    let d2h = transfers(maker).into_iter().find(is_d2h)?;
    // Where others read it as well, it goes to the host in any case.
    let forth = match lints.uses[h2d.value] {
        1 => d2h.time?,
        _ => 0,
    };
    let back = h2d.time?;
    let both = forth.saturating_add(back);
    if !is_worth_saying(lints, choice, both) {
        return None;
    }
    let (stage, before) = (lints.name(choice.graph.stage), lints.name(from));
    let message = format!(
        "`{}` ({}) is copied from the GPU at the end of `{before}` and back to one for `{stage}`: \
         {} a task",
        value_name(context.typed, h2d.value),
        size(lints, choice, h2d.value),
        time(both)
    );
    let saving = lints.what_if.saving_with(|tasks| {
        let maker = &mut tasks[from.index()];
        maker.time = maker.time.saturating_sub(forth);
        let reader = &mut tasks[choice.graph.stage.index()];
        reader.time = reader.time.saturating_sub(back);
    });
    let help = format!(
        "compute both in one stage: between stages values go through the host; \
         what `{before}` gives to others stays a name of its formula"
    );
    let diagnostic = Diagnostic::warning(DETOUR, lints.span(choice), message)
        .at("comes from a GPU and goes to one")
        .help(help);
    Some(with_saving(diagnostic, saving))
}

/// The stage that makes a value, where it runs over the same items on the same kind of GPU.
fn made_next_to(lints: &Lints<'_>, choice: &Choice, value: ValueId) -> Option<StageId> {
    let graph = lints.context.typed.graph();
    let Producer::Op(op) = graph.values[value].producer else {
        return None;
    };
    let from = graph.ops[op].stage;
    let is_same = graph.stages[from].each == graph.stages[choice.graph.stage].each;
    (is_same && lints.choices[from].home == choice.home).then_some(from)
}

/// How many stages but its own, and outputs, use each value.
pub(super) fn uses(context: &Context<'_>) -> IdVec<ValueId, u32> {
    let graph = context.typed.graph();
    let mut uses = IdVec::filled(0, graph.values.len());
    graph
        .outputs
        .iter()
        .for_each(|output| uses[output.value] += 1);
    let mut last_reader = IdVec::filled(None, graph.values.len());
    // Ops stand stage by stage.
    for node in graph.ops.iter() {
        for value in node.args.iter().filter_map(Arg::value) {
            let is_own = match graph.values[value].producer {
                Producer::Op(op) => graph.ops[op].stage == node.stage,
                Producer::Input(_) => false,
            };
            if !is_own && last_reader[value].replace(node.stage) != Some(node.stage) {
                uses[value] += 1;
            }
        }
    }
    uses
}

/// Whether a task's crossings take 3 % of its time, and 0.1 s of all tasks together.
fn is_worth_saying(lints: &Lints<'_>, choice: &Choice, crossings: Nanos) -> bool {
    let all = u128::from(crossings) * u128::from(lints.tasks(choice));
    let task = choice.division.time.unwrap_or(0);
    all >= WORTH_SAYING && u128::from(crossings) * 100 >= u128::from(task) * 3
}

/// The first of some values, and how many more there are.
fn values(lints: &Lints<'_>, choice: &Choice, values: &[ValueId]) -> String {
    let [first, more @ ..] = values else {
        return String::new();
    };
    let name = value_name(lints.context.typed, *first);
    let first = format!("`{name}` ({})", size(lints, choice, *first));
    match more.len() {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

fn size(lints: &Lints<'_>, choice: &Choice, value: ValueId) -> String {
    let size = bytes_in(lints.context.typed.graph(), choice.graph.stage, value);
    match lints.context.sizes.planned.eval(&size) {
        Some(size) => bytes(size.into()),
        None => "unknown size".to_owned(),
    }
}
