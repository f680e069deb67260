//! The types of values.

use std::fmt;

use crate::dtype::DType;
use crate::expr::Expr;

/// Sizes of the axes, outermost first.
pub type Shape = Vec<Expr>;

/// A dense array: `f32[batch, 784]`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Type of each element.
    pub dtype: DType,
    /// Size of each axis; empty for a scalar.
    pub shape: Shape,
}

impl TensorType {
    /// The type with this dtype and shape.
    pub fn new(dtype: DType, shape: Shape) -> Self {
        Self { dtype, shape }
    }

    /// How many axes it has.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// How many elements it has.
    pub fn elements(&self) -> Expr {
        Expr::product(&self.shape)
    }

    /// How many bytes its elements take.
    pub fn bytes(&self) -> Expr {
        self.elements() * self.dtype.size()
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype, Axes(&self.shape))
    }
}

impl fmt::Debug for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Prints a shape: `[batch, 784]`.
pub struct Axes<'a>(pub &'a [Expr]);

impl fmt::Display for Axes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (axis, size) in self.0.iter().enumerate() {
            write!(f, "{}{size}", if axis == 0 { "" } else { ", " })?;
        }
        f.write_str("]")
    }
}

/// The type of a value, or of each item of a collection.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// A dense array.
    Tensor(TensorType),
    /// The contents of a file of text, whose length only the data knows.
    Text,
}

impl ValueType {
    /// The tensor type, where it is one.
    pub fn tensor(&self) -> Option<&TensorType> {
        match self {
            ValueType::Tensor(tensor) => Some(tensor),
            ValueType::Text => None,
        }
    }
}

impl From<TensorType> for ValueType {
    fn from(tensor: TensorType) -> Self {
        ValueType::Tensor(tensor)
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueType::Tensor(tensor) => write!(f, "{tensor}"),
            ValueType::Text => f.write_str("text"),
        }
    }
}

impl fmt::Debug for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
