//! Runs of plans built by hand, and files of all formats.

mod files;
mod fused;
mod run;
mod sizes;
mod support;
