//! Inputs: their sources and types, and the collections that they make.

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::{Expr, Symbol};
use haul_ir::graph::{Collection, Dim, Input, Producer, Source, Value};
use haul_ir::id::{CollectionId, InputId};
use haul_ir::op::axis_of;
use haul_ir::types::{TensorType, ValueType};

use super::names::Global;
use super::{Each, InputState, Resolver, constants, headers};
use crate::diagnostics::codes::{
    AXIS, OVERFLOW, SIZE, SOURCE, UNDECLARED, UNKNOWN_NAME, UNREADABLE,
};
use crate::syntax::ast::{self, ExprKind, Name, SourceKind, Spanned, SplitOf, TypeKind};

/// The name of the source that is given in place in a `Split`.
pub(crate) fn inner_name(split: &str) -> String {
    format!("{split}.of")
}

impl<'a> Resolver<'a> {
    pub(super) fn inputs(&mut self) {
        for position in 0..self.ast.inputs.len() {
            self.input(position);
        }
    }

    /// The input at a position of the file.
    pub(super) fn input(&mut self, position: usize) -> Option<InputId> {
        match self.inputs[position] {
            InputState::Known(id) => return Some(id),
            InputState::Unknown => return None,
            InputState::Pending => {}
        }
        let id = self.new_input(&self.ast.inputs[position]);
        self.inputs[position] = id.map_or(InputState::Unknown, InputState::Known);
        id
    }

    fn new_input(&mut self, input: &'a ast::Input) -> Option<InputId> {
        let source = input.source.as_ref()?;
        self.check_readable(&input.name.value, source)?;
        match &source.kind {
            SourceKind::Files { glob, plan } => {
                self.files(&input.name, source, glob, plan.as_ref())
            }
            SourceKind::Split { of, axis, size } => self.split(&input.name, of, axis, size),
            _ => self.single(&input.name.value, input.name.span, source),
        }
    }

    /// Whether the data is there, as far as facts tell.
    fn check_readable(&mut self, name: &str, source: &ast::Source) -> Option<()> {
        let (name, source) = match &source.kind {
            SourceKind::Split {
                of: SplitOf::Source(inner),
                ..
            } => (&inner_name(name), &**inner),
            _ => (&name.to_owned(), source),
        };
        let Some(why) = self.facts.unreadable.get(name) else {
            return Some(());
        };
        self.mistakes
            .report(Diagnostic::error(UNREADABLE, source.span, why));
        None
    }

    /// An input of one value.
    fn single(&mut self, name: &str, span: Span, source: &ast::Source) -> Option<InputId> {
        let (source, ty) = self.source(name, source)?;
        Some(self.add_input(name, span, source, ty, None))
    }

    fn files(
        &mut self,
        name: &Name,
        source: &ast::Source,
        glob: &Name,
        plan: Option<&Spanned<u64>>,
    ) -> Option<InputId> {
        let width = self.facts.widths.get(&name.value).copied();
        let width = width.map_or_else(
            || {
                let symbol = Symbol::new(&name.value);
                let dim = Dim {
                    plan: plan.map(|plan| plan.value),
                    ..Dim::default()
                };
                self.graph.dims.insert(symbol.clone(), dim);
                Expr::symbol(symbol)
            },
            Expr::from,
        );
        let collection = self.add_collection(&name.value, width);
        self.each = Each::Over(collection);
        let item = source.ty.as_ref().map(|ty| self.declared(ty));
        self.each = Each::Once;
        let item = item.unwrap_or(Some(ValueType::Text))?;
        let source = Source::Files {
            glob: glob.value.clone(),
        };
        Some(self.add_input(&name.value, name.span, source, item, Some(collection)))
    }

