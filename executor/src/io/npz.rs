//! One array of a NumPy archive: a zip file of `.npy` members, stored or deflated.

use std::io::{self, BufReader, Read};

use haul_ir::format::{NPZ, Settings};
use haul_ir::types::ValueType;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::elements::Elements;
use super::npy;
use super::open::{Bytes, OpenError, Opened, Opening};
use super::{Codec, Target};
use crate::error::IoError;
use crate::tensor::{Data, Tensor};

pub(super) static CODEC: Codec = Codec {
    format: &NPZ,
    open: Some(|opening| Ok(Box::new(NpzArray::open(opening)?))),
    write: Some(|data, file, out| write(data.tensor()?, &file.settings, out)),
};

/// Deflate packs at most 1032 bytes into one (<https://zlib.net/zlib_tech.html>).
pub(super) const MOST_DEFLATED: u64 = 1032;

/// An array whose header was read.
struct NpzArray<'a> {
    opening: &'a Opening<'a>,
    member: String,
    elements: Elements,
}

impl<'a> NpzArray<'a> {
    fn open(opening: &'a Opening<'a>) -> Result<Self, IoError> {
        let array = opening.settings.text("array").unwrap_or_default();
        let (mut archive, length) = archive(opening)?;
        let member = match archive.index_for_name(&format!("{array}.npy")) {
            Some(_) => format!("{array}.npy"),
            None => array.to_owned(),
        };
        if archive.index_for_name(&member).is_none() {
            let names = archive.file_names().flatten().take(20);
            let names: Vec<_> = names.map(|name| array_name(&name).to_owned()).collect();
            let message = format!("it has no array `{array}`, only: {}", names.join(", "));
            return Err(opening.error(message));
        }
        let mut input = archive
            .by_name(&member)
            .map_err(|error| malformed(opening, &error))?;
        let elements = npy::header(&mut input, opening)?;
        let needed = elements.size(opening)? as u64;
        if needed > length.saturating_mul(MOST_DEFLATED) {
            let message = format!("`{array}` claims {needed} bytes in a file of {length}");
            return Err(opening.error(message));
        }
        Ok(Self {
            opening,
            member,
            elements,
        })
    }

    fn fill(&self, out: &mut [u8]) -> Result<(), IoError> {
        let opening = self.opening;
        let (mut archive, _) = archive(opening)?;
        let member = archive.by_name(&self.member);
        let mut input = member.map_err(|error| malformed(opening, &error))?;
        npy::header(&mut input, opening)?;
        self.elements.fill(&mut input, out, opening)?;
        // The checksum is compared when the end is reached.
        let rest = io::copy(&mut input.by_ref().take(1 << 16), &mut io::sink());
        rest.map(drop).map_err(|error| opening.error(error))
    }
}

impl Opened for NpzArray<'_> {
    fn header(&self) -> ValueType {
        self.elements.header.ty()
    }

    fn read(self: Box<Self>) -> Result<Data, OpenError> {
        let header = &self.elements.header;
        self.opening.tensor(header, |out| self.fill(out))
    }
}

/// An archive of one array.
fn write(tensor: &Tensor, settings: &Settings, out: &mut dyn Target) -> io::Result<()> {
    // The name that `numpy.savez` gives the first of arrays without names.
    let array = settings.text("array").unwrap_or("arr_0");
    let method = match settings.flag("compressed") {
        Some(true) => CompressionMethod::Deflated,
        _ => CompressionMethod::Stored,
    };
    let options = SimpleFileOptions::default().compression_method(method);
    let mut archive = ZipWriter::new(out);
    archive.start_file(format!("{array}.npy"), options.large_file(true))?;
    npy::write(tensor, &mut archive)?;
    archive.finish().map(drop).map_err(Into::into)
}

fn archive<'a>(opening: &Opening<'a>) -> Result<(ZipArchive<BufReader<Bytes<'a>>>, u64), IoError> {
    let bytes = opening.bytes()?;
    let length = bytes.length;
    let archive = ZipArchive::new(BufReader::new(bytes));
    Ok((archive.map_err(|error| malformed(opening, &error))?, length))
}

fn malformed(opening: &Opening<'_>, error: &ZipError) -> IoError {
    opening.error(format!("it is not a readable .npz file: {error}"))
}

fn array_name(member: &str) -> &str {
    member.strip_suffix(".npy").unwrap_or(member)
}
