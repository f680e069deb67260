//! The author's own functions, put in place of their calls.

use haul_ir::diagnostic::{Diagnostic, Span};

use super::calls::Parameters;
use super::formula::Scope;
use super::{CallSite, Each, Operand, Resolver};
use crate::diagnostics::codes::EXPANSION;
use crate::syntax::ast::{self, Argument, Name};

/// Most calls of functions and ops of a pipeline.
pub(super) const BUDGET: usize = 1_000_000;

/// How deep functions may call each other.
const MAX_NESTING: usize = 64;

impl<'a> Resolver<'a> {
    /// A call of the function at a position of the file.
    pub(super) fn inline(
        &mut self,
        position: usize,
        name: &Name,
        arguments: &'a [Argument],
        scope: &Scope<'a>,
    ) -> Operand {
        let function: &'a ast::Function = &self.ast.functions[position];
        let names = function.parameters.iter().map(|name| name.value.as_str());
        let names: Vec<&str> = names.collect();
        let parameters = Parameters {
            required: names.iter().map(|_| true).collect(),
            signature: format!("{}({})", function.name.value, names.join(", ")),
            names,
            is_variadic: false,
            quoted: None,
        };
        let Some(slots) = self.bind(name, &parameters, arguments) else {
            return Operand::Unknown;
        };
        let slots = slots.into_iter().flatten();
        let operands: Vec<_> = slots.map(|slot| self.expression(slot, scope)).collect();
        let parameters = function.parameters.iter().map(|name| name.value.as_str());
        let locals = parameters.zip(operands).collect();
        if self.circular[position] || !self.may_call(scope, name.span) {
            return Operand::Unknown;
        }
        self.called[position] = true;
        let call = self.calls.push(CallSite {
            function: name.value.clone(),
            span: name.span,
            caller: scope.call,
        });
        let inner = Scope {
            locals,
            call: Some(call),
            functions: scope.functions + 1,
        };
        self.body(function, inner)
    }

    /// Looks at the functions that nothing calls: names in them exist, whatever they are given.
    pub(super) fn check_uncalled(&mut self) {
        self.each = Each::Unknown;
        for position in 0..self.ast.functions.len() {
            if !std::mem::replace(&mut self.called[position], true) {
                let function: &'a ast::Function = &self.ast.functions[position];
                let parameters = function.parameters.iter().map(|name| name.value.as_str());
                let mut scope = Scope::of_stage();
                scope.locals = parameters.map(|name| (name, Operand::Unknown)).collect();
                self.body(function, scope);
            }
        }
        self.each = Each::Once;
    }

    fn body(&mut self, function: &'a ast::Function, mut scope: Scope<'a>) -> Operand {
        let lines = function.body.iter().flat_map(|body| &body.statements);
        let mut value = Operand::Unknown;
        for line in lines {
            value = self.line(line, &mut scope);
        }
        value
    }

    fn may_call(&mut self, scope: &Scope<'a>, span: Span) -> bool {
        if scope.functions == MAX_NESTING {
            let message = format!("functions call each other more than {MAX_NESTING} deep here");
            self.refuse_expansion(span, message, "call them on lines of their own");
            return false;
        }
        self.spend(span)
    }

    /// Counts a call or op; false once there are too many.
    pub(super) fn spend(&mut self, span: Span) -> bool {
        if let Some(rest) = self.budget.checked_sub(1) {
            self.budget = rest;
            return true;
        }
        let message = format!("the pipeline has more than {BUDGET} calls of functions and ops");
        let help = "make stages of what functions compute again and again";
        self.refuse_expansion(span, message, help);
        false
    }

    /// Reports the first place at which functions expand to too much.
    pub(super) fn refuse_expansion(&mut self, span: Span, message: String, help: &str) {
        if !std::mem::replace(&mut self.is_too_much, true) {
            self.mistakes
                .report(Diagnostic::error(EXPANSION, span, message).help(help));
        }
    }
}
