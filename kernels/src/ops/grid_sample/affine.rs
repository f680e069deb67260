//! Grids of affine maps.

use haul_ir::expr::Expr;
use haul_ir::op::{
    Attr, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Param, ParamKind,
};
use haul_ir::types::TensorType;

use super::ALIGN_CORNERS;
use crate::ops::array_op::{
    ArrayOp, check, float_dtype, required, tensor, work_per_element, wrong,
};
use crate::real::{Reader, Real, elements_of, fill_rows, in_precision};

const PARAMS: &[Param] = &[
    tensor("theta"),
    required("size", ParamKind::Ints),
    ALIGN_CORNERS,
];

/// `affine_grid(theta, size, align_corners=false)`.
pub(in crate::ops) static AFFINE_GRID: ArrayOp = ArrayOp {
    name: "affine_grid",
    doc: "The grid for `grid_sample` that an affine map of each item gives: `theta @ (x, y, 1)` \
          or `theta @ (x, y, z, 1)` for each element of an image of the size [N, C, H, W] or [N, \
          C, D, H, W], with coordinates as `grid_sample` takes them. Integers are computed in \
          `f64`, `f16` and `bf16` in `f32`.",
    params: PARAMS,
    rule: "[N, 2, 3] -> [N, H, W, 2]; [N, 3, 4] -> [N, D, H, W, 3]",
    family: Family::Elementwise,
    infer,
    work: |call, outputs| {
        let columns = call.inputs[0].shape().last().and_then(Expr::as_u64);
        work_per_element(columns.unwrap_or(0).saturating_mul(2), call, outputs)
    },
    work_formula: "6 or 8 flops an element",
    cpu: CpuKernel::Array(affine_grid),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "affine_grid(t, size=[1, 1, 1, 2], align_corners=true)",
        given: &[("t", "f32[1, 2, 3]", "2 0 1 1 0 3")],
        result: ("f32[1, 1, 2, 2]", "-1 2 3 4"),
    }],
};

fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let theta = call.tensor(0)?;
    let Attr::Ints(size) = call.attrs.get("size") else {
        return Err(wrong("size", "is [N, C, H, W] or [N, C, D, H, W]"));
    };
    let axes = match size.len() {
        4 | 5 => size.len() - 2,
        _ => return Err(wrong("size", "is [N, C, H, W] or [N, C, D, H, W]")),
    };
    if size
        .iter()
        .any(|size| size.as_int().is_some_and(|size| size < 0))
    {
        return Err(wrong("size", "is of whole numbers of at least 0"));
    }
    let [rows, columns] = [axes, axes + 1].map(|size| Expr::from(size as u64));
    if theta.shape != [size[0].clone(), rows.clone(), columns.clone()] {
        let message = format!("needs [{}, {rows}, {columns}], this is {theta}", size[0]);
        return Err(InferError::new(Fault::Shape, message).on(0));
    }
    let dtype = float_dtype(call, &[0])?;
    let mut shape = vec![size[0].clone()];
    shape.extend(size[2..].iter().cloned());
    shape.push(rows);
    Ok(Inferred::cast_all(1, dtype, TensorType::new(dtype, shape)))
}

fn affine_grid(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer)?;
    in_precision!(call.outputs[0].dtype, fill, call);
    Ok(())
}

fn fill<A: Real>(call: &mut KernelCall<'_, '_>) {
    let align_corners = super::aligned(call.attrs);
    let shape = call.outputs[0].shape.clone();
    let axes = shape.len() - 2;
    let places = elements_of(&shape[1..=axes]);
    let theta = Reader::new(&call.inputs[0]);
    // The middle of an element of an axis, -1 to 1 from edge to edge.
    let coordinate = |at: usize, size: usize| {
        let (at, size) = (at as f64, size as f64);
        A::of(match align_corners {
            true if size > 1.0 => 2.0 * at / (size - 1.0) - 1.0,
            true => 0.0,
            false => (2.0 * at + 1.0) / size - 1.0,
        })
    };
    fill_rows(&mut call.outputs[0], axes, &|position, values: &mut [A]| {
        let mut row = vec![A::zero(); axes + 1];
        for (at, values) in values.chunks_exact_mut(axes).enumerate() {
            let place = position / axes + at;
            let (item, mut rest) = (place / places, place % places);
            let mut point = [A::one(); 4];
            for axis in (0..axes).rev() {
                let size = shape[1 + axis];
                point[axes - 1 - axis] = coordinate(rest % size, size);
                rest /= size;
            }
            point[axes] = A::one();
            for (line, value) in values.iter_mut().enumerate() {
                theta.read((item * axes + line) * (axes + 1), &mut row);
                let products = row.iter().zip(&point).map(|(a, b)| *a * *b);
                *value = products.fold(A::zero(), |sum, product| sum + product);
            }
        }
    });
}
