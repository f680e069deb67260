//! Stages: what they run over, their lines, what they give to others.

use std::collections::{HashMap, HashSet};

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::graph::Pin;
use haul_ir::id::{Id, InputId};
use haul_ir::op::Weak;
use haul_ir::types::ValueType;

use super::attributes::defaults;
use super::formula::Scope;
use super::names::Global;
use super::order::order;
use super::{Each, InputState, Node, Operand, Origin, Resolver, Stage, Statement, ValueRef, Wish};
use crate::diagnostics::codes::{
    COLLECTION, KIND_OF_VALUE, NO_COLLECTION, UNKNOWN_NAME, UNNAMED_LINE,
};
use crate::ops::COPY;
use crate::syntax::ast::{self, Formula, Name, Place, Side, Spanned};

/// What a stage gives to others.
pub(super) struct Exports<'a> {
    pub(super) each: Each,
    /// The value named after the stage.
    pub(super) value: Operand,
    /// The names of its last line, where there are several: then the stage has no one value.
    pub(super) several: Option<(&'a str, &'a str)>,
    /// Its lines by name.
    pub(super) lines: HashMap<&'a str, Operand>,
}

impl<'a> Resolver<'a> {
    pub(super) fn stages(&mut self) {
        let (order, circular) = order(self.ast, &self.names, &mut self.used, self.mistakes);
        self.circular = circular;
        for position in order {
            self.stage(position);
        }
        self.each = Each::Once;
    }

    fn stage(&mut self, position: usize) {
        let ast: &'a ast::Stage = &self.ast.stages[position];
        self.each = self.each_of(ast);
        let (requests, request_spans) = self.requests(ast);
        let mut exports = Exports {
            each: self.each,
            value: Operand::Unknown,
            several: None,
            lines: HashMap::new(),
        };
        let mut statements = Vec::new();
        if let Some(formula) = &ast.body {
            let wishes = self.wishes(ast, formula);
            statements = self.lines(position, formula, &wishes, &mut exports);
        }
        self.stages.push(Stage {
            name: ast.name.clone(),
            each: self.each.collection(),
            requests,
            request_spans,
            request_fields: Resolver::request_fields(ast),
            failure: ast.failure,
            statements,
            value: exports.value.clone(),
        });
        self.exports[position] = Some(exports);
    }

    fn lines(
        &mut self,
        position: usize,
        formula: &'a Formula,
        wishes: &Wishes<'a>,
        exports: &mut Exports<'a>,
    ) -> Vec<Statement> {
        let stage = &self.ast.stages[position].name.value;
        let mut scope = Scope::of_stage();
        let mut statements = Vec::new();
        let first_node = self.nodes.len();
        let last = formula.statements.len().saturating_sub(1);
        for (line, ast) in formula.statements.iter().enumerate() {
            let start = self.nodes.len();
            let mut value = self.line(ast, &mut scope);
            if line == last || ast.targets.iter().any(|name| self.is_used(position, name)) {
                value = self.exported(value, first_node, ast.value.span);
            }
            if ast.targets.is_empty() && line != last {
                self.refuse_unnamed(ast);
            }
            for (name, operand) in results(ast, &value) {
                exports.lines.insert(name, operand);
            }
            if line == last {
                exports.value = value.clone();
                exports.several = several(ast);
            }
            let names = match ast.targets.as_slice() {
                [] => vec![stage.clone()],
                names => names.iter().map(|name| name.value.clone()).collect(),
            };
            statements.push(Statement {
                wish: wishes.of(&names),
                names,
                nodes: start..self.nodes.len(),
                value,
            });
        }
        statements
    }

    fn is_used(&self, stage: usize, name: &'a Name) -> bool {
        self.used.is_line_used(stage, &name.value)
    }

    fn refuse_unnamed(&mut self, line: &ast::Statement) {
        if matches!(line.value.kind, ast::ExprKind::Error) {
            return;
        }
        let message = "nothing can use this value: only the last line may be without a name";
        let mistake = Diagnostic::error(UNNAMED_LINE, line.value.span, message);
        self.mistakes
            .report(mistake.help("write `name = …`, or remove the line"));
    }

    /// A value that leaves the stage: a tensor that the stage itself makes.
    fn exported(&mut self, value: Operand, first_node: usize, span: Span) -> Operand {
        match value {
            Operand::Value(ValueRef::Node(node, _)) if node.index() >= first_node => value,
            Operand::Value(ValueRef::Input(input)) if self.is_text(input) => {
                let message = "a stage gives tensors, this is text";
                let mistake = Diagnostic::error(KIND_OF_VALUE, span, message);
                self.mistakes
                    .report(mistake.help("read it with an op such as `parse_csv`"));
                Operand::Unknown
            }
            Operand::Value(_) => self.emit_plain(COPY, value, span),
            Operand::Scalar(ref scalar) => {
                let dtype = match scalar.weak() {
                    Weak::Int => "i64",
                    Weak::Float => "f64",
                };
                self.emit_plain(dtype, value, span)
            }
            Operand::Items(..) => {
                let message = "this is a whole collection, not one value";
                let mistake = Diagnostic::error(COLLECTION, span, message);
                self.mistakes
                    .report(mistake.help("make one value of it, such as `gather(x)`"));
                Operand::Unknown
            }
            Operand::Unknown => value,
        }
    }

    fn is_text(&self, input: InputId) -> bool {
        self.graph.values[self.graph.inputs[input].value].ty == ValueType::Text
    }

