//! What is declared in strings outside of formulas: types, and the heads of functions.

use std::collections::HashMap;

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::dtype::{DType, Kind};
use haul_ir::types::{CellKind, CellType};

use super::lexer::{Token, TokenKind};
use super::parser::{Failed, Parser, name};
use crate::diagnostics::codes::{REPEATED, TYPE, UNEXPECTED};
use crate::diagnostics::suggest::did_you_mean;
use crate::syntax::ast::{
    BinaryOp, Expr, ExprKind, Name, Number, Spanned, Type, TypeKind, UnaryOp,
};
use crate::syntax::strings::{Content, excerpt};

/// Reads `f32[batch, 2*n]`, `table[n]{a: f64, b: text?}` or `text`.
pub(in crate::syntax) fn declared_type(
    content: &Content<'_>,
    mistakes: &mut Vec<Diagnostic>,
) -> Option<Type> {
    let mut parser = Parser::new(content);
    let kind = type_kind(&mut parser);
    mistakes.append(&mut parser.mistakes);
    Some(Type {
        kind: kind.ok()?,
        span: content.span(),
    })
}

/// Reads `dense(x, w, b)`: the name of a function and those of its parameters.
pub(in crate::syntax) fn signature(
    content: &Content<'_>,
    mistakes: &mut Vec<Diagnostic>,
) -> Option<(Name, Vec<Name>)> {
    let mut parser = Parser::new(content);
    let read = super::whole(&mut parser)
        .ok()
        .and_then(|head| match head.kind {
            ExprKind::Call {
                function,
                arguments,
            } => {
                let parameters = arguments
                    .into_iter()
                    .map(|argument| match argument.value.kind {
                        ExprKind::Name(text) if argument.name.is_none() => {
                            Some(Spanned::new(text, argument.value.span))
                        }
                        _ => None,
                    });
                Some((function, parameters.collect::<Option<Vec<Name>>>()?))
            }
            _ => None,
        });
    let Some((function, parameters)) = read else {
        let message = "this is not the head of a function";
        let mistake = Diagnostic::error(UNEXPECTED, content.span(), message);
        mistakes.push(mistake.help("write its name and parameters, such as `dense(x, w, b)`"));
        return None;
    };
    for (at, parameter) in parameters.iter().enumerate() {
        super::check_name(&parameter.value, parameter.span, mistakes);
        let before = parameters[..at]
            .iter()
            .find(|before| before.value == parameter.value);
        if let Some(before) = before {
            let message = format!("parameter `{}` is there twice", parameter.value);
            let mistake = Diagnostic::error(REPEATED, parameter.span, message);
            mistakes.push(mistake.label(before.span, "first here"));
        }
    }
    Some((function, parameters))
}

fn type_kind(parser: &mut Parser<'_>) -> Result<TypeKind, Failed> {
    parser.next_line();
    let first = parser.peek();
    if first.kind != TokenKind::Name {
        return Err(not_a_type(parser, first));
    }
    parser.bump();
    if first.text == "text" && parser.peek().kind == TokenKind::End {
        return Ok(TypeKind::Text);
    }
    if first.text == "text" && parser.peek().is("[") {
        return texts(parser, first);
    }
    if first.text == "table" {
        return table(parser, first);
    }
    let dtype = dtype(parser, first)?;
    if !parser.peek().is("[") {
        let mistake = Diagnostic::error(TYPE, first.span, "this type has no shape");
        let mistake = mistake.help("write the sizes of the axes, or `[]` for a single number");
        return Err(parser.refuse(mistake));
    }
    let dims = dims(parser)?;
    parser.end_of_line()?;
    Ok(TypeKind::Tensor { dtype, dims })
}

/// What follows `text`: `[n]`.
fn texts(parser: &mut Parser<'_>, word: Token<'_>) -> Result<TypeKind, Failed> {
    let mut dims = dims(parser)?;
    parser.end_of_line()?;
    match (dims.pop(), dims.is_empty()) {
        (Some(rows), true) => Ok(TypeKind::Texts { rows }),
        _ => {
            let message = "a column of texts has one size, as `text[n]`";
            Err(parser.refuse(Diagnostic::error(TYPE, word.span, message)))
        }
    }
}

fn dims(parser: &mut Parser<'_>) -> Result<Vec<Expr>, Failed> {
    let open = parser.open();
    let (dims, _, _) = parser.list("]")?;
    parser.close(open, "]")?;
    for dim in &dims {
        check_dim(parser, dim)?;
    }
    Ok(dims)
}

