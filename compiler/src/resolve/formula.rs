//! Expressions: what each stands for, and the calls that compute it.

use std::collections::HashMap;

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::graph::Scalar;
use haul_ir::id::{CollectionId, Id};
use haul_ir::op::{Attr, Attrs, CpuKernel, Op, ParamKind};

use super::attributes::defaults;
use super::tables::Special;
use super::{CallId, Each, Node, Operand, Origin, Resolver, ValueRef, scalars};
use crate::diagnostics::codes::{COLLECTION, OPTION, REASSIGNED, RESULTS, UNKNOWN_FUNCTION};
use crate::ops::{INDEX, TRANSPOSE, binary, unary};
use crate::syntax::MAX_HEIGHT;
use crate::syntax::ast::{self, ExprKind, Number, Statement};

/// The names that only one formula knows.
pub(super) struct Scope<'a> {
    pub(super) locals: HashMap<&'a str, Operand>,
    /// The use of the function whose body it is.
    pub(super) call: Option<CallId>,
    /// How many functions are open.
    pub(super) functions: usize,
}

impl Scope<'_> {
    pub(super) fn of_stage() -> Self {
        Self {
            locals: HashMap::new(),
            call: None,
            functions: 0,
        }
    }
}

/// How deep expressions may be nested with the functions in place.
const MAX_DEPTH: usize = 2 * MAX_HEIGHT;

impl<'a> Resolver<'a> {
    /// A line: what it computes, which its names stand for from now on.
    pub(super) fn line(&mut self, line: &'a Statement, scope: &mut Scope<'a>) -> Operand {
        let start = self.nodes.len();
        let mut value = self.expression(&line.value, scope);
        if line.targets.len() > 1 {
            value = self.several_results(line, value, start);
        }
        for (name, operand) in super::stages::results(line, &value) {
            if scope.locals.insert(name, operand).is_some() && name != "_" {
                let targets = line.targets.iter();
                let span = targets.rev().find(|target| target.value == name);
                let span = span.map_or(line.value.span, |target| target.span);
                let message = format!("`{name}` has a value already");
                let mistake = Diagnostic::error(REASSIGNED, span, message);
                self.mistakes
                    .report(mistake.help("give this line another name"));
            }
        }
        value
    }

    /// The value of a line with several names: all results of the op that it ends with.
    fn several_results(&mut self, line: &Statement, value: Operand, start: usize) -> Operand {
        match value {
            Operand::Unknown => value,
            Operand::Value(ValueRef::Node(node, 0))
                if node.index() >= start
                    && node.index() + 1 == self.nodes.len()
                    && self.nodes[node].results == 1 =>
            {
                self.nodes[node].results = line.targets.len();
                value
            }
            _ => {
                let message = format!("this is one value, not {}", line.targets.len());
                self.mistakes
                    .report(Diagnostic::error(RESULTS, line.value.span, message));
                Operand::Unknown
            }
        }
    }

    pub(super) fn expression(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>) -> Operand {
        if self.depth == MAX_DEPTH {
            let message = "with the functions in place, this is nested too deeply";
            let help = "give parts of the formula names, on lines of their own";
            self.refuse_expansion(expr.span, message.to_owned(), help);
            return Operand::Unknown;
        }
        self.depth += 1;
        let operand = self.nested(expr, scope);
        self.depth -= 1;
        operand
    }

    fn nested(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>) -> Operand {
        match &expr.kind {
            ExprKind::Error => Operand::Unknown,
            ExprKind::Number(Number::Int(value)) => Operand::Scalar(Scalar::Int((*value).into())),
            ExprKind::Number(Number::Float(value)) => Operand::Scalar(Scalar::Float(*value)),
            ExprKind::Name(name) => self.name(name, expr.span, scope),
            ExprKind::Field { base, name } => self.field(expr.span, base, name, scope),
            ExprKind::Call {
                function,
                arguments,
            } => self.call(expr.span, function, arguments, scope),
            ExprKind::Transpose(base) => {
                let operand = self.expression(base, scope);
                // The operator is what follows the operand.
                let at = Span::new(base.span.end.min(expr.span.end), expr.span.end);
                self.operation(TRANSPOSE, ".T", at, expr, vec![(operand, base.span)], scope)
            }
            ExprKind::Unary { op, operand } => {
                let value = (self.expression(operand, scope), operand.span);
                match unary(op.value) {
                    Some(name) => {
                        self.operation(name, op.value.symbol(), op.span, expr, vec![value], scope)
                    }
                    None => value.0,
                }
            }
            ExprKind::Binary { op, left, right } => {
                if let Some(compared) = self.compared_text(expr, op, left, right, scope) {
                    return compared;
                }
                let left = (self.expression(left, scope), left.span);
                let right = (self.expression(right, scope), right.span);
                let (name, symbol) = (binary(op.value), op.value.symbol());
                self.operation(name, symbol, op.span, expr, vec![left, right], scope)
            }
            ExprKind::Index { base, items } => {
                let operand = self.expression(base, scope);
                let base = (operand, base.span);
                match self.special_index(items, scope) {
                    Some(Special::Column(name)) => self.column(expr, base, name, scope),
                    Some(Special::Mask(mask)) => self.filtered(expr, base, mask, scope),
                    None => {
                        let index = self.index(items, scope);
                        self.indexed(expr, base, index, scope)
                    }
                }
            }
            ExprKind::Command(command) => self.command(expr.span, command, scope),
            ExprKind::List(_) => self.refuse_option(expr.span, "a list is an option, not a value"),
            ExprKind::Text(_) => {
                self.refuse_option(expr.span, "a quoted word is an option, not a value")
            }
        }
    }

