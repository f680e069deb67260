//! Patches of tensors as columns of a matrix, and back.

mod kernel;

use haul_ir::dtype::Kind;
use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, Param, ParamKind,
    Work,
};
use haul_ir::types::TensorType;

use super::array_op::{ArrayOp, attribute, required, tensor, wrong};
use super::windows::{Axis, DILATION, MAX, PADDING};

const UNFOLD_PARAMS: &[Param] = &[
    tensor("x"),
    required("kernel_size", ParamKind::Ints),
    attribute("stride", ParamKind::Ints, "1"),
    PADDING,
    DILATION,
];

/// `unfold(x, kernel_size, stride=1, padding=0, dilation=1)`.
pub(super) static UNFOLD: ArrayOp = ArrayOp {
    name: "unfold",
    doc: "The patches that a filter of the size `kernel_size` sees, which has one number for \
          each axis after the second, as columns (im2col): element by element down, channels \
          outermost, and patch by patch to the right, in row-major order. `stride`, `padding` \
          and `dilation` are as in `conv2d`.",
    params: UNFOLD_PARAMS,
    rule: "[N, C, ..] -> [N, C*size of a patch, number of patches]",
    family: Family::Move,
    infer: infer_unfold,
    work: |call, outputs| Work::of(Expr::ZERO, call, outputs),
    work_formula: "0 flops",
    cpu: CpuKernel::Contiguous(kernel::unfold),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "unfold(x, [2, 2])",
        given: &[("x", "i32[1, 1, 2, 3]", "1 2 3 4 5 6")],
        result: ("i32[1, 4, 2]", "1 2 2 3 4 5 5 6"),
    }],
};

const FOLD_PARAMS: &[Param] = &[
    tensor("x"),
    required("output_size", ParamKind::Ints),
    required("kernel_size", ParamKind::Ints),
    attribute("stride", ParamKind::Ints, "1"),
    PADDING,
    DILATION,
];

/// `fold(x, output_size, kernel_size, stride=1, padding=0, dilation=1)`.
pub(super) static FOLD: ArrayOp = ArrayOp {
    name: "fold",
    doc: "The opposite of `unfold` (col2im): puts patches back to their places in a tensor whose \
          axes after the second have the sizes `output_size`, and sums where they overlap. \
          Integers sum in 64 bits; f16 and bf16 in f32.",
    params: FOLD_PARAMS,
    rule: "[N, C*size of a patch, number of patches] -> [N, C, ..output_size]",
    family: Family::Move,
    infer: infer_fold,
    work: |call, outputs| match call.tensor(0) {
        Ok(x) => Work::of(x.elements(), call, outputs),
        Err(_) => Work::Unknown,
    },
    work_formula: "1 flop an element of the patches",
    cpu: CpuKernel::Contiguous(kernel::fold),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "fold(x, output_size=[2, 3], kernel_size=[2, 2])",
        given: &[("x", "f32[1, 4, 2]", "1 2 2 3 4 5 5 6")],
        result: ("f32[1, 1, 2, 3]", "1 4 3 4 10 6"),
    }],
};

/// The sizes that an attribute gives for one to three axes.
fn sizes(call: &Call<'_>, name: &'static str) -> Result<Vec<usize>, InferError> {
    let rule = "is one to three whole numbers of at least 1, one for each axis";
    let sizes = call.attrs.ints(name).ok_or_else(|| wrong(name, rule))?;
    if !(1..=3).contains(&sizes.len()) || sizes.iter().any(|size| !(1..=MAX).contains(size)) {
        return Err(wrong(name, rule));
    }
    Ok(sizes.iter().map(|size| *size as usize).collect())
}

fn exact(sizes: &[usize]) -> Vec<Expr> {
    sizes.iter().map(|size| Expr::from(*size as u64)).collect()
}

fn infer_unfold(call: &Call<'_>) -> Result<Inferred, InferError> {
    let x = call.tensor(0)?;
    let window = sizes(call, "kernel_size")?;
    if x.rank() != window.len() + 2 {
        let message = format!("has {} axes after the second, this is {x}", window.len());
        return Err(InferError::new(Fault::Rank, message).on(0));
    }
    let axes = Axis::all(call.attrs, &window)?;
    let window = exact(&window);
    let mut patches = Expr::ONE;
    for (axis, (input, window)) in axes.iter().zip(x.shape[2..].iter().zip(&window)) {
        let fit = axis.output(input, window);
        patches = patches * fit.map_err(|error| error.on(0))?;
    }
    let rows = Expr::product(&window) * &x.shape[1];
    let shape = vec![x.shape[0].clone(), rows, patches];
    Ok(Inferred::plain(1, TensorType::new(x.dtype, shape)))
}

fn infer_fold(call: &Call<'_>) -> Result<Inferred, InferError> {
    let x = call.tensor(0)?;
    let [count, rows, columns] = &x.shape[..] else {
        let message = format!("needs [N, C*size of a patch, number of patches], this is {x}");
        return Err(InferError::new(Fault::Rank, message).on(0));
    };
    if x.dtype.kind() == Kind::Bool {
        return Err(InferError::new(Fault::DType, "is not defined for bool").on(0));
    }
    let (window, output) = (sizes(call, "kernel_size")?, sizes(call, "output_size")?);
    if window.len() != output.len() {
        return Err(wrong(
            "kernel_size",
            "has a number for each of `output_size`",
        ));
    }
    let axes = Axis::all(call.attrs, &window)?;
    let (window, output) = (exact(&window), exact(&output));
    let mut patches = Expr::ONE;
    for (axis, (input, window)) in axes.iter().zip(output.iter().zip(&window)) {
        let fit = axis.output(input, window);
        patches = patches * fit.map_err(|error| error.on(0))?;
    }
    if patches != *columns {
        let message = format!("there are {patches} patches in the result, not {columns}");
        return Err(InferError::new(Fault::Shape, message).on(0));
    }
    let elements = Expr::product(&window);
    if rows
        .modulo(&elements)
        .as_int()
        .is_some_and(|rest| rest != 0)
    {
        let message = format!("{rows} rows do not divide into patches of {elements} elements");
        return Err(InferError::new(Fault::Shape, message).on(0));
    }
    let mut shape = vec![count.clone(), rows.floor_div(&elements)];
    shape.extend(output);
    let dtype = x.dtype.sum();
    Ok(Inferred::cast_all(1, dtype, TensorType::new(dtype, shape)))
}
