//! Files that appear whole: written under a temporary name beside the final one, then renamed.
//!
//! Whoever writes a temporary file holds its lock, so that a later run can tell the files of
//! processes that were killed, and remove them.

use std::fs::{self, File, Permissions};
use std::io;
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

/// What the names of temporary files begin with.
const PREFIX: &str = ".haul-";

/// What they end with.
const SUFFIX: &str = ".part";

/// A temporary file in a folder, to be renamed when it is whole. It is removed when dropped.
///
/// # Errors
/// The folder takes no file.
pub(crate) fn begin(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    builder.permissions(<Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666));
    loop {
        let file = builder.tempfile_in(folder)?;
        // Where the file system has no locks, `sweep` gets none either.
        let _ = file.as_file().lock();
        // Another run may have swept it before it was locked.
        if is_there(file.as_file())? {
            return Ok(file);
        }
    }
}

/// Removes the temporary files of a folder that nobody writes any more. What cannot be removed
/// stays: it takes nothing but room.
pub(crate) fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_file = || entry.file_type().is_ok_and(|kind| kind.is_file());
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) && is_file() {
            remove_if_left(&entry.path());
        }
    }
}

fn remove_if_left(path: &Path) {
    let file = File::options().write(true).open(path);
    if file.is_ok_and(|file| file.try_lock().is_ok() && is_there(&file).unwrap_or(false)) {
        let _ = fs::remove_file(path);
    }
}

/// Whether a file still has a name.
#[cfg(unix)]
fn is_there(file: &File) -> io::Result<bool> {
    Ok(std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) > 0)
}

#[cfg(not(unix))]
fn is_there(_: &File) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_writes_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        let written = begin(folder.path()).unwrap();
        let left = folder.path().join(".haul-AbC123.part");
        let others = [".haul-notes", "a.part", ".haul"].map(|name| folder.path().join(name));
        fs::write(&left, "half").unwrap();
        others.iter().for_each(|path| fs::write(path, "").unwrap());
        sweep(folder.path());
        assert!(!left.exists());
        assert!(written.path().exists() && others.iter().all(|path| path.exists()));
    }
}
