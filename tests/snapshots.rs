//! `haul snapshot`, in projects of its own.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support::{self, outcome};

/// Declares two pipelines for a target with a GPU and one without.
const PROJECT: &str = r#"Project(
    version: 1,
    snapshots: [(pipelines: "flows/*.ron", targets: ["a100", "cpu"])],
    policies: (POLICIES),
)"#;

/// A matrix product that goes to the GPU.
const PRODUCT: &str = r#"Pipeline(
    version: 1,
    inputs: {"x": Npy(path: "x.npy", type: "f32[8192, 8192]")},
    stages: {"product": (any_of: [(gpus: 1, memory: "4 GiB"), (cpus: 4)], do: "x @ x")},
    outputs: {"product": Npy(path: "product.npy", from: "product")},
)"#;

const SUM: &str = r#"Pipeline(
    version: 1,
    inputs: {"x": Npy(path: "x.npy", type: "f32[1000]")},
    stages: {"total": (do: "sum(x)")},
    outputs: {"total": Npy(path: "total.npy", from: "total")},
)"#;

/// The project, its plans accepted.
fn project(policies: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(&folder, "haul.ron", &PROJECT.replace("POLICIES", policies));
    write(&folder, "flows/product.ron", PRODUCT);
    write(&folder, "flows/sum.ron", SUM);
    let (status, stdout, stderr) = snapshot(folder.path(), &["--accept"]);
    assert_eq!(status, 0, "{stderr}");
    assert_eq!(
        stdout,
        "added flows/product.a100.plan\nadded flows/product.cpu.plan\n\
        added flows/sum.a100.plan\nadded flows/sum.cpu.plan\n"
    );
    folder
}

fn write(folder: &TempDir, path: &str, text: &str) {
    let path = folder.path().join(path);
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn plan(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join("flows").join(name)).expect("a plan")
}

/// Status, stdout and stderr of `haul snapshot` in a folder.
fn snapshot(folder: &Path, args: &[&str]) -> (i32, String, String) {
    outcome(
        support::haul()
            .current_dir(folder)
            .arg("snapshot")
            .args(args),
    )
}

#[test]
fn what_is_as_kept_passes() {
    let folder = project("");
    for args in [&[][..], &["--check"], &["--accept"]] {
        let quiet = (0, String::new(), String::new());
        assert_eq!(snapshot(folder.path(), args), quiet, "{args:?}");
    }
    // From a folder below, and for plans that were checked out with CRLF.
    let crlf = plan(&folder, "sum.cpu.plan").replace('\n', "\r\n");
    write(&folder, "flows/sum.cpu.plan", &crlf);
    let (status, stdout, _) = snapshot(&folder.path().join("flows"), &[]);
    assert_eq!((status, stdout.as_str()), (0, ""));
    // Comments are not part of a plan.
    write(&folder, "flows/sum.ron", &format!("// A sum.\n{SUM}"));
    assert_eq!(snapshot(folder.path(), &[]).0, 0);
    // The plan that is kept is the one that `haul plan` prints.
    let args = [
        "plan",
        "flows/product.ron",
        "--target",
        "a100",
        "--format",
        "snapshot",
    ];
    let printed = support::stdout(support::haul().current_dir(&folder).args(args));
    assert_eq!(printed, plan(&folder, "product.a100.plan"));
}