    pub(super) fn refuse_option(&mut self, span: Span, message: &str) -> Operand {
        self.mistakes
            .report(Diagnostic::error(OPTION, span, message));
        Operand::Unknown
    }

    /// An operator.
    pub(super) fn operation(
        &mut self,
        name: &'static str,
        written: &'static str,
        at: Span,
        expr: &ast::Expr,
        operands: Vec<(Operand, Span)>,
        scope: &Scope<'a>,
    ) -> Operand {
        let Some(op) = self.find_op(name, at) else {
            return Operand::Unknown;
        };
        let (args, spans) = operands.into_iter().unzip();
        let origin = Origin {
            whole: expr.span,
            at,
            written,
            is_operator: true,
            args: spans,
            attrs: Vec::new(),
            call: scope.call,
        };
        self.emit(op, args, defaults(op), origin)
    }

    fn indexed(
        &mut self,
        expr: &ast::Expr,
        (operand, base): (Operand, Span),
        index: Option<Attr>,
        scope: &Scope<'a>,
    ) -> Operand {
        let at = Span::new(base.end.min(expr.span.end), expr.span.end);
        let (Some(op), Some(index)) = (self.find_op(INDEX, at), index) else {
            return Operand::Unknown;
        };
        let params = op.params().iter();
        let attrs = params.filter(|param| param.kind == ParamKind::Index);
        let attrs: Vec<_> = attrs.map(|param| (param.name, index.clone())).collect();
        let origin = Origin {
            whole: expr.span,
            at,
            written: "[…]",
            is_operator: true,
            args: vec![base],
            attrs: attrs.iter().map(|(name, _)| (*name, at)).collect(),
            call: scope.call,
        };
        self.emit(op, vec![operand], Attrs(attrs), origin)
    }

    pub(super) fn find_op(&mut self, name: &str, span: Span) -> Option<&'static dyn Op> {
        let op = self.ops.find(name);
        if op.is_none() {
            let message = format!("the catalogue has no op `{name}`");
            self.mistakes
                .report(Diagnostic::error(UNKNOWN_FUNCTION, span, message));
        }
        op
    }

    /// A call whose arguments are bound to its parameters.
    pub(super) fn emit(
        &mut self,
        op: &'static dyn Op,
        args: Vec<Operand>,
        attrs: Attrs,
        origin: Origin,
    ) -> Operand {
        if !self.are_values(op, &args, &origin) {
            return Operand::Unknown;
        }
        if matches!(op.cpu(), CpuKernel::Elementwise(_)) {
            let scalars = args.iter().map(|arg| match arg {
                Operand::Scalar(scalar) => Some(scalar.clone()),
                _ => None,
            });
            if let Some(scalars) = scalars.collect::<Option<Vec<_>>>() {
                match scalars::apply(op, scalars) {
                    Ok(Some(scalar)) => return Operand::Scalar(scalar),
                    Ok(None) => {}
                    Err(mistake) => {
                        self.mistakes.report(Diagnostic::error(
                            mistake.code,
                            origin.at,
                            mistake.message,
                        ));
                        return Operand::Unknown;
                    }
                }
            }
        }
        self.push(Node {
            op,
            args,
            attrs,
            results: 1,
            origin,
        })
    }

    /// Whether all arguments are known, and collections only where the op takes one.
    fn are_values(&mut self, op: &'static dyn Op, args: &[Operand], origin: &Origin) -> bool {
        let mut fine = true;
        for (position, arg) in args.iter().enumerate() {
            let param = op.params().get(position);
            let takes_items = param.is_some_and(|param| param.kind == ParamKind::Collection);
            match arg {
                Operand::Unknown => fine = false,
                Operand::Items(_, collection) if !takes_items => {
                    let span = origin.args.get(position).copied().unwrap_or(origin.at);
                    self.refuse_items(*collection, span);
                    fine = false;
                }
                _ => {}
            }
        }
        fine
    }

    fn refuse_items(&mut self, collection: CollectionId, span: Span) {
        let name = &self.graph.collections[collection].name;
        let message = format!("this is one value for each item of `{name}`");
        let help = match self.each {
            Each::Over(other) => format!(
                "this stage runs over `{}`; make one value of the others, such as `gather(x)`",
                self.graph.collections[other].name
            ),
            _ => format!(
                "run over it with `each: \"{name}\"`, or make one value of it, such as `gather(x)`"
            ),
        };
        self.mistakes
            .report(Diagnostic::error(COLLECTION, span, message).help(help));
    }

    /// Adds a node, while there may be more.
    pub(super) fn push(&mut self, node: Node) -> Operand {
        if matches!(node.args.as_slice(), [Operand::Unknown, ..]) {
            return Operand::Unknown;
        }
        if !self.spend(node.origin.at) {
            return Operand::Unknown;
        }
        Operand::Value(ValueRef::Node(self.nodes.push(node), 0))
    }
}
