//! Runs the binary and looks at the repository.

pub(crate) mod arrays;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The binary, in the root of the repository.
pub(crate) fn haul() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_haul"));
    command.current_dir(root());
    command
}

/// Exit status, stdout and stderr of a command line, as one text.
pub(crate) fn whole(args: &[&str]) -> String {
    let output = haul().args(args).output().expect("the binary starts");
    let status = output
        .status
        .code()
        .map_or_else(|| "killed".to_owned(), |code| code.to_string());
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    format!(
        "$ haul {}\nstatus {status}\n----- stdout\n{stdout}----- stderr\n{stderr}",
        args.join(" ")
    )
}

/// Exit status, stdout and stderr of a command.
pub(crate) fn outcome(command: &mut Command) -> (i32, String, String) {
    let output = command.output().expect("the binary starts");
    let status = output.status.code().expect("nobody killed it");
    (status, text(&output.stdout), text(&output.stderr))
}

/// Stdout of a command that must end well.
pub(crate) fn stdout(command: &mut Command) -> String {
    let output: Output = command.output().expect("the binary starts");
    let stderr = text(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{stderr}");
    text(&output.stdout)
}

/// The files below a folder whose name ends so, sorted; `target` and hidden folders left out.
pub(crate) fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository") {
            let path = entry.expect("an entry of the repository").path();
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if path.is_dir() {
                let ours = !name.starts_with('.') && name != "target" && name != "out";
                folders.extend(ours.then_some(path));
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A file of the repository.
pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The path as it is named in the repository, with `/`.
pub(crate) fn relative(path: &Path) -> String {
    let path = path.strip_prefix(root()).unwrap_or(path);
    path.to_string_lossy().replace('\\', "/")
}

/// Holds a committed file against what is made of the code; with `HAUL_ACCEPT=1` rewrites it.
pub(crate) fn assert_fresh(path: &Path, made: &str, how: &str) {
    if std::env::var_os("HAUL_ACCEPT").is_some() {
        fs::write(path, made).expect("a file of the repository");
        return;
    }
    let committed = fs::read_to_string(path).unwrap_or_default();
    if committed == made {
        return;
    }
    let differs = |(a, b): &(&str, &str)| a != b;
    let lines = committed.lines().chain([""]).zip(made.lines().chain([""]));
    let first = lines.enumerate().find(|(_, pair)| differs(pair));
    let (line, (old, new)) = first.unwrap_or((0, ("", "")));
    panic!(
        "{} is not what the code makes; line {}:\n- {old}\n+ {new}\nif that is meant: {how}",
        relative(path),
        line + 1
    );
}

/// The fenced blocks of a markdown file: the line that each begins on, its language, its text.
pub(crate) fn blocks(markdown: &str) -> Vec<(usize, String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String, String)> = None;
    for (number, line) in markdown.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => {
                open = Some((number + 1, language.trim().to_owned(), String::new()));
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, _, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

/// Whether a command prints what a page shows of it; a line `...` stands for any lines.
pub(crate) fn is_shown(shown: &str, output: &str) -> bool {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    matches(&lines(shown), &lines(output))
}

fn matches(shown: &[String], output: &[String]) -> bool {
    match shown {
        [] => output.is_empty(),
        [dots, rest @ ..] if dots == "..." => {
            (0..=output.len()).any(|skip| matches(rest, &output[skip..]))
        }
        [first, rest @ ..] => output.first() == Some(first) && matches(rest, &output[1..]),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}
