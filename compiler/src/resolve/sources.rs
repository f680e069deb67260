//! Sources of one value, and the types that they can give.

use haul_ir::diagnostic::Diagnostic;
use haul_ir::dtype::{DType, Kind};
use haul_ir::format::{File, Refusal, Typing};
use haul_ir::graph::Source;
use haul_ir::location::Location;
use haul_ir::types::{TensorType, ValueType};

use super::{Resolver, constants, headers};
use crate::diagnostics::codes::{OVERFLOW, SOURCE, UNDECLARED};
use crate::syntax::ast::{self, ExprKind, SourceKind, Spanned, TypeKind};

impl Resolver<'_> {
    /// The source and type of an input of one value.
    pub(super) fn source(
        &mut self,
        name: &str,
        source: &ast::Source,
    ) -> Option<(Source, ValueType)> {
        let made = match &source.kind {
            SourceKind::File(file) if file.format.typing == Typing::Text => {
                return Some((Source::File(plain(file)), ValueType::Text));
            }
            SourceKind::File(file) => Source::File(plain(file)),
            SourceKind::Random { seed } => Source::Random { seed: seed.value },
            SourceKind::Constant { value } => {
                let declared = match &source.ty {
                    Some(ty) => Some(self.declared(ty)?),
                    None => None,
                };
                let place = source.ty.as_ref().map_or(source.span, |ty| ty.span);
                return match constants::constant(value, declared, place) {
                    Ok(made) => Some(made),
                    Err(mistake) => {
                        self.mistakes.report(*mistake);
                        None
                    }
                };
            }
            SourceKind::Linspace { start, stop, num } => {
                return self.linspace(start.value, stop.value, num);
            }
            SourceKind::Files { .. } | SourceKind::Split { .. } => return None,
        };
        let ty = self.declared_or_found(name, source)?;
        self.check_source(source, &made, &ty)?;
        Some((made, ty))
    }

    fn linspace(
        &mut self,
        start: f64,
        stop: f64,
        num: &Spanned<u64>,
    ) -> Option<(Source, ValueType)> {
        let ty = TensorType::new(DType::F64, vec![num.value.into()]);
        if super::sizes::is_too_large(&ty.clone().into()) {
            let message = format!("{ty} has too many bytes for 63 bits");
            self.mistakes
                .report(Diagnostic::error(OVERFLOW, num.span, message));
            return None;
        }
        Some((Source::Linspace { start, stop }, ty.into()))
    }

    /// A declared type that has to be a tensor's.
    fn tensor(&mut self, ty: &ast::Type) -> Option<TensorType> {
        match self.declared(ty)? {
            ValueType::Tensor(tensor) => Some(tensor),
            other => {
                let what = match other {
                    ValueType::Table(_) => "a table",
                    _ => "text",
                };
                let message = format!("this source gives a tensor, not {what}");
                let mistake = Diagnostic::error(SOURCE, ty.span, message);
                self.mistakes
                    .report(mistake.help("declare a type such as `f32[n]`"));
                None
            }
        }
    }

    fn declared_or_found(&mut self, name: &str, source: &ast::Source) -> Option<ValueType> {
        let found = self.facts.headers.get(name);
        let found = found.filter(|ty| **ty != ValueType::Text);
        let Some(ty) = &source.ty else {
            if found.is_none() {
                let message = format!("the type of `{name}` is not known");
                let help = match &source.kind {
                    SourceKind::File(file) if Location::is_remote(&file.path.value) => {
                        "declare it, for example `type: \"f32[n, 8]\"`: only `haul run` reads \
                         what a URL names"
                    }
                    _ => "declare it, for example `type: \"f32[n, 8]\"`",
                };
                self.mistakes
                    .report(Diagnostic::error(UNDECLARED, source.span, message).help(help));
            }
            return found.cloned();
        };
        let declared = match (&source.kind, &ty.kind) {
            (SourceKind::File(_), TypeKind::Table { .. }) => self.declared(ty)?,
            _ => self.tensor(ty)?.into(),
        };
        if let (Some(found), SourceKind::File(file)) = (found, &source.kind) {
            let (path, bindings) = (&file.path.value, &self.bindings);
            let mentioned = names_in(ty);
            let difference =
                headers::difference(path, &declared, found, bindings, mentioned, ty.span);
            if let Some(mistake) = difference {
                self.mistakes.report(mistake);
                return None;
            }
        }
        Some(declared)
    }

    /// Whether a source can give such a tensor.
    fn check_source(
        &mut self,
        written: &ast::Source,
        source: &Source,
        ty: &ValueType,
    ) -> Option<()> {
        let dtype = ty.tensor().map(|tensor| tensor.dtype);
        let refused = match source {
            Source::File(file) => (file.format.check_input)(ty, &file.settings).err(),
            Source::Random { .. } if dtype.is_some_and(|dtype| dtype.kind() != Kind::Float) => {
                Some(Refusal::new("random numbers in [0, 1) are floats"))
            }
            _ => None,
        };
        let Some(refusal) = refused else {
            return Some(());
        };
        let of_setting = match (&written.kind, refusal.setting) {
            (SourceKind::File(file), Some(setting)) => file.settings.place(setting),
            _ => None,
        };
        let of_type = written.ty.as_ref().map_or(written.span, |ty| ty.span);
        let span = of_setting.unwrap_or(of_type);
        let mistake = Diagnostic::error(SOURCE, span, refusal.message).at(ty.to_string());
        self.mistakes.report(match refusal.help {
            Some(help) => mistake.help(help),
            None => mistake,
        });
        None
    }
}

/// The file without the places where things are written.
pub(crate) fn plain(file: &ast::File) -> File {
    File {
        format: file.format,
        path: file.path.value.clone(),
        settings: file.settings.plain(),
    }
}

/// The names in a declared type.
fn names_in(ty: &ast::Type) -> Vec<&str> {
    fn collect<'e>(size: &'e ast::Expr, names: &mut Vec<&'e str>) {
        match &size.kind {
            ExprKind::Name(name) => names.push(name),
            ExprKind::Unary { operand, .. } => collect(operand, names),
            ExprKind::Binary { left, right, .. } => {
                collect(left, names);
                collect(right, names);
            }
            ExprKind::Call { arguments, .. } => {
                arguments.iter().for_each(|arg| collect(&arg.value, names));
            }
            _ => {}
        }
    }
    let mut names = Vec::new();
    let sizes = ty.kind.sizes().iter();
    sizes.for_each(|size| collect(size, &mut names));
    names
}
