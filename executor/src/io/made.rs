//! Data that is made of a rule: random numbers, constants, even spacing.

use std::sync::Arc;

use half::{bf16, f16};
use haul_ir::column::Extent;
use haul_ir::dtype::{DType, Kind};
use haul_ir::graph::Source;
use haul_ir::philox::block;
use haul_ir::types::{CellType, ValueType};
use rayon::prelude::*;

use crate::memory::{Account, Shortage};
use crate::scalar::real;
use crate::table::{ColumnSpace, HeapSpace};
use crate::tensor::{Data, Text};

/// Fills the elements of a source that is made of a rule.
///
/// # Errors
/// The source gives no such dtype or another number of elements.
pub(crate) fn fill(source: &Source, dtype: DType, out: &mut [u8]) -> Result<(), String> {
    match source {
        Source::Random { seed } => random(*seed, dtype, out),
        Source::Constant { numbers } => constant(numbers, dtype, out),
        Source::Linspace { start, stop } => linspace(*start, *stop, dtype, out),
        _ => Err("it is no data made of a rule".into()),
    }
}

/// Uniform in [0, 1): the top bits of as many random words as the mantissa takes, so that every
/// multiple of the dtype's step is equally likely. Element `i` depends on the seed and `i` alone.
fn random(seed: u64, dtype: DType, out: &mut [u8]) -> Result<(), String> {
    if !matches!(dtype.kind(), Kind::Float | Kind::Complex) {
        return Err(format!("random numbers in [0, 1) are no {dtype}"));
    }
    let part = dtype.real();
    let words = if part == DType::F64 { 2 } else { 1 };
    let numbers_per_block = 4 / words;
    let size = part.size() as usize;
    out.par_chunks_mut(numbers_per_block * size)
        .with_min_len(1024)
        .enumerate()
        .for_each(|(index, space)| {
            let random = block(seed, index as u64);
            let numbers = random.chunks_exact(words);
            for (number, space) in numbers.zip(space.chunks_exact_mut(size)) {
                write_unit(number, part, space);
            }
        });
    Ok(())
}

/// Writes a number in [0, 1) made of random words.
fn write_unit(words: &[u32], dtype: DType, space: &mut [u8]) {
    let top = |bits: u32| (words[0] >> (32 - bits)) as f32 / (1_u32 << bits) as f32;
    match dtype {
        DType::F16 => space.copy_from_slice(bytemuck::bytes_of(&f16::from_f32(top(11)))),
        DType::Bf16 => space.copy_from_slice(bytemuck::bytes_of(&bf16::from_f32(top(8)))),
        DType::F32 => space.copy_from_slice(bytemuck::bytes_of(&top(24))),
        _ => {
            let wide = (u64::from(words[1]) << 32) | u64::from(words[0]);
            let number = (wide >> 11) as f64 / (1_u64 << 53) as f64;
            space.copy_from_slice(bytemuck::bytes_of(&number));
        }
    }
}

/// Texts that stand in the pipeline, as a column or as one text.
///
/// # Errors
/// There is no memory for them.
pub(crate) fn texts(
    texts: &[String],
    ty: &ValueType,
    account: &Arc<Account>,
) -> Result<Data, Shortage> {
    let letters = texts.concat();
    if *ty == ValueType::Text {
        let charge = account.charge(letters.len() as u64)?;
        return Ok(Data::Text(Text::new(letters, charge)));
    }
    let allocate = |bytes| account.allocate(bytes);
    let mut heap = allocate(letters.len())?;
    heap.bytes_mut().copy_from_slice(letters.as_bytes());
    let heap = HeapSpace::New(heap);
    let mut column = ColumnSpace::new(CellType::TEXT, texts.len(), heap, &allocate)?;
    let mut start = 0;
    for (extent, text) in column.space().extents().iter_mut().zip(texts) {
        let len = text.len() as u64;
        *extent = Extent { start, len };
        start += len;
    }
    Ok(Data::Column(column.filled()))
}

