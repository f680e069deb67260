//! Patterns of file names.

use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use haul_ir::location::{Location, Object};
use walkdir::{DirEntry, WalkDir};

use crate::error::IoError;
use crate::paths::{Paths, parse};

/// The files or objects that a pattern names, sorted by path. `*` and `?` stay within a name,
/// `**` crosses folders; hidden ones only where the pattern names them, as in a shell.
pub(super) fn files(pattern: &str, paths: &Paths) -> Result<Vec<PathBuf>, IoError> {
    let named = Path::new(pattern);
    let mut files = match parse(pattern)? {
        Location::File(path) => walk(&Pattern::new(&path, named)?, paths.folder())?,
        Location::Object(object) => objects(&Pattern::new(&object.key, named)?, &object, paths)?,
        Location::Web(_) => {
            let error = IoError::new(named, "a web server does not list what it has");
            return Err(error.help("name each URL as an input by itself"));
        }
    };
    files.sort();
    match files.is_empty() {
        true => Err(IoError::new(named, "no file matches this pattern")),
        false => Ok(files),
    }
}

/// A pattern of paths.
struct Pattern<'a> {
    /// As the pipeline writes it.
    named: &'a Path,
    matcher: GlobMatcher,
    /// The folders that it begins with as they are.
    start: PathBuf,
    /// Names that a path has below these, at most.
    depth: usize,
    /// Whether it names hidden files.
    hidden: bool,
}

impl<'a> Pattern<'a> {
    fn new(pattern: &str, named: &'a Path) -> Result<Self, IoError> {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        let glob = glob.map_err(|error| IoError::new(named, error))?;
        let path = Path::new(pattern);
        let start = literal_folder(path);
        let depth = match pattern.contains("**") {
            true => usize::MAX,
            false => path.components().count() - start.components().count(),
        };
        Ok(Self {
            named,
            matcher: glob.compile_matcher(),
            start,
            depth,
            hidden: path.components().any(is_hidden),
        })
    }

    /// Whether a path below [`Pattern::start`] is meant.
    fn matches(&self, below: &Path) -> bool {
        let is_shown = self.hidden || !below.components().any(is_hidden);
        is_shown && self.matcher.is_match(self.start.join(below))
    }
}

/// The objects of a bucket that a pattern names.
fn objects(pattern: &Pattern<'_>, object: &Object, paths: &Paths) -> Result<Vec<PathBuf>, IoError> {
    let folder = pattern.start.to_string_lossy();
    let keys = paths.list(&object.sibling(&folder), pattern.depth > 1)?;
    let matched = keys.iter().filter(|key| {
        let below = Path::new(key).strip_prefix(&pattern.start);
        below.is_ok_and(|below| pattern.matches(below))
    });
    Ok(matched
        .map(|key| object.sibling(key).to_string().into())
        .collect())
}

/// The files below `base` that a pattern names.
fn walk(pattern: &Pattern<'_>, base: &Path) -> Result<Vec<PathBuf>, IoError> {
    let Pattern { start, hidden, .. } = pattern;
    let folder = match base.join(start) {
        folder if folder.as_os_str().is_empty() => PathBuf::from("."),
        folder => folder,
    };
    let walk = WalkDir::new(&folder)
        .follow_links(true)
        .max_depth(pattern.depth)
        .into_iter()
        .filter_entry(|entry| *hidden || entry.depth() == 0 || !is_hidden_entry(entry));
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
                    return Err(IoError::new(pattern.named, error));
                };
                let below = link.strip_prefix(&folder).unwrap_or(link);
                if pattern.matches(below) {
                    files.push(start.join(below));
                }
                continue;
            }
        };
        let below = entry.path().strip_prefix(&folder).unwrap_or(entry.path());
        if entry.file_type().is_file() && pattern.matches(below) {
            files.push(named_in_utf8(start.join(below))?);
        }
    }
    Ok(files)
}

/// The link that could not be followed, where that is what went wrong.
fn broken_link(error: &walkdir::Error) -> Option<&Path> {
    let is_missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    let path = error.path().filter(|path| path.is_symlink())?;
    error.io_error().is_some_and(is_missing).then_some(path)
}

fn named_in_utf8(path: PathBuf) -> Result<PathBuf, IoError> {
    match path.to_str() {
        Some(_) => Ok(path),
        None => Err(IoError::new(&path, "its name is not UTF-8")),
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
