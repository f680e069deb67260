//! The command line: flags, files, terminal, exit statuses. One file for each command.
//!
//! Results go to stdout, all that is said about them to stderr. Exit statuses: 0 fine, 1 found
//! something (a mistake, a change, a failed run), 2 usage or trouble, 3 a policy failed, 4 a
//! run went on without what failed, 130 interrupted.

mod cache;
mod caching;
mod check;
mod diff;
mod exit;
mod explain;
mod facts;
mod file;
mod fix;
mod kept;
mod lints;
mod log;
mod machine;
mod messages;
mod nodes;
mod ops;
mod plan;
mod progress;
mod project;
mod records;
mod revision;
mod run;
mod snapshot;
mod targets;
mod terminal;
mod why;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::exit::{Exit, Trouble};

// A plan is many small values, which the C library's allocator makes and merges slowly: with
// 100,000 stages planning takes half as long with this one (docs/scaling.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Compiles pipelines, says for every op whether the haul to a GPU is worth it, and runs them.
#[derive(Parser)]
#[command(name = "haul", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    Cache(cache::Args),
    Plan(plan::Args),
    Snapshot(snapshot::Args),
    Why(why::Args),
    Check(check::Args),
    Diff(diff::Args),
    Explain(explain::Args),
    Ops(ops::Args),
    Targets(targets::Args),
    Nodes(nodes::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = log::start().and_then(|()| run(&cli.command));
    let exit = outcome.unwrap_or_else(|Trouble(message)| {
        terminal::tell_error(&message);
        Exit::Trouble
    });
    exit.into()
}

fn run(command: &Command) -> Result<Exit, Trouble> {
    match command {
        Command::Run(args) => run::run(args),
        Command::Cache(args) => cache::run(args),
        Command::Plan(args) => plan::run(args),
        Command::Snapshot(args) => snapshot::run(args),
        Command::Why(args) => why::run(args),
        Command::Check(args) => check::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Ops(args) => ops::run(args),
        Command::Targets(args) => targets::run(args),
        Command::Nodes(args) => nodes::run(args),
    }
}
