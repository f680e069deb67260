//! Tables of comma-separated numbers as tensors: the one reading that files and formulas share.
//!
//! Quoted fields are fields, blanks around numbers do not count, empty lines are skipped. An
//! empty field is missing: NaN among floats, an error elsewhere.

use bytemuck::cast_slice_mut;
use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use half::{bf16, f16};

use crate::dtype::DType;
use crate::op::KernelError;
use crate::tensor::{Bool, ViewMut};

/// How a table is written, and what to take of it.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    /// Whether the first row names the columns.
    pub header: bool,
    /// Names of the columns to take, in order; empty for all.
    pub columns: &'a [String],
}

impl Table<'_> {
    /// The number of rows, without the header, and of columns taken.
    ///
    /// # Errors
    /// Rows of different lengths, a column that is not there, names without a header.
    pub fn measure(&self, text: &str) -> Result<[usize; 2], KernelError> {
        let mut reader = self.reader(text);
        let taken = self.taken(&mut reader)?;
        let mut record = ByteRecord::new();
        let mut rows = 0;
        let mut width = 0;
        while reader.read_byte_record(&mut record).map_err(malformed)? {
            rows += 1;
            width = record.len();
        }
        let columns = match taken {
            Some(taken) => taken.len(),
            None => width,
        };
        Ok([rows, columns])
    }

    /// Fills `[rows, columns]` of any dtype but the complex ones.
    ///
    /// # Errors
    /// As [`Table::measure`]; a field that is no number of the dtype; another size than measured.
    pub fn fill(&self, text: &str, output: &mut ViewMut<'_>) -> Result<(), KernelError> {
        match output.dtype {
            DType::Bool => self.fill_as::<Bool>(text, output),
            DType::U8 => self.fill_as::<u8>(text, output),
            DType::U16 => self.fill_as::<u16>(text, output),
            DType::U32 => self.fill_as::<u32>(text, output),
            DType::U64 => self.fill_as::<u64>(text, output),
            DType::I8 => self.fill_as::<i8>(text, output),
            DType::I16 => self.fill_as::<i16>(text, output),
            DType::I32 => self.fill_as::<i32>(text, output),
            DType::I64 => self.fill_as::<i64>(text, output),
            DType::F16 => self.fill_as::<f16>(text, output),
            DType::Bf16 => self.fill_as::<bf16>(text, output),
            DType::F32 => self.fill_as::<f32>(text, output),
            DType::F64 => self.fill_as::<f64>(text, output),
            DType::C64 | DType::C128 => {
                let message = format!("a table holds no {} numbers", output.dtype);
                Err(KernelError::new(message))
            }
        }
    }

    fn fill_as<T: Field>(&self, text: &str, output: &mut ViewMut<'_>) -> Result<(), KernelError> {
        let columns = output.shape.get(1).copied().unwrap_or(0);
        let dtype = output.dtype;
        let elements: &mut [T] = cast_slice_mut(output.bytes);
        let mut reader = self.reader(text);
        let taken = self.taken(&mut reader)?;
        let mut record = ByteRecord::new();
        let mut rows = elements.chunks_exact_mut(columns.max(1));
        while reader.read_byte_record(&mut record).map_err(malformed)? {
            let line = record.position().map_or(0, csv::Position::line);
            let Some(row) = rows.next() else {
                return Err(KernelError::new("there are more rows than measured").at_line(line));
            };
            for (position, element) in row.iter_mut().enumerate() {
                let column = taken.as_ref().map_or(position, |taken| taken[position]);
                let field = record.get(column).unwrap_or_default().trim_ascii();
                *element = read(field, dtype, column).map_err(|error| error.at_line(line))?;
            }
        }
        match rows.next() {
            Some(_) => Err(KernelError::new("there are fewer rows than measured")),
            None => Ok(()),
        }
    }

    fn reader<'t>(&self, text: &'t str) -> Reader<&'t [u8]> {
        ReaderBuilder::new()
            .has_headers(self.header)
            .from_reader(text.as_bytes())
    }

    /// Positions of the columns to take; none for all of a table without header.
    fn taken(&self, reader: &mut Reader<&[u8]>) -> Result<Option<Vec<usize>>, KernelError> {
        if !self.header {
            return match self.columns {
                [] => Ok(None),
                _ => Err(KernelError::new("columns have no names without a header")),
            };
        }
        let header = reader.headers().map_err(malformed)?;
        let names: Vec<&str> = header.iter().map(str::trim).collect();
        if self.columns.is_empty() {
            return Ok(Some((0..names.len()).collect()));
        }
        let find = |column: &String| {
            let mut places = names.iter().enumerate().filter(|(_, name)| *name == column);
            match (places.next(), places.next()) {
                (Some((place, _)), None) => Ok(place),
                (Some(_), Some(_)) => {
                    let message = format!("two columns are called `{column}`");
                    Err(KernelError::new(message).at_line(1))
                }
                (None, _) => {
                    let there = names.join(", ");
                    let message = format!("there is no column `{column}`, only: {there}");
                    Err(KernelError::new(message).at_line(1))
                }
            }
        };
        let taken: Result<Vec<usize>, KernelError> = self.columns.iter().map(find).collect();
        taken.map(Some)
    }
}

fn malformed(error: csv::Error) -> KernelError {
    match error.kind() {
        ErrorKind::UnequalLengths {
            pos,
            expected_len,
            len,
        } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            let message = format!("{len} fields where the rows before have {expected_len}");
            KernelError::new(message).at_line(line)
        }
        _ => KernelError::new(error.to_string()),
    }
}

