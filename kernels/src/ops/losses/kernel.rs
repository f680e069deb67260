use std::ops::Range;

use haul_ir::dtype::DType;
use haul_ir::op::{KernelCall, KernelError, broadcast};
use haul_ir::tensor::View;
use rayon::prelude::*;

use super::{CLASSES, CROSS_ENTROPY, NLL_LOSS, Reduction, class_axis, infer_pair};
use crate::ops::array_op::{check, input};
use crate::real::{Reader, Real, in_precision};
use crate::strided::contiguous;

/// Items that one task takes.
const TASK: usize = 1 << 12;

/// The loss and the weight of each of some items that follow each other.
type Losses<'a, A> =
    dyn Fn(Range<usize>, &mut [A], &mut [f64]) -> Result<(), KernelError> + Sync + 'a;

pub(super) fn mse_loss(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer_pair)?;
    in_precision!(call.outputs[0].dtype, squares, call)
}

pub(super) fn bce_loss(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer_pair)?;
    in_precision!(call.outputs[0].dtype, entropies, call)
}

fn squares<A: Real>(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    pairs(call, |x: A, target| (x - target) * (x - target))
}

fn entropies<A: Real>(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let least = A::of(-100.0);
    let log = |x: A| {
        let log = num_traits::Float::ln(x);
        if log < least { least } else { log }
    };
    pairs(call, |x: A, target| {
        -(target * log(x) + (A::one() - target) * log(A::one() - x))
    })
}

fn pairs<A: Real>(
    call: &mut KernelCall<'_, '_>,
    loss: impl Fn(A, A) -> A + Sync,
) -> Result<(), KernelError> {
    let shapes = [&call.inputs[0], &call.inputs[1]].map(|view| sizes(view));
    let shape = broadcast(&[&shapes[0], &shapes[1]]);
    let shape = shape.map_err(|error| KernelError::new(error.message))?;
    let shape: Vec<_> = shape
        .iter()
        .map(|size| size.as_u64().unwrap_or(0) as usize)
        .collect();
    let x = Reader::broadcast(&call.inputs[0], &shape);
    let target = Reader::broadcast(&call.inputs[1], &shape);
    let count = match shape.contains(&0) {
        true => 0,
        false => shape.iter().product(),
    };
    reduce(call, count, &|items, losses: &mut [A], weights| {
        let mut targets = vec![A::zero(); losses.len()];
        x.read(items.start, losses);
        target.read(items.start, &mut targets);
        for (x, target) in losses.iter_mut().zip(targets) {
            *x = loss(*x, target);
        }
        weights.fill(1.0);
        Ok(())
    })
}

fn sizes(view: &View<'_>) -> Vec<haul_ir::expr::Expr> {
    view.shape()
        .iter()
        .map(|size| (*size as u64).into())
        .collect()
}

pub(super) fn nll_loss(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, NLL_LOSS.infer)?;
    in_precision!(call.outputs[0].dtype, by_class, call, false)
}

pub(super) fn cross_entropy(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, CROSS_ENTROPY.infer)?;
    if call.inputs[1].dtype == DType::I64 {
        return in_precision!(call.outputs[0].dtype, by_class, call, true);
    }
    in_precision!(call.outputs[0].dtype, by_shares, call)
}

/// Losses of items that have one class each.
fn by_class<A: Real>(call: &mut KernelCall<'_, '_>, softmax: bool) -> Result<(), KernelError> {
    let view = &call.inputs[0];
    let axis = class_axis(view.shape().len());
    let classes = view.shape()[axis];
    let x = Reader::axes_last(view, &[axis]);
    let targets = contiguous::<i64>(&call.inputs[1]);
    let weights: Option<Vec<A>> = class_weights(call, classes);
    let ignored = call.attrs.int("ignore_index");
    reduce(call, targets.len(), &|items, losses: &mut [A], of_items| {
        let mut row = vec![A::zero(); classes];
        let each = losses.iter_mut().zip(of_items);
        for ((loss, of_item), item) in each.zip(items) {
            let target = targets[item];
            (*loss, *of_item) = (A::zero(), 0.0);
            if Some(target) == ignored {
                continue;
            }
            let class = usize::try_from(target)
                .ok()
                .filter(|class| *class < classes);
            let class = class.ok_or_else(|| {
                let message = format!(
                    "class {target} of item {item} does not exist: there are {classes} classes"
                );
                KernelError::new(message)
            })?;
            let weight = weights.as_ref().map_or(A::one(), |weights| weights[class]);
            let log = if softmax {
                x.read(item * classes, &mut row);
                row[class] - log_of_sum(&row)
            } else {
                x.at(item * classes + class)
            };
            (*loss, *of_item) = (-weight * log, weight.as_());
        }
        Ok(())
    })
}

