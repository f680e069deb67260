//! Numbers turned into probabilities.

mod kernel;

use haul_ir::dtype::Kind;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work, axis_of,
};
use haul_ir::types::{TensorType, ValueType};

pub(super) use kernel::Total;

/// `softmax(x, axis)`.
pub(super) static SOFTMAX: Softmax = Softmax {
    name: "softmax",
    doc: "`exp(x) / sum(exp(x))` along an axis, by default the last; the maximum is subtracted \
          before, so that nothing overflows. A slice with NaN or +inf is NaN throughout. Integers \
          are computed in `f64`, `f16` and `bf16` in `f32`.",
    kernel: kernel::softmax,
    // exp(-1) = 0.36787944, exp(-2) = 0.13533528, 1 + both = 1.50321472.
    examples: &[
        Example {
            formula: "softmax(x)",
            given: &[("x", "f64[3]", "1000 999 998")],
            result: (
                "f64[3]",
                "0.6652409557748218 0.24472847105479764 0.09003057317038046",
            ),
        },
        Example {
            formula: "softmax(x, axis=0)",
            given: &[("x", "f32[2, 4]", "-inf -inf 0 inf 0 -inf 0 0")],
            result: ("f32[2, 4]", "0 nan 0.5 nan 1 nan 0.5 nan"),
        },
    ],
};

/// `log_softmax(x, axis)`.
pub(super) static LOG_SOFTMAX: Softmax = Softmax {
    name: "log_softmax",
    doc: "The logarithm of `softmax`, computed as `x - max - log(sum(exp(x - max)))`, so that no \
          share is rounded to zero before. A slice with NaN or +inf is NaN throughout. Integers \
          are computed in `f64`, `f16` and `bf16` in `f32`.",
    kernel: kernel::log_softmax,
    // log(1.50321472) = 0.40760596.
    examples: &[Example {
        formula: "log_softmax(x)",
        given: &[("x", "f64[3]", "1000 999 998")],
        result: (
            "f64[3]",
            "-0.4076059644443803 -1.4076059644443804 -2.4076059644443806",
        ),
    }],
};

/// Shares of a whole, or their logarithms.
pub(super) struct Softmax {
    name: &'static str,
    doc: &'static str,
    kernel: fn(&mut KernelCall<'_, '_>) -> Result<(), KernelError>,
    examples: &'static [Example],
}

/// Per element: comparison, difference, exponential, sum, product with the reciprocal (or the
/// difference from the logarithm).
const FLOPS: u64 = 1 + 1 + 20 + 1 + 1;

impl Op for Softmax {
    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "x",
                kind: ParamKind::Tensor,
                default: None,
            },
            Param {
                name: "axis",
                kind: ParamKind::Int,
                default: Some("-1"),
            },
        ]
    }

    fn rule(&self) -> &'static str {
        "[..] -> [..]"
    }

    fn family(&self) -> Family {
        Family::Reduce
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let input = call.tensor(0)?;
        if !matches!(input.dtype.kind(), Kind::Int | Kind::Float) {
            let message = format!("is not defined for {}", input.dtype);
            return Err(InferError::new(Fault::DType, message).on(0));
        }
        let axis = call.attrs.int("axis").ok_or_else(|| {
            InferError::new(Fault::Value, "an axis is a known whole number").on_attr("axis")
        })?;
        axis_of(axis, input.rank()).map_err(|error| error.on_attr("axis"))?;
        let dtype = input.dtype.float();
        let output = TensorType::new(dtype, input.shape.clone());
        Ok(Inferred::cast_all(1, dtype, output))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        match outputs.first().and_then(ValueType::tensor) {
            Some(output) => Work::of(output.elements() * FLOPS, call, outputs),
            None => Work::Unknown,
        }
    }

    fn work_formula(&self) -> &'static str {
        "24 flops an element"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(self.kernel)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Own
    }

    fn examples(&self) -> &'static [Example] {
        self.examples
    }
}
