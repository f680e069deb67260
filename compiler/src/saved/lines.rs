//! The words of a snapshot's lines: how they are written and taken apart.

use sha2::{Digest, Sha256};

use super::SavedRequest;
use crate::render::units;
use crate::syntax::amount;

/// What tells a text from one that was edited: the first 64 bits of its SHA-256 in hexadecimal.
pub(super) fn digest(text: &str) -> String {
    let hash = Sha256::digest(text);
    hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A name as one word: as it is, or in quotes where it has spaces or quotes, or nothing in it.
pub(super) fn word(text: &str) -> String {
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && c != '"';
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    serde_json::to_string(text).unwrap_or_default()
}

/// The first word of a text, and what follows it.
pub(super) fn first_word(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start();
    if text.starts_with('"') {
        let mut words = serde_json::Deserializer::from_str(text).into_iter::<String>();
        let word = words.next()?.ok()?;
        return Some((word, &text[words.byte_offset()..]));
    }
    let end = text.find(' ').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (!word.is_empty()).then(|| (word.to_owned(), rest))
}

/// A text at its first space outside of brackets and quotes: a formula and its types.
pub(super) fn split_formula(text: &str) -> (&str, &str) {
    let mut depth = 0usize;
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => return (&text[..at], text[at..].trim_start()),
            _ => {}
        }
    }
    (text, "")
}

/// The request without loss: `cpus 4 memory 8 GiB gpus 1 type A100-80GB vram 256 MiB`.
pub(crate) fn request(request: &SavedRequest) -> String {
    let memory = units::exact_bytes(request.memory);
    let mut text = format!("cpus {} memory {memory}", request.cpus);
    if request.gpus != "0" {
        text += &format!(" gpus {}", request.gpus);
    }
    if let Some(ty) = &request.gpu_type {
        text += &format!(" type {}", word(ty));
    }
    if let Some(vram) = request.vram {
        text += &format!(" vram {}", units::exact_bytes(vram));
    }
    text
}

/// Reads what [`request`] writes.
pub(super) fn read_request(text: &str) -> Option<SavedRequest> {
    let mut request = SavedRequest {
        cpus: 0,
        memory: 0,
        gpus: "0".to_owned(),
        gpu_type: None,
        vram: None,
    };
    let mut rest = text;
    while let Some((field, after)) = first_word(rest) {
        let (value, mut after) = first_word(after)?;
        let mut bytes = || {
            let (unit, rest) = first_word(after)?;
            after = rest;
            amount(&format!("{value} {unit}"))
        };
        match field.as_str() {
            "cpus" => request.cpus = value.parse().ok()?,
            "memory" => request.memory = bytes()?,
            "gpus" => request.gpus = value,
            "type" => request.gpu_type = Some(value),
            "vram" => request.vram = Some(bytes()?),
            _ => return None,
        }
        rest = after;
    }
    (request.cpus > 0).then_some(request)
}

/// Reads a time such as `1.77 ms`, in nanoseconds; of one in minutes or hours the nearest.
pub(crate) fn read_time(text: &str) -> Option<u64> {
    let (number, unit) = text.trim().split_once(' ')?;
    let unit = match unit {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    scaled(number, unit)
}

/// Reads a price such as `0.0000152 USD`, in billionths.
pub(crate) fn read_usd(text: &str) -> Option<u64> {
    scaled(text.trim().strip_suffix(" USD")?, 1_000_000_000)
}

/// A decimal number times a unit, to the nearest whole number.
pub(super) fn scaled(number: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) || fraction.len() > 15 {
        return None;
    }
    let denominator = 10u128.pow(fraction.len() as u32);
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let scaled = digits.checked_mul(u128::from(unit))?;
    u64::try_from((scaled + denominator / 2) / denominator).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors of FIPS 180-2, appendix B.1, and of the empty message.
    #[test]
    fn digests_are_those_of_sha_256() {
        assert_eq!(digest("abc"), "ba7816bf8f01cfea");
        assert_eq!(digest(""), "e3b0c44298fc1c14");
    }

    #[test]
    fn words_of_any_text() {
        for text in [
            "plain",
            "",
            "two words",
            "a\"b",
            "line\nbreak",
            "\\",
            "naïve",
        ] {
            let line = format!("{} rest", word(text));
            assert_eq!(first_word(&line), Some((text.to_owned(), " rest")));
            assert!(!line.contains('\n'));
        }
        assert_eq!(first_word("  "), None);
        assert_eq!(first_word("\"unclosed"), None);
    }

    #[test]
    fn printed_numbers_are_read() {
        for nanos in [
            0,
            7,
            999,
            1_000,
            1_774_999,
            59_970_000_000,
            60_000_000_000,
            7_200_000_000_000,
        ] {
            let text = units::time(nanos);
            assert_eq!(read_time(&text).map(units::time), Some(text));
        }
        for nano in [0, 1, 15_234, 2_100_000, 98_320_000_000] {
            let text = units::usd(nano);
            assert_eq!(read_usd(&text).map(units::usd), Some(text));
        }
        assert_eq!(scaled("1.5", 10), Some(15));
        assert_eq!(scaled("99999999999999999999", 1), None);
        assert_eq!(scaled("-1", 1), None);
        assert_eq!(scaled(".5", 10), None);
    }

    #[test]
    fn formulas_end_outside_of_brackets() {
        let cases = [
            ("sum(x, axis=1) f32[n]", "sum(x, axis=1)", "f32[n]"),
            ("s[:, newaxis] f32[n, 1]", "s[:, newaxis]", "f32[n, 1]"),
            (
                "f(x, type='a) b') f32[n], i64[2]",
                "f(x, type='a) b')",
                "f32[n], i64[2]",
            ),
            ("alone()", "alone()", ""),
            (
                "command(argv=['awk', '''a) b''']) text",
                "command(argv=['awk', '''a) b'''])",
                "text",
            ),
        ];
        for (text, formula, types) in cases {
            assert_eq!(split_formula(text), (formula, types));
        }
    }
}
