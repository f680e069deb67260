//! Matrix products.

mod kernel;

use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{
    Call, CpuKernel, Example, Family, Fault, GpuKernel, InferError, Inferred, Op, Param, ParamKind,
    Work, broadcast,
};
use haul_ir::types::{Shape, TensorType, ValueType};

/// `matmul(a, b)`, `a @ b`.
pub(crate) struct Matmul;

impl Op for Matmul {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn doc(&self) -> &'static str {
        "The product of matrices in the last two axes, written `a @ b`; other axes broadcast. \
         A vector on the left is a row, a vector on the right a column, and its axis is left out \
         of the result. f16 and bf16 accumulate in f32; integers wrap in their dtype."
    }

    fn params(&self) -> &'static [Param] {
        const fn matrix(name: &'static str) -> Param {
            Param {
                name,
                kind: ParamKind::Tensor,
                default: None,
            }
        }
        &const { [matrix("a"), matrix("b")] }
    }

    fn rule(&self) -> &'static str {
        "[.., M, K] @ [.., K, N] -> [.., M, N]; [K] @ [K] -> []"
    }

    fn family(&self) -> Family {
        Family::Matmul
    }

    fn infer(&self, call: &Call<'_>) -> Result<Inferred, InferError> {
        let product = Product::of(call)?;
        let dtype = call.promoted()?;
        if dtype.kind() == Kind::Bool {
            let error = InferError::new(Fault::DType, "there is no matrix product of bools");
            return Err(error.help("cast them, for example `i64(x)` to count"));
        }
        Ok(Inferred::cast_all(
            2,
            dtype,
            TensorType::new(dtype, product.shape()),
        ))
    }

    fn work(&self, call: &Call<'_>, outputs: &[ValueType]) -> Work {
        let Ok(product) = Product::of(call) else {
            return Work::Unknown;
        };
        let dtype = outputs.first().and_then(ValueType::tensor).map(|t| t.dtype);
        let flops = Expr::product(&product.shape()) * product.inner * flops_of_multiply_add(dtype);
        Work::of(flops, call, outputs)
    }

    fn work_formula(&self) -> &'static str {
        "2*M*N*K*batch flops, complex 8*M*N*K*batch"
    }

    fn cpu(&self) -> CpuKernel {
        CpuKernel::Array(kernel::matmul)
    }

    fn gpu(&self) -> GpuKernel {
        GpuKernel::Library("cublas gemm")
    }

    fn examples(&self) -> &'static [Example] {
        &[
            Example {
                formula: "matmul(a, b)",
                given: &[
                    ("a", "f32[2, 3]", "1 2 3 4 5 6"),
                    ("b", "f32[3, 2]", "7 8 9 10 11 12"),
                ],
                result: ("f32[2, 2]", "58 64 139 154"),
            },
            Example {
                formula: "matmul(a, b)",
                given: &[("a", "i32[2, 2]", "1 2 3 4"), ("b", "i32[2]", "5 6")],
                result: ("i32[2]", "17 39"),
            },
        ]
    }
}

/// Flops of a multiplication and an addition: 2, for complex numbers 6 and 2.
pub(super) fn flops_of_multiply_add(dtype: Option<DType>) -> u64 {
    match dtype.map(DType::kind) {
        Some(Kind::Complex) => 8,
        _ => 2,
    }
}

/// The sizes of a product.
struct Product {
    batch: Shape,
    /// None where the left side is a vector.
    rows: Option<Expr>,
    inner: Expr,
    /// None where the right side is a vector.
    cols: Option<Expr>,
}

impl Product {
    fn of(call: &Call<'_>) -> Result<Self, InferError> {
        let (left_batch, rows, left_inner) = match &call.tensor(0)?.shape[..] {
            [] => return Err(scalar().on(0)),
            [k] => (&[][..], None, k),
            [batch @ .., m, k] => (batch, Some(m), k),
        };
        let (right_batch, inner, cols) = match &call.tensor(1)?.shape[..] {
            [] => return Err(scalar().on(1)),
            [k] => (&[][..], k, None),
            [batch @ .., k, n] => (batch, k, Some(n)),
        };
        if left_inner != inner {
            let message = format!("inner dimensions disagree: {left_inner} and {inner}");
            let what = if cols.is_some() { "rows" } else { "elements" };
            let help = format!("the right side needs {left_inner} {what}");
            return Err(InferError::new(Fault::Shape, message).help(help));
        }
        Ok(Self {
            batch: broadcast(&[left_batch, right_batch])?,
            rows: rows.cloned(),
            inner: inner.clone(),
            cols: cols.cloned(),
        })
    }

    fn shape(&self) -> Shape {
        let matrix = self.rows.iter().chain(&self.cols);
        self.batch.iter().chain(matrix).cloned().collect()
    }
}

fn scalar() -> InferError {
    InferError::new(Fault::Rank, "a matrix product needs axes, this is a scalar")
        .help("to scale, use `*`")
}
