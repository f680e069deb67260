//! Tables and tensors of JSON lines: the one reading that files and formulas share.
//!
//! <https://jsonlines.org>: each line is one JSON value (RFC 8259); empty lines are skipped. A row
//! of a table is an object, whose keys are columns.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::dtype::DType;
use crate::op::KernelError;
use crate::rows::{MOST_BYTES, PartColumn, PartSize, Rows, parse};
use crate::types::{CellKind, TableType};

/// Bytes of text that one part has, and the rest of its last line.
const PART: usize = 1 << 20;

/// Takes the columns of a row.
type Visit<'v, 'a> = dyn FnMut(&[Option<&'a RawValue>]) -> Result<(), KernelError> + 'v;

/// A text as a table of a type. Keys that are no column are left out; a key that is not there,
/// and `null`, are a missing value.
#[derive(Debug)]
pub struct JsonRows<'a> {
    lines: Lines<'a>,
    ty: &'a TableType,
}

impl<'a> JsonRows<'a> {
    /// The table in a text.
    pub fn new(text: &'a str, ty: &'a TableType) -> Self {
        let lines = Lines::new(text);
        Self { lines, ty }
    }

    /// Calls `visit` with the columns of each row: what stands there, or nothing.
    fn for_each_row(&self, part: usize, visit: &mut Visit<'_, 'a>) -> Result<(), KernelError> {
        let mut cells = vec![None; self.ty.columns.len()];
        self.lines.for_each(part, &mut |line| {
            cells.fill(None);
            let mut deserializer = serde_json::Deserializer::from_str(line);
            let row = Row {
                ty: self.ty,
                cells: &mut cells,
            };
            let read = row.deserialize(&mut deserializer);
            read.and_then(|()| deserializer.end())
                .map_err(|error| malformed(&error))?;
            visit(&cells)
        })
    }
}

impl Rows for JsonRows<'_> {
    fn parts(&self) -> usize {
        self.lines.parts.len()
    }

    fn measure(&self, part: usize) -> Result<PartSize, KernelError> {
        let mut size = PartSize {
            rows: 0,
            letters: vec![0; self.ty.columns.len()],
        };
        let cells = self.ty.columns.values().enumerate();
        let texts = cells.filter(|(_, cell)| cell.kind == CellKind::Text);
        let texts: Vec<_> = texts.map(|(at, _)| at).collect();
        self.for_each_row(part, &mut |cells| {
            size.rows += 1;
            for at in &texts {
                let text = cells[*at].and_then(string);
                size.letters[*at] += text.map_or(0, |text| text.len());
            }
            Ok(())
        })?;
        Ok(size)
    }

    fn fill(&self, part: usize, columns: &mut [PartColumn<'_>]) -> Result<(), KernelError> {
        self.for_each_row(part, &mut |cells| {
            for (at, (column, cell)) in columns.iter_mut().zip(cells).enumerate() {
                push(column, *cell).map_err(|message| {
                    let name = self.ty.columns.get_index(at).map_or("", |(name, _)| name);
                    KernelError::new(format!("`{name}`: {message}"))
                })?;
            }
            Ok(())
        })
    }
}

/// A text cut at ends of lines into parts.
#[derive(Debug)]
struct Lines<'a> {
    parts: Vec<&'a str>,
}

impl<'a> Lines<'a> {
    /// The lines of a text.
    fn new(text: &'a str) -> Self {
        let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut parts = Vec::new();
        while !rest.is_empty() {
            let from = PART.min(rest.len());
            let end = rest.as_bytes()[from..]
                .iter()
                .position(|byte| *byte == b'\n');
            let (part, others) = rest.split_at(end.map_or(rest.len(), |end| from + end + 1));
            parts.push(part);
            rest = others;
        }
        Self { parts }
    }

    /// Calls `visit` with each line of a part that is not empty.
    ///
    /// # Errors
    /// The first of `visit`, with its line; a line has more than 64 MiB.
    fn for_each(
        &self,
        part: usize,
        visit: &mut dyn FnMut(&'a str) -> Result<(), KernelError>,
    ) -> Result<(), KernelError> {
        for (at, line) in self.parts[part].lines().enumerate() {
            let visited = if line.len() > MOST_BYTES {
                let message = format!("has more than {} MiB", MOST_BYTES >> 20);
                Err(KernelError::new(message))
            } else if line.trim_ascii().is_empty() {
                Ok(())
            } else {
                visit(line)
            };
            visited.map_err(|error| {
                let earlier = self.parts[..part].iter();
                let earlier: usize = earlier.map(|part| part.matches('\n').count()).sum();
                error.at_line((earlier + at) as u64 + 1)
            })?;
        }
        Ok(())
    }
}

/// A text as a tensor: each line is an element, or a list of them.
#[derive(Debug)]
pub struct JsonArrays<'a> {
    lines: Lines<'a>,
    /// How many elements the list has that a line is; nothing where lines are elements.
    width: Option<usize>,
}

