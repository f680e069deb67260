//! Programs in place of formulas.

use haul_ir::command::COMMAND;
use haul_ir::diagnostic::Span;
use haul_ir::expr::Expr;
use haul_ir::graph::Scalar;
use haul_ir::op::{Attr, Attrs};

use super::formula::Scope;
use super::{Operand, Origin, Resolver};
use crate::syntax::ast::{self, Command};

impl<'a> Resolver<'a> {
    /// The call of the op that runs a program.
    pub(super) fn command(
        &mut self,
        whole: Span,
        command: &'a Command,
        scope: &Scope<'a>,
    ) -> Operand {
        let reads = command.reads.iter();
        let args = reads.map(|read| self.expression(read, scope)).collect();
        let out = self.declared(&command.out);
        let flops = match &command.work {
            None => Some(Attr::None),
            Some(work) => self.flops(work, scope).map(Attr::Int),
        };
        let (Some(out), Some(flops)) = (out, flops) else {
            return Operand::Unknown;
        };
        let argv = command.argv.iter();
        let argv = argv.map(|argument| argument.value.as_str().into());
        let attrs = [
            ("argv", Attr::Words(argv.collect())),
            ("out", Attr::Type(out)),
            ("flops", flops),
        ];
        let origin = Origin {
            whole,
            at: command.argv.first().map_or(whole, |program| program.span),
            written: "command",
            is_operator: false,
            args: command.reads.iter().map(|read| read.span).collect(),
            attrs: vec![("out", command.out.span)],
            call: None,
        };
        self.emit(&COMMAND, args, Attrs(attrs.into()), origin)
    }

    /// The author's estimate: a whole number, perhaps in dims.
    fn flops(&mut self, work: &'a ast::Expr, scope: &Scope<'a>) -> Option<Expr> {
        let found = match self.scalar(work, scope)? {
            Ok(Scalar::Int(flops)) if flops.as_int().is_none_or(|flops| flops >= 0) => {
                return Some(flops);
            }
            // `2e9` is a whole number as well; up to 2^63 every one of them is an `i128`.
            Ok(Scalar::Float(flops)) if flops.fract() == 0.0 && (0.0..9.2e18).contains(&flops) => {
                return Some(Expr::from(flops as i128));
            }
            Ok(other) => other.to_string(),
            Err(found) => found.to_owned(),
        };
        let message = format!("`work` is a number of flops, perhaps in dims; this is {found}");
        self.refuse(work.span, message)
    }
}
