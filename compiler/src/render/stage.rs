//! One stage of a plan for people: its ops, transfers, memory, and choices.

use anstyle::Style;
use haul_ir::graph::Graph;
use haul_ir::id::{OpId, StageId};
use haul_ir::op::Work;
use haul_ir::plan::{Plan, Side, StagePlan, Transfer};

use super::style::{DOUBT, FAINT, GPU, HEADING};
use super::table::{Cell, Column, Table, wrapped};
use super::text::{failure, feasibility, known, request};
use super::values::{Values, is_symbolic};
use super::{Colour, choices, names, units};

pub(super) fn stage(plan: &Plan, values: &Values<'_>, id: StageId, colour: Colour) -> String {
    let graph = plan.typed.graph();
    let mut out = head(plan, values, id, colour);
    out += &ops(plan, values, id).print(colour);
    let facts = Facts {
        graph,
        plan,
        values,
        id,
    };
    for (label, text) in facts.all() {
        out += &labelled(label, &text, colour);
    }
    out
}

fn head(plan: &Plan, values: &Values<'_>, id: StageId, colour: Colour) -> String {
    let (stage, planned) = (&plan.typed.graph().stages[id], &plan.stages[id]);
    let each = stage.each.map_or_else(String::new, |over| {
        let tasks = values.eval(&planned.tasks);
        let tasks = tasks.map_or_else(|| "unknown".to_owned(), |n| n.to_string());
        let collection = &plan.typed.graph().collections[over].name;
        format!(" each {collection}: {tasks} tasks")
    });
    let node = &plan.target.nodes[planned.node].name;
    let alternative = match stage.requests.len() {
        1 => String::new(),
        n => format!(" (alternative {} of {n})", planned.request + 1),
    };
    let asked = request(planned.request(&stage.requests));
    let verdict = feasibility(&planned.feasibility);
    let line = format!(
        "{}{each}; {asked}{alternative} on {node}: {verdict}",
        stage.name
    );
    let text = wrapped(0, 4, &line);
    match text.strip_prefix(stage.name.as_str()) {
        Some(rest) => colour.paint(HEADING, &stage.name) + rest,
        None => text,
    }
}

fn ops(plan: &Plan, values: &Values<'_>, id: StageId) -> Table {
    let mut table = Table::new([
        Column::text("op"),
        Column::text("type"),
        Column::number("flops"),
        Column::number("bytes"),
        Column::number("flop/B"),
        Column::number("time"),
        Column::word("side"),
        Column::text("reason"),
    ]);
    for op in &plan.typed.graph().stages[id].ops {
        table.row(op_row(plan, values, *op));
    }
    table.indented(2)
}

fn op_row(plan: &Plan, values: &Values<'_>, id: OpId) -> Vec<Cell> {
    let graph = plan.typed.graph();
    let node = &graph.ops[id];
    let group = plan.typed.group_of(id);
    let head = plan.typed.head(group);
    let planned = &plan.groups[group];
    let placement = &planned.placement;
    let side = Cell::from(placement.side.to_string()).styled(side_style(placement.side));
    let name: Cell = node.name.as_str().into();
    let types: Cell = names::types(graph, node).into();
    if head != id {
        let reason = format!("fused_with {}", graph.ops[head].name);
        let none = Cell::default;
        let reason = Cell::from(reason).styled(FAINT);
        return vec![name, types, none(), none(), none(), none(), side, reason];
    }
    let [flops, bytes, intensity] = work(values, &planned.work);
    let time = known(choices::cost(planned).map(units::time));
    let style = if placement.close_call { DOUBT } else { FAINT };
    let reason = Cell::from(choices::reason(placement)).styled(style);
    vec![name, types, flops, bytes, intensity, time, side, reason]
}

/// Flops, bytes, and flops a byte.
fn work(values: &Values<'_>, work: &Work) -> [Cell; 3] {
    let Work::Known {
        flops,
        read,
        written,
    } = work
    else {
        return [known(None), known(None), Cell::default()];
    };
    let (flops, bytes) = (values.eval(flops), values.eval(&(read + written)));
    let intensity = match (flops, bytes) {
        (Some(flops), Some(bytes)) if bytes > 0 => units::significant(flops, bytes).into(),
        _ => Cell::default(),
    };
    [
        known(flops.map(units::count)),
        known(bytes.map(units::bytes)),
        intensity,
    ]
}

