//! Numbers with units, to three significant digits.
//!
//! Integer arithmetic only, so that the same number gives the same bytes on every machine.

use haul_ir::cost::Nanos;
use haul_ir::plan::Estimates;

const TIMES: [(u128, &str); 6] = [
    (1, "ns"),
    (1_000, "us"),
    (1_000_000, "ms"),
    (1_000_000_000, "s"),
    (60_000_000_000, "min"),
    (3_600_000_000_000, "h"),
];
const SI: [&str; 7] = ["", " k", " M", " G", " T", " P", " E"];
const IEC: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// A time: `1.77 ms`.
pub fn time(nanos: Nanos) -> String {
    let nanos = u128::from(nanos);
    let within = |&(unit, _): &(u128, &str)| nanos >= unit;
    let at = TIMES.iter().rposition(within).unwrap_or(0);
    // 999.7 us is 1.00 ms, and 59.97 s is 1.00 min: three digits are read back as they print.
    let is_next = match at {
        0..3 => rounded(nanos, TIMES[at].0) >= 1000,
        3 | 4 => rounded(nanos, TIMES[at].0 / 10) >= 600,
        _ => false,
    };
    if is_next {
        return format!("1.00 {}", TIMES[at + 1].1);
    }
    let (unit, name) = TIMES[at];
    match at {
        0 => format!("{nanos} ns"),
        _ => format!("{} {name}", significant(nanos, unit)),
    }
}

/// A time, or `unknown`.
pub fn time_or_unknown(nanos: Option<Nanos>) -> String {
    nanos.map_or_else(|| "unknown".to_owned(), time)
}

/// A total of a plan: `unknown`, or `at least` so much where a stage is unknown.
pub(super) fn total(total: Option<u64>, of: &Estimates, print: fn(u64) -> String) -> String {
    match total {
        None => "unknown".to_owned(),
        Some(total) if of.unknown.is_empty() => print(total),
        Some(total) => format!("at least {}", print(total)),
    }
}

/// The makespan with every op on CPUs; `impossible` where there is none beside a makespan.
pub(super) fn all_on_cpu(of: &Estimates) -> String {
    match (of.makespan, of.all_on_cpu) {
        (Some(_), None) => "impossible".to_owned(),
        (_, all_on_cpu) => total(all_on_cpu, of, time),
    }
}

/// A share of the makespan, in per mille: `unknown`, or `at most` so much where a stage is unknown.
pub(super) fn share(share: Option<u32>, of: &Estimates, print: fn(u32) -> String) -> String {
    match share {
        None => "unknown".to_owned(),
        Some(share) if share == 0 || of.unknown.is_empty() => print(share),
        Some(share) => format!("at most {}", print(share)),
    }
}

/// A count with an SI prefix: `16.4 k`.
pub fn count(count: u128) -> String {
    let (number, prefix) = scaled(count, 1000);
    format!("{number}{}", SI[prefix])
}

/// Bytes with an IEC unit: `32.0 MiB`.
pub fn bytes(bytes: u128) -> String {
    let (number, prefix) = scaled(bytes, 1024);
    format!("{number} {}", IEC[prefix])
}

/// Bytes without loss, in the unit of the smallest number: `8 GiB`, `500 MB`, `1000001 B`.
pub fn exact_bytes(bytes: u64) -> String {
    let decimal = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let powers = (0..IEC.len() as u32).flat_map(|power| {
        let binary = (1 << (10 * power), IEC[power as usize]);
        [binary, (1000_u64.pow(power), decimal[power as usize])]
    });
    let divides = |(unit, _): &(u64, &str)| bytes >= *unit && bytes.is_multiple_of(*unit);
    let (unit, name) = powers
        .filter(divides)
        .max_by_key(|(unit, _)| *unit)
        .unwrap_or((1, "B"));
    format!("{} {name}", bytes / unit)
}

/// A time without loss, in the largest unit of which it is a whole number: `30 s`, `1500 ms`.
pub fn exact_time(nanos: u64) -> String {
    let units = [
        (3_600_000_000_000, "h"),
        (60_000_000_000, "min"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "us"),
    ];
    let divides = |(unit, _): &(u64, &str)| nanos > 0 && nanos.is_multiple_of(*unit);
    let (unit, name) = units.into_iter().find(divides).unwrap_or((1, "ns"));
    format!("{} {name}", nanos / unit)
}

