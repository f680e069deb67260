//! The names that all formulas know.

use std::collections::HashMap;

use haul_ir::diagnostic::{Diagnostic, Span};

use crate::diagnostics::codes::CLASH;
use crate::mistakes::Mistakes;
use crate::ops::Ops;
use crate::syntax::Ast;
use crate::syntax::ast::{Name, Number};

/// What a name stands for, by position in its list of the file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Global {
    Input(usize),
    Stage(usize),
    /// A param; `None` where its value could not be read.
    Param(Option<Number>),
    Dim,
}

/// The names that all formulas know.
pub(super) struct Names<'a> {
    globals: HashMap<&'a str, (Global, Span)>,
    functions: HashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    pub(super) fn new(ast: &'a Ast, ops: &Ops, mistakes: &mut Mistakes) -> Self {
        let mut names = Self {
            globals: HashMap::new(),
            functions: HashMap::new(),
        };
        for param in &ast.params {
            let value = param.value.as_ref().map(|value| value.value);
            names.add(&param.name, Global::Param(value), mistakes);
        }
        for dim in &ast.dims {
            names.add(&dim.name, Global::Dim, mistakes);
        }
        for (position, input) in ast.inputs.iter().enumerate() {
            names.add(&input.name, Global::Input(position), mistakes);
        }
        for (position, stage) in ast.stages.iter().enumerate() {
            names.add(&stage.name, Global::Stage(position), mistakes);
        }
        for (position, function) in ast.functions.iter().enumerate() {
            let Name { value: name, span } = &function.name;
            if ops.find(name).is_some() {
                let message = format!("`{name}` is an op already");
                let help = "give the function a name that no op has";
                mistakes.report(Diagnostic::error(CLASH, *span, message).help(help));
            }
            names.functions.insert(name, position);
        }
        names
    }

    fn add(&mut self, name: &'a Name, global: Global, mistakes: &mut Mistakes) {
        if let Some((other, span)) = self.globals.get(name.value.as_str()) {
            let (other, what) = (other.kind(), global.kind());
            let message = format!("`{}` is the name of {other} and of {what}", name.value);
            let mistake = Diagnostic::error(CLASH, name.span, message);
            mistakes.report(mistake.label(*span, other));
            return;
        }
        self.globals.insert(&name.value, (global, name.span));
    }

    pub(super) fn get(&self, name: &str) -> Option<Global> {
        self.globals.get(name).map(|(global, _)| *global)
    }

    /// Replaces the value of a param.
    pub(super) fn set(&mut self, name: &str, value: Number) {
        if let Some((global @ Global::Param(_), _)) = self.globals.get_mut(name) {
            *global = Global::Param(Some(value));
        }
    }

    /// The position of a function of the file.
    pub(super) fn function(&self, name: &str) -> Option<usize> {
        self.functions.get(name).copied()
    }

    /// All names, in no order.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a str> {
        self.globals.keys().copied()
    }

    /// The names of functions, in no order.
    pub(super) fn functions(&self) -> impl Iterator<Item = &'a str> {
        self.functions.keys().copied()
    }
}

impl Global {
    /// What it is, with an article.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Global::Input(_) => "an input",
            Global::Stage(_) => "a stage",
            Global::Param(_) => "a param",
            Global::Dim => "a dim",
        }
    }
}
