//! Pooling over one to three axes.

mod kernel;
mod table;

use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{Attrs, Call, Fault, InferError, Inferred, Param, ParamKind, Work};
use haul_ir::types::{TensorType, ValueType};

pub(super) use table::*;

use super::array_op::{attribute, required, tensor, wrong};
use super::windows::{Axis, DILATION, PADDING, each};

const KERNEL_SIZE: Param = required("kernel_size", ParamKind::Ints);
const STRIDE: Param = attribute("stride", ParamKind::Ints, "none");
const CEIL_MODE: Param = attribute("ceil_mode", ParamKind::Bool, "false");
const P: Param = attribute("p", ParamKind::Numbers, "2");

const MAX_POOL_PARAMS: &[Param] = &[
    tensor("x"),
    KERNEL_SIZE,
    STRIDE,
    PADDING,
    DILATION,
    CEIL_MODE,
];

const AVG_POOL_PARAMS: &[Param] = &[
    tensor("x"),
    KERNEL_SIZE,
    STRIDE,
    PADDING,
    DILATION,
    CEIL_MODE,
    attribute("count_include_pad", ParamKind::Bool, "true"),
];

const LP_POOL_PARAMS: &[Param] = &[
    tensor("x"),
    KERNEL_SIZE,
    STRIDE,
    PADDING,
    DILATION,
    CEIL_MODE,
    P,
];

/// Windows along each axis, or one over all of it where the op takes no size of windows.
fn output_shape(call: &Call<'_>) -> Result<Vec<Expr>, InferError> {
    let x = call.tensor(0)?;
    let rank = rank(x)?;
    let mut shape = x.shape[..2].to_vec();
    let Some(window) = window(call.attrs, rank)? else {
        let empty = x.shape[2..].contains(&Expr::ZERO);
        if empty {
            let message = format!("there is no element to take from {x}");
            return Err(InferError::new(Fault::Shape, message).on(0));
        }
        shape.resize(x.rank(), Expr::ONE);
        return Ok(shape);
    };
    let axes = Axis::all(call.attrs, &window)?;
    for (axis, (input, window)) in axes.iter().zip(x.shape[2..].iter().zip(window)) {
        let window = Expr::from(window as u64);
        let size = match call.attrs.flag("ceil_mode") {
            true => axis.output_with_overhang(input, &window),
            false => axis.output(input, &window),
        };
        shape.push(size.map_err(|error| error.on(0))?);
    }
    Ok(shape)
}

/// The size of windows; nothing where one is over everything.
fn window(attrs: &Attrs, rank: usize) -> Result<Option<Vec<usize>>, InferError> {
    let has_windows = attrs.0.iter().any(|(name, _)| *name == "kernel_size");
    has_windows
        .then(|| each(attrs, "kernel_size", rank))
        .transpose()
}

/// How many axes windows move over.
fn rank(x: &TensorType) -> Result<usize, InferError> {
    match x.rank() {
        rank @ 3..=5 => Ok(rank - 2),
        _ => {
            let message = format!("needs [N, C, ..] with one to three axes more, this is {x}");
            Err(InferError::new(Fault::Rank, message).on(0))
        }
    }
}

/// The order of the norm.
fn order(attrs: &Attrs) -> Result<f64, InferError> {
    match attrs.numbers("p").as_deref() {
        Some([p]) if *p > 0.0 && p.is_finite() => Ok(*p),
        _ => Err(wrong("p", "is a positive number")),
    }
}

fn infer_max(call: &Call<'_>) -> Result<Inferred, InferError> {
    let x = call.tensor(0)?;
    if x.dtype.kind() == Kind::Complex || x.dtype == DType::Bool {
        let message = format!("is not defined for {}", x.dtype);
        return Err(InferError::new(Fault::DType, message).on(0));
    }
    let shape = output_shape(call)?;
    Ok(Inferred::plain(1, TensorType::new(x.dtype, shape)))
}

fn infer_max_with_indices(call: &Call<'_>) -> Result<Inferred, InferError> {
    let mut inferred = infer_max(call)?;
    let indices = TensorType::new(DType::I64, output_shape(call)?);
    inferred.outputs.push(indices.into());
    Ok(inferred)
}

fn infer_float(call: &Call<'_>) -> Result<Inferred, InferError> {
    let dtype = super::array_op::float_dtype(call, &[0])?;
    let shape = output_shape(call)?;
    Ok(Inferred::cast_all(1, dtype, TensorType::new(dtype, shape)))
}

fn infer_norm(call: &Call<'_>) -> Result<Inferred, InferError> {
    order(call.attrs)?;
    infer_float(call)
}

/// So many flops for each element of each window.
fn work(flops: u64, call: &Call<'_>, outputs: &[ValueType]) -> Work {
    let (Ok(x), Some(output)) = (call.tensor(0), outputs.first().and_then(ValueType::tensor))
    else {
        return Work::Unknown;
    };
    let elements = match rank(x).and_then(|rank| window(call.attrs, rank)) {
        Ok(Some(window)) => window
            .into_iter()
            .fold(output.elements(), |product, size| product * size as u64),
        _ => x.elements(),
    };
    Work::of(elements * flops, call, outputs)
}
