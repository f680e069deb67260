//! Loops compiled for the vector units that the machine turns out to have.
//!
//! Nothing is reordered and no product is fused with a sum, so the bits do not depend on them.

/// A loop. Its `call` and what that calls must be `#[inline(always)]`: only what is inlined is
/// compiled for each generation of vector units, which is why this is no closure.
pub(crate) use pulp::NullaryFnOnce as Loop;

/// Runs a loop on the widest units there are.
pub(crate) fn vectorised<L: Loop>(work: L) -> L::Output {
    pulp::Arch::new().dispatch(work)
}