#[test]
fn what_differs_fails_until_it_is_accepted() {
    let folder = project("");
    write(&folder, "flows/sum.ron", &SUM.replace("1000", "2000"));
    fs::remove_file(folder.path().join("flows/product.cpu.plan")).expect("it is there");
    let (status, stdout, stderr) = snapshot(folder.path(), &[]);
    assert_eq!(status, 1);
    for told in [
        "flows/product.cpu.plan is missing\n",
        "flows/sum.a100.plan differs\n",
        "flows/sum.cpu.plan differs\n",
        "f32[1000]",
        "f32[2000]",
    ] {
        assert!(stdout.contains(told), "{stdout}");
    }
    assert!(!stdout.contains("product.a100"), "{stdout}");
    assert!(
        stderr.contains("3 of 4 plans are not as they are kept"),
        "{stderr}"
    );
    // One plan, then those of one pipeline.
    let (status, stdout, _) = snapshot(folder.path(), &["--accept", "sum.cpu"]);
    assert_eq!(
        (status, stdout.as_str()),
        (0, "changed flows/sum.cpu.plan\n")
    );
    let (status, stdout, _) = snapshot(folder.path(), &["--accept", "sum", "product"]);
    let changes = "added flows/product.cpu.plan\nchanged flows/sum.a100.plan\n";
    assert_eq!((status, stdout.as_str()), (0, changes));
    assert_eq!(snapshot(folder.path(), &[]).0, 0);
    assert!(plan(&folder, "sum.cpu.plan").contains("f32[2000]"));
}

#[test]
fn plans_without_a_pipeline_or_target_fail_and_go() {
    let folder = project("");
    fs::remove_file(folder.path().join("flows/sum.ron")).expect("it is there");
    let args = [
        "plan",
        "flows/product.ron",
        "--format",
        "snapshot",
        "--target",
        "l4",
    ];
    let gone = support::stdout(support::haul().current_dir(&folder).args(args));
    write(&folder, "flows/product.l4.plan", &gone);
    let edited = plan(&folder, "sum.cpu.plan") + "by hand\n";
    write(&folder, "flows/sum.cpu.plan", &edited);
    // No plans, or not of the pipeline and target of their name: none of haul's.
    let others = [
        ("flows/holiday.plan", "sun\n"),
        ("flows/holiday.june.plan", "plan of the holiday\n"),
        ("flows/draft.cpu.plan", &gone),
        ("flows/product.l40s.plan", &gone),
        ("flows/product.plan", &gone),
    ];
    for (path, text) in others {
        write(&folder, path, text);
    }
    let (status, stdout, _) = snapshot(folder.path(), &[]);
    let orphans = ["product.l4", "sum.a100", "sum.cpu"]
        .map(|name| format!("flows/{name}.plan belongs to no pipeline and target"));
    let orphans = orphans.join("\n") + ", and was edited after haul wrote it\n";
    assert_eq!((status, stdout), (1, orphans));
    let (status, stdout, _) = snapshot(folder.path(), &["--accept"]);
    let removed =
        ["product.l4", "sum.a100", "sum.cpu"].map(|name| format!("removed flows/{name}.plan\n"));
    assert_eq!((status, stdout), (0, removed.concat()));
    for (path, text) in others {
        let kept = fs::read_to_string(folder.path().join(path)).expect("it is there");
        assert_eq!(kept, text, "{path}");
    }
}

/// Whatever is written into a plan that is kept, it is not as haul prints it.
#[test]
fn an_edited_plan_differs() {
    let folder = project("");
    let kept = plan(&folder, "product.a100.plan");
    let lines: Vec<&str> = kept.lines().collect();
    let digits = |line: &str| line.replace(|c: char| c.is_ascii_digit(), "7");
    for (at, line) in lines.iter().enumerate() {
        for edited in [format!("{line} x"), digits(line)] {
            if edited == *line {
                continue;
            }
            let mut text = lines.clone();
            text[at] = &edited;
            write(
                &folder,
                "flows/product.a100.plan",
                &(text.join("\n") + "\n"),
            );
            let (status, stdout, stderr) = snapshot(folder.path(), &["--check"]);
            assert_eq!(status, 1, "{edited}\n{stdout}{stderr}");
            let told = stdout.starts_with("flows/product.a100.plan differs\n");
            assert!(told, "{edited}\n{stdout}{stderr}");
        }
    }
    assert_eq!(snapshot(folder.path(), &["--accept"]).0, 0);
    assert_eq!(plan(&folder, "product.a100.plan"), kept);
}

