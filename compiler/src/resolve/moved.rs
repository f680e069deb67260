//! Renames: from names that are gone to names that are there.

use std::collections::HashSet;

use haul_ir::diagnostic::Diagnostic;

use super::Resolver;
use crate::diagnostics::codes::{NOT_RENAMED, UNKNOWN_NAME};
use crate::syntax::Ast;

impl Resolver<'_> {
    /// The field `moved`: each new name is of a stage, or of a line as `stage.line`, unless it was
    /// renamed once more; no old name is any more.
    pub(super) fn moved(&mut self) -> Vec<(String, String)> {
        let ast = self.ast;
        if ast.moved.is_empty() {
            return Vec::new();
        }
        let there = names(ast);
        let gone: HashSet<_> = ast.moved.iter().map(|moved| &moved.from.value).collect();
        for moved in &ast.moved {
            let (from, to) = (&moved.from, &moved.to);
            // A name that was renamed once more is there under the last one.
            if !there.contains(&to.value) && !gone.contains(&to.value) {
                let message = format!("there is no stage or line `{}`", to.value);
                let mistake = Diagnostic::error(UNKNOWN_NAME, to.span, message);
                let names = there.iter().map(String::as_str);
                self.mistakes.report_unknown(mistake, &to.value, names);
            }
            if there.contains(&from.value) {
                let message = format!("`{}` is still there: it has not been renamed", from.value);
                let mistake = Diagnostic::error(NOT_RENAMED, from.span, message);
                let help = format!("write the name that `{}` had before", to.value);
                self.mistakes.report(mistake.help(help));
            }
        }
        let moved = ast.moved.iter();
        moved
            .map(|moved| (moved.from.value.clone(), moved.to.value.clone()))
            .collect()
    }
}

/// The names of all stages, and of their lines as `stage.line`.
fn names(ast: &Ast) -> HashSet<String> {
    let mut names = HashSet::new();
    for stage in &ast.stages {
        let stage_name = &stage.name.value;
        names.insert(stage_name.clone());
        let lines = stage.body.iter().flat_map(|body| &body.statements);
        let targets = lines.flat_map(|line| &line.targets);
        names.extend(targets.map(|target| format!("{stage_name}.{}", target.value)));
    }
    names
}
