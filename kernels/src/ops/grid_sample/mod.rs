//! Elements of images at places that a grid gives, and grids of affine maps.

mod affine;
mod kernel;

use haul_ir::expr::Expr;
use haul_ir::op::{
    Attrs, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, Param,
    ParamKind,
};
use haul_ir::types::TensorType;

pub(super) use affine::AFFINE_GRID;

use super::array_op::{ArrayOp, attribute, float_dtype, tensor, work_per_element};

const ALIGN_CORNERS: Param = attribute("align_corners", ParamKind::Bool, "false");

const PARAMS: &[Param] = &[
    tensor("x"),
    tensor("grid"),
    attribute(
        "mode",
        ParamKind::Word(&["linear", "nearest", "cubic"]),
        "'linear'",
    ),
    attribute(
        "padding",
        ParamKind::Word(&["zeros", "border", "reflection"]),
        "'zeros'",
    ),
    ALIGN_CORNERS,
];

/// `grid_sample(x, grid, mode='linear', padding='zeros', align_corners=false)`.
pub(super) static GRID_SAMPLE: ArrayOp = ArrayOp {
    name: "grid_sample",
    doc: "Elements at the places in `grid`, whose last axis has a coordinate for each axis of \
          the image, the last axis first: (x, y) or (x, y, z). -1 and 1 are the edges of the \
          image: the middles of its outermost elements with `align_corners`, else their outer \
          edges. 'linear' and 'cubic' (with coefficient -0.75) interpolate, 'nearest' rounds \
          halves to even. Beyond the image there are zeros, the elements at the border, or the \
          image reflected at its edges. A coordinate that is NaN is -1. Integers are computed in \
          `f64`, `f16` and `bf16` in `f32`.",
    params: PARAMS,
    rule: "[N, C, H, W], [N, h, w, 2] -> [N, C, h, w]; [N, C, D, H, W], [N, d, h, w, 3] -> \
           [N, C, d, h, w]",
    family: Family::Move,
    infer,
    work: |call, outputs| {
        let taps: u64 = match call.attrs.word("mode") {
            Some("nearest") => 0,
            Some("cubic") => 4,
            _ => 2,
        };
        let axes = call.inputs[0].shape().len().saturating_sub(2);
        let taps = (0..axes).fold(1, |product: u64, _| product.saturating_mul(taps));
        work_per_element(taps.saturating_mul(2), call, outputs)
    },
    work_formula: "2 flops for each neighbour of an element: 4 or 8 linear, 16 or 64 cubic",
    cpu: CpuKernel::Contiguous(kernel::grid_sample),
    gpu: GpuKernel::Own,
    examples: &[
        // The middle of the image, and the middle of its last element.
        Example {
            formula: "grid_sample(x, g)",
            given: &[
                ("x", "f32[1, 1, 2, 2]", "1 2 3 4"),
                ("g", "f32[1, 1, 2, 2]", "0 0 0.5 0.5"),
            ],
            result: ("f32[1, 1, 1, 2]", "2.5 4"),
        },
        Example {
            formula: "grid_sample(x, g, mode='nearest', padding='border', align_corners=true)",
            given: &[
                ("x", "f32[1, 1, 2, 2]", "1 2 3 4"),
                ("g", "f32[1, 1, 2, 2]", "1 -1 -7 1"),
            ],
            result: ("f32[1, 1, 1, 2]", "2 3"),
        },
    ],
};

fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let [x, grid] = [call.tensor(0)?, call.tensor(1)?];
    if !(3..=5).contains(&x.rank()) {
        let message = format!("needs [N, C, ..] with one to three axes more, this is {x}");
        return Err(InferError::new(Fault::Rank, message).on(0));
    }
    let axes = x.rank() - 2;
    let coordinates = Expr::from(axes as u64);
    if grid.rank() != x.rank() || grid.shape[axes + 1] != coordinates {
        let message = format!(
            "needs {axes} coordinates along the last of {} axes, this is {grid}",
            axes + 2
        );
        return Err(InferError::new(Fault::Shape, message).on(1));
    }
    if grid.shape[0] != x.shape[0] {
        let message = format!("has {} items, the images {}", grid.shape[0], x.shape[0]);
        return Err(InferError::new(Fault::Shape, message).on(1));
    }
    if x.shape[2..].contains(&Expr::ZERO) {
        return Err(InferError::new(Fault::Shape, format!("there is no element in {x}")).on(0));
    }
    let dtype = float_dtype(call, &[0, 1])?;
    let mut shape = x.shape[..2].to_vec();
    shape.extend(grid.shape[1..=axes].iter().cloned());
    Ok(Inferred::cast_all(2, dtype, TensorType::new(dtype, shape)))
}

/// The place of a coordinate from -1 to 1 along an axis.
fn aligned(attrs: &Attrs) -> bool {
    attrs.flag("align_corners")
}
