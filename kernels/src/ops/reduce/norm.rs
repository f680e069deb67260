//! Norms of vectors.

use haul_ir::dtype::Kind;
use haul_ir::op::{
    Attrs, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work,
};
use haul_ir::tensor::View;
use haul_ir::types::ValueType;
use rayon::prelude::*;

use super::fold::walks;
use super::kernels::{at_least_one, norm, parts};
use super::{AXIS, KEEPDIMS, RULE, X, axes, doubles};
use crate::ops::store::store;
use crate::strided::Walk;

/// `norm(x, axis, keepdims, ord)`.
pub(crate) struct Norm;

impl Op for Norm {
    fn name(&self) -> &'static str {
        "norm"
    }

    fn doc(&self) -> &'static str {
        "The norm of vectors along axes: the root of the sum of squared moduli, which is also the \
         Frobenius norm of matrices, or of another order: `ord=1` the sum of moduli, `inf` and \
         `-inf` the largest and the smallest, 0 how many differ from 0, else \
         `sum(abs(x) ** ord) ** (1 / ord)`. Real for complex numbers, `f64` for integers; `f16` and \
         `bf16` accumulate in `f32`, orders other than 2 in `f64`. The norm of nothing is 0; of \
         infinite order there must be an element."
    }

    fn params(&self) -> &'static [Param] {
        &[
            X,
            AXIS,
            KEEPDIMS,
            Param {
                name: "ord",
                kind: ParamKind::Numbers,
                default: Some("2"),
            },
        ]
    }

    fn rule(&self) -> &'static str {
        RULE
    }

    fn family(&self) -> Family {
        Family::Reduce
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let input = call.tensor(0)?;
        if input.dtype.kind() == Kind::Bool {
            let message = format!("is not defined for {}", input.dtype);
            return Err(InferError::new(Fault::DType, message).on(0));
        }
        let axes = axes::axes(call.attrs, input.rank())?;
        let order = order(call.attrs).ok_or_else(|| {
            InferError::new(Fault::Value, "the order of a norm is one number").on_attr("ord")
        })?;
        if order.is_infinite() {
            axes::not_empty(input, &axes)?;
        }
        let keep = call.attrs.flag("keepdims");
        Ok(Inferred::plain(
            1,
            axes::reduced(input, &axes, keep, input.dtype.float()),
        ))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let (Ok(input), Some(order)) = (call.tensor(0), order(call.attrs)) else {
            return Work::Unknown;
        };
        let is_complex = input.dtype.kind() == Kind::Complex;
        let flops = match order == 0.0 || order == 1.0 || order.is_infinite() {
            _ if order == 2.0 => {
                if is_complex {
                    4
                } else {
                    2
                }
            }
            true => {
                if is_complex {
                    8
                } else {
                    2
                }
            }
            false => {
                if is_complex {
                    48
                } else {
                    42
                }
            }
        };
        Work::of(input.elements() * flops, call, outputs)
    }

    fn work_formula(&self) -> &'static str {
        "2 flops an element, complex 4; orders 0, 1 and inf 2, complex 8; others 42, complex 48"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(|call| match order(call.attrs) {
            Some(2.0) => norm(call),
            Some(order) => of_order(call, order),
            None => Err(KernelError::new("the order of a norm is one number")),
        })
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        &[
            Example {
                formula: "norm(x, axis=1)",
                given: &[("x", "f32[2, 2]", "3 4 0 -2")],
                result: ("f32[2]", "5 2"),
            },
            Example {
                formula: "norm(x, axis=1, ord=1)",
                given: &[("x", "f32[2, 2]", "3 4 0 -2")],
                result: ("f32[2]", "7 2"),
            },
            Example {
                formula: "norm(x, ord=3)",
                given: &[("x", "f64[3]", "3 -4 5")],
                // 27 + 64 + 125 = 216.
                result: ("f64[]", "6"),
            },
        ]
    }
}

fn order(attrs: &Attrs) -> Option<f64> {
    match attrs.numbers("ord")?[..] {
        [order] if !order.is_nan() => Some(order),
        _ => None,
    }
}

/// Elements that one task sums up; their totals are combined in order.
const TASK: usize = 1 << 14;

fn of_order(call: &mut KernelCall<'_, '_>, order: f64) -> Result<(), KernelError> {
    if order.is_infinite() {
        at_least_one(call)?;
    }
    let (input, axes, output) = parts(call)?;
    let (kept, reduced) = walks(&input.layout, &axes, false);
    let count: usize = axes.iter().map(|axis| input.shape()[*axis]).product();
    let mut norms = vec![0.0; output.shape.iter().product()];
    let each = (TASK / count.max(1)).max(1);
    norms
        .par_chunks_mut(each)
        .enumerate()
        .for_each(|(chunk, norms)| {
            for (norm, offset) in norms.iter_mut().zip(kept.offsets(chunk * each)) {
                let start = input.layout.offset.wrapping_add_signed(offset);
                *norm = of_row(input, &reduced, start, count, order);
            }
        });
    store(&norms, output.dtype, output.bytes);
    Ok(())
}

fn of_row(input: &View<'_>, row: &Walk, start: usize, count: usize, order: f64) -> f64 {
    let part = |task: usize| {
        let mut elements = vec![0.0; TASK.min(count - task * TASK)];
        doubles(input, row, start, task * TASK, &mut elements);
        elements
            .iter()
            .fold(empty(order), |total, x| add(total, power(*x, order), order))
    };
    let total = match count.div_ceil(TASK) {
        0 => empty(order),
        1 => part(0),
        tasks => {
            let parts: Vec<f64> = (0..tasks).into_par_iter().map(part).collect();
            parts
                .into_iter()
                .fold(empty(order), |total, part| add(total, part, order))
        }
    };
    match order == 0.0 || order == 1.0 || order.is_infinite() || count == 0 {
        true => total,
        false => total.powf(1.0 / order),
    }
}

fn empty(order: f64) -> f64 {
    if order == f64::NEG_INFINITY {
        f64::INFINITY
    } else {
        0.0
    }
}

fn power(x: f64, order: f64) -> f64 {
    match order {
        0.0 => f64::from(x != 0.0),
        1.0 => x.abs(),
        _ if order.is_infinite() => x.abs(),
        _ => x.abs().powf(order),
    }
}

/// NaN stays.
fn add(total: f64, x: f64, order: f64) -> f64 {
    let first = match order {
        f64::INFINITY => total > x,
        f64::NEG_INFINITY => total < x,
        _ => return total + x,
    };
    if first || total.is_nan() { total } else { x }
}
