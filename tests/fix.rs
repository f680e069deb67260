//! `haul check --fix` on copies of pipelines.

use std::fs;
use std::path::Path;

use crate::support::{self, outcome, read, root};

/// Exit status and messages of `check --fix` on a text, and the text after it.
fn fixed(text: &str, more: &[&str]) -> (i32, String, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("p.ron");
    fs::write(&path, text).expect("room for it");
    let mut command = support::haul();
    command.current_dir(folder.path());
    let (status, _, said) = outcome(command.args(["check", "--fix", "p.ron"]).args(more));
    let left = support::files(folder.path(), "");
    assert_eq!(left, [path.as_path()], "{said}");
    (status, said, read(&path))
}

#[test]
fn requests_are_mended_and_all_else_stays() {
    let text = read(Path::new(&root().join("tests/cases/cli/wasteful.ron")));
    let (status, said, after) = fixed(&text, &["--target", "a100"]);
    assert_eq!(status, 0, "{said}");
    let expected = text
        .replace(
            "            gpus: 1,                // nothing",
            "            // nothing",
        )
        .replace("            gpu_type: \"A100-80GB\",\n", "")
        .replace(
            "(cpus: 8, do: \"x @ x\")",
            "(gpus: 1, gpu_type: \"A100-80GB\", cpus: 8, do: \"x @ x\")",
        );
    assert_eq!(after, expected, "{said}");
    assert!(said.ends_with("p.ron: 2 changes\n"), "{said}");
}

/// How long the run of a pipeline takes on a target of the library, where that is known.
fn makespan(text: &str, target: &str) -> Option<u64> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("p.ron");
    fs::write(&path, text).expect("room for it");
    let mut command = support::haul();
    command.current_dir(folder.path());
    let plan =
        support::stdout(command.args(["plan", "p.ron", "--format", "json", "--target", target]));
    let plan: serde_json::Value = serde_json::from_str(&plan).expect("it is JSON");
    plan["estimates"]["makespan"].as_u64()
}

#[test]
fn no_run_takes_longer() {
    // Alone each stage would be done sooner on the one GPU, all together they would queue for it.
    let stages = (0..60).map(|at| format!("\"s{at}\": (do: \"exp(x)\"),\n"));
    let outputs =
        (0..60).map(|at| format!("\"s{at}\": Npy(path: \"{at}.npy\", from: \"s{at}\"),\n"));
    let queue = format!(
        "Pipeline(version: 1,
        inputs: {{\"x\": Npy(path: \"x.npy\", type: \"f32[8192, 8192]\")}},
        stages: {{\n{}}},
        outputs: {{\n{}}})",
        stages.collect::<String>(),
        outputs.collect::<String>()
    );
    let mut pipelines = vec![("h100".to_owned(), queue)];
    let folder = root().join("compiler/tests/cases/plan");
    for case in support::files(&folder, ".ron") {
        let text = read(&case);
        let target = text
            .lines()
            .next()
            .and_then(|l| l.strip_prefix("// target: "));
        let target = target.expect("the first line names a target").to_owned();
        if !text.contains("// error: ") {
            pipelines.push((target, text));
        }
    }
    for (target, text) in pipelines {
        let (status, said, after) = fixed(&text, &["--target", &target]);
        assert_eq!(status, 0, "{said}");
        let (before, now) = (makespan(&text, &target), makespan(&after, &target));
        assert!(
            now <= before && now.is_some() == before.is_some(),
            "{before:?} {now:?}\n{said}"
        );
    }
}

#[test]
fn alternatives_that_become_the_same_are_one() {
    let text = "Pipeline(
    version: 1,
    inputs: { \"x\": Npy(path: \"x.npy\", type: \"f32[100]\") },
    stages: {
        \"line\": (any_of: [(gpus: 1), (gpus: 0.5)], do: \"sum(x)\"),
        \"block\": (
            any_of: [
                (gpus: 1), // one
                (gpus: 0.5), // half
            ], // after
            do: \"sum(x)\",
        ),
        \"cpus\": (any_of: [(gpus: 1, cpus: 2), /* c */ (cpus: 2, gpus: 0.25)], do: \"sum(x)\"),
        \"only\": (any_of: [(gpus: 1)], do: \"sum(x)\"),
        // L4 is for another target.
        \"other\": (any_of: [(gpu_type: \"L4\"), (gpus: 1)], do: \"sum(x)\"),
    },
    outputs: {
        \"a\": Npy(path: \"a.npy\", from: \"line\"),
        \"b\": Npy(path: \"b.npy\", from: \"block\"),
        \"c\": Npy(path: \"c.npy\", from: \"cpus\"),
        \"d\": Npy(path: \"d.npy\", from: \"only\"),
        \"e\": Npy(path: \"e.npy\", from: \"other\"),
    },
)";
    let (status, said, after) = fixed(text, &["--target", "a100"]);
    assert_eq!(status, 0, "{said}");
    let expected = text
        .replace("any_of: [(gpus: 1), (gpus: 0.5)], do", "do")
        .replace(
            "any_of: [
                (gpus: 1), // one
                (gpus: 0.5), // half
            ], // after",
            " // one
                 // half
             // after",
        )
        .replace(
            "[(gpus: 1, cpus: 2), /* c */ (cpus: 2, gpus: 0.25)]",
            "[(cpus: 2), /* c */ ]",
        )
        .replace("any_of: [(gpus: 1)], do", "do")
        .replace("(gpus: 1)], do", "()], do");
    assert_eq!(after, expected, "{said}");
}

