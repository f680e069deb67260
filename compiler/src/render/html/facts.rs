//! What the page says of a node when it is pointed at.

use std::collections::HashMap;

use haul_ir::cost::Cost;
use haul_ir::expr::Expr;
use haul_ir::graph::Graph;
use haul_ir::id::{GroupId, StageId, ValueId};
use haul_ir::op::Work;
use haul_ir::plan::{Plan, StagePlan};
use haul_ir::types::ValueType;
use serde::Serialize;

use crate::measured::{Measured, MeasuredStage, MeasuredTasks};
use crate::render::drawing::{Drawing, Kind, Words, stage_id};
use crate::render::report::ratio;
use crate::render::values::{Values, is_symbolic};
use crate::render::{choices, names, text, units};

/// What is said of one node: names of facts, and the facts.
#[derive(Serialize)]
pub(super) struct Facts {
    id: String,
    title: String,
    facts: Vec<(&'static str, String)>,
}

/// What is said of each node of a drawing, and of each stage.
pub(super) fn all(plan: &Plan, drawing: &Drawing) -> Vec<Facts> {
    let teller = Teller {
        plan,
        graph: plan.typed.graph(),
        words: Words::of(plan),
        values: Values::of(plan),
    };
    let mut all: Vec<_> = plan.stages.ids().map(|id| teller.stage(id)).collect();
    let nodes = drawing.nodes.iter().map(|node| node.kind);
    all.extend(nodes.filter_map(|kind| teller.node(kind)));
    all
}

/// Adds what was measured to what is said of stages of the same names.
pub(super) fn add_measured(plan: &Plan, measured: &Measured, all: &mut [Facts]) {
    let stages = plan.typed.graph().stages.entries();
    let ids = stages.map(|(id, stage)| (stage.name.as_str(), stage_id(id)));
    let ids: HashMap<_, _> = ids.collect();
    let stages = measured.stages.iter();
    let mut stages: HashMap<_, _> = stages
        .filter_map(|stage| Some((ids.get(&*stage.stage)?, stage)))
        .collect();
    for facts in all {
        if let Some(stage) = stages.remove(&facts.id) {
            facts.facts.extend(of_run(stage));
        }
    }
}

/// What was measured of a stage.
fn of_run(stage: &MeasuredStage) -> Vec<(&'static str, String)> {
    let MeasuredTasks {
        time,
        longest,
        longest_item,
        peak_memory,
        waited,
        ..
    } = &stage.measured;
    let item = longest_item.as_ref();
    let item = item.map_or_else(String::new, |item| format!(", of {item}"));
    let mut facts = vec![
        ("measured tasks", stage.tasks.to_string()),
        ("measured time", units::time(*time)),
        ("longest task", units::time(*longest) + &item),
        ("measured peak", units::bytes((*peak_memory).into())),
        ("waited", units::time(*waited)),
        ("device", stage.device.clone()),
    ];
    let ratio = ratio(*time, stage.predicted.time);
    facts.extend(ratio.map(|ratio| ("measured over predicted", ratio)));
    facts
}

struct Teller<'a> {
    plan: &'a Plan,
    graph: &'a Graph,
    words: Words<'a>,
    values: Values<'a>,
}

