//! ONNX operators as formulas, a row each, by family.

mod attention;
mod elementwise;
mod linalg;
mod networks;
mod reduce;
mod shapes;
mod signal;
mod windows;

use super::node::{Converted, Node};

/// How an operator is written in haul.
pub(crate) enum Rule {
    /// A formula with one result: `{0}` is the first input, `{alpha=0.5}` the attribute `alpha`, a
    /// number, or its default.
    Formula(&'static str),
    /// What a formula does not say.
    Code(fn(&mut Node<'_, '_>) -> Converted),
    /// There is none, and why.
    Without(&'static str),
}

use Rule::{Code, Formula, Without};

/// A family of operators.
pub(crate) type Table = &'static [(&'static str, Rule)];

const TABLES: [Table; 8] = [
    elementwise::TABLE,
    shapes::TABLE,
    reduce::TABLE,
    linalg::TABLE,
    networks::TABLE,
    windows::TABLE,
    attention::TABLE,
    signal::TABLE,
];

/// Adds the lines of a node, and gives the names of its results.
pub(crate) fn convert(node: &mut Node<'_, '_>) -> Converted {
    let row = TABLES
        .iter()
        .copied()
        .flatten()
        .find(|row| row.0 == node.op());
    match row.map(|row| &row.1) {
        Some(Formula(formula)) => {
            let formula = filled(formula, node)?;
            node.give(formula)
        }
        Some(Code(code)) => code(node),
        Some(Without(reason)) => Err((*reason).to_owned()),
        None => Err("no row in the tables of the test".to_owned()),
    }
}

/// A formula with what stands for its braces.
fn filled(formula: &str, node: &mut Node<'_, '_>) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = formula;
    while let Some((before, after)) = rest.split_once('{') {
        let (inner, after) = after.split_once('}').expect("`}` closes a brace");
        text.push_str(before);
        match inner.split_once('=') {
            Some((name, default)) => {
                let default = default.parse().expect("a default is a number");
                text.push_str(&node.float(name, default).to_string());
            }
            None => text.push_str(&node.x(inner.parse().expect("the position of an input"))?),
        }
        rest = after;
    }
    Ok(text + rest)
}

/// A list as an author writes it: `[1, 2]`.
fn list(values: &[i64]) -> String {
    format!("{values:?}")
}
