//! What the tests of kernels share: tensors in any layout, a plain runner, and parsers for
//! values, attributes and example formulas. Everything here is naive on purpose.

pub mod formula;
pub mod run;
pub mod tensor;
pub mod text;
