//! The page that follows a pull request: its edits apply, its commands print what it shows.
#![cfg(unix)]

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::support::{blocks, is_shown, read, root};

const PAGE: &str = "docs/review.md";

#[test]
fn the_pull_request_goes_as_the_page_says() {
    let repository = repository();
    for (line, language, text) in blocks(&read(&root().join(PAGE))) {
        let place = format!("{PAGE}:{line}");
        match language.as_str() {
            "ron" => fs::write(repository.path().join("haul.ron"), &text).expect("a file"),
            "diff" => apply(repository.path(), &place, &text),
            "console" => session(repository.path(), &place, &text),
            other => panic!("{place}: a block of {other}"),
        }
    }
}

/// A repository of git with the pipeline that the page is about.
fn repository() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(folder.path().join("pipelines")).expect("a folder");
    let pipeline = "pipelines/mixed.ron";
    fs::copy(root().join(pipeline), folder.path().join(pipeline)).expect("a copy");
    let init = run(folder.path(), "git init --quiet", "");
    assert_eq!(init, "");
    folder
}

fn apply(folder: &Path, place: &str, patch: &str) {
    let said = run(folder, "git apply -", patch);
    assert_eq!(said, "", "{place}: the edit does not apply");
}

/// `$ command` lines with the output that follows them.
fn session(folder: &Path, place: &str, text: &str) {
    for part in format!("\n{text}").split("\n$ ").skip(1) {
        let (command, shown) = part.split_once('\n').unwrap_or((part, ""));
        let output = run(folder, command, "");
        assert!(
            is_shown(shown, &output),
            "{place}: `{command}` prints\n{output}"
        );
    }
}

/// What a command line prints: stdout, then stderr.
fn run(folder: &Path, line: &str, stdin: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder);
    command.env("PATH", with_haul()).env("HOME", folder);
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "somebody");
        command.env(format!("GIT_{who}_EMAIL"), "somebody@example.com");
    }
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = pipes.stderr(Stdio::piped()).spawn().expect("a shell");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(stdin.as_bytes()).expect("a reader");
    drop(input);
    let output = child.wait_with_output().expect("an end");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).expect("output is UTF-8")
}

/// The path for programs, our binary's folder first.
fn with_haul() -> OsString {
    let binary = Path::new(env!("CARGO_BIN_EXE_haul"));
    let folder = binary.parent().expect("a binary is in a folder");
    let rest = env::var_os("PATH").unwrap_or_default();
    let folders = [folder.to_owned()]
        .into_iter()
        .chain(env::split_paths(&rest));
    env::join_paths(folders).expect("folders without colons")
}
