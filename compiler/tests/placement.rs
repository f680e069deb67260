//! Where ops go on which machines, with the arithmetic by hand.
//!
//! The reference CPU does 95 GFLOP/s in f32 and moves 12 GB/s per cpu; shares of the peak are
//! 0.8 for matmul, 0.15 for FFT, 0.5 for elementwise and 0.3 for the rest. A GPU reaches 0.8 on
//! large matrix products, 0.3 on the rest, and 0.9 of its bandwidth; a launch takes 5 us, a copy
//! 10 us before the first byte and, to the host, a launch more.

use crate::support::plans::try_plan;
use haul_ir::plan::{Plan, Side};

/// A stage of one formula on inputs given as `name: type`, with a GPU.
fn pipeline(cpus: u32, inputs: &[(&str, &str)], formula: &str) -> String {
    let input = |(name, ty): &(&str, &str)| {
        format!("\"{name}\": Npy(path: \"{name}.npy\", type: \"{ty}\"),")
    };
    let inputs: String = inputs.iter().map(input).collect();
    format!(
        "Pipeline(version: 1, inputs: {{{inputs}}}, stages: {{
            \"s\": (cpus: {cpus}, memory: \"64 GiB\", gpus: 1, do: \"{formula}\"),
        }}, outputs: {{\"o\": Npy(path: \"o.npy\", from: \"s\")}})"
    )
}

/// The plan of a pipeline that fits.
fn plan_on(target: &str, text: &str) -> Plan {
    match try_plan(target, text) {
        Ok(planned) => planned.plan,
        Err(errors) => panic!("{errors:?}\n{text}"),
    }
}

fn side_of(plan: &Plan, name: &str) -> Side {
    let groups = plan.typed.groups().ids();
    let mut named = groups.filter(|g| plan.typed.graph().ops[plan.typed.head(*g)].name == name);
    let group = named.next().unwrap_or_else(|| panic!("no group `{name}`"));
    plan.groups[group].placement.side
}

const MATMUL_8192: (&[(&str, &str)], &str) = (
    &[("a", "f32[8192, 8192]"), ("b", "f32[8192, 8192]")],
    "a @ b",
);
const MATMUL_256: (&[(&str, &str)], &str) =
    (&[("a", "f32[256, 256]"), ("b", "f32[256, 256]")], "a @ b");
const FFT: (&[(&str, &str)], &str) = (&[("x", "c64[4096, 4096]")], "fft2(x)");
const FFT_OF_F32: (&[(&str, &str)], &str) = (&[("x", "f32[4096, 4096]")], "fft2(x)");
const SUM: (&[(&str, &str)], &str) = (&[("x", "f32[536870912]")], "sum(x)");
/// exp counts 20.
const ELEMENTWISE_20: (&[(&str, &str)], &str) = (&[("x", "f32[536870912]")], "exp(x)");
const ELEMENTWISE_400: (&[(&str, &str)], &str) = (
    &[("x", "f32[536870912]")],
    "exp(exp(exp(exp(exp(exp(exp(exp(exp(exp(exp(exp(exp(exp(exp(exp(exp(exp(exp(exp(x))))))))))))))))))))",
);
const ELEMENTWISE_10K: (&[(&str, &str)], &str) = (&[("x", "f32[10000]")], "exp(x)");

const CARDS: [&str; 3] = ["a100", "l4", "h100-pcie"];

