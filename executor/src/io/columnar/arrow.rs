//! Arrow files and streams (<https://arrow.apache.org/docs/format/Columnar.html>): a schema, then
//! batches of rows and the dictionaries of their columns. A file ends with a list of where these
//! are; in a stream each tells where the next begins.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_buffer::MutableBuffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::writer::FileWriter;
use arrow_ipc::{
    Block, Endianness, Message, MessageHeader, MetadataVersion, root_as_footer, root_as_message,
};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use haul_ir::format::ARROW;

use super::write::batches;
use super::{Source, Take, choose};
use crate::error::IoError;
use crate::io::Codec;
use crate::io::open::{Bytes, OpenError, Opening};

pub(in crate::io) static CODEC: Codec = Codec {
    format: &ARROW,
    open: Some(|opening| choose(opening, Box::new(ArrowFile::open(opening)?))),
    write: Some(|data, file, out| {
        let batches = batches(data, &file.settings)?;
        let writer = FileWriter::try_new(out, &batches.schema());
        let mut writer = writer.map_err(io::Error::other)?;
        batches.each(&mut |batch| writer.write(&batch).map_err(io::Error::other))?;
        writer.finish().map_err(io::Error::other)
    }),
};

/// What a file begins with; a stream begins with its first message.
const MAGIC: &[u8] = b"ARROW1";

/// What a message begins with, since version 0.15 of the format.
const CONTINUATION: u32 = u32::MAX;

/// A file whose messages were found.
struct ArrowFile<'a> {
    opening: &'a Opening<'a>,
    contents: Contents,
    rows: usize,
}

impl<'a> ArrowFile<'a> {
    fn open(opening: &'a Opening<'a>) -> Result<Self, OpenError> {
        let contents = Contents::find(opening)?;
        let mut rows = contents.messages.iter().map(|message| message.rows);
        let rows = rows.try_fold(0_usize, |sum, rows| sum.checked_add(rows));
        let rows = rows.ok_or_else(|| malformed(opening, "it claims too many rows"))?;
        Ok(Self {
            opening,
            contents,
            rows,
        })
    }
}

impl Source for ArrowFile<'_> {
    fn schema(&self) -> &Schema {
        &self.contents.schema
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn batches(&self, columns: &[usize], _: usize, take: Take<'_>) -> Result<(), OpenError> {
        let failed = |error: ArrowError| malformed(self.opening, error);
        let mut bytes = self.opening.bytes()?;
        let decoder = FileDecoder::new(self.contents.schema.clone(), self.contents.version);
        let mut decoder = decoder.with_projection(columns.to_vec());
        for message in &self.contents.messages {
            let (block, account) = (&message.block, self.opening.access.account);
            let length = block.metaDataLength() as u64 + block.bodyLength() as u64;
            let _charge = account.charge(length)?;
            let held = read_at(&mut bytes, block.offset() as u64, length, self.opening)?;
            let unpacked = unpacked_size(&held, block).map_err(|e| malformed(self.opening, e))?;
            let _unpacked = account.charge(unpacked)?;
            let held = held.into();
            if message.is_dictionary {
                decoder.read_dictionary(block, &held).map_err(failed)?;
                continue;
            }
            let batch = decoder.read_record_batch(block, &held).map_err(failed)?;
            take(&batch.ok_or_else(|| malformed(self.opening, "a batch is empty"))?)?;
        }
        Ok(())
    }
}

/// What a file says of itself.
struct Contents {
    schema: SchemaRef,
    version: MetadataVersion,
    /// Dictionaries before the batches that need them.
    messages: Vec<Part>,
}

/// A message with numbers.
struct Part {
    block: Block,
    is_dictionary: bool,
    rows: usize,
}

impl Contents {
    fn find(opening: &Opening<'_>) -> Result<Self, OpenError> {
        let mut bytes = opening.bytes()?;
        let start = bytes.length.min(MAGIC.len() as u64);
        let start = read_at(&mut bytes, 0, start, opening)?;
        match &*start == MAGIC {
            true => Self::of_file(&mut bytes, opening),
            false => Self::of_stream(&mut bytes, opening),
        }
    }