impl<'a> JsonArrays<'a> {
    /// The tensor in a text, of one or two axes. The first line tells how long a list is.
    ///
    /// # Errors
    /// The first line is no such list.
    pub fn new(text: &'a str, rank: usize) -> Result<Self, KernelError> {
        let lines = Lines::new(text);
        let mut written = lines.parts.iter().flat_map(|part| part.lines()).zip(1..);
        let first = written.find(|(line, _)| !line.trim_ascii().is_empty());
        let width = match first {
            _ if rank == 1 => None,
            None => Some(0),
            Some((line, number)) => {
                let elements = elements(line, true).map_err(|error| error.at_line(number))?;
                Some(elements.len())
            }
        };
        Ok(Self { lines, width })
    }

    /// How many parts there are.
    pub fn parts(&self) -> usize {
        self.lines.parts.len()
    }

    /// How many elements the list has that a line is; nothing where lines are elements.
    pub fn width(&self) -> Option<usize> {
        self.width
    }

    /// How many rows a part has.
    ///
    /// # Errors
    /// A line has more than 64 MiB.
    pub fn rows(&self, part: usize) -> Result<usize, KernelError> {
        let mut rows = 0;
        let count = &mut |_: &str| {
            rows += 1;
            Ok(())
        };
        self.lines.for_each(part, count)?;
        Ok(rows)
    }

    /// Reads the rows of a part; `null` is NaN among floats.
    ///
    /// # Errors
    /// A line is no such list, or an element is none of the dtype.
    pub fn fill(&self, part: usize, dtype: DType, output: &mut [u8]) -> Result<(), KernelError> {
        let mut at = 0;
        self.lines.for_each(part, &mut |line| {
            let elements = elements(line, self.width.is_some())?;
            if let Some(width) = self.width.filter(|width| *width != elements.len()) {
                let message = format!("has {} elements, not {width}", elements.len());
                return Err(KernelError::new(message));
            }
            for written in elements {
                let written = written.unwrap_or_default().as_bytes();
                parse(dtype, written, output, at).map_err(KernelError::new)?;
                at += 1;
            }
            Ok(())
        })
    }
}

/// The number or truth value that a line is, or those of the list that it is, as they are written;
/// nothing for `null`.
///
/// # Errors
/// It is something else.
fn elements(line: &str, is_list: bool) -> Result<Vec<Option<&str>>, KernelError> {
    let written: Vec<&RawValue> = match is_list {
        true => serde_json::from_str(line).map_err(|error| malformed(&error))?,
        false => vec![serde_json::from_str(line).map_err(|error| malformed(&error))?],
    };
    let one = |written: &'_ &RawValue| match written.get() {
        "null" => Ok(None),
        other if other.starts_with(['"', '[', '{']) => {
            let message = format!("{} stands where a number is to stand", kind(other));
            Err(KernelError::new(message))
        }
        _ => Ok(Some(())),
    };
    let there = written.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    let written = written.into_iter().map(RawValue::get);
    Ok(written
        .zip(there)
        .map(|(text, there)| there.map(|()| text))
        .collect())
}

fn push(column: &mut PartColumn<'_>, cell: Option<&RawValue>) -> Result<(), String> {
    let Some(cell) = cell.filter(|cell| cell.get() != "null") else {
        return column.push_missing();
    };
    let written = cell.get();
    let fits = match written.as_bytes()[0] {
        b'"' => column.is_text(),
        b't' | b'f' => column.is_bool(),
        b'[' | b'{' => false,
        _ => !column.is_text() && !column.is_bool(),
    };
    if !fits {
        let wanted = match () {
            () if column.is_text() => "text",
            () if column.is_bool() => "a truth value",
            () => "a number",
        };
        return Err(format!(
            "{} stands where {wanted} is to stand",
            kind(written)
        ));
    }
    match string(cell) {
        Some(text) => column.push_text(text.as_bytes()),
        None => column.push_element(written.as_bytes())?,
    }
    Ok(())
}

/// The text of a JSON string; nothing for another value.
fn string(cell: &RawValue) -> Option<Cow<'_, str>> {
    let inner = cell.get().strip_prefix('"')?.strip_suffix('"')?;
    match inner.contains('\\') {
        false => Some(Cow::Borrowed(inner)),
        true => serde_json::from_str(cell.get()).ok().map(Cow::Owned),
    }
}

fn kind(written: &str) -> &'static str {
    match written.as_bytes().first() {
        Some(b'"') => "text",
        Some(b'[') => "a list",
        Some(b'{') => "an object",
        Some(b't' | b'f') => "a truth value",
        _ => "a number",
    }
}

/// What is wrong with a line, without the place that serde_json gives: there is only one line.
fn malformed(error: &serde_json::Error) -> KernelError {
    let message = error.to_string();
    let what = message.split(" at line ").next().unwrap_or(&message);
    KernelError::new(format!("{what}, at column {}", error.column()))
}

/// Reads one object into the cells of its row.
struct Row<'t, 'c, 'a> {
    ty: &'t TableType,
    cells: &'c mut [Option<&'a RawValue>],
}

impl<'a> DeserializeSeed<'a> for Row<'_, '_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for Row<'_, '_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a key for each column")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'a, str>>()? {
            let value: &RawValue = map.next_value()?;
            let Some(at) = self.ty.columns.get_index_of(&*key) else {
                continue;
            };
            if self.cells[at].replace(value).is_some() {
                let message = format!("the key `{key}` is there twice");
                return Err(serde::de::Error::custom(message));
            }
        }
        Ok(())
    }
}