/// Losses of items with a probability for each class.
fn by_shares<A: Real>(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let view = &call.inputs[0];
    let axis = class_axis(view.shape().len());
    let classes = view.shape()[axis];
    let x = Reader::axes_last(view, &[axis]);
    let targets = Reader::axes_last(&call.inputs[1], &[axis]);
    let weights: Option<Vec<A>> = class_weights(call, classes);
    let count = view.layout.elements() / classes;
    reduce(call, count, &|items, losses: &mut [A], of_items| {
        let (mut row, mut shares) = (vec![A::zero(); classes], vec![A::zero(); classes]);
        for (loss, item) in losses.iter_mut().zip(items) {
            x.read(item * classes, &mut row);
            targets.read(item * classes, &mut shares);
            let log = log_of_sum(&row);
            if let Some(weights) = &weights {
                for (share, weight) in shares.iter_mut().zip(weights) {
                    *share = *share * *weight;
                }
            }
            let costs = row.iter().zip(&shares);
            *loss = costs.fold(A::zero(), |sum, (x, share)| sum - *share * (*x - log));
        }
        of_items.fill(1.0);
        Ok(())
    })
}

fn class_weights<A: Real>(call: &KernelCall<'_, '_>, classes: usize) -> Option<Vec<A>> {
    let view = input(CLASSES, call, "weight")?;
    let mut weights = vec![A::zero(); classes];
    Reader::new(view).read(0, &mut weights);
    Some(weights)
}

/// `log(sum(exp(x)))`, less the largest element before.
fn log_of_sum<A: Real>(row: &[A]) -> A {
    let larger = |max: A, x: &A| if *x > max || x.is_nan() { *x } else { max };
    let max = row.iter().fold(A::neg_infinity(), larger);
    let sum = crate::real::sum(row, |x| num_traits::Float::exp(x - max));
    max + A::of(sum.ln())
}

/// Losses of all items, or their sum, or their mean by weight.
fn reduce<A: Real>(
    call: &mut KernelCall<'_, '_>,
    count: usize,
    losses: &Losses<'_, A>,
) -> Result<(), KernelError> {
    let reduction = Reduction::of(call.attrs);
    let output = &mut call.outputs[0];
    let (dtype, size) = (output.dtype, output.dtype.size() as usize);
    let compute = |task: usize, each: &mut dyn FnMut(&[A], &[f64])| {
        let items = task * TASK..count.min((task + 1) * TASK);
        let (mut values, mut weights) = (vec![A::zero(); items.len()], vec![0.0; items.len()]);
        losses(items, &mut values, &mut weights)?;
        each(&values, &weights);
        Ok(())
    };
    if reduction == Reduction::None {
        let tasks = output.bytes.par_chunks_mut(TASK * size).enumerate();
        let done = tasks
            .map(|(task, bytes)| compute(task, &mut |values, _| A::write(values, dtype, bytes)));
        return first_error(done.collect());
    }
    let tasks = (0..count.div_ceil(TASK)).into_par_iter().map(|task| {
        let mut sums = (0.0, 0.0);
        compute(task, &mut |values, weights| {
            sums = (
                crate::real::sum(values, |x| x),
                crate::real::sum(weights, |x| x),
            );
        })?;
        Ok(sums)
    });
    let (mut total, mut weight) = (0.0, 0.0);
    for sums in tasks.collect::<Vec<Result<(f64, f64), KernelError>>>() {
        let sums = sums?;
        total += sums.0;
        weight += sums.1;
    }
    if reduction == Reduction::Mean {
        total /= weight;
    }
    A::write(&[A::of(total)], dtype, output.bytes);
    Ok(())
}

/// The first of some errors, whatever thread came to it first.
fn first_error(done: Vec<Result<(), KernelError>>) -> Result<(), KernelError> {
    done.into_iter().collect()
}
