//! Patterns of file names.

use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern, glob_with};

use crate::error::IoError;

/// Hidden files only where the pattern says so, as in a shell.
const OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

pub(super) fn files(pattern: &str, base: &Path) -> Result<Vec<PathBuf>, IoError> {
    let named = Path::new(pattern);
    let base_text = base
        .to_str()
        .ok_or_else(|| IoError::new(base, "its name is not UTF-8"))?;
    let full = match base_text {
        "" => PathBuf::from(pattern),
        _ => Path::new(&Pattern::escape(base_text)).join(pattern),
    };
    let full = full.to_string_lossy();
    let found = glob_with(&full, OPTIONS).map_err(|error| IoError::new(named, error))?;
    let mut files = Vec::new();
    for path in found {
        let path = path.map_err(|error| IoError::new(error.path(), error.error()))?;
        if path.is_file() {
            files.push(path.strip_prefix(base).map_or(path.clone(), Path::to_owned));
        }
    }
    files.sort();
    match files.is_empty() {
        true => Err(IoError::new(named, "no file matches this pattern")),
        false => Ok(files),
    }
}
