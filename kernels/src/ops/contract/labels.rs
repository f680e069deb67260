//! Which axes are one, and in which steps tensors are contracted.

use haul_ir::expr::Expr;
use haul_ir::op::{Fault, InferError};

/// An axis that inputs share.
pub(super) type Label = usize;

/// A label for each axis of each input and of the output. An output's label that no input has is of
/// size 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Contraction {
    pub(super) inputs: Vec<Vec<Label>>,
    pub(super) output: Vec<Label>,
}

/// A product of what is there so far and the next input: a product of matrices for each index of
/// `batch`. `summed` are labels of one side only that are summed before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) batch: Vec<Label>,
    pub(super) left: Vec<Label>,
    pub(super) inner: Vec<Label>,
    pub(super) right: Vec<Label>,
    pub(super) summed: [Vec<Label>; 2],
}

impl Step {
    /// The labels of its result, in order.
    pub(super) fn result(&self) -> Vec<Label> {
        [&self.batch[..], &self.left, &self.right].concat()
    }
}

impl Contraction {
    /// One step for each input after the first.
    pub(super) fn steps(&self) -> Vec<Step> {
        let mut done = distinct(&self.inputs[0]);
        let mut steps = Vec::new();
        for (position, next) in self.inputs.iter().enumerate().skip(1) {
            let next = distinct(next);
            let later = &self.inputs[position + 1..];
            let kept = |label: &Label| {
                self.output.contains(label) || later.iter().any(|input| input.contains(label))
            };
            let mut step = Step::default();
            for label in &done {
                match (next.contains(label), kept(label)) {
                    (true, true) => step.batch.push(*label),
                    (true, false) => step.inner.push(*label),
                    (false, true) => step.left.push(*label),
                    (false, false) => step.summed[0].push(*label),
                }
            }
            for label in next.iter().filter(|label| !done.contains(label)) {
                let side = if kept(label) {
                    &mut step.right
                } else {
                    &mut step.summed[1]
                };
                side.push(*label);
            }
            done = step.result();
            steps.push(step);
        }
        steps
    }

    /// The size of the output's axes.
    pub(super) fn output_shape(&self, shapes: &[&[Expr]]) -> Result<Vec<Expr>, InferError> {
        let sizes = self.sizes(shapes)?;
        Ok(self
            .output
            .iter()
            .map(|label| size(&sizes, *label))
            .collect())
    }

    /// That two inputs agree in the axes that are summed, where 1 does not broadcast.
    pub(super) fn check_sums(&self, shapes: &[&[Expr]]) -> Result<(), InferError> {
        let [left, right] = &self.inputs[..] else {
            return Ok(());
        };
        let summed = left.iter().filter(|label| !self.output.contains(label));
        for label in summed {
            let size = |at: usize, labels: &[Label]| {
                let axis = labels.iter().position(|own| own == label);
                axis.map(|axis| &shapes[at][axis])
            };
            let (Some(a), Some(b)) = (size(0, left), size(1, right)) else {
                continue;
            };
            if a != b {
                let message = format!("inner dimensions disagree: {a} and {b}");
                return Err(InferError::new(Fault::Shape, message).on(1));
            }
        }
        Ok(())
    }

    /// Multiplications, each with an addition; sums alone count as such.
    pub(super) fn multiply_adds(&self, shapes: &[&[Expr]]) -> Result<Expr, InferError> {
        let sizes = self.sizes(shapes)?;
        let volume = |labels: &[&[Label]]| {
            let sizes: Vec<_> = labels
                .concat()
                .iter()
                .map(|label| size(&sizes, *label))
                .collect();
            Expr::product(&sizes)
        };
        let steps = self.steps();
        if steps.is_empty() {
            return Ok(volume(&[&distinct(&self.inputs[0])]));
        }
        let mut total = Expr::ZERO;
        for Step {
            batch,
            left,
            inner,
            right,
            summed,
        } in &steps
        {
            total = total + volume(&[batch, left, inner, right]);
            for (side, summed) in [left, right].into_iter().zip(summed) {
                if !summed.is_empty() {
                    total = total + volume(&[batch, side, inner, summed]);
                }
            }
        }
        Ok(total)
    }

    /// The size of each label: that of all its axes, of which some may be 1.
    fn sizes(&self, shapes: &[&[Expr]]) -> Result<Vec<Option<Expr>>, InferError> {
        let largest = self
            .inputs
            .iter()
            .flatten()
            .max()
            .map_or(0, |label| label + 1);
        let mut sizes: Vec<Option<Expr>> = vec![None; largest];
        for (position, (labels, shape)) in self.inputs.iter().zip(shapes).enumerate() {
            for (label, given) in labels.iter().zip(*shape) {
                match &mut sizes[*label] {
                    Some(size) if *size == Expr::ONE => *size = given.clone(),
                    Some(size) if size == given || *given == Expr::ONE => {}
                    Some(size) => {
                        let message = format!("axes that are one have sizes {size} and {given}");
                        return Err(InferError::new(Fault::Shape, message).on(position));
                    }
                    none => *none = Some(given.clone()),
                }
            }
        }
        Ok(sizes)
    }
}

fn size(sizes: &[Option<Expr>], label: Label) -> Expr {
    sizes.get(label).cloned().flatten().unwrap_or(Expr::ONE)
}

/// Each label once.
pub(super) fn distinct(labels: &[Label]) -> Vec<Label> {
    let mut seen = Vec::with_capacity(labels.len());
    for label in labels {
        if !seen.contains(label) {
            seen.push(*label);
        }
    }
    seen
}
