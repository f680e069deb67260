//! Parameters that several moves have, and what their attributes say.

use haul_ir::dtype::{DType, Kind};
use haul_ir::op::{Attr, Attrs, Fault, InferError, KernelError, Param, ParamKind, axis_of};

use super::combine::Reduction;

pub(super) const fn required(name: &'static str, kind: ParamKind) -> Param {
    Param {
        name,
        kind,
        default: None,
    }
}

pub(super) const fn optional(name: &'static str, kind: ParamKind, default: &'static str) -> Param {
    Param {
        name,
        kind,
        default: Some(default),
    }
}

pub(super) const X: Param = required("x", ParamKind::Tensor);

/// `dtype='f64'`, for what is made of nothing.
pub(in crate::ops) const DTYPE: Param = optional("dtype", ParamKind::Word(&DType::NAMES), "'f64'");

pub(super) const REDUCTIONS: &[&str] = &["none", "add", "mul", "max", "min"];

/// A whole number that is known.
pub(in crate::ops) fn int(attrs: &Attrs, name: &'static str) -> Result<i64, InferError> {
    attrs.int(name).ok_or_else(|| {
        InferError::new(Fault::Value, "a known whole number is needed here").on_attr(name)
    })
}

/// The one axis that an attribute names. Where it names none, the input must have a single one.
pub(super) fn axis(attrs: &Attrs, name: &'static str, rank: usize) -> Result<usize, InferError> {
    let named = match attrs.get(name) {
        Attr::None if rank == 1 => return Ok(0),
        Attr::None => {
            let message = format!("which of {rank} axes has to be said");
            return Err(InferError::new(Fault::Axis, message).on_attr(name));
        }
        Attr::Ints(_) => match attrs.ints(name).as_deref() {
            Some(&[one]) => one,
            _ => {
                let message = "one known axis is needed here";
                return Err(InferError::new(Fault::Axis, message).on_attr(name));
            }
        },
        _ => int(attrs, name)?,
    };
    axis_of(named, rank).map_err(|error| error.on_attr(name))
}

/// The axes that an attribute names, in its order, none twice; nothing where it names none.
pub(in crate::ops) fn axes(
    attrs: &Attrs,
    name: &'static str,
    rank: usize,
) -> Result<Option<Vec<usize>>, InferError> {
    if *attrs.get(name) == Attr::None {
        return Ok(None);
    }
    let named = attrs.ints(name).ok_or_else(|| {
        InferError::new(Fault::Value, "axes are known whole numbers").on_attr(name)
    })?;
    let mut axes = Vec::with_capacity(named.len());
    for axis in named {
        let found = axis_of(axis, rank).map_err(|error| error.on_attr(name))?;
        if axes.contains(&found) {
            let message = format!("axis {axis} is given twice");
            return Err(InferError::new(Fault::Axis, message).on_attr(name));
        }
        axes.push(found);
    }
    Ok(Some(axes))
}

/// The dtype that a word names.
pub(in crate::ops) fn dtype(attrs: &Attrs) -> Result<DType, InferError> {
    let named = attrs.word("dtype").and_then(|word| word.parse().ok());
    named.ok_or_else(|| InferError::new(Fault::Value, "needs a dtype").on_attr("dtype"))
}

/// The one number of an attribute.
pub(in crate::ops) fn number(attrs: &Attrs, name: &'static str) -> Result<f64, InferError> {
    match attrs.numbers(name).as_deref() {
        Some(&[number]) => Ok(number),
        _ => Err(InferError::new(Fault::Value, "one number is needed here").on_attr(name)),
    }
}

/// The bytes of a number as an element.
pub(in crate::ops) fn element(number: f64, dtype: DType) -> Result<Vec<u8>, String> {
    let wrong = || format!("{number} is no {dtype}");
    let whole = || (number.fract() == 0.0 && number.abs() < 2e19).then_some(number as i128);
    let bytes = match dtype {
        DType::F16 => half::f16::from_f64(number).to_ne_bytes().to_vec(),
        DType::Bf16 => half::bf16::from_f64(number).to_ne_bytes().to_vec(),
        DType::F32 => (number as f32).to_ne_bytes().to_vec(),
        DType::F64 => number.to_ne_bytes().to_vec(),
        DType::C64 | DType::C128 => {
            let mut bytes = element(number, dtype.real())?;
            bytes.extend(element(0.0, dtype.real())?);
            bytes
        }
        _ => integer(whole().ok_or_else(wrong)?, dtype).ok_or_else(wrong)?,
    };
    Ok(bytes)
}

/// The bytes of a whole number as an element of integers or truth values, where it fits.
pub(super) fn integer(number: i128, dtype: DType) -> Option<Vec<u8>> {
    macro_rules! bytes {
        ($type:ty) => {
            <$type>::try_from(number).ok()?.to_ne_bytes().to_vec()
        };
    }
    Some(match dtype {
        DType::Bool => (0..=1).contains(&number).then(|| vec![number as u8])?,
        DType::U8 => bytes!(u8),
        DType::U16 => bytes!(u16),
        DType::U32 => bytes!(u32),
        DType::U64 => bytes!(u64),
        DType::I8 => bytes!(i8),
        DType::I16 => bytes!(i16),
        DType::I32 => bytes!(i32),
        DType::I64 => bytes!(i64),
        _ => return None,
    })
}

/// How what is written meets what is there; nothing where it replaces it.
pub(super) fn reduction(attrs: &Attrs) -> Option<Reduction> {
    match attrs.word("reduction") {
        Some("add") => Some(Reduction::Add),
        Some("mul") => Some(Reduction::Mul),
        Some("max") => Some(Reduction::Max),
        Some("min") => Some(Reduction::Min),
        _ => None,
    }
}

/// Refuses a dtype of indices that does not count.
pub(super) fn check_indices(dtype: DType, position: usize) -> Result<(), InferError> {
    if dtype.kind() == Kind::Int {
        return Ok(());
    }
    let message = format!("indices are integers, not {dtype}");
    Err(InferError::new(Fault::DType, message).on(position))
}

/// What was found of a call before, as a failure while it runs.
pub(in crate::ops) fn at_run(error: InferError) -> KernelError {
    KernelError::new(error.message)
}
