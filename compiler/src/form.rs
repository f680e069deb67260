//! The form of the small RON files beside pipelines: targets, and what a project declares.
//!
//! Values are read by `ron` alone, which tells one mistake; where things are, the tree of
//! [`syntax`](crate::syntax) knows.

pub(crate) mod units;

use std::fmt;
use std::marker::PhantomData;

use ron::error::Error as RonError;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, MapAccess, Visitor};

use crate::diagnostics::suggest::nearest;
use crate::syntax::{Step, locate, options, value_at};

/// Why a file is not what it should be, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// What is wrong and what to do.
    pub message: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The character in the line, counted from 1.
    pub column: usize,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for FileError {}

/// Reads a value of which `ron` is the judge.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, FileError> {
    // Each of the two is one character, so that columns stay true.
    let text = text.replacen('\u{feff}', " ", usize::from(text.starts_with('\u{feff}')));
    options().from_str(&text).map_err(|error| {
        let (line, column) = (error.span.start.line, error.span.start.col);
        let (line, column) = past_blanks(&text, line, column);
        FileError {
            message: wrong_type(&error.code, &text, (line, column))
                .unwrap_or_else(|| told(&error.code)),
            line,
            column,
        }
    })
}

/// A mistake in a file that reads well: where it is, step by step from the outermost value, and
/// what it is.
#[derive(Debug)]
pub(crate) struct Fault {
    steps: Vec<Step>,
    message: String,
}

impl Fault {
    pub(crate) fn new(steps: impl Into<Vec<Step>>, message: impl Into<String>) -> Self {
        Self {
            steps: steps.into(),
            message: message.into(),
        }
    }

    /// At its place in the text.
    pub(crate) fn place(self, text: &str) -> FileError {
        let at = locate(text, &self.steps).map_or(0, |span| span.start);
        let before = &text[..at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        FileError {
            message: self.message,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// Entries by name in the order of the file; a repeated name is refused.
#[derive(Debug)]
pub(crate) struct Table<T>(pub(crate) Vec<(String, T)>);

impl<T> Table<T> {
    /// The entry of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        let mut entries = self.0.iter();
        entries.find(|(n, _)| n == name).map(|(_, entry)| entry)
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TableVisitor(PhantomData))
    }
}

struct TableVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for TableVisitor<T> {
    type Value = Table<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("entries by name: `{\"name\": …}`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Table<T>, A::Error> {
        let mut table = Table::default();
        while let Some(name) = map.next_key::<String>()? {
            if table.get(&name).is_some() {
                return Err(A::Error::custom(format!("`{name}` is there twice")));
            }
            table.0.push((name, map.next_value()?));
        }
        Ok(table)
    }
}

/// `` `targets` takes a list in `[ ]`, not a string ``, where a value of another type stands.
fn wrong_type(error: &RonError, text: &str, (line, column): (usize, usize)) -> Option<String> {
    let expected = match error {
        RonError::ExpectedArray => "a list in `[ ]`",
        RonError::ExpectedBoolean => "`true` or `false`",
        RonError::ExpectedInteger => "a whole number",
        RonError::ExpectedFloat => "a number",
        RonError::ExpectedMap => "a map in `{ }`",
        RonError::ExpectedString => "a string",
        RonError::ExpectedStructLike | RonError::ExpectedNamedStructLike(_) => "fields in `( )`",
        RonError::InvalidValueForType { expected, .. } => match expected.as_str() {
            "a sequence" => "a list in `[ ]`",
            "u32" | "u64" | "usize" => "a whole number",
            other => other,
        },
        _ => return None,
    };
    let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
    let start: usize = lines.map(str::len).sum();
    let before = text[start..].chars().take(column.saturating_sub(1));
    let at = start + before.map(char::len_utf8).sum::<usize>();
    let (name, found) = value_at(text, at)?;
    Some(format!("`{name}` takes {expected}, not {found}"))
}

/// What `ron` says, and which name was meant.
fn told(error: &RonError) -> String {
    let near = match error {
        RonError::NoSuchStructField {
            expected, found, ..
        }
        | RonError::NoSuchEnumVariant {
            expected, found, ..
        } => nearest(found, expected.iter().copied()),
        _ => None,
    };
    let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    format!("{error}{near}")
}

/// `ron` points at the blanks before a value of the wrong type.
fn past_blanks(text: &str, line: usize, column: usize) -> (usize, usize) {
    let before: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    let rest = text[before..].chars().skip(column.saturating_sub(1));
    let (mut line, mut column) = (line, column);
    for c in rest.take_while(|c| c.is_whitespace()) {
        (line, column) = if c == '\n' {
            (line + 1, 1)
        } else {
            (line, column + 1)
        };
    }
    (line, column)
}
