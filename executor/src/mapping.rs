//! Files that are mapped into memory instead of being read.

use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapOptions};

/// Bytes of a file, which the operating system reads when they are looked at and may drop again.
pub(crate) struct Mapping {
    map: Mmap,
    /// Where they begin in the map.
    start: usize,
}

impl Mapping {
    /// What follows the first `start` bytes, `len` bytes of it.
    ///
    /// # Errors
    /// The file is shorter, or cannot be mapped.
    pub(crate) fn new(file: &File, start: u64, len: usize) -> io::Result<Self> {
        let start = usize::try_from(start).map_err(io::Error::other)?;
        let end = start.checked_add(len).ok_or(io::ErrorKind::InvalidInput)?;
        if file.metadata()?.len() < end as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        #[expect(
            unsafe_code,
            reason = "nothing but another program that writes to an input during the run could \
                      change the bytes or cut the file; outputs are new files that are renamed"
        )]
        let map = unsafe { MmapOptions::new().len(end).map(file)? };
        Ok(Self { map, start })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map[self.start..]
    }
}
