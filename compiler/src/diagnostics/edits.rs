//! The edits of diagnostics, made to a text.

use std::collections::BTreeMap;

use haul_ir::diagnostic::{Diagnostic, Fix, Span};

/// A text with edits made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The new text.
    pub text: String,
    /// Positions of the diagnostics whose edits it has, in order.
    pub made: Vec<usize>,
    /// Positions of those whose edits are left for another time, because they meet others.
    pub left: Vec<usize>,
}

/// The text with the edits of as many diagnostics as do not meet: of each all edits or none, and of
/// several about one place the first. What no edit touches stays byte for byte.
pub fn edited(text: &str, diagnostics: &[Diagnostic]) -> Edited {
    let (mut made, mut left) = (Vec::new(), Vec::new());
    let mut taken = Taken::default();
    let mut edits: Vec<&Fix> = Vec::new();
    for (position, diagnostic) in diagnostics.iter().enumerate() {
        let own = &diagnostic.fix;
        let places = own.iter().map(|edit| edit.span);
        let places: Vec<Span> = places.chain([diagnostic.primary.span]).collect();
        if own.is_empty() {
            continue;
        } else if can_be_made(text, own) && taken.take(&places) {
            edits.extend(own);
            made.push(position);
        } else {
            left.push(position);
        }
    }
    edits.sort_by_key(|edit| edit.span);
    let mut written = String::with_capacity(text.len());
    let mut copied = 0;
    for edit in edits {
        written += &text[copied..edit.span.start];
        written += &edit.text;
        copied = edit.span.end;
    }
    written += &text[copied..];
    Edited {
        text: written,
        made,
        left,
    }
}

/// Parts of a text that edits change or diagnostics are about: starts with ends, none of which
/// meet.
#[derive(Default)]
struct Taken(BTreeMap<usize, usize>);

impl Taken {
    /// Takes places, which may meet each other; false where one of them meets what is taken.
    fn take(&mut self, places: &[Span]) -> bool {
        let is_free = |place: &Span| {
            let before = self.0.range(..=place.end).next_back();
            before.is_none_or(|(_, end)| *end < place.start)
        };
        if !places.iter().all(is_free) {
            return false;
        }
        let mut places = places.to_vec();
        places.sort();
        for place in places {
            match self.0.range_mut(..=place.end).next_back() {
                Some((_, end)) if *end >= place.start => *end = place.end.max(*end),
                _ => drop(self.0.insert(place.start, place.end)),
            }
        }
        true
    }
}

/// Whether the edits are of this text and do not meet each other.
fn can_be_made(text: &str, edits: &[Fix]) -> bool {
    let is_of_text = |edit: &Fix| text.get(edit.span.range()).is_some();
    let mut spans: Vec<Span> = edits.iter().map(|edit| edit.span).collect();
    spans.sort();
    let apart = spans
        .windows(2)
        .all(|pair| pair[0].end <= pair[1].start && pair[0] != pair[1]);
    apart && edits.iter().all(is_of_text)
}

#[cfg(test)]
mod tests {
    use haul_ir::diagnostic::{Code, Diagnostic, Span};

    use super::{Edited, edited};

    /// A diagnostic about a place with edits: from, to, new text.
    fn about(place: (usize, usize), edits: &[(usize, usize, &str)]) -> Diagnostic {
        let diagnostic = Diagnostic::error(Code("E0101"), Span::new(place.0, place.1), "");
        let fix = |d: Diagnostic, (start, end, text): &(usize, usize, &str)| {
            d.fix(Span::new(*start, *end), *text)
        };
        edits.iter().fold(diagnostic, fix)
    }

    #[test]
    fn edits_are_made_from_the_end() {
        let diagnostics = [
            about((0, 1), &[(0, 1, "one")]),
            about((4, 5), &[(4, 5, ""), (6, 6, "é")]),
            about((2, 3), &[]),
        ];
        let Edited { text, made, left } = edited("a // b c", &diagnostics);
        assert_eq!((&*text, made, left), ("one //bé c", vec![0, 1], vec![]));
    }

    #[test]
    fn what_meets_is_left() {
        let diagnostics = [
            about((0, 4), &[(0, 1, "x")]),
            about((2, 3), &[(2, 3, "y")]), // about the same place
            about((6, 7), &[(1, 1, "z"), (6, 7, "")]), // touches an edit
            about((6, 7), &[(6, 7, "w")]),
            about((8, 9), &[(8, 99, "")]), // of another text
        ];
        let Edited { text, made, left } = edited("a b c d e", &diagnostics);
        assert_eq!(
            (&*text, made, left),
            ("x b c w e", vec![0, 3], vec![1, 2, 4])
        );
    }
}
