//! Programs in place of formulas: what they are given, and what becomes of what they do.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::support::arrays::read_array;
use crate::support::{self, outcome};

/// A pipeline in a folder of its own, and another folder for temporary files.
struct Case {
    folder: TempDir,
    temporary: TempDir,
}

/// What a run said.
struct Said {
    status: i32,
    stdout: String,
    stderr: String,
}

impl Case {
    /// A pipeline with an input `x` of f32[4], these stages, and an output of `y`.
    fn new(stages: &str, output: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = format!(
            "Pipeline(
                version: 1,
                params: {{ \"rate\": 0.5 }},
                inputs: {{ \"x\": Npy(path: \"x.npy\", type: \"f32[n]\") }},
                stages: {{ {stages} }},
                outputs: {{ \"y\": {output} }},
            )"
        );
        fs::write(folder.path().join("case.ron"), text).expect("a pipeline");
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }";
        let mut x = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        x.extend(format!("{header:<117}\n").bytes());
        x.extend(
            [1.0_f32, 2.0, 3.0, 4.0]
                .iter()
                .flat_map(|number| number.to_le_bytes()),
        );
        fs::write(folder.path().join("x.npy"), x).expect("an array");
        let temporary = tempfile::tempdir().expect("a temporary folder");
        Self { folder, temporary }
    }

    /// Of one stage that runs a script of the shell, which has `{x}` as `$1` and `{out}` as `$2`.
    fn script(script: &str, rest: &str) -> Self {
        let stages = "\"y\": (command: (argv: [\"sh\", \"./script\", \"{x}\", \"{out}\"], ";
        let case = Self::new(&format!("{stages}{rest})"), NPY);
        fs::write(case.path("script"), script).expect("a script");
        case
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self) -> Command {
        let mut command = support::haul();
        command
            .args(["run", "--cpus", "1"])
            .arg(self.path("case.ron"))
            .env("TMPDIR", self.temporary.path());
        command
    }

    fn run(&self) -> Said {
        let (status, stdout, stderr) = outcome(&mut self.command());
        let left = support::files(self.temporary.path(), "");
        assert!(left.is_empty(), "temporary files are left: {left:?}");
        Said {
            status,
            stdout,
            stderr,
        }
    }

    /// Runs it, which has to fail saying these.
    fn fails(&self, texts: &[&str]) {
        let said = self.run();
        assert_eq!(said.status, 1, "{}", said.stderr);
        for text in texts {
            assert!(said.stderr.contains(text), "{text}\n{}", said.stderr);
        }
        assert!(!self.path("out").exists(), "an output was written");
    }
}

const NPY: &str = "Npy(path: \"out/y.npy\", from: \"y\")";
const TEXT: &str = "Text(path: \"out/y.txt\", from: \"y\")";

#[test]
fn values_go_to_a_program_and_come_back() {
    let case = Case::script("cp \"$1\" \"$2\"", "out: \"f32[m]\")");
    let said = case.run();
    assert_eq!(said.status, 0, "{}", said.stderr);
    let back = read_array(&case.path("out/y.npy"));
    assert_eq!(
        (back.shape, back.elements),
        (vec![4], vec![1.0, 2.0, 3.0, 4.0])
    );
    // Numbers stand in the arguments themselves, texts are files, braces are doubled.
    let stages = "
        \"z\": (command: (argv: [\"sh\", \"-c\", \"printf a > \\\"$0\\\"\", \"{out}\"], out: \"text\")),
        \"y\": (command: (argv: [\"sh\", \"./script\", \"{rate}\", \"{n}{{{n}}}\", \"{z}\", \"{out}\"], out: \"text\")),
    ";
    let case = Case::new(stages, TEXT);
    let script = "echo \"$1 $2 $(cat \"$3\")\" > \"$4\"";
    fs::write(case.path("script"), script).expect("a script");
    let said = case.run();
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert_eq!(support::read(&case.path("out/y.txt")), "0.5 4{4} a\n");
}

#[test]
fn a_program_sees_little_of_the_environment() {
    let stages = "\"y\": (command: (argv: [\"sh\", \"./script\", \"{out}\"], out: \"text\"))";
    let case = Case::new(stages, TEXT);
    let script = "{ pwd -P; env; } > \"$1\"";
    fs::write(case.path("script"), script).expect("a script");
    let mut command = case.command();
    let (status, _, stderr) = outcome(command.env("SECRET", "1").env("LANG", "C"));
    assert_eq!(status, 0, "{stderr}");
    let told = support::read(&case.path("out/y.txt"));
    let mut lines = told.lines();
    let here = case.folder.path().canonicalize().expect("a folder");
    assert_eq!(lines.next().map(Path::new), Some(here.as_path()));
    // A shell adds some of its own.
    let names = lines.filter_map(|line| line.split_once('=').map(|(name, _)| name));
    let mut names: Vec<_> = names
        .filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name))
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "LANG", "OMP_NUM_THREADS", "PATH", "TMPDIR"]);
    assert!(told.contains("OMP_NUM_THREADS=1\n"));
}

