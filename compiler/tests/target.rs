//! Target files: the library is whole, and mistakes are told with their place.

use haul_compiler::target;
use haul_ir::id::Id;
use haul_ir::target::Provenance;

#[test]
fn the_library_reads_and_says_datasheet() {
    let mut names = Vec::new();
    for (name, target) in target::library() {
        assert_eq!(target.name, name);
        for node in target.nodes.iter() {
            assert_eq!(node.cpu.provenance.word(), "datasheet");
            assert!(
                node.gpus
                    .iter()
                    .all(|gpu| gpu.provenance.word() == "datasheet")
            );
        }
        names.push(name);
    }
    assert_eq!(
        target::find("a100").map(|t| t.name),
        Some("a100".to_owned())
    );
    assert_eq!(target::find("none"), None);
    let unique: std::collections::HashSet<_> = names.iter().collect();
    assert_eq!(unique.len(), names.len());
}

/// Vendors' sheets, dense rates: GB of memory, TFLOP/s in f64, f32, f16, GB/s, the generation of
/// PCIe. Where sources differ, the lower figure.
#[rustfmt::skip]
const SHEET: [(&str, f64, f64, f64, f64, f64, u32); 14] = [
    // name, GB, f64, f32, f16, GB/s, PCIe
    ("T4",              16.0,  0.25,  8.1,   65.0,  320.0, 3),
    ("V100-16GB",       16.0,  7.8,  15.7,  125.0,  897.0, 3),
    ("V100-32GB",       32.0,  7.8,  15.7,  125.0,  897.0, 3),
    ("A10G",            24.0,  0.5,  31.0,   70.0,  600.0, 4),
    ("A100-40GB",       40.0,  9.7,  19.5,  312.0, 1555.0, 4),
    ("A100-80GB",       80.0,  9.7,  19.5,  312.0, 2039.0, 4),
    ("A100-80GB-PCIe",  80.0,  9.7,  19.5,  312.0, 1935.0, 4),
    ("L4",              24.0,  0.49, 30.3,  121.0,  300.0, 4),
    ("L40S",            48.0,  1.43, 91.6,  362.0,  864.0, 4),
    ("RTX4090",         24.0,  1.29, 82.6,  165.0, 1008.0, 4),
    ("H100-PCIe",       80.0, 26.0,  51.0,  756.0, 2000.0, 5),
    ("H100-SXM",        80.0, 34.0,  67.0,  989.0, 3350.0, 5),
    ("H200",           141.0, 34.0,  67.0,  989.0, 4800.0, 5),
    ("B200",           180.0, 37.0,  75.0, 2250.0, 8000.0, 5),
];

#[test]
fn devices_are_as_their_sheets_say() {
    let gpus = target::gpus();
    assert_eq!(gpus.len(), SHEET.len());
    for (gpu, (name, gb, f64, f32, f16, bandwidth, pcie)) in gpus.iter().zip(SHEET) {
        let tera = |figure: f64| (figure * 1e12).round() as u64;
        let giga = |figure: f64| (figure * 1e9).round() as u64;
        assert_eq!(gpu.name, name);
        assert_eq!(gpu.vram, giga(gb), "{name}");
        let peak = (gpu.peak.f64, gpu.peak.f32, gpu.peak.f16);
        assert_eq!(peak, (tera(f64), tera(f32), tera(f16)), "{name}");
        // Before Ampere there are no units for bf16.
        let has_bf16 = !["T4", "V100-16GB", "V100-32GB"].contains(&name);
        let bf16 = if has_bf16 { f16 } else { f32 };
        assert_eq!(gpu.peak.bf16, tera(bf16), "{name}");
        assert_eq!(gpu.bandwidth, giga(bandwidth), "{name}");
        assert_eq!(gpu.link.name, format!("PCIe {pcie} x16"), "{name}");
    }
}

#[test]
fn every_figure_has_a_source_with_a_date() {
    let provenance = |provenance: &Provenance| match provenance {
        Provenance::Datasheet(source) => source.clone(),
        Provenance::Measured { date, .. } => date.clone(),
    };
    let mut sources: Vec<String> = target::gpus()
        .iter()
        .map(|gpu| provenance(&gpu.provenance))
        .collect();
    sources.extend(target::links().into_iter().map(|(_, source)| source));
    for (_, target) in target::library() {
        for node in target.nodes.iter() {
            sources.push(provenance(&node.cpu.provenance));
            let price = node.price.as_ref().map(|price| price.source.clone());
            // What it covers: so many GPUs, or a whole node.
            assert!(price.as_ref().is_none_or(|price| price.starts_with("of ")));
            sources.extend(price);
        }
    }
    for source in sources {
        // Each part of a source that speaks of several figures.
        for part in source.split("; ") {
            assert!(part.contains("undated") || has_date(part), "{source}");
        }
    }
}

