//! Losses: how far predictions are from targets.

mod kernel;

use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{
    Attr, Attrs, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, Param,
    ParamKind, broadcast,
};
use haul_ir::types::TensorType;

use super::array_op::{
    ArrayOp, attribute, float_dtype, has_shape, optional, position, tensor, work_per_input, wrong,
};

const REDUCTION: Param = attribute(
    "reduction",
    ParamKind::Word(&["mean", "sum", "none"]),
    "'mean'",
);

const PAIR: &[Param] = &[tensor("x"), tensor("target"), REDUCTION];

/// `mse_loss(x, target, reduction='mean')`.
pub(super) static MSE_LOSS: ArrayOp = ArrayOp {
    name: "mse_loss",
    doc: "The mean of `(x - target)**2`, or its sum, or each of them (reduction 'none'); both \
          broadcast. Integers are computed in `f64`. Sums accumulate in `f64`; the mean of \
          nothing is NaN.",
    params: PAIR,
    rule: "[..], [..] -> [], or the shape of both for 'none'",
    family: Family::Reduce,
    infer: infer_pair,
    work: |call, outputs| work_per_input(3, call, outputs),
    work_formula: "3 flops an element of x",
    cpu: CpuKernel::Array(kernel::mse_loss),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "mse_loss(x, t)",
        given: &[("x", "f32[2]", "1 5"), ("t", "f32[2]", "2 2")],
        result: ("f32[]", "5"),
    }],
};

/// `bce_loss(x, target, reduction='mean')`.
pub(super) static BCE_LOSS: ArrayOp = ArrayOp {
    name: "bce_loss",
    doc: "Binary cross-entropy: the mean of `-(target*log(x) + (1 - target)*log(1 - x))`, or its \
          sum, or each of them (reduction 'none'), where x are probabilities; both broadcast. \
          Logarithms are at least -100, so that a wrong certainty costs no infinity. Integers are \
          computed in `f64`. Sums accumulate in `f64`; the mean of nothing is NaN.",
    params: PAIR,
    rule: "[..], [..] -> [], or the shape of both for 'none'",
    family: Family::Reduce,
    infer: infer_pair,
    work: |call, outputs| work_per_input(47, call, outputs),
    work_formula: "47 flops an element of x",
    cpu: CpuKernel::Array(kernel::bce_loss),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "bce_loss(x, t, reduction='none')",
        given: &[("x", "f64[3]", "0.5 1 0"), ("t", "f64[3]", "1 1 1")],
        result: ("f64[3]", "0.6931471805599453 0 100"),
    }],
};

const CLASSES: &[Param] = &[
    tensor("x"),
    tensor("target"),
    optional("weight"),
    attribute("ignore_index", ParamKind::Int, "none"),
    REDUCTION,
];

/// `nll_loss(x, target, weight, ignore_index=none, reduction='mean')`.
pub(super) static NLL_LOSS: ArrayOp = ArrayOp {
    name: "nll_loss",
    doc: "Negative log-likelihood: `-weight[t] * x[t]` of each item, where x are logarithms of \
          probabilities over the second axis (or the only one) and t is the item's class, from 0 \
          on. Items of the class `ignore_index` cost nothing and do not count. The mean is that \
          weighted by `weight`; the mean of nothing is NaN. A class that does not exist is a \
          run error. Sums accumulate in `f64`.",
    params: CLASSES,
    rule: "[N, C, ..], [N, ..], [C] -> [], or [N, ..] for 'none'",
    family: Family::Reduce,
    infer: |call| infer_classes(call, false),
    work: |call, outputs| {
        let items = match call.tensor(1) {
            Ok(target) => target.elements(),
            Err(_) => Expr::ZERO,
        };
        haul_ir::op::Work::of(items * 3, call, outputs)
    },
    work_formula: "3 flops an item",
    cpu: CpuKernel::Array(kernel::nll_loss),
    gpu: GpuKernel::Own,
    examples: &[Example {
        formula: "nll_loss(x, t)",
        given: &[
            ("x", "f32[2, 3]", "-1 -2 -3 -4 -5 -6"),
            ("t", "i64[2]", "1 0"),
        ],
        result: ("f32[]", "3"),
    }],
};

