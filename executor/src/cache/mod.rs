//! Results of tasks that outlive the run that made them.
//!
//! Each task has a key: the hash of what it computes, of the contents of what it reads, and of
//! the program and the device that compute. A task whose key is in the cache need not run again.
//! An entry is written beside its name and renamed, and holds the hash of itself: one that is damaged
//! is told of and computed again. A cache that cannot be used fails no run.

mod entry;
mod files;
mod folder;
mod hash;
mod keeper;
mod keys;
mod recipe;
mod resume;
mod room;
mod tasks;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use self::entry::Entry;
use self::folder::Folder;
use self::room::Room;
use crate::error::IoError;
use crate::whole;

pub(crate) use self::keys::Parts;
pub(crate) use self::resume::Resume;

/// A folder where results of tasks are kept for later runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: Folder,
}

/// The results of one task in a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The pipeline, by the name of its file.
    pub pipeline: String,
    /// The stage.
    pub stage: String,
    /// The item.
    pub item: Option<String>,
    /// Bytes that they take.
    pub bytes: u64,
    /// When they were last written or taken.
    pub used: SystemTime,
}

impl Cache {
    /// The cache in a folder, which is made when the first result is kept.
    pub fn new(folder: PathBuf) -> Self {
        let folder = Folder(folder);
        Self { folder }
    }

    /// The cache of a pipeline in this folder, unless somebody names another one.
    pub fn beside(folder: &Path) -> Self {
        Self::new(folder.join(".haul").join("cache"))
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder.0
    }

    /// Bytes that it may hold.
    ///
    /// # Errors
    /// The file that says it cannot be read.
    pub fn limit(&self) -> Result<u64, IoError> {
        self.folder.limit().map_err(|error| self.error(&error))
    }

    /// Says how many bytes it may hold; what was not used for longest is removed until it does.
    ///
    /// # Errors
    /// The folder cannot be made or written to.
    pub fn set_limit(&self, bytes: u64) -> Result<(), IoError> {
        let made = self.folder.make();
        let set = made.and_then(|()| self.folder.set_limit(bytes));
        set.map_err(|error| self.error(&error))?;
        Room::of(&self.folder, bytes, SystemTime::now()).make(0);
        Ok(())
    }

    /// What it holds, the results that were not used for longest first. Damaged ones are left out.
    pub fn list(&self) -> Vec<Kept> {
        let kept = self.folder.entries().into_iter().filter_map(|found| {
            let about = Entry::peek(&found.path).ok()?.about;
            Some(Kept {
                pipeline: about.pipeline,
                stage: about.stage,
                item: about.item,
                bytes: found.bytes,
                used: found.used,
            })
        });
        kept.collect()
    }

    /// Removes all results, and what processes that were killed left of theirs; tells how many
    /// bytes the results took.
    ///
    /// # Errors
    /// There is no cache in the folder, or something cannot be removed.
    pub fn clean(&self) -> Result<u64, IoError> {
        if !self.folder.is_ours() {
            return Err(IoError::new(self.folder(), "it is no cache of haul"));
        }
        let mut freed = 0;
        for found in self.folder.entries() {
            remove(&found.path).map_err(|error| IoError::new(&found.path, error))?;
            freed += found.bytes;
        }
        let hashes = self.folder.hashes();
        remove(&hashes).map_err(|error| IoError::new(&hashes, error))?;
        whole::sweep(self.folder());
        Ok(freed)
    }

    fn error(&self, error: &io::Error) -> IoError {
        IoError::new(self.folder(), error)
    }
}

/// What a run takes from a cache, and what it gives to it.
#[derive(Clone)]
pub struct Caching {
    cache: Cache,
    program: PathBuf,
    resume: bool,
    keep: Keep,
    warn: Arc<Warn>,
}

type Warn = dyn Fn(&str) + Send + Sync;

/// Which results a run keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// None.
    Nothing,
    /// Those that took much longer to compute than writing them takes.
    Costly,
    /// All.
    All,
}

impl Caching {
    /// Keeps results in a cache, and takes none. `program` is the file of the running program: results
    /// of another one may differ.
    pub fn new(cache: Cache, program: PathBuf) -> Self {
        Self {
            cache,
            program,
            resume: false,
            keep: Keep::Costly,
            warn: Arc::new(|_| ()),
        }
    }

    /// Whether results of earlier runs are taken.
    #[must_use]
    pub fn resuming(self, resume: bool) -> Self {
        Self { resume, ..self }
    }

    /// Which results are kept.
    #[must_use]
    pub fn keeping(self, keep: Keep) -> Self {
        Self { keep, ..self }
    }

    /// Tells somebody what is wrong with the cache: no run fails of it.
    #[must_use]
    pub fn warning(self, warn: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let warn = Arc::new(warn);
        Self { warn, ..self }
    }
}

impl fmt::Debug for Caching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caching")
            .field("cache", &self.cache)
            .field("resume", &self.resume)
            .field("keep", &self.keep)
            .finish_non_exhaustive()
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::time::{Duration, UNIX_EPOCH};

    /// An entry of so many bytes that was last used at that second.
    fn entry(cache: &Cache, first: &str, bytes: u64, used: u64) -> PathBuf {
        let path = cache
            .folder()
            .join("results")
            .join(first)
            .join("0".repeat(62));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = File::create(&path).unwrap();
        file.set_len(bytes).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(used))
            .unwrap();
        path
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("cache"));
        assert_eq!(cache.limit(), Ok(20 << 30));
        cache.set_limit(1000).unwrap();
        let [old, new, middle] = [("01", 100), ("02", 300), ("03", 200)]
            .map(|(first, used)| entry(&cache, first, 400, used));
        let since = UNIX_EPOCH + Duration::from_secs(300);
        let mut room = Room::of(&cache.folder, 1000, since);
        assert!(room.make(100));
        assert!(!old.exists() && middle.exists());
        assert!(room.make(500));
        assert!(!middle.exists());
        // What was used since then stays, and so there is no room.
        assert!(!room.make(100));
        assert!(new.exists());
        cache.set_limit(300).unwrap();
        assert!(!new.exists());
    }

    #[test]
    fn only_what_is_a_cache_is_cleaned() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_owned());
        let entry = entry(&cache, "ab", 10, 1);
        assert!(cache.clean().is_err());
        let message = cache.set_limit(100).unwrap_err().message;
        assert!(message.starts_with("it holds other things"), "{message}");
        fs::remove_dir_all(folder.path().join("results")).unwrap();
        cache.set_limit(100).unwrap();
        let others = ["results/ab/notes", "results/notes", "notes"];
        fs::create_dir_all(entry.parent().unwrap()).unwrap();
        fs::write(&entry, "0123456789").unwrap();
        for other in others {
            fs::write(folder.path().join(other), "mine").unwrap();
        }
        assert_eq!(cache.clean(), Ok(10));
        assert!(!entry.exists());
        assert!(
            others
                .iter()
                .all(|other| folder.path().join(other).exists())
        );
    }
}
