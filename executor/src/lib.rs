//! haul executor.
