//! A plan depends on the files that it names and on nothing else.

use crate::support::{self, root, stdout};

#[test]
fn plans_do_not_depend_on_where_and_by_whom_they_are_made() {
    let pipeline = root().join("pipelines/mixed.ron");
    let args = ["--target", "a100", "--format", "snapshot"];
    let expected = stdout(
        support::haul()
            .arg("plan")
            .arg("pipelines/mixed.ron")
            .args(args),
    );
    assert!(expected.starts_with("plan mixed "), "{expected}");
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    for (name, value) in [
        ("HOME", "/nonexistent"),
        ("LANG", "tr_TR.UTF-8"),
        ("RAYON_NUM_THREADS", "1"),
        ("NO_COLOR", "1"),
        ("CLICOLOR_FORCE", "1"),
        ("TZ", "Asia/Tokyo"),
    ] {
        let mut command = support::haul();
        command.current_dir(&elsewhere).env(name, value);
        let plan = stdout(command.arg("plan").arg(&pipeline).args(args));
        assert_eq!(plan, expected, "with {name}={value}");
    }
}
