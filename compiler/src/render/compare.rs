//! Plans of one pipeline for several targets, side by side.

use haul_ir::plan::Plan;

use super::{Colour, Column, Table, units};

/// A line for each target, in the order given: the plan, or the stages that no node can hold.
pub fn comparison(rows: &[(String, Result<&Plan, String>)], colour: Colour) -> String {
    let mut table = Table::new([
        Column::text("target"),
        Column::number("makespan"),
        Column::number("all on cpu"),
        Column::number("price"),
        Column::text("longest stage"),
    ]);
    for (target, outcome) in rows {
        let mut row = vec![target.as_str().into()];
        match outcome {
            Ok(plan) => {
                let estimates = &plan.estimates;
                let time = |total| units::total(total, estimates, units::time).into();
                row.push(time(estimates.makespan));
                row.push(time(estimates.all_on_cpu));
                row.push(units::total(estimates.nano_usd, estimates, units::usd).into());
                row.push(longest(plan).into());
            }
            Err(impossible) => {
                row.extend(["impossible".into(), "".into(), "".into()]);
                row.push(impossible.as_str().into());
            }
        }
        table.row(row);
    }
    table.print(colour)
}

/// The stage whose tasks take the most time together.
fn longest(plan: &Plan) -> String {
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
