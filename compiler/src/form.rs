//! The form of the small RON files beside pipelines: targets, and what a project declares.
//!
//! Values are read by `ron` alone, which tells one mistake; where things are, the tree of
//! [`syntax`](crate::syntax) knows.

mod told;
pub(crate) mod units;

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, MapAccess, Visitor};

use self::told::told;
use crate::syntax::{Step, locate, options};

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
            message: told(&error.code, &text, byte(&text, line, column)),
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

/// A text that is not blank, for people: where a figure comes from, and when.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Origin(pub(crate) String);

impl TryFrom<String> for Origin {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.trim().is_empty() {
            true => {
                Err("a source says where a figure is from and when, or `assumption: …`".to_owned())
            }
            false => Ok(Origin(text)),
        }
    }
}

/// The byte of a character of a line, both counted from 1.
fn byte(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
    let start: usize = lines.map(str::len).sum();
    let before = text[start..].chars().take(column.saturating_sub(1));
    start + before.map(char::len_utf8).sum::<usize>()
}

/// `ron` points at the blanks before a value of the wrong type.
fn past_blanks(text: &str, line: usize, column: usize) -> (usize, usize) {
    let rest = text[byte(text, line, column)..].chars();
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