    fn split(
        &mut self,
        name: &Name,
        of: &'a SplitOf,
        axis: &Spanned<i64>,
        size: &Spanned<u64>,
    ) -> Option<InputId> {
        let of = self.split_of(name, of)?;
        let whole = self.graph.values[self.graph.inputs[of].value].ty.clone();
        let ValueType::Tensor(mut tensor) = whole else {
            let message = "text cannot be split";
            self.mistakes
                .report(Diagnostic::error(SOURCE, name.span, message));
            return None;
        };
        if size.value == 0 {
            let message = "slices of size 0 never end";
            self.mistakes
                .report(Diagnostic::error(SIZE, size.span, message));
            return None;
        }
        let axis = match axis_of(axis.value, tensor.rank()) {
            Ok(found) => found,
            Err(error) => {
                let mistake = Diagnostic::error(AXIS, axis.span, error.message);
                self.mistakes.report(mistake.at(tensor.to_string()));
                return None;
            }
        };
        let length = Expr::from(size.value);
        let given = self.facts.widths.get(&name.value).copied();
        let width = given.map_or_else(|| tensor.shape[axis].ceil_div(&length), Expr::from);
        let collection = self.add_collection(&name.value, width);
        let is_even = tensor.shape[axis].as_int().is_some()
            && tensor.shape[axis].modulo(&length) == Expr::ZERO;
        tensor.shape[axis] = if is_even {
            length
        } else {
            self.slice_length(&name.value, size.value, collection)
        };
        let source = Source::Split {
            of,
            axis,
            size: size.value,
        };
        Some(self.add_input(
            &name.value,
            name.span,
            source,
            tensor.into(),
            Some(collection),
        ))
    }

    /// The length of a slice, where the last one is perhaps shorter.
    fn slice_length(&mut self, name: &str, size: u64, collection: CollectionId) -> Expr {
        let symbol = Symbol::new(name);
        let dim = Dim {
            plan: Some(size),
            max: Some(size),
            per_item: Some(collection),
        };
        self.graph.dims.insert(symbol.clone(), dim);
        Expr::symbol(symbol)
    }

    fn split_of(&mut self, split: &Name, of: &'a SplitOf) -> Option<InputId> {
        let makes_collection = |source: &ast::Source| {
            matches!(
                source.kind,
                SourceKind::Files { .. } | SourceKind::Split { .. }
            )
        };
        let (position, span, source) = match of {
            SplitOf::Source(source) => (None, source.span, Some(source.as_ref())),
            SplitOf::Input(name) => match self.names.get(&name.value) {
                Some(Global::Input(position)) => {
                    let source = self.ast.inputs[position].source.as_ref();
                    (Some(position), name.span, source)
                }
                _ => {
                    let message = format!("there is no input `{}`", name.value);
                    let mistake = Diagnostic::error(UNKNOWN_NAME, name.span, message);
                    let inputs = self
                        .ast
                        .inputs
                        .iter()
                        .map(|input| input.name.value.as_str());
                    let others = inputs.filter(|input| *input != split.value);
                    self.mistakes.report_unknown(mistake, &name.value, others);
                    return None;
                }
            },
        };
        if makes_collection(source?) {
            let message = "a collection cannot be split again";
            self.mistakes
                .report(Diagnostic::error(SOURCE, span, message));
            return None;
        }
        match position {
            Some(position) => {
                self.used.input(position);
                self.input(position)
            }
            None => self.single(&inner_name(&split.value), span, source?),
        }
    }

    fn add_collection(&mut self, name: &str, width: Expr) -> CollectionId {
        let input = self.next_input();
        self.graph.collections.push(Collection {
            name: name.to_owned(),
            input,
            width,
        })
    }

    fn next_input(&self) -> InputId {
        haul_ir::id::Id::from_index(self.graph.inputs.len())
    }

    fn add_input(
        &mut self,
        name: &str,
        span: Span,
        source: Source,
        ty: ValueType,
        collection: Option<CollectionId>,
    ) -> InputId {
        let producer = Producer::Input(self.next_input());
        let value = self.graph.values.push(Value {
            name: name.to_owned(),
            ty,
            over: collection,
            producer,
        });
        self.places.inputs.push(span);
        self.graph.inputs.push(Input {
            name: name.to_owned(),
            source,
            value,
            collection,
        })
    }

    /// The source and type of an input of one value.
    fn source(&mut self, name: &str, source: &ast::Source) -> Option<(Source, ValueType)> {
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