/// One transfer in words: `parsed h2d 64.0 KiB, 12.6 us for x.mean, x`.
pub(super) fn transfer(
    plan: &Plan,
    values: &Values<'_>,
    id: StageId,
    transfer: &Transfer,
) -> String {
    let facts = Facts {
        graph: plan.typed.graph(),
        plan,
        values,
        id,
    };
    facts.transfer(transfer)
}

/// What stands under the table, line by line.
struct Facts<'a> {
    graph: &'a Graph,
    plan: &'a Plan,
    values: &'a Values<'a>,
    id: StageId,
}

impl Facts<'_> {
    fn all(&self) -> Vec<(&'static str, String)> {
        let planned = &self.plan.stages[self.id];
        let mut facts = self.choices();
        facts.extend(self.exact_work());
        for transfer in &planned.transfers {
            facts.push(("transfer", self.transfer(transfer)));
        }
        facts.push(("memory", self.memory(planned)));
        let mut task = units::time_or_unknown(planned.time);
        if planned.time_on_cpu != planned.time {
            task += &format!(
                "; all on cpu {}",
                units::time_or_unknown(planned.time_on_cpu)
            );
        }
        if let Some(waiting) = planned.queueing.filter(|time| *time > 0) {
            task += &format!("; queueing {} of all tasks", units::time(waiting));
        }
        facts.push(("task", task));
        let stage = &self.graph.stages[self.id];
        facts.extend(failure(&stage.failure).map(|text| ("failure", text)));
        facts
    }

    fn choices(&self) -> Vec<(&'static str, String)> {
        let groups = self.plan.typed.groups_of(self.id);
        let choice = |group| {
            let text = choices::of(self.plan, self.id, group)?;
            let name = &self.graph.ops[self.plan.typed.head(group)].name;
            Some(("choice", format!("{name}: {text}")))
        };
        groups.into_iter().filter_map(choice).collect()
    }

    fn exact_work(&self) -> Vec<(&'static str, String)> {
        let groups = self.plan.typed.groups_of(self.id);
        let exact = |group| {
            let Work::Known {
                flops,
                read,
                written,
            } = &self.plan.groups[group].work
            else {
                return None;
            };
            let bytes = read + written;
            let name = &self.graph.ops[self.plan.typed.head(group)].name;
            (is_symbolic(flops) || is_symbolic(&bytes))
                .then(|| ("work", format!("{name}: {flops} flops, {bytes} bytes")))
        };
        groups.into_iter().filter_map(exact).collect()
    }

    fn transfer(&self, transfer: &Transfer) -> String {
        let name = names::value(self.graph, transfer.value, Some(self.id));
        let bytes = self.values.eval(&transfer.bytes);
        let bytes = bytes.map_or_else(|| transfer.bytes.to_string() + " bytes", units::bytes);
        let time = units::time_or_unknown(transfer.time);
        let reader = |group| &*self.graph.ops[self.plan.typed.head(group)].name;
        let readers: Vec<_> = transfer
            .readers
            .iter()
            .map(|group| reader(*group))
            .collect();
        let readers = match readers.len() {
            0 => String::new(),
            _ => format!(" for {}", readers.join(", ")),
        };
        format!("{name} {} {bytes}, {time}{readers}", transfer.direction)
    }

    fn memory(&self, planned: &StagePlan) -> String {
        let asked = planned.request(&self.graph.stages[self.id].requests);
        let peak = |expr| match self.values.eval(expr) {
            Some(bytes) => units::bytes(bytes),
            None => "unknown".to_owned(),
        };
        let exact = |expr| match is_symbolic(expr) {
            true => format!(": {expr} bytes"),
            false => String::new(),
        };
        let at = planned.peak_at.map_or_else(String::new, |value| {
            format!(", at {}", names::value(self.graph, value, Some(self.id)))
        });
        let host = &planned.peak_memory;
        let memory = units::exact_bytes(asked.memory);
        let mut text = format!("peak {} of {memory}{at}{}", peak(host), exact(host));
        if planned.gpu.is_some() {
            let device = &planned.peak_vram;
            text += &format!("; device peak {}{}", peak(device), exact(device));
        }
        text
    }
}

pub(super) fn labelled(label: &str, text: &str, colour: Colour) -> String {
    let line = wrapped(2, 11, &format!("{label:<9}{text}"));
    let rest = &line[2 + label.len()..];
    format!("  {}{rest}", colour.paint(FAINT, label))
}

fn side_style(side: Side) -> Style {
    match side {
        Side::Cpu => Style::new(),
        Side::Gpu => GPU,
    }
}
