//! The last of what a program says.

/// How many bytes of it are kept, and how many lines are shown.
const BYTES: usize = 4096;
const LINES: usize = 20;

/// The end of a text that may be long.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Tail {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let more = self.bytes.len().saturating_sub(BYTES);
        self.bytes.drain(..more);
        self.is_cut |= more > 0;
    }

    /// Its last lines, indented below a heading; empty where there are none. Control characters are
    /// shown as escapes.
    pub(super) fn told(&self, heading: &str) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let lines: Vec<_> = text.lines().collect();
        let first = lines.len().saturating_sub(LINES);
        let cut = if self.is_cut || first > 0 {
            ", the end of it"
        } else {
            ""
        };
        if lines.iter().all(|line| line.trim().is_empty()) {
            return String::new();
        }
        let mut told = format!("\n  {heading}{cut}:");
        for line in &lines[first..] {
            told += "\n    ";
            for letter in line.chars() {
                match letter.is_control() && letter != '\t' {
                    true => told.extend(letter.escape_unicode()),
                    false => told.push(letter),
                }
            }
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept() {
        let mut tail = Tail::default();
        assert_eq!(tail.told("stderr"), "");
        tail.push(b"one\n\x1b[31mtwo\xff\n");
        assert_eq!(
            tail.told("stderr"),
            "\n  stderr:\n    one\n    \\u{1b}[31mtwo\u{fffd}"
        );
        for line in 0..1_000_000 {
            tail.push(format!("{line}\n").as_bytes());
        }
        assert!(tail.bytes.len() <= BYTES);
        let told = tail.told("stderr");
        assert!(told.starts_with("\n  stderr, the end of it:\n    999980\n"));
        assert!(told.ends_with("\n    999999"));
    }
}
