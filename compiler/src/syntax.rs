//! Text to [`Ast`]: every mistake at once, each at its place, nothing looked up.

pub mod ast;

pub use ast::Ast;
