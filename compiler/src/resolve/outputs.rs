//! Outputs: what they take, and where to.

use std::collections::HashMap;

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::location::Location;

use super::{Each, Operand, Output, Resolver, plain as plain_file};
use crate::diagnostics::codes::{
    ITEM_IN_PATH, NOWHERE, OUTSIDE, RESULTS, SAME_PATH, SINK, UNKNOWN_NAME,
};
use crate::resolve::names::Global;
use crate::syntax::ast::{self, Reference, SourceKind};

/// What stands for an item's name in the path of an output.
const ITEM: &str = "{item}";

impl<'a> Resolver<'a> {
    pub(super) fn outputs(&mut self) -> Vec<Output> {
        let ast = self.ast;
        let mut paths: HashMap<String, Span> = HashMap::new();
        let mut outputs = Vec::new();
        for output in &ast.outputs {
            let Some(sink) = &output.sink else { continue };
            self.check_path(sink, &mut paths);
            let Some((operand, each)) = self.from(&sink.from) else {
                continue;
            };
            let Operand::Value(value) = operand else {
                continue;
            };
            self.check_item(sink, each);
            self.places.outputs.push(output.name.span);
            outputs.push(Output {
                name: output.name.value.clone(),
                sink: plain_file(&sink.file),
                value,
                settings: sink.file.settings.clone(),
                from: place(&sink.from),
            });
        }
        outputs
    }

    fn check_path(&mut self, sink: &ast::Sink, paths: &mut HashMap<String, Span>) {
        let (written, span) = (&sink.file.path.value, sink.file.path.span);
        let location = self.location(&sink.file.path);
        let is_outside = match location {
            Some(Location::File(path)) => {
                path.starts_with('/') || path.split('/').any(|part| part == "..")
            }
            Some(Location::Web(_)) => {
                let mistake = Diagnostic::error(NOWHERE, span, "a web server takes no files");
                let help = "write to a file, or to a bucket: `s3://bucket/key`, `gs://bucket/key`";
                self.mistakes.report(mistake.help(help));
                false
            }
            Some(Location::Object(_)) | None => false,
        };
        if is_outside {
            let message = format!("`{written}` may lie outside the folder of the pipeline");
            let help = "write a path below that folder, without `..`, such as `out/result.npy`";
            let mistake = Diagnostic::error(OUTSIDE, span, message);
            self.mistakes.report(mistake.help(help));
        }
        if !sink.file.format.is_written_as(written) {
            let (name, ending) = (sink.file.format.name, sink.file.format.written_as[0]);
            let message = format!("`{name}` writes .{ending} files");
            let mistake = Diagnostic::error(SINK, span, message);
            self.mistakes
                .report(mistake.help(format!("end the path in `.{ending}`")));
        }
        let path = plain(written);
        if let Some((name, read)) = self.read_from(&path) {
            let message = format!("`{written}` is also the file that input `{name}` reads");
            let mistake = Diagnostic::error(SAME_PATH, span, message);
            self.mistakes.report(mistake.label(read, "read here"));
        }
        if let Some(other) = paths.insert(path, span) {
            let message = format!("two outputs are written to `{written}`");
            let mistake = Diagnostic::error(SAME_PATH, span, message);
            self.mistakes.report(mistake.label(other, "the other one"));
        }
    }

    /// The input that reads a file, and where it says so.
    fn read_from(&self, path: &str) -> Option<(&'a str, Span)> {
        let of = |source: &'a ast::Source| match &source.kind {
            SourceKind::File(file) => Some(&file.path),
            _ => None,
        };
        self.ast.inputs.iter().find_map(|input| {
            let file = input.source.as_ref().and_then(of)?;
            (plain(&file.value) == path).then_some((input.name.value.as_str(), file.span))
        })
    }

    fn check_item(&mut self, sink: &ast::Sink, each: Each) {
        let has_item = sink.file.path.value.contains(ITEM);
        let (message, help) = match each {
            Each::Over(collection) if !has_item => {
                let name = &self.graph.collections[collection].name;
                let message = format!("each item of `{name}` would be written to the same path");
                (
                    message,
                    format!("add `{ITEM}`, which stands for the item's name"),
                )
            }
            Each::Once if has_item => {
                let message = format!("`{ITEM}` is in the path, but this is one value");
                (message, format!("leave `{ITEM}` out"))
            }
            _ => return,
        };
        self.mistakes
            .report(Diagnostic::error(ITEM_IN_PATH, sink.file.path.span, message).help(help));
    }

    /// What an output takes, and what that runs over.
    fn from(&mut self, from: &'a Reference) -> Option<(Operand, Each)> {
        let stage = &from.stage;
        let position = match self.names.get(&stage.value) {
            Some(Global::Stage(position)) => position,
            Some(other) => {
                let message = format!("`{}` is {}, not a stage", stage.value, other.kind());
                let mistake = Diagnostic::error(UNKNOWN_NAME, stage.span, message);
                self.mistakes
                    .report(mistake.help("an output takes what a stage computes"));
                return None;
            }
            None => {
                let message = format!("there is no stage `{}`", stage.value);
                let mistake = Diagnostic::error(UNKNOWN_NAME, stage.span, message);
                let stages = self
                    .ast
                    .stages
                    .iter()
                    .map(|stage| stage.name.value.as_str());
                self.mistakes.report_unknown(mistake, &stage.value, stages);
                return None;
            }
        };
        self.used.stage(position);
        let exports = self.exports[position].as_ref()?;
        let Some(line) = &from.name else {
            if let Some((first, second)) = exports.several {
                let message = format!("the stage `{}` ends with several results", stage.value);
                let help = format!("say which: `{0}.{first}`, `{0}.{second}`", stage.value);
                self.mistakes
                    .report(Diagnostic::error(RESULTS, stage.span, message).help(help));
                return None;
            }
            return Some((exports.value.clone(), exports.each));
        };
        let found = exports.lines.get(line.value.as_str()).cloned();
        if found.is_none() && self.ast.stages[position].body.is_some() {
            let message = format!("the stage `{}` has no line `{}`", stage.value, line.value);
            let mistake = Diagnostic::error(UNKNOWN_NAME, line.span, message);
            let lines: Vec<_> = exports.lines.keys().copied().collect();
            self.mistakes.report_unknown(mistake, &line.value, lines);
        }
        Some((found?, exports.each))
    }
}

fn place(from: &Reference) -> Span {
    match &from.name {
        Some(name) => from.stage.span.to(name.span),
        None => from.stage.span,
    }
}

/// Two ways to write one path are one path.
fn plain(path: &str) -> String {
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    parts.collect::<Vec<_>>().join("/")
}
