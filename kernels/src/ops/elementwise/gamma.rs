//! The digamma function, which no library in use has.

use std::f64::consts::PI;

/// The zero above 0, in two parts, and the derivatives of the function there over factorials, from
/// the first: computed with mpmath in 300 bits.
const ZERO: (f64, f64) = (1.4616321449683622, 9.549995429965697e-17);
const AT_ZERO: [f64; 24] = [
    0.9676722454476212,
    -0.4427631689835921,
    0.258499760955651,
    -0.16394270544240652,
    0.10782405069126237,
    -0.07219956125645471,
    0.04880428816414311,
    -0.03316112647484736,
    0.022597648232218104,
    -0.01542476590494896,
    0.010538791616612175,
    -0.007204534386356869,
    0.004926781395729853,
    -0.003369801655439328,
    0.002305126326734928,
    -0.0015769367714301972,
    0.0010788252019162967,
    -0.0007380709389960052,
    0.000504953265834602,
    -0.0003454680251063077,
    0.00023635601564027053,
    -0.00016170622091974803,
    0.0001106337276874741,
    -7.569179582195066e-05,
];

/// `B(2k) / 2k` of the Bernoulli numbers: Abramowitz and Stegun, 6.3.18.
const SERIES: [f64; 7] = [
    1.0 / 12.0,
    -1.0 / 120.0,
    1.0 / 252.0,
    -1.0 / 240.0,
    1.0 / 132.0,
    -691.0 / 32760.0,
    1.0 / 12.0,
];

/// Where the series is exact enough.
const LARGE: f64 = 10.0;

/// The logarithmic derivative of the gamma function.
pub(super) fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return -f64::INFINITY.copysign(x);
    }
    if x < 0.0 {
        // Abramowitz and Stegun, 6.3.7; the tangent has a period of 1, and distances are exact.
        let distance = x - x.round();
        return match distance == 0.0 || x.is_infinite() {
            true => f64::NAN,
            false => digamma(1.0 - x) - PI / (PI * distance).tan(),
        };
    }
    let distance = (x - ZERO.0) - ZERO.1;
    if distance.abs() < 0.25 {
        let sum = |sum: f64, term: &f64| sum * distance + term;
        return distance * AT_ZERO.iter().rev().fold(0.0, sum);
    }
    let steps = (LARGE - x).ceil().max(0.0) as u32;
    let recurrence: f64 = (0..steps)
        .rev()
        .map(|step| 1.0 / (x + f64::from(step)))
        .sum();
    let x = x + f64::from(steps);
    let square = 1.0 / (x * x);
    let sum = |sum: f64, term: &f64| sum * square + term;
    let series = square * SERIES.iter().rev().fold(0.0, sum);
    x.ln() - 0.5 / x - series - recurrence
}
