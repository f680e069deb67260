//! Files that are mapped into memory instead of being read.

#[cfg_attr(not(unix), path = "unwatched.rs")]
mod watch;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use memmap2::{Mmap, MmapOptions};

use self::watch::Watch;
use crate::error::IoError;

/// Bytes of a file, which the operating system reads when they are looked at and may drop again.
pub(crate) struct Mapping {
    path: PathBuf,
    /// Ends before the map does, whose addresses are others' from then on.
    watch: Watch,
    map: Mmap,
    /// Where they begin in the map.
    start: usize,
}

impl Mapping {
    /// What follows the first `start` bytes, `len` bytes of it.
    ///
    /// # Errors
    /// The file is shorter, or cannot be mapped.
    pub(crate) fn new(path: &Path, file: &File, start: u64, len: usize) -> io::Result<Self> {
        let start = usize::try_from(start).map_err(io::Error::other)?;
        let end = start.checked_add(len).ok_or(io::ErrorKind::InvalidInput)?;
        let metadata = file.metadata()?;
        if metadata.len() < end as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        #[expect(
            unsafe_code,
            reason = "nothing but another program that writes to an input during the run could \
                      change the bytes, and `check` tells of it; outputs are new files that are \
                      renamed"
        )]
        let map = unsafe { MmapOptions::new().len(end).map(file)? };
        Ok(Self {
            path: path.to_owned(),
            watch: Watch::new(&map, &metadata),
            map,
            start,
        })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map[self.start..]
    }

    /// Whether all that was read of it so far is what the file held when it was mapped.
    ///
    /// # Errors
    /// It was cut short or changed, or its disk failed.
    pub(crate) fn check(&self) -> Result<(), IoError> {
        self.watch.check(&self.path).map_err(|what| {
            let message = format!("{what} while the run used it");
            let help =
                "let nothing write to inputs during a run: write another file, and rename it";
            IoError::new(&self.path, message).help(help)
        })
    }
}
