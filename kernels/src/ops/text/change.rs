//! Text made of text.

use std::borrow::Cow;

use haul_ir::column::{DataMut, Heap, Measured};
use haul_ir::op::{
    Call, CpuKernel, DataCall, Example, Family, GpuKernel, InferError, Inferred, KernelError,
};

use super::{WHY, WORK, X, fill_texts, put, shape, sizes, text_of, texts, unknown_work};
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

pub(crate) static LSTRIP: ArrayOp = change(
    "lstrip",
    "Text without blanks at its start.",
    CpuKernel::Measured {
        measure: |call| measure(call, lstrip),
        fill: |call, outputs| fill(call, outputs, lstrip),
    },
    &[Example {
        formula: "lstrip(x)",
        given: &[("x", "text[3]", "'  a b ' 'ab' ' '")],
        result: ("text[3]", "'a b ' 'ab' ''"),
    }],
);

pub(crate) static RSTRIP: ArrayOp = change(
    "rstrip",
    "Text without blanks at its end.",
    CpuKernel::Measured {
        measure: |call| measure(call, rstrip),
        fill: |call, outputs| fill(call, outputs, rstrip),
    },
    &[Example {
        formula: "rstrip(x)",
        given: &[("x", "text[3]", "'  a b ' 'ab' ' '")],
        result: ("text[3]", "'  a b' 'ab' ''"),
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

fn lstrip(text: &str) -> Cow<'_, str> {
    text.trim_start().into()
}

fn rstrip(text: &str) -> Cow<'_, str> {
    text.trim_end().into()
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
    Ok(Inferred::plain(1, text_of(sizes(call, 0)?)))
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
    let texts = texts(call)?.into_iter();
    fill_texts(texts, &mut outputs[0], |text, space| {
        put(&change(text), space)
    })
}