    /// A call of an op that the language itself stands on.
    fn emit_plain(&mut self, op: &'static str, value: Operand, span: Span) -> Operand {
        let Some(op) = self.find_op(op, span) else {
            return Operand::Unknown;
        };
        let node = Node {
            op,
            args: vec![value],
            attrs: defaults(op),
            results: 1,
            origin: Origin {
                whole: span,
                at: span,
                written: op.name(),
                is_operator: true,
                args: vec![span],
                attrs: Vec::new(),
                call: None,
            },
        };
        self.push(node)
    }

    fn each_of(&mut self, stage: &ast::Stage) -> Each {
        let Some(each) = &stage.each else {
            return Each::Once;
        };
        let (found, what) = match self.names.get(&each.value) {
            Some(Global::Input(position)) => {
                self.used.input(position);
                let InputState::Known(input) = self.inputs[position] else {
                    return Each::Unknown;
                };
                let collection = self.graph.inputs[input].collection;
                (
                    collection.map_or(Each::Once, Each::Over),
                    "an input of one value",
                )
            }
            Some(Global::Stage(position)) => {
                self.used.stage(position);
                let exports = self.exports[position].as_ref();
                let each = exports.map_or(Each::Unknown, |exports| exports.each);
                (each, "a stage without `each`")
            }
            Some(Global::Param(_)) => (Each::Once, "a param"),
            Some(Global::Dim) => (Each::Once, "a dim"),
            None => {
                let message = format!("there is no collection `{}`", each.value);
                let mistake = Diagnostic::error(UNKNOWN_NAME, each.span, message);
                let candidates = collections(self.ast);
                self.mistakes
                    .report_unknown(mistake, &each.value, candidates);
                return Each::Unknown;
            }
        };
        if found != Each::Once {
            return found;
        }
        let message = format!("`{}` is {what}: there is nothing to run over", each.value);
        let mistake = Diagnostic::error(NO_COLLECTION, each.span, message);
        let help = "remove `each`, or name a `Files` or `Split` input, or a stage with `each`";
        self.mistakes.report(mistake.help(help));
        Each::Unknown
    }

    /// The field `place`; each name in it is one of the formula.
    fn wishes(&mut self, stage: &'a ast::Stage, formula: &'a Formula) -> Wishes<'a> {
        let wishes = match &stage.place {
            Place::Stage(side) => return Wishes::All(wish(side)),
            Place::Names(wishes) => wishes,
        };
        let targets = formula.statements.iter().flat_map(|line| &line.targets);
        let mut names: HashSet<&str> = targets.map(|name| name.value.as_str()).collect();
        if formula
            .statements
            .last()
            .is_some_and(|line| line.targets.is_empty())
        {
            names.insert(&stage.name.value);
        }
        for (name, _) in wishes {
            if !names.contains(name.value.as_str()) {
                let message = format!("the formula has no line `{}`", name.value);
                let mistake = Diagnostic::error(UNKNOWN_NAME, name.span, message);
                self.mistakes
                    .report_unknown(mistake, &name.value, names.iter().copied());
            }
        }
        let named = wishes
            .iter()
            .map(|(name, side)| (name.value.as_str(), wish(side)));
        Wishes::Named(named.collect())
    }
}

/// Each name of a line with what it stands for.
pub(super) fn results<'a>(line: &'a ast::Statement, value: &Operand) -> Vec<(&'a str, Operand)> {
    let result = |(position, name): (usize, &'a Name)| {
        let operand = match value {
            Operand::Value(ValueRef::Node(node, _)) if line.targets.len() > 1 => {
                Operand::Value(ValueRef::Node(*node, position))
            }
            other => other.clone(),
        };
        (name.value.as_str(), operand)
    };
    line.targets.iter().enumerate().map(result).collect()
}

fn several(line: &ast::Statement) -> Option<(&str, &str)> {
    match line.targets.as_slice() {
        [first, second, ..] => Some((&first.value, &second.value)),
        _ => None,
    }
}

/// The field `place` of a stage.
enum Wishes<'a> {
    All(Wish),
    Named(HashMap<&'a str, Wish>),
}

impl Wishes<'_> {
    /// The side for a line with these names.
    fn of(&self, names: &[String]) -> Wish {
        match self {
            Wishes::All(wish) => *wish,
            Wishes::Named(wishes) => {
                let wish = names.iter().find_map(|name| wishes.get(name.as_str()));
                wish.copied().unwrap_or_default()
            }
        }
    }
}

fn wish(side: &Spanned<Side>) -> Wish {
    let pin = match side.value {
        Side::Auto => return Wish::default(),
        Side::Cpu => Pin::Cpu,
        Side::Gpu => Pin::Gpu,
    };
    Wish {
        pin,
        span: Some(side.span),
    }
}

/// What `each` can name.
fn collections(ast: &ast::Ast) -> impl Iterator<Item = &str> {
    let inputs = ast.inputs.iter().filter(|input| {
        let kind = input.source.as_ref().map(|source| &source.kind);
        matches!(
            kind,
            Some(ast::SourceKind::Files { .. } | ast::SourceKind::Split { .. })
        )
    });
    let inputs = inputs.map(|input| input.name.value.as_str());
    let stages = ast.stages.iter().filter(|stage| stage.each.is_some());
    inputs.chain(stages.map(|stage| stage.name.value.as_str()))
}
