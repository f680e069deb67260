//! Reductions: many elements to one, over an axis, over several, or over all.

mod axes;
mod extremes;
mod fold;
mod kernels;
mod logical;
mod moments;
mod sums;
mod trace;

use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{
    Attr, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work,
};
use haul_ir::types::ValueType;

pub(super) use fold::{Fold, fold, in_lanes};
pub(super) use trace::Trace;

/// A reduction.
pub(super) struct Reduction {
    name: &'static str,
    doc: &'static str,
    /// Kinds that it takes.
    kinds: &'static [Kind],
    /// The result's dtype.
    result: fn(DType) -> DType,
    /// Whether something comes out of no elements.
    empty: bool,
    /// Whether it takes no list of axes.
    one_axis: bool,
    cost: Cost,
    kernel: fn(&mut KernelCall<'_, '_>) -> Result<(), KernelError>,
    examples: &'static [Example],
}

/// What a reduction counts.
#[derive(Clone, Copy)]
enum Cost {
    /// Each element but the first of a result: `max(in - out, 0)`.
    Merges,
    /// The same and a division for each result.
    Elements,
    /// A square and a sum for each element.
    Squares,
    /// A sum, a difference, a square and another sum for each element.
    Deviations,
}

const PARAMS: &[Param] = &[
    Param {
        name: "x",
        kind: ParamKind::Tensor,
        default: None,
    },
    Param {
        name: "axis",
        kind: ParamKind::Axes,
        default: Some("none"),
    },
    Param {
        name: "keepdims",
        kind: ParamKind::Bool,
        default: Some("false"),
    },
];

const NUMBERS: &[Kind] = &[Kind::Bool, Kind::Int, Kind::Float, Kind::Complex];
const ORDERED: &[Kind] = &[Kind::Int, Kind::Float];

pub(super) static SUM: Reduction = Reduction {
    name: "sum",
    doc: "The sum along axes. Integers and truth values are summed in 64 bits and wrap around; \
          `f16` and `bf16` accumulate in `f32`. The sum of nothing is 0.",
    kinds: NUMBERS,
    result: DType::sum,
    empty: true,
    one_axis: false,
    cost: Cost::Merges,
    kernel: kernels::sum,
    examples: &[
        Example {
            formula: "sum(x, axis=0)",
            given: &[("x", "f32[2, 2]", "1 2 3 4")],
            result: ("f32[2]", "4 6"),
        },
        Example {
            formula: "sum(x)",
            given: &[("x", "u8[2]", "200 100")],
            result: ("u64[]", "300"),
        },
    ],
};

pub(super) static PROD: Reduction = Reduction {
    name: "prod",
    doc: "The product along axes. Integers and truth values are multiplied in 64 bits and wrap \
          around; `f16` and `bf16` accumulate in `f32`. The product of nothing is 1.",
    kinds: NUMBERS,
    result: DType::sum,
    empty: true,
    one_axis: false,
    cost: Cost::Merges,
    kernel: kernels::prod,
    examples: &[Example {
        formula: "prod(x, axis=1)",
        given: &[("x", "i32[2, 3]", "1 2 3 4 5 6")],
        result: ("i64[2]", "6 120"),
    }],
};

pub(super) static MEAN: Reduction = Reduction {
    name: "mean",
    doc: "The mean along axes: `f64` for integers and truth values; `f16` and `bf16` accumulate in \
          `f32`. The mean of nothing is NaN.",
    kinds: NUMBERS,
    result: |dtype| {
        if dtype.kind() <= Kind::Int {
            DType::F64
        } else {
            dtype
        }
    },
    empty: true,
    one_axis: false,
    cost: Cost::Elements,
    kernel: kernels::mean,
    examples: &[Example {
        formula: "mean(x, axis=1, keepdims=true)",
        given: &[("x", "i32[2, 2]", "1 2 3 4")],
        result: ("f64[2, 1]", "1.5 3.5"),
    }],
};

pub(super) static VAR: Reduction = Reduction {
    name: "var",
    doc: "The variance along axes: the mean of squared deviations from the mean. `f64` for \
          integers and truth values; `f16` and `bf16` accumulate in `f32`. That of nothing is NaN.",
    kinds: &[Kind::Bool, Kind::Int, Kind::Float],
    result: DType::float,
    empty: true,
    one_axis: false,
    cost: Cost::Deviations,
    kernel: kernels::var,
    examples: &[Example {
        formula: "var(x, axis=1)",
        given: &[("x", "f32[2, 4]", "1 2 3 4 1000001 1000002 1000003 1000004")],
        result: ("f32[2]", "1.25 1.25"),
    }],
};

pub(super) static STD: Reduction = Reduction {
    name: "std",
    doc: "The standard deviation along axes: the root of the variance. `f64` for integers and \
          truth values; `f16` and `bf16` accumulate in `f32`. That of nothing is NaN.",
    kinds: &[Kind::Bool, Kind::Int, Kind::Float],
    result: DType::float,
    empty: true,
    one_axis: false,
    cost: Cost::Deviations,
    kernel: kernels::std,
    examples: &[Example {
        formula: "std(x)",
        given: &[("x", "i32[4]", "1 1 5 5")],
        result: ("f64[]", "2"),
    }],
};

pub(super) static ANY: Reduction = Reduction {
    name: "any",
    doc: "Whether any element along axes is true; none of nothing is.",
    kinds: &[Kind::Bool],
    result: |_| DType::Bool,
    empty: true,
    one_axis: false,
    cost: Cost::Merges,
    kernel: kernels::any,
    examples: &[Example {
        formula: "any(x, axis=1)",
        given: &[("x", "bool[2, 2]", "true false false false")],
        result: ("bool[2]", "true false"),
    }],
};

