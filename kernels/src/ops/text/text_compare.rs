//! Which of two texts comes first.

use haul_ir::column::{DataMut, Measured};
use haul_ir::dtype::DType;
use haul_ir::op::{CpuKernel, Example, Family, GpuKernel, Inferred, KernelError};
use haul_ir::types::TensorType;

use super::{WHY, WORK, X, Y, pairs, shape, sizes_of_both, unknown_work};
use crate::ops::array_op::ArrayOp;

pub(crate) static TEXT_COMPARE: ArrayOp = ArrayOp {
    name: "text_compare",
    doc: "-1 where the text of `x` comes before that of `y` in the same row, 0 where they are \
          equal, 1 where it comes after, by code points: `text_compare(x, y) <= 0`. One text \
          stands for each row of a column.",
    params: &[X, Y],
    rule: "text[..], text[..] -> i8[..]",
    family: Family::Move,
    infer: |call| {
        let sizes = sizes_of_both(call)?.to_vec();
        Ok(Inferred::plain(2, TensorType::new(DType::I8, sizes)))
    },
    work: unknown_work,
    work_formula: WORK,
    cpu: CpuKernel::Measured {
        measure: |call| Ok(vec![Measured::plain(shape(call))]),
        fill: |call, outputs| {
            let DataMut::Tensor(output) = &mut outputs[0] else {
                return Err(KernelError::new("there is no space for a tensor"));
            };
            for (result, (x, y)) in output.elements::<i8>().iter_mut().zip(pairs(call)?) {
                *result = x.cmp(y) as i8;
            }
            Ok(())
        },
    },
    gpu: GpuKernel::None(WHY),
    examples: &[
        Example {
            formula: "text_compare(x, y)",
            given: &[
                ("x", "text[4]", "'a' 'b' 'b' ''"),
                ("y", "text[4]", "'b' 'b' 'B' 'a'"),
            ],
            result: ("i8[4]", "-1 0 1 -1"),
        },
        Example {
            formula: "text_compare(x, y)",
            given: &[("x", "text", "ab"), ("y", "text[3]", "'a' 'ab' 'abc'")],
            result: ("i8[3]", "1 0 -1"),
        },
    ],
};
