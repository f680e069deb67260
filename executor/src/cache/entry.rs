//! A file with the results of one task.
//!
//! It holds [`MAGIC`], the length of the header, the header in JSON, the hash of these, the results
//! one after the other, and the hash of all before. Nothing that a file says is believed before a
//! hash agrees.

mod contents;

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::contents::Shape;
use super::hash::{Hashing, KEY_BYTES, Key};
use crate::cancel::Stop;
use crate::memory::{Account, Shortage};
use crate::tensor::Data;

/// What an entry begins with; the number changes with what follows.
const MAGIC: &[u8; 16] = b"haul result v1\r\n";

/// Bytes of the longest header: sizes and rows that were passed over are many at most.
const MAX_HEADER: u64 = 1 << 26;

/// Bytes that are read or written at a time.
const BLOCK: usize = 1 << 20;

#[derive(Serialize, Deserialize)]
struct Header {
    /// The key, in hexadecimal digits.
    key: String,
    about: About,
    values: Vec<Shape>,
}

/// What an entry tells of its task, beside the results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct About {
    /// The name of the pipeline.
    pub(crate) pipeline: String,
    /// The name of the stage.
    pub(crate) stage: String,
    /// The name of the item.
    pub(crate) item: Option<String>,
    /// The sizes that the task learned of its data.
    pub(crate) sizes: Vec<(String, u64)>,
    /// Input, path and number of rows that were passed over in what the task read.
    pub(crate) skipped: Vec<(String, String, u64)>,
}

/// Why an entry cannot be used.
#[derive(Debug)]
pub(crate) enum Unusable {
    /// There is none.
    Missing,
    /// It is not what was written.
    Damaged(String),
    /// There is no memory for what it holds.
    Memory(Shortage),
}

impl From<io::Error> for Unusable {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Unusable::Missing,
            io::ErrorKind::UnexpectedEof => Unusable::Damaged("it is cut short".into()),
            _ => Unusable::Damaged(error.to_string()),
        }
    }
}

impl From<Shortage> for Unusable {
    fn from(shortage: Shortage) -> Self {
        Unusable::Memory(shortage)
    }
}

/// Bytes that an entry with these results takes; nothing, where they are not worth keeping: they
/// lie in a mapped file, or repeat what their buffer holds once.
pub(crate) fn size(results: &[Data]) -> Option<u64> {
    let mut sizes = results.iter().map(contents::size);
    sizes.try_fold(0_u64, |all, bytes| all.checked_add(bytes?))
}

/// Writes an entry; tells how many bytes it has.
///
/// # Errors
/// The file takes no more.
pub(crate) fn write(file: &File, key: Key, about: About, results: &[Data]) -> io::Result<u64> {
    let header = Header {
        key: key.to_string(),
        about,
        values: results.iter().map(Shape::of).collect(),
    };
    let json = serde_json::to_vec(&header)?;
    let mut out = Hashing::new(BufWriter::with_capacity(BLOCK, file));
    out.write_all(MAGIC)?;
    out.write_all(&(json.len() as u64).to_le_bytes())?;
    out.write_all(&json)?;
    out.write_hash()?;
    for data in results {
        contents::write(data, &mut out)?;
    }
    out.write_hash()?;
    out.into_inner().flush()?;
    Ok(file.metadata()?.len())
}

/// An entry whose header was read and agrees with its hash.
pub(crate) struct Entry {
    pub(crate) about: About,
    key: String,
    values: Vec<Shape>,
    reader: Hashing<BufReader<File>>,
    left: u64,
}

impl Entry {
    /// Reads the header of an entry.
    ///
    /// # Errors
    /// There is none of this key, or it is not what was written.
    pub(crate) fn open(path: &Path, key: Key) -> Result<Self, Unusable> {
        let entry = Self::peek(path)?;
        match entry.key == key.to_string() {
            true => Ok(entry),
            false => Err(damaged("it is of another key")),
        }
    }

    /// Reads the header of whatever entry it is.
    ///
    /// # Errors
    /// It is not there, or not what was written.
    pub(crate) fn peek(path: &Path) -> Result<Self, Unusable> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut reader = Hashing::new(BufReader::with_capacity(BLOCK / 16, file));
        let (mut magic, mut bytes) = ([0; MAGIC.len()], [0; 8]);
        reader.read_exact(&mut magic)?;
        if magic != *MAGIC {
            return Err(damaged("it does not begin as an entry does"));
        }
        reader.read_exact(&mut bytes)?;
        let bytes = u64::from_le_bytes(bytes);
        if bytes > length.min(MAX_HEADER) {
            return Err(damaged("its header is longer than it"));
        }
        let mut json = vec![0; bytes as usize];
        reader.read_exact(&mut json)?;
        check_hash(&mut reader)?;
        let header: Header =
            serde_json::from_slice(&json).map_err(|error| damaged(&error.to_string()))?;
        let mut sizes = header.values.iter().map(Shape::bytes);
        let left = sizes.try_fold(0_u64, |all, bytes| all.checked_add(bytes?));
        let left = left.ok_or_else(|| damaged("its results are too large"))?;
        let begin = (MAGIC.len() + 8 + KEY_BYTES) as u64 + bytes;
        match length.checked_sub(begin + KEY_BYTES as u64) == Some(left) {
            true => Ok(Self {
                about: header.about,
                key: header.key,
                values: header.values,
                reader,
                left,
            }),
            false => Err(damaged("it is cut short")),
        }
    }

    /// Holds all of it against its hash.
    ///
    /// # Errors
    /// It is not what was written, or the run is stopped.
    pub(crate) fn verify(mut self, stop: &Stop) -> Result<(), Unusable> {
        let mut block = vec![0; BLOCK];
        let mut left = self.left;
        while left > 0 {
            stop.check()?;
            let bytes = left.min(BLOCK as u64);
            self.reader.read_exact(&mut block[..bytes as usize])?;
            left -= bytes;
        }
        check_hash(&mut self.reader)
    }

    /// The results.
    ///
    /// # Errors
    /// It is not what was written, or there is no memory for the results, or the run is stopped.
    pub(crate) fn read(
        mut self,
        account: &Arc<Account>,
        stop: &Stop,
    ) -> Result<Vec<Data>, Unusable> {
        let results = self.values.iter().map(|shape| {
            stop.check()?;
            contents::read(shape, &mut self.reader, account)
        });
        let results = results.collect::<Result<_, Unusable>>()?;
        check_hash(&mut self.reader)?;
        Ok(results)
    }
}

/// Reads a hash and compares it with that of all before.
fn check_hash(reader: &mut Hashing<BufReader<File>>) -> Result<(), Unusable> {
    let (found, mut told) = (reader.hash(), [0; KEY_BYTES]);
    reader.read_exact(&mut told)?;
    match found == Key(told) {
        true => Ok(()),
        false => Err(damaged("its hash is another one")),
    }
}

fn damaged(what: &str) -> Unusable {
    Unusable::Damaged(what.to_owned())
}

#[cfg(test)]
mod tests;
