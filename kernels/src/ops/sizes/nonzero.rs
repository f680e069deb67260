//! Where elements are not zero.

use haul_ir::column::{DataMut, Measured};
use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, DataCall, Example, Family, GpuKernel, InferError, Inferred, KernelError, Work,
};
use haul_ir::tensor::View;
use haul_ir::types::{TensorType, ValueType};

use super::SIZE;
use crate::ops::array_op::{ArrayOp, tensor};

pub(crate) static NONZERO: ArrayOp = ArrayOp {
    name: "nonzero",
    doc: "The positions of the elements that are not zero, in row-major order: a row for each axis, \
          a column for each element. NaN is not zero. Only the data knows how many there are: plans \
          count with all elements, unless `size` names a size of `dims`.",
    params: &[tensor("x"), SIZE],
    rule: "[..] of rank r -> i64[r, size]",
    family: Family::Move,
    infer,
    work: |call, outputs| Work::of(Expr::ZERO, call, outputs),
    work_formula: "0 flops",
    cpu: CpuKernel::Measured {
        measure: |call| {
            let x = call.tensor(0);
            Ok(vec![Measured::plain(vec![
                x.shape().len(),
                places(x).count(),
            ])])
        },
        fill,
    },
    gpu: GpuKernel::None("how many there are is known when they are counted, in host memory"),
    examples: &[Example {
        formula: "nonzero(x)",
        given: &[("x", "f32[2, 3]", "0 1 nan 0 0 -2")],
        result: ("i64[2, 3]", "0 0 1 1 2 2"),
    }],
};

fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let x = call.tensor(0)?;
    let size = call.attrs.size("size")?;
    let shape = vec![(x.rank() as u64).into(), size.clone()];
    let result: ValueType = TensorType::new(DType::I64, shape).into();
    Ok(Inferred::plain(1, result).bounded(&size, x.elements()))
}

fn fill(call: &DataCall<'_, '_>, outputs: &mut [DataMut<'_>]) -> Result<(), KernelError> {
    let x = call.tensor(0);
    let DataMut::Tensor(output) = &mut outputs[0] else {
        return Err(KernelError::new("there is no space for a tensor"));
    };
    let count = output.shape[1];
    let positions: Vec<usize> = places(x).collect();
    let mut inner = 1;
    let rows = output
        .elements::<i64>()
        .chunks_exact_mut(count.max(1))
        .rev();
    for (row, size) in rows.zip(x.shape().iter().rev()) {
        for (to, position) in row.iter_mut().zip(&positions) {
            *to = (position / inner % size) as i64;
        }
        inner *= size;
    }
    Ok(())
}

/// Which elements are not zero, of a tensor without gaps.
fn places<'b>(x: &View<'b>) -> impl Iterator<Item = usize> + 'b {
    let size = x.dtype.size() as usize;
    let start = x.layout.offset * size;
    let bytes = &x.bytes[start..start + x.layout.elements() * size];
    let dtype = x.dtype;
    let elements = bytes.chunks_exact(size).enumerate();
    let other = elements.filter(move |(_, element)| !is_zero(dtype, element));
    other.map(|(position, _)| position)
}

/// Whether all bits are zero, but for the signs of floats.
fn is_zero(dtype: DType, element: &[u8]) -> bool {
    use haul_ir::dtype::Kind;
    let part = dtype.real().size() as usize;
    let signed = matches!(dtype.kind(), Kind::Float | Kind::Complex);
    element.chunks_exact(part).all(|part| {
        let (last, others) = part.split_last().unwrap_or((&0, &[]));
        let sign = if signed { 0x7F } else { 0xFF };
        last & sign == 0 && others.iter().all(|byte| *byte == 0)
    })
}
