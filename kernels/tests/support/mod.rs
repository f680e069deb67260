//! What the tests of kernels share: tensors in any layout, a plain runner, and parsers for
//! values, attributes and example formulas. Everything here is naive on purpose.

pub(crate) mod formula;
pub(crate) mod rows;
pub(crate) mod run;
pub(crate) mod tensor;
pub(crate) mod text;
