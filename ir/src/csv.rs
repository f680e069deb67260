//! Tables of comma-separated values in text: the one reading that files and formulas share.
//!
//! RFC 4180; a byte order mark, blanks around numbers and empty lines are skipped. A missing
//! field is what the dialect says, or NaN among floats and an error elsewhere; so is a number
//! that its dtype does not hold. A long text is cut into parts that can be read in any order, or
//! at once.

mod cells;
mod field;
mod numbers;

use csv::{ByteRecord, Reader, ReaderBuilder};

pub use self::cells::CsvRows;
pub(crate) use self::field::Field;
use crate::op::KernelError;
use crate::rows::MOST_BYTES;

/// Bytes of text that one part has, and the rest of its last line.
const PART: usize = 1 << 20;

/// Fields that a line may have: each takes memory before its text is looked at.
const MOST_FIELDS: usize = 1 << 16;

/// A text cut at ends of lines into parts.
#[derive(Clone, Debug)]
pub struct Table<'a> {
    parts: Vec<&'a str>,
    dialect: Dialect<'a>,
}

/// How a table is written.
#[derive(Clone, Copy, Debug)]
pub struct Dialect<'a> {
    /// Whether the first line names the columns.
    pub header: bool,
    /// The character between fields, in ASCII.
    pub delimiter: u8,
    /// The character before the fraction of a number, in ASCII.
    pub decimal: u8,
    /// What stands for a field that is missing.
    pub missing: Option<&'a str>,
    /// Whether rows that cannot be read are passed over.
    pub skip_bad: bool,
}

impl Default for Dialect<'_> {
    fn default() -> Self {
        Self {
            header: true,
            delimiter: b',',
            decimal: b'.',
            missing: None,
            skip_bad: false,
        }
    }
}

/// Which fields of each line are taken.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// How many fields a line has.
    pub fields: usize,
    /// Positions of those to take, in order; all of them where `None`.
    pub taken: Option<&'a [usize]>,
}

impl<'a> Table<'a> {
    /// The table in a text, whose first line may be a header of names.
    pub fn new(text: &'a str, header: bool) -> Self {
        let dialect = Dialect::default();
        Self::with(text, Dialect { header, ..dialect })
    }

    /// The table that a text is in a dialect.
    pub fn with(text: &'a str, dialect: Dialect<'a>) -> Self {
        let parts = parts(text);
        Self { parts, dialect }
    }

    /// How many parts there are.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The fields of the first line, without blanks around them: names, or the first row.
    ///
    /// # Errors
    /// The text is no table.
    pub fn first_line(&self) -> Result<Vec<String>, KernelError> {
        let fields = self.first_record()?;
        let text = |field: &[u8]| String::from_utf8_lossy(field.trim_ascii()).into_owned();
        Ok(fields.iter().map(text).collect())
    }

    /// The number of rows in a part, the header left out.
    ///
    /// # Errors
    /// The text is no table, or a line has more than 65,536 fields.
    pub fn rows(&self, part: usize) -> Result<usize, KernelError> {
        self.check_fields(part)?;
        let (mut reader, mut record) = (self.reader(part), ByteRecord::new());
        let mut rows = 0;
        while reader.read_byte_record(&mut record).map_err(unreadable)? {
            rows += 1;
        }
        Ok(rows)
    }

    fn in_column(&self, column: usize, message: &str) -> KernelError {
        let names = if self.dialect.header {
            self.first_line()
        } else {
            Ok(Vec::new())
        };
        let name = names.ok().and_then(|names| names.get(column).cloned());
        let name = name.map_or(String::new(), |name| format!(" `{name}`"));
        KernelError::new(format!("column {}{name}: {message}", column + 1))
    }

    fn first_record(&self) -> Result<ByteRecord, KernelError> {
        let mut record = ByteRecord::new();
        if let Some(part) = self.parts.first() {
            self.check_fields(0)?;
            let mut reader = reader(part, false, self.dialect.delimiter);
            reader.read_byte_record(&mut record).map_err(unreadable)?;
        }
        Ok(record)
    }

    /// Refuses a line with more fields or bytes than there may be, before any are collected.
    fn check_fields(&self, part: usize) -> Result<(), KernelError> {
        let text = self.parts[part];
        let is_short = |line: &str| line.len() < MOST_FIELDS;
        if !text.contains('"') && text.split('\n').all(is_short) {
            return Ok(());
        }
        let (mut commas, mut start, mut quoted) = (0, 0, false);
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'"' => quoted = !quoted,
                b'\n' | b'\r' if !quoted => (commas, start) = (0, at + 1),
                byte if byte == self.dialect.delimiter && !quoted => commas += 1,
                _ => {}
            }
            let refused = if commas == MOST_FIELDS {
                format!("has more than {MOST_FIELDS} fields")
            } else if at + 1 - start > MOST_BYTES {
                format!("has more than {} MiB", MOST_BYTES >> 20)
            } else {
                continue;
            };
            return Err(KernelError::new(refused).at_line(self.line(part, start)));
        }
        Ok(())
    }

    fn reader(&self, part: usize) -> Reader<&'a [u8]> {
        let header = self.dialect.header && part == 0;
        reader(self.parts[part], header, self.dialect.delimiter)
    }

    /// The number of the line that holds the record which starts at a byte of a part, or after
    /// the empty lines there.
    fn line(&self, part: usize, start: usize) -> u64 {
        let text = self.parts[part];
        let record = text[start..].trim_start_matches(['\r', '\n']);
        let before = &text[..text.len() - record.len()];
        let earlier = self.parts[..part].iter().copied();
        let lines: usize = earlier.chain([before]).map(line_ends).sum();
        lines as u64 + 1
    }
}

