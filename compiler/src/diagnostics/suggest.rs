//! Names that an author may have meant.

use haul_ir::diagnostic::{Diagnostic, Span};

/// Longer names are not compared: nobody mistypes them.
const MAX_LENGTH: usize = 64;

/// The candidate nearest to `name`, if one is near: a third of its letters may differ or
/// be swapped with their neighbours.
pub fn nearest<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let length = name.chars().count();
    if length > MAX_LENGTH {
        return None;
    }
    let allowed = (length / 3).max(1);
    let name = name.to_lowercase();
    let near = candidates.into_iter().filter_map(|candidate| {
        let candidate_length = candidate.chars().count();
        if candidate_length.abs_diff(length) > allowed {
            return None;
        }
        let distance = strsim::damerau_levenshtein(&name, &candidate.to_lowercase());
        (distance <= allowed && distance < candidate_length).then_some((distance, candidate))
    });
    near.min().map(|(_, candidate)| candidate)
}

/// Adds the nearest candidate to a mistake as help and fix, or else the whole list as help.
pub fn did_you_mean<'n>(
    mistake: Diagnostic,
    span: Span,
    name: &str,
    candidates: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if let Some(nearest) = nearest(name, candidates.iter().copied()) {
        return mistake
            .help(format!("did you mean `{nearest}`?"))
            .fix(span, nearest);
    }
    one_of(mistake, &candidates)
}

/// Adds the names there are to a mistake as help.
pub fn one_of(mistake: Diagnostic, names: &[&str]) -> Diagnostic {
    match names {
        [] => mistake,
        [only] => mistake.help(format!("there is only `{only}`")),
        _ => mistake.help(format!("there are {}", listed(names))),
    }
}

/// `a`, `b` and `c`; of a long list only the beginning.
fn listed(names: &[&str]) -> String {
    const LENGTH: usize = 20;
    let quoted: Vec<String> = names
        .iter()
        .take(LENGTH)
        .map(|name| format!("`{name}`"))
        .collect();
    match names.len().checked_sub(LENGTH) {
        Some(more @ 1..) => format!("{} and {more} more", quoted.join(", ")),
        _ => match quoted.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            _ => quoted.concat(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{did_you_mean, nearest};
    use haul_ir::diagnostic::{Code, Diagnostic, Span};

    #[test]
    fn near_names() {
        let names = ["sum", "softmax", "x", "cpus", "mean"];
        let cases = [
            ("sofmax", Some("softmax")), // a letter is missing
            ("smu", Some("sum")),        // two are swapped
            ("Mean", Some("mean")),      // case does not count
            ("cpu", Some("cpus")),
            ("y", None), // nothing of it is right
            ("quantile", None),
        ];
        for (name, expected) in cases {
            assert_eq!(nearest(name, names), expected, "{name}");
        }
    }

    #[test]
    fn far_names_are_listed() {
        let mistake = Diagnostic::error(Code("E0107"), Span::new(0, 1), "");
        let help = |names: &[&'static str]| {
            did_you_mean(mistake.clone(), Span::new(0, 1), "q", names.iter().copied()).help
        };
        assert_eq!(help(&[]), None);
        assert_eq!(help(&["abc"]).as_deref(), Some("there is only `abc`"));
        assert_eq!(
            help(&["ab", "cd", "ef"]).as_deref(),
            Some("there are `ab`, `cd` and `ef`")
        );
        assert!(help(&["ab"; 30]).is_some_and(|help| help.ends_with("`ab` and 10 more")));
    }
}
