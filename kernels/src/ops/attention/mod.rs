//! Scaled dot-product attention.

mod kernel;

use haul_ir::dtype::Kind;
use haul_ir::expr::Expr;
use haul_ir::op::{
    ArgType, Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, Param,
    ParamKind, Work,
};
use haul_ir::types::{Axes, TensorType, ValueType};

use super::array_op::{
    ArrayOp, attribute, broadcasts_to, float_dtype, one_number, optional, position, precise, tensor,
};

const PARAMS: &[Param] = &[
    tensor("q"),
    tensor("k"),
    tensor("v"),
    optional("mask"),
    optional("scale"),
    optional("softcap"),
    attribute("causal", ParamKind::Bool, "false"),
];

/// `attention(q, k, v, mask, scale, softcap, causal=false)`.
pub(super) static ATTENTION: ArrayOp = ArrayOp {
    name: "attention",
    doc: "`softmax(q @ k.T * scale + mask) @ v` over the last two axes; the others are heads and \
          items, where k and v may have fewer heads in the last of them, each of which serves a \
          group of neighbouring heads of q. `scale` is 1/sqrt(E) by default. `softcap` c bounds \
          the scores before the mask: `c*tanh(scores / c)`; 0 is none. The mask broadcasts to the \
          scores: bools say where to look, numbers are added. With `causal`, row i sees the \
          columns up to i. A row that sees nothing gives zeros. Integers are computed in `f64`, \
          `f16` and `bf16` in `f32`. Memory for 64 rows of scores a thread is needed, and for the \
          k and v of a head in half precision.",
    params: PARAMS,
    rule: "[.., H, L, E], [.., G, S, E], [.., G, S, V], mask to [.., H, L, S] -> [.., H, L, V], \
           G divides H",
    family: Family::Matmul,
    infer,
    work,
    work_formula: "(2*E + 2*V + 25) flops a score, masked ones counted",
    cpu: CpuKernel::Contiguous(kernel::attention),
    gpu: GpuKernel::Own,
    examples: &[
        // Scores are equal: the mean of the values.
        Example {
            formula: "attention(q, k, v)",
            given: &[
                ("q", "f32[1, 2]", "0 0"),
                ("k", "f32[2, 2]", "1 2 3 4"),
                ("v", "f32[2, 1]", "10 20"),
            ],
            result: ("f32[1, 1]", "15"),
        },
        Example {
            formula: "attention(q, k, v, causal=true)",
            given: &[
                ("q", "f32[2, 1]", "0 0"),
                ("k", "f32[2, 1]", "1 2"),
                ("v", "f32[2, 1]", "10 20"),
            ],
            result: ("f32[2, 1]", "10 15"),
        },
    ],
};

/// Shapes of the scores and of the result.
struct Shapes {
    scores: Vec<Expr>,
    output: Vec<Expr>,
}

fn shapes(call: &Call<'_>) -> Result<Shapes, InferError> {
    let [q, k, v] = [call.tensor(0)?, call.tensor(1)?, call.tensor(2)?];
    for (position, given) in [q, k, v].into_iter().enumerate() {
        if given.rank() < 2 || given.rank() != q.rank() {
            let message = format!("needs two axes or more, as many as the others, this is {given}");
            return Err(InferError::new(Fault::Rank, message).on(position));
        }
    }
    let outer = q.rank() - 2;
    let differ =
        |position: usize, message: String| Err(InferError::new(Fault::Shape, message).on(position));
    if k.shape[outer + 1] != q.shape[outer + 1] {
        let (keys, queries) = (&k.shape[outer + 1], &q.shape[outer + 1]);
        return differ(1, format!("keys have {keys} elements, queries {queries}"));
    }
    if v.shape[..=outer] != k.shape[..=outer] {
        let (v, k) = (Axes(&v.shape[..=outer]), Axes(&k.shape[..=outer]));
        return differ(2, format!("values are {v}, keys {k}"));
    }
    if let Some(heads) = outer.checked_sub(1) {
        let same = q.shape[..heads] == k.shape[..heads];
        let (of_q, of_k) = (&q.shape[heads], &k.shape[heads]);
        let rest = of_q.modulo(of_k).as_int();
        let divide = of_q == of_k || (*of_k != Expr::ZERO && rest.is_none_or(|rest| rest == 0));
        if !same || !divide {
            let (q, k) = (Axes(&q.shape[..outer]), Axes(&k.shape[..outer]));
            return differ(1, format!("heads do not fit: queries have {q}, keys {k}"));
        }
    }
    let mut scores = q.shape[..=outer].to_vec();
    let mut output = scores.clone();
    scores.push(k.shape[outer].clone());
    output.push(v.shape[outer + 1].clone());
    Ok(Shapes { scores, output })
}

fn infer(call: &Call<'_>) -> Result<Inferred, InferError> {
    let Shapes { scores, output } = shapes(call)?;
    let mut floats = vec![0, 1, 2];
    let mask = position(PARAMS, call.attrs, "mask");
    if let Some(mask) = mask {
        broadcasts_to(call, mask, &scores)?;
        let looks = call
            .tensor(mask)
            .is_ok_and(|mask| mask.dtype.kind() == Kind::Bool);
        floats.extend((!looks).then_some(mask));
    }
    let dtype = float_dtype(call, &floats)?;
    let output = TensorType::new(dtype, output);
    let mut inferred = Inferred::cast_all(call.inputs.len(), dtype, output);
    if let Some(mask) = mask.filter(|mask| !floats.contains(mask)) {
        inferred.cast[mask] = None;
    }
    for name in ["scale", "softcap"] {
        if let Some(at) = position(PARAMS, call.attrs, name) {
            one_number(call, at)?;
            inferred.cast[at] = Some(precise(dtype));
        }
    }
    Ok(inferred)
}

fn work(call: &Call<'_>, outputs: &[ValueType]) -> Work {
    let (Ok(shapes), [Some(q), _, Some(v)]) = (
        shapes(call),
        [0, 1, 2].map(|at| call.inputs.get(at).map(ArgType::shape)),
    ) else {
        return Work::Unknown;
    };
    let (Some(keys), Some(values)) = (q.last(), v.last()) else {
        return Work::Unknown;
    };
    let each = (keys + values) * 2 + 25;
    Work::of(Expr::product(&shapes.scores) * each, call, outputs)
}
