//! The transforms.

use haul_ir::op::{Example, Op};

use super::{Axes, Direction, Fourier, Sides, kernel};

#[rustfmt::skip]
pub(in crate::ops) static OPS: &[&dyn Op] = &[
    &FFT, &IFFT, &RFFT, &IRFFT, &HFFT, &IHFFT,
    &FFT2, &IFFT2, &RFFT2, &IRFFT2,
    &FFTN, &IFFTN, &RFFTN, &IRFFTN,
];

macro_rules! kernel {
    ($fourier:ident) => {
        |call| kernel::fourier(&$fourier, call)
    };
}

static FFT: Fourier = Fourier {
    name: "fft",
    doc: "The discrete Fourier transform along one axis. Lines are cut off or followed by zeros \
          to `n` elements where that is given. `norm` says which way divides: 'backward' the \
          inverse, by n; 'forward' this one; 'ortho' both, by the root of n. Of f16, bf16 and \
          f32 it gives c64, of f64 and integers c128.",
    rule: "[.., n, ..] -> [.., n, ..]",
    direction: Direction::Forward,
    sides: Sides::Complex,
    axes: Axes::One,
    kernel: kernel!(FFT),
    examples: &[
        Example {
            formula: "fft(x)",
            given: &[("x", "f32[4]", "1 2 3 4")],
            result: ("c64[4]", "10+0j -2+2j -2+0j -2-2j"),
        },
        Example {
            formula: "fft(x, 3, norm='forward')",
            given: &[("x", "f64[2]", "3 6")],
            result: (
                "c128[3]",
                "3+0j 0-1.7320508075688772j 0+1.7320508075688772j",
            ),
        },
    ],
};

static IFFT: Fourier = Fourier {
    name: "ifft",
    doc: "The inverse of `fft`: `ifft(fft(x))` is `x`. `n`, `axis` and `norm` are as there.",
    rule: "[.., n, ..] -> [.., n, ..]",
    direction: Direction::Inverse,
    sides: Sides::Complex,
    axes: Axes::One,
    kernel: kernel!(IFFT),
    examples: &[Example {
        formula: "ifft(x)",
        given: &[("x", "c128[2]", "3+0j -1+0j")],
        result: ("c128[2]", "1+0j 2+0j"),
    }],
};

static RFFT: Fourier = Fourier {
    name: "rfft",
    doc: "The first `n // 2 + 1` elements of `fft` of real numbers along one axis; the others \
          are their mirrored conjugates. `n`, `axis` and `norm` are as there.",
    rule: "[.., n, ..] -> [.., n // 2 + 1, ..]",
    direction: Direction::Forward,
    sides: Sides::FromReal,
    axes: Axes::One,
    kernel: kernel!(RFFT),
    examples: &[Example {
        formula: "rfft(x)",
        given: &[("x", "f64[4]", "1 2 3 4")],
        result: ("c128[3]", "10+0j -2+2j -2+0j"),
    }],
};

static IRFFT: Fourier = Fourier {
    name: "irfft",
    doc: "The inverse of `rfft`: real numbers of the first half of their spectrum. Without `n` \
          there are `2*(m - 1)`, which is even; `n` says it where it was odd. The imaginary \
          parts of the first element, and of the last for an even `n`, are taken as 0.",
    rule: "[.., m, ..] -> [.., 2*(m - 1), ..]",
    direction: Direction::Inverse,
    sides: Sides::ToReal,
    axes: Axes::One,
    kernel: kernel!(IRFFT),
    examples: &[
        Example {
            formula: "irfft(x)",
            given: &[("x", "c128[3]", "10+0j -2+2j -2+0j")],
            result: ("f64[4]", "1 2 3 4"),
        },
        Example {
            formula: "irfft(x, 3)",
            given: &[("x", "c64[2]", "6+0j -1.5+0.8660254j")],
            result: ("f32[3]", "1 2 3"),
        },
    ],
};

static HFFT: Fourier = Fourier {
    name: "hfft",
    doc: "Real numbers, the spectrum of a signal that is given by its first half because the \
          other is its mirrored conjugate: `fft` of the whole. Without `n` there are `2*(m - \
          1)`.",
    rule: "[.., m, ..] -> [.., 2*(m - 1), ..]",
    direction: Direction::Forward,
    sides: Sides::ToReal,
    axes: Axes::One,
    kernel: kernel!(HFFT),
    examples: &[Example {
        formula: "hfft(x)",
        given: &[("x", "c128[3]", "1+0j 2+3j 4+0j")],
        result: ("f64[4]", "9 3 1 -9"),
    }],
};

static IHFFT: Fourier = Fourier {
    name: "ihfft",
    doc: "The inverse of `hfft`: the first half of the signal whose spectrum is real.",
    rule: "[.., n, ..] -> [.., n // 2 + 1, ..]",
    direction: Direction::Inverse,
    sides: Sides::FromReal,
    axes: Axes::One,
    kernel: kernel!(IHFFT),
    examples: &[Example {
        formula: "ihfft(x)",
        given: &[("x", "f64[4]", "9 3 1 -9")],
        result: ("c128[3]", "1+0j 2+3j 4+0j"),
    }],
};