pub(super) static ALL: Reduction = Reduction {
    name: "all",
    doc: "Whether all elements along axes are true; all of nothing are.",
    kinds: &[Kind::Bool],
    result: |_| DType::Bool,
    empty: true,
    one_axis: false,
    cost: Cost::Merges,
    kernel: kernels::all,
    examples: &[Example {
        formula: "all(x, axis=1)",
        given: &[("x", "bool[2, 2]", "true true true false")],
        result: ("bool[2]", "true false"),
    }],
};

pub(super) static NORM: Reduction = Reduction {
    name: "norm",
    doc: "The root of the sum of squared moduli along axes: the Euclidean norm of vectors, the \
          Frobenius norm of matrices. Real for complex numbers, `f64` for integers; `f16` and \
          `bf16` accumulate in `f32`. The norm of nothing is 0.",
    kinds: &[Kind::Int, Kind::Float, Kind::Complex],
    result: DType::float,
    empty: true,
    one_axis: false,
    cost: Cost::Squares,
    kernel: kernels::norm,
    examples: &[Example {
        formula: "norm(x, axis=1)",
        given: &[("x", "f32[2, 2]", "3 4 0 -2")],
        result: ("f32[2]", "5 2"),
    }],
};

pub(super) static MAX: Reduction = Reduction {
    name: "max",
    doc: "The largest element along axes; NaN where there is one. There must be an element.",
    kinds: ORDERED,
    result: |dtype| dtype,
    empty: false,
    one_axis: false,
    cost: Cost::Merges,
    kernel: kernels::max,
    examples: &[Example {
        formula: "max(x, axis=1)",
        given: &[("x", "f32[2, 3]", "1 3 2 4 nan 6")],
        result: ("f32[2]", "3 nan"),
    }],
};

pub(super) static MIN: Reduction = Reduction {
    name: "min",
    doc: "The smallest element along axes; NaN where there is one. There must be an element.",
    kinds: ORDERED,
    result: |dtype| dtype,
    empty: false,
    one_axis: false,
    cost: Cost::Merges,
    kernel: kernels::min,
    examples: &[Example {
        formula: "min(x)",
        given: &[("x", "i32[2, 2]", "3 -1 4 1")],
        result: ("i32[]", "-1"),
    }],
};

pub(super) static ARGMAX: Reduction = Reduction {
    name: "argmax",
    doc: "The index of the largest element along an axis, or among all in row-major order: the \
          first of several, or that of the first NaN. There must be an element.",
    kinds: ORDERED,
    result: |_| DType::I64,
    empty: false,
    one_axis: true,
    cost: Cost::Merges,
    kernel: kernels::argmax,
    examples: &[Example {
        formula: "argmax(x, axis=1)",
        given: &[("x", "f32[2, 3]", "1 3 3 4 nan 6")],
        result: ("i64[2]", "1 1"),
    }],
};

pub(super) static ARGMIN: Reduction = Reduction {
    name: "argmin",
    doc: "The index of the smallest element along an axis, or among all in row-major order: the \
          first of several, or that of the first NaN. There must be an element.",
    kinds: ORDERED,
    result: |_| DType::I64,
    empty: false,
    one_axis: true,
    cost: Cost::Merges,
    kernel: kernels::argmin,
    examples: &[Example {
        formula: "argmin(x)",
        given: &[("x", "i32[2, 2]", "3 -1 4 -1")],
        result: ("i64[]", "1"),
    }],
};

impl Op for Reduction {
    fn name(&self) -> &'static str {
        self.name
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn rule(&self) -> &'static str {
        "[..] -> [..] without the axes, or with size 1 there (keepdims)"
    }

    fn family(&self) -> Family {
        Family::Reduce
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let input = call.tensor(0)?;
        if !self.kinds.contains(&input.dtype.kind()) {
            let message = format!("is not defined for {}", input.dtype);
            let error = InferError::new(Fault::DType, message).on(0);
            return Err(match self.kinds {
                [Kind::Bool] => error.help("compare it, for example `x != 0`"),
                _ => error,
            });
        }
        let axes = axes::axes(call.attrs, input.rank())?;
        if let (true, Attr::Ints(named)) = (self.one_axis, call.attrs.get("axis"))
            && named.len() != 1
        {
            let message = format!("takes one axis or none, not {}", named.len());
            return Err(InferError::new(Fault::Axis, message).on_attr("axis"));
        }
        if !self.empty && axes.iter().any(|axis| input.shape[*axis] == Expr::ZERO) {
            let message = format!("there is no element to take from {input}");
            return Err(InferError::new(Fault::Shape, message).on(0));
        }
        let keep = call.attrs.flag("keepdims");
        let output = axes::reduced(input, &axes, keep, (self.result)(input.dtype));
        Ok(Inferred::plain(1, output))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let input = call.inputs.first().and_then(|input| input.tensor());
        let output = outputs.first().and_then(ValueType::tensor);
        let (Some(input), Some(output)) = (input, output) else {
            return Work::Unknown;
        };
        let parts = if input.dtype.kind() == Kind::Complex {
            2
        } else {
            1
        };
        let flops = match self.cost {
            Cost::Merges => (input.elements() - output.elements()).larger(&Expr::ZERO) * parts,
            Cost::Elements => input.elements() * parts,
            Cost::Squares => input.elements() * (2 * parts),
            Cost::Deviations => input.elements() * 4,
        };
        Work::of(flops, call, outputs)
    }

    fn work_formula(&self) -> &'static str {
        match self.cost {
            Cost::Merges => "max(in - out, 0) flops, complex twice",
            Cost::Elements => "1 flop an element, complex 2",
            Cost::Squares => "2 flops an element, complex 4",
            Cost::Deviations => "4 flops an element",
        }
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
