//! The few styles of text for people.

use anstyle::{AnsiColor, Style};

use super::Colour;

pub(crate) const HEADING: Style = Style::new().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();
pub(crate) const GPU: Style = AnsiColor::Green.on_default();
pub(crate) const DOUBT: Style = AnsiColor::Yellow.on_default();
pub(crate) const ADDED: Style = AnsiColor::Green.on_default();
pub(crate) const REMOVED: Style = AnsiColor::Red.on_default();
pub(crate) const CHANGED: Style = AnsiColor::Yellow.on_default();

impl Colour {
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        match self {
            Colour::Ansi if style != Style::new() => format!("{style}{text}{style:#}"),
            _ => text.to_owned(),
        }
    }
}
