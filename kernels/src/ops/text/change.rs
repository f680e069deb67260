//! Text made of text.

use std::borrow::Cow;

use haul_ir::column::{DataMut, DataView, Extent, Heap, Measured};
use haul_ir::op::{
    Call, CpuKernel, DataCall, Example, Family, GpuKernel, InferError, Inferred, KernelError,
};
use haul_ir::types::{CellType, ValueType};

use super::{WHY, WORK, X, shape, sizes, texts, unknown_work};
use crate::ops::array_op::ArrayOp;

pub(crate) static LOWER: ArrayOp = change(
    "lower",
    "Text in lower case, by the rules of Unicode.",
    CpuKernel::Measured {
        measure: |call| measure(call, lower),
        fill: |call, outputs| fill(call, outputs, lower),
    },
    &[Example {
        formula: "lower(x)",
        given: &[("x", "text[3]", "'Ab' 'ÄÖ' ''")],
        result: ("text[3]", "'ab' 'äö' ''"),
    }],
);

pub(crate) static UPPER: ArrayOp = change(
    "upper",
    "Text in upper case, by the rules of Unicode: a letter may become several.",
    CpuKernel::Measured {
        measure: |call| measure(call, upper),
        fill: |call, outputs| fill(call, outputs, upper),
    },
    &[Example {
        formula: "upper(x)",
        given: &[("x", "text[2]", "'Ab' 'straße'")],
        result: ("text[2]", "'AB' 'STRASSE'"),
    }],
);

pub(crate) static STRIP: ArrayOp = change(
    "strip",
    "Text without blanks at both ends.",
    CpuKernel::Measured {
        measure: |call| measure(call, strip),
        fill: |call, outputs| fill(call, outputs, strip),
    },
    &[Example {
        formula: "strip(x)",
        given: &[("x", "text[3]", "'  a b ' 'ab' ' '")],
        result: ("text[3]", "'a b' 'ab' ''"),
    }],
);

/// How one text becomes another.
type Change = fn(&str) -> Cow<'_, str>;

fn lower(text: &str) -> Cow<'_, str> {
    text.to_lowercase().into()
}

fn upper(text: &str) -> Cow<'_, str> {
    text.to_uppercase().into()
}

fn strip(text: &str) -> Cow<'_, str> {
    text.trim().into()
}

const fn change(
    name: &'static str,
    doc: &'static str,
    cpu: CpuKernel,
    examples: &'static [Example],
) -> ArrayOp {
    ArrayOp {
        name,
        doc,
        params: &[X],
        rule: "text[..] -> text[..]",
        family: Family::Move,
        infer: same,
        work: unknown_work,
        work_formula: WORK,
        cpu,
        gpu: GpuKernel::None(WHY),
        examples,
    }
}

fn same(call: &Call<'_>) -> Result<Inferred, InferError> {
    Ok(Inferred::plain(
        1,
        match sizes(call)? {
            [rows] => ValueType::of_cells(CellType::TEXT, rows.clone()),
            _ => ValueType::Text,
        },
    ))
}

fn measure(call: &DataCall<'_, '_>, change: Change) -> Result<Vec<Measured>, KernelError> {
    let texts = texts(call)?;
    let letters = texts.into_iter().map(|text| change(text).len()).sum();
    Ok(vec![Measured {
        shape: shape(call),
        heaps: vec![Heap::New(letters)],
    }])
}

fn fill(
    call: &DataCall<'_, '_>,
    outputs: &mut [DataMut<'_>],
    change: Change,
) -> Result<(), KernelError> {
    match (&call.inputs[0], &mut outputs[0]) {
        (DataView::Text(text), DataMut::Text(output)) => {
            output.copy_from_slice(change(text).as_bytes());
        }
        (DataView::Column(column), DataMut::Column(output)) => {
            let mut start = 0;
            for (row, text) in column.texts().enumerate() {
                let text = change(text);
                let end = start + text.len();
                output.heap[start..end].copy_from_slice(text.as_bytes());
                output.extents()[row] = Extent {
                    start: start as u64,
                    len: text.len() as u64,
                };
                start = end;
            }
        }
        _ => return Err(KernelError::new("the result is of another kind")),
    }
    Ok(())
}
