//! W0301 to W0319: what wastes the machines of a target.

use haul_ir::diagnostic::Code;

use super::CodeInfo;

/// A GPU is requested and not used.
pub const IDLE_GPU: Code = Code("W0301");
/// A GPU would pay and is not requested.
pub const NO_GPU_REQUESTED: Code = Code("W0302");
/// The run would end sooner with every op on CPUs.
pub const SOONER_ON_CPUS: Code = Code("W0303");
/// More CPUs are requested than the work can use.
pub const IDLE_CPUS: Code = Code("W0304");
/// More CPUs than are requested would pay.
pub const FEW_CPUS: Code = Code("W0305");
/// A share of a GPU is requested, and its memory is neither said nor known.
pub const UNKNOWN_VRAM: Code = Code("W0306");
/// Shares of a GPU let more tasks onto it than its memory holds.
pub const CROWDED_VRAM: Code = Code("W0307");
/// Several GPUs are requested where one is used.
pub const SEVERAL_GPUS: Code = Code("W0308");
/// Far more memory is requested than is needed.
pub const IDLE_MEMORY: Code = Code("W0309");
/// A value leaves the GPU and comes back.
pub const DETOUR: Code = Code("W0310");
/// Starting a task takes longer than the task.
pub const SMALL_TASKS: Code = Code("W0311");
/// An alternative asks for a type of GPU that is not known.
pub const UNKNOWN_GPU: Code = Code("W0312");

