//! Text to plans, and what is made of plans.

mod cases;
mod codes;
mod diff;
mod facts;
mod formulas;
mod graphs;
mod hostile;
mod lints;
mod mutated;
mod placement;
mod planning;
mod project;
mod render;
mod rendering;
mod saved;
mod support;
mod target;
mod why;