    fn of_file(bytes: &mut Bytes<'_>, opening: &Opening<'_>) -> Result<Self, OpenError> {
        let failed = |error: ArrowError| malformed(opening, error);
        let mut end = [0; 10];
        let at = bytes.length.saturating_sub(end.len() as u64);
        let read = read_at(bytes, at, end.len() as u64, opening)?;
        end.copy_from_slice(&read);
        let length = read_footer_length(end).map_err(failed)? as u64;
        let at = at
            .checked_sub(length)
            .ok_or_else(|| malformed(opening, "its footer is cut"))?;
        let _charge = opening.access.account.charge(length)?;
        let footer = read_at(bytes, at, length, opening)?;
        let footer = root_as_footer(&footer).map_err(|error| malformed(opening, error))?;
        let schema = footer
            .schema()
            .ok_or_else(|| malformed(opening, "it has no schema"))?;
        let mut contents = Self {
            schema: schema_of(schema, opening)?,
            version: footer.version(),
            messages: Vec::new(),
        };
        let dictionaries = footer.dictionaries().into_iter().flatten();
        let batches = footer.recordBatches().into_iter().flatten();
        for block in dictionaries.chain(batches) {
            contents.messages.push(Part::read(*block, bytes, opening)?);
        }
        Ok(contents)
    }

    fn of_stream(bytes: &mut Bytes<'_>, opening: &Opening<'_>) -> Result<Self, OpenError> {
        let mut contents: Option<Self> = None;
        let mut at = 0;
        while let Some((prefix, length)) = message_at(at, bytes, opening)? {
            let metadata = read_at(bytes, at + prefix, length, opening)?;
            let message = root_as_message(&metadata).map_err(|error| malformed(opening, error))?;
            let body = message.bodyLength();
            let block = Block::new(at as i64, (prefix + length) as i32, body);
            match (&mut contents, message.header_as_schema()) {
                (None, Some(schema)) => {
                    contents = Some(Self {
                        schema: schema_of(schema, opening)?,
                        version: message.version(),
                        messages: Vec::new(),
                    });
                }
                (Some(contents), None) => {
                    contents.messages.push(Part::read(block, bytes, opening)?);
                }
                _ => return Err(malformed(opening, "it does not begin with its one schema").into()),
            }
            let body = u64::try_from(body).ok();
            let next = body.and_then(|body| (at + prefix + length).checked_add(body));
            at = next.ok_or_else(|| malformed(opening, "a message has no length"))?;
        }
        contents.ok_or_else(|| malformed(opening, "it has no schema").into())
    }
}

impl Part {
    /// Reads what a message says of itself.
    fn read(block: Block, bytes: &mut Bytes<'_>, opening: &Opening<'_>) -> Result<Self, IoError> {
        let size = |size: i64| u64::try_from(size).ok();
        let sizes = size(block.offset()).zip(size(block.metaDataLength().into()));
        let end = sizes.and_then(|(at, metadata)| {
            at.checked_add(metadata)?
                .checked_add(size(block.bodyLength())?)
        });
        let Some(((at, metadata), _)) = sizes.zip(end.filter(|end| *end <= bytes.length)) else {
            return Err(malformed(opening, "a message reaches beyond its end"));
        };
        let held = read_at(bytes, at, metadata, opening)?;
        let message = message_in(&held).map_err(|error| malformed(opening, error))?;
        let is_dictionary = message.header_type() == MessageHeader::DictionaryBatch;
        let rows = match message.header_as_record_batch() {
            Some(batch) => usize::try_from(batch.length()).ok(),
            None => is_dictionary.then_some(0),
        };
        Ok(Self {
            block,
            is_dictionary,
            rows: rows.ok_or_else(|| malformed(opening, "a message is no batch of rows"))?,
        })
    }
}

