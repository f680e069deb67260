//! Calls by name: arguments bound to parameters.

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::graph::Scalar;
use haul_ir::op::{Attrs, Op, Param, ParamKind};

use super::attributes::{default, given, is_none};
use super::formula::Scope;
use super::{Each, Operand, Origin, Resolver};
use crate::diagnostics::codes::{ARGUMENTS, NO_COLLECTION, UNKNOWN_FUNCTION};
use crate::diagnostics::suggest::nearest;
use crate::render::signature;
use crate::syntax::ast::{Argument, Expr, ExprKind, Name};

/// What can be called, as far as binding arguments goes.
pub(super) struct Parameters<'p> {
    pub(super) names: Vec<&'p str>,
    /// Whether each has to be given.
    pub(super) required: Vec<bool>,
    /// Whether the first takes all arguments without a name.
    pub(super) is_variadic: bool,
    /// The one that takes a quoted word of its own, which may stand among the values.
    pub(super) quoted: Option<usize>,
    pub(super) signature: String,
}

impl<'a> Resolver<'a> {
    pub(super) fn call(
        &mut self,
        whole: Span,
        function: &'a Name,
        arguments: &'a [Argument],
        scope: &Scope<'a>,
    ) -> Operand {
        if let Some(op) = self.ops.find(&function.value) {
            return self.call_op(op, whole, function, arguments, scope);
        }
        if let Some(position) = self.names.function(&function.value) {
            return self.inline(position, function, arguments, scope);
        }
        let message = format!("there is no function `{}`", function.value);
        let mistake = Diagnostic::error(UNKNOWN_FUNCTION, function.span, message);
        let functions = self.names.functions();
        let ops = self.ops.names().map(|name| -> &'a str { name });
        let candidates: Vec<&str> = functions.chain(ops).collect();
        self.mistakes
            .report_unknown(mistake, &function.value, candidates);
        Operand::Unknown
    }

    fn call_op(
        &mut self,
        op: &'static dyn Op,
        whole: Span,
        function: &Name,
        arguments: &'a [Argument],
        scope: &Scope<'a>,
    ) -> Operand {
        let params = op.params();
        let parameters = Parameters {
            names: params.iter().map(|param| param.name).collect(),
            required: params.iter().map(|param| param.default.is_none()).collect(),
            is_variadic: params
                .first()
                .is_some_and(|param| param.kind == ParamKind::Tensors),
            quoted: params
                .iter()
                .position(|param| param.kind == ParamKind::Quoted),
            signature: signature(op),
        };
        let Some(slots) = self.bind(function, &parameters, arguments) else {
            return Operand::Unknown;
        };
        let (mut args, mut spans) = (Vec::new(), Vec::new());
        let (mut attrs, mut attr_spans) = (Vec::new(), Vec::new());
        let mut understood = true;
        for (param, slot) in params.iter().zip(slots) {
            if param.kind.is_value() {
                let written = slot.first().filter(|written| !is_none(param, written));
                attrs.extend(given(param, written.is_some()));
                let slot = if written.is_some() { slot } else { Vec::new() };
                for (operand, span) in self.values(op, param, slot, function.span, scope) {
                    args.push(operand);
                    spans.push(span);
                }
                continue;
            }
            let attr = match slot.first() {
                Some(written) => {
                    attr_spans.push((param.name, written.span));
                    self.attribute(param, written, scope)
                }
                None => Some(default(param)),
            };
            understood &= attr.is_some();
            attrs.extend(attr.map(|attr| (param.name, attr)));
        }
        if !understood {
            return Operand::Unknown;
        }
        let origin = Origin {
            whole,
            at: function.span,
            written: op.name(),
            is_operator: false,
            args: spans,
            attrs: attr_spans,
            call: scope.call,
        };
        self.emit(op, args, Attrs(attrs), origin)
    }

    /// The values of one parameter.
    fn values(
        &mut self,
        op: &'static dyn Op,
        param: &Param,
        slot: Vec<&'a Expr>,
        call: Span,
        scope: &Scope<'a>,
    ) -> Vec<(Operand, Span)> {
        let written: Vec<&'a Expr> = match (param.kind, slot.as_slice()) {
            (
                ParamKind::Tensors,
                [
                    Expr {
                        kind: ExprKind::List(items),
                        ..
                    },
                ],
            ) => items.iter().collect(),
            _ => slot,
        };
        if written.is_empty() {
            return default_value(param)
                .map(|scalar| (Operand::Scalar(scalar), call))
                .into_iter()
                .collect();
        }
        let value = |expr: &'a Expr| {
            let operand = self.expression(expr, scope);
            match (param.kind, &operand) {
                (ParamKind::Collection, Operand::Value(_) | Operand::Scalar(_)) => {
                    self.refuse_single(op, expr.span);
                    (Operand::Unknown, expr.span)
                }
                _ => (operand, expr.span),
            }
        };
        written.into_iter().map(value).collect()
    }

    fn refuse_single(&mut self, op: &'static dyn Op, span: Span) {
        let message = format!(
            "`{}` takes a whole collection, this is one value",
            op.name()
        );
        let mistake = Diagnostic::error(NO_COLLECTION, span, message);
        self.mistakes.report(match self.each {
            Each::Once => mistake.help("use the value as it is"),
            _ => mistake.help(format!("call `{}` in a stage without `each`", op.name())),
        });
    }

    /// The arguments of each parameter: at most one, but for a variadic first one.
    pub(super) fn bind(
        &mut self,
        function: &Name,
        parameters: &Parameters<'_>,
        arguments: &'a [Argument],
    ) -> Option<Vec<Vec<&'a Expr>>> {
        let mut slots: Vec<Vec<&'a Expr>> = vec![Vec::new(); parameters.names.len()];
        let mut position = 0;
        for argument in arguments {
            let is_quoted = matches!(argument.value.kind, ExprKind::Text(_));
            let quoted = parameters
                .quoted
                .filter(|_| is_quoted && parameters.is_variadic);
            let at = match (&argument.name, quoted) {
                (Some(name), _) => self.keyword(function, parameters, name)?,
                (None, Some(quoted)) => quoted,
                (None, None) => position,
            };
            let span = argument
                .name
                .as_ref()
                .map_or(argument.value.span, |name| name.span);
            let is_open = parameters.is_variadic && at == 0 && argument.name.is_none();
            match slots.get_mut(at) {
                None => {
                    let message = format!("`{}` takes no more arguments", function.value);
                    return self.refuse_arguments(span, message, parameters);
                }
                Some(slot) if slot.is_empty() || is_open => slot.push(&argument.value),
                Some(_) => {
                    let message = format!("`{}` is given twice", parameters.names[at]);
                    return self.refuse_arguments(span, message, parameters);
                }
            }
            if argument.name.is_none() && quoted.is_none() && !is_open {
                position += 1;
            }
        }
        let missing = slots
            .iter()
            .zip(&parameters.required)
            .position(|(slot, required)| slot.is_empty() && *required);
        if let Some(missing) = missing {
            let message = format!("`{}` is not given", parameters.names[missing]);
            return self.refuse_arguments(function.span, message, parameters);
        }
        Some(slots)
    }

    fn keyword(
        &mut self,
        function: &Name,
        parameters: &Parameters<'_>,
        name: &Name,
    ) -> Option<usize> {
        let found = parameters
            .names
            .iter()
            .position(|parameter| *parameter == name.value);
        if found.is_none() {
            let message = format!("`{}` has no parameter `{}`", function.value, name.value);
            let mistake = Diagnostic::error(ARGUMENTS, name.span, message);
            let near = nearest(&name.value, parameters.names.iter().copied());
            self.mistakes.report(match near {
                Some(near) => mistake
                    .help(format!(
                        "did you mean `{near}`? It is {}",
                        parameters.signature
                    ))
                    .fix(name.span, near),
                None => mistake.help(format!("it is {}", parameters.signature)),
            });
        }
        found
    }

    fn refuse_arguments<T>(
        &mut self,
        span: Span,
        message: String,
        parameters: &Parameters<'_>,
    ) -> Option<T> {
        let mistake = Diagnostic::error(ARGUMENTS, span, message);
        self.mistakes
            .report(mistake.help(format!("it is {}", parameters.signature)));
        None
    }
}

/// The default of a parameter that takes a value.
fn default_value(param: &Param) -> Option<Scalar> {
    let text = param.default?;
    match text.parse::<i128>() {
        Ok(value) => Some(Scalar::Int(value.into())),
        Err(_) => text.parse().ok().map(Scalar::Float),
    }
}
