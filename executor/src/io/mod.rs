//! File formats, and data that is made of a rule. Readers tell dtype and shape first, so that
//! memory is asked for before it is filled; sizes that a file claims are checked against the file.
//!
//! A format is a row of [`haul_ir::format::FORMATS`], and here the [`Codec`] of that row.

#[cfg(feature = "arrow")]
mod columnar;
mod csv;
mod elements;
mod glob;
mod gzip;
#[cfg(test)]
mod hostile;
mod image;
mod jsonl;
mod made;
mod npy;
mod npz;
mod open;
mod raw;
mod rows;
mod text;
mod wav;

pub(crate) use gzip::is_gzipped;
pub(crate) use made::{fill as fill_made, texts as made_texts};
pub(crate) use open::OpenError;
pub(crate) use text::element;

use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haul_ir::format::{File, Format, Settings, Typing};
use haul_ir::types::ValueType;

use self::open::{Opened, Opening};
use crate::cancel::Stop;
use crate::error::IoError;
use crate::machine::Machine;
use crate::memory::{Account, Memory};
use crate::paths::{Found, Paths};
use crate::tensor::Data;

/// What reads and writes each format.
static CODECS: &[&Codec] = &[
    &npy::CODEC,
    &npz::CODEC,
    &csv::CODEC,
    #[cfg(feature = "arrow")]
    &columnar::PARQUET,
    #[cfg(feature = "arrow")]
    &columnar::ARROW,
    &jsonl::CODEC,
    &image::CODEC,
    &wav::CODEC,
    &raw::CODEC,
    &text::CODEC,
];

/// What reads and writes a format.
struct Codec {
    format: &'static Format,
    open: Option<OpenFile>,
    write: Option<WriteFile>,
}

/// Reads the header of a file.
type OpenFile = for<'a> fn(&'a Opening<'a>) -> Result<Box<dyn Opened + 'a>, OpenError>;

/// Writes a value that the format can hold.
type WriteFile = fn(&Data, &File, &mut dyn Target) -> io::Result<()>;

/// Where a file is written.
pub(crate) trait Target: Write + Seek + Send {}

impl<T: Write + Seek + Send> Target for T {}

/// What using a file takes beside the file.
#[derive(Clone, Copy)]
pub(crate) struct Access<'a> {
    /// What paths lead to.
    pub(crate) paths: &'a Paths,
    /// Who pays for what is read.
    pub(crate) account: &'a Arc<Account>,
    pub(crate) stop: &'a Stop,
}

/// What reading a header may take where the machine does not tell its memory.
const FEW_BYTES: u64 = 1 << 30;

/// The type of the data in a file, without reading the data itself where the format tells;
/// where it does not, its dtype is that of `declared`, or what it has itself, such as `f64` of numbers
/// in text.
///
/// # Errors
/// The file is missing, unreadable or malformed.
pub fn header(
    file: &File,
    declared: Option<&ValueType>,
    paths: &Paths,
) -> Result<ValueType, IoError> {
    // A table has to be read; a small file may unpack to more than there is memory.
    let memory = Machine::detect().map_or(FEW_BYTES, |machine| machine.memory / 2);
    let account = &Memory::new(memory).account(memory);
    let stop = &paths.stop();
    let access = Access {
        paths,
        account,
        stop,
    };
    let is_adopted = |ty: &&ValueType| ty.tensor().is_none() || file.format.typing != Typing::Told;
    let declared = declared.filter(is_adopted);
    peek(file, declared, access).map_err(|error| match error {
        OpenError::Io(error) => error,
        OpenError::Memory(_) => IoError::new(Path::new(&file.path), "it is too large"),
    })
}

/// The files that a pattern names, sorted by path.
///
/// # Errors
/// The pattern is malformed, a folder cannot be read, or no file matches.
pub fn files(pattern: &str, paths: &Paths) -> Result<Vec<PathBuf>, IoError> {
    glob::files(pattern, paths)
}

