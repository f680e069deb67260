//! The command line, whole: exit status, stdout, stderr.
//!
//! Snapshots stand beside the cases in `tests/cases/cli`. Update them with
//! `INSTA_UPDATE=always cargo test --test whole cli`, and read the difference.

use crate::support::{self, whole};

/// Name of the snapshot, and the command line.
const CASES: &[(&str, &str)] = &[
    ("help", "--help"),
    ("help_run", "run --help"),
    ("help_plan", "plan --help"),
    ("unknown_command", "pla"),
    (
        "check_fine",
        "check pipelines/mixed.ron pipelines/digits.ron",
    ),
    ("check_mistakes", "check tests/cases/cli/mistakes.ron"),
    (
        "check_json",
        "check --message-format json tests/cases/cli/mistakes.ron",
    ),
    (
        "check_missing_file",
        "check tests/cases/cli/no_such_file.ron",
    ),
    ("check_no_header", "check tests/cases/cli/no_header.ron"),
    (
        "check_set",
        "check tests/cases/cli/params.ron --set rate=fast",
    ),
    (
        "check_lints",
        "check tests/cases/cli/wasteful.ron --target a100",
    ),
    (
        "check_lints_json",
        "check tests/cases/cli/wasteful.ron --target a100 --message-format json",
    ),
    (
        "check_denied",
        "check tests/cases/cli/wasteful.ron --target a100 --deny all --allow w0302",
    ),
    (
        "check_allowed",
        "check tests/cases/cli/wasteful.ron --target a100 --allow W0301,W0302",
    ),
    (
        "check_allow_unknown",
        "check tests/cases/cli/wasteful.ron --allow W0330",
    ),
    (
        "check_allow_error",
        "check tests/cases/cli/wasteful.ron --allow E0310",
    ),
    (
        "run_denied",
        "run tests/cases/cli/denied.ron --deny all --quiet",
    ),
    ("explain", "explain E0106"),
    ("explain_lower_case", "explain e0106"),
    ("explain_unknown", "explain E0199"),
    ("ops", "ops"),
    ("ops_one", "ops matmul"),
    ("ops_unknown", "ops matmull"),
    ("ops_words", "ops nan largest"),
    ("ops_example", "ops einsum --example"),
    ("targets", "targets"),
    ("targets_one", "targets a100"),
    ("targets_alike", "targets a100x4"),
    ("targets_file", "targets tests/cases/cli/pair.ron"),
    ("targets_bad_file", "targets tests/cases/cli/mistakes.ron"),
    ("targets_unknown", "targets a101"),
    ("targets_devices", "targets --devices"),
    ("nodes", "nodes mixed"),
    ("plan_without_target", "plan pipelines/mixed.ron"),
    ("plan_text", "plan pipelines/mixed.ron --target a100"),
    ("plan_cpu", "plan pipelines/digits.ron --target cpu"),
    (
        "plan_undeclared",
        "plan tests/cases/cli/undeclared.ron --target laptop",
    ),
    (
        "plan_compared",
        "plan tests/cases/cli/two_gpus.ron --target a100 --target a100x4",
    ),
    (
        "plan_snapshot",
        "plan tests/cases/cli/undeclared.ron --target laptop --format snapshot",
    ),
    (
        "plan_two_pages",
        "plan pipelines/mixed.ron pipelines/digits.ron --target a100 --format html",
    ),
    ("help_diff", "diff --help"),
    ("help_why", "why --help"),
    (
        "diff_same",
        "diff pipelines/mixed.cpu.plan pipelines/mixed.ron",
    ),
    (
        "diff_targets",
        "diff pipelines/correlation.cpu.plan pipelines/correlation.a100.plan",
    ),
    (
        "diff_no_plan",
        "diff tests/cases/cli/mistakes.ron pipelines/mixed.ron --target cpu",
    ),
    (
        "diff_missing",
        "diff pipelines/mixed.ron pipelines/nothing.ron --target cpu",
    ),
    ("why_op", "why pipelines/mixed.ron kernel.s --target a100"),
    ("why_stage", "why pipelines/mixed.ron summary --target a100"),
    (
        "why_unknown",
        "why pipelines/mixed.ron kernel.gg --target a100",
    ),
    (
        "plan_pinned",
        "plan tests/cases/cli/two_gpus.ron --target a100x4 --pin y=cpu",
    ),
    (
        "pin_unknown",
        "plan pipelines/mixed.ron --target a100 --pin kernl=cpu",
    ),
    (
        "pin_no_side",
        "plan pipelines/mixed.ron --target a100 --pin kernel=left",
    ),
    ("run_fails", "run tests/cases/cli/fails.ron --quiet"),
    (
        "run_missing_data",
        "run tests/cases/cli/missing_data.ron --quiet",
    ),
    ("run_preview", "run tests/cases/cli/preview.ron --quiet"),
    (
        "run_no_gpu",
        "run pipelines/mixed.ron --target a100 --quiet",
    ),
    (
        "run_too_small",
        "run pipelines/digits.ron --memory 1GiB --quiet",
    ),
];

#[test]
fn command_lines() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("cases/cli");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for (name, line) in CASES {
            let args: Vec<_> = line.split(' ').collect();
            insta::allow_duplicates!(insta::assert_snapshot!(*name, whole(&args)));
        }
    });
}

/// A reader that leaves early is no error.
#[test]
fn a_closed_pipe_is_quiet_and_changes_no_status() {
    use std::process::Stdio;
    for (args, status) in [
        (vec!["ops"], 0),
        (
            vec![
                "check",
                "tests/cases/cli/mistakes.ron",
                "--message-format",
                "json",
            ],
            1,
        ),
        (
            vec![
                "diff",
                "pipelines/mixed.cpu.plan",
                "pipelines/mixed.a100.plan",
            ],
            1,
        ),
    ] {
        let mut command = support::haul();
        command
            .args(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the binary ends");
        assert_eq!(output.status.code(), Some(status), "{args:?}: {output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
    }
}

#[test]
fn a_file_that_is_too_large_is_refused() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let size = haul_compiler::syntax::MAX_FILE + 1;
    std::fs::write(&file, " ".repeat(size)).expect("room for it");
    let output = support::haul()
        .arg("check")
        .arg(file.path())
        .output()
        .expect("the binary starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("error[E0102]"),
        "{output:?}"
    );
}

#[test]
fn several_plans_are_one_document_a_line() {
    let plan = |targets: &[&str]| {
        let args = [
            "plan",
            "pipelines/mixed.ron",
            "--format",
            "json",
            "--target",
        ];
        let mut haul = support::haul();
        let args = haul.args(args).args(targets);
        let stdout = String::from_utf8(args.output().expect("the binary starts").stdout);
        stdout.expect("output is UTF-8")
    };
    let both = plan(&["a100", "--target", "cpu"]);
    let lines: Vec<serde_json::Value> = both
        .lines()
        .map(|line| serde_json::from_str(line).expect("a document"))
        .collect();
    let alone = ["a100", "cpu"].map(|target| {
        let text = plan(&[target]);
        assert!(text.lines().count() > 100, "it is for people too");
        serde_json::from_str::<serde_json::Value>(&text).expect("a document")
    });
    assert_eq!(lines, alone);
}