/// A quote may hold ends of lines: a text with one is a single part.
fn parts(text: &str) -> Vec<&str> {
    if text.contains('"') {
        return vec![text];
    }
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let from = PART.min(rest.len());
        let end = rest.as_bytes()[from..]
            .iter()
            .position(|byte| *byte == b'\n');
        let (part, others) = rest.split_at(end.map_or(rest.len(), |end| from + end + 1));
        parts.push(part);
        rest = others;
    }
    parts
}

fn reader(text: &str, header: bool, delimiter: u8) -> Reader<&[u8]> {
    ReaderBuilder::new()
        .has_headers(header)
        .delimiter(delimiter)
        .flexible(true)
        .from_reader(text.as_bytes())
}

/// Where a record starts, counted in bytes; the empty lines before it count as part of it.
fn start(record: &ByteRecord) -> usize {
    record
        .position()
        .map_or(0, |position| position.byte() as usize)
}

/// Ends of lines of any system.
fn line_ends(text: &str) -> usize {
    text.matches('\n').count() + text.matches('\r').count() - text.matches("\r\n").count()
}

fn wrong_fields(record: &ByteRecord, expected: usize) -> KernelError {
    let found = match record.len() {
        1 => "1 field".to_owned(),
        fields => format!("{fields} fields"),
    };
    KernelError::new(format!("has {found}, not {expected}"))
}

fn unreadable(error: csv::Error) -> KernelError {
    KernelError::new(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;

    fn read(text: &str, header: bool, taken: Option<&[usize]>) -> Result<Vec<f64>, String> {
        let table = Table::new(text, header);
        let fields = table.first_line().map_err(|error| error.to_string())?.len();
        let width = taken.map_or(fields, <[usize]>::len);
        let mut numbers = Vec::new();
        for part in 0..table.parts() {
            let rows = table.rows(part).map_err(|error| error.to_string())?;
            let mut elements = vec![0.0_f64; rows * width];
            let output = bytemuck::cast_slice_mut(&mut elements);
            table
                .fill(part, Columns { fields, taken }, DType::F64, output)
                .map_err(|error| error.to_string())?;
            numbers.extend(elements);
        }
        Ok(numbers)
    }

    #[test]
    fn fields_are_taken_in_the_order_asked_for() {
        let text = "a, b ,c\n1,2,x\n\"3\", 4e1,\n";
        assert_eq!(
            read(text, true, Some(&[1, 0])),
            Ok(vec![2.0, 1.0, 40.0, 3.0])
        );
        assert_eq!(
            read("1,2\n\n3,4", false, None),
            Ok(vec![1.0, 2.0, 3.0, 4.0])
        );
        assert_eq!(read("", false, None), Ok(vec![]));
        assert_eq!(read("a,b\n", true, None), Ok(vec![]));
        assert_eq!(
            Table::new(text, true).first_line().unwrap(),
            ["a", "b", "c"]
        );
    }

    #[test]
    fn a_dialect_is_kept() {
        let dialect = Dialect {
            header: false,
            delimiter: b';',
            decimal: b',',
            missing: Some("-9"),
            skip_bad: true,
        };
        let table = Table::with("1,5;2\n1.5;2\n3\n;x\n;4\n", dialect);
        let columns = Columns {
            fields: 2,
            taken: None,
        };
        assert_eq!(table.good_and_bad(0, columns, DType::F64), Ok([2, 3]));
        let mut numbers = [0.0_f64; 4];
        let output = bytemuck::cast_slice_mut(&mut numbers);
        table.fill(0, columns, DType::F64, output).unwrap();
        assert_eq!(numbers, [1.5, 2.0, -9.0, 4.0]);
    }

    #[test]
    fn mistakes_name_line_and_column() {
        let cases = [
            ("a,b\n1,2\n3\n", "line 3: has 1 field, not 2"),
            (
                "a\r\n1\r\n\r\n2O\r\n",
                "line 4: column 1 `a`: `2O` is not a number",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(read(text, true, None), Err(message.to_owned()));
        }
    }

    #[test]
    fn fields_without_end_are_refused_before_they_are_collected() {
        let commas = ",".repeat(10_000_000);
        let message = Err("line 2: has more than 65536 fields".to_owned());
        assert_eq!(read(&format!("a\n{commas}\n"), true, None), message);
        let quoted = format!("\"a\"\r{}", ",\"\n\"".repeat(70_000));
        assert_eq!(read(&quoted, true, None), message);
        // Commas in quotes part no fields, and 65,535 others part as many as there may be.
        let text = format!("\"{commas}\"{}", &commas[..65_535]);
        assert_eq!(Table::new(&text, true).rows(0), Ok(0));
        assert_eq!(Table::new(&text, true).first_line().unwrap().len(), 65_536);
    }

    #[test]
    fn parts_together_are_the_whole() {
        let rows = 400_000;
        let text: String = (0..rows).map(|row| format!("{row}\n")).collect();
        assert!(Table::new(&text, false).parts() > 2);
        let numbers = read(&text, false, None).unwrap();
        assert!(
            numbers
                .iter()
                .enumerate()
                .all(|(row, number)| row as f64 == *number)
        );
        assert_eq!(numbers.len(), rows);
        let broken = text.replacen("399999", "x", 1);
        let message = "line 400000: column 1: `x` is not a number";
        assert_eq!(read(&broken, false, None), Err(message.into()));
    }
}