/// A complex number is two numbers.
fn constant(numbers: &[f64], dtype: DType, out: &mut [u8]) -> Result<(), String> {
    let part = dtype.real();
    let parts = (dtype.size() / part.size()) as usize;
    let elements = out.len() / dtype.size() as usize;
    if numbers.len() != parts && numbers.len() != elements * parts {
        return Err(format!(
            "{} numbers are given for {elements} elements",
            numbers.len() / parts
        ));
    }
    let bytes = numbers.iter().map(|number| real(*number, part));
    let bytes: Vec<u8> = bytes.collect::<Result<Vec<_>, _>>()?.concat();
    if numbers.len() == parts {
        out.par_chunks_mut(bytes.len() * 4096).for_each(|chunk| {
            chunk
                .chunks_exact_mut(bytes.len())
                .for_each(|space| space.copy_from_slice(&bytes));
        });
    } else {
        out.copy_from_slice(&bytes);
    }
    Ok(())
}

/// `start + i * (stop - start) / (n - 1)`, computed in `f64`, the last one exactly `stop`: NumPy's.
fn linspace(start: f64, stop: f64, dtype: DType, out: &mut [u8]) -> Result<(), String> {
    let size = dtype.size() as usize;
    let last = (out.len() / size).saturating_sub(1);
    let step = (stop - start) / last as f64;
    for (index, space) in out.chunks_exact_mut(size).enumerate() {
        let number = match index {
            0 => start,
            _ if index == last => stop,
            _ => index as f64 * step + start,
        };
        space.copy_from_slice(&real(number, dtype)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    fn filled<T: bytemuck::Pod>(source: &Source, dtype: DType, len: usize) -> Vec<T> {
        let mut elements = vec![T::zeroed(); len];
        fill(source, dtype, bytemuck::cast_slice_mut(&mut elements)).unwrap();
        elements
    }

    /// From the known answers for counter 0 and key 0, by hand: 0x6627E8D5 >> 8 = 0x6627E8, of 2^24.
    #[test]
    fn random_numbers_are_the_top_bits_of_philox() {
        let source = Source::Random { seed: 0 };
        let f32s: Vec<f32> = filled(&source, DType::F32, 9);
        assert_eq!(f32s[0], 0x66_27E8 as f32 / 16_777_216.0);
        assert_eq!(f32s[1], 0xE1_69C5 as f32 / 16_777_216.0);
        let f64s: Vec<f64> = filled(&source, DType::F64, 3);
        assert_eq!(
            f64s[0],
            (0xE169_C58D_6627_E8D5_u64 >> 11) as f64 / 9_007_199_254_740_992.0
        );
        // A longer array begins with the shorter one.
        assert_eq!(filled::<f32>(&source, DType::F32, 5000)[..9], f32s);
        let mean = filled::<f32>(&source, DType::F32, 100_000)
            .iter()
            .sum::<f32>()
            / 100_000.0;
        // Six standard deviations of the mean of 100,000 uniform numbers: 6 * 0.2887 / 316.2.
        assert!((mean - 0.5).abs() < 0.0055, "{mean}");
        assert!(fill(&source, DType::I32, &mut []).is_err());
    }

    #[test]
    fn constants_fill_or_match() {
        let numbers = vec![1.0, 2.0, 3.0];
        let three = Source::Constant { numbers };
        assert_eq!(filled::<i16>(&three, DType::I16, 3), [1, 2, 3]);
        assert!(fill(&three, DType::U8, &mut [0; 4]).is_err());
        let half = Source::Constant { numbers: vec![0.5] };
        assert_eq!(filled::<f64>(&half, DType::F64, 4), [0.5; 4]);
        assert!(fill(&half, DType::U8, &mut [0; 4]).is_err());
        let numbers = vec![1.0, 2.0];
        let pair = Source::Constant { numbers };
        let one = Complex::new(1.0_f32, 2.0);
        assert_eq!(filled::<Complex<f32>>(&pair, DType::C64, 3), [one; 3]);
    }

    /// `numpy.linspace(0, 1, 11)[3]` is 0.30000000000000004.
    #[test]
    fn even_spacing_is_that_of_numpy() {
        let tenths = Source::Linspace {
            start: 0.0,
            stop: 1.0,
        };
        let numbers: Vec<f64> = filled(&tenths, DType::F64, 11);
        assert_eq!((numbers[3], numbers[10]), (0.300_000_000_000_000_04, 1.0));
        assert_eq!(filled::<f64>(&tenths, DType::F64, 1), [0.0]);
    }
}