/// Where the metadata of a message of a stream begins, and its length; nothing at the end.
fn message_at(
    at: u64,
    bytes: &mut Bytes<'_>,
    opening: &Opening<'_>,
) -> Result<Option<(u64, u64)>, IoError> {
    if at >= bytes.length {
        return Ok(None);
    }
    let mut word = |at| -> Result<u32, IoError> {
        let word = read_at(bytes, at, 4, opening)?;
        Ok(word
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u32::from(*byte)))
    };
    let (prefix, length) = match word(at)? {
        CONTINUATION => (8, word(at + 4)?),
        length => (4, length),
    };
    match i32::try_from(length) {
        Ok(0) => Ok(None),
        Ok(_) => Ok(Some((prefix, length.into()))),
        Err(_) => Err(malformed(
            opening,
            "it is neither an Arrow file nor a stream",
        )),
    }
}

/// A message, after its prefix.
fn message_in(held: &[u8]) -> Result<Message<'_>, String> {
    let prefix = if held.starts_with(&CONTINUATION.to_le_bytes()) {
        8
    } else {
        4
    };
    let message = held.get(prefix..).ok_or("a message is cut short")?;
    root_as_message(message).map_err(|error| error.to_string())
}

/// Bytes that the buffers of a message unpack to. Each lies in the message, and no array has more
/// elements than these have bits, or than the batch has rows.
fn unpacked_size(held: &[u8], block: &Block) -> Result<u64, &'static str> {
    let (metadata, body) = held.split_at(block.metaDataLength() as usize);
    let message = message_in(metadata).map_err(|_| "a message cannot be read")?;
    let batch = match message.header_as_dictionary_batch() {
        Some(dictionary) => dictionary.data(),
        None => message.header_as_record_batch(),
    };
    let batch = batch.ok_or("a message holds no numbers")?;
    let mut unpacked = 0_u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let start = usize::try_from(buffer.offset()).ok();
        let end = start.and_then(|start| start.checked_add(buffer.length().try_into().ok()?));
        let packed = start.zip(end).and_then(|(start, end)| body.get(start..end));
        let packed = packed.ok_or("a buffer lies outside")?;
        if let (Some(_), Some((size, _))) = (batch.compression(), packed.split_first_chunk()) {
            // -1 stands for a buffer that is not packed.
            let size = u64::try_from(i64::from_le_bytes(*size)).unwrap_or(0);
            unpacked = unpacked.checked_add(size).ok_or("a buffer is too large")?;
        }
    }
    let bits = unpacked.saturating_add(body.len() as u64).saturating_mul(8);
    let most = i64::try_from(bits).unwrap_or(i64::MAX).max(batch.length());
    let is_possible = |length: i64| (0..=most).contains(&length);
    let mut arrays = batch.nodes().into_iter().flatten();
    match arrays.all(|array| is_possible(array.length())) {
        true => Ok(unpacked),
        false => Err("an array is longer than its batch"),
    }
}

fn schema_of(schema: arrow_ipc::Schema<'_>, opening: &Opening<'_>) -> Result<SchemaRef, IoError> {
    if schema.endianness() == Endianness::Big {
        let error = malformed(opening, "its numbers are big-endian");
        return Err(error.help("write it on a little-endian machine"));
    }
    let schema = try_fb_to_schema(schema).map_err(|error| malformed(opening, error))?;
    Ok(Arc::new(schema))
}

/// Reads some bytes of a file, where it has them.
fn read_at(
    bytes: &mut Bytes<'_>,
    at: u64,
    length: u64,
    opening: &Opening<'_>,
) -> Result<MutableBuffer, IoError> {
    if at.checked_add(length).is_none_or(|end| end > bytes.length) {
        return Err(opening.error("it is truncated"));
    }
    let mut held = MutableBuffer::from_len_zeroed(length as usize);
    let read = bytes
        .seek(SeekFrom::Start(at))
        .and_then(|_| bytes.read_exact(&mut held));
    read.map_err(|error| opening.reading(&error))?;
    Ok(held)
}

fn malformed(opening: &Opening<'_>, error: impl std::fmt::Display) -> IoError {
    opening.error(format!("it is not a readable Arrow file: {error}"))
}
