//! Names inside of formulas.

use std::collections::HashMap;

/// A text in pieces: names of values, and what stands between them. What is in quotes holds no name;
/// nor is one what is called, `sum(`, or an option, `axis=`.
fn pieces(text: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let (is_name, end) = match first {
            '\'' => {
                let close = rest[1..].find('\'').map_or(rest.len(), |at| at + 2);
                (false, close)
            }
            _ if is_start(first) => {
                let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                (!rest[end..].starts_with(['(', '=']), end)
            }
            // A number takes its letters with it: `1e5`.
            _ if first.is_ascii_digit() => {
                let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                (false, end)
            }
            _ => (false, first.len_utf8()),
        };
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some((is_name, piece))
    })
}

fn is_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// The names of values in a formula.
pub(super) fn names(formula: &str) -> impl Iterator<Item = &str> {
    pieces(formula).filter_map(|(is_name, piece)| is_name.then_some(piece))
}

/// The text with every name replaced that `rename` gives another one for.
pub(super) fn replaced(text: &str, rename: impl Fn(&str) -> Option<String>) -> String {
    let piece = |(is_name, piece): (bool, &str)| match is_name {
        true => rename(piece).unwrap_or_else(|| piece.to_owned()),
        false => piece.to_owned(),
    };
    pieces(text).map(piece).collect()
}

/// The name under the longest of its beginnings that is renamed: with `g` to `h`, `g.matmul` is
/// `h.matmul`.
pub(super) fn renamed(name: &str, renames: &HashMap<String, String>) -> Option<String> {
    let mut end = name.len();
    loop {
        if let Some(new) = renames.get(&name[..end]) {
            return Some(format!("{new}{}", &name[end..]));
        }
        end = name[..end].rfind('.')?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_and_not_in_quotes() {
        let found: Vec<_> = names("sum(g.matmul, axis=1e5, type='g') + g[0:n]").collect();
        assert_eq!(found, ["g.matmul", "g", "n"]);
        let found: Vec<_> = names("sum(sum, axis=axis)").collect();
        assert_eq!(found, ["sum", "axis"]);
        assert_eq!(names("'unclosed").count(), 0);
    }

    #[test]
    fn renames_reach_inner_ops() {
        let renames = HashMap::from([("g".to_owned(), "h".to_owned())]);
        let rename = |name: &str| renamed(name, &renames);
        assert_eq!(
            replaced("add(g.matmul, gg, 'g')", rename),
            "add(h.matmul, gg, 'g')"
        );
    }
}
