//! The folder of a cache: where each entry is, which there are, and how much they may take.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::hash::{KEY_BYTES, Key};
use crate::whole;

/// Marks a folder that programs may delete (<https://bford.info/cachedir/>), and this one as ours.
const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n\
                   # Results of haul, which `haul cache --clean` removes.\n";

/// Keeps all of it out of repositories.
const IGNORE: &str = ".gitignore";

/// Bytes that a cache may hold where nobody said otherwise.
pub(super) const DEFAULT_LIMIT: u64 = 20 << 30;

/// The folder of a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Folder(pub(super) PathBuf);

/// An entry, as the file system tells of it.
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    /// When it was last written or read.
    pub(super) used: SystemTime,
}

impl Folder {
    /// Makes the folder where it is not there.
    ///
    /// # Errors
    /// It cannot be made, or holds other things than a cache.
    pub(super) fn make(&self) -> io::Result<()> {
        if self.is_ours() {
            return Ok(());
        }
        fs::create_dir_all(&self.0)?;
        let mut holds = fs::read_dir(&self.0)?;
        // What a killed process left of making it is no reason to refuse it.
        let is_other = |entry: &fs::DirEntry| {
            let name = entry.file_name();
            name != IGNORE && !name.as_encoded_bytes().starts_with(b".haul-")
        };
        if holds.any(|entry| entry.is_ok_and(|entry| is_other(&entry))) {
            let reason =
                "it holds other things than a cache of haul: name an empty or a new folder";
            return Err(io::Error::other(reason));
        }
        if !self.0.join(IGNORE).exists() {
            self.write(IGNORE, "*\n")?;
        }
        self.write("CACHEDIR.TAG", TAG)
    }

    /// Whether a cache is there.
    pub(super) fn is_ours(&self) -> bool {
        fs::read_to_string(self.0.join("CACHEDIR.TAG")).is_ok_and(|tag| tag == TAG)
    }

    /// Where the entry of a key is.
    pub(super) fn entry(&self, key: Key) -> PathBuf {
        let name = key.to_string();
        self.0.join("results").join(&name[..2]).join(&name[2..])
    }

    /// Where hashes of files are remembered.
    pub(super) fn hashes(&self) -> PathBuf {
        self.0.join("hashes")
    }

    /// Bytes that it may hold.
    ///
    /// # Errors
    /// The file that says it cannot be read.
    pub(super) fn limit(&self) -> io::Result<u64> {
        match fs::read_to_string(self.0.join("limit")) {
            Ok(text) => text.trim().parse().map_err(|_| {
                io::Error::other(
                    "`limit` holds no number of bytes: set it with `haul cache --limit`",
                )
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(DEFAULT_LIMIT),
            Err(error) => Err(error),
        }
    }

    /// Says how many bytes it may hold.
    ///
    /// # Errors
    /// The file that says it cannot be written.
    pub(super) fn set_limit(&self, bytes: u64) -> io::Result<()> {
        self.write("limit", &format!("{bytes}\n"))
    }

    /// All entries, the one that was not used for longest first.
    pub(super) fn entries(&self) -> Vec<Found> {
        let folders = fs::read_dir(self.0.join("results")).into_iter().flatten();
        let files = folders.flatten().flat_map(|folder| {
            let files = fs::read_dir(folder.path()).into_iter().flatten();
            files.flatten().filter(|file| is_entry(&file.path()))
        });
        let found = files.filter_map(|file| {
            let metadata = file.metadata().ok()?;
            Some(Found {
                path: file.path(),
                bytes: metadata.len(),
                used: metadata.modified().ok()?,
            })
        });
        let mut found: Vec<_> = found.collect();
        found.sort_by_cached_key(|found| (found.used, found.path.clone()));
        found
    }

    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let mut file = whole::begin(&self.0)?;
        file.write_all(text.as_bytes())?;
        file.persist(self.0.join(name))
            .map_err(|error| error.error)?;
        Ok(())
    }
}

/// Says that an entry is used now. Where that cannot be written it only looks older than it is.
pub(super) fn touch(path: &Path) {
    let file = File::options().write(true).open(path);
    let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
}

/// Whether a file is called as an entry is: by the digits of its key.
fn is_entry(path: &Path) -> bool {
    let digits = |name: Option<&std::ffi::OsStr>, count: usize| {
        let name = name.unwrap_or_default().as_encoded_bytes();
        name.len() == count && name.iter().all(u8::is_ascii_hexdigit)
    };
    let folder = path.parent().and_then(Path::file_name);
    digits(folder, 2) && digits(path.file_name(), 2 * KEY_BYTES - 2)
}
