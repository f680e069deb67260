//! Names in formulas: what each stands for where it is written.

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::expr::{Expr, Symbol};
use haul_ir::graph::Scalar;

use super::formula::Scope;
use super::names::Global;
use super::{Each, InputState, Operand, Resolver, ValueRef, scalars};
use crate::diagnostics::codes::{RESULTS, UNKNOWN_NAME};
use crate::syntax::ast::{self, ExprKind, Name, Number};

/// Numbers that have a name, beside those of the file.
const CONSTANTS: [(&str, f64); 3] = [
    ("pi", std::f64::consts::PI),
    ("inf", f64::INFINITY),
    ("nan", f64::NAN),
];

impl<'a> Resolver<'a> {
    pub(super) fn name(&mut self, name: &str, span: Span, scope: &Scope<'a>) -> Operand {
        if let Some(operand) = scope.locals.get(name) {
            return operand.clone();
        }
        match self.names.get(name) {
            Some(Global::Input(position)) => {
                self.used.input(position);
                let InputState::Known(input) = self.inputs[position] else {
                    return Operand::Unknown;
                };
                let collection = self.graph.inputs[input].collection;
                let each = collection.map_or(Each::Once, Each::Over);
                self.reach(Operand::Value(ValueRef::Input(input)), each, span)
            }
            Some(Global::Stage(position)) => self.stage_value(position, name, span),
            Some(Global::Param(Some(Number::Int(value)))) => {
                Operand::Scalar(Scalar::Int(value.into()))
            }
            Some(Global::Param(Some(Number::Float(value)))) => {
                Operand::Scalar(Scalar::Float(value))
            }
            Some(Global::Param(None)) => Operand::Unknown,
            Some(Global::Dim) => self.dim(name, span),
            None if self.is_size(name) => self.dim(name, span),
            None => self.constant(name, span, scope),
        }
    }

    /// Whether a type mentions a size of that name.
    fn is_size(&self, name: &str) -> bool {
        self.bindings.get(name).is_some() || self.graph.dims.contains_key(&Symbol::new(name))
    }

    fn dim(&mut self, name: &str, span: Span) -> Operand {
        let size = self.symbol(name, span);
        size.map_or(Operand::Unknown, |size| Operand::Scalar(Scalar::Int(size)))
    }

    fn constant(&mut self, name: &str, span: Span, scope: &Scope<'a>) -> Operand {
        if let Some((_, value)) = CONSTANTS.iter().find(|(constant, _)| *constant == name) {
            return Operand::Scalar(Scalar::Float(*value));
        }
        if matches!(name, "true" | "false") {
            let message = format!("`{name}` is an option, not a value");
            return self.refuse_option(span, &message);
        }
        let mistake = Diagnostic::error(UNKNOWN_NAME, span, format!("there is no `{name}`"));
        let sizes: Vec<_> = self.graph.dims.keys().map(ToString::to_string).collect();
        let candidates = scope.locals.keys().copied().chain(self.names.all());
        let candidates = candidates.chain(sizes.iter().map(String::as_str));
        let candidates = candidates.chain(CONSTANTS.iter().map(|(constant, _)| *constant));
        self.mistakes.report_unknown(mistake, name, candidates);
        Operand::Unknown
    }

    fn stage_value(&mut self, position: usize, name: &str, span: Span) -> Operand {
        self.used.stage(position);
        let Some(exports) = &self.exports[position] else {
            return Operand::Unknown;
        };
        if let Some((first, second)) = exports.several {
            let message = format!("the stage `{name}` ends with several results");
            let help = format!("say which: `{name}.{first}`, `{name}.{second}`");
            self.mistakes
                .report(Diagnostic::error(RESULTS, span, message).help(help));
            return Operand::Unknown;
        }
        let (value, each) = (exports.value.clone(), exports.each);
        self.reach(value, each, span)
    }

    /// `stage.line` or `table.column`.
    pub(super) fn field(
        &mut self,
        whole: Span,
        base: &'a ast::Expr,
        part: &'a Name,
        scope: &Scope<'a>,
    ) -> Operand {
        if let ExprKind::Name(name) = &base.kind
            && !scope.locals.contains_key(name.as_str())
            && let Some(Global::Stage(position)) = self.names.get(name)
        {
            return self.stage_part(whole, (name, base.span, position), part, scope);
        }
        let value = self.expression(base, scope);
        if matches!(value, Operand::Unknown) {
            return Operand::Unknown;
        }
        if self.may_be_table(&value) {
            let base = (value, base.span);
            return self.column_named(whole, base, &part.value, part.span, scope);
        }
        let message = format!(
            "this has no part `{}`: it is no stage and no table",
            part.value
        );
        let mistake = Diagnostic::error(UNKNOWN_NAME, part.span, message);
        self.mistakes
            .report(mistake.help("functions are called by name: `sum(x)`"));
        Operand::Unknown
    }

    /// A line of a stage, or else a column of the table that the stage is.
    fn stage_part(
        &mut self,
        whole: Span,
        (stage, base, position): (&str, Span, usize),
        part: &'a Name,
        scope: &Scope<'a>,
    ) -> Operand {
        self.used.stage(position);
        let Some(exports) = &self.exports[position] else {
            return Operand::Unknown;
        };
        let each = exports.each;
        if let Some(operand) = exports.lines.get(part.value.as_str()) {
            return self.reach(operand.clone(), each, part.span);
        }
        let value = exports.value.clone();
        if self.may_be_table(&value) {
            let base = (self.stage_value(position, stage, base), base);
            return self.column_named(whole, base, &part.value, part.span, scope);
        }
        if self.ast.stages[position].body.is_some() {
            let message = format!("the stage `{stage}` has no line `{}`", part.value);
            let mistake = Diagnostic::error(UNKNOWN_NAME, part.span, message);
            let lines: Vec<_> = exports.lines.keys().copied().collect();
            self.mistakes.report_unknown(mistake, &part.value, lines);
        }
        Operand::Unknown
    }

    /// A value of something that runs over `each`, as the stage at hand sees it.
    fn reach(&mut self, operand: Operand, each: Each, span: Span) -> Operand {
        match (operand, each) {
            (_, Each::Unknown) => Operand::Unknown,
            (operand, Each::Once) => operand,
            (operand, each) if each == self.each => operand,
            (Operand::Value(_), Each::Over(_)) if self.each == Each::Unknown => Operand::Unknown,
            (Operand::Value(value), Each::Over(collection)) => Operand::Items(value, collection),
            (Operand::Scalar(scalar), _) => self.reach_scalar(scalar, span),
            (operand, _) => operand,
        }
    }

    /// A scalar of another stage: its sizes may be those of an item.
    fn reach_scalar(&mut self, scalar: Scalar, span: Span) -> Operand {
        let mut foreign = None;
        scalars::sizes(&scalar, &mut |size: &Expr| {
            foreign = foreign.take().or(self.foreign_symbol(size))
        });
        let Some(symbol) = foreign else {
            return Operand::Scalar(scalar);
        };
        self.report_per_item(&symbol, span);
        Operand::Unknown
    }
}
