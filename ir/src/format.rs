//! File formats as pipelines name them: what they hold, which settings they take, and which types
//! they can have. Reading and writing them is the executor's.
//!
//! A new format is a row in [`FORMATS`], and a reader or a writer under its name in the executor.

mod formats;
mod settings;

use std::fmt;

use crate::types::ValueType;

pub use self::formats::*;
pub use self::settings::{Column, Setting, SettingKind, SettingValue, Settings};

/// A file format.
pub struct Format {
    /// The name in pipelines: `Csv`.
    pub name: &'static str,
    /// One sentence on what it is.
    pub doc: &'static str,
    /// The endings of its files, in lower case: `csv.gz`.
    pub endings: &'static [&'static str],
    /// Those that an output must have; any, where there are none.
    pub written_as: &'static [&'static str],
    /// How the type of its data is known.
    pub typing: Typing,
    /// The settings of an input, where it can be one.
    pub input: Option<&'static [Setting]>,
    /// The settings of an output, where it can be one.
    pub output: Option<&'static [Setting]>,
    /// Whether an input can have this type.
    pub check_input: fn(&ValueType, &Settings) -> Result<(), Refusal>,
    /// Whether a value of this type can be written.
    pub check_output: fn(&ValueType, &Settings) -> Result<(), Refusal>,
}

/// How the type of what a file holds is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typing {
    /// The file tells it.
    Told,
    /// The file tells the shape; the dtype is the declared one, or what it has itself;
    /// numbers in text are `f64`.
    Numbers,
    /// It has to be declared.
    Declared,
    /// It is text.
    Text,
}

/// Why a format cannot hold a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<&'static str>,
    /// The setting at fault, where it is not the type.
    pub setting: Option<&'static str>,
}

/// A file to read or write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its format.
    pub format: &'static Format,
    /// The path as written: relative to the pipeline file. Of an output of a collection it holds
    /// `{item}`, which stands for the item's name.
    pub path: String,
    /// What the author says of it.
    pub settings: Settings,
}

impl Format {
    /// The format of that name.
    pub fn find(name: &str) -> Option<&'static Format> {
        FORMATS.iter().copied().find(|format| format.name == name)
    }

    /// The format of the files with the ending of this one, where that can be an input.
    pub fn of_path(path: &str) -> Option<&'static Format> {
        let mut readable = FORMATS.iter().filter(|format| format.input.is_some());
        readable
            .find(|format| has_ending(path, format.endings))
            .copied()
    }

    /// Whether an output can have this path.
    pub fn is_written_as(&self, path: &str) -> bool {
        self.written_as.is_empty() || has_ending(path, self.written_as)
    }
}

fn has_ending(path: &str, endings: &[&str]) -> bool {
    let path = path.to_ascii_lowercase();
    let has = |ending: &&str| {
        let before = path.strip_suffix(*ending);
        before.is_some_and(|before| before.ends_with('.'))
    };
    endings.iter().any(has)
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl File {
    /// A file without settings.
    pub fn new(format: &'static Format, path: impl Into<String>) -> Self {
        let (path, settings) = (path.into(), Settings::default());
        Self {
            format,
            path,
            settings,
        }
    }

    /// The file with a setting.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: SettingValue) -> Self {
        self.settings.0.push((name, value));
        self
    }
}

/// As plans print it: `csv data/x.csv columns a b`.
impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.format.name.to_ascii_lowercase();
        write!(f, "{name} {}{}", self.path, self.settings)
    }
}

impl Refusal {
    /// Says what is wrong with the type.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            setting: None,
        }
    }

    fn help(self, help: &'static str) -> Self {
        let help = Some(help);
        Self { help, ..self }
    }

    fn of_setting(self, setting: &'static str) -> Self {
        let setting = Some(setting);
        Self { setting, ..self }
    }
}
