//! What URLs name: objects of buckets, and what web servers answer. Each is fetched whole to a
//! temporary file, which any reader reads; an output is put whole from a temporary file.
//! Credentials come from the environment only.

mod bucket;
mod connection;
mod save;
mod web;

use std::collections::HashMap;
use std::fs::File;
use std::future::Future;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use haul_ir::location::{Location, Object};
use tempfile::{NamedTempFile, TempPath};
use tokio::time::timeout;

use self::connection::Connection;
use self::save::Save;
use crate::cancel::Stop;
use crate::error::IoError;

/// How often a failed request is made again.
const RETRIES: usize = 3;

/// How often a wait looks whether the run is stopped.
const TICK: Duration = Duration::from_millis(50);

/// Letters of an object's name that the name of its temporary file keeps.
const NAME_KEPT: usize = 64;

/// Letters of a server's words that are shown.
const MOST_SHOWN: usize = 300;

/// A temporary file with what a URL names; it is removed when nobody needs it.
pub(crate) type Fetched = Arc<TempPath>;

/// Held by whoever fetches it.
type Slot = Arc<Mutex<Option<Fetched>>>;

/// Reaches what URLs name; keeps what it fetched until it is dropped or told to forget.
pub(crate) struct Remote {
    patience: Duration,
    connection: OnceLock<Result<Connection, String>>,
    fetched: Mutex<HashMap<String, Slot>>,
}

impl Remote {
    /// `patience` is how long a server may be silent.
    pub(crate) fn new(patience: Duration) -> Self {
        Self {
            patience,
            connection: OnceLock::new(),
            fetched: Mutex::default(),
        }
    }

    /// What a URL names. It is fetched once, and whoever else wants it waits; `begun` is told
    /// how many bytes it has, where the server tells.
    ///
    /// # Errors
    /// It is not there, may not be read, is cut short, or does not fit the disk; the server cannot
    /// be reached or is silent; the run is stopped.
    pub(crate) fn fetch(
        &self,
        url: &str,
        location: &Location,
        stop: &Stop,
        begun: &dyn Fn(Option<u64>),
    ) -> Result<Fetched, IoError> {
        let slot = self.fetched().entry(url.to_owned()).or_default().clone();
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fetched) = &*slot {
            return Ok(fetched.clone());
        }
        let connection = self.connection(url)?;
        let mut file = temporary(url).map_err(|error| IoError::new(Path::new(url), error))?;
        let mut save = Save::new(url, &mut file, begun);
        self.wait(url, stop, async {
            match location {
                Location::Object(object) => connection.buckets.fetch(object, &mut save).await,
                _ => connection.web.fetch(&mut save).await,
            }
        })?;
        let fetched = Arc::new(file.into_temp_path());
        *slot = Some(fetched.clone());
        Ok(fetched)
    }

    /// Lets go of what was fetched from a URL.
    pub(crate) fn forget(&self, url: &str) {
        self.fetched().remove(url);
    }

    /// The keys of a bucket below a folder, in any order; with `deep` those in its folders too.
    ///
    /// # Errors
    /// The bucket cannot be listed; the run is stopped.
    pub(crate) fn list(
        &self,
        folder: &Object,
        deep: bool,
        stop: &Stop,
    ) -> Result<Vec<String>, IoError> {
        let url = folder.to_string();
        let connection = self.connection(&url)?;
        self.wait(&url, stop, connection.buckets.list(folder, deep))
    }

    /// Puts a file whole: who reads the object sees what was there before, or all of it.
    ///
    /// # Errors
    /// The bucket does not take it; the server cannot be reached or is silent; the run is stopped.
    pub(crate) fn put(&self, object: &Object, file: &mut File, stop: &Stop) -> Result<(), IoError> {
        let url = object.to_string();
        let connection = self.connection(&url)?;
        let mut upload = None;
        let put = connection.buckets.put(object, file, &mut upload);
        let put = self.wait(&url, stop, put);
        if let (Err(_), Some(mut upload)) = (&put, upload) {
            // The parts that are there cost money until they are dropped. Failing to is no news.
            let abort = async { timeout(self.patience, upload.abort()).await };
            let _ = connection.runtime().block_on(abort);
        }
        put
    }

    /// Waits for a request, as long as the run goes on.
    fn wait<T>(
        &self,
        url: &str,
        stop: &Stop,
        request: impl Future<Output = Result<T, IoError>>,
    ) -> Result<T, IoError> {
        self.connection(url)?.runtime().block_on(async {
            let mut request = std::pin::pin!(request);
            while !stop.is_set() {
                if let Ok(done) = timeout(TICK, &mut request).await {
                    return done;
                }
            }
            Err(IoError::new(Path::new(url), "the run is stopped"))
        })
    }

    fn connection(&self, url: &str) -> Result<&Connection, IoError> {
        let open = || Connection::open(self.patience).map_err(|error| error.to_string());
        let connection = self.connection.get_or_init(open).as_ref();
        connection.map_err(|error| IoError::new(Path::new(url), error))
    }

    fn fetched(&self) -> MutexGuard<'_, HashMap<String, Slot>> {
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file with the ending that a URL has.
fn temporary(url: &str) -> io::Result<NamedTempFile> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let mut kept: Vec<_> = name
        .chars()
        .rev()
        .filter(is_plain)
        .take(NAME_KEPT)
        .collect();
    kept.reverse();
    let suffix = format!("-{}", kept.into_iter().collect::<String>());
    tempfile::Builder::new()
        .prefix("haul-")
        .suffix(&suffix)
        .tempfile()
}

/// What lies under an error: libraries wrap it in sentences about themselves.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let under = std::iter::successors(Some(error), |error| error.source());
    let text = under.last().map(ToString::to_string).unwrap_or_default();
    let shown = text.chars().take(MOST_SHOWN);
    shown
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
