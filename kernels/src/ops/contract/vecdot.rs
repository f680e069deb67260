use haul_ir::dtype::DType;
use haul_ir::op::{Attrs, Example, Fault, InferError, KernelCall, KernelError, ParamKind, axis_of};
use haul_ir::tensor::{Element, Layout, View, ViewMut};
use num_complex::Complex;

use super::labels::{Contraction, Label};
use super::{A, B, Contract, kernel};
use crate::ops::array_op::attribute;
use crate::strided::contiguous;

pub(super) static VECDOT: Contract = Contract {
    name: "vecdot",
    doc: "The sums of products of the elements of two vectors along an axis, the first conjugated; \
          the other axes broadcast. A negative axis counts from the end of each. f16 and bf16 \
          accumulate in f32; integers wrap in their dtype.",
    params: &[A, B, attribute("axis", ParamKind::Int, "-1")],
    rule: "[.., n, ..], [.., n, ..] -> [.., ..]",
    contraction,
    sums_broadcast: false,
    shape: |shape| shape,
    kernel: conjugated,
    examples: &[Example {
        formula: "vecdot(a, b)",
        given: &[("a", "c64[2]", "1+1j 2+0j"), ("b", "c64[2]", "3+0j 0+4j")],
        result: ("c64[]", "3+5j"),
    }],
};

fn contraction(attrs: &Attrs, ranks: &[usize]) -> Result<Contraction, InferError> {
    let axis = attrs.int("axis").ok_or_else(|| {
        InferError::new(Fault::Value, "the axis is a whole number").on_attr("axis")
    })?;
    let rank = ranks[0].max(ranks[1]);
    let mut inputs = Vec::with_capacity(2);
    for own in ranks {
        let axis = axis_of(axis, *own).map_err(|error| error.on_attr("axis"))?;
        // The other axes are numbered from the end; the shared one comes after them.
        let mut labels: Vec<Label> = (rank - own + 1..rank).collect();
        labels.insert(axis, rank);
        inputs.push(labels);
    }
    Ok(Contraction {
        inputs,
        output: (1..rank).collect(),
    })
}

fn conjugated(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    match call.inputs[0].dtype {
        DType::C64 => conjugate::<f32>(call),
        DType::C128 => conjugate::<f64>(call),
        _ => kernel::contract(contraction, call),
    }
}

fn conjugate<T>(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError>
where
    T: num_traits::Num + Clone + std::ops::Neg<Output = T>,
    Complex<T>: Element,
{
    let [a, b] = [&call.inputs[0], &call.inputs[1]];
    let mut elements = contiguous::<Complex<T>>(a).into_owned();
    elements
        .iter_mut()
        .for_each(|element| *element = element.conj());
    let a = View {
        dtype: a.dtype,
        layout: Layout::contiguous(a.shape()),
        bytes: bytemuck::cast_slice(&elements),
    };
    let output = &mut call.outputs[0];
    let output = ViewMut {
        dtype: output.dtype,
        shape: output.shape.clone(),
        bytes: &mut *output.bytes,
    };
    kernel::contract(
        contraction,
        &mut KernelCall {
            inputs: &[a, b.clone()],
            attrs: call.attrs,
            outputs: &mut [output],
        },
    )
}
