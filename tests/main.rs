//! Tests of the whole, through the binary.

mod cli;
mod docs;
mod generated;
mod pipelines;
mod purity;
mod run;
mod support;
mod tidy;
