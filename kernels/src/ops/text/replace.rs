//! A text in place of another.

use haul_ir::column::{DataMut, Heap, Measured};
use haul_ir::op::{
    CpuKernel, DataCall, Example, Family, GpuKernel, Inferred, KernelError, ParamKind,
};

use super::{WHY, WORK, X, fill_texts, put, shape, sizes, text_of, texts, unknown_work};
use crate::ops::array_op::{ArrayOp, required};

pub(crate) static REPLACE: ArrayOp = ArrayOp {
    name: "replace",
    doc: "Each text with `new` wherever `old` is in it, letter for letter, from its start on and \
          without overlaps. An empty `old` is before each code point and at the end.",
    params: &[
        X,
        required("old", ParamKind::Quoted),
        required("new", ParamKind::Quoted),
    ],
    rule: "text[..] -> text[..]",
    family: Family::Move,
    infer: |call| Ok(Inferred::plain(1, text_of(sizes(call, 0)?))),
    work: unknown_work,
    work_formula: WORK,
    cpu: CpuKernel::Measured { measure, fill },
    gpu: GpuKernel::None(WHY),
    examples: &[
        Example {
            formula: "replace(x, ',', '.')",
            given: &[("x", "text[3]", "'1,5' 'a,b,' ''")],
            result: ("text[3]", "'1.5' 'a.b.' ''"),
        },
        Example {
            formula: "replace(x, 'aa', 'b')",
            given: &[("x", "text[2]", "'aaa' 'baab'")],
            result: ("text[2]", "'ba' 'bbb'"),
        },
    ],
};

fn words<'a>(call: &DataCall<'a, '_>) -> (&'a str, &'a str) {
    let word = |name| call.attrs.quoted(name).unwrap_or_default();
    (word("old"), word("new"))
}

/// Nothing is replaced yet: the result may be far longer than there is memory for.
fn measure(call: &DataCall<'_, '_>) -> Result<Vec<Measured>, KernelError> {
    let (old, new) = words(call);
    let mut letters = Some(0_usize);
    for text in texts(call)? {
        let count = text.matches(old).count();
        let kept = text.len() - count * old.len();
        let len = count
            .checked_mul(new.len())
            .and_then(|len| len.checked_add(kept));
        letters = letters.zip(len).and_then(|(all, len)| all.checked_add(len));
    }
    let letters = letters.ok_or_else(|| KernelError::new("the result is too long"))?;
    Ok(vec![Measured {
        shape: shape(call),
        heaps: vec![Heap::New(letters)],
    }])
}

fn fill(call: &DataCall<'_, '_>, outputs: &mut [DataMut<'_>]) -> Result<(), KernelError> {
    let (old, new) = words(call);
    let texts = texts(call)?.into_iter();
    fill_texts(texts, &mut outputs[0], |text, space| {
        let (mut from, mut to) = (0, 0);
        for (start, _) in text.match_indices(old) {
            to += put(&text[from..start], &mut space[to..]);
            to += put(new, &mut space[to..]);
            from = start + old.len();
        }
        to + put(&text[from..], &mut space[to..])
    })
}
