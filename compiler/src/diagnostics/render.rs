//! Diagnostics as text for people.

use std::ops::Range;

use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level, Origin, Patch, Renderer, Snippet,
    renderer::DecorStyle,
};
use haul_ir::diagnostic::{Diagnostic, Fix, Label, Saving, Severity, Span};

use super::lines::Lines;
use crate::render::units::{time, usd};

/// After so many the rest is only counted.
const MAX_SHOWN: usize = 100;

/// Columns of the terminal; longer lines of the file are shown in part.
const WIDTH: usize = 100;

/// Labels within so many lines and bytes are shown together with the place.
const NEAR: usize = 100;
const NEAR_BYTES: usize = 16_000;

/// Of a line of more bytes only what is around the place is shown, and of the place no more.
const LONG_LINE: usize = 1_000;

/// Bytes before and after the place in a long line.
const AROUND: usize = 100;

/// The diagnostics about `text`, each with the lines it is about, in the order given. `file`
/// is how the author calls the file; `color` says whether the terminal shows colours.
pub fn render(diagnostics: &[Diagnostic], file: &str, text: &str, color: bool) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(WIDTH);
    let lines = Lines::new(text);
    let mut rendered = String::new();
    for diagnostic in diagnostics.iter().take(MAX_SHOWN) {
        let page = Page {
            diagnostic,
            file,
            text,
            lines: &lines,
        };
        rendered.push_str(&renderer.render(&page.groups()));
        rendered.push_str("\n\n");
    }
    if let Some(more @ 1..) = diagnostics.len().checked_sub(MAX_SHOWN) {
        rendered.push_str(&format!("and {more} more\n"));
    }
    rendered
}

/// One diagnostic, and what it is about.
struct Page<'a> {
    diagnostic: &'a Diagnostic,
    file: &'a str,
    text: &'a str,
    lines: &'a Lines<'a>,
}

impl<'a> Page<'a> {
    fn groups(&self) -> Vec<Group<'a>> {
        let Diagnostic {
            code,
            severity,
            message,
            help,
            fix,
            saving,
            ..
        } = self.diagnostic;
        let level = match severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(message).id(code.0);
        let mut main = title.elements(self.snippets());
        if let Some(saved) = saving.and_then(saved) {
            main = main.element(Level::NOTE.with_name("saves").message(saved));
        }
        match (help, &fix[..]) {
            (None, []) => vec![main],
            (Some(help), []) => vec![main.element(Level::HELP.message(help))],
            (help, edits) => {
                let title = help.as_deref().unwrap_or("change this");
                vec![
                    main,
                    Level::HELP
                        .secondary_title(title)
                        .element(self.patch(edits)),
                ]
            }
        }
    }

    /// The place and the labels near it, then each label far from it.
    fn snippets(&self) -> Vec<Element<'a>> {
        let Diagnostic {
            primary, labels, ..
        } = self.diagnostic;
        let (place, line) = (primary.span.start, self.lines.line(primary.span.start));
        let (near, far): (Vec<&Label>, Vec<&Label>) = labels.iter().partition(|label| {
            let at = label.span.start;
            self.lines.line(at).abs_diff(line) <= NEAR && at.abs_diff(place) <= NEAR_BYTES
        });
        let spans = near.iter().map(|label| self.start_of(label.span));
        let shown = self.shown(spans.fold(self.start_of(primary.span), Span::to));
        let mut main = self.source(shown);
        main = main.annotation(annotation(AnnotationKind::Primary, primary, shown));
        for label in near {
            main = main.annotation(annotation(AnnotationKind::Context, label, shown));
        }
        let mut elements = self.at(place, shown, main);
        for label in far {
            let shown = self.shown(self.start_of(label.span));
            let snippet = self.source(shown);
            let snippet = snippet.annotation(annotation(AnnotationKind::Context, label, shown));
            elements.extend(self.at(label.span.start, shown, snippet));
        }
        elements
    }

    /// The edits, which are few and near each other, as one patch.
    fn patch(&self, edits: &'a [Fix]) -> Snippet<'a, Patch<'a>> {
        let spans = edits.iter().map(|edit| edit.span);
        let shown = self.shown(spans.reduce(Span::to).unwrap_or_default());
        let patch = |edit: &'a Fix| Patch::new(within(shown, edit.span), edit.text.as_str());
        let source = self.source(shown).path(self.file);
        source.patches(edits.iter().map(patch))
    }

    /// A snippet below its place. Where it begins within a line, it does not know its column.
    fn at(
        &self,
        place: usize,
        shown: Span,
        snippet: Snippet<'a, Annotation<'a>>,
    ) -> Vec<Element<'a>> {
        if self.lines.column(shown.start) == 1 {
            return vec![snippet.path(self.file).into()];
        }
        let origin = Origin::path(self.file).line(self.lines.line(place));
        let origin = origin.char_column(self.lines.column(place));
        vec![origin.into(), snippet.into()]
    }

    /// Only the lines that are shown: the work does not grow with the file.
    fn source<T: Clone>(&self, shown: Span) -> Snippet<'a, T> {
        Snippet::source(&self.text[shown.range()]).line_start(self.lines.line(shown.start))
    }

    /// A span, of which a long line shows only the start.
    fn start_of(&self, span: Span) -> Span {
        let first = self.lines.around(Span::new(span.start, span.start));
        match first.range().len() > LONG_LINE && span.range().len() > LONG_LINE {
            true => Span::new(span.start, self.boundary(span.start + LONG_LINE)),
            false => span,
        }
    }

    /// The lines around a span, of long ones at its ends only what is near it.
    fn shown(&self, span: Span) -> Span {
        let lines = self.lines.around(span);
        let is_long = |at: usize| self.lines.around(Span::new(at, at)).range().len() > LONG_LINE;
        let start = match is_long(span.start) {
            true => self.boundary(span.start.saturating_sub(AROUND).max(lines.start)),
            false => lines.start,
        };
        let end = match is_long(span.end) {
            true => self.boundary((span.end + AROUND).min(lines.end)),
            false => lines.end,
        };
        Span::new(start, end)
    }

    /// The start of the character at a byte.
    fn boundary(&self, at: usize) -> usize {
        let mut before = (0..=at).rev();
        before
            .find(|at| self.text.is_char_boundary(*at))
            .unwrap_or(0)
    }
}

