//! Texts one after another.

use haul_ir::column::{Heap, Measured};
use haul_ir::op::{
    CpuKernel, DataCall, Example, Family, GpuKernel, Inferred, KernelError, ParamKind,
};

use super::{WHY, WORK, X, Y, fill_texts, pairs, put, shape, sizes_of_both, text_of, unknown_work};
use crate::ops::array_op::{ArrayOp, attribute};

pub(crate) static CONCAT_TEXT: ArrayOp = ArrayOp {
    name: "concat_text",
    doc: "Each text of `x`, the separator and the text of `y` in the same row, as one text. One \
          text stands for each row of a column.",
    params: &[X, Y, attribute("separator", ParamKind::Quoted, "''")],
    rule: "text[..], text[..] -> text[..]",
    family: Family::Move,
    infer: |call| Ok(Inferred::plain(2, text_of(sizes_of_both(call)?))),
    work: unknown_work,
    work_formula: WORK,
    cpu: CpuKernel::Measured {
        measure,
        fill: |call, outputs| {
            let separator = separator(call);
            fill_texts(pairs(call)?, &mut outputs[0], |(x, y), space| {
                let mut end = put(x, space);
                end += put(separator, &mut space[end..]);
                end + put(y, &mut space[end..])
            })
        },
    },
    gpu: GpuKernel::None(WHY),
    examples: &[
        Example {
            formula: "concat_text(x, y)",
            given: &[
                ("x", "text[2]", "'abc' 'def'"),
                ("y", "text[2]", "'.com' '.net'"),
            ],
            result: ("text[2]", "'abc.com' 'def.net'"),
        },
        Example {
            formula: "concat_text(x, y, separator=', ')",
            given: &[("x", "text[2]", "'a' ''"), ("y", "text", "b")],
            result: ("text[2]", "'a, b' ', b'"),
        },
    ],
};

fn separator<'a>(call: &DataCall<'a, '_>) -> &'a str {
    call.attrs.quoted("separator").unwrap_or_default()
}

fn measure(call: &DataCall<'_, '_>) -> Result<Vec<Measured>, KernelError> {
    let separator = separator(call).len();
    let mut lengths = pairs(call)?.map(|(x, y)| x.len() + separator + y.len());
    let letters = lengths.try_fold(0_usize, usize::checked_add);
    let letters = letters.ok_or_else(|| KernelError::new("the result is too long"))?;
    Ok(vec![Measured {
        shape: shape(call),
        heaps: vec![Heap::New(letters)],
    }])
}
