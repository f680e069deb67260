//! Sources of one value, and the types that they can give.

use haul_ir::diagnostic::Diagnostic;
use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::graph::Source;
use haul_ir::types::{TensorType, ValueType};

use super::{Resolver, constants, headers};
use crate::diagnostics::codes::{OVERFLOW, SOURCE, UNDECLARED};
use crate::syntax::ast::{self, ExprKind, Name, SourceKind, Spanned, TypeKind};

impl Resolver<'_> {
    /// The source and type of an input of one value.
    pub(super) fn source(
        &mut self,
        name: &str,
        source: &ast::Source,
    ) -> Option<(Source, ValueType)> {
        let made = match &source.kind {
            SourceKind::Text { path } => {
                let path = path.value.clone();
                return Some((Source::Text { path }, ValueType::Text));
            }
            SourceKind::Random { seed } => Source::Random { seed: seed.value },
            SourceKind::Constant { value } => {
                let declared = source.ty.as_ref().map(|ty| self.tensor(ty));
                let declared = match declared {
                    Some(declared) => Some(declared?),
                    None => None,
                };
                let place = source.ty.as_ref().map_or(source.span, |ty| ty.span);
                return match constants::constant(value, declared, place) {
                    Ok((numbers, ty)) => Some((Source::Constant { numbers }, ty.into())),
                    Err(mistake) => {
                        self.mistakes.report(*mistake);
                        None
                    }
                };
            }
            SourceKind::Linspace { start, stop, num } => {
                return self.linspace(start.value, stop.value, num);
            }
            kind => file_source(kind)?,
        };
        let ty = self.declared_or_found(name, source)?;
        self.check_source(source, &made, &ty)?;
        Some((made, ty.into()))
    }

    fn linspace(
        &mut self,
        start: f64,
        stop: f64,
        num: &Spanned<u64>,
    ) -> Option<(Source, ValueType)> {
        let ty = TensorType::new(DType::F64, vec![num.value.into()]);
        if super::sizes::is_too_large(&ty) {
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
            ValueType::Text => {
                let message = "this source gives a tensor, not text";
                let mistake = Diagnostic::error(SOURCE, ty.span, message);
                self.mistakes
                    .report(mistake.help("declare a type such as `f32[n]`"));
                None
            }
        }
    }

    fn declared_or_found(&mut self, name: &str, source: &ast::Source) -> Option<TensorType> {
        let found = self.facts.headers.get(name).and_then(ValueType::tensor);
        let Some(ty) = &source.ty else {
            if found.is_none() {
                let message = format!("the type of `{name}` is not known");
                let help = "declare it, for example `type: \"f32[n, 8]\"`";
                self.mistakes
                    .report(Diagnostic::error(UNDECLARED, source.span, message).help(help));
            }
            return found.cloned();
        };
        let declared = self.tensor(ty)?;
        if let Some(found) = found {
            let mentioned = names_in(ty);
            let difference =
                headers::difference(&declared, found, &self.bindings, mentioned, ty.span);
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
        ty: &TensorType,
    ) -> Option<()> {
        let refused = match source {
            Source::Csv { columns, .. } => refuse_table(columns.len(), ty),
            Source::Image { .. } => refuse_picture(ty),
            Source::Random { .. } if ty.dtype.kind() != Kind::Float => {
                Some("random numbers in [0, 1) are floats".to_owned())
            }
            _ => None,
        };
        let Some(message) = refused else {
            return Some(());
        };
        let span = written.ty.as_ref().map_or(written.span, |ty| ty.span);
        self.mistakes
            .report(Diagnostic::error(SOURCE, span, message).at(ty.to_string()));
        None
    }
}

/// The source, where it is a file whose header tells the type.
pub(crate) fn file_source(kind: &SourceKind) -> Option<Source> {
    let text = |name: &Name| name.value.clone();
    Some(match kind {
        SourceKind::Npy { path } => Source::Npy { path: text(path) },
        SourceKind::Npz { path, array } => Source::Npz {
            path: text(path),
            array: text(array),
        },
        SourceKind::Csv {
            path,
            columns,
            header,
        } => Source::Csv {
            path: text(path),
            columns: columns.iter().flatten().map(text).collect(),
            header: *header,
        },
        SourceKind::Image { path } => Source::Image { path: text(path) },
        _ => return None,
    })
}

/// Why a table cannot have this type.
fn refuse_table(columns: usize, ty: &TensorType) -> Option<String> {
    if ty.rank() != 2 {
        return Some(format!(
            "a table has rows and columns, this has {} axes",
            ty.rank()
        ));
    }
    if ty.dtype.kind() == Kind::Complex {
        return Some("a table holds real numbers".to_owned());
    }
    let declared = ty.shape[1].as_u64()?;
    let named = columns as u64;
    (columns > 0 && declared != named)
        .then(|| format!("{named} columns are named, the type has {declared}"))
}

/// Why a picture cannot have this type.
pub(crate) fn refuse_picture(ty: &TensorType) -> Option<String> {
    if !matches!(ty.dtype, DType::U8 | DType::U16) {
        return Some(format!("a picture is u8 or u16, not {}", ty.dtype));
    }
    if !(2..=3).contains(&ty.rank()) {
        return Some("a picture is [h, w] or [h, w, channels]".to_owned());
    }
    let channels = ty.shape.get(2).and_then(Expr::as_int)?;
    (!(1..=4).contains(&channels)).then(|| format!("a picture has 1 to 4 channels, not {channels}"))
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
    if let TypeKind::Tensor { dims, .. } = &ty.kind {
        dims.iter().for_each(|dim| collect(dim, &mut names));
    }
    names
}
