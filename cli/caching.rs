//! What `haul run` takes from a cache and gives to it.

use std::env;
use std::path::PathBuf;

use clap::ValueEnum;
use haul_executor::{Cache, Caching, Keep};
use haul_ir::report::Report;

use crate::exit::Trouble;
use crate::file::File;
use crate::terminal;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Takes results of earlier runs from the cache, where nothing that they depend on has changed.
    #[arg(long)]
    resume: bool,
    /// Which results go into the cache.
    #[arg(long, value_name = "WHICH", default_value = "costly")]
    keep: Which,
    /// The folder of the cache; `.haul/cache` beside the pipeline file, if left out.
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Those that took much longer to compute than writing them takes.
    Costly,
    All,
    None,
}

impl Args {
    /// What a run of a pipeline does with its cache; nothing, where it has none.
    pub(crate) fn of(&self, file: &File) -> Result<Option<Caching>, Trouble> {
        if !self.resume && self.keep == Which::None {
            return Ok(None);
        }
        let unknown = |error| Trouble::new(format!("could not find the file of haul: {error}"));
        let program = env::current_exe().map_err(unknown)?;
        let keep = match self.keep {
            Which::Costly => Keep::Costly,
            Which::All => Keep::All,
            Which::None => Keep::Nothing,
        };
        let caching = Caching::new(self.cache(file), program).keeping(keep);
        let warn = |message: &str| terminal::tell(&format!("warning: {message}\n"));
        Ok(Some(caching.resuming(self.resume).warning(warn)))
    }

    /// Says that nothing could be taken, where somebody wanted it.
    pub(crate) fn tell(&self, report: &Report) {
        let is_none = report.stages.iter().all(|stage| stage.reused == 0);
        if self.resume && is_none {
            terminal::tell("the cache has no result that this run could take: all was computed\n");
        }
    }

    fn cache(&self, file: &File) -> Cache {
        match &self.cache {
            Some(folder) => Cache::new(folder.clone()),
            None => Cache::beside(&file.folder()),
        }
    }
}
