//! The GitHub action and the pre-commit hook: the steps that their files name, on a repository of
//! its own, with a `gh` that keeps comments in a folder.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{self, outcome, read, root};

const PROJECT: &str = r#"Project(
    version: 1,
    snapshots: [(pipelines: "flows/*.ron", targets: ["a100", "cpu"])],
    policies: (max_makespan_growth: "900 %", no_cpu: ["product"]),
)"#;

const PRODUCT: &str = r#"Pipeline(
    version: 1,
    inputs: {"x": Npy(path: "x.npy", type: "f32[4096, 4096]")},
    stages: {"product": (any_of: [(gpus: 1, memory: "4 GiB"), (cpus: 4)], do: "x @ x")},
    outputs: {"product": Npy(path: "product.npy", from: "product")},
)"#;

/// Stands in for `gh api`: a comment is a file, named by its id. Where the real one filters by the
/// marker, so does this: by whether the first line of the comment is part of the filter. Beside a
/// file `read-only` it may not write.
const GH: &str = r#"#!/usr/bin/env bash
set -euo pipefail
cd "$COMMENTS"
case "$*" in *--method*)
  if [ -e ../read-only ]; then
    echo "gh: Resource not accessible by integration (HTTP 403)" >&2
    exit 1
  fi ;;
esac
for arg; do
  case $arg in
    body=@*) body=${arg#body=@} ;;
    repos/owner/name/issues/comments/*) id=${arg##*/} ;;
  esac
done
case "$*" in
  "api --paginate repos/owner/name/issues/7/comments --jq "*)
    for id in *; do
      case "$*" in *"\"$(head -n 1 "$id")\""*) echo "$id" ;; esac
    done ;;
  *"--method POST repos/owner/name/issues/7/comments"*) cp "$body" "$((100 + $(ls | wc -l)))" ;;
  *"--method PATCH"*) test -e "$id" && cp "$body" "$id" ;;
  *"--method DELETE"*) rm "$id" ;;
  *) echo "what is gh $*?" >&2; exit 64 ;;
esac
"#;

/// A repository with a pull request, number 7.
struct Repository {
    folder: TempDir,
    elsewhere: TempDir,
    base: String,
}

