//! `haul nodes`: what the machines of a target offer.

use haul_compiler::render::{Cell, Column, Table};

use crate::exit::{Exit, Trouble};
use crate::targets::{gpus, memory, usd};
use crate::{machine, terminal};

/// Lists the nodes of a target; by default this machine.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A target's name, a target file, or `local`.
    #[arg(default_value = machine::LOCAL)]
    target: String,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let target = machine::target(&args.target)?;
    let mut table = Table::new([
        Column::text("node"),
        Column::number("count"),
        Column::number("cpus"),
        Column::number("memory"),
        Column::text("gpus"),
        Column::text("cpu"),
        Column::number("USD/h"),
    ]);
    for node in target.nodes.iter() {
        let price = node.price.as_ref();
        table.row([
            Cell::from(node.name.as_str()),
            node.count.to_string().into(),
            node.cpus.to_string().into(),
            memory(node).into(),
            gpus(node).into(),
            node.cpu.name.as_str().into(),
            price
                .map_or_else(
                    || "unknown".to_owned(),
                    |price| usd(price.milli_usd_per_hour),
                )
                .into(),
        ]);
    }
    terminal::print(&table.print(terminal::colour()))?;
    Ok(Exit::Fine)
}
