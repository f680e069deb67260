//! Numbers of text.

use haul_ir::column::{DataMut, Measured};
use haul_ir::dtype::DType;
use haul_ir::op::{CpuKernel, DataCall, Example, Family, GpuKernel, KernelError, ParamKind};
use haul_ir::rows::parse;

use super::{WHY, WORK, X, each_to, shape, texts, unknown_work};
use crate::ops::array_op::{ArrayOp, attribute};

pub(crate) static TEXT_LENGTH: ArrayOp = ArrayOp {
    name: "text_length",
    doc: "How many code points each text has.",
    params: &[X],
    rule: "text[..] -> i64[..]",
    family: Family::Move,
    infer: |call| each_to(call, DType::I64),
    work: unknown_work,
    work_formula: WORK,
    cpu: CpuKernel::Measured {
        measure: |call| Ok(vec![Measured::plain(shape(call))]),
        fill: |call, outputs| {
            let DataMut::Tensor(output) = &mut outputs[0] else {
                return Err(KernelError::new("there is no space for a tensor"));
            };
            for (length, text) in output.elements::<i64>().iter_mut().zip(texts(call)?) {
                *length = text.chars().count() as i64;
            }
            Ok(())
        },
    },
    gpu: GpuKernel::None(WHY),
    examples: &[Example {
        formula: "text_length(x)",
        given: &[("x", "text[3]", "'abc' 'äö' ''")],
        result: ("i64[3]", "3 2 0"),
    }],
};

pub(crate) static TO_NUMBER: ArrayOp = ArrayOp {
    name: "to_number",
    doc: "The number that each text is, with or without blanks around it; an empty text is NaN \
          among floats. What is no number of the dtype is an error.",
    params: &[X, attribute("dtype", ParamKind::Word(&NUMBERS), "'f64'")],
    rule: "text[..] -> dtype[..]",
    family: Family::Move,
    infer: |call| each_to(call, dtype(call.attrs.word("dtype"))),
    work: unknown_work,
    work_formula: WORK,
    cpu: CpuKernel::Measured {
        measure: |call| Ok(vec![Measured::plain(shape(call))]),
        fill: to_number,
    },
    gpu: GpuKernel::None(WHY),
    examples: &[
        Example {
            formula: "to_number(x)",
            given: &[("x", "text[3]", "'1.5' ' -2e3' ''")],
            result: ("f64[3]", "1.5 -2000 nan"),
        },
        Example {
            formula: "to_number(x, dtype='u8')",
            given: &[("x", "text[2]", "'0' '255'")],
            result: ("u8[2]", "0 255"),
        },
    ],
};

/// The names of the dtypes of real numbers, and of truth values.
static NUMBERS: [&str; 13] = {
    let mut names = [""; 13];
    let mut at = 0;
    while at < names.len() {
        names[at] = DType::NAMES[at];
        at += 1;
    }
    names
};

fn dtype(name: Option<&str>) -> DType {
    name.and_then(|name| name.parse().ok())
        .unwrap_or(DType::F64)
}

fn to_number(call: &DataCall<'_, '_>, outputs: &mut [DataMut<'_>]) -> Result<(), KernelError> {
    let DataMut::Tensor(output) = &mut outputs[0] else {
        return Err(KernelError::new("there is no space for a tensor"));
    };
    for (row, text) in texts(call)?.into_iter().enumerate() {
        let written = text.trim().as_bytes();
        let parsed = parse(output.dtype, written, output.bytes, row);
        parsed.map_err(|message| KernelError::new(format!("row {row}: {message}")))?;
    }
    Ok(())
}
