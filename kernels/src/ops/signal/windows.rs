//! Weights that let a piece of a signal begin and end softly.

use haul_ir::dtype::Kind;
use haul_ir::op::{
    Attrs, Call, Fault, InferError, Inferred, KernelCall, KernelError, Param, ParamKind,
};
use haul_ir::types::TensorType;

use super::size;
use crate::ops::array_op::{attribute, required, wrong};
use crate::ops::moves::attrs::{DTYPE, at_run, dtype, number};
use crate::ops::moves::floats;

pub(super) const N: Param = required("n", ParamKind::Int);
pub(super) const PERIODIC: Param = attribute("periodic", ParamKind::Bool, "true");
pub(super) const PARAMS: &[Param] = &[N, PERIODIC, DTYPE];

/// Where a weight stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Steps from the nearer end: the weights are the same from both.
    pub(super) step: f64,
    /// Steps from end to end.
    pub(super) steps: f64,
}

impl Place {
    /// From 0 at the ends to 1 in the middle.
    pub(super) fn share(self) -> f64 {
        2.0 * self.step / self.steps
    }
}

/// The shape and dtype of a window.
pub(super) fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let dtype = dtype(call.attrs)?;
    if !matches!(dtype.kind(), Kind::Float | Kind::Complex) {
        let message = format!("weights have fractions, {dtype} has none");
        return Err(InferError::new(Fault::DType, message).on_attr("dtype"));
    }
    let shape = vec![size(call.attrs, "n", 0)?];
    Ok(Inferred::plain(0, TensorType::new(dtype, shape)))
}

/// That a number which shapes a window lies in a range.
pub(super) fn infer_shaped(
    call: &Call<'_>,
    name: &'static str,
    range: impl Fn(f64) -> bool,
    rule: &str,
) -> Result<Inferred, InferError> {
    match number(call.attrs, name) {
        Ok(number) if range(number) => infer(call),
        _ => Err(wrong(name, rule)),
    }
}

/// Fills a window with weights; a window of one element is 1.
pub(super) fn fill(
    call: &mut KernelCall<'_, '_>,
    weight: impl Fn(Place) -> f64 + Sync,
) -> Result<(), KernelError> {
    let output = &mut call.outputs[0];
    let count = output.shape[0];
    if count == 1 {
        floats(output, &|_| 1.0);
        return Ok(());
    }
    let steps = match call.attrs.flag("periodic") {
        true => count,
        false => count.saturating_sub(1),
    };
    floats(output, &|index| {
        weight(Place {
            step: index.min(steps - index) as f64,
            steps: steps as f64,
        })
    });
    Ok(())
}

/// A number that shapes a window.
pub(super) fn shaping(attrs: &Attrs, name: &'static str) -> Result<f64, KernelError> {
    number(attrs, name).map_err(at_run)
}

/// A sum of cosines of 0, 1, 2, .. turns over the window, each weighted and with the sign of
/// (-1)^k.
pub(super) fn cosines(weights: &[f64], place: Place) -> f64 {
    let turn = std::f64::consts::PI * place.share();
    let terms = weights.iter().enumerate();
    terms.fold(0.0, |sum, (k, weight)| {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        sum + sign * weight * libm::cos(k as f64 * turn)
    })
}

/// The modified Bessel function I0 by its power series, whose terms are all positive.
pub(super) fn bessel_i0(x: f64) -> f64 {
    let quarter = x * x / 4.0;
    let (mut sum, mut term, mut k) = (1.0, 1.0, 1.0);
    while term > sum * f64::EPSILON / 4.0 {
        term *= quarter / (k * k);
        sum += term;
        k += 1.0;
    }
    sum
}
