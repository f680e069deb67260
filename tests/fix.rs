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

#[test]
fn mistakes_are_mended_round_by_round() {
    // A field, a comma and a name.
    let text = "Pipeline(version: 1, stages: {\"a\": (cpu: 2 do: \"width = 1\nwidth + widht\")}, // é\r\n)";
    let (status, said, after) = fixed(text, &[]);
    assert_eq!(
        after,
        text.replace("cpu: 2 do", "cpus: 2, do")
            .replace("widht", "width"),
        "{said}"
    );
    assert_eq!(status, 0, "{said}");
}

#[test]
fn what_cannot_be_mended_stays() {
    let text = "Pipeline(version: 2, stages: {\"a\": (do: \"1\")})";
    let (status, said, after) = fixed(text, &[]);
    assert_eq!((status, after.as_str()), (1, text), "{said}");
    assert!(said.contains("p.ron: nothing to change\n"), "{said}");
}
