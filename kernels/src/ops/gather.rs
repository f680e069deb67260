//! The items of a collection as one tensor.

use haul_ir::expr::Expr;
use haul_ir::op::{
    ArgType, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work,
};
use haul_ir::types::{TensorType, ValueType};

use super::concat::join;

/// `gather(x)`.
pub(crate) struct Gather;

impl Op for Gather {
    fn name(&self) -> &'static str {
        "gather"
    }

    fn doc(&self) -> &'static str {
        "All items of a collection along a new first axis, in the collection's order. All items \
         must have the same shape."
    }

    fn params(&self) -> &'static [Param] {
        &[Param {
            name: "x",
            kind: ParamKind::Collection,
            default: None,
        }]
    }

    fn rule(&self) -> &'static str {
        "each [..] -> [count, ..]"
    }

    fn family(&self) -> Family {
        Family::Move
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        match call.inputs {
            [ArgType::Items(ValueType::Tensor(item), count)] => {
                let mut shape = vec![count.clone()];
                shape.extend(item.shape.iter().cloned());
                Ok(Inferred::plain(1, TensorType::new(item.dtype, shape)))
            }
            [other] => {
                let message = format!("needs a collection of tensors, this is {other}");
                Err(InferError::new(Fault::Type, message).on(0))
            }
            _ => Err(InferError::new(Fault::Type, "needs one collection")),
        }
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        Work::of(Expr::ZERO, call, outputs)
    }

    fn work_formula(&self) -> &'static str {
        "0 flops"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(gather)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::None("the items come from separate tasks and meet in host memory")
    }

    fn examples(&self) -> &'static [Example] {
        &[Example {
            formula: "gather(x)",
            given: &[("x", "each i32[2]", "1 2 3 4 5 6")],
            result: ("i32[3, 2]", "1 2 3 4 5 6"),
        }]
    }
}

fn gather(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let output = &mut call.outputs[0];
    for (position, item) in call.inputs.iter().enumerate() {
        if item.shape() != &output.shape[1..] {
            let message = format!(
                "item {position} has shape {:?}, not {:?} as others have",
                item.shape(),
                &output.shape[1..]
            );
            return Err(KernelError::new(message));
        }
    }
    if output.shape[0] != call.inputs.len() {
        let message = format!("{} items, not {}", call.inputs.len(), output.shape[0]);
        return Err(KernelError::new(message));
    }
    join(call.inputs, 0, output);
    Ok(())
}