#[test]
fn a_gpu_that_alternatives_inherit_goes_where_it_is_written() {
    let text = "Pipeline(
    version: 1,
    inputs: { \"x\": Npy(path: \"x.npy\", type: \"f32[100]\") },
    stages: {
        \"only\": (gpus: 1, any_of: [(cpus: 2)], do: \"sum(x)\"),
        \"same\": (gpus: 1, any_of: [(cpus: 1), (cpus: 1, gpus: 0.5)], do: \"sum(x)\"),
        \"none\": (gpu_type: \"A100-80GB\", vram: \"1 GiB\", any_of: [()], do: \"sum(x)\"),
        // On this target the second is chosen, and the first may be for another.
        \"two\": (gpus: 1, any_of: [(cpus: 100), (cpus: 2)], do: \"sum(x)\"),
    },
    outputs: {
        \"a\": Npy(path: \"a.npy\", from: \"only\"),
        \"b\": Npy(path: \"b.npy\", from: \"same\"),
        \"c\": Npy(path: \"c.npy\", from: \"none\"),
        \"d\": Npy(path: \"d.npy\", from: \"two\"),
    },
)";
    let (status, said, after) = fixed(text, &["--target", "a100"]);
    assert_eq!(status, 0, "{said}");
    let expected = text
        .replace("gpus: 1, any_of: [(cpus: 2)]", "any_of: [(cpus: 2)]")
        .replace(
            "gpus: 1, any_of: [(cpus: 1), (cpus: 1, gpus: 0.5)]",
            "any_of: [(cpus: 1)]",
        )
        .replace(
            "gpu_type: \"A100-80GB\", vram: \"1 GiB\", any_of: [()], ",
            "",
        )
        .replace("(cpus: 100), (cpus: 2)", "(cpus: 100), (gpus: 0, cpus: 2)");
    assert_eq!(after, expected, "{said}");
}

