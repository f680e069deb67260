//! Amounts of memory as an author would write them, and a few words around numbers.

use super::units::exact_bytes;

/// More digits than these do not read well.
const MOST: u64 = 100_000;

const BINARY: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const DECIMAL: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];

/// Bytes in the unit of another amount (a smaller one where they are less than a tenth of it), of
/// powers of ten where a third amount is written in these: `239.9 GB`. Exact where that is short,
/// else to four digits with `about`.
pub(crate) fn amount(bytes: u64, unit_of: u64, like: u64) -> String {
    let (base, names) = match is_decimal(like) {
        true => (1000u128, DECIMAL),
        false => (1024, BINARY),
    };
    let bytes = u128::from(bytes);
    let unit = |power: usize| base.pow(power as u32);
    let fits = |power: &usize| unit(*power) <= u128::from(unit_of) && unit(*power) <= bytes * 10;
    let power = (0..names.len()).rev().find(fits).unwrap_or(0);
    let (unit, name) = (unit(power), names[power]);
    if bytes.is_multiple_of(unit) {
        return format!("{} {name}", bytes / unit);
    }
    let scaled = |decimals: u32| bytes * 10u128.pow(decimals);
    let is_exact = |decimals: &u32| scaled(*decimals).is_multiple_of(unit);
    if let Some(decimals) = (1..=3).find(is_exact)
        && scaled(decimals) / unit < 10_000
    {
        return format!("{} {name}", decimal(scaled(decimals) / unit, decimals));
    }
    let rounded = |decimals: u32| (scaled(decimals) + unit / 2) / unit;
    let decimals = (0..=4).rev().find(|decimals| rounded(*decimals) < 10_000);
    let decimals = decimals.unwrap_or(0);
    format!("about {} {name}", decimal(rounded(decimals), decimals))
}

/// An amount in its own unit.
pub(crate) fn own_amount(bytes: u64) -> String {
    amount(bytes, bytes, bytes)
}

/// The largest amount that reads well and is not more: to paste into a file.
pub(crate) fn at_most(bytes: u64) -> String {
    short(bytes).unwrap_or_else(|| {
        let power = power(bytes);
        exact_bytes((bytes >> power) << power)
    })
}

/// `1 cpu`, `2 cpus`.
pub(crate) fn several(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A device with its article: `an A100-80GB`, `a T4`. Models are spelled letter by letter.
pub(crate) fn a(device: &str) -> String {
    let is_spelled = |c: char| "AEFHILMNORSX".contains(c.to_ascii_uppercase());
    match device.starts_with(is_spelled) {
        true => format!("an {device}"),
        false => format!("a {device}"),
    }
}

/// Without loss, where that takes few digits.
fn short(bytes: u64) -> Option<String> {
    let text = exact_bytes(bytes);
    let digits = text.split(' ').next()?.len();
    (digits <= 5).then_some(text)
}

/// The power of two of the smallest binary unit in which so many bytes take few digits.
fn power(bytes: u64) -> u32 {
    let mut power = 0;
    while bytes >> power >= MOST {
        power += 10;
    }
    power
}

fn is_decimal(bytes: u64) -> bool {
    let text = exact_bytes(bytes);
    text.ends_with('B') && !text.ends_with("iB") && !text.ends_with(" B")
}

/// `2399` with one decimal is `239.9`; zeros at its end are left out.
fn decimal(number: u128, decimals: u32) -> String {
    let unit = 10u128.pow(decimals);
    let text = format!(
        "{}.{:0width$}",
        number / unit,
        number % unit,
        width = decimals as usize
    );
    match decimals {
        0 => number.to_string(),
        _ => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1_000_000_000;
    const GIB: u64 = 1 << 30;

    #[test]
    fn amounts_are_written_as_authors_do() {
        // 240 GB are asked for, 239.9 are there: 0.1 are missing.
        assert_eq!(
            amount(239_900_000_000, 239_900_000_000, 240 * GB),
            "239.9 GB"
        );
        assert_eq!(amount(100_000_000, 239_900_000_000, 240 * GB), "0.1 GB");
        assert_eq!(amount(1_000_000, 239_900_000_000, 240 * GB), "1 MB");
        // 2 TiB asked for, 512 GiB there.
        assert_eq!(amount(512 * GIB, 512 * GIB, 2048 * GIB), "512 GiB");
        assert_eq!(amount(1536 * GIB, 512 * GIB, 2048 * GIB), "1536 GiB");
        // 256 GiB are 274,877,906,944 bytes.
        assert_eq!(amount(256 * GIB, 256 * GIB, 300 * GB), "about 274.9 GB");
        assert_eq!(own_amount(240_500_000_000), "240.5 GB");
        assert_eq!(own_amount(3 << 29), "1.5 GiB");
        assert_eq!(own_amount(17_179_869_189), "about 16 GiB");
        assert_eq!(own_amount(0), "0 B");
        assert_eq!(own_amount(u64::MAX), "about 16 EiB");
    }

    #[test]
    fn amounts_to_paste_fit() {
        assert_eq!(at_most(256 * GIB), "256 GiB");
        // 67,328,512,000 bytes are 64,209.4 MiB, and 65,750,500 KiB.
        assert_eq!(at_most(67_328_512_000), "64209 MiB");
    }

    #[test]
    fn articles_follow_the_letter() {
        let names = [
            "A100-80GB",
            "L4",
            "H100-SXM",
            "T4",
            "V100-32GB",
            "RTX4090",
            "B200",
            "MI300X",
        ];
        let articles = names.map(|name| a(name).split(' ').next().unwrap().len());
        assert_eq!(articles, [2, 2, 2, 1, 1, 2, 1, 2]);
    }
}