/// `1.20 s and 0.000460 USD a run`, and `unknown` money where a node has no price; nothing where
/// nothing gets less.
fn saved(saving: Saving) -> Option<String> {
    let positive = |amount: i64| u64::try_from(amount).ok().filter(|amount| *amount > 0);
    let less_time = positive(saving.time).map(time);
    let less_money = match saving.nano_usd {
        Some(nano_usd) => positive(nano_usd).map(usd),
        None => less_time.is_some().then(|| "unknown USD".to_owned()),
    };
    let saved: Vec<String> = [less_time, less_money].into_iter().flatten().collect();
    if saved.is_empty() {
        return None;
    }
    let saved = saved.join(" and ") + " a run";
    let more = |amount: i64| positive(amount.saturating_neg());
    let more_time = more(saving.time).map(time);
    let more_money = saving.nano_usd.and_then(more).map(usd);
    match more_time.or(more_money) {
        Some(more) => Some(format!("{saved}, for {more} more")),
        None => Some(saved),
    }
}

fn annotation<'a>(kind: AnnotationKind, label: &'a Label, shown: Span) -> Annotation<'a> {
    let text = Some(label.text.as_str()).filter(|text| !text.is_empty());
    kind.span(within(shown, label.span)).label(text)
}

/// A span of the text, as far as it is shown.
fn within(shown: Span, span: Span) -> Range<usize> {
    let [start, end] = [span.start, span.end].map(|at| at.clamp(shown.start, shown.end));
    start - shown.start..end - shown.start
}

#[cfg(test)]
mod tests {
    use haul_ir::diagnostic::Saving;

    use super::saved;

    #[test]
    fn savings() {
        let cases = [
            (
                1_200_000_000,
                Some(460_000),
                Some("1.20 s and 0.000460 USD a run"),
            ),
            (1_200_000_000, None, Some("1.20 s and unknown USD a run")),
            (
                1_200_000_000,
                Some(-1_000),
                Some("1.20 s a run, for 0.00000100 USD more"),
            ),
            (-5, Some(460_000), Some("0.000460 USD a run, for 5 ns more")),
            (0, Some(0), None),
            (i64::MIN, None, None),
        ];
        for (time, nano_usd, text) in cases {
            assert_eq!(saved(Saving { time, nano_usd }).as_deref(), text);
        }
    }
}
