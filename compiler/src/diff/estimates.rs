//! Changes of what is predicted, as it prints: what is the same to three digits has not changed.

use std::collections::{BTreeMap, HashMap};

use super::{Change, Changes};
use crate::render::units;
use crate::saved::{
    SavedEstimates, SavedOp, SavedPlan, SavedStage, SavedTransfer, SavedUtilisation,
};

/// Totals, devices, then stage by stage.
pub(super) fn estimates(old: &SavedPlan, new: &SavedPlan) -> Vec<Change> {
    let mut changes = Changes::default();
    let facts = totals(old).into_iter().zip(totals(new));
    for ((fact, was), (_, is)) in facts {
        match (old.stages.is_empty(), new.stages.is_empty()) {
            (true, false) => changes.push("run", fact, None, Some(is)),
            (false, true) => changes.push("run", fact, Some(was), None),
            _ => changes.compare("run", fact, &was, &is),
        }
    }
    let used = |plan: &SavedPlan| {
        let of = &plan.estimates;
        of.utilisation
            .iter()
            .map(|used| utilisation(of, used))
            .collect()
    };
    changes.maps("", &used(old), &used(new));
    changes.maps("device ", &old.estimates.devices, &new.estimates.devices);
    let prices = |plan: &SavedPlan| {
        let prices = plan.estimates.prices.iter();
        let usd = |milli: &u64| units::usd(milli.saturating_mul(1_000_000));
        prices
            .map(|(node, milli)| (node.clone(), usd(milli)))
            .collect()
    };
    changes.maps("an hour of ", &prices(old), &prices(new));
    let before: HashMap<_, _> = old.stages.iter().map(|s| (s.name.as_str(), s)).collect();
    for stage in &new.stages {
        if let Some(old) = before.get(stage.name.as_str()) {
            changes.stage_estimates(old, stage);
        }
    }
    changes.0
}

fn totals(plan: &SavedPlan) -> [(&'static str, String); 11] {
    let of = &plan.estimates;
    let bytes = |bytes: Option<u64>| {
        bytes.map_or_else(|| "unknown".to_owned(), |bytes| units::bytes(bytes.into()))
    };
    [
        ("makespan", of.total(of.makespan, units::time)),
        ("price", of.total(of.nano_usd, units::usd)),
        ("serial", of.total(of.serial, units::time)),
        ("all on cpu", of.all_on_cpu()),
        (
            "all on gpu",
            of.all_on_gpu.map_or_else(
                || "none".to_owned(),
                |time| of.total(Some(time), units::time),
            ),
        ),
        ("transferred", bytes(of.transferred)),
        ("gpu memory", bytes(of.vram)),
        ("critical path", of.critical_path.join(", ")),
        ("unknown", of.unknown.join(", ")),
        ("figures", of.figures.clone()),
        ("cost model", plan.cost_model.to_string()),
    ]
}

fn utilisation(of: &SavedEstimates, used: &SavedUtilisation) -> (String, String) {
    let device = used.gpu.as_deref().unwrap_or("cpus");
    let (held, busy) = (of.share(used.held), of.share(used.busy));
    (
        format!("{device} of {}", used.node),
        format!("{} used, held {held}, busy {busy}", used.nodes),
    )
}

impl Changes {
    fn maps(&mut self, what: &str, old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) {
        for (name, is) in new {
            let subject = format!("{what}{name}");
            match old.get(name) {
                Some(was) => self.compare(&subject, "is", was, is),
                None => self.push(&subject, "", None, Some(is.clone())),
            }
        }
        for (name, was) in old.iter().filter(|(name, _)| !new.contains_key(*name)) {
            self.push(&format!("{what}{name}"), "", Some(was.clone()), None);
        }
    }

    fn stage_estimates(&mut self, old: &SavedStage, new: &SavedStage) {
        let subject = format!("stage {}", new.name);
        for ((fact, old), (_, new)) in stage_facts(old).iter().zip(stage_facts(new)) {
            self.compare(&subject, fact, old, &new);
        }
        let transfers = old.transfers.iter();
        let before: HashMap<_, _> = transfers.map(|t| ((&t.value, &t.direction), t)).collect();
        for transfer in &new.transfers {
            if let Some(old) = before.get(&(&transfer.value, &transfer.direction)) {
                let subject = format!("{}: {} {}", new.name, transfer.value, transfer.direction);
                let time = |of: &SavedTransfer| units::time_or_unknown(of.time);
                self.compare(&subject, "time", &time(old), &time(transfer));
            }
        }
        let before: HashMap<_, _> = old.ops.iter().map(|op| (op.name.as_str(), op)).collect();
        for op in &new.ops {
            let Some(old) = before.get(op.name.as_str()) else {
                continue;
            };
            let (Some(was), Some(is)) = (op_facts(old), op_facts(op)) else {
                continue;
            };
            let name = new.full_name(&op.name);
            for ((fact, was), (_, is)) in was.iter().zip(is) {
                self.compare(&name, fact, was, &is);
            }
        }
    }
}

fn stage_facts(stage: &SavedStage) -> [(&'static str, String); 4] {
    let waits = stage.waits.as_ref().map_or_else(
        || "fits".to_owned(),
        |wait| format!("waits {} behind {}", units::time(wait.time), wait.behind),
    );
    [
        ("task", units::time_or_unknown(stage.time)),
        ("task on cpu", units::time_or_unknown(stage.time_on_cpu)),
        ("room", waits),
        ("queueing", units::time(stage.queueing.unwrap_or(0))),
    ]
}

fn op_facts(op: &SavedOp) -> Option<[(&'static str, String); 4]> {
    let choice = op.estimate.as_ref()?;
    let regret = choice.regret.map_or_else(|| "none".to_owned(), units::time);
    let doubt = if choice.close_call {
        " (close call)"
    } else {
        ""
    };
    let known = |time: Option<u64>| time.map_or_else(|| "none".to_owned(), units::time);
    let flip = choice.flip.clone().unwrap_or_else(|| "never".to_owned());
    Some([
        ("time", units::time_or_unknown(choice.time)),
        ("longer on the other side", regret + doubt),
        (
            "saves and adds",
            format!("{}, {}", known(choice.saved), known(choice.added)),
        ),
        ("flips", flip),
    ])
}
