//! Amounts of memory: `16 GiB`.

/// Units, binary and decimal.
const UNITS: [(&str, u64); 9] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Why a text is no amount of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Not a decimal number before a unit.
    Form,
    /// The unit is unknown.
    Unit,
    /// Not a whole number of bytes.
    Fraction,
    /// More than 2^64 - 1 bytes.
    Range,
}

/// The number of bytes, exactly.
pub(super) fn parse(text: &str) -> Result<u64, Refused> {
    let text = text.trim();
    let unit_at = text.rfind(|c: char| c.is_ascii_digit() || c == '.');
    let (number, unit) = text.split_at(unit_at.ok_or(Refused::Form)? + 1);
    let unit = unit.trim_start();
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) {
        return Err(Refused::Form);
    }
    let (_, unit) = UNITS
        .into_iter()
        .find(|(name, _)| *name == unit)
        .ok_or(Refused::Unit)?;
    let whole: u64 = whole.parse().map_err(|_| Refused::Range)?;
    let whole = whole.checked_mul(unit).ok_or(Refused::Range)?;
    whole
        .checked_add(fraction(decimals, unit)?)
        .ok_or(Refused::Range)
}

/// `0.decimals` units in bytes.
fn fraction(decimals: &str, unit: u64) -> Result<u64, Refused> {
    let decimals = decimals.trim_end_matches('0');
    // 0.5^40 TiB is one byte and has 40 decimals; with u128, 19 decimals of a TiB are exact,
    // which is more than anyone writes.
    let length = u32::try_from(decimals.len())
        .ok()
        .filter(|length| *length <= 19);
    let scale = 10u128.pow(length.ok_or(Refused::Fraction)?);
    let parts: u128 = if decimals.is_empty() {
        0
    } else {
        decimals.parse().unwrap_or(u128::MAX)
    };
    let bytes = parts
        .checked_mul(u128::from(unit))
        .ok_or(Refused::Fraction)?;
    if bytes % scale != 0 {
        return Err(Refused::Fraction);
    }
    u64::try_from(bytes / scale).map_err(|_| Refused::Range)
}

#[cfg(test)]
mod tests {
    use super::{Refused, parse};

    #[test]
    fn exact() {
        let cases = [
            ("16 GiB", 17_179_869_184), // 16 * 2^30
            ("240 GB", 240_000_000_000),
            ("512MiB", 536_870_912),    // 512 * 2^20
            ("1.5 GiB", 1_610_612_736), // 3 * 2^29
            ("0.0009765625 KiB", 1),    // 2^-10 KiB
            ("1.50 kB", 1_500),
            ("0 B", 0),
            ("18446744073709551615 B", u64::MAX),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn refused() {
        let cases = [
            ("3 gigs", Refused::Unit),
            ("3 gb", Refused::Unit),
            ("12", Refused::Unit),
            ("", Refused::Form),
            ("-1 GB", Refused::Form),
            ("1e3 GB", Refused::Form),
            (". GB", Refused::Form),
            ("1.2.3 GB", Refused::Form),
            ("0.1 GiB", Refused::Fraction), // 2^30 is not divisible by 10
            ("0.0001 kB", Refused::Fraction),
            ("18446744073709551616 B", Refused::Range),
            ("16777216 TiB", Refused::Range), // 2^24 * 2^40
        ];
        for (text, why) in cases {
            assert_eq!(parse(text), Err(why), "{text}");
        }
    }
}