#[test]
fn a_program_that_fails_is_told_with_what_it_said() {
    let script = "echo first; for i in $(seq 99); do echo line $i >&2; done; exit 3";
    Case::script(script, "out: \"f32[m]\")").fails(&[
        "stage `y`, op `y`: `sh` ended with exit status 3\n  stderr, the end of it:\n    line 80\n",
        "    line 99\n  stdout:\n    first\n  arguments: f32[4]",
    ]);
    Case::script("kill -9 $$", "out: \"f32[m]\")").fails(&["`sh` was killed by signal 9"]);
}

#[test]
fn what_a_program_writes_is_checked() {
    let is_refused = |script: &str, rest: &str, text: &str| {
        Case::script(script, rest).fails(&["its `{out}`", text]);
    };
    is_refused("true", "out: \"f32[m]\")", "it was not written");
    is_refused(
        "head -c 130 \"$1\" > \"$2\"",
        "out: \"f32[m]\")",
        "it is truncated",
    );
    is_refused(
        "echo nothing > \"$2\"",
        "out: \"f32[m]\")",
        "it is not a .npy file",
    );
    is_refused(
        "mkdir \"$2\"",
        "out: \"f32[m]\")",
        "it is not a regular file",
    );
    is_refused(
        "mkfifo \"$2\"",
        "out: \"f32[m]\")",
        "it is not a regular file",
    );
    is_refused(
        "cp \"$1\" \"$2\"",
        "out: \"f64[m]\")",
        "it holds f32, not f64",
    );
    is_refused(
        "cp \"$1\" \"$2\"",
        "out: \"f32[2*n]\")",
        "it is f32[4], not f32[8] as declared",
    );
    is_refused(
        "cp \"$1\" \"$2\"",
        "out: \"f32[n, 1]\")",
        "it is f32[4], not f32[4, 1] as declared",
    );
    let stages = "\"y\": (command: (argv: [\"sh\", \"./script\", \"{out}\"], out: \"text\"))";
    let case = Case::new(stages, TEXT);
    fs::write(case.path("script"), "printf '\\377' > \"$1\"").expect("a script");
    case.fails(&["its `{out}`", "not UTF-8"]);
}

/// 16 MiB of zeros, of which the file system keeps none.
#[test]
fn a_result_is_held_against_the_memory_of_its_task() {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4194304,), }";
    let script = format!(
        "printf '\\223NUMPY\\001\\000\\166\\000%-117s\\n' \"{header}\" > \"$2\"
        dd if=/dev/null of=\"$2\" bs=1 seek=16777344 2> /dev/null"
    );
    let case = Case::script(&script, "out: \"f32[m]\"), memory: \"8 MiB\"");
    case.fails(&[
        "`y` needs 16 MiB",
        "of the 8 MiB it requested",
        "request `memory: \"17 MiB\"`",
    ]);
    let case = Case::script(&script, "out: \"f32[m]\"), memory: \"64 MiB\"");
    let said = case.run();
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert_eq!(read_array(&case.path("out/y.npy")).shape, [4_194_304]);
}