fn read<T: Field>(field: &[u8], dtype: DType, column: usize) -> Result<T, KernelError> {
    let read = match field {
        [] => T::MISSING,
        _ => T::parse(field),
    };
    read.ok_or_else(|| {
        let column = column + 1;
        KernelError::new(match field {
            [] => format!("column {column} is empty, and {dtype} has no value for missing ones"),
            _ => format!(
                "`{}` in column {column} is no {dtype}",
                String::from_utf8_lossy(field)
            ),
        })
    })
}

/// A number that a field can hold.
trait Field: bytemuck::Pod {
    /// What an empty field is, where it can be anything.
    const MISSING: Option<Self>;

    fn parse(field: &[u8]) -> Option<Self>;
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Field for $type {
            const MISSING: Option<Self> = None;

            fn parse(field: &[u8]) -> Option<Self> {
                std::str::from_utf8(field).ok()?.parse().ok()
            }
        }
    )*};
}

integers! { u8 u16 u32 u64 i8 i16 i32 i64 }

impl Field for Bool {
    const MISSING: Option<Self> = None;

    fn parse(field: &[u8]) -> Option<Self> {
        match field {
            b"0" | b"false" | b"False" | b"FALSE" => Some(Bool(0)),
            b"1" | b"true" | b"True" | b"TRUE" => Some(Bool(1)),
            _ => None,
        }
    }
}

impl Field for f32 {
    const MISSING: Option<Self> = Some(f32::NAN);

    fn parse(field: &[u8]) -> Option<Self> {
        fast_float2::parse(without_plus(field)).ok()
    }
}

impl Field for f64 {
    const MISSING: Option<Self> = Some(f64::NAN);

    fn parse(field: &[u8]) -> Option<Self> {
        fast_float2::parse(without_plus(field)).ok()
    }
}

impl Field for f16 {
    const MISSING: Option<Self> = Some(f16::NAN);

    fn parse(field: &[u8]) -> Option<Self> {
        f64::parse(field).map(f16::from_f64)
    }
}

impl Field for bf16 {
    const MISSING: Option<Self> = Some(bf16::NAN);

    fn parse(field: &[u8]) -> Option<Self> {
        f64::parse(field).map(bf16::from_f64)
    }
}

fn without_plus(field: &[u8]) -> &[u8] {
    match field {
        [b'+', rest @ ..] if !rest.starts_with(b"-") => rest,
        _ => field,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Table<'_> = Table {
        header: true,
        columns: &[],
    };

    fn read_f64(table: Table<'_>, text: &str) -> Result<([usize; 2], Vec<f64>), String> {
        let shape = table.measure(text).map_err(|error| error.to_string())?;
        let mut numbers = vec![0.0_f64; shape[0] * shape[1]];
        let mut output = ViewMut {
            dtype: DType::F64,
            shape: shape.to_vec(),
            bytes: cast_slice_mut(&mut numbers),
        };
        table
            .fill(text, &mut output)
            .map_err(|error| error.to_string())?;
        Ok((shape, numbers))
    }

    #[test]
    fn columns_are_taken_by_name_in_the_order_asked_for() {
        let columns = ["b".to_owned(), "a".to_owned()];
        let table = Table {
            header: true,
            columns: &columns,
        };
        let text = "a, b ,c\n1,2,x\n\"3\", +4e1,\n";
        assert_eq!(
            read_f64(table, text),
            Ok(([2, 2], vec![2.0, 1.0, 40.0, 3.0]))
        );
        let headless = Table {
            header: false,
            columns: &[],
        };
        assert_eq!(
            read_f64(headless, "1,2\n\n3,4"),
            Ok(([2, 2], vec![1.0, 2.0, 3.0, 4.0]))
        );
        assert_eq!(read_f64(headless, ""), Ok(([0, 0], vec![])));
        assert_eq!(read_f64(ALL, "a,b\n"), Ok(([0, 2], vec![])));
    }

    #[test]
    fn missing_fields_are_nan_among_floats_only() {
        let (_, numbers) = read_f64(ALL, "a,b\n,1\n\"\",2\n").unwrap();
        assert!(numbers[0].is_nan() && numbers[2].is_nan());
        let mut bytes = [0; 2];
        let mut output = ViewMut {
            dtype: DType::U8,
            shape: vec![1, 2],
            bytes: &mut bytes,
        };
        let error = ALL.fill("a,b\n1,\n", &mut output).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2: column 2 is empty, and u8 has no value for missing ones"
        );
    }

    #[test]
    fn mistakes_name_their_line() {
        let named = ["x".to_owned()];
        let by_name = |header| Table {
            header,
            columns: &named,
        };
        let cases = [
            (
                ALL,
                "a,b\n1,2\n3\n",
                "line 3: 1 fields where the rows before have 2",
            ),
            (ALL, "a\n1\n2O\n", "line 3: `2O` in column 1 is no f64"),
            (ALL, "a\n+-1\n", "line 2: `+-1` in column 1 is no f64"),
            (
                by_name(true),
                "a,b\n",
                "line 1: there is no column `x`, only: a, b",
            ),
            (by_name(true), "x,x\n", "line 1: two columns are called `x`"),
            (
                by_name(false),
                "1\n",
                "columns have no names without a header",
            ),
        ];
        for (table, text, message) in cases {
            assert_eq!(read_f64(table, text), Err(message.to_owned()));
        }
    }
}
