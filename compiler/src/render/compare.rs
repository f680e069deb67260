//! Plans of one pipeline for several targets, side by side.

use haul_ir::graph::Graph;
use haul_ir::id::{IdVec, StageId};
use haul_ir::plan::Plan;

use super::{Colour, Column, Table, units};
use crate::plan::{Outcome, Verdict};

/// A row of the comparison: the name of the target, and the plan or else the verdicts.
pub type Compared<'a> = (&'a str, Result<&'a Plan, &'a IdVec<StageId, Verdict>>);

/// A line for each target, in the order given: the totals of the plan, or the stages that no node
/// can hold.
pub fn comparison(graph: &Graph, rows: &[Compared<'_>], colour: Colour) -> String {
    let mut table = Table::new([
        Column::text("target"),
        Column::number("makespan"),
        Column::number("all on cpu"),
        Column::number("price"),
        Column::text("bottleneck"),
        Column::text("infeasible"),
    ]);
    for (target, outcome) in rows {
        let mut row = vec![(*target).into()];
        match outcome {
            Ok(plan) => {
                let estimates = &plan.estimates;
                let time = |total| units::total(total, estimates, units::time).into();
                row.push(time(estimates.makespan));
                row.push(units::all_on_cpu(estimates).into());
                row.push(units::total(estimates.nano_usd, estimates, units::usd).into());
                row.extend([bottleneck(plan).into(), "".into()]);
            }
            Err(verdicts) => {
                row.extend(["impossible", "", "", ""].map(Into::into));
                row.push(infeasible(graph, verdicts).into());
            }
        }
        table.row(row);
    }
    table.print(colour)
}

/// The stage whose tasks take the most time together.
fn bottleneck(plan: &Plan) -> String {
    let values = super::values::Values::of(plan);
    let busy = |(id, stage): (_, &haul_ir::plan::StagePlan)| {
        let busy = u128::from(stage.time?).saturating_mul(values.eval(&stage.tasks)?);
        Some((busy, id))
    };
    let all: Vec<_> = plan.stages.entries().filter_map(busy).collect();
    // The first of equals.
    let longest = all.iter().rev().max_by_key(|(busy, _)| *busy);
    longest.map_or_else(String::new, |(_, id)| {
        plan.typed.graph().stages[*id].name.clone()
    })
}

/// The names of the stages that no node can hold.
fn infeasible(graph: &Graph, verdicts: &IdVec<StageId, Verdict>) -> String {
    let is_infeasible = |verdict: &Verdict| matches!(verdict.outcome, Outcome::Impossible { .. });
    let stages = verdicts
        .entries()
        .filter(|(_, verdict)| is_infeasible(verdict));
    let names: Vec<_> = stages
        .map(|(id, _)| graph.stages[id].name.as_str())
        .collect();
    names.join(", ")
}
