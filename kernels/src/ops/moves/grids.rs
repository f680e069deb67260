//! Coordinates of grids.

use haul_ir::op::{
    Attrs, CpuKernel, Example, Fault, InferError, Inferred, KernelCall, KernelError, ParamKind,
};
use haul_ir::tensor::{Layout, View};
use haul_ir::types::{Shape, TensorType};

use super::attrs::{optional, required};
use super::{Cost, Move};
use crate::strided::copy_view;

pub(crate) static MESHGRID: Move = Move {
    name: "meshgrid",
    doc: "Of vectors of coordinates, the coordinates of each point of their grid: as many results \
          as vectors. With 'xy' the first vector runs along the columns and the second along the \
          rows, with 'ij' each along its own axis.",
    params: &[
        required("x", ParamKind::Tensors),
        optional("indexing", ParamKind::Word(&["xy", "ij"]), "'xy'"),
    ],
    rule: "[a], [b], .. -> [b, a, ..] each; with 'ij' [a, b, ..]",
    infer: |call| {
        let count = call.inputs.len();
        let mut shape = Shape::new();
        for input in 0..count {
            let x = call.tensor(input)?;
            let [size] = &x.shape[..] else {
                let message = format!("needs a vector, this is {x}");
                return Err(InferError::new(Fault::Rank, message).on(input));
            };
            shape.push(size.clone());
        }
        if swaps(call.attrs, count) {
            shape.swap(0, 1);
        }
        let outputs = (0..count).map(|input| {
            let dtype = call.tensor(input)?.dtype;
            Ok(TensorType::new(dtype, shape.clone()).into())
        });
        Ok(Inferred::new(
            vec![None; count],
            outputs.collect::<Result<_, _>>()?,
        ))
    },
    cost: Cost::All,
    cpu: CpuKernel::Array(meshgrid),
    examples: &[Example {
        formula: "x, y = meshgrid(a, b)",
        given: &[("a", "i32[3]", "1 2 3"), ("b", "i32[2]", "4 5")],
        result: ("i32[2, 3]", "1 2 3 1 2 3"),
    }],
};

/// Whether the first two axes stand in each other's place.
fn swaps(attrs: &Attrs, count: usize) -> bool {
    count >= 2 && attrs.word("indexing") != Some("ij")
}

fn meshgrid(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let swaps = swaps(call.attrs, call.inputs.len());
    for (input, (x, output)) in call.inputs.iter().zip(call.outputs.iter_mut()).enumerate() {
        let mut strides = vec![0; output.shape.len()];
        let axis = if swaps && input < 2 { 1 - input } else { input };
        strides[axis] = x.layout.strides[0];
        let layout = Layout {
            shape: output.shape.clone(),
            strides,
            offset: x.layout.offset,
        };
        copy_view(
            &View {
                layout,
                ..x.clone()
            },
            output.bytes,
        );
    }
    Ok(())
}
