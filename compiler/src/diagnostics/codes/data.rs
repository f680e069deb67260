//! E04xx: data that is not there, or not as declared.

use haul_ir::diagnostic::Code;

use super::CodeInfo;

/// The data of an input cannot be read.
pub const UNREADABLE: Code = Code("E0401");

pub(super) static CODES: &[CodeInfo] = &[CodeInfo {
    code: UNREADABLE,
    title: "the data of an input cannot be read",
    explanation: "The file is missing, may not be read, or is not what its name promises. Paths \
        are relative to the pipeline file. `check` and `plan` read only headers, and those only \
        of inputs that declare no type; `run` reads the headers of all inputs before it starts.",
    wrong: "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"no/such/file.npy\")}, \
        stages: {\"a\": (do: \"sum(x)\")})",
    right: "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"x.npy\", type: \"f32[8]\")}, \
        stages: {\"a\": (do: \"sum(x)\")})",
}];