impl Repository {
    fn new() -> Self {
        let [folder, elsewhere] =
            [(); 2].map(|()| tempfile::tempdir().expect("a temporary folder"));
        fs::create_dir(folder.path().join("flows")).expect("a folder");
        fs::create_dir(elsewhere.path().join("comments")).expect("a folder");
        fs::create_dir(elsewhere.path().join("bin")).expect("a folder");
        let gh = elsewhere.path().join("bin/gh");
        fs::write(&gh, GH).expect("a file");
        fs::set_permissions(&gh, fs::Permissions::from_mode(0o755)).expect("a mode");
        let mut repository = Self {
            folder,
            elsewhere,
            base: String::new(),
        };
        fs::write(repository.comments().join("1"), "Nice!\n").expect("a file");
        repository.write("haul.ron", PROJECT);
        repository.write("flows/product.ron", PRODUCT);
        repository.accept();
        repository.git(&["init", "--quiet"]);
        repository.git(&["add", "."]);
        repository.git(&["commit", "--quiet", "--message", "plans"]);
        repository.base = repository.git(&["rev-parse", "HEAD"]).trim().to_owned();
        repository
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.folder.path().join(path), text).expect("a file");
    }

    fn accept(&self) {
        let mut haul = support::haul();
        support::stdout(
            haul.current_dir(&self.folder)
                .args(["snapshot", "--accept"]),
        );
    }

    fn comments(&self) -> PathBuf {
        self.elsewhere.path().join("comments")
    }

    /// The comments of the action, with their names; the one of a person is left alone.
    fn posted(&self) -> Vec<(String, String)> {
        let entries = fs::read_dir(self.comments()).expect("a folder");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let comment = |path: PathBuf| {
            let name = path
                .file_name()
                .expect("a file")
                .to_string_lossy()
                .into_owned();
            (name, read(&path))
        };
        let mut comments: Vec<_> = paths.map(comment).collect();
        comments.sort();
        assert_eq!(comments.remove(0), ("1".to_owned(), "Nice!\n".to_owned()));
        comments
    }

    fn git(&self, args: &[&str]) -> String {
        support::stdout(self.command("git").args(args))
    }

    /// A command in the repository that knows nobody's settings.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder);
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "haul");
            command.env(format!("GIT_{role}_EMAIL"), "haul@example.com");
        }
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        let haul = Path::new(env!("CARGO_BIN_EXE_haul"))
            .parent()
            .expect("a folder");
        let ours = [self.elsewhere.path().join("bin"), haul.to_owned()];
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = ours.into_iter().chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).expect("folders"));
        command
    }

    /// What the runs said in their summaries.
    fn summary(&self) -> String {
        fs::read_to_string(self.elsewhere.path().join("summary")).unwrap_or_default()
    }

    /// Runs the steps of the action as GitHub does: the status of the first that fails, and what was
    /// said on stderr.
    fn act(&self) -> (i32, String) {
        let action: Value = yaml("scripts/github-action/action.yml");
        assert_eq!(action["runs"]["using"], "composite");
        let mut said = String::new();
        for step in action["runs"]["steps"].as_array().expect("steps") {
            // The binary is given.
            if let Some(condition) = step["if"].as_str() {
                assert_eq!(condition, "inputs.haul == ''");
                continue;
            }
            let mut bash = self.command("bash");
            assert_eq!(step["shell"], "bash");
            let run = step["run"].as_str().expect("a command");
            bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", run]);
            bash.env("GITHUB_ACTION_PATH", root().join("scripts/github-action"));
            bash.env("COMMENTS", self.comments());
            bash.env("GITHUB_STEP_SUMMARY", self.elsewhere.path().join("summary"));
            for (name, expression) in step["env"].as_object().into_iter().flatten() {
                bash.env(name, self.value_of(expression.as_str().expect("a text")));
            }
            let (status, _, stderr) = outcome(&mut bash);
            said += &stderr;
            if status != 0 {
                return (status, said);
            }
        }
        (0, said)
    }

    fn value_of(&self, expression: &str) -> String {
        let inner = expression
            .strip_prefix("${{ ")
            .and_then(|e| e.strip_suffix(" }}"));
        match inner.expect("an expression") {
            "inputs.haul || format('{0}/haul/bin/haul', runner.temp)" => {
                env!("CARGO_BIN_EXE_haul").to_owned()
            }
            "github.event.pull_request.base.sha" => self.base.clone(),
            "github.event.pull_request.number" => "7".to_owned(),
            "github.repository" => "owner/name".to_owned(),
            "inputs.token" => "secret".to_owned(),
            other => panic!("what is {other}?"),
        }
    }
}

