//! Files of text that are gzipped where their names end in `.gz`.

use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use haul_ir::format::File;

use super::Target;
use super::open::{OpenError, Opening};
use super::text::{decode, read_charged};
use crate::memory::Charge;

/// Whether the name of a file says that it is gzipped.
pub(crate) fn is_gzipped(path: &Path) -> bool {
    let ending = path.extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("gz"))
}

/// The text of a file.
///
/// # Errors
/// It cannot be read, unpacked or decoded; there is no memory for the text.
pub(super) fn read_text(opening: &Opening<'_>) -> Result<(String, Charge), OpenError> {
    let bytes = opening.bytes()?;
    let length = bytes.length;
    let (bytes, charge) = match is_gzipped(opening.path) {
        true => read_charged(&mut MultiGzDecoder::new(bytes), length, opening)?,
        false => read_charged(&mut io::Read::take(bytes, length), length, opening)?,
    };
    decode(bytes, charge, opening)
}

/// Writes text to a file. The same text gives the same bytes: the header of gzip holds neither time
/// nor name.
///
/// # Errors
/// Those of `write`; the file takes no more.
pub(super) fn write_text(
    file: &File,
    out: &mut dyn Target,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if !is_gzipped(Path::new(&file.path)) {
        return write(out);
    }
    // Numbers come one by one, which would be packed one by one.
    let mut packed = BufWriter::new(GzEncoder::new(out, Compression::default()));
    write(&mut packed)?;
    let packed = packed.into_inner().map_err(IntoInnerError::into_error)?;
    packed.finish().map(drop)
}
