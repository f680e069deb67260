//! Functions and operators that take one element of each input to one of the result: a row of
//! a table each.

mod activation;
mod arithmetic;
mod bits;
mod block;
mod cast;
mod compare;
mod complex;
mod complex_functions;
mod exponential;
mod flops;
mod gamma;
mod hyperbolic;
mod logic;
mod round;
mod select;
mod special;
mod trigonometry;
mod types;

use haul_ir::dtype::DType;
use haul_ir::expr::Expr;
use haul_ir::op::{
    ArgType, BlockKernel, Call, CpuKernel, Example, Family, GpuKernel, InferError, Inferred, Op,
    Param, ParamKind, Work,
};
use haul_ir::types::ValueType;

use flops::Flops;
use types::Types;

/// All of them, by group.
pub(super) fn ops() -> Vec<&'static dyn Op> {
    let groups: [&'static [Function]; 13] = [
        arithmetic::TABLE,
        compare::TABLE,
        logic::TABLE,
        bits::TABLE,
        select::TABLE,
        exponential::TABLE,
        trigonometry::TABLE,
        hyperbolic::TABLE,
        special::TABLE,
        activation::TABLE,
        round::TABLE,
        complex::TABLE,
        cast::TABLE,
    ];
    let rows = groups.into_iter().flatten();
    rows.map(|function| function as &dyn Op).collect()
}

/// A row of the table.
struct Function {
    name: &'static str,
    doc: &'static str,
    params: &'static [Param],
    types: Types,
    flops: Flops,
    kernel: fn(inputs: &[DType], output: DType) -> Option<BlockKernel>,
    examples: &'static [Example],
}

impl Op for Function {
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
        match self.params.len() {
            1 => "[..] -> [..]",
            _ => "shapes broadcast",
        }
    }

    fn family(&self) -> Family {
        Family::Elementwise
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        self.types.infer(call)
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let elements = outputs
            .first()
            .and_then(ValueType::tensor)
            .map_or(Expr::ZERO, |output| output.elements());
        let each = match (call.inputs.last().and_then(ArgType::tensor), self.types) {
            (Some(input), Types::Cast(to)) if input.dtype == to => 0,
            (Some(input), _) => self.flops.of(input.dtype),
            (None, _) => 0,
        };
        Work::of(elements * each, call, outputs)
    }

    fn work_formula(&self) -> &'static str {
        self.flops.formula
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Elementwise(self.kernel)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Generated
    }

    fn examples(&self) -> &'static [Example] {
        self.examples
    }
}

/// A parameter that takes a tensor or a number.
const fn param(name: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Tensor,
        default: None,
    }
}

/// A parameter that takes a tensor or a number, which may be left out.
const fn default(name: &'static str, default: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Tensor,
        default: Some(default),
    }
}

/// Of functions of one value.
const X: &[Param] = &[param("x")];

/// Of operators and functions of two values.
const A_B: &[Param] = &[param("a"), param("b")];
