//! Elements as whole numbers of the same order, so that one routine sorts all dtypes.

use bytemuck::{Pod, cast_slice};
use haul_ir::dtype::{DType, Kind};
use rayon::prelude::*;

/// Elements that are worth sorting in parallel. The order is unique, so it does not show.
const TASK: usize = 1 << 15;

/// How the bits of a dtype become a number of the same order.
#[derive(Clone, Copy)]
struct Rule {
    bits: u32,
    signed: bool,
    /// The bits of infinity, for floats.
    infinity: Option<u64>,
}

impl Rule {
    fn of(dtype: DType) -> Self {
        Self {
            bits: 8 * dtype.size() as u32,
            signed: dtype.kind() == Kind::Int && !dtype.is_unsigned(),
            infinity: match dtype {
                DType::F16 => Some(0x7C00),
                DType::Bf16 => Some(0x7F80),
                DType::F32 => Some(0x7F80_0000),
                DType::F64 => Some(0x7FF0_0000_0000_0000),
                _ => None,
            },
        }
    }

    fn most(self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    fn key(self, bits: u64) -> u64 {
        let sign = 1 << (self.bits - 1);
        let Some(infinity) = self.infinity else {
            return if self.signed { bits ^ sign } else { bits };
        };
        match bits & !sign {
            0 => sign,
            size if size > infinity => self.most(),
            size if bits == size => bits | sign,
            _ => !bits & self.most(),
        }
    }
}

/// The keys of elements: equal where elements are, NaN above all.
pub(in crate::ops) fn keys(dtype: DType, elements: &[u8]) -> Vec<u64> {
    fn of<T: Pod + Into<u64>>(elements: &[u8], rule: Rule) -> Vec<u64> {
        let words = cast_slice::<_, T>(elements).iter();
        words.map(|word| rule.key((*word).into())).collect()
    }
    let rule = Rule::of(dtype);
    match dtype.size() {
        1 => of::<u8>(elements, rule),
        2 => of::<u16>(elements, rule),
        4 => of::<u32>(elements, rule),
        _ => of::<u64>(elements, rule),
    }
}

/// Which elements are wanted, and how they are put in order.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    /// The largest ones first.
    pub(super) descending: bool,
    /// How many; all of them where there are no more.
    pub(super) count: usize,
    /// Whether in order, or else as they come.
    pub(super) sorted: bool,
}

/// Positions of the elements that come first; of equal ones the earlier comes first.
pub(super) fn order(dtype: DType, elements: &[u8], wanted: Wanted) -> Vec<i64> {
    let flip = match wanted.descending {
        true => Rule::of(dtype).most(),
        false => 0,
    };
    let keys = keys(dtype, elements);
    let places = keys.iter().zip(0_u64..);
    // The position below the key makes each number unique.
    if dtype.size() <= 4 && u32::try_from(keys.len()).is_ok() {
        let mut pairs: Vec<u64> = places.map(|(key, at)| (key ^ flip) << 32 | at).collect();
        let first = first(&mut pairs, wanted, |pair| pair & u64::from(u32::MAX));
        first
            .iter()
            .map(|pair| (pair & u64::from(u32::MAX)) as i64)
            .collect()
    } else {
        let pair = |(key, at): (&u64, u64)| u128::from(key ^ flip) << 64 | u128::from(at);
        let mut pairs: Vec<u128> = places.map(pair).collect();
        let first = first(&mut pairs, wanted, |pair| pair as u64);
        first.iter().map(|pair| *pair as u64 as i64).collect()
    }
}

/// Moves the least numbers to the front.
fn first<T: Ord + Copy + Send>(pairs: &mut [T], wanted: Wanted, place: fn(T) -> u64) -> &[T] {
    let count = wanted.count.min(pairs.len());
    if count == 0 {
        return &[];
    }
    if count < pairs.len() {
        pairs.select_nth_unstable(count - 1);
    }
    let first = &mut pairs[..count];
    match wanted.sorted {
        true if count > TASK => first.par_sort_unstable(),
        true => first.sort_unstable(),
        false => first.sort_unstable_by_key(|pair| place(*pair)),
    }
    first
}
