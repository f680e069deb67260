//! One array of a NumPy archive: a zip file of `.npy` members, stored or deflated.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::result::ZipError;

use super::npy::Format;
use super::{Header, Opened, open_file};
use crate::error::IoError;

/// Deflate packs at most 1032 bytes into one (<https://zlib.net/zlib_tech.html>).
pub(super) const MOST_DEFLATED: u64 = 1032;

/// An array whose header was read.
pub(super) struct NpzArray {
    path: PathBuf,
    member: String,
    format: Format,
}

impl NpzArray {
    pub(super) fn open(path: &Path, array: &str) -> Result<Self, IoError> {
        let (mut archive, length) = archive(path)?;
        let member = match archive.index_for_name(&format!("{array}.npy")) {
            Some(_) => format!("{array}.npy"),
            None => array.to_owned(),
        };
        if archive.index_for_name(&member).is_none() {
            let names = archive.file_names().flatten().take(20);
            let names: Vec<_> = names.map(|name| array_name(&name).to_owned()).collect();
            let message = format!("it has no array `{array}`, only: {}", names.join(", "));
            return Err(IoError::new(path, message));
        }
        let mut input = archive
            .by_name(&member)
            .map_err(|error| malformed(path, &error))?;
        let format = Format::read(&mut input, path)?;
        let needed = format.size(path)? as u64;
        if needed > length.saturating_mul(MOST_DEFLATED) {
            let message = format!("`{array}` claims {needed} bytes in a file of {length}");
            return Err(IoError::new(path, message));
        }
        Ok(Self {
            path: path.to_owned(),
            member,
            format,
        })
    }
}

impl Opened for NpzArray {
    fn header(&self) -> Header {
        self.format.header.clone()
    }

    fn read(self: Box<Self>, out: &mut [u8]) -> Result<(), IoError> {
        let (mut archive, _) = archive(&self.path)?;
        let member = archive.by_name(&self.member);
        let mut input = member.map_err(|error| malformed(&self.path, &error))?;
        Format::read(&mut input, &self.path)?;
        self.format.fill(&mut input, out, &self.path)?;
        // The checksum is compared when the end is reached.
        let rest = std::io::copy(&mut input.by_ref().take(1 << 16), &mut std::io::sink());
        rest.map(drop)
            .map_err(|error| IoError::new(&self.path, error))
    }
}

fn archive(path: &Path) -> Result<(ZipArchive<BufReader<File>>, u64), IoError> {
    let (file, length) = open_file(path)?;
    let archive = ZipArchive::new(BufReader::new(file));
    Ok((archive.map_err(|error| malformed(path, &error))?, length))
}

fn malformed(path: &Path, error: &ZipError) -> IoError {
    IoError::new(path, format!("it is not a readable .npz file: {error}"))
}

fn array_name(member: &str) -> &str {
    member.strip_suffix(".npy").unwrap_or(member)
}
