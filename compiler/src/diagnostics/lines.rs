//! Lines and columns of a text.

use haul_ir::diagnostic::Span;

/// Characters are counted once in blocks of so many bytes, however long a line is.
const BLOCK: usize = 1024;

/// Where the lines of a text begin.
pub(crate) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    /// How many characters begin before each block.
    characters: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = [0].into_iter().chain(after_breaks).collect();
        let blocks = text.as_bytes().chunks(BLOCK).map(count);
        let before = blocks.scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        let characters = [0].into_iter().chain(before).collect();
        Self {
            text,
            starts,
            characters,
        }
    }

    /// The line of a byte, from 1.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    /// The column of a byte in its line, from 1, in characters.
    pub(super) fn column(&self, at: usize) -> usize {
        let start = self.starts[self.line(at) - 1];
        1 + self.characters_before(at) - self.characters_before(start)
    }

    /// The whole lines that a span touches, with their line break.
    pub(super) fn around(&self, span: Span) -> Span {
        let start = self.starts[self.line(span.start) - 1];
        let end = self.starts.get(self.line(span.end));
        Span::new(start, end.copied().unwrap_or(self.text.len()))
    }

    fn characters_before(&self, at: usize) -> usize {
        let block = at / BLOCK;
        self.characters[block] + count(&self.text.as_bytes()[block * BLOCK..at])
    }
}

/// How many characters begin in a part of a text.
fn count(bytes: &[u8]) -> usize {
    let continues = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
    bytes.iter().filter(|byte| !continues(**byte)).count()
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn columns_count_characters() {
        let text = "é".repeat(3000) + "\n" + &"ß,".repeat(3000);
        let lines = Lines::new(&text);
        assert_eq!((lines.line(0), lines.column(0)), (1, 1));
        assert_eq!((lines.line(5998), lines.column(5998)), (1, 3000)); // 2999 of 2 bytes before
        assert_eq!((lines.line(6001), lines.column(6001)), (2, 1));
        assert_eq!((lines.line(9004), lines.column(9004)), (2, 2003)); // 1001 of 3 bytes before
        assert_eq!(
            (lines.line(text.len()), lines.column(text.len())),
            (2, 6001)
        );
    }
}
