//! `haul diff` on revisions of git.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::support::{self, outcome};

const SUM: &str = r#"Pipeline(
    version: 1,
    inputs: {"x": Npy(path: "data/x.npy")},
    stages: {"total": (do: "sum(x)")},
    outputs: {"total": Npy(path: "total.npy", from: "total")},
)"#;

const LAB: &str = r#"Target(nodes: {"node": (cpus: 4, memory: "8 GiB")})"#;

/// A repository whose path and folders have spaces and letters beyond ASCII, one revision in it.
struct Repository(TempDir);

impl Repository {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::Builder::new().prefix("größe x ").tempdir();
        let repository = Self(folder.expect("a temporary folder"));
        repository.git(&["init", "--quiet"]);
        repository.write(files);
        repository.write_array(1_000);
        repository.commit("first");
        repository
    }

    fn write(&self, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = self.0.path().join(path);
            fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
    }

    /// `flows/data/x.npy`: so many zeros of `f32`.
    fn write_array(&self, size: usize) {
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({size},), }}");
        let header = format!("{header:<117}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        bytes.resize(bytes.len() + 4 * size, 0);
        let folder = self.0.path().join("flows/data");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("x.npy"), bytes).expect("a file");
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    fn git(&self, args: &[&str]) {
        let mut git = Command::new("git");
        git.current_dir(self.0.path()).args(args);
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "somebody");
            git.env(format!("GIT_{who}_EMAIL"), "somebody@example.com");
        }
        let (status, _, stderr) = outcome(&mut git);
        assert_eq!(status, 0, "git {args:?}: {stderr}");
    }

    /// Status, stdout and stderr of `haul diff` in a folder of the repository.
    fn diff(&self, folder: &str, args: &[&str]) -> (i32, String, String) {
        let folder = self.0.path().join(folder);
        outcome(support::haul().current_dir(folder).arg("diff").args(args))
    }
}

fn project(snapshots: &str) -> String {
    format!("Project(version: 1, targets: [\"cpu\"], snapshots: [{snapshots}])")
}

#[test]
fn a_revision_is_planned_with_its_own_data() {
    let repository = Repository::new(&[("flows/sum.ron", SUM)]);
    let args = ["HEAD:flows/sum.ron", "flows/sum.ron", "--target", "cpu"];
    let (status, stdout, stderr) = repository.diff("", &args);
    assert_eq!((status, stderr.as_str()), (0, ""), "{stdout}");
    assert_eq!(stdout, "plan sum on cpu: no changes\n");
    // The type stands in the header only, which has grown.
    repository.write_array(5_000);
    let (status, stdout, stderr) = repository.diff("", &args);
    assert_eq!(status, 1, "{stderr}");
    assert!(
        stdout.contains("~ input x type f32[1000] -> f32[5000]"),
        "{stdout}"
    );
    // From a folder below, by git's own rule for paths.
    let args = [
        "HEAD:./sum.ron",
        "sum.ron",
        "--target",
        "cpu",
        "--format",
        "json",
    ];
    let (status, stdout, _) = repository.diff("flows", &args);
    assert_eq!(status, 1);
    let json: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(json["diffs"][0]["work"][0]["new"], "f32[5000]");
    // Nothing was left behind or changed.
    repository.git(&["diff", "--cached", "--quiet"]);
}

#[test]
fn what_is_not_there_is_told() {
    let repository = Repository::new(&[("flows/sum.ron", SUM)]);
    for (old, told) in [
        (
            "HEAD:flows/product.ron",
            "HEAD:flows/product.ron is not there",
        ),
        ("nothing:flows/sum.ron", "git knows no revision `nothing`"),
        ("--upload-pack=x:flows/sum.ron", "unexpected argument"),
        ("HEAD:../../etc/passwd", "is not there"),
    ] {
        let (status, stdout, stderr) =
            repository.diff("", &[old, "flows/sum.ron", "--target", "cpu"]);
        assert_eq!((status, stdout.as_str()), (2, ""), "{old}");
        assert!(stderr.contains(told), "{old}: {stderr}");
    }
}