/// `cross_entropy(x, target, weight, ignore_index=none, reduction='mean')`.
pub(super) static CROSS_ENTROPY: ArrayOp = ArrayOp {
    name: "cross_entropy",
    doc: "`nll_loss` of `log_softmax(x)` over the second axis (or the only one). A target of \
          floats has the shape of x and gives the probability of each class: then an item costs \
          `-sum(weight * target * log_softmax(x))`, the mean is that of the items, and \
          `ignore_index` does not apply.",
    params: CLASSES,
    rule: "[N, C, ..], [N, ..] or [N, C, ..], [C] -> [], or [N, ..] for 'none'",
    family: Family::Reduce,
    infer: |call| infer_classes(call, true),
    work: |call, outputs| work_per_input(24, call, outputs),
    work_formula: "24 flops an element of x",
    cpu: CpuKernel::Array(kernel::cross_entropy),
    gpu: GpuKernel::Own,
    examples: &[
        // log(1 + 1 + 1 + 1) = 1.3862943611198906.
        Example {
            formula: "cross_entropy(x, t)",
            given: &[("x", "f64[1, 4]", "7 7 7 7"), ("t", "i64[1]", "2")],
            result: ("f64[]", "1.3862943611198906"),
        },
        Example {
            formula: "cross_entropy(x, t, w, reduction='sum')",
            given: &[
                ("x", "f64[4]", "7 7 7 7"),
                ("t", "f64[4]", "0 0.5 0 0.5"),
                ("w", "f64[4]", "1 1 1 3"),
            ],
            result: ("f64[]", "2.772588722239781"),
        },
    ],
};

/// What is made of the losses of all items.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reduction {
    Mean,
    Sum,
    None,
}

impl Reduction {
    fn of(attrs: &Attrs) -> Self {
        match attrs.word("reduction") {
            Some("sum") => Self::Sum,
            Some("none") => Self::None,
            _ => Self::Mean,
        }
    }

    fn shape(self, items: Vec<Expr>) -> Vec<Expr> {
        match self {
            Self::None => items,
            Self::Mean | Self::Sum => Vec::new(),
        }
    }
}

fn infer_pair(call: &Call<'_>) -> Result<Inferred, InferError> {
    let dtype = float_dtype(call, &[0, 1])?;
    let shape = broadcast(&[call.inputs[0].shape(), call.inputs[1].shape()])?;
    let shape = Reduction::of(call.attrs).shape(shape);
    Ok(Inferred::cast_all(2, dtype, TensorType::new(dtype, shape)))
}

/// The axis of the classes.
fn class_axis(rank: usize) -> usize {
    usize::from(rank > 1)
}

fn infer_classes(call: &Call<'_>, shares: bool) -> Result<Inferred, InferError> {
    let [x, target] = [call.tensor(0)?, call.tensor(1)?];
    if x.rank() == 0 {
        return Err(InferError::new(Fault::Rank, "a scalar has no classes").on(0));
    }
    if !matches!(call.attrs.get("ignore_index"), Attr::None)
        && call.attrs.int("ignore_index").is_none()
    {
        return Err(wrong("ignore_index", "is a known whole number"));
    }
    let axis = class_axis(x.rank());
    if x.shape[axis] == Expr::ZERO {
        return Err(InferError::new(Fault::Shape, "there are no classes").on(0));
    }
    let mut items = x.shape.clone();
    items.remove(axis);
    let by_shares = shares && target.dtype.kind() == Kind::Float;
    if by_shares {
        has_shape(call, 1, &x.shape)?;
    } else if target.dtype.kind() == Kind::Int {
        has_shape(call, 1, &items)?;
    } else {
        let message = format!("classes are whole numbers, these are {}", target.dtype);
        return Err(InferError::new(Fault::DType, message).on(1));
    }
    let mut floats = vec![0];
    floats.extend(by_shares.then_some(1));
    if let Some(weight) = position(CLASSES, call.attrs, "weight") {
        has_shape(call, weight, &x.shape[axis..=axis])?;
        floats.push(weight);
    }
    let dtype = float_dtype(call, &floats)?;
    let shape = Reduction::of(call.attrs).shape(items);
    let output = TensorType::new(dtype, shape);
    let mut inferred = Inferred::cast_all(call.inputs.len(), dtype, output);
    if !by_shares {
        inferred.cast[1] = Some(DType::I64);
    }
    Ok(inferred)
}
