//! Quantiles and medians.

use haul_ir::dtype::Kind;
use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work,
};
use haul_ir::types::{TensorType, ValueType};
use rayon::prelude::*;

use super::fold::walks;
use super::kernels::{at_least_one, parts};
use super::{AXIS, KEEPDIMS, RULE, X, axes, doubles};
use crate::ops::store::store;

/// `quantile(x, q)`.
pub(crate) struct Quantile;

/// `median(x)`.
pub(crate) struct Median;

/// As NumPy names them: Hyndman and Fan, "Sample quantiles in statistical packages", 1996.
const METHODS: &[&str] = &[
    "linear",
    "lower",
    "higher",
    "midpoint",
    "nearest",
    "inverted_cdf",
    "averaged_inverted_cdf",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "median_unbiased",
    "normal_unbiased",
];

/// Selecting one or two of n elements takes about 3.4 n comparisons: Knuth, The Art of Computer
/// Programming, volume 3, section 5.2.2, exercise 32.
const FLOPS: u64 = 4;

impl Op for Quantile {
    fn name(&self) -> &'static str {
        "quantile"
    }

    fn doc(&self) -> &'static str {
        "The element below which the share `q` of the elements along axes lies; of several `q` one \
         after the other along a new first axis. Between two elements the methods take what those of \
         NumPy do, 'linear' interpolates. NaN where there is one. Integers are computed in `f64`. \
         There must be an element. Needs 8 bytes for each element of a slice."
    }

    fn params(&self) -> &'static [Param] {
        &[
            X,
            Param {
                name: "q",
                kind: ParamKind::Numbers,
                default: None,
            },
            AXIS,
            Param {
                name: "method",
                kind: ParamKind::Word(METHODS),
                default: Some("'linear'"),
            },
            KEEPDIMS,
        ]
    }

    fn rule(&self) -> &'static str {
        "[..] -> [..] or [q, ..] without the axes, or with size 1 there (keepdims)"
    }

    fn family(&self) -> Family {
        Family::Reduce
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let shares = call.attrs.numbers("q").unwrap_or_default();
        if shares.is_empty() || !shares.iter().all(|q| (0.0..=1.0).contains(q)) {
            let error = InferError::new(Fault::Value, "`q` is a number from 0 to 1, or some");
            return Err(error.on_attr("q"));
        }
        let mut output = infer(call)?;
        if shares.len() > 1 {
            output.shape.insert(0, Expr::from(shares.len() as u64));
        }
        Ok(Inferred::plain(1, output))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let shares = call.attrs.numbers("q").map_or(1, |shares| shares.len());
        work(call, outputs, shares as u64)
    }

    fn work_formula(&self) -> &'static str {
        "4 flops an element for each of q"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(|call| {
            let shares = call.attrs.numbers("q").unwrap_or_default();
            let method = call.attrs.word("method").unwrap_or("linear");
            quantiles(call, &shares, method)
        })
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        &[
            Example {
                formula: "quantile(x, 0.25, axis=1)",
                given: &[("x", "f32[2, 3]", "3 1 2 10 nan 30")],
                result: ("f32[2]", "1.5 nan"),
            },
            Example {
                formula: "quantile(x, [0.1, 0.5], method='lower')",
                given: &[("x", "i32[4]", "3 1 2 4")],
                result: ("f64[2]", "1 2"),
            },
        ]
    }
}

impl Op for Median {
    fn name(&self) -> &'static str {
        "median"
    }

    fn doc(&self) -> &'static str {
        "The middle element along axes, the mean of two. NaN where there is one. Integers are \
         computed in `f64`. There must be an element. Needs 8 bytes for each element of a slice."
    }

    fn params(&self) -> &'static [Param] {
        &[X, AXIS, KEEPDIMS]
    }

    fn rule(&self) -> &'static str {
        RULE
    }

    fn family(&self) -> Family {
        Family::Reduce
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        Ok(Inferred::plain(1, infer(call)?))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        work(call, outputs, 1)
    }

    fn work_formula(&self) -> &'static str {
        "4 flops an element"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(|call| quantiles(call, &[0.5], "linear"))
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        &[Example {
            formula: "median(x, axis=1)",
            given: &[("x", "i32[2, 4]", "3 1 2 4 5 5 7 0")],
            result: ("f64[2]", "2.5 5"),
        }]
    }
}

