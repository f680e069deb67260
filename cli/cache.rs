//! `haul cache`: what the cache of a pipeline holds.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use haul_compiler::render::{Cell, Column, Table, units};
use haul_executor::{Cache, IoError, Kept};

use crate::exit::{Exit, Trouble};
use crate::{machine, terminal};

/// Lists the results that runs kept, cleans them away, or says how much they may take.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A pipeline file, or the folder of some; this folder, if left out.
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// The folder of the cache, where `haul run --cache` named one.
    #[arg(long, value_name = "DIR", conflicts_with = "path")]
    cache: Option<PathBuf>,
    /// Removes all results.
    #[arg(long)]
    clean: bool,
    /// What it may hold from now on, such as 20GiB; what was not used for longest is removed.
    #[arg(long, value_name = "AMOUNT", value_parser = machine::memory)]
    limit: Option<u64>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let cache = match &args.cache {
        Some(folder) => Cache::new(folder.clone()),
        None if args.path.is_dir() => Cache::beside(&args.path),
        None => Cache::beside(args.path.parent().unwrap_or(Path::new(""))),
    };
    let trouble = |error: IoError| Trouble::new(error.to_string());
    if let Some(bytes) = args.limit {
        cache.set_limit(bytes).map_err(trouble)?;
    }
    let text = match args.clean {
        true => {
            let freed = cache.clean().map_err(trouble)?;
            format!("freed {}\n", units::bytes(u128::from(freed)))
        }
        false => list(
            &cache.list(),
            cache.limit().map_err(trouble)?,
            cache.folder(),
        ),
    };
    terminal::print(&text)?;
    Ok(Exit::Fine)
}

/// A line for each stage, then the whole.
fn list(kept: &[Kept], limit: u64, folder: &Path) -> String {
    let held: u64 = kept.iter().map(|kept| kept.bytes).sum();
    let [held, limit] = [held, limit].map(|bytes| units::bytes(u128::from(bytes)));
    let whole = format!("{held} of at most {limit} in {}\n", folder.display());
    let mut stages: Vec<_> = kept.iter().collect();
    stages.sort_by(|a, b| name(a).cmp(&name(b)));
    let mut table = Table::new([
        Column::text("pipeline"),
        Column::text("stage"),
        Column::number("results"),
        Column::number("size"),
        Column::number("last used"),
    ]);
    for stage in stages.chunk_by(|a, b| name(a) == name(b)) {
        let bytes: u64 = stage.iter().map(|kept| kept.bytes).sum();
        let used = stage.iter().map(|kept| kept.used).max();
        table.row([
            Cell::from(stage[0].pipeline.as_str()),
            stage[0].stage.as_str().into(),
            stage.len().to_string().into(),
            units::bytes(u128::from(bytes)).into(),
            used.map_or_else(String::new, ago).into(),
        ]);
    }
    match kept.is_empty() {
        true => whole,
        false => table.print(terminal::colour()) + "\n" + &whole,
    }
}

fn name(kept: &Kept) -> (&str, &str) {
    (&kept.pipeline, &kept.stage)
}

/// How long ago that was, in the largest unit that counts it.
fn ago(time: SystemTime) -> String {
    let seconds = SystemTime::now()
        .duration_since(time)
        .map_or(0, |passed| passed.as_secs());
    match seconds {
        0..60 => format!("{seconds} s ago"),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}
