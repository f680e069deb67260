"""Gamma and error functions, activations, complex functions, logic, shifts, signs."""

import mpmath
import numpy as np

from .tensors import (
    COMPLEX,
    DTYPES,
    EPS,
    FLOATS,
    INF,
    INTEGERS,
    NAN,
    TINY,
    case,
    double,
    draw,
    special as special_values,
    tensor,
)

mp = mpmath.mp


def sigmoid(x):
    return 1 / (1 + mp.exp(-x))


# Each with names of parameters left to their values in `ACTIVATIONS`.
GAMMA = {
    "gamma": lambda x: mp.gamma(x),
    "lgamma": lambda x: mp.log(abs(mp.gamma(x))),
    "digamma": lambda x: mp.psi(0, x),
}
ACTIVATIONS = {
    "leaky_relu": (lambda x, a: x if x > 0 else a * x, [0.125]),
    "prelu": (lambda x, a: x if x > 0 else a * x, [-0.25]),
    "elu": (lambda x, a: x if x > 0 else a * mp.expm1(x), [1.5]),
    "selu": (lambda x, a, g: g * (x if x > 0 else a * mp.expm1(x)), [1.75, 1.25]),
    "celu": (lambda x, a: max(x, 0) + min(0, a * mp.expm1(x / a)), [2]),
    "gelu": (lambda x: x * mp.erfc(-x / mp.sqrt(2)) / 2, []),
    "gelu_tanh": (
        lambda x: x / 2 * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mpmath.mpf("0.044715") * x**3))),
        [],
    ),
    "log_sigmoid": (lambda x: -mp.log1p(mp.exp(-x)), []),
    "hard_sigmoid": (lambda x, a, b: max(0, min(1, a * x + b)), [0.25, 0.375]),
    "silu": (lambda x, a: x * sigmoid(a * x), [1.25]),
    "hard_swish": (lambda x: x * max(0, min(1, x / 6 + mpmath.mpf(1) / 2)), []),
    "mish": (lambda x: x * mp.tanh(mp.log1p(mp.exp(x))), []),
    "softplus": (lambda x: mp.log1p(mp.exp(x)), []),
    "softsign": (lambda x: x / (1 + abs(x)), []),
    "thresholded_relu": (lambda x, a: x if x > a else mpmath.mpf(0), [1.5]),
    "shrink": (
        lambda x, k, b: x + b if x < -k else x - b if x > k else mpmath.mpf(0),
        [1.5, 0.25],
    ),
    "hard_tanh": (lambda x, low, high: max(low, min(high, x)), [-2, 0.75]),
}
COMPLEX_FUNCTIONS = {
    "exp2": lambda z: mp.power(2, z),
    "expm1": lambda z: mp.exp(z) - 1,
    "log1p": lambda z: mp.log(1 + z),
    "log2": lambda z: mp.log(z) / mp.log(2),
    "log10": lambda z: mp.log(z) / mp.log(10),
    "sqrt": mp.sqrt,
    "reciprocal": lambda z: 1 / z,
    "sign": lambda z: z / abs(z),
    "tan": mp.tan,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
    "asin": mp.asin,
    "acos": mp.acos,
    "atan": mp.atan,
    "asinh": mp.asinh,
    "acosh": mp.acosh,
    "atanh": mp.atanh,
}


def special():
    with mpmath.workprec(300):
        yield from gamma()
        yield from activations()
        yield from complex_functions()
    yield from logic()
    yield from shifts()
    yield from of_elements()


