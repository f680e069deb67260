//! Tests of the whole, through the binary.

mod action;
mod cli;
mod command;
mod conformance;
mod diff;
mod docs;
mod emulated;
mod examples;
mod fix;
mod generated;
mod io;
mod limits;
mod pipelines;
mod purity;
mod records;
#[cfg(feature = "remote")]
mod remote;
mod resume;
mod review;
mod run;
mod skips;
mod snapshots;
mod support;
mod tidy;

#[cfg(not(feature = "remote"))]
#[test]
#[ignore = "this build reaches no other machine: `--features remote`"]
fn remote() {}
