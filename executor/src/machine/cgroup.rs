//! Limits of control groups (cgroup v2). One holds for all groups below it; the standard library
//! respects those of CPUs.

use std::fs;
use std::path::Path;

/// The least memory that the group of this process and those above it may have, in bytes.
pub(super) fn memory_limit() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    least_memory(Path::new("/sys/fs/cgroup"), &groups)
}

/// As [`memory_limit`], of a tree of groups and the list of those that a process is in.
fn least_memory(root: &Path, groups: &str) -> Option<u64> {
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let group = root.join(own);
    let groups = group
        .ancestors()
        .take_while(|group| group.starts_with(root));
    let limits = groups.filter_map(|group| {
        let limit = fs::read_to_string(group.join("memory.max")).ok()?;
        limit.trim().parse().ok() // No limit is `max`.
    });
    limits.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_limit_up_the_tree_holds() {
        let root = tempfile::tempdir().unwrap();
        let limit = |group: &str, limit: &str| {
            let group = root.path().join(group);
            fs::create_dir_all(&group).unwrap();
            fs::write(group.join("memory.max"), limit).unwrap();
        };
        let least = |groups: &str| least_memory(root.path(), groups);
        limit("batch", "4000\n");
        limit("batch/job", "max\n");
        limit("batch/job/step", "9000\n");
        limit("batch/other", "100\n");
        assert_eq!(least("0::/batch/job/step\n"), Some(4000));
        assert_eq!(least("4:memory:/batch/other\n0::/batch/job\n"), Some(4000));
        assert_eq!(least("0::/batch/other\n"), Some(100));
        // A group that is gone, one without a limit, another version.
        assert_eq!(least("0::/batch/gone\n"), Some(4000));
        assert_eq!(least("0::/\n"), None);
        assert_eq!(least("4:memory:/batch\n"), None);
        // In a container its own group is the root.
        limit("", "2000\n");
        assert_eq!(least("0::/\n"), Some(2000));
    }
}
