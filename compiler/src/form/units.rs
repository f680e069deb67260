//! Quantities with units, as files write them: `19.5 TFLOP/s`, `80 GB`, `10 us`, `0.05 USD`.

use serde::Deserialize;

/// A unit and how many of the base unit it is.
type Unit = (&'static str, u64);

const KILO: u64 = 1_000;
const MEGA: u64 = 1_000 * KILO;
const GIGA: u64 = 1_000 * MEGA;
const TERA: u64 = 1_000 * GIGA;

/// Declares quantities, each a whole number of its base unit that is read from text.
macro_rules! quantities {
    ($($(#[$doc:meta])* $name:ident: $units:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
        #[serde(try_from = "String")]
        pub(crate) struct $name(pub(crate) u64);

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                parse(&text, &$units).map(Self)
            }
        }
    )*};
}

quantities! {
    /// Bytes.
    Bytes: [
        ("B", 1), ("kB", KILO), ("MB", MEGA), ("GB", GIGA), ("TB", TERA),
        ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
    ];
    /// Bytes a second.
    Bandwidth: [("MB/s", MEGA), ("GB/s", GIGA), ("TB/s", TERA)];
    /// Operations a second.
    Rate: [("MFLOP/s", MEGA), ("GFLOP/s", GIGA), ("TFLOP/s", TERA)];
    /// Operations.
    Flops: [("FLOP", 1), ("MFLOP", MEGA), ("GFLOP", GIGA)];
    /// Nanoseconds.
    Time: [
        ("ns", 1), ("us", KILO), ("ms", MEGA), ("s", GIGA), ("min", 60 * GIGA), ("h", 3600 * GIGA),
    ];
    /// Thousandths of a US dollar for an hour.
    Price: [("USD/h", KILO)];
    /// Billionths of a US dollar.
    Money: [("USD", GIGA)];
    /// Hundredths of a per cent.
    Percent: [("%", 100)];
}

/// `number unit` in the base unit, exactly.
fn parse(text: &str, units: &[Unit]) -> Result<u64, String> {
    let (number, unit) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let Some((_, scale)) = units.iter().find(|(name, _)| *name == unit.trim()) else {
        let known: Vec<_> = units.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "`{text}` has no unit that is known here: write a number, a blank and one of {}",
            known.join(", ")
        ));
    };
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !is_digits(whole) || !is_digits(decimals) {
        return Err(format!("`{text}` does not begin with a decimal number"));
    }
    scaled(whole, decimals, *scale)
        .ok_or_else(|| format!("`{text}` is too large, or no whole number of its smallest unit"))
}

/// `whole.decimals * scale`, where it is whole and fits.
fn scaled(whole: &str, decimals: &str, scale: u64) -> Option<u64> {
    let decimals = decimals.trim_end_matches('0');
    let divisor = 10u128.checked_pow(u32::try_from(decimals.len()).ok()?)?;
    let digits: u128 = format!("{whole}{decimals}").parse().ok()?;
    let product = digits.checked_mul(u128::from(scale))?;
    let exact = product.is_multiple_of(divisor);
    exact.then_some(product / divisor)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::{Bandwidth, Bytes, Price, Rate, Time};

    #[test]
    fn quantities_are_exact() {
        let bytes = |text: &str| Bytes::try_from(text.to_owned()).map(|b| b.0);
        assert_eq!(bytes("80 GB"), Ok(80_000_000_000));
        assert_eq!(bytes("1.5 GiB"), Ok(1_610_612_736)); // 3 * 2^29
        assert_eq!(bytes("18446744073709551615 B"), Ok(u64::MAX));
        assert_eq!(
            Rate::try_from("47.5 GFLOP/s".to_owned()),
            Ok(Rate(47_500_000_000))
        );
        assert_eq!(
            Bandwidth::try_from("2.039 TB/s".to_owned()),
            Ok(Bandwidth(2_039_000_000_000))
        );
        assert_eq!(Time::try_from("10 us".to_owned()), Ok(Time(10_000)));
        assert_eq!(Price::try_from("1.39 USD/h".to_owned()), Ok(Price(1_390)));
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for text in [
            "",
            "80",
            "80GB",
            "80 gb",
            "GB",
            "-1 GB",
            "1e3 GB",
            "1.2.3 GB",
            ". GB",
            "0.5 B",
            "0.1 GiB",
            "18446744073709551616 B",
            "99999999999999999999999999999999999999999 B",
        ] {
            assert!(Bytes::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
