//! E0301 to E0309: requests that make no sense.

use haul_ir::diagnostic::Code;

use super::CodeInfo;

/// CPUs are whole, and at least one.
pub const CPUS: Code = Code("E0301");
/// GPUs are whole, or a share below one.
pub const GPUS: Code = Code("E0302");
/// An amount of memory is zero, or too large.
pub const AMOUNT: Code = Code("E0303");
/// Something of a GPU is asked for, but no GPU.
pub const NO_GPU: Code = Code("E0304");
/// `any_of` is empty.
pub const NO_ALTERNATIVE: Code = Code("E0305");

pub(super) static CODES: &[CodeInfo] = &[
    CodeInfo {
        code: CPUS,
        title: "CPUs are whole, and at least one",
        explanation: "A task computes on as many threads as it is granted CPUs, and needs one \
            even to drive a GPU.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (cpus: 0.5, do: \"1\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (cpus: 1, do: \"1\")})",
    },
    CodeInfo {
        code: GPUS,
        title: "GPUs are whole, or a share below one",
        explanation: "A share divides the time of one device, in ten-thousandths. More than one \
            device is given whole, all on one node.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (gpus: 1.5, do: \"1\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (gpus: 2, do: \"1\")})",
    },
    CodeInfo {
        code: AMOUNT,
        title: "an amount of memory makes no sense",
        explanation: "Memory covers everything of a task; no task needs none. Left out, `memory` \
            is 2 GiB for each CPU and `vram` what the stage is found to need.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (memory: 0, do: \"1\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (memory: \"64 MiB\", do: \"1\")})",
    },
    CodeInfo {
        code: NO_GPU,
        title: "something of a GPU is asked for, but no GPU",
        explanation: "`vram` is memory of a GPU, `gpu_type` its model. Say how many with `gpus`; \
            `gpu_type` alone means one.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (vram: \"1 GiB\", do: \"1\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (gpus: 1, vram: \"1 GiB\", do: \"1\")})",
    },
    CodeInfo {
        code: NO_ALTERNATIVE,
        title: "`any_of` is empty",
        explanation: "A stage runs with one of the alternatives, so there must be one. Leave the \
            field out where there is no choice.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (any_of: [], do: \"1\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (cpus: 2, do: \"1\")})",
    },
];
