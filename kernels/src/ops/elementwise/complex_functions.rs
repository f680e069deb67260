//! Functions of complex numbers, by formulas that neither leave the range on the way nor subtract
//! what is nearly equal. The inverses are those of Kahan, "Branch cuts for complex elementary
//! functions", 1987, and so are the sides of the branch cuts.

use num_complex::Complex;
use num_traits::{AsPrimitive, Float, FloatConst};

/// Smith's algorithm, which leaves the range of the parts only where the quotient does.
pub(super) fn complex_div<T: Float>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    if b.re.abs() >= b.im.abs() {
        if b.re == T::zero() && b.im == T::zero() {
            return Complex::new(a.re / b.re.abs(), a.im / b.re.abs());
        }
        let ratio = b.im / b.re;
        let scale = T::one() / (b.re + b.im * ratio);
        Complex::new((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale)
    } else {
        let ratio = b.re / b.im;
        let scale = T::one() / (b.im + b.re * ratio);
        Complex::new((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale)
    }
}

/// The square root with a real part that is not negative.
pub(super) fn sqrt<T: Float>(z: Complex<T>) -> Complex<T> {
    if z.im.is_infinite() {
        return Complex::new(T::infinity(), z.im);
    }
    if z.re == T::zero() && z.im == T::zero() {
        return Complex::new(T::zero(), z.im);
    }
    // The larger part of the root is the root of (|re| + |z|) / 2.
    let two = T::one() + T::one();
    let large = z.re.abs() > T::one() || z.im.abs() > T::one();
    let (down, up) = if large {
        (two * two * two, two)
    } else {
        (two, T::one())
    };
    let root = ((z.re / down).abs() + (z / down).norm()).sqrt() * up;
    let other = z.im / (root * two);
    if z.re >= T::zero() {
        Complex::new(root, other)
    } else {
        Complex::new(other.abs(), root.copysign(z.im))
    }
}

/// `z / |z|`, and 0 of 0.
pub(super) fn sign<T: Float>(z: Complex<T>) -> Complex<T> {
    if z.re == T::zero() && z.im == T::zero() {
        return Complex::new(T::zero(), T::zero());
    }
    // In the middle of the range, where the modulus is neither infinite nor rounded to few bits.
    let size = z.re.abs().max(z.im.abs());
    let z = if size.is_finite() { z / size } else { z };
    z / z.norm()
}

/// `exp(z) - 1`.
pub(super) fn exp_m1<T: Float>(z: Complex<T>) -> Complex<T> {
    let two = T::one() + T::one();
    let half_sine = (z.im / two).sin();
    let re = z.re.exp_m1() * z.im.cos() - two * half_sine * half_sine;
    Complex::new(re, z.re.exp() * z.im.sin())
}

/// The logarithm, exact where the modulus is near 1.
pub(super) fn ln<T: Float>(z: Complex<T>) -> Complex<T> {
    let (one, two) = (T::one(), T::one() + T::one());
    let (large, small) = (z.re.abs().max(z.im.abs()), z.re.abs().min(z.im.abs()));
    let re = if large > one / two && large < two {
        ((large - one) * (large + one) + small * small).ln_1p() / two
    } else {
        z.re.hypot(z.im).ln()
    };
    Complex::new(re, z.im.atan2(z.re))
}

/// `log(1 + z)`.
pub(super) fn ln_1p<T: Float>(z: Complex<T>) -> Complex<T> {
    let two = T::one() + T::one();
    let near = z.re.abs() < T::one() / two && z.im.abs() < T::one() / two;
    let re = if near {
        (z.re * (two + z.re) + z.im * z.im).ln_1p() / two
    } else {
        (z.re + T::one()).hypot(z.im).ln()
    };
    Complex::new(re, z.im.atan2(z.re + T::one()))
}

/// The hyperbolic tangent: the sums of exponentials of the textbook would overflow.
pub(super) fn tanh<T: Float>(z: Complex<T>) -> Complex<T> {
    let (one, tangent, sine) = (T::one(), z.im.tan(), z.re.sinh());
    let secant = one + tangent * tangent;
    let scale = one + secant * sine * sine;
    if scale.is_infinite() && !z.re.is_nan() {
        return Complex::new(one.copysign(z.re), T::zero().copysign(tangent));
    }
    let cosine = (one + sine * sine).sqrt();
    Complex::new(secant * cosine * sine / scale, tangent / scale)
}

pub(super) fn tan<T: Float>(z: Complex<T>) -> Complex<T> {
    over_i(tanh(times_i(z)))
}

pub(super) fn asin<T: Real>(z: Complex<T>) -> Complex<T> {
    let (below, above) = (sqrt(one_minus(z)), sqrt(one_plus(z)));
    let re = z.re.atan2((below * above).re);
    Complex::new(re, (below.conj() * above).im.arsinh())
}

pub(super) fn acos<T: Real>(z: Complex<T>) -> Complex<T> {
    let (below, above) = (sqrt(one_minus(z)), sqrt(one_plus(z)));
    let two = T::one() + T::one();
    let re = two * below.re.atan2(above.re);
    Complex::new(re, (above.conj() * below).im.arsinh())
}

pub(super) fn asinh<T: Real>(z: Complex<T>) -> Complex<T> {
    over_i(asin(times_i(z)))
}

pub(super) fn acosh<T: Real>(z: Complex<T>) -> Complex<T> {
    let one = T::one();
    let below = sqrt(Complex::new(z.re - one, z.im));
    let above = sqrt(one_plus(z));
    let re = (below.conj() * above).re.arsinh();
    Complex::new(re, (one + one) * below.im.atan2(above.re))
}

pub(super) fn atan<T: Real>(z: Complex<T>) -> Complex<T> {
    over_i(atanh(times_i(z)))
}

/// Where the imaginary part lies on a branch cut its sign says from which side.
pub(super) fn atanh<T: Real>(z: Complex<T>) -> Complex<T> {
    let (one, two) = (T::one(), T::one() + T::one());
    // An odd function of conjugates: computed where the real part is not negative.
    let turn = one.copysign(z.re);
    let (x, y) = (z.re.abs(), -(z.im * turn));
    let half_pi = T::FRAC_PI_2();
    let (re, im) = if x.max(y.abs()) > T::max_value().sqrt() / (two * two) {
        let re = if x.is_infinite() || y.is_infinite() {
            T::zero()
        } else {
            let size = x.hypot(y);
            x / size / size
        };
        (re, half_pi.copysign(y))
    } else {
        let below = one - x;
        let square = y * y;
        let re = (two * two * x / (below * below + square)).ln_1p() / (two * two);
        (re, (two * y).atan2(below * (one + x) - square) / two)
    };
    Complex::new(re * turn, -(im * turn))
}

/// A part of a complex number.
pub(super) trait Real: Float + FloatConst {
    /// The inverse hyperbolic sine.
    fn arsinh(self) -> Self;
}

impl<T: Float + FloatConst + AsPrimitive<f64>> Real for T
where
    f64: AsPrimitive<T>,
{
    fn arsinh(self) -> T {
        libm::asinh(self.as_()).as_()
    }
}

// Products and sums part by part, which keep the signs of zeros.

fn times_i<T: Float>(z: Complex<T>) -> Complex<T> {
    Complex::new(-z.im, z.re)
}

fn over_i<T: Float>(z: Complex<T>) -> Complex<T> {
    Complex::new(z.im, -z.re)
}

fn one_plus<T: Float>(z: Complex<T>) -> Complex<T> {
    Complex::new(T::one() + z.re, z.im)
}

fn one_minus<T: Float>(z: Complex<T>) -> Complex<T> {
    Complex::new(T::one() - z.re, -z.im)
}
