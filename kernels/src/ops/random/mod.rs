//! Random numbers by position: element `i` depends on the seed and on `i` alone, so that the same
//! numbers come out on every machine and of any number of threads.

mod floats;
mod integers;
mod permutation;

use haul_ir::expr::Expr;
use haul_ir::op::{Attr, Attrs, Fault, InferError, Param, ParamKind};
use haul_ir::types::Shape;

pub(super) use floats::{BERNOULLI, NORMAL, UNIFORM};
pub(super) use integers::RandomIntegers;
pub(super) use permutation::Permutation;

/// Operations in which a block of Philox makes four words: ten rounds of two products, four
/// exclusive ors and two sums.
const BLOCK: u64 = 80;

/// Blocks that one task makes.
const TASK: usize = 1 << 12;

const SHAPE: Param = Param {
    name: "shape",
    kind: ParamKind::Ints,
    default: None,
};
const SEED: Param = Param {
    name: "seed",
    kind: ParamKind::Int,
    default: None,
};

const fn number(name: &'static str, default: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Numbers,
        default: Some(default),
    }
}

fn shape(attrs: &Attrs) -> Result<Shape, InferError> {
    let Attr::Ints(sizes) = attrs.get("shape") else {
        let error = InferError::new(Fault::Value, "needs the sizes of the axes");
        return Err(error.on_attr("shape"));
    };
    if let Some(size) = sizes.iter().find(|size| is_negative(size)) {
        let message = format!("an axis cannot have {size} elements");
        return Err(InferError::new(Fault::Value, message).on_attr("shape"));
    }
    Ok(sizes.clone())
}

fn is_negative(size: &Expr) -> bool {
    size.as_int().is_some_and(|size| size < 0)
}

/// The seed's bits; of a seed that is not known when compiling too.
fn seed(attrs: &Attrs) -> u64 {
    attrs.int("seed").unwrap_or(0) as u64
}
