//! The reductions there are.

use haul_ir::dtype::{DType, Kind};
use haul_ir::op::Example;

use super::{Cost, Reduction, kernels, last};

const NUMBERS: &[Kind] = &[Kind::Bool, Kind::Int, Kind::Float, Kind::Complex];
const ORDERED: &[Kind] = &[Kind::Int, Kind::Float];

pub(in crate::ops) static SUM: Reduction = Reduction {
    name: "sum",
    doc: "The sum along axes. Integers and truth values are summed in 64 bits and wrap around; \
          `f16` and `bf16` accumulate in `f32`. The sum of nothing is 0.",
    kinds: NUMBERS,
    cast: |_| None,
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

pub(in crate::ops) static PROD: Reduction = Reduction {
    name: "prod",
    doc: "The product along axes. Integers and truth values are multiplied in 64 bits and wrap \
          around; `f16` and `bf16` accumulate in `f32`. The product of nothing is 1.",
    kinds: NUMBERS,
    cast: |_| None,
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

pub(in crate::ops) static MEAN: Reduction = Reduction {
    name: "mean",
    doc: "The mean along axes: `f64` for integers and truth values; `f16` and `bf16` accumulate in \
          `f32`. The mean of nothing is NaN.",
    kinds: NUMBERS,
    cast: |_| None,
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

pub(in crate::ops) static VAR: Reduction = Reduction {
    name: "var",
    doc: "The variance along axes: the mean of squared deviations from the mean. `f64` for \
          integers and truth values; `f16` and `bf16` accumulate in `f32`. That of nothing is NaN.",
    kinds: &[Kind::Bool, Kind::Int, Kind::Float],
    cast: |_| None,
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

pub(in crate::ops) static STD: Reduction = Reduction {
    name: "std",
    doc: "The standard deviation along axes: the root of the variance. `f64` for integers and \
          truth values; `f16` and `bf16` accumulate in `f32`. That of nothing is NaN.",
    kinds: &[Kind::Bool, Kind::Int, Kind::Float],
    cast: |_| None,
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

pub(in crate::ops) static ANY: Reduction = Reduction {
    name: "any",
    doc: "Whether any element along axes is true: numbers where they differ from 0, NaN too. None of \
          nothing is.",
    kinds: &[Kind::Bool, Kind::Int, Kind::Float],
    cast: |_| Some(DType::Bool),
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

pub(in crate::ops) static ALL: Reduction = Reduction {
    name: "all",
    doc: "Whether all elements along axes are true: numbers where they differ from 0, NaN too. All of \
          nothing are.",
    kinds: &[Kind::Bool, Kind::Int, Kind::Float],
    cast: |_| Some(DType::Bool),
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

pub(in crate::ops) static COUNT_NONZERO: Reduction = Reduction {
    name: "count_nonzero",
    doc: "How many elements along axes differ from 0; NaN does.",
    kinds: &[Kind::Bool, Kind::Int, Kind::Float],
    cast: |_| Some(DType::Bool),
    result: |_| DType::I64,
    empty: true,
    one_axis: false,
    cost: Cost::Merges,
    kernel: kernels::sum,
    examples: &[Example {
        formula: "count_nonzero(x, axis=1)",
        given: &[("x", "f32[2, 3]", "1 0 -2 0 nan 0")],
        result: ("i64[2]", "2 1"),
    }],
};

pub(in crate::ops) static LOGSUMEXP: Reduction = Reduction {
    name: "logsumexp",
    doc: "`log(sum(exp(x)))` along axes; the maximum is subtracted before, so that nothing \
          overflows. Integers are computed in `f64`, `f16` and `bf16` in `f32`. That of nothing is \
          -inf.",
    kinds: ORDERED,
    cast: |dtype| Some(dtype.float()),
    result: DType::float,
    empty: true,
    one_axis: false,
    cost: Cost::Exponentials,
    kernel: kernels::logsumexp,
    examples: &[Example {
        formula: "logsumexp(x, axis=1)",
        given: &[("x", "f64[2, 2]", "1000 1000 0 -inf")],
        result: ("f64[2]", "1000.6931471805599 0"),
    }],
};

pub(in crate::ops) static MAX: Reduction = Reduction {
    name: "max",
    doc: "The largest element along axes; NaN where there is one. There must be an element.",
    kinds: ORDERED,
    cast: |_| None,
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

pub(in crate::ops) static MIN: Reduction = Reduction {
    name: "min",
    doc: "The smallest element along axes; NaN where there is one. There must be an element.",
    kinds: ORDERED,
    cast: |_| None,
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

pub(in crate::ops) static ARGMAX: Reduction = Reduction {
    name: "argmax",
    doc: "The index of the largest element along an axis, or among all in row-major order: the \
          first of several, or that of the first NaN, or with `last` the last. There must be an \
          element.",
    kinds: ORDERED,
    cast: |_| None,
    result: |_| DType::I64,
    empty: false,
    one_axis: true,
    cost: Cost::Merges,
    kernel: |call| last::place(call, kernels::argmax),
    examples: &[Example {
        formula: "argmax(x, axis=1)",
        given: &[("x", "f32[2, 3]", "1 3 3 4 nan 6")],
        result: ("i64[2]", "1 1"),
    }],
};

pub(in crate::ops) static ARGMIN: Reduction = Reduction {
    name: "argmin",
    doc: "The index of the smallest element along an axis, or among all in row-major order: the \
          first of several, or that of the first NaN, or with `last` the last. There must be an \
          element.",
    kinds: ORDERED,
    cast: |_| None,
    result: |_| DType::I64,
    empty: false,
    one_axis: true,
    cost: Cost::Merges,
    kernel: |call| last::place(call, kernels::argmin),
    examples: &[
        Example {
            formula: "argmin(x)",
            given: &[("x", "i32[2, 2]", "3 -1 4 -1")],
            result: ("i64[]", "1"),
        },
        Example {
            formula: "argmin(x, axis=1, last=true)",
            given: &[("x", "i32[2, 3]", "3 -1 -1 4 5 4")],
            result: ("i64[2]", "2 2"),
        },
    ],
};
