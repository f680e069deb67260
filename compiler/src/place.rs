//! Which side each group runs on, and why.

mod cut;
mod flow;
