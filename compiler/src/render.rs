//! Plans and reports as text: for people, and for version control.
//!
//! Pure: a value in, a string that ends in a newline out.

pub(crate) mod amounts;
mod changes;
pub(crate) mod choices;
mod compare;
pub(crate) mod devices;
mod dot;
mod drawing;
mod example;
mod html;
mod mermaid;
pub(crate) mod names;
pub(crate) mod report;
mod stage;
pub(crate) mod style;
mod table;
mod text;
mod totals;
pub mod units;
pub(crate) mod values;
mod verdicts;
mod why;

pub use changes::changes;
pub use compare::{Compared, comparison};
pub use dot::dot;
pub use example::example;
pub use html::html;
pub use mermaid::mermaid;
pub use names::op as op_name;
pub use names::{signature, visible};
pub use report::{preview, report, skipped};
pub use table::{Align, Cell, Column, Table, wrapped};
pub use text::{summary, text};
pub use verdicts::{verdicts, verdicts_json};
pub use why::{run as why_run, why};

/// Most columns that text for people takes.
pub const WIDTH: usize = 100;

/// Whether text for people carries ANSI colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Colour {
    Plain,
    Ansi,
}