fn yaml(path: &str) -> Value {
    let text = read(&root().join(path));
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn one_comment_follows_the_pull_request() {
    let repository = Repository::new();
    // Nothing changed but a comment.
    repository.write("flows/product.ron", &format!("// A product.\n{PRODUCT}"));
    assert_eq!(repository.act(), (0, String::new()));
    assert_eq!(repository.posted(), []);
    // Something did.
    repository.write("flows/product.ron", &PRODUCT.replace("x @ x", "x @ x + 1"));
    repository.accept();
    assert_eq!(repository.act(), (0, String::new()));
    let posted = repository.posted();
    let [(id, comment)] = &posted[..] else {
        panic!("{posted:?}")
    };
    assert!(comment.starts_with("<!-- haul plans -->\n"), "{comment}");
    for told in ["product", "a100", "cpu", "add("] {
        assert!(comment.contains(told), "no {told} in {comment}");
    }
    // The next push changes the comment.
    repository.write("flows/product.ron", &PRODUCT.replace("x @ x", "exp(x @ x)"));
    assert_eq!(repository.act(), (0, String::new()));
    let posted = repository.posted();
    let [(same, comment)] = &posted[..] else {
        panic!("{posted:?}")
    };
    assert_eq!(same, id);
    assert!(
        comment.contains("exp(") && !comment.contains("add("),
        "{comment}"
    );
    // And the last takes it back.
    repository.write("flows/product.ron", PRODUCT);
    assert_eq!(repository.act(), (0, String::new()));
    assert_eq!(repository.posted(), []);
}

#[test]
fn a_policy_fails_the_action_and_is_in_the_comment() {
    let repository = Repository::new();
    repository.write("flows/product.ron", &PRODUCT.replace("4096", "64"));
    repository.accept();
    let (status, stderr) = repository.act();
    assert_eq!(status, 3, "{stderr}");
    assert!(stderr.contains("no_cpu \"product\""), "{stderr}");
    let [(_, comment)] = &repository.posted()[..] else {
        panic!("one comment")
    };
    assert!(comment.contains("no_cpu"), "{comment}");
}

#[test]
fn what_has_no_plan_fails_the_action_and_is_in_the_comment() {
    let repository = Repository::new();
    repository.write("flows/product.ron", &PRODUCT.replace("x @ x", "x @ y"));
    let (status, stderr) = repository.act();
    assert_eq!(status, 1, "{stderr}");
    assert!(stderr.contains("flows/product.ron"), "{stderr}");
    let [(_, comment)] = &repository.posted()[..] else {
        panic!("one comment")
    };
    assert!(comment.contains("0 of 2 plans changed"), "{comment}");
    assert!(
        comment.contains("flows/product.a100.plan cannot be made"),
        "{comment}"
    );
}

#[test]
fn a_token_that_only_reads_puts_the_comment_into_the_summary() {
    let repository = Repository::new();
    fs::write(repository.elsewhere.path().join("read-only"), "").expect("a file");
    repository.write("flows/product.ron", &PRODUCT.replace("x @ x", "x @ x + 1"));
    repository.accept();
    let (status, stderr) = repository.act();
    assert_eq!(status, 0, "{stderr}");
    assert!(stderr.contains("could not write the comment"), "{stderr}");
    assert_eq!(repository.posted(), []);
    let summary = repository.summary();
    assert!(summary.starts_with("<!-- haul plans -->\n### haul: 2 of 2 plans changed\n"));
    assert!(summary.contains("add("), "{summary}");
    // What fails, fails all the same.
    repository.write("flows/product.ron", &PRODUCT.replace("4096", "64"));
    repository.accept();
    let (status, stderr) = repository.act();
    assert_eq!(status, 3, "{stderr}");
    assert!(repository.summary().contains("no_cpu"));
    // Nothing changed: there is nothing to write.
    repository.write("flows/product.ron", PRODUCT);
    let said = repository.summary();
    assert_eq!(repository.act(), (0, String::new()));
    assert_eq!(repository.summary(), said);
}

#[test]
fn what_cannot_be_told_fails_the_action_without_a_comment() {
    let repository = Repository::new();
    repository.write("haul.ron", "Project(version: 2)");
    let (status, stderr) = repository.act();
    assert_eq!(status, 2, "{stderr}");
    assert!(stderr.contains("haul.ron:1"), "{stderr}");
    assert_eq!(repository.posted(), []);
}

#[test]
fn the_hook_holds_plans() {
    let hooks: Value = yaml(".pre-commit-hooks.yaml");
    let hook = &hooks[0];
    assert_eq!(
        (&hook["id"], &hook["language"]),
        (&"haul-snapshot".into(), &"rust".into())
    );
    assert_eq!(hook["pass_filenames"], false);
    // It runs where a file changes that a plan is made of, or a plan.
    let files = hook["files"].as_str().expect("a pattern");
    let endings = files
        .strip_prefix(r"\.(")
        .and_then(|rest| rest.strip_suffix(")$"));
    let endings: Vec<_> = endings.expect("a list of endings").split('|').collect();
    for file in ["haul.ron", "flows/product.ron", "flows/product.a100.plan"] {
        let ending = file.rsplit('.').next().expect("an ending");
        assert!(endings.contains(&ending), "{file} does not match {files}");
    }
    let repository = Repository::new();
    let run = || {
        let mut words = hook["entry"].as_str().expect("a command").split(' ');
        let mut command = repository.command(words.next().expect("a program"));
        outcome(command.args(words))
    };
    assert_eq!(run(), (0, String::new(), String::new()));
    repository.write("flows/product.ron", &PRODUCT.replace("4096", "2048"));
    let (status, _, stderr) = run();
    assert_eq!(status, 1);
    assert!(stderr.contains("haul snapshot --accept"), "{stderr}");
    repository.accept();
    assert_eq!(run().0, 0);
}
