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

#[test]
fn every_gpu_of_the_library_has_a_link_and_a_source() {
    for gpu in target::gpus() {
        assert!(
            gpu.link.h2d > 0 && gpu.link.d2h > 0 && gpu.vram > 0,
            "{gpu:?}"
        );
        assert!(
            gpu.peak.f16 >= gpu.peak.f32 && gpu.peak.f32 >= gpu.peak.f64,
            "{gpu:?}"
        );
        assert!(matches!(&gpu.provenance, Provenance::Datasheet(source) if !source.is_empty()));
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
        (node("cpus: 0, memory: \"1 GiB\""), 2, 3, "at least one cpu"),
        (
            node("count: 4000000000, cpus: 1, memory: \"1 GiB\""),
            2,
            3,
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
        ("Target(".to_owned(), 1, 0, ""),
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
