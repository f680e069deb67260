//! E0310 to E0319: what does not fit the machines of a target.

use haul_ir::diagnostic::Code;

use super::CodeInfo;

/// No node can ever hold a request.
pub const IMPOSSIBLE: Code = Code("E0310");
/// An op is to be on the GPU and cannot be.
pub const PLACE: Code = Code("E0311");
/// A task needs more memory than it asks for.
pub const MEMORY: Code = Code("E0312");
/// A task needs more device memory than there is.
pub const VRAM: Code = Code("E0313");
pub(super) static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: IMPOSSIBLE,
        title: "no node can ever hold a request",
        explanation: "All that a task asks for is on one node: cpus, memory and GPUs. A request \
            that no node of the target has, empty as it may be, is refused before anything runs. \
            What merely has to wait until others have left is planned, and the plan says so.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (cpus: 100000, do: \"1\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (cpus: 2, do: \"1\")})",
    },
    CodeInfo {
        code: PLACE,
        title: "an op is to be on the GPU and cannot be",
        explanation: "`place: Gpu` is honoured or refused, never a wish. It needs a stage that \
            requests a GPU, and an op that has a GPU kernel.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (place: Gpu, do: \"1\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"1\")})",
    },
    CodeInfo {
        code: MEMORY,
        title: "a task needs more memory than it asks for",
        explanation: "Memory covers a task's inputs, its results and all in between that is held \
            at once. It is checked at the largest sizes: each dim at its `max`, or its `plan`.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f64[1024, 1024]\")}, \
            stages: {\"a\": (memory: \"1 MiB\", do: \"x @ x\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Random(seed: 1, type: \"f64[1024, 1024]\")}, \
            stages: {\"a\": (memory: \"16 MiB\", do: \"x @ x\")})",
    },
    CodeInfo {
        code: VRAM,
        title: "a task needs more device memory than there is",
        explanation: "What is on the GPU at once must fit `vram`, or the device where that is \
            left out, at the largest sizes. A stage of fewer ops, ops placed on CPUs, smaller \
            items or another device make it fit. One op that alone does not fit goes to the CPU.",
        wrong: "a stage on a GPU of 16 GB whose ops hold 20 GB at once",
        right: "two stages, of which each holds 10 GB",
    },
];
