//! Where elements would stand in a sorted vector.

use haul_ir::dtype::DType;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work,
};
use haul_ir::tensor::View;
use haul_ir::types::{TensorType, ValueType};
use rayon::prelude::*;

use super::check;
use super::keys::keys;

/// `searchsorted(a, v)`.
pub(crate) struct SearchSorted;

impl Op for SearchSorted {
    fn name(&self) -> &'static str {
        "searchsorted"
    }

    fn doc(&self) -> &'static str {
        "How many elements of the sorted vector `a` are less than each of `v`, or with side='right' \
         no greater: where `v` would be put in. NaN counts as larger than every number. Needs \
         8 bytes for each element of both."
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "a",
                kind: ParamKind::Tensor,
                default: None,
            },
            Param {
                name: "v",
                kind: ParamKind::Tensor,
                default: None,
            },
            Param {
                name: "side",
                kind: ParamKind::Word(&["left", "right"]),
                default: Some("'left'"),
            },
        ]
    }

    fn rule(&self) -> &'static str {
        "[n], [..] -> [..]"
    }

    fn family(&self) -> Family {
        Family::Reduce
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let sorted = call.tensor(0)?;
        if sorted.rank() != 1 {
            let message = format!("needs a vector, this is {sorted}");
            return Err(InferError::new(Fault::Rank, message).on(0));
        }
        let dtype = call.promoted()?;
        check(dtype, 0)?;
        let shape = call.inputs[1].shape().to_vec();
        Ok(Inferred::cast_all(
            2,
            dtype,
            TensorType::new(DType::I64, shape),
        ))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let output = outputs.first().and_then(ValueType::tensor);
        match (call.tensor(0), output) {
            (Ok(sorted), Some(output)) => {
                Work::of(output.elements() * sorted.elements().log2(), call, outputs)
            }
            _ => Work::Unknown,
        }
    }

    fn work_formula(&self) -> &'static str {
        "N*log2(n) flops of N elements of v, n of a"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Contiguous(search)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        &[
            Example {
                formula: "searchsorted(a, v)",
                given: &[("a", "f32[4]", "1 2 2 3"), ("v", "f32[4]", "0 2 5 nan")],
                result: ("i64[4]", "0 1 4 4"),
            },
            Example {
                formula: "searchsorted(a, 2, side='right')",
                given: &[("a", "i32[4]", "1 2 2 3")],
                result: ("i64[]", "3"),
            },
        ]
    }
}

fn search(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let [sorted, wanted] = call.inputs else {
        return Err(KernelError::new("needs two tensors"));
    };
    let right = call.attrs.word("side") == Some("right");
    let (sorted, wanted) = (keys_of(sorted), keys_of(wanted));
    let results = call.outputs[0].elements::<i64>().par_iter_mut();
    results
        .zip(&wanted)
        .with_min_len(1024)
        .for_each(|(result, wanted)| {
            let before = |key: &u64| key < wanted || (right && key == wanted);
            *result = sorted.partition_point(before) as i64;
        });
    Ok(())
}

fn keys_of(view: &View<'_>) -> Vec<u64> {
    let size = view.dtype.size() as usize;
    let start = view.layout.offset * size;
    keys(
        view.dtype,
        &view.bytes[start..start + view.layout.elements() * size],
    )
}