/// Maps have no order: what is swapped is kept as it is, until the plans are written anew.
#[test]
fn another_order_is_no_difference() {
    let x = r#""x": Npy(path: "x.npy", type: "f32[n]")"#;
    let y = r#""y": Npy(path: "y.npy", type: "f32[m]")"#;
    let n = r#""n": (plan: 1000)"#;
    let m = r#""m": (plan: 500000)"#;
    let a = r#""a": (do: "sum(x)")"#;
    let b = r#""b": (do: "max(y)")"#;
    let outputs = r#"{"a": Npy(path: "a.npy", from: "a"), "b": Npy(path: "b.npy", from: "b")}"#;
    let pipeline = |dims: [&str; 2], inputs: [&str; 2], stages: [&str; 2]| {
        let [dims, inputs, stages] = [dims, inputs, stages].map(|entries| entries.join(", "));
        format!(
            "Pipeline(version: 1, dims: {{{dims}}}, inputs: {{{inputs}}}, stages: {{{stages}}}, \
             outputs: {outputs})"
        )
    };
    let folder = project("");
    write(&folder, "flows/two.ron", &pipeline([n, m], [x, y], [a, b]));
    assert_eq!(snapshot(folder.path(), &["--accept", "two"]).0, 0);
    let first = plan(&folder, "two.cpu.plan");
    for swapped in [
        pipeline([m, n], [x, y], [a, b]),
        pipeline([n, m], [y, x], [a, b]),
        pipeline([n, m], [x, y], [b, a]),
        pipeline([m, n], [y, x], [b, a]),
    ] {
        write(&folder, "flows/two.ron", &swapped);
        let quiet = (0, String::new(), String::new());
        assert_eq!(snapshot(folder.path(), &["--check"]), quiet, "{swapped}");
    }
    assert_eq!(snapshot(folder.path(), &["--accept"]).0, 0);
    assert_ne!(plan(&folder, "two.cpu.plan"), first);
    assert_eq!(snapshot(folder.path(), &["--check"]).0, 0);
}

#[test]
fn plans_may_be_larger_than_pipelines() {
    let stage = |stage: usize| {
        let from = match stage {
            0 => "x".to_owned(),
            _ => format!("s{}", stage - 1),
        };
        format!(
            "\"s{stage}\": (do: \"\na = {from} - mean({from})\nb = a - mean(a)\n\
             c = b - mean(b)\nd = c - mean(c)\nd - mean(d)\"),\n"
        )
    };
    let stages: String = (0..12_000).map(stage).collect();
    let pipeline = SUM.replace("\"total\": (do: \"sum(x)\")", &stages);
    let pipeline = pipeline.replace("from: \"total\"", "from: \"s11999\"");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let project = PROJECT.replace("POLICIES", "").replace("\"a100\", ", "");
    write(&folder, "haul.ron", &project);
    write(&folder, "flows/long.ron", &pipeline);
    let (status, stdout, stderr) = snapshot(folder.path(), &["--accept"]);
    assert_eq!(
        (status, stdout.as_str()),
        (0, "added flows/long.cpu.plan\n"),
        "{stderr}"
    );
    assert!(plan(&folder, "long.cpu.plan").len() > 16 << 20);
    assert_eq!(
        snapshot(folder.path(), &["--check"]),
        (0, String::new(), String::new())
    );
}

#[test]
fn a_pipeline_that_does_not_compile_fails() {
    let folder = project("");
    write(&folder, "flows/sum.ron", &SUM.replace("sum(x)", "smu(x)"));
    let kept = plan(&folder, "sum.cpu.plan");
    for args in [&["--check"][..], &["--accept"]] {
        let (status, stdout, stderr) = snapshot(folder.path(), args);
        assert_eq!((status, stdout.as_str()), (1, ""), "{args:?}");
        assert!(stderr.contains("flows/sum.ron:4"), "{stderr}");
    }
    assert_eq!(plan(&folder, "sum.cpu.plan"), kept);
    // A GPU that one of the targets does not have.
    write(
        &folder,
        "flows/sum.ron",
        &SUM.replace("(do:", "(gpus: 1, do:"),
    );
    let (status, stdout, stderr) = snapshot(folder.path(), &["--accept"]);
    assert_eq!(
        (status, stdout.as_str()),
        (1, "changed flows/sum.a100.plan\n")
    );
    assert!(stderr.contains("E0310"), "{stderr}");
}

