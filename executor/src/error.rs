//! Why a run or a file failed, in words for people.

use std::fmt;
use std::path::Path;

/// Why a run ended without its results: what, where, why, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError {
    /// Failed, or cancelled.
    pub kind: ErrorKind,
    /// Where.
    pub place: Box<Place>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

/// Where in the pipeline a run failed, as far as that can be said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file and the line, `mixed.ron:10`, where somebody knows them.
    pub line: Option<String>,
    /// The stage.
    pub stage: Option<String>,
    /// The item of its collection.
    pub item: Option<String>,
    /// The op.
    pub op: Option<String>,
    /// The types of the op's arguments, with the sizes they had.
    pub types: Vec<String>,
}

/// How a run ended that gave no results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Something went wrong.
    Failed,
    /// Somebody stopped it.
    Cancelled,
}

impl RunError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Failed,
            place: Box::default(),
            message: message.into(),
            help: None,
        }
    }

    pub(crate) fn cancelled() -> Self {
        Self {
            kind: ErrorKind::Cancelled,
            ..Self::new("the run was cancelled")
        }
    }

    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    #[must_use]
    pub(crate) fn in_task(mut self, stage: &str, item: Option<&str>) -> Self {
        self.place.stage = Some(stage.to_owned());
        self.place.item = item.map(str::to_owned);
        self
    }

    #[must_use]
    pub(crate) fn at_op(mut self, op: &str, types: Vec<String>) -> Self {
        self.place.op = Some(op.to_owned());
        self.place.types = types;
        self
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = &self.place.line {
            write!(f, "{line}: ")?;
        }
        let parts = [
            self.place
                .stage
                .as_ref()
                .map(|stage| format!("stage `{stage}`")),
            self.place
                .item
                .as_ref()
                .map(|item| format!("item `{item}`")),
            self.place.op.as_ref().map(|op| format!("op `{op}`")),
        ];
        let place = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        if !place.is_empty() {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)?;
        if !self.place.types.is_empty() {
            write!(f, "\n  arguments: {}", self.place.types.join(", "))?;
        }
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for RunError {}

/// Why a file could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoError {
    /// The file, as the pipeline names it.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl IoError {
    pub(crate) fn new(path: &Path, message: impl fmt::Display) -> Self {
        Self {
            path: path.display().to_string(),
            message: message.to_string(),
            help: None,
        }
    }

    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for IoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.path, self.message)?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for IoError {}

impl From<IoError> for RunError {
    fn from(error: IoError) -> Self {
        let message = format!("`{}`: {}", error.path, error.message);
        Self {
            help: error.help,
            ..Self::new(message)
        }
    }
}