#[test]
fn mistakes_that_can_be_mended_one_way_are_mended() {
    let right = "Pipeline(version: 1,
        inputs: {\"x\": Npy(path: \"x.npy\", type: \"f32[100]\")},
        stages: {\"a\": (do: \"sum(x)\"), \"b\": (do: \"max(x)\")},
        outputs: {\"a\": Npy(path: \"a.npy\", from: \"a\"), \"b\": Npy(path: \"b.npy\", from: \"b\")})";
    let wrong = [
        right.replace("version: 1,", "version: 1"),
        right.replace("\"x.npy\", type", "\"x.npy\" type"),
        right.replace("version: 1", "version= 1"),
        right.replace("version: 1", "\"version\": 1"),
        right.replace("{\"x\":", "{x:"),
        right.replace("\"max(x)\"", "'max(x)'"),
        right.replace("\"max(x)\")", "\"max(x)\""),
        right.strip_suffix(')').expect("a bracket").to_owned(),
        right.replace("f32[", "float32["),
        right
            .replace("\"a.npy\",", "\"a.npy\"")
            .replace("f32[", "float["),
    ];
    for text in wrong {
        let (status, said, after) = fixed(&text, &[]);
        let after = after.replace("f64", "f32");
        assert_eq!((status, after.as_str()), (0, right), "{text}\n{said}");
    }
    // It could be a colon that is missing, or the bracket belongs elsewhere.
    for text in [
        right.replace("do: \"max(x)\"", "do \"max(x)\""),
        right.replace("\"sum(x)\"),", "\"sum(x)\","),
        right.replace("\"b\")})", "\"b\""),
    ] {
        let (status, said, after) = fixed(&text, &[]);
        assert_eq!((status, &after), (1, &text), "{said}");
        assert!(said.contains("p.ron: nothing to change\n"), "{said}");
    }
}

#[test]
fn without_a_target_those_of_the_project_count() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("p.ron");
    let check = |more: &[&str]| {
        let mut command = support::haul();
        command.current_dir(folder.path());
        outcome(command.args(["check", "p.ron"]).args(more))
    };
    fs::write(&path, IDLE).expect("room for it");
    let (status, stdout, stderr) = check(&["--fix"]);
    assert_eq!((status, stdout.as_str()), (0, ""), "{stderr}");
    assert_eq!(read(&path), IDLE);

    let project = "Project(version: 1, targets: [\"a100\"])";
    fs::write(folder.path().join("haul.ron"), project).expect("room for it");
    let (status, stdout, stderr) = check(&[]);
    assert_eq!(status, 0, "{stderr}");
    assert!(
        stdout.starts_with("on a100\n") && stderr.contains("W0301"),
        "{stdout}{stderr}"
    );
    let (status, _, stderr) = check(&["--fix"]);
    assert_eq!(status, 0, "{stderr}");
    assert_eq!(read(&path), IDLE.replace("gpus: 1, ", ""));
}

#[test]
fn no_run_costs_more_for_nothing() {
    // Two GPUs: `b` holds one for nothing, beside `a`. Without, it would be on the other node, which
    // then has to be paid as well.
    let text = "Pipeline(version: 1,
        inputs: {\"x\": Npy(path: \"x.npy\", type: \"f32[8192, 8192]\"), \"y\": Npy(path: \"y.npy\", type: \"f32[100]\")},
        stages: {\"a\": (gpus: 1, do: \"x @ x\"), \"b\": (gpus: 1, do: \"sum(y)\")},
        outputs: {\"a\": Npy(path: \"a.npy\", from: \"a\"), \"b\": Npy(path: \"b.npy\", from: \"b\")})";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let target = folder.path().join("two.ron");
    let nodes = |price: &str| {
        format!(
            "Target(nodes: {{
                \"gpu\": (cpus: 8, memory: \"64 GiB\", gpus: {{\"A100-80GB\": 2}}, price: (rate: \"4 USD/h\", source: \"a test\")),
                \"cpu\": (cpus: 8, memory: \"64 GiB\"{price}),
            }})"
        )
    };
    let named = target.to_str().expect("a path of letters");
    let prices = [
        (
            ", price: (rate: \"1 USD/h\", source: \"a test\")",
            "USD instead of",
        ),
        ("", "an unknown amount instead of"),
    ];
    for (price, why) in prices {
        fs::write(&target, nodes(price)).expect("room for it");
        let (status, said, after) = fixed(text, &["--target", named]);
        assert_eq!((status, after.as_str()), (0, text), "{said}");
        let left = said.lines().find(|line| line.contains("left as it is"));
        let left = left.expect("it is told");
        assert!(
            left.contains("(W0301); the run on two would cost "),
            "{left}"
        );
        assert!(left.contains(why), "{left}");
    }
}

#[test]
fn guesses_are_shown_and_never_made() {
    let of = |stage: &str| {
        format!(
            "Pipeline(version: 1,
            inputs: {{\"x1\": Npy(path: \"x.npy\", type: \"f32[100]\"), \"x2\": Npy(path: \"y.npy\", type: \"f32[100]\")}},
            stages: {{\"a\": {stage}}}, outputs: {{\"a\": Npy(path: \"a.npy\", from: \"a\")}})"
        )
    };
    let cases = [
        // stage, status, what was perhaps meant
        ("(do: \"sum(x3)\")", 1, "did you mean `x1`?"),
        ("(do: \"srqt(x1)\")", 1, "did you mean `sqrt`?"),
        ("(cpu: 2, do: \"sum(x1)\")", 1, "did you mean `cpus`?"),
        (
            "(gpus: 1, gpu_type: \"L40\", do: \"sum(x1)\")",
            1,
            "did you mean `L4",
        ),
        (
            "(any_of: [(gpus: 1, gpu_type: \"GeForce-4090\"), (cpus: 1)], do: \"sum(x1)\")",
            0,
            "did you mean `RTX4090`?",
        ),
    ];
    for (stage, expected, meant) in cases {
        let text = of(stage);
        let (status, said, after) = fixed(&text, &["--target", "a100"]);
        assert_eq!(
            (status, after.as_str()),
            (expected, text.as_str()),
            "{said}"
        );
        assert!(said.contains(meant), "{meant}\n{said}");
        assert!(said.contains("p.ron: nothing to change\n"), "{said}");
    }
}

/// A GPU that no op uses, which `--fix` takes out.
const IDLE: &str = "Pipeline(version: 1,
    inputs: {\"x\": Npy(path: \"x.npy\", type: \"f32[100]\")},
    stages: {\"a\": (gpus: 1, do: \"sum(x)\")},
    outputs: {\"a\": Npy(path: \"a.npy\", from: \"a\")})";

#[test]
fn what_is_only_supposed_is_not_written() {
    for supposed in [["--set", "n=1"], ["--pin", "a=cpu"]] {
        let more = [&["--target", "a100"], &supposed[..]].concat();
        let (status, said, after) = fixed(IDLE, &more);
        assert_eq!((status, after.as_str()), (2, IDLE), "{said}");
        assert!(said.contains("only suppose"), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn the_file_behind_a_link_is_edited_and_keeps_its_mode() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = tempfile::tempdir().expect("a temporary folder");
    let (real, link) = (folder.path().join("real.ron"), folder.path().join("p.ron"));
    fs::write(&real, IDLE).expect("room for it");
    symlink("real.ron", &link).expect("a link");
    let fix = || {
        let mut command = support::haul();
        command.current_dir(folder.path());
        let args = ["check", "--fix", "p.ron", "--target", "a100"];
        let (status, _, said) = outcome(command.args(args));
        (status, said)
    };
    let set_mode = |mode| {
        fs::set_permissions(&real, fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    let mode = || real.metadata().expect("it is there").permissions().mode() & 0o777;

    set_mode(0o444);
    let (status, said) = fix();
    assert_eq!((status, mode()), (2, 0o444), "{said}");
    assert_eq!(said, "error: could not write p.ron: it is read-only\n");
    assert_eq!(read(&real), IDLE);

    set_mode(0o640);
    let (status, said) = fix();
    assert_eq!((status, mode()), (0, 0o640), "{said}");
    assert!(link.is_symlink(), "{said}");
    assert_eq!(read(&real), IDLE.replace("gpus: 1, ", ""));
}

#[test]
fn a_gpu_refused_in_so_many_words_is_requested_once() {
    let text = "Pipeline(version: 1,
        inputs: {\"x\": Npy(path: \"x.npy\", type: \"f32[8192, 8192]\")},
        stages: {
            \"a\": (gpus: 2, any_of: [(gpus: 0, cpus: 8)], do: \"x @ x\"),
        },
        outputs: {\"a\": Npy(path: \"a.npy\", from: \"a\")})";
    let (status, said, after) = fixed(text, &["--target", "a100"]);
    assert_eq!(status, 0, "{said}");
    let expected = text.replace("gpus: 0", "gpus: 1, gpu_type: \"A100-80GB\"");
    assert_eq!(after, expected, "{said}");
}

#[test]
fn what_cannot_be_mended_stays() {
    let text = "Pipeline(version: 2, stages: {\"a\": (do: \"1\")})";
    let (status, said, after) = fixed(text, &[]);
    assert_eq!((status, after.as_str()), (1, text), "{said}");
    assert!(said.contains("p.ron: nothing to change\n"), "{said}");
}