/// Milliseconds. CPU at 8 cpus = 760 GFLOP/s and 96 GB/s, at 1 cpu 95 GFLOP/s and 12 GB/s. The
/// link takes 25 GB/s of the A100 and the L4, 55 GB/s of the H100.
#[test]
fn six_rows() {
    use Side::{Cpu, Gpu};
    let rows = [
        // 2 * 8192^3 = 1.0995e12 flops: 1808 at 8 cpus. 268 MB three times over the link: 32.2
        // or 14.6, and at 0.8 of 19.5, 30.3, 51 TFLOP/s: 70.5, 45.4, 27.
        (MATMUL_8192, [Gpu; 3], [Gpu; 3]),
        // 5 * 4096^2 * 24 = 2.013e9 flops: 17.7 at 8 cpus. 134 MB twice: 10.7 or 4.9; computing
        // is at most 2 (on the L4: 537 MB in two passes at 270 GB/s).
        (FFT, [Gpu; 3], [Gpu; 3]),
        // As above with 67 MB to the device instead of 134, and a cast on either side.
        (FFT_OF_F32, [Gpu; 3], [Gpu; 3]),
        // 400 * 2^29 = 2.147e11 flops: 565 at 8 cpus. 2.15 GB twice: 172 or 78; at 0.3 of the
        // peak: 37, 24, 14.
        (ELEMENTWISE_400, [Gpu; 3], [Gpu; 3]),
        // 20 * 2^29 flops at 8 cpus: 28.3, but 4.29 GB at 96 GB/s: 44.7, less than 172 or 78. At
        // 1 cpu 358, more than that.
        (ELEMENTWISE_20, [Cpu; 3], [Gpu; 3]),
        // 2.15 GB: 22.4 at 96 GB/s, 179 at 12 GB/s. Over the link 85.9 or 38.8, and on the
        // device 1.2, 8, 1.2: at 1 cpu 2.1, 1.9 and 4.5 times faster.
        (SUM, [Cpu; 3], [Gpu; 3]),
        // 33.6e6 flops: 0.0552 at 8 cpus, 0.4415 at 1. Three copies of 262 kB: 0.0615 or 0.0442;
        // two launches: 0.010; at about 0.316 of the peak 0.0054, 0.0035, 0.0021.
        (MATMUL_256, [Cpu; 3], [Gpu; 3]),
        // 200 thousand flops: 0.0005 or 0.0042, 80 kB at 12 GB/s: 0.0067; two copies alone 0.02.
        (ELEMENTWISE_10K, [Cpu; 3], [Cpu; 3]),
    ];
    for ((inputs, formula), at_8, at_1) in rows {
        for (cpus, sides) in [(8, at_8), (1, at_1)] {
            for (card, side) in CARDS.iter().zip(sides) {
                let plan = plan_on(card, &pipeline(cpus, inputs, formula));
                assert_eq!(
                    side_of(&plan, "s"),
                    side,
                    "{formula} at {cpus} cpus on {card}"
                );
            }
        }
    }
}

#[test]
fn a_small_matmul_is_a_close_call_on_the_h100_only() {
    for (card, close) in [("a100", false), ("l4", false), ("h100-pcie", true)] {
        let plan = plan_on(card, &pipeline(8, MATMUL_256.0, MATMUL_256.1));
        let placement = &plan.groups.iter().next().unwrap().placement;
        assert_eq!(placement.close_call, close, "{card}: {placement:?}");
    }
}

#[test]
fn times_by_hand() {
    // CPU: 33554432 flops / (8 * 95e9 * 0.8) = 55188.2 ns; 786432 bytes / 96e9 = 8192 ns.
    // GPU: eff = 0.3 + 0.5 * 33554432 / (33554432 + 1e9) = 0.316233;
    //      33554432 / (51e12 * 0.316233) = 2080.5 ns; 786432 / (0.9 * 2e12) = 436.9 ns; launch 5000.
    // Copies: 10000 + 262144 / 55.4e9 = 14731.9, twice; 15000 + 262144 / 55.1e9 = 19757.6.
    // All: 5000 + 2080 + 2 * 14732 + 19758 = 56302 (2080.5 rounds to 2080 or 2081).
    let plan = plan_on("h100-pcie", &pipeline(8, MATMUL_256.0, MATMUL_256.1));
    let group = plan.groups.iter().next().unwrap();
    let (cpu, gpu) = (group.cpu.unwrap(), group.gpu.unwrap());
    assert_eq!((cpu.launch, cpu.compute, cpu.memory), (0, 55_188, 8_192));
    assert_eq!((gpu.launch, gpu.memory), (5_000, 437));
    assert!((2_080..=2_081).contains(&gpu.compute), "{gpu:?}");
    let regret = group.placement.regret.unwrap();
    assert!(
        (56_301 - 55_188..=56_303 - 55_188).contains(&regret),
        "{regret}"
    );
}

