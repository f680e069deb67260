//! The parts of a pipeline file, field by field.

use std::collections::HashMap;

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::format::{FORMATS, Format};
use haul_ir::graph::Failure;

use super::ast::{
    Ast, Dim, File, Function, Moved, Name, Output, Param, Place, Reference, Request, Side, Sink,
    Spanned, Stage,
};
use super::edits;
use super::formula;
use super::reader::{Fields, Reader};
use super::strings::Content;
use super::tree::{Node, NodeKind};
use crate::diagnostics::codes::{MISSING_FIELD, NOT_A_NAME, REPEATED, UNKNOWN_FIELD, VERSION};
use crate::diagnostics::suggest::did_you_mean;

/// The version of the format.
const FORMAT: u64 = 1;

/// The sides that can be written.
const SIDES: [(&str, Side); 3] = [("Auto", Side::Auto), ("Cpu", Side::Cpu), ("Gpu", Side::Gpu)];

impl Reader<'_> {
    /// The whole file; nothing when it is no pipeline at all.
    pub(super) fn pipeline(&mut self, root: &Node) -> Option<Ast> {
        let mut fields = match &root.kind {
            NodeKind::Struct(Some(name), entries) if self.written(*name) == "Pipeline" => {
                Fields::new(entries, *name, "the pipeline")
            }
            _ => return self.wrong(root, "`Pipeline( … )`"),
        };
        let version = self.required(&mut fields, "version");
        let dims = self.optional(&mut fields, "dims");
        let params = self.optional(&mut fields, "params");
        let inputs = self.optional(&mut fields, "inputs");
        let functions = self.optional(&mut fields, "functions");
        let stages = self.required(&mut fields, "stages");
        let outputs = self.optional(&mut fields, "outputs");
        let moved = self.optional(&mut fields, "moved");
        self.finish(fields);
        if let Some(version) = version {
            self.version(version);
        }
        Some(Ast {
            dims: self.dims(dims),
            params: self.params(params),
            inputs: self.inputs(inputs),
            functions: self.functions(functions),
            stages: self.stages(stages),
            outputs: self.outputs(outputs),
            moved: self.moved(moved),
        })
    }

    fn version(&mut self, node: &Node) {
        let Some(Spanned { value, span }) = self.count(node) else {
            return;
        };
        if value != FORMAT {
            let message = format!("this haul reads version {FORMAT} of the format, not {value}");
            self.report(VERSION, span, message);
        }
    }

    fn dims(&mut self, node: Option<&Node>) -> Vec<Dim> {
        let entries = self.named_entries(node, "a map from names to sizes");
        entries
            .into_iter()
            .map(|(name, node)| self.dim(name, node))
            .collect()
    }

    fn dim(&mut self, name: Name, node: &Node) -> Dim {
        let Some(mut fields) = self.fields(node, "a dim") else {
            return Dim {
                name,
                plan: None,
                max: None,
            };
        };
        let plan = self.optional(&mut fields, "plan");
        let max = self.optional(&mut fields, "max");
        self.finish(fields);
        let plan = plan.and_then(|plan| self.count(plan));
        Dim {
            name,
            plan,
            max: max.and_then(|max| self.count(max)),
        }
    }

    fn params(&mut self, node: Option<&Node>) -> Vec<Param> {
        let entries = self.named_entries(node, "a map from names to numbers");
        let param = |(name, node)| Param {
            name,
            value: self.exact(node),
        };
        entries.into_iter().map(param).collect()
    }

    fn functions(&mut self, node: Option<&Node>) -> Vec<Function> {
        let (mut functions, mut first) = (Vec::new(), HashMap::new());
        for (key, node) in self.entries(node, "a map from functions to formulas") {
            let body = self.formula(node);
            let content = Content::of_name(&key);
            let Some((name, parameters)) = formula::signature(&content, &mut self.mistakes) else {
                continue;
            };
            formula::check_name(&name.value, name.span, &mut self.mistakes);
            let before = *first.entry(name.value.clone()).or_insert(name.span);
            if before == name.span {
                functions.push(Function {
                    name,
                    parameters,
                    body,
                });
                continue;
            }
            let message = format!("function `{}` is there twice", name.value);
            let mistake = Diagnostic::error(REPEATED, name.span, message);
            self.mistakes.push(mistake.label(before, "first here"));
        }
        functions
    }

    fn stages(&mut self, node: Option<&Node>) -> Vec<Stage> {
        let entries = self.named_entries(node, "a map from names to stages");
        entries
            .into_iter()
            .map(|(name, node)| self.stage(name, node))
            .collect()
    }

    fn stage(&mut self, name: Name, node: &Node) -> Stage {
        let place = Place::Stage(Spanned::new(Side::Auto, name.span));
        let request = Request {
            span: node.span,
            ..Request::default()
        };
        let span = node.span;
        let mut stage = Stage {
            name,
            each: None,
            body: None,
            request,
            any_of: None,
            place,
            failure: Failure::default(),
            span,
        };
        let Some(mut fields) = self.fields(node, "a stage") else {
            return stage;
        };
        let each = self.optional(&mut fields, "each");
        let program = self.program(&mut fields);
        stage.body = self.body(&mut fields, &program);
        stage.request = self.request(&mut fields, node.span);
        let any_of = self.optional(&mut fields, "any_of");
        let place = self.optional(&mut fields, "place");
        self.finish(fields);
        stage.each = each.and_then(|each| self.string(each));
        stage.failure = self.failure(&program);
        stage.any_of = any_of.and_then(|any_of| self.any_of(any_of));
        if let Some(place) = place.and_then(|place| self.place(place)) {
            stage.place = place;
        }
        stage
    }

    /// The fields of a request, which are some of `fields`.
    fn request(&mut self, fields: &mut Fields<'_>, span: Span) -> Request {
        let cpus = self.optional(fields, "cpus");
        let memory = self.optional(fields, "memory");
        let gpus = self.optional(fields, "gpus");
        let gpu_type = self.optional(fields, "gpu_type");
        let vram = self.optional(fields, "vram");
        Request {
            cpus: cpus.and_then(|node| self.float(node)),
            memory: memory.and_then(|node| self.bytes(node)),
            gpus: gpus.and_then(|node| self.float(node)),
            gpu_type: gpu_type.and_then(|node| self.string(node)),
            vram: vram.and_then(|node| self.bytes(node)),
            span,
            fields: self.request_fields(fields, span.start),
        }
    }

    fn any_of(&mut self, node: &Node) -> Option<Spanned<Vec<Request>>> {
        let mut requests = Vec::new();
        let items = self.items(node, "a list of requests")?;
        for (item, parts) in items.iter().zip(edits::items(self.text, items)) {
            let Some(mut fields) = self.fields(item, "a request") else {
                continue;
            };
            let mut request = self.request(&mut fields, item.span);
            request.fields.any_of_parts = parts;
            requests.push(request);
            self.finish(fields);
        }
        Some(Spanned::new(requests, node.span))
    }

    fn place(&mut self, node: &Node) -> Option<Place> {
        if !matches!(node.kind, NodeKind::Map(_)) {
            return Some(Place::Stage(self.side(node)?));
        }
        let entries = self.entries(Some(node), "a map from names to sides");
        let sides = entries
            .into_iter()
            .filter_map(|(name, node)| Some((name, self.side(node)?)));
        Some(Place::Names(sides.collect()))
    }

    fn side(&mut self, node: &Node) -> Option<Spanned<Side>> {
        let written = self.written(node.span);
        if let Some((_, side)) = SIDES.into_iter().find(|(name, _)| *name == written) {
            return Some(Spanned::new(side, node.span));
        }
        if !matches!(node.kind, NodeKind::Scalar) {
            return self.wrong(node, "`Auto`, `Cpu` or `Gpu`");
        }
        let names = SIDES.map(|(name, _)| name);
        let mistake = Diagnostic::error(UNKNOWN_FIELD, node.span, format!("no side `{written}`"));
        self.mistakes
            .push(did_you_mean(mistake, node.span, written, names));
        None
    }

    fn outputs(&mut self, node: Option<&Node>) -> Vec<Output> {
        let entries = self.entries(node, "a map from names to sinks");
        let output = |(name, node)| Output {
            name,
            sink: self.sink(node),
        };
        entries.into_iter().map(output).collect()
    }

    fn sink(&mut self, node: &Node) -> Option<Sink> {
        let formats = FORMATS.iter().filter(|format| format.output.is_some());
        let names: Vec<_> = formats.map(|format| format.name).collect();
        let (name, mut fields) = self.kind(node, "sink", &names)?;
        let format = Format::find(name)?;
        let path = self.required(&mut fields, "path");
        let from = self.required(&mut fields, "from");
        let settings = self.settings(&mut fields, format.output);
        self.finish(fields);
        let path = path.and_then(|path| self.string(path));
        let from = from.and_then(|from| self.reference(from));
        let file = File {
            format,
            path: path?,
            settings: settings?,
        };
        Some(Sink {
            file,
            from: from?,
            span: node.span,
        })
    }

    fn reference(&mut self, node: &Node) -> Option<Reference> {
        let mut parts = self.path(node)?.into_iter();
        let reference = Reference {
            stage: parts.next()?,
            name: parts.next(),
        };
        if let Some(more) = parts.next() {
            let message = "this is more than a stage and a name of its formula";
            self.report(NOT_A_NAME, more.span, message);
            return None;
        }
        Some(reference)
    }

    fn moved(&mut self, node: Option<&Node>) -> Vec<Moved> {
        let entries = self.entries(node, "a map from old names to new names");
        let moved = |(from, node)| {
            Some(Moved {
                from,
                to: self.string(node)?,
            })
        };
        entries.into_iter().filter_map(moved).collect()
    }

    /// The kind and fields of `Kind( … )`, where a kind of `what` is expected.
    pub(super) fn kind<'n>(
        &mut self,
        node: &'n Node,
        what: &str,
        kinds: &[&'static str],
    ) -> Option<(&'static str, Fields<'n>)> {
        let (name, entries) = match &node.kind {
            NodeKind::Struct(Some(name), entries) => (*name, entries.as_slice()),
            NodeKind::Tuple(Some(name)) => (*name, [].as_slice()),
            NodeKind::Struct(None, _) => {
                let head = Span::new(node.span.start, node.span.start + 1);
                let mistake =
                    Diagnostic::error(MISSING_FIELD, head, format!("this {what} has no kind"));
                self.mistakes
                    .push(did_you_mean(mistake, head, "", kinds.iter().copied()));
                return None;
            }
            _ => return self.wrong(node, &format!("a {what} such as `{}( … )`", kinds[0])),
        };
        let written = self.written(name);
        let Some(kind) = kinds.iter().find(|kind| **kind == written) else {
            let message = format!("there is no {what} `{written}`");
            let mistake = Diagnostic::error(UNKNOWN_FIELD, name, message);
            self.mistakes
                .push(did_you_mean(mistake, name, written, kinds.iter().copied()));
            return None;
        };
        if matches!(node.kind, NodeKind::Tuple(..)) {
            return self.wrong(node, &format!("`{kind}( … )` with names before the values"));
        }
        Some((kind, Fields::new(entries, name, &format!("`{kind}`"))))
    }
}
