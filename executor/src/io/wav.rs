//! WAV audio: `[frames]` of one channel, `[frames, channels]` of several. The dtype is that of the
//! samples, as SciPy reads them: `u8`, `i16`, `i32` or `f32`; 24 bits are the upper ones of `i32`.

use std::io::{self, BufReader};

use bytemuck::{cast_slice, cast_slice_mut};
use haul_ir::dtype::DType;
use haul_ir::format::{Settings, WAV};
use haul_ir::types::ValueType;
use hound::{Sample, SampleFormat, WavReader, WavSpec, WavWriter};

use super::open::{Bytes, Header, OpenError, Opened, Opening};
use super::{Codec, Target};
use crate::error::IoError;
use crate::tensor::{Data, Tensor};

pub(super) static CODEC: Codec = Codec {
    format: &WAV,
    open: Some(|opening| Ok(Box::new(Wav::open(opening)?))),
    write: Some(|data, file, out| write(data.tensor()?, &file.settings, out)),
};

/// What sizes of 32 bits can tell, but for the header.
const MOST_BYTES: u64 = u32::MAX as u64 - 128;

/// A file whose header was read.
struct Wav<'a> {
    opening: &'a Opening<'a>,
    reader: WavReader<BufReader<Bytes<'a>>>,
    header: Header,
}

impl<'a> Wav<'a> {
    fn open(opening: &'a Opening<'a>) -> Result<Self, IoError> {
        let bytes = opening.bytes()?;
        let length = bytes.length;
        let reader = WavReader::new(BufReader::new(bytes));
        let reader = reader.map_err(|error| malformed(opening, &error))?;
        let spec = reader.spec();
        let dtype = match (spec.sample_format, spec.bits_per_sample) {
            (SampleFormat::Int, 8) => DType::U8,
            (SampleFormat::Int, 16) => DType::I16,
            (SampleFormat::Int, 24 | 32) => DType::I32,
            (SampleFormat::Float, 32) => DType::F32,
            (_, bits) => return Err(opening.error(format!("its samples have {bits} bits"))),
        };
        let claimed = u64::from(reader.len()) * u64::from(spec.bits_per_sample / 8);
        if claimed > length {
            let message = format!("it is truncated: it claims {claimed} bytes of samples");
            return Err(opening.error(message));
        }
        check_rate(opening, spec.sample_rate)?;
        let mut shape = vec![reader.duration() as usize];
        if spec.channels > 1 {
            shape.push(usize::from(spec.channels));
        }
        Ok(Self {
            opening,
            reader,
            header: Header { dtype, shape },
        })
    }

    fn fill(&mut self, out: &mut [u8]) -> hound::Result<()> {
        let reader = &mut self.reader;
        let up = match reader.spec().bits_per_sample {
            24 => 8,
            _ => 0,
        };
        match self.header.dtype {
            DType::U8 => samples(reader, out, |sample: i8| (i16::from(sample) + 128) as u8),
            DType::I16 => samples(reader, cast_slice_mut(out), |sample: i16| sample),
            DType::F32 => samples(reader, cast_slice_mut(out), |sample: f32| sample),
            _ => samples(reader, cast_slice_mut(out), |sample: i32| sample << up),
        }
    }
}

impl Opened for Wav<'_> {
    fn header(&self) -> ValueType {
        self.header.ty()
    }

    fn read(mut self: Box<Self>) -> Result<Data, OpenError> {
        let (opening, header) = (self.opening, self.header.clone());
        opening.tensor(&header, |out| {
            let filled = self.fill(out);
            filled.map_err(|error| malformed(opening, &error))
        })
    }
}

fn samples<S: Sample, T>(
    reader: &mut WavReader<BufReader<Bytes<'_>>>,
    out: &mut [T],
    element: impl Fn(S) -> T,
) -> hound::Result<()> {
    let mut samples = reader.samples::<S>();
    for space in out {
        let sample = samples
            .next()
            .ok_or(io::Error::from(io::ErrorKind::UnexpectedEof))?;
        *space = element(sample?);
    }
    Ok(())
}

/// Refuses samples of another rate than the one that formulas count on.
fn check_rate(opening: &Opening<'_>, found: u32) -> Result<(), IoError> {
    match opening.settings.count("rate") {
        Some(rate) if rate != u64::from(found) => {
            let message = format!("it has {found} samples a second, not {rate} as declared");
            Err(opening
                .error(message)
                .help("resample it, or say another `rate`"))
        }
        _ => Ok(()),
    }
}

fn malformed(opening: &Opening<'_>, error: &hound::Error) -> IoError {
    match error {
        hound::Error::IoError(error) => opening.reading(error),
        error => opening.error(format!("it is not a readable WAV file: {error}")),
    }
}

fn write(tensor: &Tensor, settings: &Settings, out: &mut dyn Target) -> io::Result<()> {
    if tensor.layout.elements() as u64 * tensor.dtype.size() > MOST_BYTES {
        return Err(io::Error::other("a WAV file holds less than 4 GiB"));
    }
    let rate = settings
        .count("rate")
        .and_then(|rate| u32::try_from(rate).ok());
    let channels = tensor.layout.shape.get(1).copied().unwrap_or(1);
    let spec = WavSpec {
        channels: u16::try_from(channels).map_err(io::Error::other)?,
        sample_rate: rate.ok_or(io::ErrorKind::InvalidInput)?,
        bits_per_sample: tensor.dtype.size() as u16 * 8,
        sample_format: match tensor.dtype {
            DType::F32 => SampleFormat::Float,
            _ => SampleFormat::Int,
        },
    };
    let mut writer = WavWriter::new(out, spec).map_err(io::Error::other)?;
    tensor.for_each_block(&mut |block| {
        let mut write = |bytes: &[u8]| match tensor.dtype {
            DType::U8 => writer.write_sample((i16::from(bytes[0]) - 128) as i8),
            DType::I16 => writer.write_sample(cast_slice::<_, i16>(bytes)[0]),
            DType::F32 => writer.write_sample(cast_slice::<_, f32>(bytes)[0]),
            _ => writer.write_sample(cast_slice::<_, i32>(bytes)[0]),
        };
        let mut elements = block.chunks_exact(tensor.dtype.size() as usize);
        elements.try_for_each(&mut write).map_err(io::Error::other)
    })?;
    writer.finalize().map_err(io::Error::other)
}
