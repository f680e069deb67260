//! Diagnostics as text for people.

use std::ops::Range;

use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Patch, Renderer, Snippet, renderer::DecorStyle,
};
use haul_ir::diagnostic::{Diagnostic, Fix, Label, Saving, Severity, Span};

use super::lines::Lines;
use crate::render::units::{time, usd};

/// After so many the rest is only counted.
const MAX_SHOWN: usize = 100;

/// Columns of the terminal; longer lines of the file are shown in part.
const WIDTH: usize = 100;

/// Labels within so many lines are shown together with the place.
const NEAR: usize = 100;

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
    fn snippets(&self) -> Vec<Snippet<'a, Annotation<'a>>> {
        let Diagnostic {
            primary, labels, ..
        } = self.diagnostic;
        let line = self.lines.line(primary.span.start);
        let (near, far): (Vec<&Label>, Vec<&Label>) = labels
            .iter()
            .partition(|label| self.lines.line(label.span.start).abs_diff(line) <= NEAR);
        let all = near
            .iter()
            .fold(primary.span, |all, label| all.to(label.span));
        let shown = self.lines.around(all);
        let mut main = self.source(shown);
        main = main.annotation(annotation(AnnotationKind::Primary, primary, shown));
        for label in near {
            main = main.annotation(annotation(AnnotationKind::Context, label, shown));
        }
        let far = far.into_iter().map(|label| {
            let shown = self.lines.around(label.span);
            self.source(shown)
                .annotation(annotation(AnnotationKind::Context, label, shown))
        });
        [main].into_iter().chain(far).collect()
    }

    /// The edits, which are few and near each other, as one patch.
    fn patch(&self, edits: &'a [Fix]) -> Snippet<'a, Patch<'a>> {
        let spans = edits.iter().map(|edit| edit.span);
        let shown = self
            .lines
            .around(spans.reduce(Span::to).unwrap_or_default());
        let patch = |edit: &'a Fix| Patch::new(within(shown, edit.span), edit.text.as_str());
        self.source(shown).patches(edits.iter().map(patch))
    }

    /// Only the lines that are shown: the work does not grow with the file.
    fn source<T: Clone>(&self, shown: Span) -> Snippet<'a, T> {
        Snippet::source(&self.text[shown.range()])
            .line_start(self.lines.line(shown.start))
            .path(self.file)
    }
}

/// `1.20 s and 0.000460 USD a run`; nothing where nothing gets less.
fn saved(saving: Saving) -> Option<String> {
    let positive = |amount: i64| u64::try_from(amount).ok().filter(|amount| *amount > 0);
    let less_time = positive(saving.time).map(time);
    let less_money = saving.nano_usd.and_then(positive).map(usd);
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

fn within(shown: Span, span: Span) -> Range<usize> {
    span.start - shown.start..span.end - shown.start
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
            (1_200_000_000, None, Some("1.20 s a run")),
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
