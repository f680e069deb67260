//! How many elements fall into each of equal intervals.

use haul_ir::dtype::{DType, Kind};
use haul_ir::op::{
    Attr, Attrs, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred,
    KernelCall, KernelError, Op, Param, ParamKind, Work,
};
use haul_ir::types::{TensorType, ValueType};
use rayon::prelude::*;

use super::{int, tensor};
use crate::ops::reduce::doubles;
use crate::strided::Walk;

/// `histogram(x, range, bins)`.
pub(crate) struct Histogram;

/// Two comparisons, a difference, a product, and two comparisons with edges.
const FLOPS: u64 = 6;

impl Op for Histogram {
    fn name(&self) -> &'static str {
        "histogram"
    }

    fn doc(&self) -> &'static str {
        "How many elements fall into each of `bins` equal intervals between the two numbers of \
         `range`; each takes its lower edge, the last both. What lies outside and NaN are not \
         counted. Computed in `f64`, the edges as `linspace(low, high, bins + 1)` gives them."
    }

    fn params(&self) -> &'static [Param] {
        const {
            &[
                tensor("x"),
                Param {
                    name: "range",
                    kind: ParamKind::Numbers,
                    default: None,
                },
                int("bins", Some("10")),
            ]
        }
    }

    fn rule(&self) -> &'static str {
        "[..] -> [bins]"
    }

    fn family(&self) -> Family {
        Family::Reduce
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let input = call.tensor(0)?;
        if !matches!(input.dtype.kind(), Kind::Int | Kind::Float) {
            let message = format!("is not defined for {}", input.dtype);
            return Err(InferError::new(Fault::DType, message).on(0));
        }
        if range(call.attrs).is_none() {
            let message = "the range is two numbers, the lower first: `[0, 1]`";
            return Err(InferError::new(Fault::Value, message).on_attr("range"));
        }
        let Attr::Int(bins) = call.attrs.get("bins") else {
            let error = InferError::new(Fault::Value, "`bins` is a whole number");
            return Err(error.on_attr("bins"));
        };
        if bins.as_int().is_some_and(|bins| bins < 1) {
            let message = format!("there is at least one bin, not {bins}");
            return Err(InferError::new(Fault::Value, message).on_attr("bins"));
        }
        Ok(Inferred::plain(
            1,
            TensorType::new(DType::I64, vec![bins.clone()]),
        ))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        match call.tensor(0) {
            Ok(input) => Work::of(input.elements() * FLOPS, call, outputs),
            Err(_) => Work::Unknown,
        }
    }

    fn work_formula(&self) -> &'static str {
        "6 flops an element"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(histogram)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        &[Example {
            formula: "histogram(x, [0, 4], bins=4)",
            given: &[("x", "f32[8]", "0 0.5 1 3.5 4 5 -1 nan")],
            result: ("i64[4]", "2 1 0 2"),
        }]
    }
}

fn range(attrs: &Attrs) -> Option<(f64, f64)> {
    match attrs.numbers("range")?[..] {
        [low, high] if low < high && (high - low).is_finite() => Some((low, high)),
        _ => None,
    }
}

/// Elements that one task counts.
const TASK: usize = 1 << 16;

/// Bins that each task may count for itself.
const FEW: usize = 1 << 14;

fn histogram(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let input = &call.inputs[0];
    let (low, high) = range(call.attrs).ok_or_else(|| KernelError::new("the range is empty"))?;
    let counts = call.outputs[0].elements::<i64>();
    if counts.is_empty() {
        return Err(KernelError::new("there is at least one bin"));
    }
    let bins = Bins {
        low,
        high,
        count: counts.len(),
    };
    let walk = Walk::new(input.shape(), &input.layout.strides);
    let elements = input.layout.elements();
    let count = |counts: &mut [i64], task: usize| {
        let mut numbers = vec![0.0; TASK.min(elements - task * TASK)];
        doubles(input, &walk, input.layout.offset, task * TASK, &mut numbers);
        let places = numbers.into_iter().filter_map(|x| bins.place(x));
        places.for_each(|place| counts[place] += 1);
    };
    counts.fill(0);
    let tasks = elements.div_ceil(TASK);
    if tasks <= 1 || counts.len() > FEW {
        (0..tasks).for_each(|task| count(counts, task));
        return Ok(());
    }
    let none = || vec![0; bins.count];
    let counted = (0..tasks).into_par_iter().fold(none, |mut counts, task| {
        count(&mut counts, task);
        counts
    });
    let total = counted.reduce(none, |mut a, b| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    });
    counts.copy_from_slice(&total);
    Ok(())
}

struct Bins {
    low: f64,
    high: f64,
    count: usize,
}

impl Bins {
    /// The bin of a number: guessed, and moved to where its edges enclose the number.
    fn place(&self, x: f64) -> Option<usize> {
        if !(self.low..=self.high).contains(&x) {
            return None;
        }
        let share = (x - self.low) / (self.high - self.low);
        let guess = ((share * self.count as f64) as usize).min(self.count - 1);
        if x < self.edge(guess) {
            return Some(guess.saturating_sub(1));
        }
        match guess + 1 < self.count && x >= self.edge(guess + 1) {
            true => Some(guess + 1),
            false => Some(guess),
        }
    }

    fn edge(&self, at: usize) -> f64 {
        at as f64 * ((self.high - self.low) / self.count as f64) + self.low
    }
}
