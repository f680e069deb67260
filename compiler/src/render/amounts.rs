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
    let (unit, name) = unit(bytes, unit_of, like);
    exact(bytes, unit, name).unwrap_or_else(|| {
        let scaled = |decimals: u32| u128::from(bytes) * 10u128.pow(decimals);
        let rounded = |decimals: u32| (scaled(decimals) + unit / 2) / unit;
        let decimals = (0..=4).rev().find(|decimals| rounded(*decimals) < 10_000);
        let decimals = decimals.unwrap_or(0);
        format!("about {} {name}", decimal(rounded(decimals), decimals))
    })
}

/// An amount in its own unit.
pub(crate) fn own_amount(bytes: u64) -> String {
    amount(bytes, bytes, bytes)
}

/// The largest amount that reads well and is not more, in the kind of unit that another amount is
/// written in: to paste into a file.
pub(crate) fn at_most(bytes: u64, like: u64) -> String {
    let (unit, name) = unit(bytes, bytes, like);
    exact(bytes, unit, name).unwrap_or_else(|| {
        let (base, _) = units_of(like);
        let mut unit = 1u64;
        while bytes / unit >= MOST {
            unit *= base;
        }
        amount(bytes / unit * unit, unit, like)
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

/// The unit, and its name, of bytes in the unit of another amount, of the kind of a third.
fn unit(bytes: u64, unit_of: u64, like: u64) -> (u128, &'static str) {
    let (base, names) = units_of(like);
    let unit = |power: usize| u128::from(base).pow(power as u32);
    let most = u128::from(unit_of).min(u128::from(bytes) * 10);
    let power = (0..names.len()).rev().find(|power| unit(*power) <= most);
    let power = power.unwrap_or(0);
    (unit(power), names[power])
}

/// Bytes in a unit without loss, where three decimals and few digits do.
fn exact(bytes: u64, unit: u128, name: &str) -> Option<String> {
    let scaled = |decimals: u32| u128::from(bytes) * 10u128.pow(decimals);
    let is_exact = |decimals: &u32| scaled(*decimals).is_multiple_of(unit);
    let decimals = (0..=3).find(is_exact)?;
    let number = scaled(decimals) / unit;
    (decimals == 0 || number < 10_000).then(|| format!("{} {name}", decimal(number, decimals)))
}

/// The base and the names of the kind of unit in which an amount is written.
fn units_of(bytes: u64) -> (u64, [&'static str; 7]) {
    let text = exact_bytes(bytes);
    match text.ends_with('B') && !text.ends_with("iB") && !text.ends_with(" B") {
        true => (1000, DECIMAL),
        false => (1024, BINARY),
    }
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
        assert_eq!(at_most(256 * GIB, 300 * GIB), "256 GiB");
        assert_eq!(at_most(239_900_000_000, 240 * GB), "239.9 GB");
        // 67,328,512,000 bytes are 64,209.4 MiB, and 65,750,500 KiB.
        assert_eq!(at_most(67_328_512_000, 100 * GIB), "64209 MiB");
        assert_eq!(at_most(67_328_512_001, 100 * GB), "67328 MB");
        assert_eq!(at_most(u64::MAX, u64::MAX), "16383 PiB");
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
