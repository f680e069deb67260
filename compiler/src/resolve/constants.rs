//! Constants as they are written in the file: nested lists of numbers, lists of texts.

use std::str::FromStr;

use haul_ir::diagnostic::{Diagnostic, Span};
use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::graph::Source;
use haul_ir::types::{CellType, TensorType, ValueType};
use num_complex::Complex;

use crate::diagnostics::codes::SOURCE;
use crate::syntax::ast::{Literal, Number};

type Mistake = Box<Diagnostic>;

/// A constant, and its type: the declared one, or `bool`, `i64`, `f64` or `c128` as it is written.
/// `place` is where a type is, or could be declared.
pub(super) fn constant(
    value: &Literal,
    declared: Option<ValueType>,
    place: Span,
) -> Result<(Source, ValueType), Mistake> {
    let numbers = |declared| {
        let (numbers, ty) = numbers(value, declared, place)?;
        Ok((Source::Constant { numbers }, ty.into()))
    };
    match declared {
        None => numbers(None),
        Some(ValueType::Tensor(ty)) => numbers(Some(ty)),
        Some(ty) if is_of_text(&ty) => texts(value, ty, place),
        Some(ty) => {
            let message = format!("a constant is a tensor or text, not {ty}");
            let mistake = Diagnostic::error(SOURCE, place, message);
            let help =
                "write a table as a text, and read it: `parse_csv(text, type='table[n]{..}')`";
            Err(Box::new(mistake.help(help)))
        }
    }
}

fn is_of_text(ty: &ValueType) -> bool {
    match ty {
        ValueType::Text => true,
        ValueType::Column(column) => column.cell == CellType::TEXT,
        ValueType::Tensor(_) | ValueType::Table(_) => false,
    }
}

fn texts(value: &Literal, ty: ValueType, place: Span) -> Result<(Source, ValueType), Mistake> {
    let text = |value: &Literal| match value {
        Literal::Text(text) => Ok(text.value.clone()),
        other => {
            let message = "this is no text; a text is in quotes";
            Err(Box::new(Diagnostic::error(SOURCE, other.span(), message)))
        }
    };
    let (texts, found) = match value {
        Literal::List(list) => {
            let texts = list.value.iter().map(text).collect::<Result<Vec<_>, _>>()?;
            let rows = Expr::from(texts.len() as u64);
            (texts, ValueType::of_cells(CellType::TEXT, rows))
        }
        one => (vec![text(one)?], ValueType::Text),
    };
    if found != ty {
        let message = format!("the constant has another shape: {found}");
        let mistake = Diagnostic::error(SOURCE, place, message);
        return Err(Box::new(mistake.at(ty.to_string())));
    }
    Ok((Source::Texts { texts }, ty))
}

/// The numbers of a constant in row-major order, and its type.
fn numbers(
    value: &Literal,
    declared: Option<TensorType>,
    place: Span,
) -> Result<(Vec<f64>, TensorType), Mistake> {
    let shape = shape(value)?;
    let mut elements = Vec::new();
    flatten(value, &mut elements);
    let sizes = shape.iter().map(|size| Expr::from(*size)).collect();
    let ty = match declared {
        Some(declared) if shape.is_empty() || declared.shape == sizes => declared,
        Some(declared) => {
            let written = TensorType::new(declared.dtype, sizes);
            let message = format!("the constant has another shape: {written}");
            return Err(Box::new(
                Diagnostic::error(SOURCE, place, message).at(declared.to_string()),
            ));
        }
        None => TensorType::new(natural(&elements), sizes),
    };
    let mut numbers = Vec::new();
    for element in elements {
        element.write(ty.dtype, &mut numbers)?;
    }
    Ok((numbers, ty))
}

/// The shape of nested lists, which must not be ragged.
fn shape(value: &Literal) -> Result<Vec<u64>, Mistake> {
    let Literal::List(list) = value else {
        return Ok(Vec::new());
    };
    let mut inner: Option<Vec<u64>> = None;
    for item in &list.value {
        let found = shape(item)?;
        if inner.as_ref().is_some_and(|inner| *inner != found) {
            let message = "the lists of this constant differ in length";
            return Err(Box::new(Diagnostic::error(SOURCE, list.span, message)));
        }
        inner = Some(found);
    }
    let mut shape = vec![list.value.len() as u64];
    shape.extend(inner.unwrap_or_default());
    Ok(shape)
}

