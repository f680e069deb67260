//! A text in pieces.

use haul_ir::column::{DataMut, Extent, Heap, Measured};
use haul_ir::expr::Expr;
use haul_ir::op::{
    ArgType, Call, CpuKernel, DataCall, Example, Family, Fault, GpuKernel, InferError, Inferred,
    KernelError, Param, ParamKind,
};
use haul_ir::types::{CellType, ValueType};

use super::{WHY, WORK, X, unknown_work};
use crate::ops::array_op::{ArrayOp, required, wrong};

pub(crate) static SPLIT_TEXT: ArrayOp = ArrayOp {
    name: "split_text",
    doc: "The pieces of a text between separators, as a column; `'lines'` stands for ends of lines \
          of any system, and leaves no empty piece behind the last. Only the data knows how many \
          there are; `size` names that size. The pieces lie in the text, which lives as long as \
          they do.",
    params: &[
        X,
        required("separator", ParamKind::Quoted),
        Param {
            name: "size",
            kind: ParamKind::Size,
            default: Some("none"),
        },
    ],
    rule: "text -> text[size]",
    family: Family::Move,
    infer,
    work: unknown_work,
    work_formula: WORK,
    cpu: CpuKernel::Measured {
        measure: |call| {
            Ok(vec![Measured {
                shape: vec![pieces(call).count()],
                heaps: vec![Heap::Of {
                    input: 0,
                    column: 0,
                }],
            }])
        },
        fill: |call, outputs| {
            let DataMut::Column(output) = &mut outputs[0] else {
                return Err(KernelError::new("there is no space for a column"));
            };
            for (to, extent) in output.extents().iter_mut().zip(pieces(call)) {
                *to = extent;
            }
            Ok(())
        },
    },
    gpu: GpuKernel::None(WHY),
    examples: &[
        Example {
            formula: "split_text(x, ', ')",
            given: &[("x", "text", "a, b, , c")],
            result: ("text[4]", "'a' 'b' '' 'c'"),
        },
        Example {
            formula: "split_text(x, 'lines')",
            given: &[("x", "text", "a\r\nb\n")],
            result: ("text[2]", "'a' 'b'"),
        },
    ],
};

fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let ArgType::Value(ValueType::Text) = &call.inputs[0] else {
        let message = format!("needs one text, this is {}", call.inputs[0]);
        return Err(InferError::new(Fault::Type, message).on(0));
    };
    if call.attrs.quoted("separator") == Some("") {
        return Err(wrong("separator", "is not empty"));
    }
    let size: Expr = call.attrs.size("size")?;
    Ok(Inferred::plain(
        1,
        ValueType::of_cells(CellType::TEXT, size),
    ))
}

fn pieces<'b>(call: &DataCall<'_, 'b>) -> Box<dyn Iterator<Item = Extent> + 'b> {
    let text = call.text(0);
    let extent = move |piece: &str| Extent {
        start: (piece.as_ptr() as usize - text.as_ptr() as usize) as u64,
        len: piece.len() as u64,
    };
    match call.attrs.quoted("separator").unwrap_or_default() {
        "lines" => Box::new(text.lines().map(extent)),
        separator => {
            let separator = separator.to_owned();
            let mut start = 0;
            let ends = text.match_indices(&separator).map(|(at, _)| at);
            let ends: Vec<usize> = ends.chain([text.len()]).collect();
            Box::new(ends.into_iter().map(move |end| {
                let piece = Extent {
                    start: start as u64,
                    len: (end - start) as u64,
                };
                start = end + separator.len();
                piece
            }))
        }
    }
}
