//! What is told to the author of a pipeline: a stable code, a place, the reason and a way out.

use std::fmt;
use std::ops::Range;

/// A half-open range of bytes in the text of one pipeline file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The range `start..end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Span) -> Self {
        Self::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// As a range, to index the text with.
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// The stable name of a kind of diagnostic, such as `E0203` or `W0301`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub &'static str);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Whether compiling can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The pipeline is refused.
    Error,
    /// The pipeline is accepted, but probably not what is meant.
    Warning,
}

/// A place and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// A few words, such as the type of what stands there.
    pub text: String,
}

/// A replacement of text that mends the mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What to replace; empty to insert.
    pub span: Span,
    /// The new text.
    pub text: String,
}

/// Whether an edit can be made without asking the author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applicability {
    /// It is what the author meant, or changes no result.
    MachineApplicable,
    /// It may not be what was meant: the author has to judge.
    MaybeIncorrect,
}

impl fmt::Display for Applicability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Applicability::MachineApplicable => "machine_applicable",
            Applicability::MaybeIncorrect => "maybe_incorrect",
        })
    }
}

/// What following the help would save of a run, predicted; below zero where it would cost more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saving {
    /// Nanoseconds of the makespan.
    pub time: i64,
    /// Billionths of a US dollar, where prices are known.
    pub nano_usd: Option<i64>,
}

/// One mistake or doubt about a pipeline file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its kind.
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// Where; the caret stands here.
    pub primary: Label,
    /// Other places that explain it.
    pub labels: Vec<Label>,
    /// What to do, ready to paste where that is possible.
    pub help: Option<String>,
    /// The edits that the help describes, where it is mechanical: all of them together, in the
    /// order of the file.
    pub fix: Vec<Fix>,
    /// Whether these edits can be made without asking the author.
    pub applicability: Applicability,
    /// What the help would save, where that is known.
    pub saving: Option<Saving>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, span, message.into())
    }

    /// A warning at `span`.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, span, message.into())
    }

    fn new(severity: Severity, code: Code, span: Span, message: String) -> Self {
        let primary = Label {
            span,
            text: String::new(),
        };
        Self {
            code,
            severity,
            message,
            primary,
            labels: Vec::new(),
            help: None,
            fix: Vec::new(),
            applicability: Applicability::MaybeIncorrect,
            saving: None,
        }
    }

    /// Says a few words under the caret.
    #[must_use]
    pub fn at(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Points at another place.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Adds an edit that mends it, or does so together with those before it.
    #[must_use]
    pub fn fix(mut self, span: Span, text: impl Into<String>) -> Self {
        self.fix.push(Fix {
            span,
            text: text.into(),
        });
        self
    }

    /// Says that the edits can be made without asking the author.
    #[must_use]
    pub fn machine_applicable(mut self) -> Self {
        self.applicability = Applicability::MachineApplicable;
        self
    }

    /// Says what following the help would save.
    #[must_use]
    pub fn saves(mut self, saving: Saving) -> Self {
        self.saving = Some(saving);
        self
    }
}
