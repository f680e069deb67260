//! The numbers that a column holds, out of its lists and dictionaries.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::{ArrowError, DataType};
use arrow_select::take::{TakeOptions, take};

use super::element::Number;

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
    pub(super) fn each<E>(
        &self,
        put: impl FnMut(usize, Option<Number>) -> Result<(), E>,
    ) -> Result<(), E> {
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

    fn natives<T: ArrowNativeType, E>(
        &self,
        number: impl Fn(T) -> Number,
        put: impl FnMut(usize, Option<Number>) -> Result<(), E>,
    ) -> Result<(), E> {
        let data = self.numbers.to_data();
        let values = &data.buffer::<T>(0)[..data.len()];
        self.put_all(values.iter().map(|value| number(*value)), put)
    }

    fn put_all<E>(
        &self,
        mut numbers: impl Iterator<Item = Number>,
        mut put: impl FnMut(usize, Option<Number>) -> Result<(), E>,
    ) -> Result<(), E> {
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

/// The text of each row of a column of text, or that there is none. A dictionary's are not copied.
///
/// # Errors
/// The column holds something else, or names what its dictionary lacks.
pub(super) fn texts(column: &dyn Array) -> Result<Vec<Option<&str>>, String> {
    let lacking = || "its dictionary lacks what it names".to_owned();
    Ok(match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().iter().collect(),
        DataType::LargeUtf8 => column.as_string::<i64>().iter().collect(),
        DataType::Utf8View => column.as_string_view().iter().collect(),
        DataType::Dictionary(..) => {
            let entries = column.as_any_dictionary();
            let values = texts(entries.values().as_ref())?;
            let keys = entries.keys().slice(0, column.len());
            let keys = Leaf::of(&keys).map_err(|error| error.to_string())?;
            let mut found = Vec::with_capacity(column.len());
            keys.each(|_, key| {
                found.push(match key {
                    None => None,
                    Some(Number::Int(key)) => {
                        let key = usize::try_from(key).ok();
                        *key.and_then(|key| values.get(key)).ok_or_else(lacking)?
                    }
                    Some(Number::Float(_)) => return Err(lacking()),
                });
                Ok(())
            })?;
            found
        }
        other => return Err(format!("{other} is no text")),
    })
}

/// Whether a column holds text.
pub(super) fn is_text(ty: &DataType) -> bool {
    match ty {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}