#[test]
fn all_plans_since_a_revision_come_go_and_change() {
    let entry = r#"(pipelines: "flows/*.ron", targets: ["cpu", "lab.ron"])"#;
    let repository = Repository::new(&[
        ("haul.ron", &project(entry)),
        ("lab.ron", LAB),
        ("flows/sum.ron", SUM),
        ("flows/old.ron", &SUM.replace("sum(x)", "max(x)")),
    ]);
    let (status, stdout, stderr) = repository.diff("", &["--base", "HEAD"]);
    assert_eq!(status, 0, "{stdout}{stderr}");
    let markdown = ["--base", "HEAD", "--format", "markdown"];
    assert_eq!(
        repository.diff("flows", &markdown),
        (0, String::new(), String::new())
    );

    fs::remove_file(repository.0.path().join("flows/old.ron")).expect("a file");
    repository.write(&[
        ("flows/new.ron", &SUM.replace("sum(x)", "min(x)")),
        ("lab.ron", &LAB.replace("cpus: 4", "cpus: 16")),
    ]);
    let (status, stdout, stderr) = repository.diff("", &["--base", "HEAD"]);
    assert_eq!(status, 1, "{stderr}");
    for line in [
        "plan new on cpu: 1 added, 0 removed",
        "plan old on cpu: 0 added, 1 removed",
        "5 of 6 plans changed",
        "~ node node is 1 x 4 cpus, 8 GiB -> 1 x 16 cpus, 8 GiB",
    ] {
        assert!(stdout.contains(line), "{line}\n{stdout}");
    }
}

