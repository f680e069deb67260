//! Where the fields of a request can be changed, added and left out.

use haul_ir::diagnostic::Span;

use super::lexer::{Lexer, TokenKind};
use super::tree::{Entry, Node};

/// The fields that ask for a GPU.
const OF_GPU: [&str; 3] = ["gpus", "gpu_type", "vram"];

/// What parts words of a line.
const BLANKS: [char; 2] = [' ', '\t'];

/// Where the fields of one parenthesis are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// The value of `cpus`.
    pub cpus: Option<Span>,
    /// The value of `memory`, with its quotes.
    pub memory: Option<Span>,
    /// The value of `gpus`.
    pub gpus: Option<Span>,
    /// The value of `gpu_type`, with its quotes.
    pub gpu_type: Option<Span>,
    /// The value of `vram`, with its quotes.
    pub vram: Option<Span>,
    /// What to remove so that nothing of a GPU is asked for; empty where nothing is.
    pub gpu_parts: Vec<Span>,
    /// What to remove for the default of `memory`.
    pub memory_parts: Vec<Span>,
    /// What to remove so that nothing is left of an alternative; of a stage, of all of them.
    pub any_of_parts: Vec<Span>,
    /// Where another field can be written.
    pub room: Room,
}

/// Where another field can be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// The byte before which it goes.
    pub at: usize,
    /// What comes after it there.
    pub after: String,
}

/// Those of the fields `entries` of a stage or of an alternative. `keys` are their names, `open`
/// is where its parenthesis opens.
pub(super) fn fields(text: &str, entries: &[Entry], keys: &[&str], open: usize) -> Fields {
    let value = |name: &str| {
        let position = keys.iter().position(|key| *key == name)?;
        Some(entries[position].value.span)
    };
    let parts = |is_part: &dyn Fn(&str) -> bool| {
        let taken: Vec<bool> = keys.iter().map(|key| is_part(key)).collect();
        removals(text, entries, &taken)
    };
    Fields {
        cpus: value("cpus"),
        memory: value("memory"),
        gpus: value("gpus"),
        gpu_type: value("gpu_type"),
        vram: value("vram"),
        gpu_parts: parts(&|key| OF_GPU.contains(&key)),
        memory_parts: parts(&|key| key == "memory"),
        any_of_parts: parts(&|key| key == "any_of"),
        room: room(text, entries, keys, open),
    }
}

/// What to remove so that nothing is left of each item of a list; those of neighbours may meet.
pub(super) fn items(text: &str, items: &[Node]) -> Vec<Vec<Span>> {
    let entries = items.iter().map(|item| {
        let end = item.span.end;
        let next = Lexer::new(&text[end..]).next();
        let is_comma = next.kind == TokenKind::Comma;
        Entry {
            key: item.clone(),
            value: item.clone(),
            end: if is_comma { end + next.span.end } else { end },
        }
    });
    let entries: Vec<_> = entries.collect();
    let removal = |at| around_comments(text, removal(text, &entries, at, at));
    (0..items.len()).map(removal).collect()
}

/// Before the first field of the request, or before `do`, on a line of its own where that has one.
fn room(text: &str, entries: &[Entry], keys: &[&str], open: usize) -> Room {
    let is_request = |key: &&str| ["cpus", "memory"].contains(key) || OF_GPU.contains(key);
    let first = keys.iter().position(is_request);
    let first = first.or_else(|| keys.iter().position(|key| *key == "do"));
    let Some(entry) = first.or(Some(0)).and_then(|first| entries.get(first)) else {
        let after = String::new();
        return Room {
            at: open + 1,
            after,
        };
    };
    let at = entry.key.span.start;
    let after = match indent(text, at) {
        Some(indent) if indent.len() < at => format!(",\n{indent}"),
        _ => ", ".to_owned(),
    };
    Room { at, after }
}

/// What to remove so that the fields that are `taken` are gone and the rest reads as before;
/// comments stay.
fn removals(text: &str, entries: &[Entry], taken: &[bool]) -> Vec<Span> {
    let mut removals = Vec::new();
    let mut from = 0;
    while let Some(first) = (from..entries.len()).find(|position| taken[*position]) {
        let mut last = first;
        // Fields with a comment between them are removed one by one.
        while taken.get(last + 1) == Some(&true) && is_blank(text, entries, last) {
            last += 1;
        }
        removals.extend(around_comments(text, removal(text, entries, first, last)));
        from = last + 1;
    }
    removals
}

/// Whether nothing is written between the field at `position` and the next.
fn is_blank(text: &str, entries: &[Entry], position: usize) -> bool {
    let (end, next) = (entries[position].end, entries[position + 1].key.span.start);
    text[end..next].trim().is_empty()
}

/// Fields that stand side by side, with what parts them from the rest.
fn removal(text: &str, entries: &[Entry], first: usize, last: usize) -> Span {
    let (start, end) = (entries[first].key.span.start, entries[last].end);
    let has_comma = end > entries[last].value.span.end;
    if !has_comma && first > 0 {
        // The last field: the comma before it goes as well.
        let before = entries[first - 1].value.span.end;
        if text[before..start].trim() == "," {
            return Span::new(before, end);
        }
    }
    let blanks = blanks(&text[end..]);
    let rest = &text[end + blanks..];
    let line_end = ["\r\n", "\n"].into_iter().find(|end| rest.starts_with(end));
    let after = end + blanks + line_end.unwrap_or_default().len();
    if line_end.is_none() && !rest.is_empty() {
        return Span::new(start, after);
    }
    match indent(text, start) {
        Some(indent) => Span::new(start - indent.len(), after),
        None => Span::new(text[..start].trim_end_matches(BLANKS).len(), end),
    }
}

/// The parts of a span between its comments.
fn around_comments(text: &str, span: Span) -> Vec<Span> {
    let written = &text[span.range()];
    if !written.contains('/') {
        return vec![span];
    }
    let mut lexer = Lexer::new(written);
    let mut parts: Vec<Span> = Vec::new();
    loop {
        let token = lexer.next();
        if token.kind == TokenKind::End {
            break;
        }
        let (start, end) = (span.start + token.span.start, span.start + token.span.end);
        match parts.last_mut() {
            Some(part) if text[part.end..start].trim().is_empty() => part.end = end,
            _ => parts.push(Span::new(start, end)),
        }
    }
    match parts[..] {
        [_] => vec![span],
        _ => parts,
    }
}

/// What stands before a place in its line, where that is blank.
fn indent(text: &str, at: usize) -> Option<&str> {
    let before = &text[..at];
    let start = before.trim_end_matches(BLANKS);
    (start.is_empty() || start.ends_with('\n')).then(|| &before[start.len()..])
}

/// How many bytes of blanks a text begins with.
fn blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches(BLANKS).len()
}
