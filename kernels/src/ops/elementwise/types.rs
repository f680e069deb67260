//! The rules by which elementwise functions find their dtypes.

use haul_ir::dtype::{DType, Kind};
use haul_ir::op::{ArgType, Call, Fault, InferError, Inferred, broadcast};
use haul_ir::types::TensorType;

/// Which dtypes a function takes, in which it computes, and what comes out.
#[derive(Clone, Copy)]
pub(super) enum Types {
    /// In the dtype where all inputs meet; the result has it too.
    Same(&'static [Kind]),
    /// The same, but integers and truth values are computed in `f64`.
    Float(&'static [Kind]),
    /// In the dtype where all inputs meet; the result is `bool`.
    Test(&'static [Kind]),
    /// The parts' dtype comes out of complex numbers, real ones as they are.
    Parts(&'static [Kind]),
    /// The same, but integers are computed in `f64`.
    FloatParts(&'static [Kind]),
    /// Real numbers meet and become the parts of complex ones.
    Pair,
    /// Whether elements differ from 0 goes in, the result is `bool`.
    Truth,
    /// The first input is `bool`; the others meet, and the result has their dtype.
    Choice,
    /// To one dtype.
    Cast(DType),
}

pub(super) const ALL: &[Kind] = &[Kind::Bool, Kind::Int, Kind::Float, Kind::Complex];
pub(super) const NUMBERS: &[Kind] = &[Kind::Int, Kind::Float, Kind::Complex];
pub(super) const INTEGERS: &[Kind] = &[Kind::Int];
pub(super) const REALS: &[Kind] = &[Kind::Int, Kind::Float];
pub(super) const ORDERED: &[Kind] = &[Kind::Bool, Kind::Int, Kind::Float];
pub(super) const BITS: &[Kind] = &[Kind::Bool, Kind::Int];

impl Types {
    /// The types of a call: shapes broadcast.
    pub(super) fn infer(self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let shapes: Vec<_> = call.inputs.iter().map(ArgType::shape).collect();
        let (compute, result) = self.dtypes(call)?;
        let output = TensorType::new(result, broadcast(&shapes)?);
        let mut inferred = Inferred::cast_all(call.inputs.len(), compute, output);
        if matches!(self, Types::Choice) {
            inferred.cast[0] = Some(DType::Bool);
        }
        Ok(inferred)
    }

    /// The dtype to compute in and that of the result.
    fn dtypes(self, call: &Call<'_>) -> Result<(DType, DType), InferError> {
        let met = match self {
            Types::Choice => chosen(call)?,
            _ => call.promoted()?,
        };
        Ok(match self {
            Types::Same(kinds) => {
                check(met, kinds)?;
                (met, met)
            }
            Types::Float(kinds) => {
                check(met, kinds)?;
                (inexact(met), inexact(met))
            }
            Types::Test(kinds) => {
                check(met, kinds)?;
                (met, DType::Bool)
            }
            Types::Parts(kinds) => {
                check(met, kinds)?;
                (met, met.real())
            }
            Types::FloatParts(kinds) => {
                check(met, kinds)?;
                (inexact(met), inexact(met).real())
            }
            Types::Pair => {
                check(met, ORDERED)?;
                (met.complex().real(), met.complex())
            }
            Types::Truth => {
                castable(met, DType::Bool)?;
                (DType::Bool, DType::Bool)
            }
            Types::Choice => (met, met),
            Types::Cast(to) => {
                castable(met, to)?;
                (met, to)
            }
        })
    }
}

/// The dtype in which functions that leave the integers are computed.
fn inexact(dtype: DType) -> DType {
    match dtype.kind() {
        Kind::Bool | Kind::Int => DType::F64,
        Kind::Float | Kind::Complex => dtype,
    }
}

/// The dtype in which the two choices meet, once the condition is `bool`.
fn chosen(call: &Call<'_>) -> Result<DType, InferError> {
    let condition = call.tensor(0)?;
    if condition.dtype != DType::Bool {
        let message = format!("the condition is {}, not bool", condition.dtype);
        return Err(InferError::new(Fault::DType, message)
            .on(0)
            .help("compare it, for example `x != 0`"));
    }
    let choices = Call {
        inputs: &call.inputs[1..],
        attrs: call.attrs,
    };
    choices.promoted().map_err(|mut error| {
        error.argument = error.argument.map(|argument| argument + 1);
        error
    })
}

fn check(dtype: DType, kinds: &[Kind]) -> Result<(), InferError> {
    if kinds.contains(&dtype.kind()) {
        return Ok(());
    }
    let error = InferError::new(Fault::DType, format!("is not defined for {dtype}"));
    Err(match dtype.kind() {
        Kind::Bool => error.help("cast it, for example `i64(x)`, or combine with `&`, `|`, `^`"),
        Kind::Complex => error.help("take `abs(x)`, `real(x)` or `imag(x)`"),
        Kind::Int | Kind::Float => error,
    })
}

fn castable(from: DType, to: DType) -> Result<(), InferError> {
    if from.kind() < Kind::Complex || to.kind() == Kind::Complex {
        return Ok(());
    }
    let error = InferError::new(Fault::DType, format!("{from} does not fit into {to}"));
    Err(match to {
        DType::Bool => error.help("compare it, for example `x != 0`"),
        _ => error.help("take `abs(x)`, `real(x)` or `imag(x)` first"),
    })
}