def gamma():
    points = [0.1, 0.5, 1, 1.25, 1.5, 2, 2.5, 3.7, 8, 9.99, 20.5, 33, -0.5, -1.25, -3.75, 1e-3, -1e-3]
    for op, f in GAMMA.items():
        for dtype in FLOATS:
            x = tensor(points, dtype)
            y = [float(f(mpmath.mpf(float(value)))) for value in x]
            yield case(op, [x], tensor(y, dtype), rtol=8 * EPS[dtype], atol=2 * EPS[dtype])
            x = tensor([INF, NAN, -2, 0.0], dtype)
            y = {"gamma": [INF, NAN, NAN, INF], "lgamma": [INF, NAN, INF, INF]}
            yield case(op, [x], tensor(y.get(op, [INF, NAN, NAN, -INF]), dtype))
        x = tensor([1, 2, 3, 10], "i32")
        y = [float(f(mpmath.mpf(int(value)))) for value in x]
        yield case(op, [x], tensor(y, "f64"), rtol=8 * EPS["f64"], atol=2 * EPS["f64"])


def activations():
    points = [-30, -11.5, -6, -3, -2.5, -1.5, -1, -0.3, -1e-3, 0, 1e-3, 0.5, 1.5, 2, 3.25, 7, 25]
    for op, (f, given) in ACTIVATIONS.items():
        parameters = [tensor(value, "f64") for value in given]
        for dtype in FLOATS:
            x = tensor(points, dtype)
            wide = [mpmath.mpf(float(value)) for value in x]
            y = [float(f(value, *map(mpmath.mpf, given))) for value in wide]
            cast = [tensor(value, dtype) for value in parameters]
            yield case(op, [x, *cast], tensor(y, dtype), rtol=4 * EPS[dtype], atol=EPS[dtype] / 4)
            x = tensor([NAN], dtype)
            yield case(op, [x, *cast], x)
        x = tensor([-3, 0, 5], "i16")
        y = [float(f(mpmath.mpf(int(value)), *map(mpmath.mpf, given))) for value in x]
        if op != "hard_tanh":
            yield case(op, [x, *parameters], tensor(y, "f64"), rtol=4 * EPS["f64"], atol=1e-16)
    x, slope = draw("f32", 3, 4, 5), draw("f32", 4, 1)
    yield case("prelu", [x, slope], np.where(x < 0, x * slope, x), rtol=EPS["f32"])


def complex_functions():
    points = [1 + 2j, -3 + 0.5j, 0.25 - 0.125j, -0.01 - 0.02j, 1e-6 + 1e-7j, 2 - 1e-8j, -1e5 - 3e4j,
              0.9999 + 1e-4j, 1.0001 + 1e-3j, -20 + 7j, 5j, -0.5j, -4 + 0j, 0.5 + 0j, 1e12 + 1e12j]  # fmt: skip
    for op, f in COMPLEX_FUNCTIONS.items():
        for dtype in COMPLEX:
            z = tensor(points, dtype)
            if op in ("exp2", "expm1", "sinh", "cosh", "tan"):
                z = z[np.abs(z) < 1e3]
            # The branch cuts beyond 1, where mpmath takes no side by the sign of zero.
            if op in ("acos", "asin", "acosh", "atanh", "log1p"):
                z = z[~((z.imag == 0) & (z.real != 0.5))]
            if op == "asinh" or op == "atan":
                z = z[~((z.real == 0) & (np.abs(z.imag) > 1))]
            y = [complex(f(mpmath.mpc(complex(value)))) for value in z]
            yield case(op, [z], tensor(y, dtype), rtol=4 * EPS[dtype])
    for dtype in COMPLEX:
        z = draw(dtype, 11)
        y = np.angle(z.astype(np.complex256)).astype(DTYPES[{"c64": "f32", "c128": "f64"}[dtype]])
        yield case("angle", [z], y, rtol=2 * EPS[dtype])
        z = tensor([complex(NAN, 1), complex(INF, NAN), complex(0, -INF), 1 + 1j], dtype)
        yield case("isnan", [z], np.isnan(z))
        yield case("isinf", [z], np.isinf(z))
        yield case("isfinite", [z], np.isfinite(z))
    yield case("sign", [tensor([0j, 1e-310 + 0j, 1e308 + 1e308j, 3 - 4j], "c128")],
               tensor([0, 1, 2**-0.5 + 2**-0.5 * 1j, 0.6 - 0.8j], "c128"), rtol=2 * EPS["c128"])  # fmt: skip


