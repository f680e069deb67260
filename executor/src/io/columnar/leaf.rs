//! The numbers that a column holds, out of its lists and dictionaries.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::{ArrowError, DataType};
use arrow_select::take::{TakeOptions, take};

use super::element::Number;
use crate::error::IoError;

/// Numbers in a row, some of them perhaps missing.
pub(super) struct Leaf {
    numbers: ArrayRef,
    nulls: Option<NullBuffer>,
}

impl Leaf {
    /// The numbers of a column.
    ///
    /// # Errors
    /// A dictionary lacks what a key names.
    pub(super) fn of(column: &ArrayRef) -> Result<Self, ArrowError> {
        let mut numbers = column.clone();
        let mut nulls = None;
        loop {
            nulls = NullBuffer::union(nulls.as_ref(), numbers.logical_nulls().as_ref());
            match numbers.data_type() {
                DataType::FixedSizeList(_, size) => {
                    let size = *size as usize;
                    let lists = numbers.as_fixed_size_list();
                    let start = lists.value_offset_at(0);
                    let items = lists.values().slice(start, lists.len() * size);
                    nulls = nulls.map(|nulls| nulls.expand(size));
                    numbers = items;
                }
                DataType::Dictionary(..) => {
                    let entries = numbers.as_any_dictionary();
                    let options = TakeOptions { check_bounds: true };
                    numbers = take(entries.values(), entries.keys(), Some(options))?;
                }
                _ => return Ok(Self { numbers, nulls }),
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Gives each number, or that there is none, with its index.
    pub(super) fn each(
        &self,
        put: impl FnMut(usize, Option<Number>) -> Result<(), IoError>,
    ) -> Result<(), IoError> {
        use DataType::*;
        let int = Number::Int;
        match self.numbers.data_type() {
            Boolean => {
                let truths = self.numbers.as_boolean().values();
                self.put_all(truths.iter().map(|truth| int(truth.into())), put)
            }
            UInt8 => self.natives(|value: u8| int(value.into()), put),
            UInt16 => self.natives(|value: u16| int(value.into()), put),
            UInt32 => self.natives(|value: u32| int(value.into()), put),
            UInt64 => self.natives(|value: u64| int(value.into()), put),
            Int8 => self.natives(|value: i8| int(value.into()), put),
            Int16 => self.natives(|value: i16| int(value.into()), put),
            Int32 | Date32 | Time32(_) => self.natives(|value: i32| int(value.into()), put),
            Float16 => self.natives(|value: half::f16| Number::Float(value.into()), put),
            Float32 => self.natives(|value: f32| Number::Float(value.into()), put),
            Float64 => self.natives(Number::Float, put),
            // Times, dates and durations are counts of their unit.
            _ => self.natives(|value: i64| int(value.into()), put),
        }
    }

    fn natives<T: ArrowNativeType>(
        &self,
        number: impl Fn(T) -> Number,
        put: impl FnMut(usize, Option<Number>) -> Result<(), IoError>,
    ) -> Result<(), IoError> {
        let data = self.numbers.to_data();
        let values = &data.buffer::<T>(0)[..data.len()];
        self.put_all(values.iter().map(|value| number(*value)), put)
    }

    fn put_all(
        &self,
        mut numbers: impl Iterator<Item = Number>,
        mut put: impl FnMut(usize, Option<Number>) -> Result<(), IoError>,
    ) -> Result<(), IoError> {
        match &self.nulls {
            None => numbers
                .enumerate()
                .try_for_each(|(index, number)| put(index, Some(number))),
            Some(nulls) => (0..nulls.len()).try_for_each(|index| {
                let number = numbers.next();
                put(index, number.filter(|_| nulls.is_valid(index)))
            }),
        }
    }
}
