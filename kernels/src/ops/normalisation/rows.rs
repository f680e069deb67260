//! Norms whose slices are rows: neighbours in row-major order.

use haul_ir::op::{Attrs, KernelCall, KernelError, Param, axis_of};

use super::{GROUPED, INSTANCE, SCALED, TRAILING};
use crate::ops::array_op::{check, input};
use crate::real::{Reader, Real, elements_of, fill_rows, in_precision, number, sum};

pub(super) fn layer_norm(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, super::LAYER_NORM.infer)?;
    let row = trailing(call.inputs[0].shape(), call.attrs)?;
    in_precision!(
        call.outputs[0].dtype,
        norm,
        call,
        TRAILING,
        row,
        Kind::Layer
    );
    Ok(())
}

pub(super) fn rms_norm(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, super::RMS_NORM.infer)?;
    let row = trailing(call.inputs[0].shape(), call.attrs)?;
    in_precision!(call.outputs[0].dtype, norm, call, SCALED, row, Kind::Rms);
    Ok(())
}

pub(super) fn instance_norm(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, super::INSTANCE_NORM.infer)?;
    let row = elements_of(&call.inputs[0].shape()[2..]);
    in_precision!(
        call.outputs[0].dtype,
        norm,
        call,
        INSTANCE,
        row,
        Kind::Channels
    );
    Ok(())
}

pub(super) fn group_norm(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, super::GROUP_NORM.infer)?;
    let groups = call.attrs.int("groups").unwrap_or(1).unsigned_abs() as usize;
    let inner = elements_of(&call.inputs[0].shape()[1..]);
    in_precision!(
        call.outputs[0].dtype,
        norm,
        call,
        GROUPED,
        inner / groups,
        Kind::Channels
    );
    Ok(())
}

/// Elements of the axes from `axis` on.
fn trailing(shape: &[usize], attrs: &Attrs) -> Result<usize, KernelError> {
    let axis = axis_of(attrs.int("axis").unwrap_or(-1), shape.len());
    let axis = axis.map_err(|error| KernelError::new(error.message))?;
    Ok(elements_of(&shape[axis..]))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Mean and variance; weight and bias of the last axes.
    Layer,
    /// The mean of the squares; weight of the last axes.
    Rms,
    /// Mean and variance; weight and bias of channels.
    Channels,
}

fn norm<A: Real>(call: &mut KernelCall<'_, '_>, params: &[Param], row: usize, kind: Kind) {
    let shape = call.inputs[0].shape();
    let given = |name| {
        input(params, call, name).map(|view| match kind {
            Kind::Channels => Reader::along(view, 1, shape),
            Kind::Layer | Kind::Rms => Reader::broadcast(view, shape),
        })
    };
    let (weight, bias) = (given("weight"), given("bias"));
    let epsilon: A = input(params, call, "epsilon").map_or(A::zero(), number);
    let x = Reader::new(&call.inputs[0]);
    fill_rows(&mut call.outputs[0], row, &|position, values: &mut [A]| {
        x.read(position, values);
        for row in values.chunks_exact_mut(row) {
            let (mean, factor) = moments(row, epsilon, kind);
            for value in row {
                *value = (*value - mean) * factor;
            }
        }
        combine(weight.as_ref(), position, values, |x, weight| x * weight);
        combine(bias.as_ref(), position, values, |x, bias| x + bias);
    });
}

/// What is subtracted from the elements of a row, and what the differences are multiplied with.
fn moments<A: Real>(row: &[A], epsilon: A, kind: Kind) -> (A, A) {
    let count = row.len() as f64;
    let mean = match kind {
        Kind::Rms => A::zero(),
        Kind::Layer | Kind::Channels => A::of(sum(row, |x| x) / count),
    };
    let variance = A::of(sum(row, |x| (x - mean) * (x - mean)) / count);
    (mean, A::one() / (variance + epsilon).sqrt())
}

/// Elements of weight or bias that are read at a time.
const BLOCK: usize = 256;

/// Combines each value with the element at its position, where there is something to combine with.
pub(super) fn combine<A: Real>(
    with: Option<&Reader<'_>>,
    position: usize,
    values: &mut [A],
    both: impl Fn(A, A) -> A,
) {
    let Some(with) = with else { return };
    let mut others = [A::zero(); BLOCK];
    for (block, values) in values.chunks_mut(BLOCK).enumerate() {
        let others = &mut others[..values.len()];
        with.read(position + block * BLOCK, others);
        for (value, other) in values.iter_mut().zip(others) {
            *value = both(*value, *other);
        }
    }
}
