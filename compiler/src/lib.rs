//! Text to plan, as a pure function.
//!
//! It reads no file, probes no hardware and knows no op by name: the catalogue of ops and
//! the target are values given to it, and the same values give the same bytes.

mod check;
mod cost;
pub mod diagnostics;
pub mod diff;
pub mod events;
mod facts;
mod feasibility;
mod form;
mod infer;
pub mod measured;
mod mistakes;
mod ops;
mod pins;
mod place;
mod places;
mod plan;
pub mod policy;
pub mod project;
pub mod render;
mod resolve;
pub mod saved;
mod simplify;
mod simulate;
pub mod syntax;
pub mod target;
mod usage;

pub use self::check::{Checked, check, undeclared};
pub use self::facts::Facts;
pub use self::form::FileError;
pub use self::places::Places;
pub use self::plan::{Outcome, Planned, Refused, Verdict, plan, why};
pub use self::project::Project;