impl Teller<'_> {
    fn node(&self, kind: Kind) -> Option<Facts> {
        let (title, facts) = match kind {
            Kind::Stage(_) => return None,
            Kind::Input(id) => {
                let input = &self.graph.inputs[id];
                (input.name.clone(), self.value(input.value))
            }
            Kind::Group(id) => self.group(id),
            Kind::Transfer(stage, at) => self.transfer(stage, at),
            Kind::Output(at) => {
                let output = &self.graph.outputs[at];
                let path = names::on_one_line(&output.sink.path);
                let from = names::value(self.graph, output.value, None);
                let mut facts = vec![("file", path), ("from", from)];
                facts.extend(self.value(output.value));
                (names::on_one_line(&output.name), facts)
            }
        };
        Some(Facts {
            id: kind.id(),
            title,
            facts,
        })
    }

    fn stage(&self, id: StageId) -> Facts {
        let (stage, planned) = (&self.graph.stages[id], &self.plan.stages[id]);
        let node = &self.plan.target.nodes[planned.node].name;
        let mut facts = Vec::new();
        facts.extend(stage.each.map(|over| {
            let collection = &self.graph.collections[over].name;
            ("each", collection.clone())
        }));
        facts.push(("tasks", self.words.tasks(id)));
        facts.push(("request", text::request(planned.request(&stage.requests))));
        if stage.requests.len() > 1 {
            let (chosen, of) = (planned.request + 1, stage.requests.len());
            facts.push(("alternative", format!("{chosen} of {of}")));
        }
        facts.extend(text::failure(&stage.failure).map(|text| ("failure", text)));
        facts.push(("node", names::on_one_line(node)));
        facts.push(("verdict", text::feasibility(&planned.feasibility)));
        facts.extend(planned.queueing.map(|time| ("queueing", units::time(time))));
        facts.push(("a task", units::time_or_unknown(planned.time)));
        facts.push(("all on cpu", units::time_or_unknown(planned.time_on_cpu)));
        facts.extend(self.memory(id, planned));
        for transfer in &planned.transfers {
            facts.push(("transfer", self.words.transfer(id, transfer)));
        }
        Facts {
            id: stage_id(id),
            title: stage.name.clone(),
            facts,
        }
    }

    fn memory(&self, id: StageId, planned: &StagePlan) -> Vec<(&'static str, String)> {
        let at = planned.peak_at.map_or_else(String::new, |value| {
            format!(", at {}", names::value(self.graph, value, Some(id)))
        });
        let mut facts = vec![("memory peak", self.bytes(&planned.peak_memory) + &at)];
        if planned.gpu.is_some() {
            facts.push(("device peak", self.bytes(&planned.peak_vram)));
        }
        facts
    }

    fn group(&self, id: GroupId) -> (String, Vec<(&'static str, String)>) {
        let ops = &self.plan.typed.groups()[id].ops;
        let head = self.plan.typed.head(id);
        let mut facts = Vec::new();
        for op in ops {
            let node = &self.graph.ops[*op];
            let formula = names::formula(self.graph, node);
            facts.push(("op", format!("{} = {formula}", node.name)));
        }
        facts.push(("type", names::types(self.graph, &self.graph.ops[head])));
        let planned = &self.plan.groups[id];
        facts.extend(self.work(&planned.work));
        facts.push(("on cpu", terms(planned.cpu)));
        facts.push(("on gpu", terms(planned.gpu)));
        let placement = &planned.placement;
        facts.push(("placed", placement.side.to_string()));
        facts.push(("reason", choices::reason(placement)));
        facts.extend(choices::numbers(&placement.reason).map(|numbers| ("because", numbers)));
        facts.extend(placement.regret.map(|regret| {
            let other = placement.side.other();
            let longer = units::time(regret);
            (
                "regret",
                format!("on the {other} the task takes {longer} longer"),
            )
        }));
        let flip = choices::flip(self.plan, self.graph.ops[head].stage, placement);
        facts.extend(flip.map(|flip| ("flips", flip)));
        if placement.close_call {
            let why = "the other side costs under 3 % of the task";
            facts.push(("close call", why.to_owned()));
        }
        (names::op(self.graph, head), facts)
    }

    fn work(&self, work: &Work) -> Vec<(&'static str, String)> {
        let Work::Known {
            flops,
            read,
            written,
        } = work
        else {
            return vec![("work", "unknown".to_owned())];
        };
        let bytes = read + written;
        let intensity = self.values.intensity(flops, &bytes);
        let mut facts = vec![("flops", self.count(flops)), ("bytes", self.bytes(&bytes))];
        facts.extend(intensity.map(|intensity| ("intensity", intensity)));
        facts
    }

    fn transfer(&self, stage: StageId, at: usize) -> (String, Vec<(&'static str, String)>) {
        let transfer = &self.plan.stages[stage].transfers[at];
        let value = names::value(self.graph, transfer.value, Some(stage));
        let reader = |group: &GroupId| names::op(self.graph, self.plan.typed.head(*group));
        let readers: Vec<_> = transfer.readers.iter().map(reader).collect();
        let mut facts = vec![
            ("value", value.clone()),
            ("bytes", self.bytes(&transfer.bytes)),
            ("time", units::time_or_unknown(transfer.time)),
        ];
        if !readers.is_empty() {
            facts.push(("for", readers.join(", ")));
        }
        (format!("{} {value}", transfer.direction), facts)
    }

    fn value(&self, id: ValueId) -> Vec<(&'static str, String)> {
        let ty = &self.graph.values[id].ty;
        let bytes = (*ty != ValueType::Text).then(|| self.bytes(&ty.bytes()));
        let mut facts = vec![("type", ty.to_string())];
        facts.extend(bytes.map(|bytes| ("bytes", bytes)));
        facts
    }

    fn count(&self, expr: &Expr) -> String {
        self.both(expr, units::count)
    }

    fn bytes(&self, expr: &Expr) -> String {
        self.both(expr, units::bytes)
    }

    /// The number, and where it hangs on dims the expression.
    fn both(&self, expr: &Expr, print: fn(u128) -> String) -> String {
        let number = self.values.eval(expr).map(print);
        let number = number.unwrap_or_else(|| "unknown".to_owned());
        match is_symbolic(expr) {
            true => format!("{number} = {expr}"),
            false => number,
        }
    }
}

/// A time with its terms: `226 ms: start 0 ns, arithmetic 226 ms, memory 1.20 ms`.
fn terms(cost: Option<Cost>) -> String {
    let Some(cost) = cost else {
        return "unknown, or it cannot be there".to_owned();
    };
    let [total, launch, compute, memory] =
        [cost.total(), cost.launch, cost.compute, cost.memory].map(units::time);
    format!("{total}: start {launch}, arithmetic {compute}, memory {memory}")
}