def logic():
    names = {"logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}
    for dtype in ("bool", "u8", "i64", "f16", "bf16", "f32", "f64"):
        a, b = tensor([0, 1, 0, 1, 1], dtype), tensor([0, 0, 1, 1, 0], dtype)
        for op, f in names.items():
            yield case(op, [a, b], f(a.astype(bool), b.astype(bool)))
        yield case("logical_not", [a], ~a.astype(bool))
    a, b = draw("i32", 3, 1) % 3, draw("bool", 4)
    for op, f in names.items():
        yield case(op, [a, b], f(a, b))
    x = tensor([NAN, 0.0, -0.0, INF], "f32")
    yield case("logical_not", [x], np.logical_not(x))


def shifts():
    for dtype in INTEGERS:
        bits = np.iinfo(DTYPES[dtype]).bits
        a = special_values(dtype)
        b = tensor([0, 1, 2, 3, bits - 1, bits, bits + 1, 100, 127, 5, 1, 0, 7, 1, 2, 3, 4][: a.size], dtype)
        if dtype[0] == "i":
            b[1] = -1
        limits = np.iinfo(DTYPES[dtype])

        def shift(p, q, dtype=dtype, bits=bits, limits=limits):
            q = q if 0 <= q < bits else 200
            value = (p << q) % 2**bits
            return value - 2**bits if value > limits.max else value, p >> q

        both = [shift(int(p), int(q)) for p, q in zip(a, b, strict=True)]
        yield case("left_shift", [a, b], np.array([pair[0] for pair in both], DTYPES[dtype]))
        yield case("right_shift", [a, b], np.array([pair[1] for pair in both], DTYPES[dtype]))


def of_elements():
    for dtype in FLOATS:
        x, y = special_values(dtype), special_values(dtype)[::-1].copy()
        yield case("copysign", [x, y], tensor(np.copysign(double(x), double(y)), dtype), signed_zeros=True)
        yield case("signbit", [x[:-1]], np.signbit(double(x[:-1])))
        yield case("fmod", [x, y], tensor(np.fmod(double(x), double(y)), dtype), signed_zeros=True)
        x, y = draw(dtype, 5, 1), draw(dtype, 7)
        yield case("fmod", [x, y], tensor(np.fmod(double(x), double(y)), dtype))
        exact = np.logaddexp(double(x).astype(np.longdouble), double(y).astype(np.longdouble))
        yield case("logaddexp", [x, y], tensor(exact, dtype), rtol=4 * EPS[dtype], atol=2 * EPS[dtype])
        x = tensor([INF, -INF, NAN, 0, -INF], dtype)
        y = tensor([INF, -INF, 0, NAN, 1], dtype)
        yield case("logaddexp", [x, y], tensor(np.logaddexp(double(x), double(y)), dtype))
        x = tensor([0.0, -0.0, -3, INF, -INF, NAN], dtype)
        yield case("angle", [x], tensor(np.angle(double(x)), dtype), rtol=EPS[dtype])
        x = draw(dtype, 13)
        wide = double(x).astype(np.longdouble)
        yield case("deg2rad", [x], tensor(np.deg2rad(wide), dtype), rtol=2 * EPS[dtype], atol=TINY[dtype])
        yield case("rad2deg", [x], tensor(np.rad2deg(wide), dtype), rtol=2 * EPS[dtype], atol=TINY[dtype])
    for dtype in INTEGERS:
        x = special_values(dtype)
        y = np.roll(x[x != 0], 3)
        x = x[x != 0]
        yield case("fmod", [x, y], np.fmod(x, y))
        yield case("signbit", [x], x < 0)
        yield case("angle", [x], np.angle(double(x)), rtol=EPS["f64"])
    yield case("copysign", [tensor([1, -2], "i32"), tensor([-1, 1], "i32")], np.array([-1.0, 2.0]))
