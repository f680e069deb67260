//! Shape rules.

use haul_ir::dtype::{DType, Kind};
use haul_ir::expr::Expr;
use haul_ir::op::{Attrs, Call, Fault, InferError, broadcast};
use haul_ir::types::{Shape, TensorType};

/// The sizes of a call: of the first matrix, and of the right side where there is one.
pub(super) struct Sizes<'a> {
    pub(super) dtype: DType,
    pub(super) batch: Shape,
    pub(super) rows: Expr,
    pub(super) cols: Expr,
    /// Columns of the right side; 1 for a vector or none.
    pub(super) right: Expr,
    /// Rows of the right side.
    right_rows: Option<Expr>,
    right_is_vector: bool,
    pub(super) attrs: &'a Attrs,
}

/// The dtype of a computation: f64 for integers, f32 for halves.
pub(super) fn compute_dtype(call: &Call<'_>) -> Result<DType, InferError> {
    let dtype = call.promoted()?;
    match dtype.kind() {
        Kind::Bool => Err(InferError::new(Fault::DType, "is not defined for bool").on(0)),
        Kind::Int => Ok(DType::F64),
        Kind::Float if dtype.size() == 2 => Ok(DType::F32),
        Kind::Float | Kind::Complex => Ok(dtype),
    }
}

impl<'a> Sizes<'a> {
    pub(super) fn of(call: &Call<'a>, dtype: DType) -> Result<Self, InferError> {
        let [batch @ .., rows, cols] = &call.tensor(0)?.shape[..] else {
            return Err(needs_matrix().on(0));
        };
        let mut sizes = Self {
            dtype,
            batch: batch.to_vec(),
            rows: rows.clone(),
            cols: cols.clone(),
            right: Expr::ONE,
            right_rows: None,
            right_is_vector: false,
            attrs: call.attrs,
        };
        if call.inputs.len() > 1 {
            match &call.tensor(1)?.shape[..] {
                [] => return Err(needs_matrix().on(1)),
                [rows] => {
                    sizes.right_is_vector = true;
                    sizes.right_rows = Some(rows.clone());
                }
                [right_batch @ .., rows, cols] => {
                    sizes.batch = broadcast(&[batch, right_batch])?;
                    sizes.right = cols.clone();
                    sizes.right_rows = Some(rows.clone());
                }
            }
        }
        Ok(sizes)
    }

    pub(super) fn is_complex(&self) -> bool {
        self.dtype.kind() == Kind::Complex
    }

    /// The smaller of rows and columns.
    pub(super) fn smaller(&self) -> Expr {
        self.rows.smaller(&self.cols)
    }

    pub(super) fn larger(&self) -> Expr {
        self.rows.larger(&self.cols)
    }

    /// Nothing unless the matrices are square.
    pub(super) fn square(&self) -> Result<&Expr, InferError> {
        if self.rows == self.cols {
            return Ok(&self.rows);
        }
        let message = format!(
            "needs square matrices, this is {} by {}",
            self.rows, self.cols
        );
        Err(InferError::new(Fault::Shape, message).on(0))
    }

    /// A tensor for each matrix: `axes` after those of the batch.
    pub(super) fn each(&self, axes: &[&Expr]) -> TensorType {
        self.each_of(self.dtype, axes)
    }

    /// As [`Sizes::each`], of real numbers.
    pub(super) fn each_real(&self, axes: &[&Expr]) -> TensorType {
        self.each_of(self.dtype.real(), axes)
    }

    /// As [`Sizes::each`], of complex numbers.
    pub(super) fn each_complex(&self, axes: &[&Expr]) -> TensorType {
        self.each_of(self.dtype.complex(), axes)
    }

    fn each_of(&self, dtype: DType, axes: &[&Expr]) -> TensorType {
        let axes = axes.iter().copied();
        TensorType::new(dtype, self.batch.iter().chain(axes).cloned().collect())
    }

    /// What solves for the right side, whose rows are those of the matrix: as many columns.
    pub(super) fn solution(&self) -> Result<TensorType, InferError> {
        if self.right_rows.as_ref() != Some(&self.rows) {
            let given = self.right_rows.as_ref().unwrap_or(&Expr::ONE);
            let message = format!("the right side has {given} rows, the matrix {}", self.rows);
            return Err(InferError::new(Fault::Shape, message).on(1));
        }
        Ok(match self.right_is_vector {
            true => self.each(&[&self.cols]),
            false => self.each(&[&self.cols, &self.right]),
        })
    }
}

fn needs_matrix() -> InferError {
    InferError::new(Fault::Rank, "needs matrices, that is two axes or more")
}