struct Element<'a> {
    value: Scalar<'a>,
    span: Span,
}

enum Scalar<'a> {
    Bool(bool),
    Number(Number),
    Complex(&'a str),
}

fn flatten<'a>(value: &'a Literal, elements: &mut Vec<Element<'a>>) {
    match value {
        Literal::List(list) => list.value.iter().for_each(|item| flatten(item, elements)),
        Literal::Number(number) => elements.push(Element {
            value: Scalar::Number(number.value),
            span: number.span,
        }),
        Literal::Bool(truth) => elements.push(Element {
            value: Scalar::Bool(truth.value),
            span: truth.span,
        }),
        Literal::Text(number) => elements.push(Element {
            value: Scalar::Complex(&number.value),
            span: number.span,
        }),
    }
}

/// The dtype of elements as they are written.
fn natural(elements: &[Element<'_>]) -> DType {
    let is = |test: fn(&Scalar<'_>) -> bool| elements.iter().any(|element| test(&element.value));
    if is(|value| matches!(value, Scalar::Complex(_))) {
        DType::C128
    } else if is(|value| matches!(value, Scalar::Number(Number::Float(_)))) || elements.is_empty() {
        DType::F64
    } else if is(|value| matches!(value, Scalar::Number(_))) {
        DType::I64
    } else {
        DType::Bool
    }
}

/// Up to here every whole number is an `f64`.
const EXACT: u128 = 1 << 53;

impl Element<'_> {
    /// Appends the element, where it is one of that dtype; a complex one in its two parts.
    fn write(&self, dtype: DType, numbers: &mut Vec<f64>) -> Result<(), Mistake> {
        let is_complex = dtype.kind() == Kind::Complex;
        let number = match self.value {
            Scalar::Complex(text) if is_complex => Complex::from_str(text).map_err(|_| {
                let message = "this is no complex number such as `1+2j`";
                let mistake = Diagnostic::error(SOURCE, self.span, message);
                mistake.help("texts say so in their type: `type: \"text\"`, `type: \"text[3]\"`")
            })?,
            _ => self.real(dtype)?.into(),
        };
        numbers.push(number.re);
        if is_complex {
            numbers.push(number.im);
        }
        Ok(())
    }

    /// The element as a real number, where it is one of that dtype.
    fn real(&self, dtype: DType) -> Result<f64, Mistake> {
        let refuse = |message: String| Err(Box::new(Diagnostic::error(SOURCE, self.span, message)));
        match self.value {
            Scalar::Bool(truth) if dtype == DType::Bool => Ok(f64::from(u8::from(truth))),
            Scalar::Bool(truth) => refuse(format!("{truth} is no {dtype}")),
            Scalar::Number(_) if dtype == DType::Bool => {
                refuse("a bool is `true` or `false`".to_owned())
            }
            Scalar::Number(Number::Int(value)) if !fits(value, dtype) => {
                refuse(format!("{value} does not fit {dtype}"))
            }
            Scalar::Number(Number::Int(value)) if value.unsigned_abs() > EXACT => refuse(format!(
                "{value} is too large for a constant; keep it in a data file"
            )),
            Scalar::Number(Number::Int(value)) => Ok(value as f64),
            Scalar::Number(Number::Float(value)) if dtype.kind() == Kind::Int => {
                refuse(format!("{value:?} is no {dtype}"))
            }
            Scalar::Number(Number::Float(value)) => Ok(value),
            Scalar::Complex(text) => refuse(format!("{text} is no {dtype}")),
        }
    }
}

/// Whether a whole number is in the range of a dtype; of floats the range is not asked for.
pub(crate) fn fits(value: i128, dtype: DType) -> bool {
    if dtype.kind() != Kind::Int {
        return true;
    }
    let bits = 8 * dtype.size();
    let (low, high) = if dtype.is_unsigned() {
        (0, (1_i128 << bits) - 1)
    } else {
        (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
    };
    (low..=high).contains(&value)
}
