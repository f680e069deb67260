//! Positions told by rotations.

use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Param, ParamKind,
};
use haul_ir::types::TensorType;

use super::array_op::{
    ArrayOp, attribute, broadcasts_to, check, float_dtype, tensor, work_per_element,
};
use crate::real::{Reader, Real, fill_rows, in_precision};

const PARAMS: &[Param] = &[
    tensor("x"),
    tensor("cos"),
    tensor("sin"),
    attribute("interleaved", ParamKind::Bool, "false"),
];

/// `rotary_embedding(x, cos, sin, interleaved=false)`.
pub(super) static ROTARY_EMBEDDING: ArrayOp = ArrayOp {
    name: "rotary_embedding",
    doc: "Rotates pairs (a, b) of the last axis to `a*cos - b*sin` and `a*sin + b*cos`. With R \
          cosines along the last axis, which broadcasts before it, the first 2R elements rotate: \
          element j with j + R, or neighbours if `interleaved`; the rest stays. Integers are \
          computed in `f64`, `f16` and `bf16` in `f32`.",
    params: PARAMS,
    rule: "[.., D], [.., R], [.., R] -> [.., D]",
    family: Family::Elementwise,
    infer,
    work: |call, outputs| work_per_element(3, call, outputs),
    work_formula: "3 flops an element",
    cpu: CpuKernel::Array(rotary_embedding),
    gpu: GpuKernel::Own,
    examples: &[
        Example {
            formula: "rotary_embedding(x, c, s)",
            given: &[
                ("x", "f32[1, 5]", "1 2 3 4 5"),
                ("c", "f32[2]", "0 1"),
                ("s", "f32[2]", "1 0"),
            ],
            result: ("f32[1, 5]", "-3 2 1 4 5"),
        },
        Example {
            formula: "rotary_embedding(x, c, s, interleaved=true)",
            given: &[
                ("x", "f32[1, 4]", "1 2 3 4"),
                ("c", "f32[2]", "0 1"),
                ("s", "f32[2]", "1 0"),
            ],
            result: ("f32[1, 4]", "-2 1 3 4"),
        },
    ],
};

fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let [x, cos] = [call.tensor(0)?, call.tensor(1)?];
    let (Some(width), Some(pairs)) = (x.shape.last(), cos.shape.last()) else {
        let message = "a scalar has no pairs to rotate";
        let position = usize::from(x.rank() > 0);
        return Err(InferError::new(Fault::Rank, message).on(position));
    };
    let rest = width - pairs * 2;
    if rest.as_int().is_some_and(|rest| rest < 0) {
        let message = format!("{pairs} pairs are more than {width} elements");
        return Err(InferError::new(Fault::Shape, message).on(1));
    }
    let mut shape = x.shape[..x.rank() - 1].to_vec();
    shape.push(pairs.clone());
    for position in [1, 2] {
        broadcasts_to(call, position, &shape)?;
    }
    if *pairs != Expr::ONE && call.inputs[2].shape().last() != Some(pairs) {
        let message = format!("there are {pairs} cosines");
        return Err(InferError::new(Fault::Shape, message).on(2));
    }
    let dtype = float_dtype(call, &[0, 1, 2])?;
    let output = TensorType::new(dtype, x.shape.clone());
    Ok(Inferred::cast_all(3, dtype, output))
}

fn rotary_embedding(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer)?;
    in_precision!(call.outputs[0].dtype, rotate, call);
    Ok(())
}

fn rotate<A: Real>(call: &mut KernelCall<'_, '_>) {
    let (shape, of_pairs) = (call.inputs[0].shape(), call.inputs[1].shape());
    let (Some(&width), Some(&pairs)) = (shape.last(), of_pairs.last()) else {
        return;
    };
    let mut of_pairs = shape.to_vec();
    if let Some(last) = of_pairs.last_mut() {
        *last = pairs;
    }
    let [cos, sin] = [1, 2].map(|at| Reader::broadcast(&call.inputs[at], &of_pairs));
    let x = Reader::new(&call.inputs[0]);
    let interleaved = call.attrs.flag("interleaved");
    fill_rows(
        &mut call.outputs[0],
        width,
        &|position, values: &mut [A]| {
            let (mut cosines, mut sines) = (vec![A::zero(); pairs], vec![A::zero(); pairs]);
            x.read(position, values);
            for (at, row) in values.chunks_exact_mut(width).enumerate() {
                let start = (position / width + at) * pairs;
                cos.read(start, &mut cosines);
                sin.read(start, &mut sines);
                for (pair, (cos, sin)) in cosines.iter().zip(&sines).enumerate() {
                    let (first, second) = match interleaved {
                        true => (2 * pair, 2 * pair + 1),
                        false => (pair, pair + pairs),
                    };
                    let (a, b) = (row[first], row[second]);
                    row[first] = a * *cos - b * *sin;
                    row[second] = a * *sin + b * *cos;
                }
            }
        },
    );
}
