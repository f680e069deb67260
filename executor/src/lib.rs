//! Runs a plan on this machine: tasks, grants, memory, devices, files, outputs.
//!
//! It never decides anything that the plan decides: where an op runs, what is fused, what a
//! stage requests. What the plan asks for and the machine has not is an error, not a fallback.

mod bind;
mod cache;
mod cancel;
mod command;
mod device;
mod dispatch;
mod error;
mod fused;
mod grant;
mod inputs;
mod io;
mod machine;
mod mapping;
mod memory;
mod output;
mod paths;
mod pools;
mod preview;
mod program;
mod progress;
#[cfg_attr(not(feature = "remote"), path = "remote/absent.rs")]
mod remote;
mod run;
mod scalar;
mod schedule;
mod simulated;
mod skips;
mod stamp;
mod store;
mod strided;
mod table;
mod tally;
mod task;
mod tensor;
mod whole;
mod workers;

#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;

pub use cache::{Cache, Caching, Keep, Kept};
pub use cancel::Cancel;
pub use dispatch::{Dispatched, dispatch};
pub use error::{ErrorKind, IoError, Place, RunError};
pub use io::{files, header};
pub use machine::{EmulatedGpu, Machine};
pub use paths::Paths;
pub use progress::{Event, Observer, Silent};
pub use run::{Options, run};
pub use simulated::simulated;
