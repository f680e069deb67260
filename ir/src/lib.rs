//! The words of haul as plain values that print: types, graph, op trait and catalogue,
//! target, costs, placement, plan, report, diagnostics.
//!
//! It never does I/O, starts a thread, reads a clock or derives a saved form: files and
//! their formats live at the edges, in the crates around this one.

pub mod column;
pub mod command;
pub mod cost;
pub mod csv;
pub mod diagnostic;
pub mod dtype;
pub mod expr;
pub mod format;
pub mod graph;
pub mod id;
pub mod jsonl;
pub mod location;
pub mod op;
pub mod philox;
pub mod plan;
pub mod report;
pub mod rows;
pub mod target;
pub mod tensor;
pub mod types;
