//! The subscripts of einsum.

use haul_ir::op::{Attrs, Fault, InferError};

use super::labels::{Contraction, Label};

/// Labels from here on stand for the axes of `...`, counted from the last.
const ELLIPSIS: Label = 64;

/// One input's or the output's subscripts: letters, and where the axes of `...` stand.
struct Term {
    letters: Vec<Label>,
    ellipsis: Option<usize>,
}

pub(super) fn contraction(attrs: &Attrs, ranks: &[usize]) -> Result<Contraction, InferError> {
    let written: String = attrs.quoted("subscripts").unwrap_or_default().into();
    let written: String = written.split_whitespace().collect();
    let (inputs, output) = match written.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (&written[..], None),
    };
    let terms = inputs.split(',').map(term).collect::<Result<Vec<_>, _>>()?;
    if terms.len() != ranks.len() {
        let message = format!("subscripts of {} inputs for {}", terms.len(), ranks.len());
        return Err(mistake(message));
    }
    let mut named = Vec::new();
    let mut unnamed = 0;
    for (position, (term, rank)) in terms.iter().zip(ranks).enumerate() {
        let axes = rank.checked_sub(term.letters.len());
        let axes = axes
            .filter(|axes| *axes == 0 || term.ellipsis.is_some())
            .ok_or_else(|| {
                let message = format!("{} letters for {rank} axes", term.letters.len());
                mistake(message).on(position)
            })?;
        unnamed = unnamed.max(axes);
        named.push(term.labels(axes));
    }
    let output = match output {
        Some(output) => explicit(&term(output)?, &terms, unnamed)?,
        None => implicit(&terms, unnamed),
    };
    Ok(Contraction {
        inputs: named,
        output,
    })
}

/// The labels that are written, each of which an input has.
fn explicit(output: &Term, terms: &[Term], unnamed: usize) -> Result<Vec<Label>, InferError> {
    for (at, label) in output.letters.iter().enumerate() {
        let shown = letter(*label);
        if output.letters[..at].contains(label) {
            return Err(mistake(format!("the result names `{shown}` twice")));
        }
        if !terms.iter().any(|term| term.letters.contains(label)) {
            return Err(mistake(format!(
                "the result names `{shown}`, which no input has"
            )));
        }
    }
    Ok(output.labels(if output.ellipsis.is_some() {
        unnamed
    } else {
        0
    }))
}

/// The axes of `...` and then the letters that occur once, in alphabetical order.
fn implicit(terms: &[Term], unnamed: usize) -> Vec<Label> {
    let letters = || terms.iter().flat_map(|term| &term.letters);
    let once = |label: &&Label| letters().filter(|other| other == label).count() == 1;
    let mut single: Vec<_> = letters().filter(once).copied().collect();
    single.sort_unstable();
    let ellipsis = (0..unnamed).rev().map(|axis| ELLIPSIS + axis);
    ellipsis.chain(single).collect()
}

fn term(written: &str) -> Result<Term, InferError> {
    let (before, after) = match written.split_once("...") {
        Some((before, after)) => (before, Some(after)),
        None => (written, None),
    };
    let mut letters = Vec::new();
    for given in before.chars().chain(after.unwrap_or_default().chars()) {
        if !given.is_ascii_alphabetic() {
            return Err(mistake(format!("`{given}` is no letter")));
        }
        letters.push(given as Label - 'A' as Label);
    }
    Ok(Term {
        letters,
        ellipsis: after.map(|_| before.len()),
    })
}

impl Term {
    /// All labels, where `...` stands for so many axes.
    fn labels(&self, axes: usize) -> Vec<Label> {
        let (before, after) = self
            .letters
            .split_at(self.ellipsis.unwrap_or(self.letters.len()));
        let ellipsis = (0..axes).rev().map(|axis| ELLIPSIS + axis);
        before
            .iter()
            .copied()
            .chain(ellipsis)
            .chain(after.iter().copied())
            .collect()
    }
}

fn letter(label: Label) -> char {
    u8::try_from(label).map_or('?', |label| char::from(b'A' + label))
}

fn mistake(message: impl Into<String>) -> InferError {
    InferError::new(Fault::Value, message).on_attr("subscripts")
}
