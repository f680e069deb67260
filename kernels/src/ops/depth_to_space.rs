//! Channels moved into rows and columns, and back.

use haul_ir::expr::Expr;
use haul_ir::op::{
    Attrs, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Param, ParamKind, Work,
};
use haul_ir::tensor::{Layout, View};
use haul_ir::types::{Shape, TensorType};

use super::array_op::{ArrayOp, attribute, check, required, tensor, wrong};
use super::windows::MAX;
use crate::strided::copy_view;

const PARAMS: &[Param] = &[
    tensor("x"),
    required("block", ParamKind::Int),
    attribute("mode", ParamKind::Word(&["dcr", "crd"]), "'dcr'"),
];

/// `depth_to_space(x, block, mode='dcr')`.
pub(super) static DEPTH_TO_SPACE: ArrayOp = ArrayOp {
    name: "depth_to_space",
    doc: "Moves channels into blocks of `block` rows and columns. In mode 'dcr' a channel is \
          numbered by row of the block, column, result channel; in mode 'crd' by result channel, \
          row, column (PyTorch's pixel_shuffle).",
    params: PARAMS,
    rule: "[N, C*block**2, H, W] -> [N, C, H*block, W*block]",
    family: Family::Move,
    infer: infer_to_space,
    work: |call, outputs| Work::of(Expr::ZERO, call, outputs),
    work_formula: "0 flops",
    cpu: CpuKernel::Array(to_space),
    gpu: GpuKernel::Own,
    examples: &[
        Example {
            formula: "depth_to_space(x, 2)",
            given: &[("x", "i32[1, 8, 1, 1]", "1 2 3 4 5 6 7 8")],
            result: ("i32[1, 2, 2, 2]", "1 3 5 7 2 4 6 8"),
        },
        Example {
            formula: "depth_to_space(x, 2, mode='crd')",
            given: &[("x", "i32[1, 8, 1, 1]", "1 2 3 4 5 6 7 8")],
            result: ("i32[1, 2, 2, 2]", "1 2 3 4 5 6 7 8"),
        },
    ],
};

/// `space_to_depth(x, block, mode='dcr')`.
pub(super) static SPACE_TO_DEPTH: ArrayOp = ArrayOp {
    name: "space_to_depth",
    doc: "The opposite of `depth_to_space`: moves blocks of `block` rows and columns into \
          channels, numbered as there.",
    params: PARAMS,
    rule: "[N, C, H*block, W*block] -> [N, C*block**2, H, W]",
    family: Family::Move,
    infer: infer_to_depth,
    work: |call, outputs| Work::of(Expr::ZERO, call, outputs),
    work_formula: "0 flops",
    cpu: CpuKernel::Array(to_depth),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "space_to_depth(x, 2)",
        given: &[("x", "i32[1, 2, 2, 2]", "1 3 5 7 2 4 6 8")],
        result: ("i32[1, 8, 1, 1]", "1 2 3 4 5 6 7 8"),
    }],
};

/// The size of a block, and the input with its four axes.
fn given<'a>(call: &Call<'a>) -> Result<(u64, &'a TensorType), InferError> {
    let x = call.tensor(0)?;
    if x.rank() != 4 {
        let message = format!("needs [N, C, H, W], this is {x}");
        return Err(InferError::new(Fault::Rank, message).on(0));
    }
    match call.attrs.int("block") {
        Some(block @ 1..=MAX) => Ok((block.unsigned_abs(), x)),
        _ => Err(wrong("block", "is a whole number of at least 1")),
    }
}

/// A size over that of a block.
fn divided(size: &Expr, by: u64, what: &str) -> Result<Expr, InferError> {
    let by = Expr::from(by);
    if size.modulo(&by).as_int().is_some_and(|rest| rest != 0) {
        let message = format!("{size} {what} do not divide by {by}");
        return Err(InferError::new(Fault::Shape, message).on(0));
    }
    Ok(size.floor_div(&by))
}

fn infer_to_space(call: &Call<'_>) -> Result<Inferred, InferError> {
    let (block, x) = given(call)?;
    let channels = divided(&x.shape[1], block * block, "channels")?;
    let shape: Shape = vec![
        x.shape[0].clone(),
        channels,
        &x.shape[2] * block,
        &x.shape[3] * block,
    ];
    Ok(Inferred::plain(1, TensorType::new(x.dtype, shape)))
}

fn infer_to_depth(call: &Call<'_>) -> Result<Inferred, InferError> {
    let (block, x) = given(call)?;
    let shape: Shape = vec![
        x.shape[0].clone(),
        &x.shape[1] * (block * block),
        divided(&x.shape[2], block, "rows")?,
        divided(&x.shape[3], block, "columns")?,
    ];
    Ok(Inferred::plain(1, TensorType::new(x.dtype, shape)))
}

fn to_space(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer_to_space)?;
    let block = block(call.attrs);
    // N, then channels in three, rows, columns; and the order in the result.
    let channels = call.outputs[0].shape[1];
    let (split, order): ([usize; 3], _) = match call.attrs.word("mode") {
        Some("crd") => ([channels, block, block], [0, 1, 4, 2, 5, 3]),
        _ => ([block, block, channels], [0, 3, 4, 1, 5, 2]),
    };
    let layout = split_axis(&call.inputs[0].layout, 1, &split);
    copy_in_order(call, &layout, &order);
    Ok(())
}

fn to_depth(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    check(call, infer_to_depth)?;
    let block = block(call.attrs);
    // N, C, rows of blocks, rows in them, columns of blocks, columns in them.
    let layout = &call.inputs[0].layout;
    let layout = split_axis(layout, 3, &[layout.shape[3] / block, block]);
    let layout = split_axis(&layout, 2, &[layout.shape[2] / block, block]);
    let order = match call.attrs.word("mode") {
        Some("crd") => [0, 1, 3, 5, 2, 4],
        _ => [0, 3, 5, 1, 2, 4],
    };
    copy_in_order(call, &layout, &order);
    Ok(())
}

fn block(attrs: &Attrs) -> usize {
    attrs.int("block").unwrap_or(1).unsigned_abs() as usize
}

/// An axis as several, whose sizes multiply to its own.
fn split_axis(layout: &Layout, axis: usize, sizes: &[usize]) -> Layout {
    let mut split = layout.clone();
    let mut strides = vec![layout.strides[axis]; sizes.len()];
    for at in (1..sizes.len()).rev() {
        strides[at - 1] = strides[at].saturating_mul(sizes[at] as isize);
    }
    split.shape.splice(axis..=axis, sizes.iter().copied());
    split.strides.splice(axis..=axis, strides);
    split
}

/// Fills the output with the elements of the input in another order of axes.
fn copy_in_order(call: &mut KernelCall<'_, '_>, layout: &Layout, order: &[usize]) {
    let view = View {
        layout: Layout {
            shape: order.iter().map(|axis| layout.shape[*axis]).collect(),
            strides: order.iter().map(|axis| layout.strides[*axis]).collect(),
            offset: layout.offset,
        },
        ..call.inputs[0].clone()
    };
    copy_view(&view, call.outputs[0].bytes);
}