#[test]
fn policies_end_with_a_status_of_their_own() {
    let folder = project("max_vram: \"400 MB\", max_makespan_growth: \"10 %\"");
    let (status, stdout, stderr) = snapshot(folder.path(), &[]);
    assert_eq!((status, stdout.as_str()), (3, ""));
    // Two arrays of 8192 * 8192 * 4 B = 256 MiB; 512 MiB - 400 MB = 136870912 B = 130.5 MiB.
    let told = "product on a100: max_vram \"400 MB\": vram is 512 MiB, 131 MiB too much";
    assert!(stderr.contains(told), "{stderr}");
    let four_times = PRODUCT
        .replace("8192, 8192", "16384, 8192")
        .replace("x @ x", "x @ x.T");
    write(&folder, "flows/product.ron", &four_times);
    let (status, _, stderr) = snapshot(folder.path(), &[]);
    assert_eq!(status, 3);
    assert!(
        stderr.contains("max_makespan_growth \"10 %\": makespan "),
        "{stderr}"
    );
    let (status, _, stderr) = snapshot(folder.path(), &["--accept"]);
    assert_eq!(status, 0);
    assert!(
        stderr.contains("accepted in spite of the policy: product on a100"),
        "{stderr}"
    );
    // What was accepted has grown; how large it may be is as before.
    let (status, _, stderr) = snapshot(folder.path(), &[]);
    assert_eq!(status, 3);
    assert!(!stderr.contains("max_makespan_growth"), "{stderr}");
}

#[test]
fn mistakes_in_the_project_have_a_place() {
    let with = |from: &str, to: &str| PROJECT.replace("POLICIES", "").replacen(from, to, 1);
    let cases = [
        (
            with("\"a100\"", "\"a101\""),
            "haul.ron:3:54: there is no target `a101`, did you mean",
        ),
        (
            with("\"a100\"", "\"local\""),
            "haul.ron:3:54: plans for this machine",
        ),
        (
            with("\"a100\"", "\"cpu\""),
            "haul.ron:3:61: there are two targets of the name `cpu`",
        ),
        (
            with("\"a100\"", "\"lab.ron\""),
            "haul.ron:3:54: could not read lab.ron",
        ),
        (
            with("flows/*.ron", "flow/*.ron"),
            "haul.ron:3:29: `flow/*.ron`: no file matches",
        ),
        (
            with("()", "(no_cpu: [\"prodct\"])"),
            "haul.ron:4:25: no stage or op of these pipelines",
        ),
        (
            with("()", "(max_price: \"1 EUR\")"),
            "`1 EUR` has no unit that is known here",
        ),
        (
            with(
                "policies",
                "prices: {\"a100.nod\": (rate: \"1 USD/h\", source: \"us\")}, policies",
            ),
            "haul.ron:4:14: there is no node `a100.nod`: did you mean `a100.node`?",
        ),
        (
            with("[(", "[(pipelines: \"*/sum.ron\", targets: [\"cpu\"]), ("),
            "flows/sum.ron for cpu is declared twice",
        ),
    ];
    let folder = project("");
    for (text, told) in cases {
        write(&folder, "haul.ron", &text);
        let (status, _, stderr) = snapshot(folder.path(), &[]);
        assert_eq!(status, 2, "{text}\n{stderr}");
        assert!(stderr.contains(told), "{text}\n{stderr}");
    }
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let (status, _, stderr) = snapshot(elsewhere.path(), &[]);
    assert_eq!(status, 2);
    assert!(
        stderr.contains("there is no haul.ron here or in a folder above"),
        "{stderr}"
    );
    write(&folder, "haul.ron", &with("", ""));
    let (status, _, stderr) = snapshot(folder.path(), &["--accept", "smu"]);
    assert_eq!(status, 2);
    assert!(
        stderr.contains("there is no plan `smu`, did you mean `sum`?"),
        "{stderr}"
    );
}

