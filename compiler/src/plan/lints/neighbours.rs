//! Stages whose shares of a GPU fit it together, and whose memory does not.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use haul_ir::diagnostic::Diagnostic;
use haul_ir::graph::GpuCount;
use haul_ir::id::{Id, IdVec, NodeId, StageId};

use super::shares::{MIB, whole};
use super::what_if::Saved;
use super::{Lints, with_saving};
use crate::diagnostics::codes::CROWDED_VRAM;
use crate::feasibility::devices;
use crate::plan::choice::Choice;
use crate::plan::edits::set;
use crate::plan::estimates::after;
use crate::render::units::{bytes, exact_bytes};

/// So many stages with a share of a kind of GPU are compared: a bit of a word for each.
const MOST_COMPARED: usize = 64;

/// One warning for each stage that does not fit beside one before it, where neither waits for the
/// other and there are not GPUs for all their tasks.
pub(super) fn crowded(lints: &Lints<'_>) -> Vec<Diagnostic> {
    let mut kinds: BTreeMap<(NodeId, usize), Vec<&Choice>> = BTreeMap::new();
    for choice in lints.choices.iter() {
        let is_shared = choice.asked.gpus < GpuCount::ONE && choice.division.uses_gpu();
        if let (true, Some(gpu)) = (is_shared, choice.home.gpu) {
            let stages = kinds.entry((choice.home.node, gpu)).or_default();
            if stages.len() < MOST_COMPARED {
                stages.push(choice);
            }
        }
    }
    kinds.retain(|_, stages| stages.len() > 1);
    let kinds = kinds.values();
    kinds.flat_map(|stages| crowded_on(lints, stages)).collect()
}

/// Those of stages with shares of one kind of GPU.
fn crowded_on(lints: &Lints<'_>, stages: &[&Choice]) -> Vec<Diagnostic> {
    let before = before(lints, stages);
    let mut warnings = Vec::new();
    for (position, choice) in stages.iter().enumerate() {
        let waits_for = before[choice.graph.stage];
        let others = stages[..position].iter().enumerate();
        let others = others.filter(|(bit, other)| {
            waits_for & (1 << bit) == 0 && is_too_much(lints, other, choice)
        });
        // Of equals, `min_by_key` takes the first.
        let other = others.min_by_key(|(_, other)| Reverse(vram(lints, other)));
        warnings.extend(other.and_then(|(_, other)| beside(lints, other, choice)));
    }
    warnings
}

/// For each stage, which of some stages it waits for: a bit for each.
fn before(lints: &Lints<'_>, stages: &[&Choice]) -> IdVec<StageId, u64> {
    let bits = stages.iter().enumerate();
    let bits: BTreeMap<StageId, u64> = bits.map(|(at, s)| (s.graph.stage, 1 << at)).collect();
    let all = lints.choices.len();
    let mut before = IdVec::filled(0, all);
    // Stages stand behind those that they wait for.
    for stage in lints.choices.ids() {
        for from in after(lints.context, stage) {
            let from = StageId::from_index(from.stage);
            before[stage] |= before[from] | bits.get(&from).copied().unwrap_or(0);
        }
    }
    before
}

/// Whether the shares of two stages fit one GPU, and their memory does not.
fn is_too_much(lints: &Lints<'_>, one: &Choice, other: &Choice) -> bool {
    let machine = other.machine(lints.context);
    let Some(gpu) = machine.gpu else { return false };
    let gpus = devices(machine.node, gpu).len() as u64;
    let gpus = gpus.saturating_mul(machine.node.count.into());
    let tasks = lints.tasks(one).saturating_add(lints.tasks(other));
    let shares = u64::from(one.asked.gpus.0) + u64::from(other.asked.gpus.0);
    let vram = vram(lints, one).saturating_add(vram(lints, other));
    tasks > gpus && shares <= GpuCount::ONE.0.into() && vram > gpu.vram
}

fn beside(lints: &Lints<'_>, one: &Choice, other: &Choice) -> Option<Diagnostic> {
    let gpu = other.machine(lints.context).gpu?;
    let (first, second) = (lints.name(one.graph.stage), lints.name(other.graph.stage));
    let of_first = vram(lints, one);
    let message = format!(
        "`{first}` and `{second}` request {} and {} of a GPU, with {} and {} of memory: one {} has {}",
        one.asked.gpus,
        other.asked.gpus,
        bytes(of_first.into()),
        bytes(vram(lints, other).into()),
        gpu.name,
        bytes(gpu.vram.into())
    );
    let diagnostic = Diagnostic::warning(CROWDED_VRAM, lints.span(other), message)
        .at("a share divides the device's time, not its memory");
    let Some(fitting) = fitting(lints, [one, other], gpu.vram) else {
        let help = "one waits for the other on a GPU: request a larger one, or smaller pieces";
        return Some(diagnostic.help(help));
    };
    let written = |(choice, vram): &(&Choice, u64)| {
        let name = lints.name(choice.graph.stage);
        format!("`vram: \"{}\"` in `{name}`", exact_bytes(*vram))
    };
    let help = match &fitting[..] {
        [only @ (choice, _)] => {
            let beside = if choice.graph.stage == one.graph.stage {
                second
            } else {
                first
            };
            format!("write {}, which fits beside `{beside}`", written(only))
        }
        all => {
            let all: Vec<_> = all.iter().map(written).collect();
            format!("write {}, which fit together", all.join(" and "))
        }
    };
    let changed = fitting.iter().map(|(choice, vram)| {
        let mut request = choice.asked.clone();
        request.vram = Some(*vram);
        lints.instead(choice, request)
    });
    let changed = changed.collect::<Option<Vec<_>>>();
    let saving = changed.map_or(Saved::Unknown, |changed| {
        lints
            .what_if
            .saving_of_all(&changed.iter().collect::<Vec<_>>())
    });
    let diagnostic = with_saving(diagnostic.help(help), saving);
    let edit = |diagnostic, (choice, vram): &(&Choice, u64)| {
        let fields = lints.fields(choice);
        let at = fields.and_then(|fields| fields.own.vram);
        let value = format!("\"{}\"", exact_bytes(*vram));
        set(diagnostic, "vram", at, &value, fields)
    };
    Some(fitting.iter().fold(diagnostic, edit))
}

/// Amounts of device memory with which two stages fit one device of `all`, as few of them changed as
/// will do; nothing where they need more.
fn fitting<'c>(
    lints: &Lints<'_>,
    [one, other]: [&'c Choice; 2],
    all: u64,
) -> Option<Vec<(&'c Choice, u64)>> {
    let needs = |choice: &Choice| choice.division.peaks.vram.largest;
    let beside = |choice: &'c Choice, held: &Choice| {
        let left = all.saturating_sub(vram(lints, held));
        let is_enough = needs(choice).is_some_and(|needed| needed <= left && left > 0);
        is_enough.then(|| vec![(choice, left)])
    };
    let one_of_them = beside(other, one).or_else(|| beside(one, other));
    one_of_them.or_else(|| {
        let (first, second) = (needs(one)?, needs(other)?.max(1));
        let rounded = first.checked_next_multiple_of(MIB)?;
        let most = all
            .checked_sub(second)
            .filter(|most| first <= *most && first > 0)?;
        let first = if rounded <= most { rounded } else { first };
        let left = all - first;
        let left = Some(whole(left))
            .filter(|left| *left >= second)
            .unwrap_or(left);
        Some(vec![(one, first), (other, left)])
    })
}

/// Bytes of device memory that a task of a stage holds.
fn vram(lints: &Lints<'_>, choice: &Choice) -> u64 {
    choice.division.vram(choice.machine(lints.context))
}
