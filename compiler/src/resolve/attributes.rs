//! Options of calls: axes, shapes, words, positions; known when the pipeline is compiled.

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::expr::Expr;
use haul_ir::graph::Scalar;
use haul_ir::op::{Attr, Attrs, IndexItem, Number, Op, Param, ParamKind};
use haul_ir::types::ValueType;

use super::formula::Scope;
use super::{Operand, Resolver};
use crate::diagnostics::codes::{OPTION, VALUE};
use crate::syntax::ast::{self, ExprKind, Spanned};
use crate::syntax::parse_type;

/// The default that means something of its own, which an author may also write.
const NONE: &str = "none";

/// All options of an op left out.
pub(super) fn defaults(op: &dyn Op) -> Attrs {
    let attrs = op
        .params()
        .iter()
        .filter_map(|param| match param.kind.is_value() {
            true => given(param, false),
            false => Some((param.name, default(param))),
        });
    Attrs(attrs.collect())
}

/// Whether an author writes that it is left out.
pub(super) fn is_none(param: &Param, expr: &ast::Expr) -> bool {
    param.default == Some(NONE) && matches!(&expr.kind, ExprKind::Name(name) if name == NONE)
}

/// What the attributes say of an optional tensor.
pub(super) fn given(param: &Param, is_given: bool) -> Option<(&'static str, Attr)> {
    (param.is_optional_tensor()).then_some((param.name, Attr::Bool(is_given)))
}

/// The default of an option, which the catalogue writes as an author would.
pub(super) fn default(param: &Param) -> Attr {
    let text = param.default.unwrap_or(NONE).trim();
    if text == NONE {
        return Attr::None;
    }
    let word = |words: &[&'static str]| {
        let quoted = text.trim_matches(['\'', '"']);
        words
            .iter()
            .find(|word| **word == quoted)
            .map(|word| Attr::Word(word))
    };
    let items = || {
        let inner = text.trim_matches(['[', ']', '(', ')']).split(',');
        inner.map(str::trim).filter(|item| !item.is_empty())
    };
    let ints = || {
        let ints = items().map(|item| item.parse::<i128>().ok().map(Expr::from));
        ints.collect::<Option<_>>().map(Attr::Ints)
    };
    let numbers = || {
        let numbers = items().map(|item| item.parse().ok().map(Number));
        numbers.collect::<Option<_>>().map(Attr::Numbers)
    };
    let found = match param.kind {
        ParamKind::Bool => text.parse().ok().map(Attr::Bool),
        ParamKind::Int => text.parse::<i128>().ok().map(|int| Attr::Int(int.into())),
        ParamKind::Axes | ParamKind::Ints | ParamKind::Shape => ints(),
        ParamKind::Numbers => numbers(),
        ParamKind::Word(words) => word(words),
        ParamKind::IntsOrWord(words) => word(words).or_else(ints),
        _ => None,
    };
    found.unwrap_or(Attr::None)
}

impl<'a> Resolver<'a> {
    /// An option as it is written.
    pub(super) fn attribute(
        &mut self,
        param: &Param,
        expr: &'a ast::Expr,
        scope: &Scope<'a>,
    ) -> Option<Attr> {
        if is_none(param, expr) {
            return Some(Attr::None);
        }
        match param.kind {
            ParamKind::Bool => self.bool(param, expr),
            ParamKind::Int => self.int(expr, scope).map(Attr::Int),
            ParamKind::Axes | ParamKind::Ints | ParamKind::Shape => self.ints(expr, scope),
            ParamKind::Numbers => self.numbers(expr, scope),
            ParamKind::Word(words) => self.word(param, words, expr),
            ParamKind::IntsOrWord(words) => match expr.kind {
                ExprKind::Text(_) => self.word(param, words, expr),
                _ => self.ints(expr, scope),
            },
            ParamKind::Quoted => match &expr.kind {
                ExprKind::Text(text) => Some(Attr::Quoted(text.as_str().into())),
                ExprKind::Error => None,
                _ => self.refuse(expr.span, format!("`{}` is a quoted word", param.name)),
            },
            ParamKind::Words => self.words(param, expr),
            ParamKind::Literal => match &expr.kind {
                ExprKind::Text(text) => Some(Attr::Quoted(text.as_str().into())),
                _ => self
                    .number(expr, scope)
                    .map(|number| Attr::Numbers(vec![number])),
            },
            ParamKind::Type => self.quoted_type(param, expr),
            ParamKind::Size => self.size_name(param, expr),
            _ => self.refuse(expr.span, format!("`{}` is written as `x[…]`", param.name)),
        }
    }

