//! The numbers of a table as one tensor of rows and columns.

use csv::ByteRecord;
use half::{bf16, f16};

use super::field::{Field, no_number};
use super::{Columns, Table, start, unreadable, wrong_fields};
use crate::dtype::DType;
use crate::op::KernelError;
use crate::tensor::Bool;

impl<'a> Table<'a> {
    /// The rows of a part that can be read, and those that cannot.
    ///
    /// # Errors
    /// The text is no table, or a line has more than 65,536 fields.
    pub fn good_and_bad(
        &self,
        part: usize,
        columns: Columns<'_>,
        dtype: DType,
    ) -> Result<[usize; 2], KernelError> {
        self.check_fields(part)?;
        self.fill_of(dtype)?(self, part, columns, None)
    }

    /// Reads the rows of a part into contiguous elements.
    ///
    /// # Errors
    /// A line has another number of fields; a field is no number of the dtype; but for such rows
    /// where the dialect skips them.
    pub fn fill(
        &self,
        part: usize,
        columns: Columns<'_>,
        dtype: DType,
        output: &mut [u8],
    ) -> Result<(), KernelError> {
        self.fill_of(dtype)?(self, part, columns, Some(output)).map(drop)
    }

    fn fill_of(&self, dtype: DType) -> Result<Fill<'a>, KernelError> {
        Ok(match dtype {
            DType::Bool => Self::fill_as::<Bool>,
            DType::U8 => Self::fill_as::<u8>,
            DType::U16 => Self::fill_as::<u16>,
            DType::U32 => Self::fill_as::<u32>,
            DType::U64 => Self::fill_as::<u64>,
            DType::I8 => Self::fill_as::<i8>,
            DType::I16 => Self::fill_as::<i16>,
            DType::I32 => Self::fill_as::<i32>,
            DType::I64 => Self::fill_as::<i64>,
            DType::F16 => Self::fill_as::<f16>,
            DType::Bf16 => Self::fill_as::<bf16>,
            DType::F32 => Self::fill_as::<f32>,
            DType::F64 => Self::fill_as::<f64>,
            DType::C64 | DType::C128 => {
                return Err(KernelError::new("a table holds no complex numbers"));
            }
        })
    }

    /// Reads the rows of a part, into elements where there is space; counts good and bad rows.
    fn fill_as<T: Field>(
        &self,
        part: usize,
        columns: Columns<'_>,
        output: Option<&mut [u8]>,
    ) -> Result<[usize; 2], KernelError> {
        if part == 0 && self.dialect.header {
            let names = self.first_record()?;
            if names.len() != columns.fields {
                let error = wrong_fields(&names, columns.fields);
                return Err(error.at_line(self.line(0, start(&names))));
            }
        }
        let width = columns.taken.map_or(columns.fields, <[usize]>::len);
        let elements: &mut [T] = output.map_or(&mut [], bytemuck::cast_slice_mut);
        let mut rows = elements.chunks_exact_mut(width.max(1));
        let (mut reader, mut record) = (self.reader(part), ByteRecord::new());
        let mut row = vec![T::zeroed(); width];
        let [mut good, mut bad] = [0, 0];
        while reader.read_byte_record(&mut record).map_err(unreadable)? {
            match self.read_row(&record, columns, &mut row) {
                Ok(()) => good += 1,
                Err(_) if self.dialect.skip_bad => {
                    bad += 1;
                    continue;
                }
                Err(error) => return Err(error.at_line(self.line(part, start(&record)))),
            }
            if let Some(space) = rows.next() {
                space.copy_from_slice(&row);
            }
        }
        Ok([good, bad])
    }

    fn read_row<T: Field>(
        &self,
        record: &ByteRecord,
        columns: Columns<'_>,
        row: &mut [T],
    ) -> Result<(), KernelError> {
        if record.len() != columns.fields {
            return Err(wrong_fields(record, columns.fields));
        }
        for (position, element) in row.iter_mut().enumerate() {
            let column = columns.taken.map_or(position, |taken| taken[position]);
            let field = record.get(column).unwrap_or_default().trim_ascii();
            let read = self.read_field(field);
            *element = read.map_err(|message| self.in_column(column, &message))?;
        }
        Ok(())
    }

    fn read_field<T: Field>(&self, field: &[u8]) -> Result<T, String> {
        match self.dialect.missing {
            Some(missing) if field.is_empty() => return T::parse(missing.as_bytes()),
            _ if self.dialect.decimal == b'.' => return T::parse(field),
            _ => {}
        }
        if field.contains(&b'.') {
            return Err(no_number(field));
        }
        let point = |byte: &u8| match *byte == self.dialect.decimal {
            true => b'.',
            false => *byte,
        };
        let plain: Vec<u8> = field.iter().map(point).collect();
        T::parse(&plain)
            .map_err(|message| message.replace('.', &char::from(self.dialect.decimal).to_string()))
    }
}

/// [`Table::fill_as`] for a dtype.
type Fill<'a> =
    fn(&Table<'a>, usize, Columns<'_>, Option<&mut [u8]>) -> Result<[usize; 2], KernelError>;
