//! Runs of plans built by hand, and files of all formats.

#[cfg(feature = "arrow")]
mod columns;
mod emulated;
mod files;
mod fused;
#[cfg(feature = "remote")]
mod remote;
mod run;
mod sizes;
mod support;

#[cfg(not(feature = "arrow"))]
#[test]
#[ignore = "this build has neither Parquet nor Arrow: `--features arrow`"]
fn columns() {}

#[cfg(not(feature = "remote"))]
#[test]
#[ignore = "this build reaches no other machine: `--features remote`"]
fn remote() {}

/// Paths relative to a folder.
fn paths(folder: &std::path::Path) -> haul_executor::Paths {
    haul_executor::Paths::new(folder.to_owned(), haul_executor::Cancel::new())
}
