//! Loops compiled for the vector units that the machine turns out to have.
//!
//! Nothing is reordered and no product is fused with a sum, so the bits do not depend on them.

/// Runs a loop, compiled once for each generation of vector units.
#[inline(always)]
pub(crate) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}
