//! Hashes of the contents of files. One that was hashed by an earlier run, and surely not written
//! to since, is not read again.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::hash::{KEY_BYTES, Key};
use crate::cancel::Stop;
use crate::stamp::Stamp;
use crate::whole;

/// Seconds that a file has to be at rest before its stamp stands for its contents: clocks of file
/// systems tick, and what is written in the same tick leaves no trace.
const REST: i64 = 2;

/// Hashes that are remembered at most.
const MOST: usize = 1 << 15;

/// Hashes of files, and the stamps that the files had.
pub(super) struct Files {
    /// Where they are remembered.
    path: PathBuf,
    known: OnceLock<HashMap<Stamp, Key>>,
    learned: Mutex<HashMap<Stamp, Key>>,
}

impl Files {
    /// What earlier runs remembered in a file.
    pub(super) fn remembered(path: PathBuf) -> Self {
        Self {
            path,
            known: OnceLock::new(),
            learned: Mutex::default(),
        }
    }

    /// The hash of a file that had this stamp at the start of the run.
    ///
    /// # Errors
    /// It cannot be read, is no longer what it was, or the run is stopped.
    pub(super) fn hash(&self, path: &Path, stamp: &Stamp, stop: &Stop) -> io::Result<Key> {
        let now = now();
        let is_at_rest = now - stamp.changed() > REST;
        let check = || match Stamp::at(path)? == *stamp {
            true => Ok(()),
            false => Err(io::Error::other("it was changed")),
        };
        check()?;
        if let Some(known) = self.known().get(stamp).filter(|_| is_at_rest) {
            self.learned().insert(*stamp, *known);
            return Ok(*known);
        }
        let file = File::open(path)?;
        let hash = Key::of_bytes(&mut Stoppable { file, stop })?;
        check()?;
        if is_at_rest {
            self.learned().insert(*stamp, hash);
        }
        Ok(hash)
    }

    /// Whether there is something to remember.
    pub(super) fn has_learned(&self) -> bool {
        let learned = self.learned();
        learned
            .keys()
            .any(|stamp| !self.known().contains_key(stamp))
    }

    /// Remembers what this run learned, for the next one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn remember(&self, folder: &Path) -> io::Result<()> {
        let learned = self.learned();
        let earlier = self.known().iter();
        let earlier = earlier.filter(|(stamp, _)| !learned.contains_key(stamp));
        let all = learned.iter().chain(earlier).take(MOST);
        let all: Vec<_> = all.map(|(stamp, key)| (stamp, key.0)).collect();
        let file = whole::begin(folder)?;
        let mut out = BufWriter::new(file.as_file());
        serde_json::to_writer(&mut out, &all)?;
        out.flush()?;
        drop(out);
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }

    /// What earlier runs remembered; nothing, if it cannot be read.
    fn known(&self) -> &HashMap<Stamp, Key> {
        self.known.get_or_init(|| {
            let known = fs::read(&self.path).ok();
            let known = known.and_then(|text| serde_json::from_slice(&text).ok());
            let known: Vec<(Stamp, [u8; KEY_BYTES])> = known.unwrap_or_default();
            known.into_iter().map(|(at, key)| (at, Key(key))).collect()
        })
    }

    fn learned(&self) -> MutexGuard<'_, HashMap<Stamp, Key>> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the reading of a file once the run is to stop.
struct Stoppable<'a> {
    file: File,
    stop: &'a Stop,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.stop.check()?;
        self.file.read(out)
    }
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX))
}
