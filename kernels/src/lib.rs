//! haul kernels.