#[test]
fn a_sum_of_what_is_on_the_device_stays_there() {
    for card in CARDS {
        let plan = plan_on(card, &pipeline(8, MATMUL_8192.0, "m = a @ b\n sum(m)"));
        assert_eq!(
            (side_of(&plan, "m"), side_of(&plan, "s")),
            (Side::Gpu, Side::Gpu)
        );
        // Alone it would not go there (the table): the copy of 268 MB is what keeps it.
        let transfers = &plan.stages.iter().next().unwrap().transfers;
        let bytes: Vec<_> = transfers
            .iter()
            .map(|t| t.bytes.as_u64().unwrap())
            .collect();
        assert_eq!(bytes, [268_435_456, 268_435_456, 4], "{card}");
    }
}

#[test]
fn a_stage_without_a_gpu_is_on_cpus() {
    let text = pipeline(8, MATMUL_8192.0, MATMUL_8192.1).replace("gpus: 1, ", "");
    let plan = plan_on("a100", &text);
    assert_eq!(
        plan.groups.iter().next().unwrap().placement.reason.code(),
        "no_gpu_requested"
    );
}

#[test]
fn the_alternative_that_finishes_first_is_taken() {
    let choose = |size: u32, target: &str| {
        let ty = format!("f32[{size}, {size}]");
        let text = pipeline(1, &[("a", &ty), ("b", &ty)], "a @ b");
        let text = text.replace("gpus: 1,", "any_of: [(gpus: 1), (cpus: 32), (cpus: 2)],");
        plan_on(target, &text).stages.iter().next().unwrap().request
    };
    // 1808 * 8 / 32 = 452 ms on 32 cpus, 103 on the A100; there is none on `cpu`.
    assert_eq!(choose(8192, "a100"), 0);
    assert_eq!(choose(8192, "cpu"), 1);
    // 33.6e6 / (32 * 76e9) = 14 us on 32 cpus, against 61 us of copies.
    assert_eq!(choose(256, "a100"), 1);
}

