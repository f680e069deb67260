//! Numbers in random order.

use haul_ir::dtype::DType;
use haul_ir::op::{
    Attr, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work,
};
use haul_ir::philox::block;
use haul_ir::types::{TensorType, ValueType};
use rayon::prelude::*;

use super::{BLOCK, SEED, is_negative, seed};

/// `permutation(n, seed)`.
pub(crate) struct Permutation;

impl Op for Permutation {
    fn name(&self) -> &'static str {
        "permutation"
    }

    fn doc(&self) -> &'static str {
        "The numbers from 0 to `n - 1` in random order: in that of 64 random bits for each, made by \
         Philox4x32-10. The same on every machine. Needs 16 bytes for each number."
    }

    fn params(&self) -> &'static [Param] {
        const N: Param = Param {
            name: "n",
            kind: ParamKind::Int,
            default: None,
        };
        &[N, SEED]
    }

    fn rule(&self) -> &'static str {
        "-> [n]"
    }

    fn family(&self) -> Family {
        Family::Reduce
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        match call.attrs.get("n") {
            Attr::Int(n) if !is_negative(n) => Ok(Inferred::plain(
                0,
                TensorType::new(DType::I64, vec![n.clone()]),
            )),
            _ => {
                let error = InferError::new(Fault::Value, "`n` is a whole number, at least 0");
                Err(error.on_attr("n"))
            }
        }
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let Some(output) = outputs.first().and_then(ValueType::tensor) else {
            return Work::Unknown;
        };
        let n = output.elements();
        Work::of(&n * (BLOCK / 2) + &n * n.log2(), call, outputs)
    }

    fn work_formula(&self) -> &'static str {
        "n*(40 + log2(n)) flops"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(permutation)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Library("cub radix sort")
    }

    fn examples(&self) -> &'static [Example] {
        &[Example {
            // In the order of 0xE169.. and 0x9B00.., the first known answer of Philox.
            formula: "permutation(2, seed=0)",
            given: &[],
            result: ("i64[2]", "1 0"),
        }]
    }
}

fn permutation(call: &mut KernelCall<'_, '_>) -> Result<(), KernelError> {
    let seed = seed(call.attrs);
    let results = call.outputs[0].elements::<i64>();
    // The number below its random bits makes each unique.
    let random = |at: usize| {
        let words = block(seed, at as u64 / 2);
        let [early, late] = [words[at % 2 * 2], words[at % 2 * 2 + 1]];
        u128::from(late) << 96 | u128::from(early) << 64 | at as u128
    };
    let mut pairs: Vec<u128> = (0..results.len()).into_par_iter().map(random).collect();
    pairs.par_sort_unstable();
    let pairs = pairs.into_par_iter().with_min_len(1024);
    results
        .par_iter_mut()
        .zip(pairs)
        .for_each(|(result, pair)| *result = pair as u64 as i64);
    Ok(())
}
