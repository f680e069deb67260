//! Sizes and numbers that come from outside of the file: from the command line, from data, from
//! the headers of files.

use std::collections::HashMap;

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::types::ValueType;

use super::names::{Global, Names};
use crate::diagnostics::codes::{DECLARED, SET};
use crate::facts::Facts;
use crate::mistakes::Mistakes;
use crate::syntax::Ast;
use crate::syntax::ast::{Expr, ExprKind, Input, Number, SourceKind, SplitOf};

/// Sizes that have a value, and where it comes from.
#[derive(Default)]
pub(super) struct Bindings(HashMap<String, (u64, String)>);

impl Bindings {
    /// Takes all that facts say: replaces params, binds dims.
    pub(super) fn new(
        ast: &Ast,
        names: &mut Names<'_>,
        facts: &Facts,
        mistakes: &mut Mistakes,
    ) -> Self {
        let mut bindings = Self::default();
        for (name, text) in &facts.params {
            bindings.set(names, name, text, mistakes);
        }
        for (name, size) in &facts.dims {
            bindings.bind(name, *size, "the data");
        }
        for input in &ast.inputs {
            bindings.read_header(names, facts, input);
        }
        bindings.check_limits(ast, mistakes);
        bindings
    }

    pub(super) fn get(&self, name: &str) -> Option<u64> {
        self.0.get(name).map(|(size, _)| *size)
    }

    /// `n = 150 from the header of x`, for each of the names that is bound.
    pub(super) fn explain(&self, mut names: Vec<&str>) -> Option<String> {
        names.sort_unstable();
        names.dedup();
        let explained = names.into_iter().filter_map(|name| {
            let (size, from) = self.0.get(name)?;
            Some(format!("{name} = {size} from {from}"))
        });
        let explained: Vec<_> = explained.collect();
        (!explained.is_empty()).then(|| explained.join(", "))
    }

    fn bind(&mut self, name: &str, size: u64, from: &str) {
        self.0
            .entry(name.to_owned())
            .or_insert_with(|| (size, from.to_owned()));
    }

    /// `--set name=text`.
    fn set(&mut self, names: &mut Names<'_>, name: &str, text: &str, mistakes: &mut Mistakes) {
        // Flags have no place in the file.
        let nowhere = Span::default();
        match names.get(name) {
            Some(Global::Param(declared)) => match replacement(declared, text) {
                Ok(value) => names.set(name, value),
                Err(why) => {
                    let message = format!("`{name}` cannot be set to `{text}`: {why}");
                    mistakes.report(Diagnostic::error(SET, nowhere, message));
                }
            },
            Some(Global::Dim) => match text.parse() {
                Ok(size) => self.bind(name, size, "the command line"),
                Err(_) => {
                    let message = format!("`{name}` cannot be set to `{text}`: not a size");
                    mistakes.report(Diagnostic::error(SET, nowhere, message));
                }
            },
            Some(Global::Input(_) | Global::Stage(_)) | None => {
                let message = format!("`{name}` cannot be set: it is no param and no dim");
                let mistake = Diagnostic::error(SET, nowhere, message);
                let settable = names
                    .all()
                    .filter(|name| matches!(names.get(name), Some(Global::Param(_) | Global::Dim)));
                mistakes.report_unknown(mistake, name, settable);
            }
        }
    }

    /// Binds the sizes that are a name alone in the declared type of an input.
    fn read_header(&mut self, names: &Names<'_>, facts: &Facts, input: &Input) {
        let Some(source) = &input.source else { return };
        let (name, declared) = match &source.kind {
            SourceKind::Split {
                of: SplitOf::Source(inner),
                ..
            } => (super::inner_name(&input.name.value), &inner.ty),
            _ => (input.name.value.clone(), &source.ty),
        };
        let (Some(declared), Some(found)) = (declared, facts.headers.get(&name)) else {
            return;
        };
        for (declared, found) in declared.kind.sizes().iter().zip(found.sizes()) {
            let Some(symbol) = lone_symbol(names, declared) else {
                continue;
            };
            if let Some(size) = found.as_u64() {
                self.bind(symbol, size, &format!("the header of `{name}`"));
            }
        }
    }

    fn check_limits(&self, ast: &Ast, mistakes: &mut Mistakes) {
        for dim in &ast.dims {
            let (Some(max), Some((size, from))) = (&dim.max, self.0.get(&dim.name.value)) else {
                continue;
            };
            if *size > max.value {
                let name = &dim.name.value;
                let message = format!("`{name}` is {size}, more than its max {}", max.value);
                let mistake = Diagnostic::error(SET, max.span, message);
                mistakes.report(mistake.at(format!("{name} = {size} comes from {from}")));
            }
        }
    }
}

/// What differs between the declared type of an input and the header of its file, which is at `path`.
pub(super) fn difference(
    path: &str,
    declared: &ValueType,
    found: &ValueType,
    bindings: &Bindings,
    mentioned: Vec<&str>,
    span: Span,
) -> Option<Diagnostic> {
    let sizes = || declared.sizes().iter().zip(found.sizes());
    let differs = !is_alike(declared, found)
        || declared.sizes().len() != found.sizes().len()
        || sizes().any(|(declared, found)| declared.as_int().is_some() && declared != found);
    if !differs {
        return None;
    }
    let message = format!("`{path}` has {found}, declared is {declared}");
    let mistake = Diagnostic::error(DECLARED, span, message);
    Some(match bindings.explain(mentioned) {
        Some(sizes) => mistake.at(sizes),
        None => mistake
            .help(format!("declare \"{found}\""))
            .fix(span, found.to_string()),
    })
}

/// Whether two types differ in sizes only.
fn is_alike(declared: &ValueType, found: &ValueType) -> bool {
    match (declared, found) {
        (ValueType::Tensor(declared), ValueType::Tensor(found)) => declared.dtype == found.dtype,
        (ValueType::Table(declared), ValueType::Table(found)) => declared.columns == found.columns,
        _ => false,
    }
}

/// The name, where a size is nothing else and no param.
fn lone_symbol<'e>(names: &Names<'_>, size: &'e Expr) -> Option<&'e str> {
    match &size.kind {
        ExprKind::Name(name) if matches!(names.get(name), None | Some(Global::Dim)) => Some(name),
        _ => None,
    }
}

/// The number that takes the place of a param's, of the same kind: whole numbers can be sizes,
/// and meet integers without making floats of them.
fn replacement(declared: Option<Number>, text: &str) -> Result<Number, &'static str> {
    let given = number(text).ok_or("not a number")?;
    match (declared, given) {
        (Some(Number::Float(_)), Number::Int(value)) => Ok(Number::Float(value as f64)),
        (Some(Number::Int(_)), Number::Float(_)) => Err("it is a whole number in the file"),
        _ => Ok(given),
    }
}

/// A number as authors write it.
fn number(text: &str) -> Option<Number> {
    if let Ok(value) = text.parse() {
        return Some(Number::Int(value));
    }
    let value: f64 = text.parse().ok()?;
    value.is_finite().then_some(Number::Float(value))
}
