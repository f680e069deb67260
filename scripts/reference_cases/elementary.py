"""Elementary functions within 4 units in the last place over their whole range, against mpmath."""

import mpmath
import numpy as np

from .tensors import DTYPES, EPS, case, tensor

POINTS = 24
# Enough for sines of the largest numbers.
mpmath.mp.prec = 1300
mp = mpmath.mp
ONE = mpmath.mpf(1)


def sigmoid(x):
    return 1 / (1 + mp.exp(-x))


def softplus(x):
    return mp.log1p(mp.exp(x))


def erfc(x):
    """mpmath's, which stumbles over large numbers."""
    return mp.erfc(min(max(x, -50), 50))


def log1p(x):
    return mp.log(1 + x)


# Each with the interval that its points are of, and points at which implementations go wrong.
WHOLE = (-np.inf, np.inf)
FUNCTIONS = {
    "exp": (mp.exp, WHOLE, [-103.9, -88, 88.7, 709.7, -745]),
    "exp2": (lambda x: mp.power(2, x), WHOLE, [-149, -126.5, 127.9, 1023.9, -1074]),
    "expm1": (mp.expm1, WHOLE, [-40, -0.5, 0.35, 88.7, 709.7]),
    "log": (mp.log, (0, np.inf), [0.9999999, 1.0000001, 0.7, 1.4142135]),
    "log1p": (log1p, (-1, np.inf), [-0.9999999, -0.3, 1e-9]),
    "log2": (lambda x: mp.log(x, 2), (0, np.inf), [0.9999999, 1.0000001, 0.7, 1.4142135]),
    "log10": (mp.log10, (0, np.inf), [0.9999999, 1.0000001, 0.7, 1000]),
    "sqrt": (mp.sqrt, (0, np.inf), []),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), (0, np.inf), []),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), WHOLE, []),
    "reciprocal": (lambda x: 1 / x, WHOLE, []),
    "sin": (mp.sin, WHOLE, [3.14159265, 6.2831853, 1.5707963, 22, 1e22]),
    "cos": (mp.cos, WHOLE, [1.57079632, 4.71238898, 3.1415927, 11, 1e22]),
    "tan": (mp.tan, WHOLE, [1.57079632, 0.7853981, 3.14159265, 11]),
    "asin": (mp.asin, (-1, 1), [0.5, 0.9999999, -0.7071]),
    "acos": (mp.acos, (-1, 1), [0.5, 0.9999999, -0.9999999]),
    "atan": (mp.atan, WHOLE, [0.4375, 0.6875, 1.1875, 2.4375]),
    "sinh": (mp.sinh, WHOLE, [0.3, 89, 710.3, 22]),
    "cosh": (mp.cosh, WHOLE, [0.3, 89, 710.3, 22]),
    "tanh": (mp.tanh, WHOLE, [0.6249, 0.6251, 0.3, 9, 22]),
    "asinh": (mp.asinh, WHOLE, [0.125, 0.4, 2.0001, 3e8]),
    "acosh": (mp.acosh, (1, np.inf), [1.0000002, 1.1, 2.001, 3e8]),
    "atanh": (mp.atanh, (-1, 1), [0.49, 0.51, 0.9999999, -0.99]),
    "erf": (lambda x: 1 - erfc(x) if abs(x) > 1 else mp.erf(x), WHOLE, [0.84, 1.25, 2.85, -3.9, 5.9]),
    "erfc": (erfc, WHOLE, [0.84, 1.25, 2.85, 9, 26.5, -3]),
    "sigmoid": (sigmoid, WHOLE, [-103, -88, -87.2, 16, -740, -36]),
    "softplus": (softplus, WHOLE, [-103, -88, 16, -740, -36]),
    "gelu": (lambda x: x * erfc(-x / mp.sqrt(2)) / 2, WHOLE, [-5, -12, 0.5, 3]),
}
OF_TWO = {
    "atan2": lambda a, b: mp.atan2(a, b),
    "hypot": lambda a, b: mp.sqrt(a * a + b * b),
    "pow": lambda a, b: mp.power(abs(a), b),
}


def points(rng, dtype, interval):
    """Floats with random bits: every exponent alike."""
    word = {"f32": np.uint32, "f64": np.uint64}[dtype]
    x = rng.integers(0, np.iinfo(word).max, 40 * POINTS, word).view(DTYPES[dtype])
    # Half of them where functions have a shape.
    x[::2] = x[::2] / np.exp2(np.floor(np.log2(np.abs(x[::2])))) * 2.0 ** rng.integers(
        -12, 8, x[::2].size
    )
    return x[(x > interval[0]) & (x < interval[1]) & np.isfinite(x)][:POINTS]


def strata(rng, interval):
    """Floats of f64 of both signs and every exponent near 0, and of some of the others."""
    near = [(exponent, 3) for exponent in range(-9, 10)]
    far = [(exponent, 1) for exponent in [*range(-1074, -9, 53), *range(10, 1024, 39)]]
    x = [
        sign * np.ldexp(1 + rng.random(), exponent)
        for exponent, count in near + far
        for sign in (1, -1)
        for _ in range(count)
    ]
    x = np.array(x)
    return x[(x > interval[0]) & (x < interval[1]) & np.isfinite(x)]


def rounded(value, dtype):
    """Rounded once; what lies beyond the range is infinite."""
    if abs(value) > mpmath.mpf(float(np.finfo(DTYPES[dtype]).max)) * (1 + ONE * EPS[dtype] / 4):
        return np.inf if value > 0 else -np.inf
    if abs(value) < mpmath.mpf(2) ** -1080:
        return 0.0
    with mpmath.workprec(53):
        return float(+value)


def elementary():
    rng = np.random.default_rng(2026)
    for dtype in ("f32", "f64"):
        # The units of results are at least eps/2 of them, or the least subnormal number.
        accuracy = {"rtol": 2 * EPS[dtype], "atol": 4 * float(np.finfo(DTYPES[dtype]).smallest_subnormal)}  # fmt: skip
        for op, (f, interval, hard) in FUNCTIONS.items():
            drawn = points(rng, dtype, interval) if dtype == "f32" else strata(rng, interval)
            x = np.concatenate([drawn, tensor(hard, dtype)])
            x = x[(x > interval[0]) & (x < interval[1])]
            output = [rounded(f(mpmath.mpf(float(value))), dtype) for value in x]
            yield case(op, [x], tensor(output, dtype), **accuracy)
        for op, f in OF_TWO.items():
            a, b = points(rng, dtype, WHOLE), points(rng, dtype, WHOLE)
            if op == "pow":
                a, b = np.abs(a), b / np.exp2(np.floor(np.log2(np.abs(b)))).astype(b.dtype) * 4
            pairs = zip(a, b, strict=True)
            output = [rounded(f(mpmath.mpf(float(p)), mpmath.mpf(float(q))), dtype) for p, q in pairs]
            yield case(op, [a, b], tensor(output, dtype), **accuracy)
