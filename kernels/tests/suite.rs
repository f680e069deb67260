//! Kernels against independent truth.

mod accuracy;
mod csv;
mod determinism;
mod elementwise;
mod inference;
mod layouts;
mod moves;
mod places;
mod reductions;
mod reference;
mod refusals;
mod shapes;
mod support;
mod tables;
mod work;