#[test]
fn symbolic_sizes_flip_where_the_costs_cross() {
    let text = "Pipeline(version: 1, dims: {\"n\": (plan: 4096, max: 65536)},
        inputs: {\"x\": Npy(path: \"x.npy\", type: \"f32[n, n]\")},
        stages: {\"s\": (cpus: 8, memory: \"200 GiB\", gpus: 1, do: \"x @ x\")},
        outputs: {\"o\": Npy(path: \"o.npy\", from: \"s\")})";
    let plan = plan_on("a100", text);
    let placement = &plan.groups.iter().next().unwrap().placement;
    assert_eq!(placement.side, Side::Gpu);
    let flip = placement.flip.as_ref().unwrap();
    assert!(flip.below && flip.to == Side::Cpu, "{flip:?}");
    // At the flip the CPU is chosen, one above it the GPU, when planned there.
    for (n, side) in [(flip.at, Side::Cpu), (flip.at + 1, Side::Gpu)] {
        let there = plan_on("a100", &text.replace("plan: 4096", &format!("plan: {n}")));
        assert_eq!(side_of(&there, "s"), side, "n = {n}");
    }
    // 2n^3 / 608e9 s against 25 us of copies' starts, 10 us of launches, 8n^2 / 25e9 s and about
    // 2n^3 / 7e12 s: at 256 it is 55.2 to 30 + 21 + 5, at 300 88.8 to 30 + 29 + 8.
    assert!((240..300).contains(&flip.at), "{flip:?}");
}

#[test]
fn pins_are_honoured_or_refused() {
    let pinned = pipeline(8, SUM.0, SUM.1).replace("gpus: 1,", "gpus: 1, place: Gpu,");
    let plan = plan_on("a100", &pinned);
    assert_eq!(side_of(&plan, "s"), Side::Gpu);
    assert_eq!(
        plan.groups.iter().next().unwrap().placement.reason.code(),
        "pinned_by_author"
    );
    let without = pinned.replace("gpus: 1,", "");
    let errors = try_plan("a100", &without).unwrap_err();
    assert_eq!(errors[0].code.0, "E0311");
    assert!(errors[0].message.contains("requests no GPU"), "{errors:?}");
}

#[test]
fn memory_is_what_is_held_at_once() {
    // MiB of f32[n] with n = 262144. x stays to the end; when `s` is made there are x, b and s.
    let text = pipeline(
        1,
        &[("x", "f32[512, 512]")],
        "a = x @ x\n b = a @ a\n b @ b",
    );
    let plan = plan_on("cpu", &text.replace("gpus: 1,", ""));
    let stage = plan.stages.iter().next().unwrap();
    assert_eq!(stage.peak_memory.as_u64(), Some(3 << 20));
    assert_eq!(stage.peak_vram.as_u64(), Some(0));
    // On the device: x is needed for `a` only; at any time two of x, a, b, s are.
    let pinned = text.replace("gpus: 1,", "gpus: 1, place: Gpu,");
    let plan = plan_on("a100", &pinned);
    let stage = plan.stages.iter().next().unwrap();
    assert_eq!(stage.peak_vram.as_u64(), Some(2 << 20));
    // The host holds x and, when it is made, the result.
    assert_eq!(stage.peak_memory.as_u64(), Some(2 << 20));
}

/// A node of `cpu` has 64 cpus, 256 GiB and 200 GB/s, of which one cpu moves 12. A task reads 1 GiB
/// and the 4 bytes of the 1, and writes 1 GiB.
#[test]
fn tasks_side_by_side_share_the_memory_bandwidth_of_their_node() {
    let one = |count: u32, request: &str| {
        let text = format!(
            "Pipeline(version: 1,
                inputs: {{\"xs\": Split(of: Npy(path: \"x.npy\",
                    type: \"f32[{count}, 16384, 16384]\"), axis: 0, size: 1)}},
                stages: {{\"s\": (each: \"xs\", {request}, do: \"xs + 1\")}},
                outputs: {{\"o\": Npy(path: \"o{{item}}.npy\", from: \"s\")}})"
        );
        let plan = plan_on("cpu", &text);
        let stage = plan.stages.iter().next().unwrap();
        (stage.time.unwrap(), plan.estimates.makespan.unwrap())
    };
    // 2^31 + 4 bytes at 12 GB/s: four tasks do not use up what the node has.
    let alone = 178_956_971;
    assert_eq!(one(1, "memory: \"3 GiB\""), (alone, alone));
    assert_eq!(one(4, "memory: \"3 GiB\""), (alone, alone));
    // 64 tasks at once, each at 200 / 64 = 3.125 GB/s; 128 in two waves.
    let shared = 687_194_769;
    assert_eq!(one(64, "memory: \"3 GiB\""), (shared, shared));
    assert_eq!(one(128, "memory: \"3 GiB\""), (shared, 2 * shared));
    // Eight at once, each at 25 GB/s and not at 96; 64 in eight waves.
    let of_eight = 85_899_346;
    let request = "cpus: 8, memory: \"3 GiB\"";
    assert_eq!(one(64, request), (of_eight, 8 * of_eight));
    // Two at once for want of memory, each at its own 12 GB/s.
    assert_eq!(one(4, "memory: \"100 GiB\""), (alone, 2 * alone));
}
