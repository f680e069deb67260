//! Columns of text that fit a width.

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::style::FAINT;
use super::{Colour, WIDTH};

/// Rows and columns, printed in at most [`WIDTH`] columns.
#[derive(Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    indent: usize,
}

/// A column of a [`Table`].
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// What stands above it.
    pub title: &'static str,
    /// The side that its cells lean on.
    pub align: Align,
    /// Whether its cells may be cut to fit.
    pub flexible: bool,
}

/// The side that cells lean on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Align {
    Left,
    Right,
}

/// A cell of a [`Table`]: text on one line, and its style.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// The text.
    pub text: String,
    /// The style, where colours are shown.
    pub style: Style,
}

impl<S: Into<String>> From<S> for Cell {
    fn from(text: S) -> Self {
        Cell {
            text: text.into(),
            style: Style::new(),
        }
    }
}

impl Cell {
    /// The cell in this style.
    #[must_use]
    pub fn styled(self, style: Style) -> Self {
        Cell { style, ..self }
    }
}

impl Column {
    /// Text, which may be cut.
    pub fn text(title: &'static str) -> Self {
        Self {
            title,
            align: Align::Left,
            flexible: true,
        }
    }

    /// Words that are never cut.
    pub fn word(title: &'static str) -> Self {
        Self {
            flexible: false,
            ..Self::text(title)
        }
    }

    /// Numbers, which are never cut.
    pub fn number(title: &'static str) -> Self {
        Self {
            title,
            align: Align::Right,
            flexible: false,
        }
    }
}

const GAP: usize = 2;
const NARROWEST: usize = 6;

impl Table {
    /// An empty table.
    pub fn new(columns: impl Into<Vec<Column>>) -> Self {
        Self {
            columns: columns.into(),
            rows: Vec::new(),
            indent: 0,
        }
    }

    /// The table moved to the right.
    #[must_use]
    pub fn indented(self, indent: usize) -> Self {
        Self { indent, ..self }
    }

    /// Adds a row; missing cells are empty.
    pub fn row(&mut self, cells: impl Into<Vec<Cell>>) {
        self.rows.push(cells.into());
    }

    /// As text, a line for the titles, where there are any, and one for each row.
    pub fn print(&self, colour: Colour) -> String {
        let widths = self.widths();
        let title = |column: &Column| Cell::from(column.title).styled(FAINT);
        let titles: Vec<_> = self.columns.iter().map(title).collect();
        let has_titles = self.columns.iter().any(|column| !column.title.is_empty());
        let mut out = match has_titles {
            true => self.line(&titles, &widths, colour),
            false => String::new(),
        };
        for row in &self.rows {
            out += &self.line(row, &widths, colour);
        }
        out
    }

    /// Natural widths, the widest flexible columns cut until all fit.
    fn widths(&self) -> Vec<usize> {
        let natural = |(at, column): (usize, &Column)| {
            let cells = self.rows.iter().filter_map(|row| row.get(at));
            let widest = cells.map(|cell| cell.text.width()).max().unwrap_or(0);
            widest.max(column.title.width())
        };
        let mut widths: Vec<_> = self.columns.iter().enumerate().map(natural).collect();
        let fixed = self.indent + GAP * self.columns.len().saturating_sub(1);
        let mut excess = (fixed + widths.iter().sum::<usize>()).saturating_sub(WIDTH);
        while excess > 0 {
            let flexible = (0..widths.len()).filter(|at| self.columns[*at].flexible);
            let Some(widest) = flexible.max_by_key(|at| widths[*at]) else {
                break;
            };
            let cut = excess.min(widths[widest].saturating_sub(NARROWEST)).min(8);
            if cut == 0 {
                break;
            }
            widths[widest] -= cut;
            excess -= cut;
        }
        widths
    }

    fn line(&self, cells: &[Cell], widths: &[usize], colour: Colour) -> String {
        let mut line = " ".repeat(self.indent);
        let mut owed = 0;
        for ((column, width), cell) in self.columns.iter().zip(widths).zip(cells) {
            let text = truncated(&cell.text, *width);
            let padding = width - text.width();
            let (before, after) = match column.align {
                Align::Left => (0, padding),
                Align::Right => (padding, 0),
            };
            // Padding is written only when something follows it: no line ends in blanks.
            if !text.is_empty() {
                line += &" ".repeat(owed + before);
                line += &colour.paint(cell.style, &text);
                owed = after + GAP;
            } else {
                owed += width + GAP;
            }
        }
        line.truncate(line.trim_end().len());
        line + "\n"
    }
}

/// The text cut to a width, with `…` where something is missing.
pub(super) fn truncated(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        kept.push(c);
    }
    kept + "…"
}

/// Words on lines of at most [`WIDTH`] columns, all but the first moved to `hanging`.
pub fn wrapped(indent: usize, hanging: usize, text: &str) -> String {
    let mut out = String::new();
    let mut line = " ".repeat(indent);
    let mut empty = true;
    for word in text.split(' ') {
        if !empty && line.width() + 1 + word.width() > WIDTH {
            out += &line;
            out.push('\n');
            line = " ".repeat(hanging);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    out + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(name: &str, ty: &str) -> String {
        let mut table = Table::new([
            Column::text("op"),
            Column::text("type"),
            Column::number("flops"),
        ]);
        table.row([Cell::from(name), Cell::from(ty), Cell::from("16.4 k")]);
        table.indented(2).print(Colour::Plain)
    }

    #[test]
    fn natural_widths() {
        assert_eq!(
            sample("x", "f32[n]"),
            "  op  type     flops\n  x   f32[n]  16.4 k\n"
        );
    }

    #[test]
    fn wide_cells_are_cut_to_fit() {
        let text = sample(&"名".repeat(80), &"t".repeat(90));
        assert!(text.lines().all(|line| line.width() <= WIDTH), "{text}");
        assert_eq!(text.matches('…').count(), 2, "{text}");
    }

    #[test]
    fn empty_cells_leave_no_trailing_blanks() {
        let mut table = Table::new([Column::text("a"), Column::number("b"), Column::word("c")]);
        table.row([Cell::from("x"), Cell::default(), Cell::from("y")]);
        table.row([Cell::from("x")]);
        assert_eq!(table.print(Colour::Plain), "a  b  c\nx     y\nx\n");
    }

    #[test]
    fn long_lines_wrap() {
        let text = wrapped(2, 11, &["word"; 40].join(" "));
        assert!(text.lines().all(|line| line.width() <= WIDTH));
        assert_eq!(text.split_whitespace().count(), 40);
    }
}
