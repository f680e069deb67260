//! The pipeline file.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use haul_compiler::syntax::MAX_FILE;
use haul_compiler::{Places, Planned, Refused};
use haul_ir::graph::Typed;
use haul_ir::target::Target;

use crate::exit::Trouble;

/// Most bytes of a file that may be a plan.
const MAX_PLAN: u64 = 1 << 30;

/// A pipeline file and its text.
pub(crate) struct File {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// What people call it: the path as given.
    pub(crate) shown: String,
    /// The text.
    pub(crate) text: String,
}

impl File {
    pub(crate) fn read(path: &Path) -> Result<Self, Trouble> {
        Ok(Self {
            path: path.to_owned(),
            shown: path.display().to_string(),
            text: text(path)?,
        })
    }

    /// The folder that the paths in it are relative to.
    pub(crate) fn folder(&self) -> PathBuf {
        match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        }
    }

    /// A message about files beside it, which calls them the way it is called.
    pub(crate) fn renamed(&self, message: &str) -> String {
        let (path, (_, name)) = (self.path.to_string_lossy(), self.names());
        match (path.strip_suffix(&name), self.shown.strip_suffix(&name)) {
            (Some(folder), Some(shown)) if !folder.is_empty() => message.replace(folder, shown),
            _ => message.to_owned(),
        }
    }

    /// Plans its graph for a target. The plan knows the file by its name without folders.
    pub(crate) fn plan(
        &self,
        typed: Typed,
        target: &Target,
        places: &Places,
    ) -> Result<Planned, Refused> {
        let (pipeline, name) = self.names();
        haul_compiler::plan(typed, target, &pipeline, &name, places)
    }

    /// The names that plans know it by: of the pipeline, and of the file without folders.
    pub(crate) fn names(&self) -> (String, String) {
        let name = |name: Option<&std::ffi::OsStr>| {
            name.unwrap_or_default().to_string_lossy().into_owned()
        };
        (name(self.path.file_stem()), name(self.path.file_name()))
    }
}

/// The text of a pipeline or target file. Of one that is too large, as much as shows that it is.
pub(crate) fn text(path: &Path) -> Result<String, Trouble> {
    start(path, MAX_FILE as u64 + 1)
}

/// The text of a file that may be a plan: all of it.
pub(crate) fn plan_text(path: &Path) -> Result<String, Trouble> {
    let too_large = || {
        let path = path.display();
        Trouble::new(format!(
            "could not read {path}: a plan has at most {MAX_PLAN} bytes"
        ))
    };
    // Before it is read; a pipe tells no length.
    if fs::metadata(path).is_ok_and(|file| file.len() > MAX_PLAN) {
        return Err(too_large());
    }
    let text = start(path, MAX_PLAN + 1)?;
    match text.len() as u64 > MAX_PLAN {
        true => Err(too_large()),
        false => Ok(text),
    }
}

/// Writes a text file: beside it first, so that it is there whole or not at all.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), Trouble> {
    write_with(path, text, None).map_err(|error| unwritten(path, &error))
}

/// Gives a file that is there another text. It keeps its permissions; of a link, the file behind it
/// is written.
pub(crate) fn replace(path: &Path, text: &str) -> Result<(), Trouble> {
    let write = || {
        let file = path.canonicalize()?;
        let permissions = fs::metadata(&file)?.permissions();
        if permissions.readonly() {
            return Err(io::Error::other("it is read-only"));
        }
        write_with(&file, text, Some(permissions))
    };
    write().map_err(|error| unwritten(path, &error))
}

fn write_with(path: &Path, text: &str, permissions: Option<fs::Permissions>) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".haul-");
    #[cfg(unix)]
    builder.permissions(<fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666));
    let mut file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn unwritten(path: &Path, error: &io::Error) -> Trouble {
    Trouble::new(format!("could not write {}: {error}", path.display()))
}

/// The first bytes of a text file.
fn start(path: &Path, most: u64) -> Result<String, Trouble> {
    let trouble = |error| Trouble::new(format!("could not read {}: {error}", path.display()));
    let mut text = String::new();
    let file = fs::File::open(path).map_err(trouble)?;
    file.take(most).read_to_string(&mut text).map_err(trouble)?;
    Ok(text)
}
