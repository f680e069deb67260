//! Triangles and diagonals of matrices.

use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Fault, InferError, Inferred, KernelCall, KernelError, ParamKind,
};
use haul_ir::tensor::{Layout, View};
use haul_ir::types::TensorType;

use super::attrs::{X, at_run, int, optional};
use super::views::diagonal;
use super::{Cost, Move};
use crate::parallel;
use crate::strided::{Walk, copy_view};

pub(crate) static TRIL: Move = Move {
    name: "tril",
    doc: "The last two axes with 0 above a diagonal: the main one, or `k` above it; below it where \
          that is negative.",
    params: &[X, optional("k", ParamKind::Int, "0")],
    rule: "[.., M, N] -> [.., M, N]",
    infer: triangle_type,
    cost: Cost::All,
    cpu: CpuKernel::Array(|call| triangle(call, false)),
    examples: &[Example {
        formula: "tril(x)",
        given: &[("x", "i32[2, 3]", "1 2 3 4 5 6")],
        result: ("i32[2, 3]", "1 0 0 4 5 0"),
    }],
};

pub(crate) static TRIU: Move = Move {
    name: "triu",
    doc: "The last two axes with 0 below a diagonal: the main one, or `k` above it; below it where \
          that is negative.",
    params: &[X, optional("k", ParamKind::Int, "0")],
    rule: "[.., M, N] -> [.., M, N]",
    infer: triangle_type,
    cost: Cost::All,
    cpu: CpuKernel::Array(|call| triangle(call, true)),
    examples: &[Example {
        formula: "triu(x, k=1)",
        given: &[("x", "i32[2, 3]", "1 2 3 4 5 6")],
        result: ("i32[2, 3]", "0 2 3 0 0 6"),
    }],
};

pub(crate) static DIAG: Move = Move {
    name: "diag",
    doc: "Of a vector, the square matrix with it on a diagonal and 0 elsewhere; of a matrix, its \
          diagonal. The main one, or `k` above it; below it where that is negative. `diagonal` \
          takes those of more than one matrix.",
    params: &[X, optional("k", ParamKind::Int, "0")],
    rule: "[n] -> [n + |k|, n + |k|]; [M, N] -> its diagonal",
    infer: |call| {
        let x = call.tensor(0)?;
        let k = int(call.attrs, "k")?;
        let distance = Expr::from(k.unsigned_abs());
        let shape = match &x.shape[..] {
            [length] => vec![length + &distance; 2],
            [rows, columns] => {
                let [down, right] = [k.min(0), k.max(0)].map(|n| Expr::from(i128::from(n)));
                let length = (rows + &down).smaller(&(columns - &right));
                vec![length.larger(&Expr::ZERO)]
            }
            _ => {
                let message = format!("needs a vector or a matrix, this is {x}");
                return Err(InferError::new(Fault::Rank, message).on(0));
            }
        };
        Ok(Inferred::plain(1, TensorType::new(x.dtype, shape)))
    },
    cost: Cost::All,
    cpu: CpuKernel::Array(diag),
    examples: &[
        Example {
            formula: "diag(x)",
            given: &[("x", "i32[2]", "1 2")],
            result: ("i32[2, 2]", "1 0 0 2"),
        },
        Example {
            formula: "diag(x, k=-1)",
            given: &[("x", "i32[2, 3]", "1 2 3 4 5 6")],
            result: ("i32[1]", "4"),
        },
    ],
};

fn triangle_type(call: &Call<'_>) -> Result<Inferred, InferError> {
    let x = call.tensor(0)?;
    int(call.attrs, "k")?;
    if x.rank() < 2 {
        let message = format!("needs at least two axes, this is {x}");
        return Err(InferError::new(Fault::Rank, message).on(0));
    }
    Ok(Inferred::plain(1, x.clone()))
}

/// Elements that one task fills.
const CHUNK: usize = 1 << 14;

fn triangle(call: &mut KernelCall<'_, '_>, upper: bool) -> Result<(), KernelError> {
    let k = int(call.attrs, "k").map_err(at_run)?;
    let (x, output) = (&call.inputs[0], &mut call.outputs[0]);
    copy_view(x, output.bytes);
    let [.., rows, columns] = output.shape[..] else {
        return Err(KernelError::new("needs at least two axes"));
    };
    let size = output.dtype.size() as usize;
    if columns == 0 {
        return Ok(());
    }
    let count = (CHUNK / columns).max(1);
    parallel::chunks(output.bytes, count * columns * size, &|chunk, bytes| {
        for (at, row) in bytes.chunks_exact_mut(columns * size).enumerate() {
            // The first column on the diagonal, and the first after it.
            let first = k.saturating_add_unsigned(((chunk * count + at) % rows) as u64);
            let column = |at: i64| usize::try_from(at.max(0)).unwrap_or(columns).min(columns);
            match upper {
                true => row[..column(first) * size].fill(0),
                false => row[column(first.saturating_add(1)) * size..].fill(0),
            }
        }
    });
    Ok(())
}

fn diag(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let k = int(call.attrs, "k").map_err(at_run)?;
    let (x, output) = (&call.inputs[0], &mut call.outputs[0]);
    if x.shape().len() == 2 {
        let layout = diagonal(&x.layout, k);
        copy_view(
            &View {
                layout,
                ..x.clone()
            },
            output.bytes,
        );
        return Ok(());
    }
    let size = output.dtype.size() as usize;
    output.bytes.fill(0);
    let place = diagonal(&Layout::contiguous(&output.shape), k);
    let walk = Walk::new(x.shape(), &x.layout.strides);
    for (at, offset) in (0..x.shape()[0]).zip(walk.offsets(0)) {
        let from = x.layout.offset.wrapping_add_signed(offset) * size;
        let to = (place.offset + at * (output.shape[1] + 1)) * size;
        output.bytes[to..to + size].copy_from_slice(&x.bytes[from..from + size]);
    }
    Ok(())
}
