//! One field of a table as a number.

use half::{bf16, f16};

use crate::dtype::DType;
use crate::tensor::{Bool, Element};

/// An element that a field of a table can hold.
pub(crate) trait Field: Element {
    /// The value of a field without blanks around it.
    ///
    /// # Errors
    /// Says what is wrong with it.
    fn parse(field: &[u8]) -> Result<Self, String>;
}

macro_rules! floats {
    ($($type:ty: $nan:expr, $from:expr;)*) => {$(
        impl Field for $type {
            fn parse(field: &[u8]) -> Result<Self, String> {
                if field.is_empty() {
                    return Ok($nan);
                }
                let value = fast_float2::parse(field).map_err(|_| no_number(field))?;
                let value: Self = $from(value);
                // Infinity is written with letters.
                let digits = field.iter().any(u8::is_ascii_digit);
                match value.is_infinite() && digits {
                    true => Err(too_large(field, Self::DTYPE)),
                    false => Ok(value),
                }
            }
        }
    )*};
}

floats! {
    f32: f32::NAN, std::convert::identity::<f32>;
    f64: f64::NAN, std::convert::identity::<f64>;
    f16: f16::NAN, f16::from_f64;
    bf16: bf16::NAN, bf16::from_f64;
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Field for $type {
            fn parse(field: &[u8]) -> Result<Self, String> {
                use std::num::IntErrorKind::{NegOverflow, PosOverflow};
                let text = str::from_utf8(field).unwrap_or_default();
                text.parse().map_err(|error: std::num::ParseIntError| match error.kind() {
                    _ if field.is_empty() => missing(Self::DTYPE),
                    PosOverflow | NegOverflow => too_large(field, Self::DTYPE),
                    _ if fast_float2::parse::<f64, _>(field).is_err() => no_number(field),
                    _ => format!("`{text}` is no {}", Self::DTYPE),
                })
            }
        }
    )*};
}

integers!(u8, u16, u32, u64, i8, i16, i32, i64);

impl Field for Bool {
    fn parse(field: &[u8]) -> Result<Self, String> {
        match field {
            b"" => Err(missing(Self::DTYPE)),
            b"1" => Ok(true.into()),
            b"0" => Ok(false.into()),
            _ if field.eq_ignore_ascii_case(b"true") => Ok(true.into()),
            _ if field.eq_ignore_ascii_case(b"false") => Ok(false.into()),
            _ => Err(format!("`{}` is neither true nor false", shown(field))),
        }
    }
}

fn missing(dtype: DType) -> String {
    format!("the field is missing, and {dtype} has no value for that: floats have NaN")
}

fn too_large(field: &[u8], dtype: DType) -> String {
    format!("`{}` does not fit {dtype}", shown(field))
}

pub(super) fn no_number(field: &[u8]) -> String {
    format!("`{}` is not a number", shown(field))
}

/// The field as it can stand in a message.
fn shown(field: &[u8]) -> String {
    let text = String::from_utf8_lossy(field);
    let short: String = text.chars().take(40).collect();
    let dots = if short.len() < text.len() { "…" } else { "" };
    format!("{}{dots}", short.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        for (written, fits) in [
            ("1e400", false),
            ("-1e309", false),
            ("inf", true),
            ("1e308", true),
        ] {
            assert_eq!(f64::parse(written.as_bytes()).is_ok(), fits, "{written}");
        }
        // The largest f16 is 65504; what rounds to 65536 is beyond it.
        assert_eq!(f16::parse(b"65519"), Ok(f16::MAX));
        assert_eq!(f16::parse(b"65520"), Err("`65520` does not fit f16".into()));
        assert_eq!(f32::parse(b"1e39"), Err("`1e39` does not fit f32".into()));
        assert_eq!(i8::parse(b"300"), Err("`300` does not fit i8".into()));
    }
}
