//! Patterns of file names.

use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use walkdir::{DirEntry, WalkDir};

use crate::error::IoError;

/// The files below `base` whose path from there matches, sorted. `*` and `?` stay within a name,
/// `**` crosses folders; hidden files only where the pattern names them, as in a shell.
pub(super) fn files(pattern: &str, base: &Path) -> Result<Vec<PathBuf>, IoError> {
    let named = Path::new(pattern);
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    let matcher = glob
        .map_err(|error| IoError::new(named, error))?
        .compile_matcher();
    let start = literal_folder(named);
    let depth = match pattern.contains("**") {
        true => usize::MAX,
        false => named.components().count() - start.components().count(),
    };
    let hidden = named.components().any(is_hidden);
    let folder = match base.join(&start) {
        folder if folder.as_os_str().is_empty() => PathBuf::from("."),
        folder => folder,
    };
    let walk = WalkDir::new(&folder)
        .follow_links(true)
        .max_depth(depth)
        .into_iter()
        .filter_entry(|entry| hidden || entry.depth() == 0 || !is_hidden_entry(entry));
    let mut files = Vec::new();
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            // A folder that is not there holds no file.
            Err(error) if error.depth() == 0 => break,
            // A link to a folder around it leads to nothing new.
            Err(error) if error.loop_ancestor().is_some() => continue,
            Err(error) => {
                // Of a link that leads nowhere, whoever reads it is told.
                let Some(link) = broken_link(&error) else {
                    return Err(IoError::new(named, error));
                };
                let below = link.strip_prefix(&folder).unwrap_or(link);
                let path = start.join(below);
                if matcher.is_match(&path) && (hidden || !below.components().any(is_hidden)) {
                    files.push(path);
                }
                continue;
            }
        };
        let below = entry.path().strip_prefix(&folder).unwrap_or(entry.path());
        files.extend(matched(&start.join(below), &entry, &matcher)?);
    }
    files.sort();
    match files.is_empty() {
        true => Err(IoError::new(named, "no file matches this pattern")),
        false => Ok(files),
    }
}

/// The link that could not be followed, where that is what went wrong.
fn broken_link(error: &walkdir::Error) -> Option<&Path> {
    let is_missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    let path = error.path().filter(|path| path.is_symlink())?;
    error.io_error().is_some_and(is_missing).then_some(path)
}

/// The path, where it is that of a file that matches.
fn matched(
    path: &Path,
    entry: &DirEntry,
    matcher: &GlobMatcher,
) -> Result<Option<PathBuf>, IoError> {
    if !entry.file_type().is_file() || !matcher.is_match(path) {
        return Ok(None);
    }
    match path.to_str() {
        Some(_) => Ok(Some(path.to_owned())),
        None => Err(IoError::new(path, "its name is not UTF-8")),
    }
}

/// The folders that a pattern begins with as they are.
fn literal_folder(pattern: &Path) -> PathBuf {
    let folders = pattern.parent().unwrap_or(Path::new(""));
    let is_literal = |component: &Component<'_>| {
        let text = component.as_os_str().to_string_lossy();
        !text.contains(['*', '?', '[', '{', '\\'])
    };
    folders.components().take_while(is_literal).collect()
}

fn is_hidden(component: Component<'_>) -> bool {
    matches!(component, Component::Normal(name) if name.as_encoded_bytes().starts_with(b"."))
}

fn is_hidden_entry(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}
