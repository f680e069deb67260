//! What the paths of a pipeline lead to.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haul_ir::format;
use haul_ir::location::{Location, Nowhere, Object};
use haul_ir::types::{Shape, ValueType};

use crate::cancel::{Cancel, Stop};
use crate::error::IoError;
use crate::remote::{Fetched, Remote};

/// How long a server may be silent before it is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the paths of a pipeline lead to: files below its folder, and what URLs name. Clones share
/// what was fetched, which is removed with the last of them, and what was learned of files that have to
/// be read to tell their size.
#[derive(Clone)]
pub struct Paths {
    folder: PathBuf,
    cancel: Cancel,
    /// Nothing where no other machine may be reached.
    remote: Option<Arc<Remote>>,
    begun: Arc<Begun>,
    /// By what was read, and as what.
    headers: Arc<Mutex<HashMap<String, ValueType>>>,
}

/// Told of what is fetched: its URL, and its bytes where the server tells.
type Begun = dyn Fn(&str, Option<u64>) + Send + Sync;

impl Paths {
    /// Paths relative to a folder; `cancel` stops what is being fetched.
    pub fn new(folder: PathBuf, cancel: Cancel) -> Self {
        Self {
            folder,
            cancel,
            remote: Some(Arc::new(Remote::new(PATIENCE))),
            begun: Arc::new(|_, _| ()),
            headers: Arc::default(),
        }
    }

    /// Paths relative to a folder, of which none leads to another machine.
    pub fn of_files(folder: PathBuf) -> Self {
        Self::new(folder, Cancel::new()).local()
    }

    /// The same, of which none leads to another machine.
    #[must_use]
    pub fn local(&self) -> Self {
        let remote = None;
        Self {
            remote,
            ..self.clone()
        }
    }

    /// Tells somebody of each URL that is being fetched, with its bytes where the server tells.
    #[must_use]
    pub fn telling(self, begun: impl Fn(&str, Option<u64>) + Send + Sync + 'static) -> Self {
        let begun = Arc::new(begun);
        Self { begun, ..self }
    }

    /// How long a server may be silent, where that is not half a minute.
    #[must_use]
    pub fn patient(self, patience: Duration) -> Self {
        let remote = Some(Arc::new(Remote::new(patience)));
        Self { remote, ..self }
    }

    /// What stops reading where no run is under way.
    pub(crate) fn stop(&self) -> Stop {
        Stop::new(self.cancel.clone())
    }

    /// The file that a path leads to, fetched where it is on another machine.
    ///
    /// # Errors
    /// The path leads nowhere, or what it names cannot be fetched.
    pub(crate) fn find(&self, path: &str, stop: &Stop) -> Result<Found, IoError> {
        let location = parse(path)?;
        if let Location::File(file) = location {
            let path = self.folder.join(file);
            return Ok(Found::File(path));
        }
        let begun = |size| (self.begun)(path, size);
        let remote = self.remote(path)?;
        let fetched = remote.fetch(path, &location, stop, &begun)?;
        Ok(Found::Fetched(fetched))
    }

    /// Lets go of what was fetched for a path.
    pub(crate) fn forget(&self, path: &str) {
        if let Some(remote) = &self.remote {
            remote.forget(path);
        }
    }

    /// The type of what a file holds, where it was read before as a value of such a type.
    pub(crate) fn header(&self, file: &format::File, ty: &ValueType) -> Option<ValueType> {
        self.headers().get(&header_key(file, ty)).cloned()
    }

    /// Remembers what reading a file told.
    pub(crate) fn keep_header(&self, file: &format::File, header: &ValueType) {
        let key = header_key(file, header);
        self.headers().insert(key, header.clone());
    }

    /// The folder that paths of files are relative to.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The keys below a folder of a bucket, or with `deep` of its folders too.
    ///
    /// # Errors
    /// The bucket cannot be listed.
    pub(crate) fn list(&self, folder: &Object, deep: bool) -> Result<Vec<String>, IoError> {
        let remote = self.remote(&folder.to_string())?;
        remote.list(folder, deep, &self.stop())
    }

    /// Puts a file whole into a bucket.
    ///
    /// # Errors
    /// The bucket does not take it.
    pub(crate) fn put(&self, object: &Object, file: &mut File, stop: &Stop) -> Result<(), IoError> {
        self.remote(&object.to_string())?.put(object, file, stop)
    }

    fn headers(&self) -> MutexGuard<'_, HashMap<String, ValueType>> {
        self.headers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remote(&self, url: &str) -> Result<&Remote, IoError> {
        let refused = || IoError::new(Path::new(url), "only `haul run` reaches other machines");
        self.remote.as_deref().ok_or_else(refused)
    }
}

impl fmt::Debug for Paths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Paths").field(&self.folder).finish()
    }
}

/// A file of this machine, for as long as this lives.
pub(crate) enum Found {
    /// It was here.
    File(PathBuf),
    /// It was fetched.
    Fetched(Fetched),
}

impl Deref for Found {
    type Target = Path;

    fn deref(&self) -> &Path {
        match self {
            Self::File(path) => path,
            #[cfg(feature = "remote")]
            Self::Fetched(fetched) => fetched,
            #[cfg(not(feature = "remote"))]
            Self::Fetched(never) => match *never {},
        }
    }
}

/// A file with its settings, and the type that it is read as but for its sizes.
fn header_key(file: &format::File, ty: &ValueType) -> String {
    format!("{file:?} {}", ty.with_sizes(Shape::new()))
}

/// Where a path leads.
///
/// # Errors
/// It leads nowhere.
pub(crate) fn parse(path: &str) -> Result<Location, IoError> {
    Location::parse(path)
        .map_err(|Nowhere { message, help }| IoError::new(Path::new(path), message).help(help))
}