#[test]
fn a_project_names_targets_and_their_prices() {
    let folder = project("");
    let text = r#"Project(
        version: 1,
        targets: ["lab.ron"],
        prices: {"lab.box": (rate: "3.60 USD/h", source: "our contract, 2026-10")},
    )"#;
    write(&folder, "haul.ron", text);
    write(
        &folder,
        "lab.ron",
        "Target(nodes: {\"box\": (cpus: 8, memory: \"64 GiB\")})",
    );
    // From a folder below: the path of the target is relative to the project.
    let mut command = support::haul();
    command.current_dir(folder.path().join("flows"));
    let plan = support::stdout(command.args(["plan", "sum.ron", "--format", "snapshot"]));
    assert!(plan.contains("\ntarget lab "), "{plan}");
    let nodes = support::haul()
        .current_dir(&folder)
        .args(["nodes", "lab.ron"])
        .output();
    let nodes = String::from_utf8(nodes.expect("the binary starts").stdout).expect("UTF-8");
    assert!(nodes.contains("3.600"), "{nodes}");
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_a_mistake_of_its_own() {
    let folder = project("");
    std::os::unix::fs::symlink("nowhere", folder.path().join("flows/lost.ron")).expect("a link");
    write(&folder, "flows/sum.ron", &SUM.replace("1000", "2000"));
    let (status, stdout, stderr) = snapshot(folder.path(), &[]);
    assert_eq!(status, 2, "{stderr}");
    assert!(stderr.contains("could not read flows/lost.ron"), "{stderr}");
    assert!(stdout.contains("flows/sum.cpu.plan differs"), "{stdout}");
}

#[cfg(unix)]
#[test]
fn folders_that_hold_themselves_are_searched_once() {
    let folder = project("");
    let deep = PROJECT
        .replace("POLICIES", "")
        .replace("flows/*.ron", "flows/**/*.ron");
    write(&folder, "haul.ron", &deep);
    std::os::unix::fs::symlink(".", folder.path().join("flows/self")).expect("a link");
    let quiet = (0, String::new(), String::new());
    assert_eq!(snapshot(folder.path(), &[]), quiet);
}

#[test]
fn a_pipeline_that_does_not_compile_is_found_and_policies_go_before_it() {
    let folder = project("");
    write(&folder, "flows/sum.ron", &SUM.replace("sum(x)", "smu(x)"));
    let (status, _, stderr) = snapshot(folder.path(), &[]);
    assert_eq!(status, 1, "{stderr}");
    let strict = PROJECT.replace("POLICIES", "max_makespan: \"1 ns\"");
    write(&folder, "haul.ron", &strict);
    let (status, _, stderr) = snapshot(folder.path(), &[]);
    assert_eq!(status, 3, "{stderr}");
}

#[test]
fn a_target_that_is_not_there_stops_only_who_asks_for_it() {
    let folder = project("");
    let declared = "Project(version: 1, targets: [\"nope\"], prices: {\"a100.node\": (rate: \"1 USD/h\", source: \"ours, 2026-10\")})";
    write(&folder, "haul.ron", declared);
    let plan = |more: &[&str]| {
        let mut command = support::haul();
        command.current_dir(folder.path());
        outcome(command.args(["plan", "flows/sum.ron"]).args(more))
    };
    let (status, _, stderr) = plan(&["--target", "a100"]);
    assert_eq!(status, 0, "{stderr}");
    let (status, _, stderr) = plan(&[]);
    assert_eq!(status, 2, "{stderr}");
    assert!(stderr.contains("there is no target `nope`"), "{stderr}");
}
