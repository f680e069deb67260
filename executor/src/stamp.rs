//! What tells that a file was written to, without reading it.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use haul_ir::graph::Graph;
use haul_ir::id::{CollectionId, IdVec};
use haul_ir::location::Location;
use serde::{Deserialize, Serialize};

use crate::error::IoError;
use crate::inputs::{Items, files_of};
use crate::paths::Paths;

/// What changes when a file is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// Device and inode: which file it is.
    file: (u64, u64),
    bytes: u64,
    /// Seconds and nanoseconds of the last writing, which programs can set.
    modified: (i64, i64),
    /// The same of the last change of any kind, which the system sets.
    changed: (i64, i64),
}

impl Stamp {
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            file: (metadata.dev(), metadata.ino()),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Without a time that only the system sets, every change is as recent as can be.
    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok();
        let modified = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let modified = modified.map_or((0, 0), |time| {
            (time.as_secs() as i64, time.subsec_nanos().into())
        });
        Self {
            file: (0, 0),
            bytes: metadata.len(),
            modified,
            changed: (i64::MAX, 0),
        }
    }

    /// That of the file at a path.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn at(path: &Path) -> std::io::Result<Self> {
        Ok(Self::of(&fs::metadata(path)?))
    }

    /// Whether it is of the same file, written to or not.
    pub(crate) fn is_of_same_file(&self, other: &Self) -> bool {
        self.file == other.file
    }

    /// Whether it is of the same file, not written to in between.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        (self.file, self.bytes, self.modified) == (other.file, other.bytes, other.modified)
    }

    /// Second of the last change of any kind, since 1970.
    pub(crate) fn changed(&self) -> i64 {
        self.changed.0
    }
}

/// The stamps that the files of a run had at its start.
#[derive(Default)]
pub(crate) struct Stamps(HashMap<PathBuf, Stamp>);

impl Stamps {
    /// Those of all inputs that are files of this machine.
    pub(crate) fn of(
        graph: &Graph,
        collections: &IdVec<CollectionId, Items>,
        paths: &Paths,
    ) -> Self {
        let inputs = graph.inputs.iter();
        let files = inputs.flat_map(|input| files_of(input, collections));
        let stamps = files.filter_map(|file| {
            let stamp = Stamp::at(&local(file, paths)?).ok()?;
            Some((file.to_owned(), stamp))
        });
        Self(stamps.collect())
    }

    /// The stamp of a file of this machine, called as its input calls it.
    pub(crate) fn get(&self, file: &Path) -> Option<&Stamp> {
        self.0.get(file)
    }

    /// Whether a file is what it was at the start of the run.
    ///
    /// # Errors
    /// It is not.
    pub(crate) fn check(&self, file: &Path, paths: &Paths) -> Result<(), IoError> {
        let (Some(then), Some(path)) = (self.get(file), local(file, paths)) else {
            return Ok(());
        };
        match Stamp::at(&path) {
            Ok(now) if now.agrees(then) => Ok(()),
            _ => {
                let help = "let nothing write to inputs during a run: write another file, and rename it \
                     when the run is over";
                Err(IoError::new(&path, "it was changed while the run used it").help(help))
            }
        }
    }
}

/// Where a file is, if it is on this machine.
pub(crate) fn local(file: &Path, paths: &Paths) -> Option<PathBuf> {
    match Location::parse(file.to_str()?).ok()? {
        Location::File(file) => Some(paths.folder().join(file)),
        _ => None,
    }
}
