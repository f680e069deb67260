//! Resizing by interpolation along each axis.

mod kernel;
mod taps;

use haul_ir::dtype::Kind;
use haul_ir::expr::Expr;
use haul_ir::op::{
    Attr, Attrs, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, Param,
    ParamKind, Work,
};
use haul_ir::types::{TensorType, ValueType};

use super::array_op::{ArrayOp, attribute, required, tensor, wrong};

const PARAMS: &[Param] = &[
    tensor("x"),
    required("sizes", ParamKind::Ints),
    attribute(
        "mode",
        ParamKind::Word(&["nearest", "linear", "cubic"]),
        "'nearest'",
    ),
    attribute(
        "coordinates",
        ParamKind::Word(&[
            "half_pixel",
            "pytorch_half_pixel",
            "half_pixel_symmetric",
            "asymmetric",
            "align_corners",
        ]),
        "'half_pixel'",
    ),
    attribute(
        "rounding",
        ParamKind::Word(&["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]),
        "'round_prefer_floor'",
    ),
    attribute("antialias", ParamKind::Bool, "false"),
    attribute("exclude_outside", ParamKind::Bool, "false"),
    attribute("cubic_coefficient", ParamKind::Numbers, "-0.75"),
    attribute("scales", ParamKind::Numbers, "none"),
];

/// `resize(x, sizes, mode='nearest', coordinates='half_pixel', rounding='round_prefer_floor',
/// antialias=false, exclude_outside=false, cubic_coefficient=-0.75, scales=none)`.
pub(super) static RESIZE: ArrayOp = ArrayOp {
    name: "resize",
    doc: "Brings the last axes to `sizes`, one for each, by the nearest element, linear or cubic \
          interpolation. Element i of the result lies, for a ratio r of new to old size, at \
          `(i + 0.5)/r - 0.5` (half_pixel; pytorch_half_pixel puts it at 0 where the new size is \
          1; half_pixel_symmetric centres what `scales` cut off), at `i/r` (asymmetric), or so \
          that first and last elements meet (align_corners). `scales` give r for each of these \
          axes, where sizes are products rounded, else it is the ratio of the sizes. Beyond the edge, the element at the edge \
          counts again, or not at all with `exclude_outside`. `antialias` widens the filters of \
          linear and cubic by 1/r where r is below 1. `rounding` is that of 'nearest', which \
          takes every dtype; integers give `f64` in the other modes, `f16` and `bf16` are \
          computed in `f32`. Memory for two slices of the resized axes a thread is needed.",
    params: PARAMS,
    rule: "[.., axes as many as sizes] -> [.., sizes]",
    family: Family::Move,
    infer,
    work,
    work_formula: "nearest 0 flops; linear 4, cubic 8 flops for each element after each axis (with \
                   `antialias` as many times more as the axis shrinks)",
    cpu: CpuKernel::Contiguous(kernel::resize),
    gpu: GpuKernel::Own,
    examples: &[
        Example {
            formula: "resize(x, 4)",
            given: &[("x", "i32[2]", "1 2")],
            result: ("i32[4]", "1 1 2 2"),
        },
        // Places -0.25, 0.25, 0.75, 1.25.
        Example {
            formula: "resize(x, 4, mode='linear')",
            given: &[("x", "f32[2]", "1 2")],
            result: ("f32[4]", "1 1.25 1.75 2"),
        },
        Example {
            formula: "resize(x, [3], mode='linear', coordinates='align_corners')",
            given: &[("x", "f64[2]", "1 2")],
            result: ("f64[3]", "1 1.5 2"),
        },
    ],
};

/// How elements are found.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Nearest,
    Linear,
    /// With its coefficient, which is -0.5 for Catmull-Rom splines.
    Cubic(f64),
}

impl Mode {
    fn of(attrs: &Attrs) -> Result<Self, InferError> {
        Ok(match attrs.word("mode") {
            Some("linear") => Self::Linear,
            Some("cubic") => match attrs.numbers("cubic_coefficient").as_deref() {
                Some([a]) if a.is_finite() => Self::Cubic(*a),
                _ => return Err(wrong("cubic_coefficient", "is one number")),
            },
            _ => Self::Nearest,
        })
    }
}

/// The ratio of new to old size that is given for each resized axis, if it is.
fn scales(attrs: &Attrs, axes: usize) -> Result<Option<Vec<f64>>, InferError> {
    if *attrs.get("scales") == Attr::None {
        return Ok(None);
    }
    let scales = attrs.numbers("scales").filter(|scales| {
        scales.len() == axes && scales.iter().all(|scale| *scale > 0.0 && scale.is_finite())
    });
    let rule = "has a positive number for each of `sizes`";
    scales.map(Some).ok_or_else(|| wrong("scales", rule))
}

/// That a ratio is that of two sizes, of which the new one was made whole.
fn fits(scale: f64, old: f64, new: f64) -> Result<(), InferError> {
    let exact = scale * old;
    if new == 0.0 || ((exact - new).abs() < 1.0 && exact >= 0.5) {
        return Ok(());
    }
    let message = format!("{scale} times {old} elements are not {new}");
    Err(InferError::new(Fault::Value, message).on_attr("scales"))
}

fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let x = call.tensor(0)?;
    let Attr::Ints(sizes) = call.attrs.get("sizes") else {
        return Err(wrong("sizes", "are whole numbers"));
    };
    let kept = x.rank().checked_sub(sizes.len()).ok_or_else(|| {
        let message = format!("{} sizes for a tensor with {} axes", sizes.len(), x.rank());
        InferError::new(Fault::Rank, message).on_attr("sizes")
    })?;
    let scales = scales(call.attrs, sizes.len())?.unwrap_or_default();
    let mut scales = scales.into_iter();
    for (old, new) in x.shape[kept..].iter().zip(sizes) {
        let scale = scales.next();
        if let (Some(scale), Some(old), Some(new)) = (scale, old.as_u64(), new.as_u64()) {
            fits(scale, old as f64, new as f64)?;
        }
        if new.as_int().is_some_and(|new| new < 0) {
            return Err(wrong("sizes", "are whole numbers of at least 0"));
        }
        let nothing = *old == Expr::ZERO;
        if nothing && *new != Expr::ZERO {
            let message = format!("there is no element to make {new} of");
            return Err(InferError::new(Fault::Shape, message).on(0));
        }
    }
    let mut shape = x.shape[..kept].to_vec();
    shape.extend(sizes.iter().cloned());
    if Mode::of(call.attrs)? == Mode::Nearest {
        return Ok(Inferred::plain(1, TensorType::new(x.dtype, shape)));
    }
    if !matches!(x.dtype.kind(), Kind::Int | Kind::Float) {
        let message = format!("has only the mode 'nearest' for {}", x.dtype);
        return Err(InferError::new(Fault::DType, message).on(0));
    }
    let dtype = x.dtype.float();
    Ok(Inferred::cast_all(1, dtype, TensorType::new(dtype, shape)))
}

fn work(call: &Call<'_>, outputs: &[ValueType]) -> Work {
    let (Ok(x), Some(output)) = (call.tensor(0), outputs.first().and_then(ValueType::tensor))
    else {
        return Work::Unknown;
    };
    let taps = match Mode::of(call.attrs) {
        Ok(Mode::Linear) => 2,
        Ok(Mode::Cubic(_)) => 4,
        _ => return Work::of(Expr::ZERO, call, outputs),
    };
    let sizes = match call.attrs.get("sizes") {
        Attr::Ints(sizes) => sizes.len(),
        _ => 0,
    };
    // Axes are resized from the first to the last.
    let mut shape = x.shape.clone();
    let mut flops = Expr::ZERO;
    for axis in x.rank().saturating_sub(sizes)..x.rank() {
        let (old, new) = (x.shape[axis].clone(), output.shape[axis].clone());
        shape[axis] = match call.attrs.flag("antialias") {
            true => new.larger(&old),
            false => new.clone(),
        };
        flops = flops + Expr::product(&shape) * (2 * taps);
        shape[axis] = new;
    }
    Work::of(flops, call, outputs)
}