/// `YYYY-MM` or `YYYY-MM-DD`.
fn has_date(text: &str) -> bool {
    let word = |word: &str| {
        let digits = |part: &str, length| {
            part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        let parts: Vec<_> = word.split('-').collect();
        let (year, rest) = parts.split_first().unwrap_or((&"", &[]));
        digits(year, 4) && matches!(rest.len(), 1 | 2) && rest.iter().all(|part| digits(part, 2))
    };
    text.split([' ', ',']).any(word)
}

/// Each device of the library is the only GPU of some target.
#[test]
fn there_is_a_target_for_each_card() {
    let single = |gpu: &str| {
        target::library().any(|(_, target)| {
            let names: Vec<_> = target.nodes.iter().flat_map(|node| &node.gpus).collect();
            names.len() == 1 && names[0].name == gpu
        })
    };
    for (name, ..) in SHEET {
        assert!(single(name), "{name}");
    }
}

#[test]
fn a_file_may_bring_measured_devices_of_its_own() {
    let text = r#"Target(
        nodes: { "lab": (count: 2, cpus: 8, memory: "32 GiB", gpus: {"card": 2}) },
        devices: (
            shares: { "mine": (matmul: 0.7, others: 0.2, bandwidth: 0.8) },
            gpus: { "card": (
                vram: "8 GB", peak: (f32: "10 TFLOP/s", f64: "1 TFLOP/s", f16: "20 TFLOP/s"),
                bandwidth: "500 GB/s", efficiency: "mine", launch: "4 us", link: "PCIe 3 x16",
                source: Measured(date: "2026-08-01", runs: 30, spread: 0.02),
            ) },
        ),
    )"#;
    let target = target::parse("lab", text).unwrap();
    let node = &target.nodes[Id::from_index(0)];
    assert_eq!((node.count, node.gpus.len(), node.memory), (2, 2, 32 << 30));
    let gpu = &node.gpus[0];
    assert_eq!(gpu.efficiency.other, 200);
    assert_eq!(gpu.bandwidth_efficiency, 800);
    assert_eq!(gpu.provenance.word(), "measured");
    assert_eq!(gpu.link.h2d, 12_000_000_000);
}

#[test]
fn mistakes_have_a_place() {
    let node = |fields: &str| format!("Target(nodes: {{\n  \"n\": ({fields}),\n}})");
    let cases = [
        // text, line, column, part of the message
        (
            node("cpus: 8, memory: \"1 GiB\", gpus: {\"H1000\": 1}"),
            2,
            42,
            "no gpu is called `H1000`",
        ),
        (node("cpus: 8, memory: \"1 gigs\""), 2, 0, "one of B, kB"),
        (node("cpus: 8, memory: \"1 GiB\", disk: 3"), 2, 0, "disk"),
        (
            node("cpu: \"reference\", cpus: 8, memry: \"1 GiB\""),
            2,
            36,
            "did you mean `memory`?",
        ),
        // The place is that of the value, not of the same words before it.
        (
            node("cpus: 8, /* \"L5\" */ memory: \"1 GiB\", gpus: {\"L5\": 1}"),
            2,
            53,
            "no gpu is called `L5`",
        ),
        (
            node("cpus: 0, memory: \"1 GiB\""),
            2,
            15,
            "at least one cpu",
        ),
        (
            node("count: 4000000000, cpus: 1, memory: \"1 GiB\""),
            2,
            16,
            "1 to 100000",
        ),
        (
            node("cpus: 8, memory: \"1 GiB\", gpus: {\"L4\": 1, \"L4\": 2}"),
            2,
            0,
            "twice",
        ),
        (
            node("cpus: 8, memory: \"1 GiB\", cpu: \"z80\""),
            2,
            40,
            "no cpu is called `z80`",
        ),
        (
            "Target(nodes: {})".to_owned(),
            1,
            8,
            "at least one kind of node",
        ),
        (
            node("memory: \"1 GiB\""),
            2,
            0,
            "`n` needs the field `cpus`",
        ),
        (
            node("cpus: 8, memory: \"1 GiB\", price: (rate: \"1 USD/h\", source: \" \")"),
            2,
            0,
            "where a figure is from and when",
        ),
        (
            "Target(nodes: {}, devices: (gpus: {\"g\": (source: Datasheet(\"\"))}))".to_owned(),
            1,
            0,
            "where a figure is from and when",
        ),
        (
            "Target(".to_owned(),
            1,
            0,
            "a bracket or a string is not closed",
        ),
        (String::new(), 1, 0, ""),
    ];
    for (text, line, column, message) in cases {
        let error = target::parse("t", &text).unwrap_err();
        assert!(error.message.contains(message), "{text}: {error}");
        assert_eq!(error.line, line, "{text}: {error}");
        // 0 where the place is ron's own.
        assert!(column == 0 || error.column == column, "{text}: {error}");
    }
}
