//! What is used, so that what is not can be told.

use std::collections::HashSet;

use haul_ir::diagnostic::Diagnostic;

use super::Resolver;
use crate::diagnostics::codes::{UNUSED_INPUT, UNUSED_STAGE};
use crate::syntax::Ast;

/// What formulas and outputs use, by position in the file.
pub(super) struct Used<'a> {
    inputs: Vec<bool>,
    stages: Vec<bool>,
    /// Lines of stages that others ask for as `stage.name`.
    lines: HashSet<(usize, &'a str)>,
}

impl<'a> Used<'a> {
    pub(super) fn new(ast: &Ast) -> Self {
        Self {
            inputs: vec![false; ast.inputs.len()],
            stages: vec![false; ast.stages.len()],
            lines: HashSet::new(),
        }
    }

    pub(super) fn input(&mut self, position: usize) {
        self.inputs[position] = true;
    }

    pub(super) fn stage(&mut self, position: usize) {
        self.stages[position] = true;
    }

    pub(super) fn line(&mut self, stage: usize, name: &'a str) {
        self.lines.insert((stage, name));
    }

    /// Whether others ask for this line.
    pub(super) fn is_line_used(&self, stage: usize, name: &'a str) -> bool {
        self.lines.contains(&(stage, name))
    }
}

impl Resolver<'_> {
    /// Warnings of what nothing uses.
    pub(super) fn unused(&self) -> Vec<Diagnostic> {
        let mut warnings = Vec::new();
        for (input, used) in self.ast.inputs.iter().zip(&self.used.inputs) {
            if !used {
                let message = format!("nothing uses the input `{}`", input.name.value);
                warnings.push(Diagnostic::warning(UNUSED_INPUT, input.name.span, message));
            }
        }
        // Without outputs the last stage is what is shown.
        let shown = match self.ast.outputs.is_empty() {
            true => self.ast.stages.len().checked_sub(1),
            false => None,
        };
        for (position, stage) in self.ast.stages.iter().enumerate() {
            if !self.used.stages[position] && shown != Some(position) {
                let name = &stage.name.value;
                let message = format!("nothing uses the stage `{name}`");
                let help = format!("add an output with `from: \"{name}\"`, or remove it");
                let warning = Diagnostic::warning(UNUSED_STAGE, stage.name.span, message);
                warnings.push(warning.help(help));
            }
        }
        warnings
    }
}
