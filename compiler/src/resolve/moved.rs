//! Renames: from names that are gone to names that are there.

use std::collections::{HashMap, HashSet};

use haul_ir::diagnostic::Diagnostic;

use super::Resolver;
use crate::diagnostics::codes::{NOT_RENAMED, UNKNOWN_NAME};

impl Resolver<'_> {
    /// The field `moved`: each new name is of something in the file, of a line as `stage.line`,
    /// unless it was renamed once more; and of one kind of thing at least that none has the old
    /// name of.
    pub(super) fn moved(&mut self) -> Vec<(String, String)> {
        let ast = self.ast;
        if ast.moved.is_empty() {
            return Vec::new();
        }
        let there = self.kinds();
        let gone: HashSet<_> = ast.moved.iter().map(|moved| &moved.from.value).collect();
        for moved in &ast.moved {
            let (from, to) = (&moved.from, &moved.to);
            let (was, is) = (there.get(&from.value), there.get(&to.value));
            // A name that was renamed once more is there under the last one.
            if is.is_none() && !gone.contains(&to.value) {
                let message = format!("nothing here is called `{}`", to.value);
                let mistake = Diagnostic::error(UNKNOWN_NAME, to.span, message);
                let names = there.keys().map(String::as_str);
                self.mistakes.report_unknown(mistake, &to.value, names);
            }
            let Some(was) = was else { continue };
            let is_line = |kinds: &HashSet<_>| kinds.contains("line");
            if is.is_none_or(|is| is.is_subset(was) || is_line(is) != is_line(was)) {
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

    /// All names in the file, of lines as `stage.line`, each with the kinds of what is called so.
    fn kinds(&self) -> HashMap<String, HashSet<&'static str>> {
        let ast = self.ast;
        let mut kinds: HashMap<String, HashSet<&'static str>> = HashMap::new();
        let mut add = |kind, name: &str| {
            kinds.entry(name.to_owned()).or_default().insert(kind);
        };
        let sizes = self.graph.dims.keys();
        sizes.for_each(|size| add("dim", size.name()));
        let dims = ast.dims.iter();
        dims.for_each(|dim| add("dim", &dim.name.value));
        let params = ast.params.iter();
        params.for_each(|param| add("param", &param.name.value));
        let inputs = ast.inputs.iter();
        inputs.for_each(|input| add("input", &input.name.value));
        let functions = ast.functions.iter();
        functions.for_each(|function| add("function", &function.name.value));
        let outputs = ast.outputs.iter();
        outputs.for_each(|output| add("output", &output.name.value));
        for stage in &ast.stages {
            let stage_name = &stage.name.value;
            add("stage", stage_name);
            let lines = stage.body.iter().flat_map(|body| &body.statements);
            let targets = lines.flat_map(|line| &line.targets);
            targets.for_each(|target| add("line", &format!("{stage_name}.{}", target.value)));
        }
        kinds
    }
}
