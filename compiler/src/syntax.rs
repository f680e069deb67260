//! Text to [`Ast`]: every mistake at once, each at its place, nothing looked up.
//!
//! An error-tolerant tree of our own says where things are; every value is read by the `ron`
//! crate, and a file that `ron` refuses is never accepted.

pub mod ast;
mod bytes;
mod command;
mod edits;
mod file;
mod formula;
mod lexer;
mod locate;
mod print;
mod reader;
mod settings;
mod sources;
mod strings;
mod tree;
mod values;

use haul_ir::diagnostic::{Diagnostic, Span};
use serde::de::IgnoredAny;

pub use self::ast::Ast;
use self::ast::{Name, Type};
pub use self::formula::MAX_HEIGHT;
pub(crate) use self::locate::{Step, locate, value_at};
use self::reader::Reader;
pub(crate) use self::values::options;
use crate::diagnostics::codes::{NOT_TEXT, TOO_LARGE, UNEXPECTED};

/// The largest pipeline file, in bytes.
pub const MAX_FILE: usize = 16 << 20;

/// Reads a pipeline file. The mistakes are in file order; with an error among them, what is
/// left of the file is there to be checked, if it can be told apart.
pub fn parse(text: &str) -> (Option<Ast>, Vec<Diagnostic>) {
    if let Some(mistake) = not_a_file(text) {
        return (None, vec![mistake]);
    }
    let (root, mistakes) = tree::parse(text);
    let mut reader = Reader::new(text);
    reader.mistakes = mistakes;
    let ast = root.and_then(|root| reader.pipeline(&root));
    let mut mistakes = reader.mistakes;
    if mistakes.is_empty() {
        mistakes.extend(refused_by_ron(text));
    }
    mistakes.sort_by_key(|mistake| mistake.primary.span.start);
    (ast, mistakes)
}

/// Reads a type that is written in a formula, such as `'f32[n, 8]'`. The place of `text` may
/// include its quotes.
///
/// # Errors
/// What is wrong with it.
pub fn parse_type(text: &Name) -> Result<Type, Vec<Diagnostic>> {
    let mut mistakes = Vec::new();
    let content = strings::Content::of_name(text);
    formula::declared_type(&content, &mut mistakes).ok_or(mistakes)
}

/// The bytes of an amount of memory such as `16 GiB`, where it is one.
pub fn amount(text: &str) -> Option<u64> {
    bytes::parse(text).ok()
}

fn not_a_file(text: &str) -> Option<Diagnostic> {
    if text.len() > MAX_FILE {
        let message = format!("a pipeline file has at most {MAX_FILE} bytes");
        let mistake = Diagnostic::error(TOO_LARGE, Span::new(0, 0), message);
        return Some(mistake.help("keep large arrays in data files"));
    }
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\x0b' | '\x0c');
    let at = text.find(control)?;
    let length = text[at..].chars().next().map_or(0, char::len_utf8);
    let message = "this is not a text: it has a control character";
    Some(Diagnostic::error(
        NOT_TEXT,
        Span::new(at, at + length),
        message,
    ))
}

/// What `ron` says about a file in which nothing else is wrong.
fn refused_by_ron(text: &str) -> Option<Diagnostic> {
    let mark = if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    let refused = values::options()
        .from_str::<IgnoredAny>(&text[mark..])
        .err()?;
    let start = refused.span.start;
    let line_start = match start.line {
        0 | 1 => mark,
        line => text
            .match_indices('\n')
            .nth(line - 2)
            .map_or(text.len(), |(at, _)| at + 1),
    };
    let columns = text[line_start..]
        .char_indices()
        .map(|(at, _)| line_start + at);
    let at = columns
        .chain([text.len()])
        .nth(start.col.saturating_sub(1))
        .unwrap_or(text.len());
    let message = format!("this is not valid RON: {}", refused.code);
    Some(Diagnostic::error(UNEXPECTED, Span::new(at, at), message))
}
