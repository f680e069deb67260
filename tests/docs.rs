//! What the docs show is so: commands run, pipelines compile, outputs are as printed.

use std::path::PathBuf;
use std::process::Command;

use crate::support::{self, blocks, files, is_shown, read, relative, root};
use haul_compiler::{Facts, Project, check, target};
use haul_ir::diagnostic::Severity;

/// How the docs start the binary from a checkout.
const FROM_CHECKOUT: &str = "cargo run --release -- ";

#[test]
fn what_is_ron_in_docs_compiles() {
    for (place, language, text) in all_blocks() {
        if language != "ron" {
            continue;
        }
        let is_of = |what: &str| text.lines().any(|line| line.starts_with(what));
        if is_of("Target(") {
            target::parse("docs", &text).unwrap_or_else(|error| panic!("{place}: {error}"));
            continue;
        }
        if is_of("Project(") {
            Project::parse(&text).unwrap_or_else(|error| panic!("{place}: {error}"));
            continue;
        }
        let checked = check(&text, haul_kernels::catalogue(), &Facts::default());
        let errors = checked
            .diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Error);
        let errors: Vec<_> = errors.map(|d| &d.message).collect();
        assert!(errors.is_empty(), "{place}: {errors:?}");
    }
}

#[test]
fn commands_in_docs_run() {
    for (place, language, text) in all_blocks() {
        if language == "sh" {
            for line in text.lines() {
                run_ours(&place, line);
            }
        }
    }
}

/// `$ command` lines with the output that follows them; a line `...` stands for any lines.
#[test]
fn console_sessions_in_docs_are_as_shown() {
    for (place, language, text) in all_blocks() {
        if language != "console" {
            continue;
        }
        for session in text
            .split("$ ")
            .filter(|session| !session.trim().is_empty())
        {
            let (command, shown) = session.split_once('\n').unwrap_or((session, ""));
            let output =
                output_of(command).unwrap_or_else(|| panic!("{place}: not ours: {command}"));
            assert!(
                is_shown(shown, &output),
                "{place}: `{command}` prints\n{output}"
            );
        }
    }
}

/// All but those of the page whose session has a repository of its own.
fn all_blocks() -> Vec<(String, String, String)> {
    let mut docs = files(&root().join("docs"), ".md");
    docs.retain(|page| !page.ends_with("review.md"));
    let readmes = ["README.md", "pipelines/README.md"].map(|path| root().join(path));
    let pages: Vec<PathBuf> = docs.into_iter().chain(readmes).collect();
    let mut all = Vec::new();
    for page in pages {
        for (line, language, text) in blocks(&read(&page)) {
            all.push((format!("{}:{line}", relative(&page)), language, text));
        }
    }
    all
}

/// Runs a command line of ours; leaves out those of cargo itself, which run this test.
fn run_ours(place: &str, line: &str) {
    let Some(mut command) = command(line) else {
        assert!(
            line.starts_with("cargo ") || line.trim().is_empty(),
            "{place}: not ours: {line}"
        );
        return;
    };
    let output = command.output().expect("the binary starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{place}: `{line}` failed:\n{stderr}"
    );
}

/// Stdout and then stderr.
fn output_of(line: &str) -> Option<String> {
    let output = command(line)?.output().expect("the binary starts");
    let text = [output.stdout, output.stderr].concat();
    Some(String::from_utf8_lossy(&text).into_owned())
}

fn command(line: &str) -> Option<Command> {
    let args = line
        .strip_prefix(FROM_CHECKOUT)
        .or_else(|| line.strip_prefix("haul "))?;
    let mut command = support::haul();
    command.args(args.split_whitespace());
    Some(command)
}
