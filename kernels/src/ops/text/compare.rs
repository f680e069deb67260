//! Whether text is like a pattern.

use haul_ir::column::{DataMut, Measured};
use haul_ir::dtype::DType;
use haul_ir::op::{
    Call, CpuKernel, DataCall, Example, Family, Fault, Fill, GpuKernel, InferError, Inferred,
    KernelError, Param, ParamKind,
};
use haul_ir::tensor::Bool;
use rayon::prelude::*;
use regex::{Regex, RegexBuilder};

use super::{WHY, WORK, X, each_to, shape, texts, unknown_work};
use crate::ops::array_op::{ArrayOp, required};

/// Bytes that a compiled pattern may take.
const MOST_BYTES: usize = 1 << 22;

pub(crate) static TEXT_EQUAL: ArrayOp = comparison(
    "text_equal",
    "Whether each text is the pattern; also written `x == 'pattern'`, and `x != 'pattern'` for the \
     contrary.",
    |call, outputs| each(call, outputs, &|text, pattern| text == pattern),
    &[Example {
        formula: "text_equal(x, 'ab')",
        given: &[("x", "text[3]", "'ab' 'AB' ''")],
        result: ("bool[3]", "true false false"),
    }],
);

pub(crate) static CONTAINS: ArrayOp = comparison(
    "contains",
    "Whether the pattern is in each text, letter for letter.",
    |call, outputs| each(call, outputs, &|text, pattern| text.contains(pattern)),
    &[Example {
        formula: "contains(x, 'b.')",
        given: &[("x", "text[3]", "'ab.c' 'abc' ''")],
        result: ("bool[3]", "true false false"),
    }],
);

pub(crate) static STARTS_WITH: ArrayOp = comparison(
    "starts_with",
    "Whether each text begins with the pattern, letter for letter.",
    |call, outputs| each(call, outputs, &|text, pattern| text.starts_with(pattern)),
    &[Example {
        formula: "starts_with(x, 'a')",
        given: &[("x", "text[3]", "'ab' 'ba' ''")],
        result: ("bool[3]", "true false false"),
    }],
);

pub(crate) static ENDS_WITH: ArrayOp = comparison(
    "ends_with",
    "Whether each text ends with the pattern, letter for letter.",
    |call, outputs| each(call, outputs, &|text, pattern| text.ends_with(pattern)),
    &[Example {
        formula: "ends_with(x, 'a')",
        given: &[("x", "text[3]", "'ab' 'ba' ''")],
        result: ("bool[3]", "false true false"),
    }],
);

pub(crate) static FULL_MATCH: ArrayOp = ArrayOp {
    infer: |call| {
        let pattern = call.attrs.quoted("pattern").unwrap_or_default();
        compiled(pattern).map_err(|why| InferError::new(Fault::Value, why).on_attr("pattern"))?;
        each_to(call, DType::Bool)
    },
    ..comparison(
        "full_match",
        "Whether the whole of each text matches a regular expression, in the syntax of the `regex` \
         crate: <https://docs.rs/regex/latest/regex/#syntax>. Takes time linear in the text.",
        |call, outputs| {
            let pattern = call.attrs.quoted("pattern").unwrap_or_default();
            let pattern = compiled(pattern).map_err(KernelError::new)?;
            each(call, outputs, &|text, _| pattern.is_match(text))
        },
        &[Example {
            formula: "full_match(x, '[a-c]+[0-9]?')",
            given: &[("x", "text[4]", "'abc7' 'a' 'abc77' ''")],
            result: ("bool[4]", "true true false false"),
        }],
    )
};

const PARAMS: &[Param] = &[X, required("pattern", ParamKind::Quoted)];

const fn comparison(
    name: &'static str,
    doc: &'static str,
    fill: Fill,
    examples: &'static [Example],
) -> ArrayOp {
    ArrayOp {
        name,
        doc,
        params: PARAMS,
        rule: "text[..] -> bool[..]",
        family: Family::Move,
        infer: is_like,
        work: unknown_work,
        work_formula: WORK,
        cpu: CpuKernel::Measured {
            measure: |call| Ok(vec![Measured::plain(shape(call))]),
            fill,
        },
        gpu: GpuKernel::None(WHY),
        examples,
    }
}

fn is_like(call: &Call<'_>) -> Result<Inferred, InferError> {
    each_to(call, DType::Bool)
}

/// The regular expression, which has to match the whole of a text.
fn compiled(pattern: &str) -> Result<Regex, String> {
    // By itself first, so that no bracket of it closes one of ours.
    let checked = RegexBuilder::new(pattern).size_limit(MOST_BYTES).build();
    let whole = checked.and_then(|_| {
        let whole = format!("^(?:{pattern})$");
        RegexBuilder::new(&whole).size_limit(MOST_BYTES).build()
    });
    whole.map_err(|error| {
        let text = error.to_string();
        let why = text.lines().last().unwrap_or_default();
        format!(
            "is no regular expression: {}",
            why.trim_start_matches("error: ")
        )
    })
}

fn each(
    call: &DataCall<'_, '_>,
    outputs: &mut [DataMut<'_>],
    is_like: &(dyn Fn(&str, &str) -> bool + Sync),
) -> Result<(), KernelError> {
    let DataMut::Tensor(output) = &mut outputs[0] else {
        return Err(KernelError::new("there is no space for a tensor"));
    };
    let pattern = call.attrs.quoted("pattern").unwrap_or_default();
    let texts = texts(call)?;
    let results = output.elements::<Bool>().par_iter_mut().zip(&texts);
    results.for_each(|(result, text)| *result = is_like(text, pattern).into());
    Ok(())
}
