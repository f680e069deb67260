//! Products of tensors summed over axes that they share: einsum and its special cases. All are
//! carried out as products of matrices.

mod einsum;
mod kernel;
mod labels;
mod vecdot;

use haul_ir::dtype::Kind;
use haul_ir::expr::Expr;
use haul_ir::op::{
    Attrs, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, KernelCall,
    KernelError, Op, Param, ParamKind, Work,
};
use haul_ir::types::{TensorType, ValueType};

use super::array_op::{attribute, required, tensor};
use super::matmul::flops_of_multiply_add;
use labels::{Contraction, Label};

/// An op that contracts.
struct Contract {
    name: &'static str,
    doc: &'static str,
    params: &'static [Param],
    rule: &'static str,
    /// What it contracts, from the attributes and the rank of each input.
    contraction: fn(&Attrs, &[usize]) -> Result<Contraction, InferError>,
    /// Whether an axis of size 1 that is summed broadcasts.
    sums_broadcast: bool,
    /// The shape, from that of the contraction's output.
    shape: fn(Vec<Expr>) -> Vec<Expr>,
    kernel: fn(&mut KernelCall<'_, '_>) -> Result<(), KernelError>,
    examples: &'static [Example],
}

pub(crate) static OPS: &[&dyn Op] = &[&EINSUM, &DOT, &vecdot::VECDOT, &TENSORDOT, &OUTER, &KRON];

const A: Param = tensor("a");
const B: Param = tensor("b");

macro_rules! kernel {
    ($op:ident) => {
        |call| kernel::contract($op.contraction, call)
    };
}

static EINSUM: Contract = Contract {
    name: "einsum",
    doc: "Products of elements, summed over the axes that the result does not name: \
          `einsum('ij,jk->ik', a, b)` is `a @ b`. Each input has a letter for each axis; axes of one \
          letter have one size, or are 1 and broadcast; a letter twice in one input takes the \
          diagonal; `...` stands for the axes that have no letter and broadcast. Without `->` the \
          result has the letters that occur once, in alphabetical order. Inputs are contracted two at \
          a time from the left. f16 and bf16 accumulate in f32; integers wrap in their dtype.",
    params: &[
        required("inputs", ParamKind::Tensors),
        required("subscripts", ParamKind::Quoted),
    ],
    rule: "'ij,jk->ik', [i, j], [j, k] -> [i, k]",
    contraction: einsum::contraction,
    sums_broadcast: true,
    shape: |shape| shape,
    kernel: kernel!(EINSUM),
    examples: &[
        Example {
            formula: "einsum('ij,kj->ik', a, b)",
            given: &[("a", "f32[2, 2]", "1 2 3 4"), ("b", "f32[1, 2]", "5 6")],
            result: ("f32[2, 1]", "17 39"),
        },
        Example {
            formula: "einsum('ii->i', a)",
            given: &[("a", "i32[2, 2]", "1 2 3 4")],
            result: ("i32[2]", "1 4"),
        },
    ],
};

static DOT: Contract = Contract {
    name: "dot",
    doc: "The sum of products over the last axis of `a` and the last but one of `b`, or its only \
          one; the other axes of both follow one another. Of two vectors it is their inner product, \
          of a scalar the plain product. f16 and bf16 accumulate in f32; integers wrap in their \
          dtype.",
    params: &[A, B],
    rule: "[.., k], [.., k, n] -> [.., .., n]; [k], [k] -> []",
    contraction: |_, ranks| {
        let (mut a, mut b) = numbered(ranks);
        if let (Some(last), Some(at)) = (a.last_mut(), ranks[1].checked_sub(1)) {
            *last = b[at.saturating_sub(1)];
        }
        let shared = a.last().copied().filter(|label| b.contains(label));
        let output = a
            .iter()
            .chain(&b)
            .copied()
            .filter(|label| Some(*label) != shared);
        let output = output.collect();
        Ok(Contraction {
            inputs: vec![std::mem::take(&mut a), std::mem::take(&mut b)],
            output,
        })
    },
    sums_broadcast: false,
    shape: |shape| shape,
    kernel: kernel!(DOT),
    examples: &[Example {
        formula: "dot(a, b)",
        given: &[("a", "f32[3]", "1 2 3"), ("b", "f32[3]", "4 5 6")],
        result: ("f32[]", "32"),
    }],
};

static TENSORDOT: Contract = Contract {
    name: "tensordot",
    doc: "The sum of products over the last `axes` axes of `a` and the first `axes` of `b`; the other \
          axes of both follow one another. For other axes there is `einsum`. f16 and bf16 accumulate \
          in f32; integers wrap in their dtype.",
    params: &[A, B, attribute("axes", ParamKind::Int, "2")],
    rule: "[a.., s..], [s.., b..] -> [a.., b..], `axes` sizes in s",
    contraction: |attrs, ranks| {
        let least = ranks[0].min(ranks[1]);
        let shared = attrs
            .int("axes")
            .and_then(|axes| usize::try_from(axes).ok());
        let Some(shared) = shared.filter(|shared| *shared <= least) else {
            let message = format!("the number of shared axes is 0 to {least}");
            return Err(InferError::new(Fault::Value, message).on_attr("axes"));
        };
        let (a, mut b) = numbered(ranks);
        let kept = ranks[0] - shared;
        b[..shared].copy_from_slice(&a[kept..]);
        let output = [&a[..kept], &b[shared..]].concat();
        Ok(Contraction {
            inputs: vec![a, b],
            output,
        })
    },
    sums_broadcast: false,
    shape: |shape| shape,
    kernel: kernel!(TENSORDOT),
    examples: &[Example {
        formula: "tensordot(a, b, axes=1)",
        given: &[("a", "f32[1, 2]", "1 2"), ("b", "f32[2, 1, 2]", "1 2 3 4")],
        result: ("f32[1, 1, 2]", "7 10"),
    }],
};

