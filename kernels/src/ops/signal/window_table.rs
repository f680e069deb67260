//! The windows. Formulas and weights: Harris, "On the use of windows for harmonic analysis with the
//! discrete Fourier transform" (1978); Nuttall, "Some windows with very good sidelobe behavior"
//! (1981); D'Antona and Ferrero, "Digital Signal Processing for Measurement Systems" (2006), for
//! the flat top.

use std::f64::consts::PI;

use haul_ir::op::{CpuKernel, Example, Family, GpuKernel, ParamKind};

use super::windows::{N, PARAMS, PERIODIC, bessel_i0, cosines, fill, infer, infer_shaped, shaping};
use crate::ops::array_op::{ArrayOp, attribute, required, work_per_element};
use crate::ops::moves::attrs::DTYPE;

macro_rules! window {
    (
        $name:literal, $doc:literal, $params:expr, $infer:expr, $flops:literal, $kernel:expr,
        $formula:literal = $type:literal $weights:literal
    ) => {
        ArrayOp {
            name: $name,
            doc: $doc,
            params: $params,
            rule: "-> [n]",
            family: Family::Elementwise,
            infer: $infer,
            work: |call, outputs| work_per_element($flops, call, outputs),
            work_formula: concat!($flops, " flops an element"),
            cpu: CpuKernel::Array($kernel),
            gpu: GpuKernel::Own,
            examples: &[Example {
                formula: $formula,
                given: &[],
                result: ($type, $weights),
            }],
        }
    };
}

/// A sum of cosines with these weights.
macro_rules! sum_of_cosines {
    ($($weight:literal),*) => {
        |call| fill(call, |place| cosines(&[$($weight),*], place))
    };
}

pub(super) static HANN: ArrayOp = window!(
    "hann_window",
    "The Hann window: `0.5 - 0.5*cos(2*pi*i / n)`. A periodic window, for spectra, goes on into \
     the next one; the other, for filters, is symmetric: n - 1 stands for n. A window of one \
     element is 1.",
    PARAMS,
    infer,
    20,
    sum_of_cosines!(0.5, 0.5),
    "hann_window(4)" = "f64[4]" "0 0.5 1 0.5"
);

pub(super) static HAMMING: ArrayOp = window!(
    "hamming_window",
    "The Hamming window: `0.54 - 0.46*cos(2*pi*i / n)`; periodic or symmetric as `hann_window`.",
    PARAMS,
    infer,
    20,
    sum_of_cosines!(0.54, 0.46),
    "hamming_window(3, periodic=false)" = "f64[3]" "0.08 1 0.08"
);

pub(super) static BLACKMAN: ArrayOp = window!(
    "blackman_window",
    "The Blackman window: `0.42 - 0.5*cos(2*pi*i / n) + 0.08*cos(4*pi*i / n)`; periodic or \
     symmetric as `hann_window`.",
    PARAMS,
    infer,
    40,
    sum_of_cosines!(0.42, 0.5, 0.08),
    "blackman_window(4)" = "f64[4]" "0 0.34 1 0.34"
);

pub(super) static BLACKMAN_HARRIS: ArrayOp = window!(
    "blackman_harris_window",
    "The window of four cosines by Blackman and Harris with side lobes of -92 dB; periodic or \
     symmetric as `hann_window`.",
    PARAMS,
    infer,
    60,
    sum_of_cosines!(0.35875, 0.48829, 0.14128, 0.01168),
    "blackman_harris_window(4)" = "f64[4]" "0.00006 0.21747 1 0.21747"
);

pub(super) static NUTTALL: ArrayOp = window!(
    "nuttall_window",
    "The window of four cosines by Nuttall with the lowest side lobes, -98 dB; periodic or \
     symmetric as `hann_window`.",
    PARAMS,
    infer,
    60,
    sum_of_cosines!(0.3635819, 0.4891775, 0.1365995, 0.0106411),
    "nuttall_window(4)" = "f64[4]" "0.0003628 0.2269824 1 0.2269824"
);

pub(super) static FLAT_TOP: ArrayOp = window!(
    "flat_top_window",
    "The flat top window of five cosines, which keeps amplitudes; periodic or symmetric as \
     `hann_window`.",
    PARAMS,
    infer,
    80,
    sum_of_cosines!(0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
    "flat_top_window(4)" = "f64[4]" "-0.000421051 -0.05473684 1.000000003 -0.05473684"
);

pub(super) static BARTLETT: ArrayOp = window!(
    "bartlett_window",
    "The triangle from 0 to 1 and back; periodic or symmetric as `hann_window`.",
    PARAMS,
    infer,
    5,
    |call| fill(call, |place| place.share()),
    "bartlett_window(4)" = "f64[4]" "0 0.5 1 0.5"
);

pub(super) static TUKEY: ArrayOp = window!(
    "tukey_window",
    "1, with halves of a Hann window at both ends that have the share `alpha` of it together; \
     periodic or symmetric as `hann_window`.",
    &[N, attribute("alpha", ParamKind::Numbers, "0.5"), PERIODIC, DTYPE],
    |call| {
        let within = |alpha| (0.0..=1.0).contains(&alpha);
        infer_shaped(call, "alpha", within, "is a number from 0 to 1")
    },
    25,
    |call| {
        let alpha = shaping(call.attrs, "alpha")?;
        fill(call, |place| match place.share() {
            share if share < alpha => 0.5 - 0.5 * libm::cos(PI * share / alpha),
            _ => 1.0,
        })
    },
    "tukey_window(5, alpha=1, periodic=false)" = "f64[5]" "0 0.5 1 0.5 0"
);

pub(super) static GAUSSIAN: ArrayOp = window!(
    "gaussian_window",
    "The bell `exp(-t**2 / 2)` with `t` the distance from the middle over `std`, both counted in \
     elements; periodic or symmetric as `hann_window`.",
    &[N, required("std", ParamKind::Numbers), PERIODIC, DTYPE],
    |call| infer_shaped(call, "std", |std| std > 0.0, "is a number above 0"),
    25,
    |call| {
        let std = shaping(call.attrs, "std")?;
        fill(call, |place| {
            let t = (place.step - place.steps / 2.0) / std;
            libm::exp(-0.5 * t * t)
        })
    },
    "gaussian_window(3, 1, periodic=false)" = "f64[3]" "0.6065306597126334 1 0.6065306597126334"
);

pub(super) static KAISER: ArrayOp = window!(
    "kaiser_window",
    "The Kaiser window: `i0(beta*sqrt(1 - t**2)) / i0(beta)` with `t` from -1 to 1 and i0 a \
     modified Bessel function. A larger `beta`, up to 700, lowers the side lobes and widens the \
     main lobe. Periodic or symmetric as `hann_window`.",
    &[N, attribute("beta", ParamKind::Numbers, "12"), PERIODIC, DTYPE],
    |call| {
        let within = |beta| (0.0..=700.0).contains(&beta);
        infer_shaped(call, "beta", within, "is a number from 0 to 700")
    },
    100,
    |call| {
        let beta = shaping(call.attrs, "beta")?;
        let most = bessel_i0(beta);
        fill(call, |place| {
            // 1 - t**2 without the rounding of t near the ends.
            let within = place.share() * (2.0 - place.share());
            bessel_i0(beta * within.sqrt()) / most
        })
    },
    "kaiser_window(3, beta=2, periodic=false)" = "f64[3]" "0.43867627983704877 1 0.43867627983704877"
);
