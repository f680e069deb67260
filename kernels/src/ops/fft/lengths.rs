//! Which axes are transformed, and of what lengths.

use haul_ir::expr::Expr;
use haul_ir::op::{Attr, Attrs, Fault, InferError, axis_of};

use super::{Axes, Fourier, Sides};
use crate::ops::array_op::wrong;
use crate::ops::moves::attrs;

/// The transform along one axis.
pub(super) struct Length {
    pub(super) axis: usize,
    /// Elements of a line, before it was halved or after it was completed.
    pub(super) n: Expr,
    /// Elements that are taken of each line of the input: more are cut off, fewer are followed
    /// by zeros.
    pub(super) input: Expr,
    /// Elements of each line of the result.
    pub(super) output: Expr,
    /// Whether one side is half of a spectrum.
    pub(super) is_half: bool,
}

impl Length {
    /// The size of the axis while the others are transformed.
    pub(super) fn narrow(&self) -> &Expr {
        match self.output == self.n {
            true => &self.input,
            false => &self.output,
        }
    }
}

impl Fourier {
    /// The axes in the order that the author gives; the last is transformed first, or last where
    /// the result is real.
    ///
    /// # Errors
    /// An axis does not exist, or a line has no element.
    pub(super) fn lengths(&self, attrs: &Attrs, shape: &[Expr]) -> Result<Vec<Length>, InferError> {
        let lines = match self.axes {
            Axes::One => vec![one(attrs, shape)?],
            Axes::LastTwo | Axes::All => several(attrs, shape)?,
        };
        let last = lines.len() - 1;
        let lengths = lines.into_iter().enumerate();
        lengths
            .map(|(at, (axis, given))| self.length(axis, &shape[axis], given, at == last))
            .collect()
    }

    fn length(
        &self,
        axis: usize,
        size: &Expr,
        given: Option<Expr>,
        is_last: bool,
    ) -> Result<Length, InferError> {
        let sides = if is_last { self.sides } else { Sides::Complex };
        let is_given = given.is_some();
        let n = match (given, sides) {
            (Some(n), _) => n,
            (None, Sides::ToReal) => (size - Expr::ONE) * 2,
            (None, _) => size.clone(),
        };
        if n.as_int().is_some_and(|n| n < 1) {
            return Err(self.empty(axis, size, &n, is_given));
        }
        let half = n.floor_div(&Expr::from(2_u64)) + 1;
        let (input, output) = match sides {
            Sides::Complex => (n.clone(), n.clone()),
            Sides::FromReal => (n.clone(), half),
            Sides::ToReal => (half, n.clone()),
        };
        Ok(Length {
            axis,
            n,
            input,
            output,
            is_half: sides != Sides::Complex,
        })
    }

    fn empty(&self, axis: usize, size: &Expr, n: &Expr, is_given: bool) -> InferError {
        if is_given {
            let attribute = if self.axes == Axes::One { "n" } else { "s" };
            let message = format!("a transform has at least one element, not {n}");
            return InferError::new(Fault::Value, message).on_attr(attribute);
        }
        if *size == Expr::ONE {
            let message = format!("axis {axis} has one element, which makes {n} without `n`");
            return InferError::new(Fault::Shape, message).on(0);
        }
        let message = format!("axis {axis} is empty, a transform needs an element");
        InferError::new(Fault::Shape, message).on(0)
    }
}

/// The axis, and the length where it is given.
fn one(attrs: &Attrs, shape: &[Expr]) -> Result<(usize, Option<Expr>), InferError> {
    let axis = attrs.int("axis").ok_or_else(|| {
        InferError::new(Fault::Value, "the axis is a whole number").on_attr("axis")
    })?;
    let axis = axis_of(axis, shape.len()).map_err(|error| error.on_attr("axis"))?;
    match attrs.get("n") {
        Attr::Int(n) => Ok((axis, Some(n.clone()))),
        _ => Ok((axis, None)),
    }
}

fn several(attrs: &Attrs, shape: &[Expr]) -> Result<Vec<(usize, Option<Expr>)>, InferError> {
    let rank = shape.len();
    let given = match attrs.get("s") {
        Attr::Ints(sizes) => Some(sizes),
        _ => None,
    };
    let axes = match (attrs::axes(attrs, "axes", rank)?, given) {
        (Some(axes), _) => axes,
        (None, Some(sizes)) if sizes.len() <= rank => (rank - sizes.len()..rank).collect(),
        (None, _) => (0..rank).collect(),
    };
    if axes.is_empty() {
        let message = "a transform needs an axis, this has none";
        return Err(InferError::new(Fault::Rank, message).on(0));
    }
    let Some(sizes) = given else {
        return Ok(axes.into_iter().map(|axis| (axis, None)).collect());
    };
    if sizes.len() != axes.len() {
        let rule = format!("is one number for each of {} axes", axes.len());
        return Err(wrong("s", &rule));
    }
    let sizes = sizes.iter().cloned().map(Some);
    Ok(axes.into_iter().zip(sizes).collect())
}
