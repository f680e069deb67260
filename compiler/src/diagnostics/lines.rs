//! Lines and columns of a text.

use haul_ir::diagnostic::Span;

/// Where the lines of a text begin.
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = [0].into_iter().chain(after_breaks).collect();
        Self { text, starts }
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    /// The column of a byte in its line, from 1, in characters.
    pub(super) fn column(&self, at: usize) -> usize {
        let start = self.starts[self.line(at) - 1];
        1 + self.text[start..at].chars().count()
    }

    /// The whole lines that a span touches, with their line break.
    pub(super) fn around(&self, span: Span) -> Span {
        let start = self.starts[self.line(span.start) - 1];
        let end = self.starts.get(self.line(span.end));
        Span::new(start, end.copied().unwrap_or(self.text.len()))
    }
}
