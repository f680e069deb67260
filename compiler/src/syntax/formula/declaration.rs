//! What is declared in strings outside of formulas: types, and the heads of functions.

use haul_ir::diagnostic::Diagnostic;
use haul_ir::dtype::DType;

use super::lexer::{Token, TokenKind};
use super::parser::{Failed, Parser, name};
use crate::diagnostics::codes::{REPEATED, TYPE, UNEXPECTED};
use crate::diagnostics::suggest::did_you_mean;
use crate::syntax::ast::{
    BinaryOp, Expr, ExprKind, Name, Number, Spanned, Type, TypeKind, UnaryOp,
};
use crate::syntax::strings::{Content, excerpt};

/// Reads `f32[batch, 2*n]` or `text`.
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
    let dtype = dtype(parser, first)?;
    if !parser.peek().is("[") {
        let mistake = Diagnostic::error(TYPE, first.span, "this type has no shape");
        let mistake = mistake.help("write the sizes of the axes, or `[]` for a single number");
        return Err(parser.refuse(mistake));
    }
    let open = parser.open();
    let (dims, _, _) = parser.list("]")?;
    parser.close(open, "]")?;
    parser.end_of_line()?;
    for dim in &dims {
        check_dim(parser, dim)?;
    }
    Ok(TypeKind::Tensor { dtype, dims })
}

fn not_a_type(parser: &mut Parser<'_>, found: Token<'_>) -> Failed {
    let mistake = Diagnostic::error(TYPE, found.span, "this is not a type");
    parser.refuse(mistake.help("a type is a dtype with a shape, such as `f32[n, 3]`, or `text`"))
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
