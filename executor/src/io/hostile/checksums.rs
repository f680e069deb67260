//! Checksums made right again, so that what was changed gets past them.

use std::io::Read;

use flate2::Crc;
use flate2::read::DeflateDecoder;

/// Unpacked bytes that are looked at.
const MOST: u64 = 1 << 20;

/// Makes the checksums of a file right, as far as it still has the form that it had.
pub(super) fn repair(bytes: &mut [u8]) {
    let _ = match bytes {
        [0x89, b'P', b'N', b'G', ..] => png(bytes),
        [b'P', b'K', ..] => zip(bytes),
        [0x1f, 0x8b, ..] => gzip(bytes),
        _ => None,
    };
}

/// Each chunk: length, name, data, and the checksum of name and data
/// (<https://www.w3.org/TR/png-3/#5Chunk-layout>).
fn png(bytes: &mut [u8]) -> Option<()> {
    let mut at = 8;
    loop {
        let length = u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?) as usize;
        let sum = checksum(bytes.get(at + 4..at + 8 + length)?);
        put(bytes, at + 8 + length, sum.to_be_bytes())?;
        at += length + 12;
    }
}

/// One member: ten bytes, a name where the flags say so, deflated data, checksum, length
/// (<https://www.rfc-editor.org/rfc/rfc1952>).
fn gzip(bytes: &mut [u8]) -> Option<()> {
    let named = bytes.get(3)? & 8 != 0;
    let name = match named {
        true => 1 + bytes.get(10..)?.iter().position(|byte| *byte == 0)?,
        false => 0,
    };
    let end = bytes.len().checked_sub(8)?;
    let data = inflated(bytes.get(10 + name..end)?)?;
    put(bytes, end, checksum(&data).to_le_bytes())?;
    put(bytes, end + 4, (data.len() as u32).to_le_bytes())
}

/// Each entry of the central directory, and the local header it leads to
/// (<https://pkware.cachefly.net/webdocs/APPNOTE/APPNOTE-6.3.10.TXT>).
fn zip(bytes: &mut [u8]) -> Option<()> {
    let mut entry = bytes.windows(4).position(|four| four == b"PK\x01\x02")?;
    while bytes.get(entry..)?.starts_with(b"PK\x01\x02") {
        let short = |at: usize| {
            Some(usize::from(u16::from_le_bytes(
                *bytes.get(at..)?.first_chunk()?,
            )))
        };
        let long = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as usize);
        let local = long(entry + 42)?;
        let data = local.checked_add(30 + short(local.checked_add(26)?)? + short(local + 28)?)?;
        let data = bytes.get(data..data.checked_add(long(entry + 20)?)?)?;
        let sum = match short(entry + 10)? {
            0 => checksum(data),
            _ => checksum(&inflated(data)?),
        };
        let next = entry + 46 + short(entry + 28)? + short(entry + 30)? + short(entry + 32)?;
        put(bytes, entry + 16, sum.to_le_bytes())?;
        put(bytes, local + 14, sum.to_le_bytes())?;
        entry = next;
    }
    Some(())
}

fn inflated(data: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    DeflateDecoder::new(data)
        .take(MOST)
        .read_to_end(&mut out)
        .ok()?;
    Some(out)
}

fn checksum(data: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(data);
    crc.sum()
}

fn put(bytes: &mut [u8], at: usize, sum: [u8; 4]) -> Option<()> {
    *bytes.get_mut(at..)?.first_chunk_mut()? = sum;
    Some(())
}

#[test]
fn checksums_that_are_lost_come_back() {
    for (_, path) in super::good_files() {
        let whole = std::fs::read(&path).unwrap();
        let mut repaired = whole.clone();
        repair(&mut repaired);
        assert!(repaired == whole, "{}", path.display());
        let end = whole.len();
        let sum = match path.extension().and_then(|ending| ending.to_str()) {
            Some("png") => end - 4..end,
            Some("gz") => end - 8..end,
            Some("npz") => {
                let entry = whole
                    .windows(4)
                    .position(|four| four == b"PK\x01\x02")
                    .unwrap();
                entry + 16..entry + 20
            }
            _ => continue,
        };
        repaired[sum].fill(0);
        assert!(repaired != whole, "{}", path.display());
        repair(&mut repaired);
        assert!(repaired == whole, "{}", path.display());
    }
}