/// What follows `table`: `[n]{a: f64, 'b c': text?}`.
fn table(parser: &mut Parser<'_>, word: Token<'_>) -> Result<TypeKind, Failed> {
    let help = "a table has a length and columns, such as `table[n]{time: f64, name: text}`";
    if !parser.peek().is("[") {
        let mistake = Diagnostic::error(TYPE, word.span, "this table has no length");
        return Err(parser.refuse(mistake.help(help)));
    }
    let dims = dims(parser)?;
    let Ok([rows]) = <[Expr; 1]>::try_from(dims) else {
        let mistake = Diagnostic::error(TYPE, word.span, "a table has one length");
        return Err(parser.refuse(mistake.help(help)));
    };
    if !parser.peek().is("{") {
        let mistake = Diagnostic::error(TYPE, word.span, "this table has no columns");
        return Err(parser.refuse(mistake.help(help)));
    }
    let open = parser.open();
    let mut seen: HashMap<String, Span> = HashMap::new();
    let mut columns = Vec::new();
    while !parser.peek().is("}") {
        let (name, cell) = column(parser)?;
        if let Some(first) = seen.insert(name.value.clone(), name.span) {
            let message = format!("column `{}` is there twice", excerpt(&name.value));
            let mistake = Diagnostic::error(REPEATED, name.span, message);
            return Err(parser.refuse(mistake.label(first, "first here")));
        }
        columns.push((name, cell));
        if !parser.eat(",") {
            break;
        }
    }
    parser.close(open, "}")?;
    parser.end_of_line()?;
    Ok(TypeKind::Table { rows, columns })
}

/// `time: f64`, `'wind speed': f32?`, `name: text`.
fn column(parser: &mut Parser<'_>) -> Result<(Name, CellType), Failed> {
    let token = parser.peek();
    let name = match token.kind {
        TokenKind::Name => name(token),
        TokenKind::Text => Spanned::new(token.text.trim_matches('\'').to_owned(), token.span),
        _ => return Err(parser.unexpected("the name of a column")),
    };
    parser.bump();
    if !parser.eat(":") {
        return Err(parser.unexpected("`:` and the type of the column"));
    }
    let token = parser.peek();
    if token.kind != TokenKind::Name {
        return Err(parser.unexpected("a dtype or `text`"));
    }
    parser.bump();
    let kind = match token.text {
        "text" => CellKind::Text,
        _ => {
            let dtype = dtype(parser, token)?.value;
            if dtype.kind() == Kind::Complex {
                let message = format!("a table holds real numbers, not {dtype}");
                return Err(parser.refuse(Diagnostic::error(TYPE, token.span, message)));
            }
            CellKind::Element(dtype)
        }
    };
    let is_optional = parser.eat("?");
    Ok((name, CellType { kind, is_optional }))
}

fn not_a_type(parser: &mut Parser<'_>, found: Token<'_>) -> Failed {
    let mistake = Diagnostic::error(TYPE, found.span, "this is not a type");
    parser.refuse(
        mistake.help("a type is a dtype with a shape, such as `f32[n, 3]`, a `table`, or `text`"),
    )
}

fn dtype(parser: &mut Parser<'_>, token: Token<'_>) -> Result<Spanned<DType>, Failed> {
    let Name { value, span } = name(token);
    if let Ok(dtype) = value.parse() {
        return Ok(Spanned::new(dtype, span));
    }
    let names = DType::ALL.map(DType::name);
    let message = format!("there is no dtype `{}`", excerpt(&value));
    let aliases = [
        ("float", "f64"),
        ("float32", "f32"),
        ("float64", "f64"),
        ("float16", "f16"),
        ("int", "i64"),
    ];
    let alias = aliases
        .iter()
        .find(|(alias, _)| *alias == value)
        .map(|(_, name)| *name);
    let mistake = Diagnostic::error(TYPE, span, message);
    Err(parser.refuse(match alias {
        Some(alias) => mistake
            .help(format!("write `{alias}`"))
            .fix(span, alias)
            .machine_applicable(),
        None => did_you_mean(mistake, span, &value, names),
    }))
}

/// Sizes are integers, names, and arithmetic of them.
fn check_dim(parser: &mut Parser<'_>, dim: &Expr) -> Result<(), Failed> {
    match &dim.kind {
        ExprKind::Name(_) | ExprKind::Number(Number::Int(_)) | ExprKind::Error => Ok(()),
        ExprKind::Unary { op, operand } if op.value != UnaryOp::Invert => {
            check_dim(parser, operand)
        }
        ExprKind::Binary { op, left, right } if is_size_arithmetic(op.value) => {
            check_dim(parser, left)?;
            check_dim(parser, right)
        }
        ExprKind::Call {
            function,
            arguments,
        } if matches!(function.value.as_str(), "min" | "max")
            && arguments.iter().all(|argument| argument.name.is_none()) =>
        {
            arguments
                .iter()
                .try_for_each(|argument| check_dim(parser, &argument.value))
        }
        _ => {
            let mistake = Diagnostic::error(TYPE, dim.span, "this is not a size");
            let help = "a size is made of integers, names, `+ - * // %`, `min( )` and `max( )`";
            Err(parser.refuse(mistake.help(help)))
        }
    }
}

fn is_size_arithmetic(op: BinaryOp) -> bool {
    use BinaryOp::{Add, FloorDivide, Multiply, Remainder, Subtract};
    matches!(op, Add | Subtract | Multiply | FloorDivide | Remainder)
}
