//! Parquet files (<https://parquet.apache.org/docs/file-format/>).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::sync::Arc;

use arrow_schema::{DataType, Fields, Schema};
use bytes::Bytes;
use haul_ir::format::PARQUET;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, Length};

use super::write::batches;
use super::{Source, Take, choose};
use crate::error::IoError;
use crate::io::Codec;
use crate::io::open::{OpenError, Opening};

pub(in crate::io) static CODEC: Codec = Codec {
    format: &PARQUET,
    open: Some(|opening| choose(opening, Box::new(ParquetFile::open(opening)?))),
    write: Some(|data, file, out| {
        let batches = batches(data, &file.settings)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(batches.rows_at_once()));
        let properties = Some(properties.build());
        let writer = parquet::arrow::ArrowWriter::try_new(out, batches.schema(), properties);
        let mut writer = writer.map_err(io::Error::other)?;
        batches.each(&mut |batch| writer.write(&batch).map_err(io::Error::other))?;
        writer.close().map(drop).map_err(io::Error::other)
    }),
};

/// Bytes that the rows of a batch become.
const BATCH: usize = 1 << 20;

/// A file whose metadata was read.
struct ParquetFile<'a> {
    opening: &'a Opening<'a>,
    file: File,
    metadata: ArrowReaderMetadata,
    rows: usize,
}

impl<'a> ParquetFile<'a> {
    fn open(opening: &'a Opening<'a>) -> Result<Self, IoError> {
        let file = opening.bytes()?.file;
        let metadata = match opening.table {
            None => ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()),
            Some(_) => with_views(&file),
        };
        let metadata = metadata.map_err(|error| malformed(opening, &error))?;
        let groups = metadata.metadata().row_groups();
        let counts = groups
            .iter()
            .map(|group| usize::try_from(group.num_rows()).ok());
        let rows = counts
            .reduce(|sum, rows| sum?.checked_add(rows?))
            .unwrap_or(Some(0));
        let rows = rows.ok_or_else(|| opening.error("it claims a number of rows that is none"))?;
        Ok(Self {
            opening,
            file,
            metadata,
            rows,
        })
    }

    /// Most bytes that the pages of a group of rows unpack to, and those of a column of it.
    fn unpacked(&self, mask: &ProjectionMask) -> Option<(u64, u64)> {
        let mut most = (0, 0);
        for group in self.metadata.metadata().row_groups() {
            let read = (0..group.num_columns()).filter(|leaf| mask.leaf_included(*leaf));
            let mut all = 0_u64;
            for leaf in read {
                let bytes = u64::try_from(group.column(leaf).uncompressed_size()).ok()?;
                all = all.checked_add(bytes)?;
                most.1 = most.1.max(bytes);
            }
            most.0 = most.0.max(all);
        }
        Some(most)
    }
}

/// Metadata by which texts are read as views: those of a dictionary are not copied for each row
/// that has them, which could be any number.
fn with_views(file: &File) -> ParquetResult<ArrowReaderMetadata> {
    let plain = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = ArrowReaderMetadata::load(file, plain.clone())?;
    let fields = metadata
        .schema()
        .fields()
        .iter()
        .map(|field| match field.data_type() {
            DataType::Utf8 => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View)),
            _ => field.clone(),
        });
    let schema = Schema::new(fields.collect::<Fields>());
    ArrowReaderMetadata::try_new(
        metadata.metadata().clone(),
        plain.with_schema(Arc::new(schema)),
    )
}

impl Source for ParquetFile<'_> {
    fn schema(&self) -> &Schema {
        self.metadata.schema()
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn batches(
        &self,
        columns: &[usize],
        row_bytes: usize,
        take: Take<'_>,
    ) -> Result<(), OpenError> {
        let schema = self.metadata.parquet_schema();
        let mask = ProjectionMask::roots(schema, columns.iter().copied());
        let unpacked = self.unpacked(&mask);
        let (group, column) =
            unpacked.ok_or_else(|| self.opening.error("it claims sizes that are none"))?;
        let _charge = self.opening.access.account.charge(group)?;
        let file = self.file.try_clone();
        let pages = Pages {
            file: file.map_err(|error| self.opening.reading(&error))?,
            most: column,
        };
        let batches =
            ParquetRecordBatchReaderBuilder::new_with_metadata(pages, self.metadata.clone())
                .with_projection(mask)
                .with_batch_size((BATCH / row_bytes.max(1)).max(1))
                .build()
                .map_err(|error| malformed(self.opening, &error))?;
        for batch in batches {
            take(&batch.map_err(|error| self.opening.error(error))?)?;
        }
        Ok(())
    }
}

fn malformed(opening: &Opening<'_>, error: &ParquetError) -> IoError {
    opening.error(format!("it is not a readable Parquet file: {error}"))
}

/// The pages of a file. Each says first how much it unpacks to; memory for it is not taken where
/// that is more than its column has.
struct Pages {
    file: File,
    most: u64,
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for Pages {
    type T = BufReader<File>;

    /// Reads from the header of a page on.
    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        let mut header = BufReader::new(file);
        match unpacked_size(header.fill_buf()?) {
            Some(size) if size <= self.most => Ok(header),
            Some(size) => Err(ParquetError::General(format!(
                "a page claims {size} bytes, its column has {}",
                self.most
            ))),
            None => Err(ParquetError::General("a page has no header".into())),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        self.file.get_bytes(start, length)
    }
}

/// The size that a page has when it is unpacked: the second field of its header, in the compact
/// protocol of Thrift, in which fields stand in order.
fn unpacked_size(header: &[u8]) -> Option<u64> {
    /// The next field, an `i32`.
    const NEXT_I32: u8 = 0x15;
    let (kind, rest) = header.split_first()?;
    let (_, rest) = varint(rest)?;
    let (size, rest) = rest.split_first()?;
    let (zigzag, _) = varint(rest)?;
    let is_positive = zigzag % 2 == 0;
    (*kind == NEXT_I32 && *size == NEXT_I32 && is_positive).then_some(zigzag / 2)
}

/// A number in groups of seven bits, the lowest first.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let end = bytes.iter().take(5).position(|byte| byte & 0x80 == 0)? + 1;
    let groups = bytes[..end].iter().rev();
    let value = groups.fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f));
    Some((value, &bytes[end..]))
}
