"""Mathematical functions beyond exp, log, tanh and sqrt, rounding, and questions about elements."""

import math

import numpy as np

from .tensors import EPS, FLOATS, INTEGERS, TINY, case, double, draw, special, tensor, wide

# Each with the points that it is asked at, besides special values.
FUNCTIONS = {
    "expm1": (np.expm1, np.linspace(-11, 11, 23)),
    "log1p": (np.log1p, np.linspace(-0.99, 50, 23)),
    "log2": (np.log2, np.geomspace(1e-4, 1e4, 23)),
    "log10": (np.log10, np.geomspace(1e-4, 1e4, 23)),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), np.linspace(-11, 11, 23)),
    "erf": (np.vectorize(math.erf, otypes=["f8"]), np.linspace(-4, 4, 23)),
    "sin": (np.sin, np.linspace(-10, 10, 23)),
    "cos": (np.cos, np.linspace(-10, 10, 23)),
    "tan": (np.tan, np.linspace(-10, 10, 23)),
    "asin": (np.arcsin, np.linspace(-1, 1, 23)),
    "acos": (np.arccos, np.linspace(-1, 1, 23)),
    "atan": (np.arctan, np.linspace(-10, 10, 23)),
}
SMALL = [1e-3, -1e-3, 1e-2, 0.25, 0.999]
ROUNDING = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.round}
QUESTIONS = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}
OF_TWO = {"atan2": np.arctan2, "hypot": np.hypot}


def functions():
    for op, (f, points) in FUNCTIONS.items():
        for dtype in FLOATS:
            # Sines of the largest numbers are a matter of reducing them, not of haul.
            values = special(dtype)
            if op in ("sin", "cos", "tan"):
                values = values[~(np.abs(double(values)) > 1e4)]
            x = np.concatenate([values, tensor(np.concatenate([points, SMALL]), dtype)])
            output = tensor(f(wide(x)), dtype)
            yield case(op, [x], output, rtol=4 * EPS[dtype], atol=TINY[dtype])
        for dtype in ("u8", "i64"):
            x = tensor([0, 1, 2, 3, 10], dtype)
            output = tensor(f(x.astype(np.longdouble)), "f64")
            yield case(op, [x], output, rtol=4 * EPS["f64"])
    for op, f in OF_TWO.items():
        for dtype in FLOATS:
            a, b = draw(dtype, 5, 1), draw(dtype, 7)
            output = tensor(f(wide(a), wide(b)), dtype)
            yield case(op, [a, b], output, rtol=4 * EPS[dtype], atol=TINY[dtype])
    yield from of_elements()


def of_elements():
    for dtype in FLOATS:
        x = np.concatenate([special(dtype), tensor([0.5, 1.5, 2.5, -0.5, -1.5, -0.3], dtype)])
        for op, f in ROUNDING.items():
            yield case(op, [x], tensor(f(double(x)), dtype), signed_zeros=True)
        for op, f in QUESTIONS.items():
            yield case(op, [x], f(x))
        yield case("sign", [x], tensor(np.sign(double(x)), dtype))
        y = draw(dtype, 9)
        yield case("square", [y], tensor(double(y) * double(y), dtype))
    for dtype in INTEGERS:
        x = special(dtype)
        for op in ROUNDING:
            yield case(op, [x], x)
        yield case("sign", [x], np.sign(x))
        yield case("square", [x], x * x)
