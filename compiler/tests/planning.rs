//! Plans as a whole: times, prices, waiting, what is unknown. Numbers by hand.

use crate::support::plans::try_plan;
use haul_compiler::diagnostics::codes::codes;
use haul_compiler::render::{self, Colour};
use haul_compiler::saved::SavedPlan;
use haul_compiler::{Facts, Outcome, Verdict, check, plan, target};
use haul_ir::diagnostic::Diagnostic;
use haul_ir::id::Id;
use haul_ir::plan::{Feasibility, Plan, Reason, StagePlan};
use haul_ir::target::Target;

/// `2 * 8192^3 / (8 * 95e9 * 0.8)` seconds: a product of 8192 x 8192 at 8 cpus.
const PRODUCT: u64 = 1_808_407_283;

fn plan_on(target: &str, text: &str) -> Plan {
    try_plan(target, text).map(|planned| planned.plan).unwrap()
}

fn stage(plan: &Plan, position: usize) -> &StagePlan {
    &plan.stages[Id::from_index(position)]
}

/// Stages that each multiply `x` with itself, and what they ask for.
fn products(requests: &[&str]) -> String {
    let stages = requests.iter().enumerate();
    let stages = stages.map(|(i, request)| format!("\"s{i}\": ({request}, do: \"x @ x\"),"));
    let outputs =
        (0..requests.len()).map(|i| format!("\"o{i}\": Npy(path: \"{i}.npy\", from: \"s{i}\"),"));
    format!(
        "Pipeline(version: 1, inputs: {{\"x\": Npy(path: \"x.npy\", type: \"f32[8192, 8192]\")}},
            stages: {{{}}}, outputs: {{{}}})",
        stages.collect::<String>(),
        outputs.collect::<String>()
    )
}

#[test]
fn one_task_takes_its_time_and_costs_its_node() {
    let plan = plan_on("a100", &products(&["cpus: 8, memory: \"4 GiB\""]));
    assert_eq!(stage(&plan, 0).time, Some(PRODUCT));
    assert_eq!(stage(&plan, 0).time_on_cpu, Some(PRODUCT));
    let estimates = &plan.estimates;
    assert_eq!(
        (estimates.makespan, estimates.serial),
        (Some(PRODUCT), Some(PRODUCT))
    );
    // 1.39 USD/h * 1.808407283 s / 3600 s = 698,246.1 billionths.
    assert_eq!(estimates.nano_usd, Some(698_246));
    // Nothing is known of what a `t4` node costs.
    let plan = plan_on("t4", &products(&["cpus: 8, memory: \"4 GiB\""]));
    assert_eq!(plan.estimates.nano_usd, None);
}

#[test]
fn each_gpu_is_held_and_busy_for_its_own_tasks() {
    // `a` holds two GPUs and computes on the first; `b`, of an eighth of its work, and after it `c`
    // are on the third, as the first two are held until the end; the fourth is idle.
    let text = "Pipeline(version: 1,
        inputs: {
            \"x\": Npy(path: \"x.npy\", type: \"f32[8192, 8192]\"),
            \"y\": Npy(path: \"y.npy\", type: \"f32[4096, 4096]\"),
        },
        stages: {
            \"a\": (gpus: 2, do: \"x @ x\"),
            \"b\": (gpus: 1, do: \"y @ y\"),
            \"c\": (gpus: 1, do: \"b @ y\"),
        },
        outputs: {
            \"a\": Npy(path: \"a.npy\", from: \"a\"),
            \"c\": Npy(path: \"c.npy\", from: \"c\"),
        })";
    let plan = plan_on("a100x4", text);
    let [a, b, c] = [0, 1, 2].map(|at| stage(&plan, at).time.expect("a time"));
    assert!(b + c < a && plan.estimates.makespan == Some(a));
    // Two inputs up and a result down are copied for `b` and `c`, all of it on the GPU.
    let third = u32::try_from(((b + c) * 1000 + a / 2) / a).expect("a share");
    let json = SavedPlan::of(&plan).json();
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    let used = json["estimates"]["utilisation"].as_array().expect("a list");
    let gpus = used.iter().find(|used| used["gpu"] == "A100-80GB");
    let each = gpus.expect("the GPUs")["each"].as_array().expect("a list");
    let each: Vec<_> = each
        .iter()
        .map(|gpu| ["machine", "device", "held", "busy"].map(|name| gpu[name].as_u64()))
        .collect();
    let expected = [
        [1, 1, 1000, 1000],
        [1, 2, 1000, 0],
        [1, 3, third.into(), third.into()],
        [1, 4, 0, 0],
    ];
    assert_eq!(each, expected.map(|gpu| gpu.map(Some)));
}