#[test]
fn a_program_is_looked_for_before_anything_runs() {
    let stages = "
        \"first\": (do: \"x + 1\"),
        \"y\": (command: (argv: [\"no-such-program\", \"{first}\", \"{out}\"], out: \"f32[n]\")),
    ";
    let case = Case::new(stages, NPY);
    case.fails(&[
        "stage `y`: there is no program `no-such-program`",
        "folders of `PATH`",
    ]);
    let (_, _, stderr) = outcome(&mut case.command());
    assert!(!stderr.contains("first: 1 of 1"), "{stderr}");
    let mut check = support::haul();
    let (status, _, stderr) = outcome(check.arg("check").arg(case.path("case.ron")));
    assert_eq!(status, 0, "{stderr}");
}

#[test]
fn a_program_is_tried_again() {
    let script = "echo again >> tries; test $(wc -l < tries) -gt 2 && cp \"$1\" \"$2\"";
    let case = Case::script(script, "out: \"f32[m]\"), retries: 2");
    let said = case.run();
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert!(
        said.stdout.contains("retried y 2 times\n"),
        "{}",
        said.stdout
    );
    let case = Case::script(script, "out: \"f32[m]\"), retries: 1");
    case.fails(&["the last of 2 attempts: `sh` ended with exit status 1"]);
    assert_eq!(support::read(&case.path("tries")), "again\nagain\n");
}

/// A program that takes no notice of being asked to end, and one that it started: both are gone.
#[cfg(unix)]
#[test]
fn a_program_is_killed_with_all_it_started() {
    let script = "trap '' TERM; sleep 600 & echo $! > child; echo $$ > parent; echo here >&2; wait; sleep 600";
    let case = Case::script(script, "out: \"f32[m]\"), timeout: \"200 ms\"");
    case.fails(&["longer than its timeout of 200ms and was killed\n  stderr:\n    here"]);
    assert_gone(&case);
    // Nor does what a program leaves behind outlive it.
    let script = "sleep 600 & echo $! > child; cp child parent; cp \"$1\" \"$2\"";
    let case = Case::script(script, "out: \"f32[m]\")");
    assert_eq!(case.run().status, 0);
    assert_gone(&case);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_program() {
    let script = "sleep 600 & echo $! > child; echo $$ > started; mv started parent; wait";
    let case = Case::script(script, "out: \"f32[m]\")");
    let mut run = case.command();
    let mut run = run
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let patience = Instant::now() + Duration::from_secs(60);
    while !case.path("parent").exists() {
        assert!(Instant::now() < patience, "the program does not start");
        thread::sleep(Duration::from_millis(5));
    }
    let pid = run.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.expect("kill starts").success());
    let stderr = BufReader::new(run.stderr.take().expect("a pipe"));
    let said: Vec<_> = stderr.lines().map(|line| line.expect("UTF-8")).collect();
    assert_eq!(run.wait().expect("it ends").code(), Some(130), "{said:?}");
    assert_gone(&case);
    assert!(support::files(case.temporary.path(), "").is_empty());
}

/// Whether the processes that noted their numbers have ended. One that was killed is there until
/// whoever inherits it has looked.
#[cfg(unix)]
fn assert_gone(case: &Case) {
    for name in ["child", "parent"] {
        let pid = support::read(&case.path(name));
        let patience = Instant::now() + Duration::from_secs(10);
        loop {
            let state = Command::new("ps")
                .args(["-o", "stat=", "-p", pid.trim()])
                .output();
            let state = state.expect("ps starts").stdout;
            if state.is_empty() || state.starts_with(b"Z") {
                break;
            }
            assert!(Instant::now() < patience, "{name} still runs");
            thread::sleep(Duration::from_millis(10));
        }
    }
}
