//! Mistakes and doubts about pipelines, as they are told.

use clap::ValueEnum;
use haul_compiler::diagnostics::{render, render_json};
use haul_compiler::render::Colour;
use haul_ir::diagnostic::{Diagnostic, Severity};

use crate::exit::Exit;
use crate::file::File;
use crate::terminal;

/// How mistakes are printed.
#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum Format {
    /// On stderr, with the lines they are about.
    #[default]
    Text,
    /// On stdout, one object a line.
    Json,
}

/// Tells the mistakes on stderr, for people. `Found` when there is an error among them.
pub(crate) fn tell(file: &File, diagnostics: &[Diagnostic]) -> Exit {
    if diagnostics.is_empty() {
        return Exit::Fine;
    }
    let color = terminal::colour_of_messages() == Colour::Ansi;
    let shown = &file.shown;
    let mut text = render(diagnostics, shown, &file.text, color);
    let errors = diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .count();
    let warnings = diagnostics.len() - errors;
    text += &format!("{shown}: {}\n", counted(errors, warnings));
    terminal::tell(&text);
    verdict(diagnostics)
}

/// The mistakes as JSON, for tools.
pub(crate) fn json(file: &File, diagnostics: &[Diagnostic]) -> String {
    render_json(diagnostics, &file.shown, &file.text)
}

/// `Found` when there is an error among the diagnostics.
pub(crate) fn verdict(diagnostics: &[Diagnostic]) -> Exit {
    match diagnostics.iter().any(|d| d.severity == Severity::Error) {
        true => Exit::Found,
        false => Exit::Fine,
    }
}

/// `1 error, 2 warnings`.
fn counted(errors: usize, warnings: usize) -> String {
    let one = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{count} {what}s")),
    };
    let parts = [one(errors, "error"), one(warnings, "warning")];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
