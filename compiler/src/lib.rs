//! haul compiler.
