//! E020x: types that do not fit ops.

use haul_ir::diagnostic::Code;

use super::CodeInfo;

/// Sizes disagree.
pub const SHAPE: Code = Code("E0203");
/// The dtype has no such operation.
pub const DTYPE: Code = Code("E0204");
/// A tensor was needed, or text, or a collection.
pub const KIND_OF_VALUE: Code = Code("E0205");
/// The axis does not exist.
pub const AXIS: Code = Code("E0206");
/// Too few or too many axes.
pub const RANK: Code = Code("E0207");
/// An option has a value that the op does not take.
pub const VALUE: Code = Code("E0208");
/// A value is too large.
pub const OVERFLOW: Code = Code("E0209");

pub(super) static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: SHAPE,
        title: "sizes disagree",
        explanation: "Each op has a rule for the shapes it takes; `haul ops NAME` shows it. Sizes \
            must be equal for every value of their dims, or be 1 where shapes broadcast. The \
            labels show the types of the operands and where their sizes come from.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f32[4]\"), \
            \"y\": Random(seed: 2, type: \"f32[5]\")}, stages: {\"a\": (do: \"x + y\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f32[4]\"), \
            \"y\": Random(seed: 2, type: \"f32[5]\")}, stages: {\"a\": (do: \"x + y[:4]\")})",
    },
    CodeInfo {
        code: DTYPE,
        title: "the dtype does not fit",
        explanation: "An op is not defined for all dtypes, and some dtypes meet in none that \
            holds both. Numbers in the formula take the dtype of the array they meet and must fit \
            into it. Nothing is narrowed silently: cast with `f32(x)` and the like.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Constant(value: 1, type: \"u64[4]\"), \
            \"y\": Constant(value: 1, type: \"i64[4]\")}, stages: {\"a\": (do: \"x + y\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Constant(value: 1, type: \"u64[4]\"), \
            \"y\": Constant(value: 1, type: \"i64[4]\")}, stages: {\"a\": (do: \"i64(x) + y\")})",
    },
    CodeInfo {
        code: KIND_OF_VALUE,
        title: "another kind of value is needed",
        explanation: "Arithmetic is of tensors. Text is read by ops such as `parse_csv`, which \
            give tensors.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Text(path: \"x.txt\")}, \
            stages: {\"a\": (do: \"x + 1\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Csv(path: \"x.csv\", type: \"f32[n, 3]\")}, \
            stages: {\"a\": (do: \"x + 1\")})",
    },
    CodeInfo {
        code: AXIS,
        title: "an axis does not exist",
        explanation: "Axes are counted from 0, or from the end with negative numbers, and each is \
            named once.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f32[4]\")}, \
            stages: {\"a\": (do: \"sum(x, axis=1)\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f32[4]\")}, \
            stages: {\"a\": (do: \"sum(x, axis=0)\")})",
    },
    CodeInfo {
        code: RANK,
        title: "too few or too many axes",
        explanation: "Each op has a rule for how many axes it takes; `haul ops NAME` shows it. \
            `x[newaxis]` adds one, `x[0]` takes one away.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f32[4]\")}, \
            stages: {\"a\": (do: \"x[0, 0]\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f32[4]\")}, \
            stages: {\"a\": (do: \"x[0]\")})",
    },
    CodeInfo {
        code: VALUE,
        title: "an option has a value that the op does not take",
        explanation: "The message says which values are taken; `haul ops NAME` shows more.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f32[4]\")}, \
            stages: {\"a\": (do: \"x[::0]\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f32[4]\")}, \
            stages: {\"a\": (do: \"x[::2]\")})",
    },
    CodeInfo {
        code: OVERFLOW,
        title: "a value is too large",
        explanation: "Sizes of axes, elements and bytes fit 63 bits. A number made of literals, \
            params and dims alone takes at most 256 operations.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, \
            type: \"f32[4294967296, 4294967296]\")}, stages: {\"a\": (do: \"x\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, \
            type: \"f32[4096, 4096]\")}, stages: {\"a\": (do: \"x\")})",
    },
];
