//! Writing what arrives to a temporary file.

use std::fmt::Display;
use std::io::{Seek, Write};
use std::path::Path;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use tempfile::NamedTempFile;

use crate::error::IoError;
use crate::memory::Bytes as Amount;

/// Why something was not fetched, and whether another try may fare better.
pub(super) struct Failure {
    pub(super) error: IoError,
    pub(super) is_passing: bool,
}

impl Failure {
    pub(super) fn passing(error: IoError) -> Self {
        let is_passing = true;
        Self { error, is_passing }
    }

    pub(super) fn lasting(error: IoError) -> Self {
        let is_passing = false;
        Self { error, is_passing }
    }
}

/// A temporary file that is to hold what a URL names.
pub(super) struct Save<'a> {
    pub(super) url: &'a str,
    file: &'a mut NamedTempFile,
    begun: &'a dyn Fn(Option<u64>),
}

impl<'a> Save<'a> {
    pub(super) fn new(
        url: &'a str,
        file: &'a mut NamedTempFile,
        begun: &'a dyn Fn(Option<u64>),
    ) -> Self {
        Self { url, file, begun }
    }

    /// An error about what the URL names.
    pub(super) fn failed(&self, message: impl Display) -> IoError {
        IoError::new(Path::new(self.url), message)
    }

    /// Writes all of a stream; `size` is what the server says it has.
    ///
    /// # Errors
    /// It does not fit the disk, has another size, or `broken` says why it ended.
    pub(super) async fn all<E>(
        &mut self,
        size: Option<u64>,
        stream: impl Stream<Item = Result<Bytes, E>>,
        broken: impl Fn(E) -> IoError,
    ) -> Result<(), Failure> {
        let most = self.room_for(size).map_err(Failure::lasting)?;
        (self.begun)(size);
        let mut stream = std::pin::pin!(stream);
        let mut written = 0;
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|error| Failure::passing(broken(error)))?;
            written += chunk.len() as u64;
            if written > most {
                let message = format!("the server sends more than {}", Amount(most));
                return Err(Failure::lasting(self.failed(message)));
            }
            let kept = self.file.write_all(&chunk);
            kept.map_err(|error| Failure::lasting(self.full(&error)))?;
        }
        match size {
            Some(size) if written < size => {
                let message = format!("it is cut short: {written} of {size} bytes came");
                Err(Failure::passing(self.failed(message)))
            }
            _ => Ok(()),
        }
    }

    /// Throws away what was written.
    pub(super) fn restart(&mut self) -> Result<(), IoError> {
        let file = self.file.as_file_mut();
        let emptied = file.set_len(0).and_then(|()| file.rewind());
        emptied.map_err(|error| self.full(&error))
    }

    /// Most bytes to take: as many as the server says, where the disk has room for them; half of
    /// the room where it says nothing.
    fn room_for(&self, size: Option<u64>) -> Result<u64, IoError> {
        let folder = self.folder();
        let room = fs4::available_space(folder);
        let room = room.map_err(|error| self.failed(format!("{}: {error}", folder.display())))?;
        match size {
            Some(size) if size > room => {
                let (size, room, folder) = (Amount(size), Amount(room), folder.display());
                let message = format!("it has {size}; there is room for {room} in {folder}");
                Err(self
                    .failed(message)
                    .help("let TMPDIR name a folder with more room"))
            }
            Some(size) => Ok(size),
            None => Ok(room / 2),
        }
    }

    fn full(&self, error: &std::io::Error) -> IoError {
        let folder = self.folder().display();
        self.failed(format!("could not keep it in {folder}: {error}"))
            .help("let TMPDIR name a folder with more room")
    }

    fn folder(&self) -> &Path {
        self.file.path().parent().unwrap_or(Path::new("."))
    }
}
