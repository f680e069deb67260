//! Atoms, and what may follow one: `.name`, `[…]`, `(…)`.

use haul_ir::diagnostic::Diagnostic;

use super::expression::Tree;
use super::lexer::{Token, TokenKind};
use super::parser::{Failed, Parser, name};
use crate::diagnostics::codes::{FORMULA, REPEATED, TOO_LARGE};
use crate::syntax::ast::{Argument, Expr, ExprKind, IndexItem, Spanned};

/// How many arguments a call may have.
const MAX_ARGUMENTS: usize = 256;

impl Parser<'_> {
    /// An atom with all that follows it.
    pub(super) fn postfix(&mut self) -> Result<Tree, Failed> {
        let mut tree = self.atom()?;
        loop {
            tree = match self.peek() {
                token if token.is(".") => self.field(tree)?,
                token if token.is("[") => self.index(tree)?,
                _ => return Ok(tree),
            }
        }
    }

    fn atom(&mut self) -> Result<Tree, Failed> {
        match self.peek() {
            token if token.is("(") => self.parenthesis(),
            token if token.is("[") => {
                let open = self.open();
                let (items, _, height) = self.list("]")?;
                let span = self.close(open, "]")?;
                self.grow(ExprKind::List(items), span, height)
            }
            token if token.kind == TokenKind::Name && self.peek_after().is("(") => self.call(),
            _ => self.leaf(),
        }
    }

    /// `(a)` is `a`; `()`, `(a,)` and `(a, b)` are lists.
    fn parenthesis(&mut self) -> Result<Tree, Failed> {
        let open = self.open();
        let (mut items, comma, height) = self.list(")")?;
        let span = self.close(open, ")")?;
        match items.pop() {
            Some(only) if items.is_empty() && !comma => Ok(Tree {
                expr: Expr { span, ..only },
                height,
            }),
            last => {
                items.extend(last);
                self.grow(ExprKind::List(items), span, height)
            }
        }
    }

    /// Expressions up to `close`, whether a comma is among them, and the greatest height.
    pub(super) fn list(&mut self, close: &str) -> Result<(Vec<Expr>, bool, usize), Failed> {
        let (mut items, mut comma, mut height) = (Vec::new(), false, 0);
        while !self.peek().is(close) {
            let item = self.expression()?;
            height = height.max(item.height);
            items.push(item.expr);
            if !self.eat(",") {
                break;
            }
            comma = true;
        }
        Ok((items, comma, height))
    }

    fn call(&mut self) -> Result<Tree, Failed> {
        let function = name(self.bump());
        let open = self.open();
        let (mut arguments, mut height) = (Vec::new(), 0);
        while !self.peek().is(")") {
            let (argument, argument_height) = self.argument(&arguments)?;
            height = height.max(argument_height);
            arguments.push(argument);
            if !self.eat(",") {
                break;
            }
        }
        let span = function.span.to(self.close(open, ")")?);
        self.grow(
            ExprKind::Call {
                function,
                arguments,
            },
            span,
            height,
        )
    }

    /// One argument, after those `before` it.
    fn argument(&mut self, before: &[Argument]) -> Result<(Argument, usize), Failed> {
        if before.len() >= MAX_ARGUMENTS {
            let message = format!("this call has more than {MAX_ARGUMENTS} arguments");
            return Err(self.refuse(Diagnostic::error(TOO_LARGE, self.peek().span, message)));
        }
        let mut keyword = None;
        if self.peek().kind == TokenKind::Name && self.peek_after().is("=") {
            keyword = Some(name(self.bump()));
            self.bump();
        }
        let value = self.expression()?;
        self.check_argument(keyword.as_ref(), &value.expr, before)?;
        Ok((
            Argument {
                name: keyword,
                value: value.expr,
            },
            value.height,
        ))
    }

    fn check_argument(
        &mut self,
        keyword: Option<&Spanned<String>>,
        value: &Expr,
        before: &[Argument],
    ) -> Result<(), Failed> {
        let mut named = before.iter().filter_map(|argument| argument.name.as_ref());
        let Some(keyword) = keyword else {
            let Some(first) = named.next() else {
                return Ok(());
            };
            let message = "this argument needs a name, as it follows one with a name";
            let mistake = Diagnostic::error(FORMULA, value.span, message);
            return Err(self.refuse(mistake.label(first.span, "with a name")));
        };
        let Some(first) = named.find(|name| name.value == keyword.value) else {
            return Ok(());
        };
        let message = format!("argument `{}` is there twice", keyword.value);
        let mistake = Diagnostic::error(REPEATED, keyword.span, message);
        Err(self.refuse(mistake.label(first.span, "first here")))
    }

    fn field(&mut self, base: Tree) -> Result<Tree, Failed> {
        self.bump();
        let token = self.peek();
        if token.kind != TokenKind::Name {
            return Err(self.unexpected("a name"));
        }
        if self.peek_after().is("(") {
            return Err(self.refuse_method(&base.expr, token));
        }
        self.bump();
        let span = base.expr.span.to(token.span);
        let base_expr = Box::new(base.expr);
        let kind = match token.text {
            "T" => ExprKind::Transpose(base_expr),
            _ => ExprKind::Field {
                base: base_expr,
                name: name(token),
            },
        };
        self.grow(kind, span, base.height)
    }

    fn refuse_method(&mut self, base: &Expr, method: Token<'_>) -> Failed {
        let message = format!("`{}` is not called with a dot", method.text);
        let mistake = Diagnostic::error(FORMULA, method.span, message);
        let mistake = mistake.label(base.span, "the first argument");
        self.refuse(mistake.help(format!("write `{}(x)`, not `x.{0}()`", method.text)))
    }

    fn index(&mut self, base: Tree) -> Result<Tree, Failed> {
        let open = self.open();
        let (mut items, mut height) = (Vec::new(), base.height);
        while items.is_empty() || !self.peek().is("]") {
            let (item, item_height) = self.index_item()?;
            height = height.max(item_height);
            items.push(item);
            if !self.eat(",") {
                break;
            }
        }
        let span = base.expr.span.to(self.close(open, "]")?);
        self.grow(
            ExprKind::Index {
                base: Box::new(base.expr),
                items,
            },
            span,
            height,
        )
    }

    fn index_item(&mut self) -> Result<(Spanned<IndexItem>, usize), Failed> {
        let token = self.peek();
        let alone = self.peek_after().is(",") || self.peek_after().is("]");
        if token.is("...") || (alone && token.text == "newaxis") {
            self.bump();
            let item = if token.is("...") {
                IndexItem::Ellipsis
            } else {
                IndexItem::NewAxis
            };
            return Ok((Spanned::new(item, token.span), 0));
        }
        let mut height = 0;
        let start = self.slice_part(&mut height)?;
        let mut end = start.as_ref().map_or(token.span, |start| start.span);
        if !self.peek().is(":") {
            let Some(start) = start else {
                return Err(self.unexpected("a position"));
            };
            return Ok((Spanned::new(IndexItem::At(start), end), height));
        }
        end = end.to(self.bump().span);
        let stop = self.slice_part(&mut height)?;
        let mut step = None;
        if self.peek().is(":") {
            end = end.to(self.bump().span);
            step = self.slice_part(&mut height)?;
        }
        let last = step.as_ref().or(stop.as_ref());
        let span = last.map_or(end, |last| end.to(last.span));
        Ok((
            Spanned::new(IndexItem::Slice { start, stop, step }, span),
            height,
        ))
    }

    /// An expression, unless the part of the slice is left out.
    fn slice_part(&mut self, height: &mut usize) -> Result<Option<Expr>, Failed> {
        if [":", ",", "]"].iter().any(|mark| self.peek().is(mark)) {
            return Ok(None);
        }
        let tree = self.expression()?;
        *height = (*height).max(tree.height);
        Ok(Some(tree.expr))
    }
}
