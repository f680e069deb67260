//! The fields of a stage that runs a program, and those that say what is done when it fails.

use haul_ir::command::{OUT, Part, parts};
use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::graph::{Failure, OnError};

use super::ast::{Command, Expr, ExprKind, Formula, Name, Number, Spanned, Statement};
use super::formula;
use super::reader::{Fields, Reader};
use super::strings::{Content, excerpt};
use super::tree::{Node, NodeKind};
use crate::diagnostics::codes::{COMMAND, UNKNOWN_FIELD, WRONG_KIND};
use crate::diagnostics::suggest::did_you_mean;
use crate::form::units::Time;

/// What can become of a run when a task fails, as it is written.
const ON_ERROR: [(&str, OnError); 2] = [("Fail", OnError::Fail), ("Skip", OnError::Skip)];

/// The fields of a stage that only a program has.
pub(super) struct Program<'n> {
    command: Option<&'n Node>,
    work: Option<&'n Node>,
    retries: Option<&'n Node>,
    timeout: Option<&'n Node>,
    on_error: Option<&'n Node>,
}

impl Reader<'_> {
    /// Takes the fields of a program from those of a stage.
    pub(super) fn program<'n>(&mut self, fields: &mut Fields<'n>) -> Program<'n> {
        Program {
            command: self.optional(fields, "command"),
            work: self.optional(fields, "work"),
            retries: self.optional(fields, "retries"),
            timeout: self.optional(fields, "timeout"),
            on_error: self.optional(fields, "on_error"),
        }
    }

    /// What a stage computes: its formula, or its program as a formula of one line.
    pub(super) fn body<'n>(
        &mut self,
        fields: &mut Fields<'n>,
        program: &Program<'n>,
    ) -> Option<Formula> {
        let Some(command) = program.command else {
            self.refuse_program(program);
            let body = self.required(fields, "do")?;
            return self.formula(body);
        };
        if let Some(body) = self.optional(fields, "do") {
            let message = "a stage has a formula or a `command`, not both";
            let mistake = Diagnostic::error(COMMAND, body.span, message);
            self.mistakes
                .push(mistake.label(command.span, "the command"));
        }
        self.command(command, program.work)
    }

    /// Fields that say nothing of a formula.
    fn refuse_program(&mut self, program: &Program<'_>) {
        let fields = [
            ("work", program.work),
            ("retries", program.retries),
            ("timeout", program.timeout),
        ];
        for (name, node) in fields {
            if let Some(node) = node {
                let message = format!("`{name}` is of a `command`, and this stage has a formula");
                self.report(COMMAND, node.span, message);
            }
        }
    }

    fn command(&mut self, node: &Node, work: Option<&Node>) -> Option<Formula> {
        let mut fields = self.fields(node, "`command`")?;
        let argv = self.required(&mut fields, "argv");
        let out = self.required(&mut fields, "out");
        self.finish(fields);
        let argv = argv.and_then(|argv| self.argv(argv));
        let out = out.and_then(|out| self.declared_type(out));
        let work = work.map(|work| self.work(work));
        let (argv, reads) = argv?;
        let command = Command {
            argv,
            reads,
            out: out?,
            work: work.map_or(Some(None), |work| work.map(Some))?,
        };
        let value = Expr {
            kind: ExprKind::Command(Box::new(command)),
            span: node.span,
        };
        let targets = Vec::new();
        Some(Formula {
            statements: vec![Statement { targets, value }],
            span: node.span,
        })
    }

    /// A program with its arguments, and what these read.
    fn argv(&mut self, node: &Node) -> Option<(Vec<Name>, Vec<Expr>)> {
        let items = self.items(node, "a list of strings: a program and its arguments")?;
        if items.is_empty() {
            self.report(COMMAND, node.span, "there is no program in this list");
            return None;
        }
        let before = self.mistakes.len();
        let (mut argv, mut reads) = (Vec::new(), Vec::new());
        let mut writes = false;
        for (position, item) in items.iter().enumerate() {
            let Some(content) = self.content(item, "a string") else {
                continue;
            };
            writes |= self.argument(&content, position == 0, &mut reads);
            argv.push(Spanned::new(content.text().to_owned(), content.span()));
        }
        if self.mistakes.len() > before {
            return None;
        }
        if !writes {
            let message = "no argument tells the program where to write: `{out}` is missing";
            let mistake = Diagnostic::error(COMMAND, node.span, message);
            let help = "`{out}` stands for the path of the file that the program has to write";
            self.mistakes.push(mistake.help(help));
            return None;
        }
        Some((argv, reads))
    }

    /// Notes what an argument reads; tells whether `{out}` is in it.
    fn argument(&mut self, content: &Content<'_>, is_program: bool, reads: &mut Vec<Expr>) -> bool {
        let text = content.text();
        let parts = match parts(text) {
            Ok(parts) => parts,
            Err(at) => {
                let message = "this brace has no partner";
                let mistake = Diagnostic::error(COMMAND, content.place(at), message);
                let help = "`{name}` stands for a value; write `{{` or `}}` for a brace";
                self.mistakes.push(mistake.help(help));
                return false;
            }
        };
        if text.contains('\0') || (is_program && text.is_empty()) {
            let message = format!("`{}` cannot be given to a program", excerpt(text));
            self.report(COMMAND, content.span(), message);
        }
        let mut writes = false;
        for part in parts {
            let Part::Placeholder(name, at) = part else {
                continue;
            };
            let span = content.place(at);
            match is_program {
                true => {
                    let message = "the program has to be known before anything runs";
                    self.report(COMMAND, span, message);
                }
                false if name == OUT => writes = true,
                false => self.read(&name, span, reads),
            }
        }
        writes
    }

    /// Notes a value that a placeholder names: `name` or `stage.name`.
    fn read(&mut self, name: &str, span: Span, reads: &mut Vec<Expr>) {
        let (base, field) = match name.split_once('.') {
            Some((base, field)) => (base, Some(field)),
            None => (name, None),
        };
        let before = self.mistakes.len();
        let base_span = Span::new(span.start, (span.start + base.len()).min(span.end));
        formula::check_name(base, base_span, &mut self.mistakes);
        let base = Expr {
            kind: ExprKind::Name(base.to_owned()),
            span: base_span,
        };
        let read = match field {
            None => base,
            Some(field) => {
                let field_span = Span::new((base_span.end + 1).min(span.end), span.end);
                formula::check_name(field, field_span, &mut self.mistakes);
                let (base, name) = (Box::new(base), Spanned::new(field.to_owned(), field_span));
                Expr {
                    kind: ExprKind::Field { base, name },
                    span,
                }
            }
        };
        let is_known = reads.iter().any(|known| known.to_string() == name);
        if self.mistakes.len() == before && !is_known {
            reads.push(read);
        }
    }

    /// A number of flops, or a formula of them in a string.
    fn work(&mut self, node: &Node) -> Option<Expr> {
        if matches!(node.kind, NodeKind::Scalar) {
            let Spanned { value, span } = self.exact(node)?;
            let negative = match value {
                Number::Int(value) => value < 0,
                Number::Float(value) => value < 0.0,
            };
            if negative {
                return self.wrong(node, "a number of flops");
            }
            let kind = ExprKind::Number(value);
            return Some(Expr { kind, span });
        }
        let content = self.content(node, "a number of flops, or a formula in a string")?;
        formula::expression(&content, &mut self.mistakes)
    }

    /// What is done about a task that does not succeed.
    pub(super) fn failure(&mut self, program: &Program<'_>) -> Failure {
        let retries = program.retries.and_then(|node| {
            let range = "a whole number from 0 to 4294967295";
            self.number::<u32>(node, range)
        });
        let on_error = program.on_error.and_then(|node| self.on_error(node));
        Failure {
            retries: retries.map_or(0, |retries| retries.value),
            timeout: program.timeout.and_then(|node| self.timeout(node)),
            on_error: on_error.unwrap_or_default(),
        }
    }

    fn timeout(&mut self, node: &Node) -> Option<u64> {
        let content = self.content(node, "a time such as `\"30 s\"`")?;
        let message = match Time::try_from(content.text().to_owned()) {
            Ok(Time(0)) => "a program needs some time".to_owned(),
            Ok(Time(nanos)) => return Some(nanos),
            Err(message) => message,
        };
        self.report(WRONG_KIND, content.span(), message);
        None
    }

    fn on_error(&mut self, node: &Node) -> Option<OnError> {
        let written = self.written(node.span);
        if let Some((_, on_error)) = ON_ERROR.into_iter().find(|(name, _)| *name == written) {
            return Some(on_error);
        }
        if !matches!(node.kind, NodeKind::Scalar) {
            return self.wrong(node, "`Fail` or `Skip`");
        }
        let message = format!("`on_error` cannot be `{}`", excerpt(written));
        let mistake = Diagnostic::error(UNKNOWN_FIELD, node.span, message);
        let names = ON_ERROR.map(|(name, _)| name);
        self.mistakes
            .push(did_you_mean(mistake, node.span, written, names));
        None
    }
}