/// Money: `0.00210 USD`.
pub fn usd(nano: u64) -> String {
    format!("{} USD", significant(u128::from(nano), 1_000_000_000))
}

/// `numerator / denominator` to three significant digits, without an exponent; `inf` for
/// something over nothing.
pub fn significant(numerator: u128, denominator: u128) -> String {
    if numerator == 0 {
        return "0".to_owned();
    }
    if denominator == 0 {
        return "inf".to_owned();
    }
    // Room to multiply by ten; what is cut off is far below the third digit.
    let bits = 128 - denominator.leading_zeros();
    let shift = bits.saturating_sub(100);
    let (mut scaled, denominator) = (numerator >> shift, denominator >> shift);
    let mut decimals = 0;
    while scaled < 100 * denominator && decimals < MAX_DECIMALS {
        scaled *= 10;
        decimals += 1;
    }
    let mut digits = rounded(scaled, denominator);
    if digits >= 1000 && decimals > 0 {
        digits /= 10;
        decimals -= 1;
    }
    if decimals == 0 || digits == 0 {
        return digits.to_string();
    }
    let text = format!("{digits:0width$}", width = decimals + 1);
    let (whole, fraction) = text.split_at(text.len() - decimals);
    format!("{whole}.{fraction}")
}

const MAX_DECIMALS: usize = 12;

fn rounded(numerator: u128, denominator: u128) -> u128 {
    let rest = numerator % denominator;
    numerator / denominator + u128::from(rest >= denominator - rest)
}

fn scaled(number: u128, base: u128) -> (String, usize) {
    let mut unit: u128 = 1;
    let mut prefix = 0;
    while prefix < 6 && rounded(number, unit) >= base {
        unit *= base;
        prefix += 1;
    }
    let text = match prefix {
        0 => number.to_string(),
        _ => significant(number, unit),
    };
    (text, prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let cases = [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 us"),
            (1_774_999, "1.77 ms"),
            (1_775_000, "1.78 ms"),
            (999_499, "999 us"),
            (999_500, "1.00 ms"),
            (59_940_000_000, "59.9 s"),
            (59_970_000_000, "1.00 min"),
            (3_597_000_000_000, "1.00 h"),
            (60_000_000_000, "1.00 min"),
            (5_400_000_000_000, "1.50 h"),
            (u64::MAX, "5124096 h"),
        ];
        for (nanos, text) in cases {
            assert_eq!(time(nanos), text);
        }
    }

    #[test]
    fn counts_and_bytes() {
        let cases = [
            (0, "0", "0 B"),
            (999, "999", "999 B"),
            (1000, "1.00 k", "1000 B"),
            (1024, "1.02 k", "1.00 KiB"),
            (999_500, "1.00 M", "976 KiB"),
            (33_554_432, "33.6 M", "32.0 MiB"),
            (1 << 70, "1181 E", "1024 EiB"),
        ];
        for (number, as_count, as_bytes) in cases {
            assert_eq!((&*count(number), &*bytes(number)), (as_count, as_bytes));
        }
        assert_eq!(count(u128::MAX), "340282366920938463463 E");
    }

    #[test]
    fn exact() {
        assert_eq!(exact_bytes(0), "0 B");
        assert_eq!(exact_bytes(8 << 30), "8 GiB");
        assert_eq!(exact_bytes(3 << 29), "1536 MiB");
        assert_eq!(exact_bytes(2_000_000_000), "2 GB");
        assert_eq!(exact_bytes(1_000), "1 kB");
        assert_eq!(exact_bytes(4_000_000_001), "4000000001 B");
    }

    #[test]
    fn ratios() {
        let cases = [
            (1, 8, "0.125"),
            (1, 3, "0.333"),
            (9_999, 10_000, "1.00"),
            (561, 10, "56.1"),
            (12_345, 1, "12345"),
            (1, 1_000_000, "0.00000100"),
            (1, 0, "inf"),
            (0, 0, "0"),
            (1 << 126, 1 << 125, "2.00"),
            (1, u128::MAX, "0"),
        ];
        for (numerator, denominator, text) in cases {
            assert_eq!(significant(numerator, denominator), text);
        }
        assert_eq!(usd(2_100_000), "0.00210 USD");
    }
}
