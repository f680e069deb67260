//! The few styles of text for people.

use anstyle::{AnsiColor, Style};

use super::Colour;

pub(super) const HEADING: Style = Style::new().bold();
pub(super) const FAINT: Style = Style::new().dimmed();
pub(super) const GPU: Style = AnsiColor::Green.on_default();
pub(super) const DOUBT: Style = AnsiColor::Yellow.on_default();

impl Colour {
    pub(super) fn paint(self, style: Style, text: &str) -> String {
        match self {
            Colour::Ansi if style != Style::new() => format!("{style}{text}{style:#}"),
            _ => text.to_owned(),
        }
    }
}
