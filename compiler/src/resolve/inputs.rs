//! Inputs: their sources and types, and the collections that they make.

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::expr::{Expr, Symbol};
use haul_ir::format::{Format, Refusal, Typing};
use haul_ir::graph::{Collection, Dim, Input, Producer, Source, Value};
use haul_ir::id::{CollectionId, InputId};
use haul_ir::op::axis_of;
use haul_ir::types::ValueType;

use super::names::Global;
use super::{Each, InputState, Resolver};
use crate::diagnostics::codes::{AXIS, SIZE, SOURCE, UNDECLARED, UNKNOWN_NAME, UNREADABLE};
use crate::syntax::ast::{self, Name, SourceKind, Spanned, SplitOf};

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
        self.check_source_path(source)?;
        self.check_readable(&input.name.value, source)?;
        match &source.kind {
            SourceKind::Files { .. } => self.files(&input.name, source),
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

    fn files(&mut self, name: &Name, source: &ast::Source) -> Option<InputId> {
        let SourceKind::Files {
            glob,
            format,
            settings,
            plan,
        } = &source.kind
        else {
            return None;
        };
        let width = self.facts.widths.get(&name.value).copied();
        let width = width.map_or_else(
            || {
                let symbol = Symbol::new(&name.value);
                let dim = Dim {
                    plan: plan.as_ref().map(|plan| plan.value),
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
        if let Some(format) = format {
            self.check_items(source, format, settings, &item)?;
        }
        let source = Source::Files {
            glob: glob.value.clone(),
            format: *format,
            settings: settings.plain(),
        };
        Some(self.add_input(&name.value, name.span, source, item, Some(collection)))
    }

    /// Whether the format that is named for several files can give such items.
    fn check_items(
        &mut self,
        source: &ast::Source,
        format: &Format,
        settings: &ast::Settings,
        item: &ValueType,
    ) -> Option<()> {
        let refused = match (item, format.typing) {
            (ValueType::Text, Typing::Text) => Ok(()),
            (_, Typing::Text) => Err(Refusal::new(format!("`{}` gives text", format.name))),
            (ValueType::Text, _) => {
                let message = format!("the type of the `{}` files is not known", format.name);
                let mistake = Diagnostic::error(UNDECLARED, source.span, message);
                let help = "declare it, for example `type: \"f32[n, 8]\"`";
                self.mistakes.report(mistake.help(help));
                return None;
            }
            (ty, _) => (format.check_input)(ty, &settings.plain()),
        };
        let Err(refusal) = refused else {
            return Some(());
        };
        let span = source.ty.as_ref().map_or(source.span, |ty| ty.span);
        let mistake = Diagnostic::error(SOURCE, span, refusal.message);
        self.mistakes.report(mistake.at(item.to_string()));
        None
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
            let message = "only a tensor can be split";
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
}
