//! Logs on stderr, for those who set `HAUL_LOG` or `RUST_LOG`: which targets, and at which level.

use std::env;
use std::io;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::exit::Trouble;

/// The variables that ask for logs; the first that is set and not empty holds.
const VARIABLES: [&str; 2] = ["HAUL_LOG", "RUST_LOG"];

/// Logs from now on, where that was asked for.
///
/// # Errors
/// What is asked for is nothing that can be.
pub(crate) fn start() -> Result<(), Trouble> {
    let Some((variable, asked)) = asked() else {
        return Ok(());
    };
    let targets: Targets = asked.parse().map_err(|error| {
        let help = "it is a level such as `debug`, or `TARGET=LEVEL` with commas between";
        Trouble::new(format!("{variable}={asked}: {error}\n{help}"))
    })?;
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(io::stderr);
    tracing_subscriber::registry()
        .with(lines)
        .with(targets)
        .init();
    Ok(())
}

/// Whether logs were asked for.
pub(crate) fn is_on() -> bool {
    asked().is_some()
}

fn asked() -> Option<(&'static str, String)> {
    let mut asked = VARIABLES
        .iter()
        .filter_map(|name| Some((*name, env::var(name).ok()?)));
    asked.find(|(_, asked)| !asked.is_empty())
}
