//! Keeps results of tasks in the cache of a run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use super::entry::{self, About};
use super::files::Files;
use super::folder::{Folder, touch};
use super::hash::Key;
use super::keys::{Keys, Parts, Sizes};
use super::room::Room;
use super::{Caching, Keep};
use crate::cancel::Stop;
use crate::schedule::TaskId;
use crate::tensor::Data;
use crate::whole;

/// What a task takes at least whose results are kept because of what they cost.
const COSTLY: Duration = Duration::from_millis(10);

/// Bytes of such results for each second that the task took, at most: writing them takes a small
/// part of that.
const BYTES_PER_SECOND: f64 = 128e6;

/// Keeps results in the cache of a run.
pub(super) struct Keeper<'a> {
    pub(super) keys: Keys<'a>,
    pub(super) stop: &'a Stop,
    caching: &'a Caching,
    since: SystemTime,
    /// Counted when the first result is kept.
    room: Mutex<Option<Room>>,
    /// Set when a result could not be kept, and others are not tried.
    has_failed: AtomicBool,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(caching: &'a Caching, parts: Parts<'a>) -> Self {
        let files = Files::remembered(caching.cache.folder.hashes());
        Self {
            keys: Keys::new(parts, &caching.program, files),
            stop: parts.stop,
            caching,
            since: SystemTime::now(),
            room: Mutex::default(),
            has_failed: AtomicBool::new(false),
        }
    }

    pub(super) fn folder(&self) -> &Folder {
        &self.caching.cache.folder
    }

    pub(super) fn warn(&self, message: &str) {
        (self.caching.warn)(message);
    }

    /// Remembers the hashes of files for the next run.
    pub(super) fn remember(&self) {
        let folder = self.folder();
        if self.keys.files().has_learned() {
            let made = folder.make();
            let remembered = made.and_then(|()| self.keys.files().remember(&folder.0));
            self.check(remembered);
        }
    }

    /// Whether results of a task that took so long may be kept, whatever they are.
    pub(super) fn may_keep(&self, took: Duration) -> bool {
        let may = match self.caching.keep {
            Keep::Nothing => false,
            Keep::Costly => took >= COSTLY,
            Keep::All => true,
        };
        may && !self.has_failed.load(Ordering::Relaxed)
    }

    /// Keeps the results of a task that took so long, where they are worth it. What `about` says
    /// is asked only then.
    pub(super) fn keep(
        &self,
        id: TaskId,
        took: Duration,
        results: &[Data],
        sizes: &Sizes<'_>,
        about: &dyn Fn() -> About,
    ) {
        let Some(bytes) = entry::size(results) else {
            return;
        };
        let is_costly = bytes as f64 <= took.as_secs_f64() * BYTES_PER_SECOND;
        if self.caching.keep == Keep::Costly && !is_costly {
            return;
        }
        if let Some(key) = self.keys.task(id, sizes) {
            self.check(self.write(key, about(), results));
        }
    }

    fn write(&self, key: Key, about: About, results: &[Data]) -> std::io::Result<()> {
        let folder = self.folder();
        let path = folder.entry(key);
        if path.exists() {
            touch(&path);
            return Ok(());
        }
        folder.make()?;
        let file = whole::begin(&folder.0)?;
        let bytes = entry::write(file.as_file(), key, about, results)?;
        if !self.make_room(bytes)? {
            return Err(std::io::Error::other(
                "this run alone fills it: let it hold more with `haul cache --limit`",
            ));
        }
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        file.persist(&path).map_err(|error| error.error)?;
        Ok(())
    }

    fn make_room(&self, bytes: u64) -> std::io::Result<bool> {
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        let room = match &mut *room {
            Some(room) => room,
            none => {
                whole::sweep(&self.folder().0);
                let limit = self.folder().limit()?;
                none.insert(Room::of(self.folder(), limit, self.since))
            }
        };
        Ok(room.make(bytes))
    }

    /// Tells, the first time, that nothing is kept any more.
    fn check(&self, kept: std::io::Result<()>) {
        if let Err(error) = kept
            && !self.stop.is_set()
            && !self.has_failed.swap(true, Ordering::Relaxed)
        {
            let folder = self.folder().0.display();
            self.warn(&format!(
                "results are no longer kept in the cache `{folder}`: {error}"
            ));
        }
    }
}
