//! What `ron` finds, in words for authors: the field, what is expected, what is there.

use ron::error::Error as RonError;

use crate::diagnostics::suggest::nearest;
use crate::syntax::value_at;

/// What is wrong at a byte of a text.
pub(super) fn told(error: &RonError, text: &str, at: usize) -> String {
    // What lacks a field is the value that ends here, not its last field.
    let at = at + usize::from(matches!(error, RonError::MissingStructField { .. }));
    let place = value_at(text, at);
    let name = place.as_ref().and_then(|(name, _)| name.as_deref());
    if let Some(expected) = kind(error)
        && let Some((name, found)) = &place
    {
        return match name {
            Some(name) => format!("`{name}` takes {expected}, not {found}"),
            None => format!("expected {expected}, found {found}"),
        };
    }
    let within = name.map_or_else(|| "the file".to_owned(), |name| format!("`{name}`"));
    match error {
        RonError::MissingStructField { field, outer } => {
            let example = example(field, outer.as_deref()).map_or_else(String::new, |example| {
                format!(": write for example `{field}: {example}`")
            });
            format!("{within} needs the field `{field}`{example}")
        }
        RonError::NoSuchStructField {
            expected, found, ..
        } => format!("there is no field `{found}` here{}", meant(found, expected)),
        RonError::NoSuchEnumVariant {
            expected, found, ..
        } => format!("there is no `{found}` here{}", meant(found, expected)),
        RonError::DuplicateStructField { field, .. } => format!("`{field}` is there twice"),
        RonError::ExpectedDifferentStructName { expected, found } => {
            format!("expected `{expected}(…)`, found `{found}(…)`")
        }
        RonError::IntegerOutOfBounds => format!("{within} takes a number from 0 to {}", u32::MAX),
        RonError::ExpectedIdentifier => {
            "expected the name of a field, without quotes: `name: value`".to_owned()
        }
        RonError::ExpectedMapColon => "expected `:` and a value after the name".to_owned(),
        RonError::ExpectedComma => "expected `,` or a closing bracket".to_owned(),
        RonError::ExpectedStructLikeEnd => format!("expected `,` or `)` in {within}"),
        RonError::ExpectedArrayEnd => format!("expected `,` or `]` in {within}"),
        RonError::ExpectedMapEnd => format!("expected `,` or `}}` in {within}"),
        RonError::ExpectedStringEnd => "a string is not closed".to_owned(),
        RonError::Eof => "the file ends too early: a bracket or a string is not closed".to_owned(),
        RonError::TrailingCharacters => "the file goes on after its closing bracket".to_owned(),
        RonError::Message(message) => match name {
            Some(name) => format!("`{name}`: {message}"),
            None => message.clone(),
        },
        other => other.to_string(),
    }
}

/// The kind of value that is expected, where one of another kind stands.
fn kind(error: &RonError) -> Option<String> {
    Some(match error {
        RonError::ExpectedArray => "a list in `[ ]`".to_owned(),
        RonError::ExpectedBoolean => "`true` or `false`".to_owned(),
        RonError::ExpectedInteger => "a whole number".to_owned(),
        RonError::ExpectedFloat => "a number".to_owned(),
        RonError::ExpectedMap => "a map in `{ }`".to_owned(),
        RonError::ExpectedString => "a string".to_owned(),
        RonError::ExpectedNamedStructLike(name @ ("Project" | "Target")) => {
            format!("`{name}(…)`")
        }
        RonError::ExpectedStructLike | RonError::ExpectedNamedStructLike(_) => {
            "fields in `( )`".to_owned()
        }
        RonError::InvalidValueForType { expected, .. } => match expected.as_str() {
            "a sequence" => "a list in `[ ]`".to_owned(),
            "u32" | "u64" | "usize" => "a whole number".to_owned(),
            other => other.to_owned(),
        },
        _ => return None,
    })
}

/// Which name was meant, or which there are.
fn meant(found: &str, names: &[&str]) -> String {
    match nearest(found, names.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => format!(": there are {}", names.join(", ")),
    }
}

/// A value of a field that cannot be left out.
fn example(field: &str, outer: Option<&str>) -> Option<&'static str> {
    Some(match (field, outer) {
        ("version", _) => "1",
        ("pipelines", _) => "\"pipelines/*.ron\"",
        ("targets", _) => "[\"a100\"]",
        ("rate", _) => "\"1.39 USD/h\"",
        ("source", Some("Cpu" | "Gpu")) => "Datasheet(\"the vendor's sheet, 2026-10\")",
        ("source", _) => "\"our contract, 2026-10\"",
        ("nodes", _) => "{\"node\": (cpus: 8, memory: \"64 GiB\")}",
        ("cpus", _) => "8",
        ("memory" | "vram", _) => "\"64 GiB\"",
        ("peak", _) => "(f32: \"10 TFLOP/s\", f64: \"1 TFLOP/s\", f16: \"20 TFLOP/s\")",
        ("f32" | "f64" | "f16" | "bf16", _) => "\"10 TFLOP/s\"",
        ("bandwidth" | "node_bandwidth" | "h2d" | "d2h", _) => "\"25 GB/s\"",
        ("launch" | "latency", _) => "\"5 us\"",
        ("link", _) => "\"PCIe 4 x16\"",
        ("efficiency", Some("Cpu")) => "\"cpu\"",
        ("efficiency", _) => "\"gpu\"",
        ("others" | "share", _) => "0.3",
        ("half", _) => "\"1 GFLOP\"",
        _ => return None,
    })
}