pub(super) static WARNINGS: &[CodeInfo] = &[
    CodeInfo {
        code: IDLE_GPU,
        title: "a GPU is requested and not used",
        explanation: "Moving the data would take longer than the GPU saves, so that everything in \
            the stage runs on CPUs while the GPU is held for it. However short that is, it is \
            said. Where the time of the stage is unknown, only if no size brings anything in it to \
            a GPU: without a kernel, on text or files, or pinned to CPUs. Where only a `vram` below \
            what its ops need keeps them off, the edit is the memory that they need.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (gpus: 1, do: \"1\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (do: \"1\")})",
    },
    CodeInfo {
        code: NO_GPU_REQUESTED,
        title: "a GPU would pay and is not requested",
        explanation: "The target has a GPU with which the stage would be done 25 % and 0.1 s \
            sooner or more, transfers included, and the run no later. Hardware is never taken \
            unasked: request it, or ignore this.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"x.npy\", type: \
            \"f32[8192, 8192]\")}, stages: {\"a\": (cpus: 8, do: \"x @ x\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"x.npy\", type: \
            \"f32[8192, 8192]\")}, stages: {\"a\": (cpus: 8, gpus: 1, do: \"x @ x\")})",
    },
    CodeInfo {
        code: SOONER_ON_CPUS,
        title: "the run would end sooner with every op on CPUs",
        explanation: "Each task is faster on a GPU, but there are fewer GPUs than CPUs, and so \
            many tasks that they wait for each other: 0.1 s or more. Not said where no task of a \
            stage on a GPU waits.",
        wrong: "a thousand small tasks that each request the one GPU there is",
        right: "the same on CPUs, or with `gpus: 0.1`",
    },
    CodeInfo {
        code: IDLE_CPUS,
        title: "more cpus are requested than the work can use",
        explanation: "Work that only moves data is bound by the memory of the node, which a few \
            cpus keep busy, and work on a GPU needs one. With the smallest number of cpus at which \
            a task takes at most 3 % longer, a quarter of them or more would be free for other \
            tasks, for 1 s of CPU time of all tasks together or more.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"x.npy\", type: \
            \"f64[32768, 32768]\")}, stages: {\"a\": (cpus: 64, do: \"sum(x)\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"x.npy\", type: \
            \"f64[32768, 32768]\")}, stages: {\"a\": (cpus: 17, do: \"sum(x)\")})",
    },
    CodeInfo {
        code: FEW_CPUS,
        title: "more cpus would pay and are not requested",
        explanation: "With more cpus for each task, all tasks of the stage would be done 25 % \
            and 0.1 s sooner or more, and the run 3 % and 0.1 s sooner or more. Not said of \
            tasks that keep all cpus busy together, nor with `any_of`, nor where a GPU would pay \
            more (W0302).",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"x.npy\", type: \
            \"f64[32768, 32768]\")}, stages: {\"a\": (cpus: 2, memory: \"16 GiB\", do: \"sum(x)\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"x.npy\", type: \
            \"f64[32768, 32768]\")}, stages: {\"a\": (cpus: 17, memory: \"16 GiB\", do: \"sum(x)\")})",
    },
    CodeInfo {
        code: UNKNOWN_VRAM,
        title: "a share of a GPU without a known share of its memory",
        explanation: "A share divides the time of a device, not its memory. Where neither `vram` \
            nor the sizes say how much a task needs, it holds all of it, and no other task finds \
            room beside it.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"x.npy\", type: \"f32[n, n]\")}, \
            stages: {\"a\": (gpus: 0.25, do: \"x @ x\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"x.npy\", type: \"f32[n, n]\")}, \
            stages: {\"a\": (gpus: 0.25, vram: \"20 GB\", do: \"x @ x\")})",
    },
    CodeInfo {
        code: CROWDED_VRAM,
        title: "shares of a GPU need more memory than it has",
        explanation: "A share divides the time of a device, not its memory. So many tasks as the \
            share lets onto a device need more memory together than it has, so that fewer run at a \
            time, each with the time of its share only; or two stages that do not wait for each \
            other do. Of each kind of GPU the first 64 stages with a share are compared.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Files(glob: \"*.npy\", plan: 100, type: \
            \"f32[8192, 8192]\")}, stages: {\"a\": (each: \"x\", gpus: 0.25, vram: \"30 GB\", do: \"x @ x\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Files(glob: \"*.npy\", plan: 100, type: \
            \"f32[8192, 8192]\")}, stages: {\"a\": (each: \"x\", gpus: 0.5, vram: \"30 GB\", do: \"x @ x\")})",
    },
    CodeInfo {
        code: SEVERAL_GPUS,
        title: "several GPUs are requested where one is used",
        explanation: "All resources of a task are on one node, and each op runs on one device: no \
            op divides its work over two. Independent work over several GPUs is a stage that runs \
            over items, with `each`.",
        wrong: "a stage with `gpus: 2`",
        right: "the same with `gpus: 1`, and with `each` where there are items",
    },
    CodeInfo {
        code: IDLE_MEMORY,
        title: "far more memory is requested than is needed",
        explanation: "A task asks for eight times the memory that it needs at the largest sizes, \
            and for 4 GiB more than the default, so that a node holds fewer tasks at a time. Not \
            said of stages that read text, whose length only the data knows.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"x.npy\", type: \
            \"f32[1024, 1024]\")}, stages: {\"a\": (memory: \"200 GiB\", do: \"x + 1\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"x.npy\", type: \
            \"f32[1024, 1024]\")}, stages: {\"a\": (do: \"x + 1\")})",
    },
    CodeInfo {
        code: DETOUR,
        title: "a value leaves the GPU and comes back",
        explanation: "An op between ops on the GPU is pinned to CPUs or has no GPU kernel, or one \
            stage ends on a GPU and the next begins there: between stages values go through the \
            host. Said where both copies take 3 % of a task or more, and 0.1 s of all tasks.",
        wrong: "Pipeline(version: 1, inputs: {\"x\": Files(glob: \"*.npy\", plan: 100, type: \
            \"f32[4096, 4096]\")}, stages: {\"a\": (each: \"x\", gpus: 1, \
            place: {\"b\": Cpu}, do: \"a = x @ x\\nb = exp(a)\\nb @ b\")})",
        right: "Pipeline(version: 1, inputs: {\"x\": Files(glob: \"*.npy\", plan: 100, type: \
            \"f32[4096, 4096]\")}, stages: {\"a\": (each: \"x\", gpus: 1, \
            do: \"a = x @ x\\nb = exp(a)\\nb @ b\")})",
    },
    CodeInfo {
        code: SMALL_TASKS,
        title: "starting a task takes longer than the task",
        explanation: "A task that is over in less than 100 us takes longer to start than to \
            compute, and 1,000 of them waste 0.1 s. What starting a task costs is a choice, not a \
            measurement: it is less on one machine and more on an engine of many. Larger slices \
            change what a task sees, so that only the author can say whether the formula allows \
            them: no edit is made for it. Not said of slices of which larger ones would leave nodes \
            without a task.",
        wrong: "Pipeline(version: 1, inputs: {\"rows\": Split(of: Npy(path: \"x.npy\", type: \
            \"f32[100000, 8]\"), size: 1)}, stages: {\"a\": (each: \"rows\", do: \"rows * 2\")})",
        right: "Pipeline(version: 1, inputs: {\"rows\": Split(of: Npy(path: \"x.npy\", type: \
            \"f32[100000, 8]\"), size: 1000)}, stages: {\"a\": (each: \"rows\", do: \"rows * 2\")})",
    },
    CodeInfo {
        code: UNKNOWN_GPU,
        title: "an alternative asks for a type of GPU that is not known",
        explanation: "Neither the target nor the library has the type, so that this alternative is \
            never granted while another one is: perhaps it is misspelt. A type of your own is \
            known on a target that has it.",
        wrong: "Pipeline(version: 1, stages: {\"a\": (any_of: [(gpu_type: \"H20O\"), \
            (cpus: 2)], do: \"1\")})",
        right: "Pipeline(version: 1, stages: {\"a\": (any_of: [(gpu_type: \"H200\"), \
            (cpus: 2)], do: \"1\")})",
    },
];