    /// What stands in the brackets of `x[…]`.
    pub(super) fn index(
        &mut self,
        items: &'a [Spanned<ast::IndexItem>],
        scope: &Scope<'a>,
    ) -> Option<Attr> {
        let items: Vec<_> = items
            .iter()
            .map(|item| self.index_item(item, scope))
            .collect();
        Some(Attr::Index(items.into_iter().collect::<Option<_>>()?))
    }

    fn index_item(
        &mut self,
        item: &'a Spanned<ast::IndexItem>,
        scope: &Scope<'a>,
    ) -> Option<IndexItem> {
        let (start, stop, step) = match &item.value {
            ast::IndexItem::Ellipsis => return Some(IndexItem::Ellipsis),
            ast::IndexItem::NewAxis => return Some(IndexItem::NewAxis),
            ast::IndexItem::At(at) => return self.int(at, scope).map(IndexItem::At),
            ast::IndexItem::Slice { start, stop, step } => (start, stop, step),
        };
        let mut bound = |bound: &'a Option<ast::Expr>| match bound {
            Some(bound) => self.int(bound, scope).map(Some),
            None => Some(None),
        };
        let (start, stop) = (bound(start), bound(stop));
        let step = match step {
            Some(step) => self.step(step, scope),
            None => Some(1),
        };
        Some(IndexItem::Slice {
            start: start?,
            stop: stop?,
            step: step?,
        })
    }

    fn step(&mut self, step: &'a ast::Expr, scope: &Scope<'a>) -> Option<i64> {
        let value = self.int(step, scope)?;
        let known = value.as_int().and_then(|value| i64::try_from(value).ok());
        match known {
            Some(known) if known != 0 => Some(known),
            _ => {
                let message =
                    format!("the step of a slice is a whole number other than 0, not {value}");
                self.mistakes
                    .report(Diagnostic::error(VALUE, step.span, message));
                None
            }
        }
    }

    /// `'a'`, or `['a', 'b']`.
    fn words(&mut self, param: &Param, expr: &ast::Expr) -> Option<Attr> {
        let items = match &expr.kind {
            ExprKind::List(items) => items.as_slice(),
            _ => std::slice::from_ref(expr),
        };
        let mut words = Vec::new();
        for item in items {
            match &item.kind {
                ExprKind::Text(text) => words.push(text.as_str().into()),
                ExprKind::Error => return None,
                _ => {
                    let message = format!("`{}` is made of quoted words", param.name);
                    return self.refuse(item.span, message);
                }
            }
        }
        Some(Attr::Words(words))
    }

    /// The name that the author gives to a size.
    fn size_name(&mut self, param: &Param, expr: &ast::Expr) -> Option<Attr> {
        let ExprKind::Text(name) = &expr.kind else {
            if matches!(expr.kind, ExprKind::Error) {
                return None;
            }
            let message = format!("`{}` is the quoted name of a size", param.name);
            return self.refuse(expr.span, message);
        };
        let size = Spanned::new(format!("bool[{name}]"), expr.span);
        let named = parse_type(&size).ok();
        let is_name = named.is_some_and(|ty| {
            matches!(
                ty.kind.sizes(),
                [ast::Expr {
                    kind: ExprKind::Name(_),
                    ..
                }]
            )
        });
        if !is_name {
            return self.refuse(inside(expr.span, name), format!("'{name}' is not a name"));
        }
        match self.size_named(name, expr.span)?.as_symbol() {
            Some(symbol) => Some(Attr::Size(symbol.clone())),
            None => {
                let message = format!("`{name}` is known already: only the data tells this size");
                self.refuse(inside(expr.span, name), message)
            }
        }
    }

    fn bool(&mut self, param: &Param, expr: &ast::Expr) -> Option<Attr> {
        match &expr.kind {
            ExprKind::Name(name) if name == "true" => Some(Attr::Bool(true)),
            ExprKind::Name(name) if name == "false" => Some(Attr::Bool(false)),
            ExprKind::Error => None,
            _ => self.refuse(expr.span, format!("`{}` is `true` or `false`", param.name)),
        }
    }

    fn ints(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>) -> Option<Attr> {
        let ExprKind::List(items) = &expr.kind else {
            return Some(Attr::Ints(vec![self.int(expr, scope)?]));
        };
        let ints: Vec<_> = items.iter().map(|item| self.int(item, scope)).collect();
        Some(Attr::Ints(ints.into_iter().collect::<Option<_>>()?))
    }

    fn numbers(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>) -> Option<Attr> {
        let ExprKind::List(items) = &expr.kind else {
            return Some(Attr::Numbers(vec![self.number(expr, scope)?]));
        };
        let numbers: Vec<_> = items.iter().map(|item| self.number(item, scope)).collect();
        Some(Attr::Numbers(numbers.into_iter().collect::<Option<_>>()?))
    }

    fn number(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>) -> Option<Number> {
        let found = match self.scalar(expr, scope)? {
            Ok(Scalar::Float(value)) => return Some(Number(value)),
            Ok(Scalar::Int(value)) => match value.as_int() {
                #[expect(clippy::cast_precision_loss, reason = "the nearest number is meant")]
                Some(value) => return Some(Number(value as f64)),
                None => value.to_string(),
            },
            Ok(other) => other.to_string(),
            Err(found) => found.to_owned(),
        };
        let message = format!("a number is needed here, this is {found}");
        let help = "it is made of numbers and params, without dims";
        self.mistakes
            .report(Diagnostic::error(OPTION, expr.span, message).help(help));
        None
    }

    fn int(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>) -> Option<Expr> {
        let found = match self.scalar(expr, scope)? {
            Ok(Scalar::Int(value)) => return Some(value),
            Ok(other) => other.to_string(),
            Err(found) => found.to_owned(),
        };
        let help = "it is made of whole numbers, params and dims";
        let message = format!("a whole number is needed here, this is {found}");
        self.mistakes
            .report(Diagnostic::error(OPTION, expr.span, message).help(help));
        None
    }

    /// The scalar, or in words what stands there instead; nothing after a mistake.
    pub(super) fn scalar(
        &mut self,
        expr: &'a ast::Expr,
        scope: &Scope<'a>,
    ) -> Option<Result<Scalar, &'static str>> {
        Some(match &expr.kind {
            ExprKind::List(_) => Err("a list"),
            ExprKind::Text(_) => Err("a quoted word"),
            _ => match self.expression(expr, scope) {
                Operand::Unknown => return None,
                Operand::Scalar(scalar) => Ok(scalar),
                Operand::Value(_) | Operand::Items(..) => Err("a computed value"),
            },
        })
    }

    fn word(
        &mut self,
        param: &Param,
        words: &'static [&'static str],
        expr: &ast::Expr,
    ) -> Option<Attr> {
        let ExprKind::Text(text) = &expr.kind else {
            if matches!(expr.kind, ExprKind::Error) {
                return None;
            }
            let words: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
            let message = format!("`{}` is one of {}", param.name, words.join(", "));
            return self.refuse(expr.span, message);
        };
        if let Some(word) = words.iter().find(|word| *word == text) {
            return Some(Attr::Word(word));
        }
        let message = format!("`{}` cannot be '{text}'", param.name);
        let mistake = Diagnostic::error(OPTION, inside(expr.span, text), message);
        self.mistakes
            .report_unknown(mistake, text, words.iter().copied());
        None
    }

    fn quoted_type(&mut self, param: &Param, expr: &ast::Expr) -> Option<Attr> {
        let ExprKind::Text(text) = &expr.kind else {
            if matches!(expr.kind, ExprKind::Error) {
                return None;
            }
            return self.refuse(
                expr.span,
                format!("`{}` is a type such as 'f32[n, 8]'", param.name),
            );
        };
        let written = match parse_type(&Spanned::new(text.clone(), expr.span)) {
            Ok(written) => written,
            Err(mistakes) => {
                mistakes
                    .into_iter()
                    .for_each(|mistake| self.mistakes.report(mistake));
                return None;
            }
        };
        match self.declared(&written)? {
            ValueType::Text => self.refuse(
                expr.span,
                format!("`{}` is the type of a tensor or a table", param.name),
            ),
            ty => Some(Attr::Type(ty)),
        }
    }

    pub(super) fn refuse<T>(&mut self, span: Span, message: String) -> Option<T> {
        self.mistakes
            .report(Diagnostic::error(OPTION, span, message));
        None
    }
}

/// The place between the quotes, where the span has them.
fn inside(span: Span, text: &str) -> Span {
    let quotes = (span.end - span.start).saturating_sub(text.len()) / 2;
    Span::new(span.start + quotes, span.end - quotes)
}
