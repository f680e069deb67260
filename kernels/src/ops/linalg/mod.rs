//! Linear algebra: decompositions, systems of equations, determinants and norms of the matrices in
//! the last two axes. The `faer` crate does the numerical work.

mod batch;
mod decompose;
mod measure;
mod rules;
mod solve;
mod table;

use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, GpuKernel, InferError, Inferred, KernelCall, KernelError, Op,
    Param, Work,
};
use haul_ir::types::{TensorType, ValueType};

use rules::{Sizes, compute_dtype};
pub(crate) use table::OPS;

/// An op of the matrices in the last two axes of its inputs.
pub(crate) struct Linalg {
    name: &'static str,
    doc: &'static str,
    params: &'static [Param],
    rule: &'static str,
    /// Types of the results, of inputs of one dtype.
    results: fn(&Sizes<'_>) -> Result<Vec<TensorType>, InferError>,
    /// For real numbers and one matrix; complex ones take four times as many.
    flops: fn(&Sizes<'_>) -> Expr,
    work_formula: &'static str,
    kernel: fn(&mut KernelCall<'_, '_>) -> Result<(), KernelError>,
    gpu: &'static str,
    examples: &'static [Example],
}

impl Op for Linalg {
    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn params(&self) -> &'static [Param] {
        self.params
    }

    fn rule(&self) -> &'static str {
        self.rule
    }

    fn family(&self) -> Family {
        Family::Matmul
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let dtype = compute_dtype(call)?;
        let sizes = Sizes::of(call, dtype)?;
        let outputs = (self.results)(&sizes)?;
        Ok(Inferred::new(
            vec![Some(dtype); call.inputs.len()],
            outputs.into_iter().map(ValueType::from).collect(),
        ))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let sizes = compute_dtype(call).and_then(|dtype| Sizes::of(call, dtype));
        let Ok(sizes) = sizes else {
            return Work::Unknown;
        };
        let each = if sizes.is_complex() { 4 } else { 1 };
        let flops = (self.flops)(&sizes) * Expr::product(&sizes.batch) * each;
        Work::of(flops, call, outputs)
    }

    fn work_formula(&self) -> &'static str {
        self.work_formula
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(self.kernel)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Library(self.gpu)
    }

    fn examples(&self) -> &'static [Example] {
        self.examples
    }
}