static FFT2: Fourier = Fourier {
    name: "fft2",
    doc: "`fft` along two axes, by default the last two. Lines are cut off or followed by zeros \
          to the lengths `s` where they are given.",
    rule: "[.., m, n] -> [.., m, n]",
    direction: Direction::Forward,
    sides: Sides::Complex,
    axes: Axes::LastTwo,
    kernel: kernel!(FFT2),
    examples: &[Example {
        formula: "fft2(x)",
        given: &[("x", "f32[2, 2]", "1 2 3 4")],
        result: ("c64[2, 2]", "10+0j -2+0j -4+0j 0+0j"),
    }],
};

static IFFT2: Fourier = Fourier {
    name: "ifft2",
    doc: "The inverse of `fft2`.",
    rule: "[.., m, n] -> [.., m, n]",
    direction: Direction::Inverse,
    sides: Sides::Complex,
    axes: Axes::LastTwo,
    kernel: kernel!(IFFT2),
    examples: &[Example {
        formula: "ifft2(x)",
        given: &[("x", "c64[2, 2]", "10+0j -2+0j -4+0j 0+0j")],
        result: ("c64[2, 2]", "1+0j 2+0j 3+0j 4+0j"),
    }],
};

static RFFT2: Fourier = Fourier {
    name: "rfft2",
    doc: "`rfft` along the last of two axes and then `fft` along the other.",
    rule: "[.., m, n] -> [.., m, n // 2 + 1]",
    direction: Direction::Forward,
    sides: Sides::FromReal,
    axes: Axes::LastTwo,
    kernel: kernel!(RFFT2),
    examples: &[Example {
        formula: "rfft2(x)",
        given: &[("x", "f32[2, 3]", "1 2 3 4 5 9")],
        result: ("c64[2, 2]", "24+0j -4.5+4.330127j -12+0j 1.5-2.598076j"),
    }],
};

static IRFFT2: Fourier = Fourier {
    name: "irfft2",
    doc: "The inverse of `rfft2`: `ifft` along the first of two axes and then `irfft` along the \
          other. Where that had an odd length, `s` says it.",
    rule: "[.., m, n] -> [.., m, 2*(n - 1)]",
    direction: Direction::Inverse,
    sides: Sides::ToReal,
    axes: Axes::LastTwo,
    kernel: kernel!(IRFFT2),
    examples: &[Example {
        formula: "irfft2(x)",
        given: &[("x", "c64[2, 2]", "10+0j -2+0j -4+0j 0+0j")],
        result: ("f32[2, 2]", "1 2 3 4"),
    }],
};

static FFTN: Fourier = Fourier {
    name: "fftn",
    doc: "`fft` along all axes, or along `axes`; along the last so many where only lengths `s` \
          are given.",
    rule: "[n, m, ..] -> [n, m, ..]",
    direction: Direction::Forward,
    sides: Sides::Complex,
    axes: Axes::All,
    kernel: kernel!(FFTN),
    examples: &[Example {
        formula: "fftn(x)",
        given: &[("x", "f32[2, 1, 2]", "1 2 3 4")],
        result: ("c64[2, 1, 2]", "10+0j -2+0j -4+0j 0+0j"),
    }],
};

static IFFTN: Fourier = Fourier {
    name: "ifftn",
    doc: "The inverse of `fftn`.",
    rule: "[n, m, ..] -> [n, m, ..]",
    direction: Direction::Inverse,
    sides: Sides::Complex,
    axes: Axes::All,
    kernel: kernel!(IFFTN),
    examples: &[Example {
        formula: "ifftn(x, axes=[0])",
        given: &[("x", "c64[2, 2]", "4+0j 6+0j -2+0j -2+0j")],
        result: ("c64[2, 2]", "1+0j 2+0j 3+0j 4+0j"),
    }],
};

static RFFTN: Fourier = Fourier {
    name: "rfftn",
    doc: "`rfft` along the last of some axes and then `fft` along the others.",
    rule: "[.., m, n] -> [.., m, n // 2 + 1]",
    direction: Direction::Forward,
    sides: Sides::FromReal,
    axes: Axes::All,
    kernel: kernel!(RFFTN),
    examples: &[Example {
        formula: "rfftn(x)",
        given: &[("x", "f32[2, 2]", "1 2 3 4")],
        result: ("c64[2, 2]", "10+0j -2+0j -4+0j 0+0j"),
    }],
};

static IRFFTN: Fourier = Fourier {
    name: "irfftn",
    doc: "The inverse of `rfftn`: `ifft` along the other axes and then `irfft` along the last.",
    rule: "[.., m, n] -> [.., m, 2*(n - 1)]",
    direction: Direction::Inverse,
    sides: Sides::ToReal,
    axes: Axes::All,
    kernel: kernel!(IRFFTN),
    examples: &[Example {
        formula: "irfftn(x, [2, 2])",
        given: &[("x", "c64[2, 2]", "10+0j -2+0j -4+0j 0+0j")],
        result: ("f32[2, 2]", "1 2 3 4"),
    }],
};