/// The type of one quantile.
fn infer(call: &Call<'_>) -> Result<TensorType, InferError> {
    let input = call.tensor(0)?;
    if !matches!(input.dtype.kind(), Kind::Int | Kind::Float) {
        let message = format!("is not defined for {}", input.dtype);
        return Err(InferError::new(Fault::DType, message).on(0));
    }
    let axes = axes::axes(call.attrs, input.rank())?;
    axes::not_empty(input, &axes)?;
    let keep = call.attrs.flag("keepdims");
    Ok(axes::reduced(input, &axes, keep, input.dtype.float()))
}

fn work(call: &Call<'_>, outputs: &[ValueType], shares: u64) -> Work {
    match call.tensor(0) {
        Ok(input) => Work::of(input.elements() * FLOPS * shares, call, outputs),
        Err(_) => Work::Unknown,
    }
}

fn quantiles(
    call: &mut KernelCall<'_, '_>,
    shares: &[f64],
    method: &str,
) -> Result<(), KernelError> {
    at_least_one(call)?;
    let (input, axes, output) = parts(call)?;
    let (kept, reduced) = walks(&input.layout, &axes, false);
    let count: usize = axes.iter().map(|axis| input.shape()[*axis]).product();
    let results = output.shape.iter().product::<usize>() / shares.len().max(1);
    let mut found = vec![0.0; results * shares.len()];
    found
        .par_chunks_mut(shares.len())
        .enumerate()
        .for_each(|(at, found)| {
            let start = input.layout.offset.wrapping_add_signed(kept.offset(at));
            let mut elements = vec![0.0; count];
            doubles(input, &reduced, start, 0, &mut elements);
            let is_nan = elements.iter().any(|x| x.is_nan());
            for (found, share) in found.iter_mut().zip(shares) {
                *found = match is_nan {
                    true => f64::NAN,
                    false => quantile(&mut elements, *share, method),
                };
            }
        });
    // Quantiles of one share come together in the output.
    let ordered = (0..shares.len()).flat_map(|share| {
        let found = &found;
        (0..results).map(move |at| found[at * shares.len() + share])
    });
    let ordered: Vec<f64> = ordered.collect();
    store(&ordered, output.dtype, output.bytes);
    Ok(())
}

/// The quantile of elements without NaN, which are moved about.
fn quantile(elements: &mut [f64], share: f64, method: &str) -> f64 {
    let last = elements.len() - 1;
    let (at, weight) = place(elements.len() as f64, share, method);
    let below = at.clamp(0.0, last as f64) as usize;
    let (_, low, above) = elements.select_nth_unstable_by(below, f64::total_cmp);
    let low = *low;
    if weight == 0.0 || at < 0.0 || above.is_empty() {
        return low;
    }
    let high = above.iter().copied().fold(f64::INFINITY, f64::min);
    match high == low {
        true => low,
        false if weight == 0.5 => low.midpoint(high),
        // From the nearer end, as NumPy does.
        false if weight < 0.5 => low + (high - low) * weight,
        false => high - (high - low) * (1.0 - weight),
    }
}

/// The position of the lower neighbour, and the weight of the upper one.
fn place(count: f64, share: f64, method: &str) -> (f64, f64) {
    let plain = (count - 1.0) * share;
    let between = |alpha: f64, beta: f64| {
        let at = count * share + (alpha + share * (1.0 - alpha - beta)) - 1.0;
        (at.floor(), at - at.floor())
    };
    let edge = count * share - 1.0;
    match method {
        "lower" => (plain.floor(), 0.0),
        "higher" => (plain.ceil(), 0.0),
        "midpoint" if plain == plain.floor() => (plain, 0.0),
        "midpoint" => (plain.floor(), 0.5),
        "nearest" => (plain.round_ties_even(), 0.0),
        "inverted_cdf" => (edge.ceil(), 0.0),
        "averaged_inverted_cdf" if edge == edge.floor() => (edge, 0.5),
        "averaged_inverted_cdf" => (edge.ceil(), 0.0),
        "interpolated_inverted_cdf" => between(0.0, 1.0),
        "hazen" => between(0.5, 0.5),
        "weibull" => between(0.0, 0.0),
        "median_unbiased" => between(1.0 / 3.0, 1.0 / 3.0),
        "normal_unbiased" => between(0.375, 0.375),
        _ => (plain.floor(), plain - plain.floor()),
    }
}