/// 64 tasks that read and write 1 GiB each, 32 at once by their memory: 2^37 bytes at the 200 GB/s
/// of the node, also where on GPUs they would go one by one.
#[test]
fn all_on_cpu_shares_the_bandwidth_of_the_node() {
    let plan = plan_on(
        "a100",
        "Pipeline(version: 1,
            inputs: {\"xs\": Split(of: Npy(path: \"x.npy\", type: \"f32[64, 16384, 16384]\"), size: 1)},
            stages: {\"m\": (each: \"xs\", gpus: 1, memory: \"8 GiB\", do: \"exp(xs) + xs\")},
            outputs: {\"y\": Npy(path: \"o{item}.npy\", from: \"m\")})",
    );
    let all_on_cpu = plan.estimates.all_on_cpu.expect("it is known");
    assert!(all_on_cpu.abs_diff((1 << 37) / 200) <= 2, "{all_on_cpu}");
}

/// No time stands in for one that cannot be: an op that its author places on a GPU, and a product of
/// which the memory holds the result alone, which is made on the device.
#[test]
fn all_on_cpu_is_impossible_where_a_stage_cannot_be_there() {
    let text = |stage: &str| {
        format!(
            "Pipeline(version: 1, inputs: {{\"x\": Npy(path: \"x.npy\", type: \"f32[8192, 8192]\")}},
                stages: {{\"s\": (gpus: 1, {stage})}},
                outputs: {{\"o\": Npy(path: \"o.npy\", from: \"s\")}})"
        )
    };
    // 256 MiB each: x and two products are 768 MiB on CPUs.
    for stage in [
        "place: Gpu, do: \"x @ x\"",
        "memory: \"600 MiB\", do: \"x @ x @ x\"",
    ] {
        let plan = plan_on("a100", &text(stage));
        assert!(plan.estimates.makespan.is_some());
        assert_eq!(plan.estimates.all_on_cpu, None, "{stage}");
        let page = render::text(&plan, Colour::Plain);
        assert!(page.contains("; all on cpu impossible;"), "{page}");
        assert!(render::html(&plan, None).contains("<dt>all on cpu</dt><dd>impossible<"));
        let kept = SavedPlan::of(&plan);
        assert!(kept.snapshot().contains("  all on cpu impossible\n"));
        let read = SavedPlan::read(&kept.snapshot()).expect("it is read back");
        assert_eq!(read.snapshot(), kept.snapshot());
    }
}

#[test]
fn whoever_finds_no_room_waits() {
    // Of 256 GiB, 200 and 50 fit at once, and another 50 does not.
    let request = |gib: u32| format!("cpus: 8, memory: \"{gib} GiB\"");
    let plan = plan_on(
        "cpu",
        &products(&[&request(200), &request(50), &request(50)]),
    );
    assert_eq!(stage(&plan, 1).feasibility, Feasibility::Fits);
    // Both others end at the same time; the last to be noted is the second.
    let Feasibility::Waits { time, behind } = &stage(&plan, 2).feasibility else {
        panic!("{:?}", stage(&plan, 2).feasibility);
    };
    assert_eq!((*time, behind.as_str()), (PRODUCT, "s1"));
    assert_eq!(plan.estimates.makespan, Some(2 * PRODUCT));
    assert_eq!(plan.estimates.serial, Some(3 * PRODUCT));
}

#[test]
fn fan_outs_run_in_waves_and_gathers_wait() {
    let text = |plan: &str| {
        format!(
        "Pipeline(version: 1, inputs: {{\"f\": Files(glob: \"*.npy\"{plan}, type: \"f32[512, 512]\")}},
            stages: {{\"p\": (each: \"f\", do: \"f @ f\"), \"all\": (do: \"gather(p)\")}},
            outputs: {{\"o\": Npy(path: \"o.npy\", from: \"all\")}})"
    )
    };
    // 2 * 512^3 / 76e9 s = 3532045.5 ns on one cpu; 100 on 64 cpus (and 256 GiB by 2) take two
    // waves. The gather moves 100 MiB twice at 12 GB/s: 17476266.7 ns.
    let plan = plan_on("cpu", &text(", plan: 100"));
    let product = stage(&plan, 0).time.unwrap();
    let gather = stage(&plan, 1).time.unwrap();
    assert!((3_532_045..=3_532_046).contains(&product), "{product}");
    assert_eq!(gather, 17_476_267);
    assert_eq!(plan.estimates.makespan, Some(2 * product + gather));
    assert_eq!(plan.estimates.serial, Some(100 * product + gather));
    assert_eq!(stage(&plan, 0).tasks.to_string(), "f");

    // Without a number of files the tasks have times, and the run has none.
    let plan = plan_on("cpu", &text(""));
    assert_eq!(stage(&plan, 0).time, Some(product));
    assert_eq!(plan.estimates.makespan, None);
}

#[test]
fn what_is_unknown_is_on_cpus_and_says_so() {
    let text = "Pipeline(version: 1, inputs: {
            \"x\": Npy(path: \"x.npy\", type: \"f32[n, n]\"),
            \"files\": Files(glob: \"*.csv\", plan: 3),
        }, stages: {
            \"product\": (gpus: 1, do: \"x @ x\"),
            \"parsed\": (each: \"files\", gpus: 1, do: \"parse_csv(files, type='f32[8, 8]')\"),
            \"all\": (gpus: 1, do: \"gather(parsed)\"),
        }, outputs: {
            \"a\": Npy(path: \"a.npy\", from: \"product\"), \"b\": Npy(path: \"b.npy\", from: \"all\"),
        })";
    let plan = plan_on("a100", text);
    let reasons: Vec<_> = plan
        .groups
        .iter()
        .map(|group| group.placement.reason.code())
        .collect();
    assert_eq!(reasons, ["unknown_work", "not_array_work", "no_gpu_kernel"]);
    assert_eq!((stage(&plan, 0).time, stage(&plan, 1).time), (None, None));
    // Only the gather is known: 768 bytes in and out at 12 GB/s.
    assert_eq!(plan.estimates.serial, Some(128));
    // So is not which part of the makespan a device is held.
    let used = &plan.estimates.utilisation;
    assert!(used.iter().any(|used| used.gpu.is_some()));
    assert!(
        used.iter()
            .all(|used| (used.held, used.busy) == (None, None))
    );
    let kept = SavedPlan::of(&plan);
    assert!(
        kept.snapshot()
            .contains(" A100-80GB held unknown busy unknown\n")
    );
    assert!(render::text(&plan, Colour::Plain).contains("held unknown, busy unknown\n"));
    assert!(render::html(&plan, None).contains("held unknown, busy unknown<"));
    assert_eq!(
        SavedPlan::read(&kept.snapshot())
            .expect("a plan")
            .snapshot(),
        kept.snapshot()
    );
    // Memory is known all the same, in n: x and the product.
    assert_eq!(stage(&plan, 0).peak_memory.to_string(), "8*n*n");
}

/// The product holds the GPU for all of a makespan that the parse, on CPUs only, can make longer: of
/// what the device is held, at most all.
#[test]
fn a_device_that_only_known_times_hold_is_held_at_most_so_much() {
    let text = "Pipeline(version: 1, inputs: {
            \"x\": Npy(path: \"x.npy\", type: \"f32[8192, 8192]\"),
            \"files\": Files(glob: \"*.csv\", plan: 3),
        }, stages: {
            \"product\": (gpus: 1, do: \"x @ x\"),
            \"parsed\": (each: \"files\", do: \"parse_csv(files, type='f32[8, 8]')\"),
        }, outputs: {
            \"a\": Npy(path: \"a.npy\", from: \"product\"),
            \"b\": Npy(path: \"b{item}.npy\", from: \"parsed\"),
        })";
    let plan = plan_on("a100", text);
    let used = plan.estimates.utilisation.iter();
    let used: Vec<_> = used.map(|used| (used.held, used.busy)).collect();
    assert_eq!(used, [(None, None), (Some(1000), Some(1000))]);
    let page = render::text(&plan, Colour::Plain);
    let at_most = "held at most 100 %, busy at most 100 %";
    assert!(page.contains(at_most), "{page}");
    assert!(render::html(&plan, None).contains(at_most));
    let kept = SavedPlan::of(&plan).snapshot();
    assert!(kept.contains(" A100-80GB held at most 100.0 % busy at most 100.0 %\n"));
    assert_eq!(SavedPlan::read(&kept).expect("a plan").snapshot(), kept);
}

/// At least 0 ns, and 0 USD, is said of nothing.
#[test]
fn where_every_time_is_unknown_so_is_the_run() {
    let plan = plan_on(
        "a100",
        "Pipeline(version: 1, inputs: {\"files\": Files(glob: \"*.csv\", plan: 3)},
            stages: {\"parsed\": (each: \"files\", do: \"parse_csv(files, type='f32[8, 8]')\")},
            outputs: {\"o\": Npy(path: \"o{item}.npy\", from: \"parsed\")})",
    );
    let estimates = &plan.estimates;
    assert_eq!((estimates.makespan, estimates.serial), (None, None));
    assert_eq!((estimates.all_on_cpu, estimates.nano_usd), (None, None));
    let text = render::text(&plan, Colour::Plain);
    assert!(text.contains("makespan unknown; "), "{text}");
    assert!(text.contains("price unknown"), "{text}");
}

#[test]
fn reasons_carry_the_numbers_that_decided() {
    let text = |formula: &str| {
        format!(
        "Pipeline(version: 1, inputs: {{\"x\": Npy(path: \"x.npy\", type: \"f32[4096, 4096]\")}},
            stages: {{\"s\": (cpus: 8, gpus: 1, do: \"{formula}\")}},
            outputs: {{\"o\": Npy(path: \"o.npy\", from: \"s\")}})"
    )
    };
    let reasons = |formula: &str| -> Vec<Reason> {
        let plan = plan_on("a100", &text(formula));
        plan.groups
            .iter()
            .map(|group| group.placement.reason.clone())
            .collect()
    };
    // 64 MiB at 25 GB/s: 2684355 ns and 10 us, and back a launch more. A sum moves 64 MiB at 96
    // GB/s: 699051 ns, and on the device at 1835.1 GB/s 36570, with the launch 41570.
    let low = Reason::LowIntensity {
        saved: 699_051 - 41_570,
        added: 2_694_355 + 15_000,
    };
    assert_eq!(reasons("sum(x)"), [low]);
    // Alone on the device, a product: 2 * 4096^3 / 608e9 s less 2 * 4096^3 / 15.5e12 s.
    let [Reason::CheaperOnGpu { saved, added }] = reasons("x @ x")[..] else {
        panic!("{:?}", reasons("x @ x"));
    };
    assert_eq!(added, 2_694_355 + 2_699_355);
    assert!((216_000_000..218_000_000).contains(&saved), "{saved}");
    // A sum of it: keeping it there saves the copy of 64 MiB to the host, less one of 4 bytes.
    let all = reasons("m = x @ x\n sum(m)");
    assert_eq!(
        all[1],
        Reason::KeepsDataOnGpu {
            saved: 2_699_355 - 15_000,
            added: 0
        }
    );
    // A sum of what a product needs there as well.
    let all = reasons("m = x @ x\n stack(sum(m), sum(x))");
    assert!(
        all.iter()
            .any(|reason| matches!(reason, Reason::InputAlreadyMovedFor { op, .. } if op == "m")),
        "{all:?}"
    );
    // 20 flops for each of 100 elements take no launch.
    let small = reasons("exp(x[:10, :10])");
    assert!(
        matches!(
            small.last(),
            Some(Reason::LaunchBound { launch: 5_000, .. })
        ),
        "{small:?}"
    );
}

#[test]
fn a_shared_input_is_moved_for_its_first_reader() {
    let text = "Pipeline(version: 1, inputs: {\"x\": Npy(path: \"x.npy\", type: \"f32[4096, 4096]\")},
            stages: {\"s\": (cpus: 3, gpus: 1, do: \"a = sum(x)\\n max(x)\")},
            outputs: {\"a\": Npy(path: \"a.npy\", from: \"s.a\"), \"b\": Npy(path: \"b.npy\", from: \"s\")})";
    let plan = plan_on("a100", text);
    let reasons = plan.groups.iter().map(|group| &group.placement.reason);
    // At 36 GB/s a reduction of 64 MiB takes 1864135 ns, on the device 41570: neither pays for the
    // 2694355 ns of moving them, both do. Each brings its own 4 bytes back, 15 us.
    let [
        Reason::CheaperOnGpu {
            saved,
            added: 15_000,
        },
        Reason::InputAlreadyMovedFor {
            op,
            saved: also_saved,
            added: 15_000,
        },
    ] = reasons.collect::<Vec<_>>()[..]
    else {
        panic!("{:?}", plan.groups);
    };
    assert_eq!(op, "a");
    assert!((1_822_564..=1_822_567).contains(saved), "{saved}");
    assert_eq!(saved, also_saved);
}

#[test]
fn shares_of_a_gpu_hold_the_memory_that_they_need() {
    // 16 products on 4 devices of 80 GB. Whole devices: 4 waves.
    let request = |n: u64, memory: &str| {
        let text = format!(
            "Pipeline(version: 1,
            inputs: {{\"f\": Files(glob: \"*.npy\", plan: 16, type: \"f32[{n}, {n}]\")}},
            stages: {{\"p\": (each: \"f\", memory: \"{memory}\",
                any_of: [(gpus: 1), (gpus: 0.25)], do: \"f @ f\")}},
            outputs: {{\"o\": Npy(path: \"{{item}}.npy\", from: \"p\")}})"
        );
        stage(&plan_on("a100x4", &text), 0).request
    };
    // Two matrices of 6.4 GB: four quarters fit a device, 16 tasks are one wave.
    assert_eq!(request(40_000, "13 GB"), 1);
    // Two of 25.6 GB: one task at a time fits, though the host has room for ten.
    assert_eq!(request(80_000, "52 GB"), 0);
}

#[test]
fn many_stages_that_ask_for_different_memory_are_planned() {
    let requests: Vec<_> = (0..10_000)
        .map(|extra| format!("cpus: 40, memory: {}", (1u64 << 32) + extra))
        .collect();
    let requests: Vec<_> = requests.iter().map(String::as_str).collect();
    let plan = plan_on("cpu", &products(&requests));
    // Of 64 cpus each takes 40: one after the other.
    assert_eq!(plan.estimates.makespan, plan.estimates.serial);
}

#[test]
fn extreme_sizes_are_planned_or_refused() {
    let numbers = ["1", "3", "4294967295", "9223372036854775807"];
    let shares = ["1", "0.0001", "3", "200000"];
    for n in numbers {
        for (cpus, gpus) in numbers.iter().zip(shares) {
            let text = format!(
                "Pipeline(version: 1, dims: {{\"n\": (plan: {n}, max: {n})}},
                    inputs: {{\"x\": Npy(path: \"x.npy\", type: \"f32[n]\"),
                        \"f\": Files(glob: \"*.npy\", plan: {n}, type: \"f64[n]\")}},
                    stages: {{
                        \"a\": (gpus: {gpus}, memory: \"1 TB\", do: \"x + exp(x) - sum(x)\"),
                        \"b\": (each: \"f\", any_of: [(cpus: 1), (gpus: {gpus})], do: \"f + sum(f)\"),
                        \"c\": (cpus: {cpus}, do: \"gather(b)\"),
                    }}, outputs: {{\"a\": Npy(path: \"a.npy\", from: \"a\"),
                        \"c\": Npy(path: \"c.npy\", from: \"c\")}})"
            );
            let checked = check(&text, haul_kernels::catalogue(), &Facts::default());
            let Some(typed) = checked.typed else {
                assert!(!checked.diagnostics.is_empty());
                continue;
            };
            for (_, target) in target::library() {
                match plan(typed.clone(), &target, "p", "p.ron", &checked.places) {
                    Ok(planned) => assert_eq!(planned.plan.stages.len(), 3),
                    Err(refused) => {
                        assert!(!refused.mistakes.is_empty());
                        assert_eq!(refused.verdicts.len(), 3);
                    }
                }
            }
        }
    }
}

#[test]
fn examples_of_codes_have_the_mistake() {
    let of_plan = |name: &str| ("E0310".."E0320").contains(&name) || name.starts_with("W03");
    let infos = codes().filter(|info| of_plan(info.code.0) && info.wrong.starts_with("Pipeline("));
    let found = |text: &str| match try_plan("a100", text) {
        Ok(planned) => planned.warnings,
        Err(errors) => errors,
    };
    for info in infos {
        let wrong = found(info.wrong);
        assert!(
            wrong.iter().any(|d| d.code == info.code),
            "{}: {wrong:?}",
            info.code
        );
        assert_eq!(found(info.right), [], "{}", info.code);
    }
}

#[test]
fn a_share_of_a_gpu_computes_and_moves_at_its_share() {
    let text = |gpus: &str| products(&[&format!("gpus: {gpus}, memory: \"4 GiB\", place: Gpu")]);
    // 256 MiB to the device at 25 GB/s, 10,737,418.24 ns and 10 us; as much back and a launch of 5
    // us more; 2 * 8192^3 at 19.5 TFLOP/s, of which large products reach 0.8 (0.30 and 0.50 *
    // 1099.5 / 1100.5 more), and a launch.
    let whole = stage(&plan_on("a100", &text("1")), 0).time.unwrap();
    let starts = 10_000 + 15_000 + 5_000;
    let reached = 0.3 + 0.5 * (1_099.511_627_776 / 1_100.511_627_776);
    let computing = 1_099_511_627_776.0 / (19.5e12 * reached) * 1e9;
    let moving = 2.0 * 268_435_456.0 / 25.0;
    let expected = starts as f64 + computing + moving;
    assert!((whole as f64 - expected).abs() < 5.0, "{whole} {expected}");
    // A quarter: four times as long, but for what takes no part of the device.
    let quarter = stage(&plan_on("a100", &text("0.25")), 0).time.unwrap();
    let expected = starts as f64 + 4.0 * (computing + moving);
    assert!(
        (quarter as f64 - expected).abs() < 5.0,
        "{quarter} {expected}"
    );
}

#[test]
fn a_gpu_that_nothing_pays_for_costs_time_and_money() {
    let mixed = include_str!("../../pipelines/mixed.ron");
    let greedy = mixed
        .replace(
            "cpus: 2, do: \"parse_csv",
            "cpus: 2, gpus: 1, do: \"parse_csv",
        )
        .replace(
            "any_of: [(gpus: 1, gpu_type: \"A100-80GB\", vram: \"1 GiB\"), (cpus: 2)],",
            "gpus: 1, gpu_type: \"A100-80GB\", vram: \"1 GiB\",",
        )
        .replace("each: \"kernel\", do:", "each: \"kernel\", gpus: 1, do:");
    let (modest, greedy) = (plan_on("a100", mixed), plan_on("a100", &greedy));
    let requests =
        |plan: &Plan| -> Vec<_> { plan.stages.iter().map(|s| s.gpu.is_some()).collect() };
    assert_eq!(requests(&modest), [false, true, false, false]);
    assert_eq!(requests(&greedy), [true, true, true, false]);
    // There is one GPU: 12 kernels and 12 summaries hold it one after the other, and then comes
    // the gather. The time of parsing is unknown, and counts nothing.
    let time = |position| stage(&greedy, position).time.unwrap();
    let expected = 12 * (time(1) + time(2)) + time(3);
    assert_eq!(greedy.estimates.makespan, Some(expected));
    // Modest summaries run on CPUs beside the kernels: all but the last one's cost no time.
    let time = |position| stage(&modest, position).time.unwrap();
    let expected = 12 * time(1) + time(2) + time(3);
    assert_eq!(modest.estimates.makespan, Some(expected));
    assert!(greedy.estimates.nano_usd > modest.estimates.nano_usd);
    assert!(greedy.estimates.makespan > modest.estimates.makespan);
}

#[test]
fn every_stage_has_a_verdict_where_some_are_impossible() {
    // Of 64 cpus and 256 GiB: `s0` never fits, nor does what `s3` needs in what it asks for; `s1`
    // and `s2` take 40 cpus each, and the second waits for the first.
    let ask = "cpus: 40, memory: \"4 GiB\"";
    let text = products(&["cpus: 65", ask, ask, "memory: \"256 MiB\""]);
    let checked = check(&text, haul_kernels::catalogue(), &Facts::default());
    let target = target::find("cpu").unwrap();
    let typed = checked.typed.unwrap();
    let refused = plan(typed, &target, "p", "p.ron", &checked.places).unwrap_err();
    let codes: Vec<_> = refused.mistakes.iter().map(|m| m.code.0).collect();
    assert_eq!(codes, ["E0310", "E0312"]);
    let outcomes: Vec<_> = refused.verdicts.iter().map(|v| v.outcome.clone()).collect();
    let [
        Outcome::Impossible { missing, nearest },
        Outcome::Fits,
        Outcome::Waits { time, behind },
        Outcome::Impossible {
            missing: memory, ..
        },
    ] = &outcomes[..]
    else {
        panic!("{outcomes:?}");
    };
    assert_eq!(
        (&missing[..], nearest.as_deref()),
        (
            &["it has 64 cpus, 1 too few".to_owned()][..],
            Some("cpus: 64")
        )
    );
    // 2 * 8192^3 / (40 * 95e9 * 0.8) s = 361,681,456.5 ns.
    assert!((361_681_456..=361_681_457).contains(time), "{time}");
    assert_eq!(behind, "s1");
    // x and the product: 512 MiB.
    assert_eq!(
        memory[..],
        ["needs 512 MiB of memory and asks for 256 MiB".to_owned()]
    );
}

/// What a stage is refused for on a target, with its verdict.
fn refusal(target: &Target, text: &str) -> (Diagnostic, Verdict) {
    let checked = check(text, haul_kernels::catalogue(), &Facts::default());
    let typed = checked.typed.unwrap();
    let refused = plan(typed, target, "p", "p.ron", &checked.places).unwrap_err();
    let verdict = refused.verdicts.iter().next().unwrap().clone();
    (refused.mistakes[0].clone(), verdict)
}

#[test]
fn the_nearest_request_is_that_of_the_device_which_lacks_least() {
    // Four L4 and an A100: of the L4 there are enough, and only cpus are missing.
    let text = r#"Target(nodes: {
        "n": (cpus: 8, memory: "256 GiB", gpus: {"A100-80GB": 1, "L4": 4}),
    })"#;
    let target = target::parse("t", text).unwrap();
    let nearest = |request: &str| {
        let (_, verdict) = refusal(&target, &products(&[request]));
        let Outcome::Impossible { nearest, .. } = verdict.outcome else {
            panic!("{verdict:?}");
        };
        (verdict.request, nearest.unwrap())
    };
    let of = |request: usize, fields: &str| (request, fields.to_owned());
    assert_eq!(nearest("gpus: 4, cpus: 100"), of(0, "cpus: 8"));
    // There is no card of 90 GB: 10 GB are missing on the A100.
    assert_eq!(
        nearest("gpus: 1, vram: \"90 GB\""),
        of(0, "vram: \"80 GB\"")
    );
    // Of five GPUs no four are alike: a task's are of one type.
    let (_, verdict) = refusal(&target, &products(&["gpus: 5"]));
    let Outcome::Impossible { missing, .. } = verdict.outcome else {
        panic!("{verdict:?}");
    };
    assert_eq!(missing, ["it has 4 GPUs of one type, L4, 1 too few"]);
    // A half of 16 cpus is missing, a fifth of 5 GPUs: whichever stands first.
    let either = "any_of: [(cpus: 16), (gpus: 5)]";
    assert_eq!(nearest(either), of(1, "gpus: 4"));
}

#[test]
fn advised_alternatives_on_cpus_can_be_granted() {
    let target = target::find("cpu").unwrap();
    // 64 cpus, 256 GiB.
    let alternatives = [
        "gpu_type: \"T4\", vram: \"8 GB\", cpus: 3",
        "gpus: 2",
        "gpus: 1, cpus: 80, memory: \"300 GiB\"",
    ];
    for request in alternatives {
        let (mistake, verdict) = refusal(&target, &products(&[request]));
        let help = mistake.help.unwrap();
        let advice = help.split('`').nth(1).unwrap();
        let advised = products(&[&format!("{request}, {advice}")]);
        let stages = plan_on("cpu", &advised).stages;
        assert_eq!(stages.iter().next().unwrap().request, 1, "{advice}");
        assert!(matches!(
            verdict.outcome,
            Outcome::Impossible { nearest: None, .. }
        ));
    }
    let (stage, own) = ("gpu_type: \"T4\", ", "");
    for (whole, one) in [(stage, "cpus: 2"), (own, "gpus: 1, cpus: 2")] {
        let text = |more: &str| products(&[&format!("{whole}any_of: [({one}){more}]")]);
        let (mistake, _) = refusal(&target, &text(""));
        let help = mistake.help.unwrap();
        let advice = help.split('`').nth(1).unwrap();
        let stages = plan_on("cpu", &text(&format!(", {advice}"))).stages;
        assert_eq!(stages.iter().next().unwrap().request, 1, "{advice}");
    }
}

#[test]
fn edits_of_memory_make_a_stage_fit() {
    let l4 = target::find("l4").unwrap();
    // x and the product: 512 MiB.
    let requests = [
        "memory: \"1 MiB\"",
        "gpus: 0.5, vram: \"1 MiB\", place: Gpu",
    ];
    for request in requests {
        let text = products(&[request]);
        let (mistake, _) = refusal(&l4, &text);
        let [edit] = &mistake.fix[..] else {
            panic!("one edit");
        };
        let (from, to) = (edit.span.start, edit.span.end);
        let mended = format!("{}{}{}", &text[..from], edit.text, &text[to..]);
        assert!(mended.contains("\"512 MiB\""), "{mended}");
        plan_on("l4", &mended);
    }
}

#[test]
fn an_alternative_is_taken_with_which_the_run_ends_first() {
    // Of 64 cpus one stage holds 33. The other is faster on 32, but then one waits for the other:
    // 2 * 8192^3 / (95e9 * 0.8) * (1/33 + 1/32) seconds = 0.89050 s. On 17 it takes 0.85102 s
    // beside the first, on 16 it would take 0.90420 s.
    let run = |few: u32| {
        let either = format!("any_of: [(cpus: 32), (cpus: {few})]");
        let plan = plan_on("cpu", &products(&["cpus: 33", &either]));
        let makespan = plan.estimates.makespan.unwrap() / 10_000;
        (stage(&plan, 1).request, makespan)
    };
    assert_eq!(run(17), (1, 85_101));
    assert_eq!(run(16), (0, 89_050));
}
