//! Exponentials and logarithms that a compiler can vectorise: no branches, no calls.
//!
//! In `f32` the polynomials are those of Moshier's Cephes library, within 2 units in the last
//! place over the whole range; in `f64` the platform's functions are taken.

/// A float with such functions.
pub(crate) trait Math: num_traits::Float + 'static {
    /// e to that power.
    fn exp(self) -> Self;

    /// The natural logarithm.
    fn log(self) -> Self;

    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
}

impl Math for f64 {
    fn exp(self) -> f64 {
        f64::exp(self)
    }

    fn log(self) -> f64 {
        f64::ln(self)
    }

    fn tanh(self) -> f64 {
        f64::tanh(self)
    }
}

/// 1.5 * 2**23: adding it moves the units of a small number into the last bits.
const ROUND: f32 = 12_582_912.0;

/// ln 2 in two parts; the first has so few bits that its products with exponents are exact.
const LN2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);

/// A polynomial with its coefficients from the highest power down: an expression, since a loop
/// in a loop is not vectorised.
macro_rules! polynomial {
    ($x:expr, $highest:expr $(, $coefficient:expr)*) => {{
        let p = $highest;
        $(let p = p * $x + $coefficient;)*
        p
    }};
}

impl Math for f32 {
    #[inline(always)]
    fn exp(self) -> f32 {
        // Beyond these all is infinite or zero. NaN passes.
        let x = if self > 89.0 { 89.0 } else { self };
        let x = if x < -104.0 { -104.0 } else { x };
        // x = n ln 2 + r, |r| <= ln 2 / 2.
        let shifted = x * std::f32::consts::LOG2_E + ROUND;
        let n = shifted - ROUND;
        let r = x - n * LN2.0 - n * LN2.1;
        let mut p = 1.987_569_2e-4;
        for coefficient in [
            1.398_199_9e-3,
            8.333_452e-3,
            4.166_579_6e-2,
            1.666_666_5e-1,
            0.5,
        ] {
            p = p * r + coefficient;
        }
        let p = p * r * r + r + 1.0;
        // 2**n in two factors, since n may lie beyond the exponents of f32.
        let n = (shifted.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
        let (early, late) = (n >> 1, n.wrapping_sub(n >> 1));
        p * power_of_two(early) * power_of_two(late)
    }

    #[inline(always)]
    fn log(self) -> f32 {
        // Subnormal numbers are scaled into the normal range.
        let tiny = self < f32::MIN_POSITIVE;
        let x = if tiny { self * 8_388_608.0 } else { self };
        let shift = if tiny { 23.0 } else { 0.0 };
        // x = 2**n m, m from sqrt(1/2) to sqrt(2).
        let bits = x.to_bits() as i32;
        let n = bits.wrapping_sub(std::f32::consts::FRAC_1_SQRT_2.to_bits() as i32) >> 23;
        let m = f32::from_bits(bits.wrapping_sub(n << 23) as u32) - 1.0;
        let n = n as f32 - shift;
        let square = m * m;
        let p = polynomial!(
            m,
            7.037_683_6e-2,
            -1.151_461e-1,
            1.167_699_9e-1,
            -1.242_014_1e-1,
            1.424_932_3e-1,
            -1.666_805_8e-1,
            2.000_071_5e-1,
            -2.499_999_4e-1,
            3.333_333e-1
        );
        let small = p * m * square + n * LN2.1 - 0.5 * square;
        let result = m + small + n * LN2.0;
        let result = if self == f32::INFINITY { self } else { result };
        let result = if self == 0.0 {
            f32::NEG_INFINITY
        } else {
            result
        };
        // Also where self is NaN.
        if self >= 0.0 { result } else { f32::NAN }
    }

    #[inline(always)]
    fn tanh(self) -> f32 {
        let square = self * self;
        let p = polynomial!(
            square,
            -5.704_988_7e-3,
            2.063_909e-2,
            -5.373_971_6e-2,
            1.333_144_2e-1,
            -3.333_328e-1
        );
        let near = p * square * self + self;
        let far = 1.0 - 2.0 / (Math::exp(2.0 * self.abs()) + 1.0);
        if self.abs() < 0.625 {
            near
        } else {
            far.copysign(self)
        }
    }
}

/// 2 to a power from -126 to 127.
#[inline(always)]
fn power_of_two(power: i32) -> f32 {
    f32::from_bits((power.wrapping_add(127) << 23) as u32)
}

#[cfg(test)]
mod tests {
    use super::Math;

    /// Distance in units of the last place of the exact result; 0 where both are the same.
    fn ulps(got: f32, want: f64) -> f64 {
        let rounded = want as f32;
        if got == rounded || (got.is_nan() && want.is_nan()) {
            return 0.0;
        }
        let unit = f64::from(rounded.abs().next_up()) - f64::from(rounded.abs());
        (f64::from(got) - want).abs() / unit
    }

    /// The largest error over every 1009th float, which reaches all exponents and both signs.
    fn largest_error(f: fn(f32) -> f32, exact: fn(f64) -> f64) -> (f64, f32) {
        let floats = (0..=u32::MAX).step_by(1009).map(f32::from_bits);
        let errors = floats.map(|x| (ulps(f(x), exact(x.into())), x));
        errors.fold(
            (0.0, 0.0),
            |worst, error| if error.0 > worst.0 { error } else { worst },
        )
    }

    #[test]
    fn errors_are_small() {
        for (name, f, exact) in [
            (
                "exp",
                Math::exp as fn(f32) -> f32,
                f64::exp as fn(f64) -> f64,
            ),
            ("log", Math::log, f64::ln),
            ("tanh", Math::tanh, f64::tanh),
        ] {
            let (error, at) = largest_error(f, exact);
            assert!(error < 2.0, "{name}({at}) is {error} units off");
        }
    }
}
