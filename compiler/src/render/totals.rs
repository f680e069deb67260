//! The whole run of a plan for people: times and price, what sets them, what is held and used, and
//! what would be sooner.

use haul_ir::cost::Nanos;
use haul_ir::plan::{Plan, Utilisation};

use super::style::{DOUBT, HEADING};
use super::table::wrapped;
use super::{Colour, devices, units};

/// So many names of a long list are shown at either end.
const ENDS: usize = 4;

/// So many devices of a node are told apart.
const MOST_DEVICES: u64 = 8;

/// Times, price, and another placement that would be sooner.
pub(super) fn totals(plan: &Plan, colour: Colour) -> String {
    let estimates = &plan.estimates;
    let total = |total| units::total(total, estimates, units::time);
    let mut text = format!(
        "makespan {}; tasks one after the other {}; all on cpu {}",
        total(estimates.makespan),
        total(estimates.serial),
        units::all_on_cpu(estimates),
    );
    if let Some(on_gpu) = estimates.all_on_gpu {
        text += &format!("; all on gpu {}", total(Some(on_gpu)));
    }
    let price = units::total(estimates.nano_usd, estimates, units::usd);
    text += &format!("; price {price}");
    if !estimates.unknown.is_empty() {
        let stages = &plan.typed.graph().stages;
        let names = estimates.unknown.iter().map(|id| stages[*id].name.as_str());
        text += &format!("; unknown: {}", names.collect::<Vec<_>>().join(", "));
    }
    let text = wrapped(0, 4, &text);
    let (first, rest) = text.split_once("; ").unwrap_or((&text, ""));
    let out = colour.paint(HEADING, first) + "; " + rest;
    match sooner(plan) {
        Some(advice) => out + &colour.paint(DOUBT, wrapped(0, 4, &advice).trim_end()) + "\n",
        None => out,
    }
}

/// What sets the makespan, who waits, what is held and used, and what crosses.
pub(super) fn details(plan: &Plan) -> String {
    let estimates = &plan.estimates;
    if estimates.makespan.is_none() {
        return String::new();
    }
    let mut out = String::new();
    let stages = &plan.typed.graph().stages;
    let path = estimates.critical_path.iter();
    let path: Vec<_> = path.map(|id| stages[*id].name.as_str()).collect();
    if !path.is_empty() {
        out += &wrapped(0, 4, &format!("critical path {}", in_short(&path, " > ")));
    }
    out += &wrapped(0, 4, &queueing(plan));
    for utilisation in &estimates.utilisation {
        out += &wrapped(0, 4, &used(plan, utilisation));
    }
    let has_gpu = plan.stages.iter().any(|stage| stage.gpu.is_some());
    if let Some(bytes) = estimates.transferred.filter(|_| has_gpu) {
        let bytes = units::bytes(bytes.into());
        out += &format!("transferred {bytes} between hosts and GPUs\n");
    }
    out
}

/// Another placement that ends at least a hundredth sooner.
fn sooner(plan: &Plan) -> Option<String> {
    let estimates = &plan.estimates;
    let makespan = estimates.makespan?;
    let others = [
        (estimates.all_on_cpu, "CPUs"),
        (estimates.all_on_gpu, "the GPUs that their stages hold"),
    ];
    let others = others
        .into_iter()
        .filter_map(|(time, on)| Some((time?, on)));
    let (time, on) = others.min_by_key(|(time, _)| *time)?;
    let saved = makespan.checked_sub(time)?;
    if u128::from(saved) * 100 < u128::from(makespan) || saved == 0 {
        return None;
    }
    Some(format!(
        "advice: with all ops on {on} the run ends {} sooner ({})",
        units::time(saved),
        percent((u128::from(saved) * 1000 / u128::from(makespan)) as u32)
    ))
}

/// `queueing 30.0 ms: kernel 25.0 ms, all 5.00 ms`, the longest first. Where a time is unknown, others
/// may wait for it.
fn queueing(plan: &Plan) -> String {
    let stages = plan.stages.entries();
    let waits = stages.filter_map(|(id, stage)| Some((stage.queueing.filter(|t| *t > 0)?, id)));
    let mut waits: Vec<_> = waits.collect();
    let is_bound = !plan.estimates.unknown.is_empty();
    match (waits.is_empty(), is_bound) {
        (true, true) => return "queueing unknown".to_owned(),
        (true, false) => return "queueing none".to_owned(),
        (false, _) => {}
    }
    // Stable: of equals the first.
    waits.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    let total = waits.iter().map(|(time, _)| *time);
    let total = total.fold(0, Nanos::saturating_add);
    let names = &plan.typed.graph().stages;
    let each = waits.iter().take(ENDS);
    let each = each.map(|(time, id)| format!("{} {}", names[*id].name, units::time(*time)));
    let more = match waits.len().checked_sub(ENDS) {
        Some(more @ 1..) => format!(", and {more} more"),
        _ => String::new(),
    };
    let each = each.collect::<Vec<_>>().join(", ");
    let bound = if is_bound { "at least " } else { "" };
    let total = units::time(total);
    format!("queueing {bound}{total} of all tasks: {each}{more}")
}

/// `gpu A100-80GB x 4 on node: held 92 %, busy 31 %`.
fn used(plan: &Plan, utilisation: &Utilisation) -> String {
    let node = &plan.target.nodes[utilisation.node];
    let (what, each) = match &utilisation.gpu {
        None => ("cpu".to_owned(), u64::from(node.cpus)),
        Some(name) => {
            let alike = node.gpus.iter().filter(|gpu| gpu.name == *name);
            (format!("gpu {name}"), alike.count() as u64)
        }
    };
    let nodes = match utilisation.nodes {
        1 => String::new(),
        n => format!(" x {n}"),
    };
    let devices = match (utilisation.nodes, each) {
        (1, 2..=MOST_DEVICES) => devices::of(plan, utilisation),
        _ => Vec::new(),
    };
    let held: Vec<u32> = devices.iter().map(|device| device.held).collect();
    let busy: Vec<u32> = devices.iter().map(|device| device.busy).collect();
    let share = |share| units::share(share, &plan.estimates, percent);
    format!(
        "{what} x {each} on {}{nodes}: held {}{}, busy {}{}",
        node.name,
        share(utilisation.held),
        where_they_differ(&held),
        share(utilisation.busy),
        where_they_differ(&busy)
    )
}

/// ` (100 %, 0 %)`; nothing where all are the same.
fn where_they_differ(each: &[u32]) -> String {
    if each.windows(2).all(|pair| pair[0] == pair[1]) {
        return String::new();
    }
    let each: Vec<_> = each.iter().map(|share| percent(*share)).collect();
    format!(" ({})", each.join(", "))
}

/// Per mille as percent: whole from ten on, `9.4 %` below.
fn percent(per_mille: u32) -> String {
    match per_mille {
        0 => "0 %".to_owned(),
        1..100 => format!("{}.{} %", per_mille / 10, per_mille % 10),
        _ => format!("{} %", (per_mille + 5) / 10),
    }
}

/// A list, of a long one only both ends.
fn in_short(names: &[&str], gap: &str) -> String {
    if names.len() <= 2 * ENDS {
        return names.join(gap);
    }
    let (first, last) = (&names[..ENDS], &names[names.len() - ENDS..]);
    let between = format!("{} more", names.len() - 2 * ENDS);
    [first.join(gap), between, last.join(gap)].join(gap)
}