/// One file of a `Files` collection, by its ending where no format is named.
///
/// # Errors
/// The ending is of no format that gives such a type.
pub(crate) fn item(
    path: &Path,
    ty: &ValueType,
    format: Option<&'static Format>,
    settings: &Settings,
) -> Result<File, IoError> {
    let text = path
        .to_str()
        .ok_or_else(|| IoError::new(path, "its name is not UTF-8"))?;
    let format = match (format, ty) {
        (Some(format), _) => format,
        (None, ValueType::Text) => &haul_ir::format::TEXT,
        (None, _) => by_ending(path, text, ty)?,
    };
    Ok(File {
        format,
        path: text.to_owned(),
        settings: settings.clone(),
    })
}

/// Reads a file.
///
/// # Errors
/// It cannot be read, is malformed, or is of another dtype; there is no memory for it; the run is
/// stopped.
pub(crate) fn read(file: &File, ty: &ValueType, access: Access<'_>) -> Result<Read, OpenError> {
    let found = access.paths.find(&file.path, access.stop)?;
    let opening = Opening::new(&found, &file.settings, Some(ty), access);
    let read = open(file.format, &opening).and_then(|opened| {
        let skipped = opened.skipped();
        let data = opened.read()?;
        Ok(Read { data, skipped })
    });
    read.map_err(|error| named(error, &found, &file.path))
}

/// What a file gave.
pub(crate) struct Read {
    pub(crate) data: Data,
    /// Rows that could not be read and were passed over, as the author said.
    pub(crate) skipped: usize,
}

/// The type of what a file holds. The dtype is checked against the declared one. A file that has to
/// be read to tell its size is read once for that: its data meet the size that was told when they are
/// read.
///
/// # Errors
/// As [`read`].
pub(crate) fn peek(
    file: &File,
    declared: Option<&ValueType>,
    access: Access<'_>,
) -> Result<ValueType, OpenError> {
    if let Some(known) = declared.and_then(|ty| access.paths.header(file, ty)) {
        return Ok(known);
    }
    let found = access.paths.find(&file.path, access.stop)?;
    let opening = Opening::new(&found, &file.settings, declared, access);
    let header = open(file.format, &opening).map(|opened| opened.header());
    let header = header.map_err(|error| named(error, &found, &file.path))?;
    if file.format.typing == Typing::Numbers {
        access.paths.keep_header(file, &header);
    }
    Ok(header)
}

/// Errors about what was fetched name its URL.
fn named(error: OpenError, found: &Found, path: &str) -> OpenError {
    match (error, found) {
        (OpenError::Io(error), Found::Fetched(_)) => OpenError::Io(IoError {
            path: path.to_owned(),
            ..error
        }),
        (error, _) => error,
    }
}

/// Writes a value that [`Format::check_output`] accepts.
///
/// # Errors
/// Writing fails.
pub(crate) fn write(file: &File, data: &Data, out: &mut dyn Target) -> io::Result<()> {
    let write = codec(file.format).and_then(|codec| codec.write);
    match write {
        Some(write) => write(data, file, out),
        None => Err(io::Error::other(not_built(file.format, "write"))),
    }
}

fn open<'a>(format: &Format, opening: &'a Opening<'a>) -> Result<Box<dyn Opened + 'a>, OpenError> {
    let open = codec(format).and_then(|codec| codec.open);
    let open = open.ok_or_else(|| opening.error(not_built(format, "read")))?;
    let opened = open(opening)?;
    opening.check_dtype(&opened.header())?;
    Ok(opened)
}

fn codec(format: &Format) -> Option<&'static Codec> {
    CODECS.iter().copied().find(|codec| codec.format == format)
}

fn not_built(format: &Format, verb: &str) -> String {
    let name = format.name;
    format!("this build of haul does not {verb} `{name}`: build it with `--features arrow`")
}

/// The format that gives tensors and has the ending of a file.
fn by_ending(path: &Path, text: &str, ty: &ValueType) -> Result<&'static Format, IoError> {
    let of_tensors = |format: &&Format| matches!(format.typing, Typing::Told | Typing::Numbers);
    let missing = || {
        let message = format!("no format for {ty} has this ending");
        let help = "say how to read it, for example `format: Csv()`, or leave the type out to \
                    get text";
        IoError::new(path, message).help(help)
    };
    let found = Format::of_path(text).filter(of_tensors);
    found.ok_or_else(missing)
}