static OUTER: Contract = Contract {
    name: "outer",
    doc: "All products of an element of one vector and one of the other.",
    params: &[A, B],
    rule: "[m], [n] -> [m, n]",
    contraction: |_, ranks| {
        if let Some(at) = ranks.iter().position(|rank| *rank != 1) {
            let message = format!("needs vectors, this has {} axes", ranks[at]);
            return Err(InferError::new(Fault::Rank, message).on(at));
        }
        let (a, b) = numbered(ranks);
        let output = [&a[..], &b[..]].concat();
        Ok(Contraction {
            inputs: vec![a, b],
            output,
        })
    },
    sums_broadcast: false,
    shape: |shape| shape,
    kernel: kernel!(OUTER),
    examples: &[Example {
        formula: "outer(a, b)",
        given: &[("a", "i32[2]", "1 2"), ("b", "i32[3]", "3 4 5")],
        result: ("i32[2, 3]", "3 4 5 6 8 10"),
    }],
};

static KRON: Contract = Contract {
    name: "kron",
    doc: "The Kronecker product: each element of `a` times all of `b`, as one tensor whose axes have \
          the product of both sizes. The one with fewer axes gets axes of size 1 in front.",
    params: &[A, B],
    rule: "[m, n], [p, q] -> [m*p, n*q]",
    contraction: |_, ranks| {
        let (a, b) = numbered(ranks);
        // Labels of axes that an input lacks are those of no input: they have size 1.
        let rank = ranks[0].max(ranks[1]);
        let absent = ranks[0] + ranks[1];
        let pair = |axis: usize| {
            let of = |labels: &[Label]| match (axis + labels.len()).checked_sub(rank) {
                Some(at) => labels[at],
                None => absent + axis,
            };
            [of(&a), of(&b)]
        };
        let output = (0..rank).flat_map(pair).collect();
        Ok(Contraction {
            inputs: vec![a, b],
            output,
        })
    },
    sums_broadcast: false,
    shape: |shape| shape.chunks(2).map(Expr::product).collect(),
    kernel: kernel!(KRON),
    examples: &[Example {
        formula: "kron(a, b)",
        given: &[("a", "i32[1, 2]", "1 2"), ("b", "i32[2, 2]", "0 1 2 3")],
        result: ("i32[2, 4]", "0 1 0 2 2 3 4 6"),
    }],
};

/// A label of its own for each axis of two inputs.
fn numbered(ranks: &[usize]) -> (Vec<Label>, Vec<Label>) {
    (
        (0..ranks[0]).collect(),
        (ranks[0]..ranks[0] + ranks[1]).collect(),
    )
}

impl Contract {
    fn contraction_of(&self, call: &Call<'_>) -> Result<Contraction, InferError> {
        let ranks: Vec<_> = call
            .inputs
            .iter()
            .map(|input| input.shape().len())
            .collect();
        (self.contraction)(call.attrs, &ranks)
    }
}

impl Op for Contract {
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
        let dtype = call.promoted()?;
        if dtype.kind() == Kind::Bool {
            let error = InferError::new(Fault::DType, "there is no product of bools");
            return Err(error.help("cast them, for example `i64(x)` to count"));
        }
        let contraction = self.contraction_of(call)?;
        let shapes: Vec<_> = call.inputs.iter().map(|input| input.shape()).collect();
        if !self.sums_broadcast {
            contraction.check_sums(&shapes)?;
        }
        let shape = (self.shape)(contraction.output_shape(&shapes)?);
        let output = TensorType::new(dtype, shape);
        Ok(Inferred::cast_all(call.inputs.len(), dtype, output))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let dtype = outputs
            .first()
            .and_then(ValueType::tensor)
            .map(|ty| ty.dtype);
        let shapes: Vec<_> = call.inputs.iter().map(|input| input.shape()).collect();
        let products = self
            .contraction_of(call)
            .and_then(|contraction| contraction.multiply_adds(&shapes));
        match products {
            Ok(products) => Work::of(products * flops_of_multiply_add(dtype), call, outputs),
            Err(_) => Work::Unknown,
        }
    }

    fn work_formula(&self) -> &'static str {
        "for each two inputs 2 flops, complex 8, times the sizes of all their axes, once each; less \
         where an axis of one input only is summed first"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(self.kernel)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Library("cublas gemm")
    }

    fn examples(&self) -> &'static [Example] {
        self.examples
    }
}