#[test]
fn without_a_project_at_the_revision_all_plans_are_new() {
    let repository = Repository::new(&[("flows/sum.ron", SUM)]);
    repository.write(&[(
        "haul.ron",
        &project(r#"(pipelines: "flows/*.ron", targets: ["cpu"])"#),
    )]);
    let (status, stdout, stderr) = repository.diff("", &["--base", "HEAD"]);
    assert_eq!(status, 1, "{stderr}");
    assert!(stdout.starts_with("plan sum on cpu: 1 added"), "{stdout}");
}

#[test]
fn plan_files_and_pipelines_compare() {
    let repository = Repository::new(&[("flows/sum.ron", SUM)]);
    let plan = |format: &str| {
        let args = [
            "plan",
            "flows/sum.ron",
            "--target",
            "cpu",
            "--format",
            format,
        ];
        support::stdout(support::haul().current_dir(repository.0.path()).args(args))
    };
    repository.write(&[("sum.plan", &plan("snapshot")), ("sum.json", &plan("json"))]);
    for (old, new) in [
        ("sum.plan", "flows/sum.ron"),
        ("flows/sum.ron", "sum.json"),
        ("sum.json", "sum.plan"),
    ] {
        let (status, stdout, stderr) = repository.diff("", &[old, new]);
        assert_eq!(
            (status, stdout.as_str()),
            (0, "plan sum on cpu: no changes\n"),
            "{stderr}"
        );
    }
    let broken = fs::read_to_string(repository.0.path().join("sum.plan")).expect("a plan");
    repository.write(&[("broken.plan", &broken.replace("place cpu", "place left"))]);
    let (status, _, stderr) = repository.diff("", &["broken.plan", "sum.json"]);
    assert_eq!(status, 2);
    let line = broken
        .lines()
        .position(|line| line.contains("place cpu"))
        .expect("a line");
    assert!(
        stderr.contains(&format!("broken.plan:{}:", line + 1)),
        "{stderr}"
    );
}

/// Whatever the user asks git to do elsewhere does not change what is compared.
#[test]
fn settings_of_git_do_not_matter() {
    let repository = Repository::new(&[("flows/sum.ron", SUM)]);
    repository.git(&["config", "core.autocrlf", "true"]);
    repository.git(&["config", "core.quotePath", "true"]);
    let bound = Path::new("flows").join("größe.ron");
    fs::write(repository.0.path().join(&bound), SUM).expect("a file");
    repository.commit("second");
    let old = format!("HEAD:{}", bound.display());
    let new = bound.to_string_lossy().into_owned();
    let (status, stdout, stderr) = repository.diff("", &[&old, &new, "--target", "cpu"]);
    assert_eq!(status, 0, "{stdout}{stderr}");
}

#[test]
fn what_had_a_mistake_at_the_revision_had_no_plan() {
    let entry = r#"(pipelines: "flows/*.ron", targets: ["cpu"], policies: (POLICIES))"#;
    let repository = Repository::new(&[
        ("haul.ron", &project(&entry.replace("POLICIES", ""))),
        ("flows/sum.ron", &SUM.replace("sum(x)", "smu(x)")),
        ("flows/top.ron", &SUM.replace("x.npy", "y.npy")),
        ("flows/old.ron", &SUM.replace("sum(x)", "mxa(x)")),
    ]);
    fs::remove_file(repository.0.path().join("flows/old.ron")).expect("a file");
    repository.write(&[("flows/sum.ron", SUM), ("flows/top.ron", SUM)]);
    let (status, stdout, stderr) = repository.diff("", &["--base", "HEAD"]);
    assert_eq!(
        (status, stdout.as_str()),
        (1, "0 of 0 plans changed\n"),
        "{stderr}"
    );
    for told in [
        "HEAD:flows/sum.ron:4",
        "HEAD:flows/top.ron:3",
        "`HEAD:flows/data/y.npy`: ",
        "note: flows/sum.cpu.plan had no plan at HEAD\n",
        "note: flows/top.cpu.plan had no plan at HEAD\n",
    ] {
        assert!(stderr.contains(told), "{told}\n{stderr}");
    }
    let temporary = std::env::temp_dir().join("haul-");
    assert!(!stderr.contains(&*temporary.to_string_lossy()), "{stderr}");
    let lists = ["flows/sum.cpu.plan", "flows/top.cpu.plan"]
        .map(|path| format!("{path} had no plan at HEAD"));
    let (status, stdout, _) = repository.diff("", &["--base", "HEAD", "--format", "markdown"]);
    let [sum, top] = &lists;
    assert_eq!(status, 1);
    assert_eq!(
        stdout,
        format!("### haul: 0 of 2 plans changed\n\n**No plan before**\n\n- `{sum}`\n- `{top}`\n")
    );
    let (_, stdout, _) = repository.diff("", &["--base", "HEAD", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(json["unplanned_before"], serde_json::json!(lists));
    // What the new plan has to keep to, it has to keep to.
    let strict = entry.replace("POLICIES", r#"max_makespan: "1 ns""#);
    repository.write(&[("haul.ron", &project(&strict))]);
    let (status, _, stderr) = repository.diff("", &["--base", "HEAD"]);
    assert_eq!(status, 3);
    assert!(
        stderr.contains("policy: sum on cpu: max_makespan"),
        "{stderr}"
    );
}

#[test]
fn a_mistake_in_the_project_at_the_revision_makes_all_plans_new() {
    let now = project(r#"(pipelines: "flows/*.ron", targets: ["cpu"])"#);
    for (before, told) in [
        ("Project(version: 2)".to_owned(), "HEAD:haul.ron:1"),
        (
            now.replace("flows", "flow"),
            "HEAD:haul.ron:1:63: `flow/*.ron`: no file",
        ),
        (
            now.replace("[\"cpu\"])", "[\"lab.ron\"])"),
            "could not read HEAD:lab.ron",
        ),
    ] {
        let repository = Repository::new(&[("haul.ron", &before), ("flows/sum.ron", SUM)]);
        repository.write(&[("haul.ron", &now)]);
        let (status, stdout, stderr) = repository.diff("", &["--base", "HEAD"]);
        assert_eq!(status, 1, "{stderr}");
        assert!(stdout.starts_with("plan sum on cpu: 1 added"), "{stdout}");
        assert!(
            stderr.starts_with("note: all plans count as new: "),
            "{stderr}"
        );
        assert!(stderr.contains(told), "{told}\n{stderr}");
        assert_eq!(stderr.matches("note").count(), 1, "{stderr}");
    }
}

#[test]
fn names_in_policies_that_are_in_no_plan_are_refused_last() {
    let entry = r#"(pipelines: "flows/*.ron", targets: ["cpu"], policies: (max_makespan: "1 ns", no_cpu: ["totl"]))"#;
    let repository = Repository::new(&[("haul.ron", &project(entry)), ("flows/sum.ron", SUM)]);
    let (status, stdout, stderr) = repository.diff("", &["--base", "HEAD"]);
    assert_eq!((status, stdout.as_str()), (2, "0 of 1 plans changed\n"));
    let (policy, name) = (
        stderr.find("policy: sum on cpu: max_makespan"),
        stderr.find("is called `totl`"),
    );
    assert!(policy.is_some() && policy < name, "{stderr}");
}

#[test]
fn plan_files_leave_nothing_to_plan() {
    let repository = Repository::new(&[("flows/sum.ron", SUM)]);
    let args = [
        "plan",
        "flows/sum.ron",
        "--target",
        "cpu",
        "--format",
        "snapshot",
    ];
    let plan = support::stdout(support::haul().current_dir(repository.0.path()).args(args));
    repository.write(&[("a.plan", &plan), ("b.plan", &plan)]);
    for flag in [
        ["--target", "cpu"],
        ["--set", "n=1"],
        ["--pin", "total=cpu"],
    ] {
        let (status, stdout, stderr) =
            repository.diff("", &[&["a.plan", "b.plan"], &flag[..]].concat());
        assert_eq!((status, stdout.as_str()), (2, ""), "{flag:?}");
        assert!(
            stderr.contains("two plan files leave nothing to plan"),
            "{stderr}"
        );
    }
    for flag in [["--set", "n=1"], ["--pin", "total=cpu"]] {
        let (status, _, stderr) = repository.diff("", &[&["--base", "HEAD"], &flag[..]].concat());
        assert_eq!(status, 2);
        assert!(stderr.contains("cannot be used with"), "{stderr}");
    }
}

#[test]
fn a_plan_that_is_too_large_is_not_cut() {
    let repository = Repository::new(&[("flows/sum.ron", SUM), ("a.plan", "plan a format 1\n")]);
    let file = fs::OpenOptions::new()
        .write(true)
        .open(repository.0.path().join("a.plan"));
    // A hole: no disk holds it.
    file.and_then(|file| file.set_len((1 << 30) + 1))
        .expect("a file with a hole");
    let (status, stdout, stderr) = repository.diff("", &["a.plan", "a.plan"]);
    assert_eq!((status, stdout.as_str()), (2, ""));
    assert!(
        stderr.contains("could not read a.plan: a plan has at most 1073741824 bytes"),
        "{stderr}"
    );
}

/// Trouble goes before policies, and these before what changed or does not compile.
#[test]
fn statuses_are_those_of_snapshots() {
    let entry = r#"(pipelines: "flows/*.ron", targets: ["cpu"], policies: (POLICIES))"#;
    let lax = project(&entry.replace("POLICIES", ""));
    let repository = Repository::new(&[
        ("haul.ron", &lax),
        ("flows/sum.ron", SUM),
        ("flows/top.ron", &SUM.replace("sum(x)", "max(x)")),
    ]);
    let broken = SUM.replace("sum(x)", "smu(x)");
    repository.write(&[("flows/top.ron", &broken)]);
    let (status, _, stderr) = repository.diff("", &["--base", "HEAD"]);
    assert_eq!(status, 1, "{stderr}");
    assert!(
        stderr.contains("flows/top.cpu.plan cannot be made"),
        "{stderr}"
    );
    let (status, stdout, stderr) = repository.diff("", &["flows/sum.ron", "flows/top.ron"]);
    assert_eq!((status, stdout.as_str()), (1, ""), "{stderr}");
    assert!(stderr.contains("flows/top.ron has no plan"), "{stderr}");

    let strict = project(&entry.replace("POLICIES", "max_makespan: \"1 ns\""));
    repository.write(&[("haul.ron", &strict)]);
    let (status, _, stderr) = repository.diff("", &["--base", "HEAD"]);
    assert_eq!(status, 3, "{stderr}");
    repository.write(&[("haul.ron", &strict.replace("flows", "flow"))]);
    let (status, _, stderr) = repository.diff("", &["--base", "HEAD"]);
    assert_eq!(status, 2, "{stderr}");
}

#[test]
fn between_two_targets_nothing_grows() {
    let declared =
        "Project(version: 1, targets: [\"cpu\"], policies: (max_makespan_growth: \"0 %\"))";
    let repository = Repository::new(&[("haul.ron", declared), ("flows/sum.ron", SUM)]);
    let plan = |target: &str| {
        let args = [
            "plan",
            "flows/sum.ron",
            "--target",
            target,
            "--format",
            "snapshot",
        ];
        support::stdout(support::haul().current_dir(repository.0.path()).args(args))
    };
    let cpu = plan("cpu");
    repository.write(&[("cpu.plan", &cpu), ("laptop.plan", &plan("laptop"))]);
    for sides in [["cpu.plan", "laptop.plan"], ["laptop.plan", "cpu.plan"]] {
        let (status, _, stderr) = repository.diff("", &sides);
        assert_eq!(status, 1, "{stderr}");
        assert!(
            stderr.starts_with("note: limits on growth do not bind between two targets, here "),
            "{stderr}"
        );
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
    // Of the same target they do.
    repository.write_array(5_000_000);
    let (status, _, stderr) = repository.diff("", &["cpu.plan", "flows/sum.ron"]);
    assert_eq!(status, 3, "{stderr}");
}
