//! Diagnostics for tools: one JSON object a line.

use haul_ir::diagnostic::{Diagnostic, Severity, Span};
use serde::Serialize;

use super::lines::Lines;

/// The diagnostics about `text`, one object a line: `code`, `severity` (`error` or `warning`),
/// `message`, `file`, `primary` and `labels` with their places and texts, `help`, `fix` with the
/// places and new texts of its edits, `applicability` of these (`machine_applicable`, or
/// `maybe_incorrect` where the author has to judge; none without edits), and `saving` in nanoseconds and billionths of a US dollar.
///
/// A place is bytes from 0 (`start`, `end`), and `line` and `column` of both ends from 1, in
/// characters.
pub fn render_json(diagnostics: &[Diagnostic], file: &str, text: &str) -> String {
    let lines = Lines::new(text);
    let mut rendered = String::new();
    for diagnostic in diagnostics {
        let record = Record::new(diagnostic, file, &lines);
        let json = serde_json::to_string(&record).unwrap_or_else(|error| error.to_string());
        rendered.push_str(&json);
        rendered.push('\n');
    }
    rendered
}

#[derive(Serialize)]
struct Record<'a> {
    code: &'a str,
    severity: &'a str,
    message: &'a str,
    file: &'a str,
    primary: Place<'a>,
    labels: Vec<Place<'a>>,
    help: Option<&'a str>,
    fix: Vec<Place<'a>>,
    applicability: Option<String>,
    saving: Option<Saving>,
}

#[derive(Serialize)]
struct Saving {
    nanos: i64,
    nano_usd: Option<i64>,
}

#[derive(Serialize)]
struct Place<'a> {
    start: usize,
    end: usize,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    text: &'a str,
}

impl<'a> Record<'a> {
    fn new(diagnostic: &'a Diagnostic, file: &'a str, lines: &Lines<'_>) -> Self {
        let Diagnostic {
            primary,
            labels,
            fix,
            ..
        } = diagnostic;
        Self {
            code: diagnostic.code.0,
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            message: &diagnostic.message,
            file,
            primary: Place::new(primary.span, &primary.text, lines),
            labels: labels
                .iter()
                .map(|label| Place::new(label.span, &label.text, lines))
                .collect(),
            help: diagnostic.help.as_deref(),
            fix: fix
                .iter()
                .map(|edit| Place::new(edit.span, &edit.text, lines))
                .collect(),
            applicability: (!fix.is_empty()).then(|| diagnostic.applicability.to_string()),
            saving: diagnostic.saving.map(|saving| Saving {
                nanos: saving.time,
                nano_usd: saving.nano_usd,
            }),
        }
    }
}

impl<'a> Place<'a> {
    fn new(span: Span, text: &'a str, lines: &Lines<'_>) -> Self {
        let Span { start, end } = span;
        let (line, column) = (lines.line(start), lines.column(start));
        let (end_line, end_column) = (lines.line(end), lines.column(end));
        Self {
            start,
            end,
            line,
            column,
            end_line,
            end_column,
            text,
        }
    }
}
