//! What an author may say of a file beside its path and type.

use std::fmt;

/// A setting of a format.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name: `columns`.
    pub name: &'static str,
    /// What it takes.
    pub kind: SettingKind,
    /// Whether it has to be there.
    pub required: bool,
}

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// `true` or `false`.
    Bool,
    /// A whole number that is not negative.
    Count,
    /// A number, kept as it is written.
    Number,
    /// A string of one ASCII character.
    Char,
    /// A string.
    Text,
    /// A word of a closed list: `Skip`.
    Word(&'static [&'static str]),
    /// A list of names or of positions that count from 0.
    Columns,
}

/// What a setting was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// For [`SettingKind::Bool`].
    Bool(bool),
    /// For [`SettingKind::Count`].
    Count(u64),
    /// For [`SettingKind::Text`], [`SettingKind::Char`] and [`SettingKind::Number`].
    Text(String),
    /// For [`SettingKind::Word`].
    Word(&'static str),
    /// For [`SettingKind::Columns`].
    Columns(Vec<Column>),
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// By its name in the header.
    Name(String),
    /// By its position, from 0.
    Position(u64),
}

/// The settings that were given, in the order of the format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings(pub Vec<(&'static str, SettingValue)>);

impl Setting {
    /// A setting that may be left out.
    pub const fn optional(name: &'static str, kind: SettingKind) -> Self {
        Self {
            name,
            kind,
            required: false,
        }
    }

    /// A setting that has to be there.
    pub const fn required(name: &'static str, kind: SettingKind) -> Self {
        Self {
            name,
            kind,
            required: true,
        }
    }
}

impl Settings {
    /// A setting that is `true` or `false`, where it was given.
    pub fn flag(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            SettingValue::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// A whole number, where it was given.
    pub fn count(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            SettingValue::Count(count) => Some(*count),
            _ => None,
        }
    }

    /// A string, character or number as it was written, where it was given.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            SettingValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A character, where it was given.
    pub fn char(&self, name: &str) -> Option<u8> {
        self.text(name)?.bytes().next()
    }

    /// A word, where it was given.
    pub fn word(&self, name: &str) -> Option<&'static str> {
        match self.get(name)? {
            SettingValue::Word(word) => Some(word),
            _ => None,
        }
    }

    /// Columns; none where they were not given.
    pub fn columns(&self, name: &str) -> &[Column] {
        match self.get(name) {
            Some(SettingValue::Columns(columns)) => columns,
            _ => &[],
        }
    }

    fn get(&self, name: &str) -> Option<&SettingValue> {
        let mut given = self.0.iter();
        given.find(|(n, _)| *n == name).map(|(_, value)| value)
    }
}

/// ` columns a b header false`.
impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|(name, value)| write!(f, " {name} {value}"))
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(flag) => write!(f, "{flag}"),
            Self::Count(count) => write!(f, "{count}"),
            Self::Text(text) => f.write_str(text),
            Self::Word(word) => f.write_str(word),
            Self::Columns(columns) => {
                let columns: Vec<_> = columns.iter().map(Column::to_string).collect();
                f.write_str(&columns.join(" "))
            }
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Position(position) => write!(f, "{position}"),
        }
    }
}
