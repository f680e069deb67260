//! Text to plan, as a pure function.
//!
//! It reads no file, probes no hardware and knows no op by name: the catalogue of ops and
//! the target are values given to it, and the same values give the same bytes.

pub mod diagnostics;
pub mod render;
pub mod syntax;
pub mod target;
