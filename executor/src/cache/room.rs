//! Keeping a cache within its limit: what was not used for longest goes first.

use std::collections::VecDeque;
use std::fs;
use std::time::SystemTime;

use super::folder::{Folder, Found};

/// How much a cache holds, and what may go.
pub(super) struct Room {
    limit: u64,
    held: u64,
    /// Entries that were there, the one that was not used for longest first.
    oldest: VecDeque<Found>,
    /// Entries used since then stay.
    since: SystemTime,
}

impl Room {
    /// Counts what a cache holds.
    pub(super) fn of(folder: &Folder, limit: u64, since: SystemTime) -> Self {
        let oldest: VecDeque<_> = folder.entries().into();
        Self {
            limit,
            held: oldest.iter().map(|found| found.bytes).sum(),
            oldest,
            since,
        }
    }

    /// Makes room for so many bytes, which are held from then on; tells whether there is room.
    pub(super) fn make(&mut self, bytes: u64) -> bool {
        let fits = |held: u64| held.saturating_add(bytes) <= self.limit;
        while !fits(self.held) {
            let may_go = |found: &&Found| found.used < self.since;
            let Some(oldest) = self.oldest.front().filter(may_go) else {
                return false;
            };
            // Where another process was faster, it is gone as well.
            let _ = fs::remove_file(&oldest.path);
            self.held -= oldest.bytes;
            self.oldest.pop_front();
        }
        self.held += bytes;
        true
    }
}
