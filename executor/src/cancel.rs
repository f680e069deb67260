//! Stopping a run from outside, and from inside when a task fails.

use std::io::{self, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that stops a run; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the run: no task starts any more, running ones end at their next block of elements.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is set.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Something that takes no more once the run is to stop.
pub(crate) struct Stoppable<'a, T> {
    pub(crate) inner: T,
    stop: &'a Stop,
}

/// Bytes that are written between two looks at whether to stop.
const BLOCK: usize = 1 << 18;

impl<'a, T> Stoppable<'a, T> {
    pub(crate) fn new(inner: T, stop: &'a Stop) -> Self {
        Self { inner, stop }
    }
}

impl<T: Write> Write for Stoppable<'_, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stop.check()?;
        self.inner.write(&bytes[..bytes.len().min(BLOCK)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<T: Seek> Seek for Stoppable<'_, T> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

/// Why running tasks have to end: the user's wish, or another task's failure.
#[derive(Default)]
pub(crate) struct Stop {
    cancel: Cancel,
    failed: AtomicBool,
}

impl Stop {
    pub(crate) fn new(cancel: Cancel) -> Self {
        Self {
            cancel,
            failed: AtomicBool::new(false),
        }
    }

    /// Stops the tasks because one of them failed.
    pub(crate) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.cancel.is_cancelled()
    }

    /// Ends reading or writing a file.
    pub(crate) fn check(&self) -> std::io::Result<()> {
        match self.is_set() {
            true => Err(std::io::Error::other("the run is stopped")),
            false => Ok(()),
        }
    }
}
