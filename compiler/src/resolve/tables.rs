//! What operators mean of text and tables: `t.name`, `t['name']`, `x[mask]`, `x == 'word'`.

use haul_ir::diagnostic::Span;
use haul_ir::op::{Attr, Attrs, ParamKind};
use haul_ir::types::ValueType;

use super::attributes::defaults;
use super::formula::Scope;
use super::{Operand, Origin, Resolver, ValueRef};
use crate::ops::{COLUMN, FILTER, TEXT_EQUAL, unary};
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, IndexItem, Spanned, UnaryOp};

/// What stands alone in the brackets of `x[…]`, where it is no position.
pub(super) enum Special<'a> {
    /// The quoted name of a column.
    Column(&'a Spanned<IndexItem>),
    /// A computed value.
    Mask((Operand, Span)),
}

impl<'a> Resolver<'a> {
    /// What is in the brackets, where it is one quoted name or one computed value.
    pub(super) fn special_index(
        &mut self,
        items: &'a [Spanned<IndexItem>],
        scope: &Scope<'a>,
    ) -> Option<Special<'a>> {
        let [item] = items else { return None };
        let IndexItem::At(at) = &item.value else {
            return None;
        };
        match &at.kind {
            ExprKind::Text(_) => Some(Special::Column(item)),
            ExprKind::Number(_) | ExprKind::List(_) | ExprKind::Error => None,
            _ => {
                // A scalar is a position, and is met once more as one: it makes no calls.
                match self.expression(at, scope) {
                    Operand::Scalar(_) => None,
                    operand => Some(Special::Mask((operand, at.span))),
                }
            }
        }
    }

    /// `t['name']`.
    pub(super) fn column(
        &mut self,
        whole: &Expr,
        base: (Operand, Span),
        item: &Spanned<IndexItem>,
        scope: &Scope<'a>,
    ) -> Operand {
        let name = match &item.value {
            IndexItem::At(Expr {
                kind: ExprKind::Text(name),
                ..
            }) => name,
            _ => return Operand::Unknown,
        };
        self.column_named(whole.span, base, name, item.span, scope)
    }

    /// `t.name`, where the value may be a table.
    pub(super) fn column_named(
        &mut self,
        whole: Span,
        (table, base): (Operand, Span),
        name: &str,
        at: Span,
        scope: &Scope<'a>,
    ) -> Operand {
        let Some(op) = self.find_op(COLUMN, at) else {
            return Operand::Unknown;
        };
        let words = op
            .params()
            .iter()
            .find(|param| param.kind == ParamKind::Quoted);
        let attr = words.map(|param| (param.name, Attr::Quoted(name.into())));
        let origin = Origin {
            whole,
            at,
            written: ".",
            is_operator: true,
            args: vec![base],
            attrs: attr.iter().map(|(name, _)| (*name, at)).collect(),
            call: scope.call,
        };
        self.emit(op, vec![table], Attrs(attr.into_iter().collect()), origin)
    }

    /// Whether a value can be a table, as far as can be told before types are known.
    pub(super) fn may_be_table(&self, operand: &Operand) -> bool {
        let value = match operand {
            Operand::Value(value) | Operand::Items(value, _) => *value,
            Operand::Scalar(_) | Operand::Unknown => return false,
        };
        match value {
            ValueRef::Input(input) => {
                let value = self.graph.inputs[input].value;
                matches!(self.graph.values[value].ty, ValueType::Table(_))
            }
            ValueRef::Node(node, _) => {
                let mut params = self.nodes[node].op.params().iter();
                params.any(|param| matches!(param.kind, ParamKind::Value | ParamKind::Type))
            }
        }
    }

    /// `x[mask]`.
    pub(super) fn filtered(
        &mut self,
        whole: &Expr,
        (value, base): (Operand, Span),
        (mask, place): (Operand, Span),
        scope: &Scope<'a>,
    ) -> Operand {
        let at = Span::new(base.end.min(whole.span.end), whole.span.end);
        let Some(op) = self.find_op(FILTER, at) else {
            return Operand::Unknown;
        };
        let origin = Origin {
            whole: whole.span,
            at,
            written: "[…]",
            is_operator: true,
            args: vec![base, place],
            attrs: Vec::new(),
            call: scope.call,
        };
        self.emit(op, vec![value, mask], defaults(op), origin)
    }

    /// `x == 'word'` and `x != 'word'`; nothing for another comparison.
    pub(super) fn compared_text(
        &mut self,
        whole: &'a Expr,
        operator: &Spanned<BinaryOp>,
        left: &'a Expr,
        right: &'a Expr,
        scope: &Scope<'a>,
    ) -> Option<Operand> {
        let is_equal = match operator.value {
            BinaryOp::Equal => true,
            BinaryOp::NotEqual => false,
            _ => return None,
        };
        let (value, text, place) = match (&left.kind, &right.kind) {
            (ExprKind::Text(_), ExprKind::Text(_)) => return None,
            (_, ExprKind::Text(text)) => (left, text, right.span),
            (ExprKind::Text(text), _) => (right, text, left.span),
            _ => return None,
        };
        let operand = self.expression(value, scope);
        let op = self.find_op(TEXT_EQUAL, operator.span)?;
        let words = op
            .params()
            .iter()
            .find(|param| param.kind == ParamKind::Quoted);
        let attr = words.map(|param| (param.name, Attr::Quoted(text.as_str().into())));
        let origin = Origin {
            whole: whole.span,
            at: operator.span,
            written: operator.value.symbol(),
            is_operator: true,
            args: vec![value.span],
            attrs: attr.iter().map(|(name, _)| (*name, place)).collect(),
            call: scope.call,
        };
        let equal = self.emit(op, vec![operand], Attrs(attr.into_iter().collect()), origin);
        match (is_equal, unary(UnaryOp::Invert)) {
            (false, Some(invert)) => {
                let operand = vec![(equal, whole.span)];
                let symbol = operator.value.symbol();
                Some(self.operation(invert, symbol, operator.span, whole, operand, scope))
            }
            _ => Some(equal),
        }
    }
}
