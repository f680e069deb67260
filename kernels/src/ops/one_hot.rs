//! Classes as vectors with one element that is on.

use haul_ir::dtype::{DType, Kind};
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Param, ParamKind, axis_of,
};
use haul_ir::types::TensorType;

use super::array_op::{ArrayOp, attribute, required, scalar, tensor, work_per_element, wrong};
use crate::real::elements_of;
use crate::strided::contiguous;

const PARAMS: &[Param] = &[
    tensor("i"),
    scalar("on", "1"),
    scalar("off", "0"),
    required("classes", ParamKind::Int),
    attribute("axis", ParamKind::Int, "-1"),
];

/// `one_hot(i, on=1, off=0, classes, axis=-1)`.
pub(super) static ONE_HOT: ArrayOp = ArrayOp {
    name: "one_hot",
    doc: "`on` at the class that each number names along a new axis, `off` elsewhere. Negative \
          numbers count from the end; a class that does not exist is a run error. The result has \
          the dtype in which `on` and `off` meet: `i64` by default.",
    params: PARAMS,
    rule: "[..] -> [.., classes], the new axis at `axis` of the result",
    family: Family::Move,
    infer,
    work: |call, outputs| work_per_element(0, call, outputs),
    work_formula: "0 flops",
    cpu: CpuKernel::Array(one_hot),
    gpu: GpuKernel::Own,
    examples: &[
        Example {
            formula: "one_hot(i, classes=3)",
            given: &[("i", "i32[2]", "2 0")],
            result: ("i64[2, 3]", "0 0 1 1 0 0"),
        },
        Example {
            formula: "one_hot(i, on=2.5, off=-1, classes=2, axis=0)",
            given: &[("i", "u8[3]", "0 1 1")],
            result: ("f64[2, 3]", "2.5 -1 -1 -1 2.5 2.5"),
        },
    ],
};

fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let numbers = call.tensor(0)?;
    if numbers.dtype.kind() != Kind::Int {
        let message = format!("classes are whole numbers, these are {}", numbers.dtype);
        return Err(InferError::new(Fault::DType, message).on(0));
    }
    for position in [1, 2] {
        if !call.inputs[position].shape().is_empty() {
            let message = format!("is one number, this is {}", call.inputs[position]);
            return Err(InferError::new(Fault::Rank, message).on(position));
        }
    }
    let values = Call {
        inputs: &call.inputs[1..],
        attrs: call.attrs,
    };
    let dtype = values.promoted().map_err(|mut error| {
        error.argument = error.argument.map(|argument| argument + 1);
        error
    })?;
    let haul_ir::op::Attr::Int(classes) = call.attrs.get("classes") else {
        return Err(wrong("classes", "is a whole number of at least 0"));
    };
    if classes.as_int().is_some_and(|classes| classes < 0) {
        return Err(wrong("classes", "is a whole number of at least 0"));
    }
    let mut shape = numbers.shape.clone();
    shape.insert(new_axis(call.attrs, numbers.rank())?, classes.clone());
    Ok(Inferred::new(
        vec![Some(DType::I64), Some(dtype), Some(dtype)],
        vec![TensorType::new(dtype, shape).into()],
    ))
}

fn new_axis(attrs: &haul_ir::op::Attrs, rank: usize) -> Result<usize, InferError> {
    let axis = attrs.int("axis");
    let axis = axis.ok_or_else(|| wrong("axis", "is a known whole number"))?;
    axis_of(axis, rank + 1).map_err(|error| error.on_attr("axis"))
}

fn one_hot(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let numbers = contiguous::<i64>(&call.inputs[0]);
    let axis = new_axis(call.attrs, call.inputs[0].shape().len());
    let axis = axis.map_err(|error| KernelError::new(error.message))?;
    let output = &mut call.outputs[0];
    let classes = output.shape[axis];
    let inner = elements_of(&output.shape[axis + 1..]);
    let size = output.dtype.size() as usize;
    let element = |position: usize| {
        let view = &call.inputs[position];
        &view.bytes[view.layout.offset * size..][..size]
    };
    let (on, off) = (element(1), element(2));
    for element in output.bytes.chunks_exact_mut(size) {
        element.copy_from_slice(off);
    }
    for (place, number) in numbers.iter().enumerate() {
        let from_end = if *number < 0 {
            number.checked_add_unsigned(classes as u64)
        } else {
            Some(*number)
        };
        let class = from_end.and_then(|class| usize::try_from(class).ok());
        let class = class.filter(|class| *class < classes).ok_or_else(|| {
            KernelError::new(format!(
                "class {number} does not exist: there are {classes}"
            ))
        })?;
        let (outer, column) = (place / inner, place % inner);
        let at = ((outer * classes + class) * inner + column) * size;
        output.bytes[at..at + size].copy_from_slice(on);
    }
    Ok(())
}
