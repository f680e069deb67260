"""Functions of one element, or of two or three that broadcast."""

import itertools

import numpy as np

from .tensors import (
    COMPLEX,
    DTYPES,
    EPS,
    FLOATS,
    INF,
    INTEGERS,
    NAMES,
    NAN,
    REAL,
    TINY,
    case,
    double,
    draw,
    special,
    tensor,
    wide,
)

ARITHMETIC = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
COMPARISON = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
BITS = {"bitand": np.bitwise_and, "bitor": np.bitwise_or, "bitxor": np.bitwise_xor}
EXTREMUM = {"minimum": np.minimum, "maximum": np.maximum}
TRANSCENDENTAL = {"exp": np.exp, "log": np.log, "tanh": np.tanh}


def pairs(dtype):
    """Every special value against every other, as shapes [n, 1] and [n]."""
    return special(dtype)[:, np.newaxis], special(dtype)


def integer_power(base, exponent):
    name = NAMES[base.dtype]
    bits = 8 * base.dtype.itemsize
    power = pow(int(base), int(exponent), 2**bits)
    return power - 2**bits if name[0] == "i" and power >= 2 ** (bits - 1) else power


def arithmetic():
    for op, f in ARITHMETIC.items():
        for dtype in INTEGERS:
            yield case(op, pairs(dtype), f(*pairs(dtype)))
        for dtype in FLOATS:
            a, b = pairs(dtype)
            signed = op == "mul"
            yield case(op, [a, b], tensor(f(double(a), double(b)), dtype), signed_zeros=signed)
        for dtype in COMPLEX:
            a, b = draw(dtype, 3, 1, 4), draw(dtype, 5, 1)
            rtol = 4 * EPS[dtype]
            yield case(op, [a, b], tensor(f(wide(a), wide(b)), dtype), rtol=rtol, atol=rtol)
    for dtype in FLOATS:
        a, b = pairs(dtype)
        yield case("div", [a, b], tensor(double(a) / double(b), dtype), signed_zeros=True)
    for dtype in COMPLEX:
        a, b = draw(dtype, 4, 1), draw(dtype, 5)
        yield case("div", [a, b], tensor(wide(a) / wide(b), dtype), rtol=8 * EPS[dtype])
    for dtype in INTEGERS:
        a, b = pairs(dtype)
        b = b[b != 0]
        yield case("div", [a, b], a / b if dtype[1:] == "64" else double(a) / double(b))


def rounding_division():
    """Signs as in Python: the quotient is rounded down, the remainder has the divisor's sign."""
    for op, f in {"floordiv": np.floor_divide, "mod": np.mod}.items():
        for dtype in INTEGERS:
            a, b = pairs(dtype)
            b = b[b != 0]
            yield case(op, [a, b], f(a, b))
        for dtype in FLOATS:
            a = tensor([0, 1, -1, 0.3, -0.3, 2.5, -2.5, 7, -7, 100, NAN, INF, -INF], dtype)[:, np.newaxis]
            b = tensor([1, -1, 0.1, -0.1, 3, -3, 2.5, 0, NAN, INF, -INF], dtype)
            work = "f64" if dtype == "f64" else "f32"
            yield case(op, [a, b], tensor(f(tensor(a, work), tensor(b, work)), dtype))


def powers():
    for dtype in INTEGERS:
        base = special(dtype)[:, np.newaxis]
        exponent = tensor([0, 1, 2, 3, 7, 31, 64, 100], dtype)
        values = [[integer_power(a, b) for b in exponent] for a in base[:, 0]]
        yield case("pow", [base, exponent], np.array(values, DTYPES[dtype]))
    for dtype in FLOATS:
        base = tensor([0, 1, -1, 0.5, -2, 3, 10, 1.001, INF, -INF, NAN], dtype)[:, np.newaxis]
        exponent = tensor([0, 1, 2, 3, -1, 0.5, -2.5, 11, INF, -INF, NAN], dtype)
        output = tensor(np.power(wide(base), wide(exponent)), dtype)
        yield case("pow", [base, exponent], output, rtol=8 * EPS[dtype], atol=TINY[dtype])


def signs():
    for dtype in INTEGERS:
        x = special(dtype)
        yield case("neg", [x], np.negative(x))
        yield case("abs", [x], np.abs(x))
        if dtype[0] == "i":
            yield case("relu", [x], np.maximum(x, DTYPES[dtype](0)))
    for dtype in FLOATS:
        x = special(dtype)
        yield case("neg", [x], -x, signed_zeros=True)
        yield case("abs", [x], np.abs(x), signed_zeros=True)
        yield case("relu", [x], np.maximum(x, DTYPES[dtype](0)))
    for dtype in COMPLEX:
        x = draw(dtype, 3, 5)
        yield case("neg", [x], -x)
        yield case("abs", [x], tensor(np.abs(wide(x)), REAL[dtype]), rtol=4 * EPS[dtype])
        x = tensor(
            [0, 3 + 4j, complex(INF, 1), complex(-2, -INF), complex(NAN, INF), complex(NAN, 1)],
            dtype,
        )
        yield case("abs", [x], tensor([0, 5, INF, INF, INF, NAN], REAL[dtype]), rtol=EPS[dtype])


def comparisons():
    for op, f in COMPARISON.items():
        for dtype in ["i8", "i64", "u64"] + FLOATS:
            yield case(op, pairs(dtype), f(*pairs(dtype)))
        for dtype in ["i16", "i32", "u8", "u16", "u32"]:
            x, y = special(dtype), special(dtype)[::-1].copy()
            yield case(op, [x, y], f(x, y))
    for op in ("eq", "ne"):
        for dtype in COMPLEX:
            x = tensor([0, 1, 1j, 1 + 1j, complex(0, -0.0), complex(NAN, 0)], dtype)
            yield case(op, [x[:, np.newaxis], x], COMPARISON[op](x[:, np.newaxis], x))
        x = np.array([False, True])
        yield case(op, [x[:, np.newaxis], x], COMPARISON[op](x[:, np.newaxis], x))


def bits():
    for dtype in ["bool"] + INTEGERS:
        x = np.array([False, True]) if dtype == "bool" else special(dtype)
        for op, f in BITS.items():
            yield case(op, [x[:, np.newaxis], x], f(x[:, np.newaxis], x))
        yield case("invert", [x], np.invert(x))


def extrema():
    for op, f in EXTREMUM.items():
        for dtype in INTEGERS + FLOATS:
            yield case(op, pairs(dtype), f(*pairs(dtype)))
    for dtype in INTEGERS:
        x = special(dtype)
        lo, hi = tensor(2, dtype), tensor(90, dtype)
        yield case("clip", [x, lo, hi], np.clip(x, lo, hi))
    for dtype in FLOATS:
        x = special(dtype)
        lo, hi = tensor(-1.5, dtype), tensor(3, dtype)
        # np.clip widens bf16 to f32.
        yield case("clip", [x, lo, hi], np.clip(x, lo, hi).astype(x.dtype))
    x, lo, hi = draw("f32", 4, 5), draw("f32", 4, 1) - 1, draw("f32", 5) + 2
    yield case("clip", [x, lo, hi], np.minimum(np.maximum(x, lo), hi))


def selection():
    for dtype in ["bool", "u8", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"]:
        condition, a, b = draw("bool", 3, 1, 5), draw(dtype, 7, 1), draw(dtype, 5)
        yield case("where", [condition, a, b], np.where(condition, a, b))
    condition = np.array([True, False, True, False])
    a, b = tensor([NAN, NAN, -0.0, 1], "f32"), tensor([1, -0.0, 2, INF], "f32")
    yield case("where", [condition, a, b], np.where(condition, a, b), signed_zeros=True)


def functions():
    for op, f in TRANSCENDENTAL.items():
        for dtype in FLOATS:
            last = 11 if dtype == "f16" else 88 if dtype in ("f32", "bf16") else 700
            sweep = np.concatenate(
                [np.linspace(-last, last, 37), [1e-3, -1e-3, 1.001, 0.999, 0.25, 5e-5]]
            )
            x = np.concatenate([special(dtype), tensor(sweep, dtype)])
            yield case(op, [x], tensor(f(wide(x)), dtype), rtol=4 * EPS[dtype], atol=TINY[dtype])
        for dtype in ["u8", "i8", "i32", "i64", "u64"]:
            x = tensor([0, 1, 2, 3, 10, 100], dtype)
            yield case(op, [x], tensor(f(x.astype(np.longdouble)), "f64"), rtol=4 * EPS["f64"])
        for dtype in COMPLEX:
            x = draw(dtype, 3, 5)
            yield case(op, [x], tensor(f(wide(x)), dtype), rtol=16 * EPS[dtype])
    for dtype in FLOATS:
        x = np.concatenate([special(dtype), np.abs(draw(dtype, 20))])
        yield case("sqrt", [x], tensor(np.sqrt(double(x)), dtype), signed_zeros=True)
    for dtype in INTEGERS:
        x = special(dtype)
        x = x if dtype[1:] != "64" else x[np.abs(double(x)) < 2.0**53]
        yield case("sqrt", [x], np.sqrt(double(x)))
    for dtype in COMPLEX:
        x = np.concatenate([draw(dtype, 9), tensor([-4, 4, 2j, -2j, 0], dtype)])
        yield case("sqrt", [x], tensor(np.sqrt(wide(x)), dtype), rtol=16 * EPS[dtype])


def parts():
    for dtype in COMPLEX:
        x = np.append(draw(dtype, 5), tensor([complex(NAN, 1), complex(-0.0, INF)], dtype))
        for op, f in {"real": np.real, "imag": np.imag, "conj": np.conj}.items():
            yield case(op, [x], f(x), signed_zeros=True)
    x = draw("f32", 2, 3)
    yield case("real", [x], x)
    yield case("conj", [x], x)


def broadcasting():
    shapes = [
        ((), ()),
        ((), (3,)),
        ((1,), ()),
        ((0,), (1,)),
        ((0, 3), (3,)),
        ((4, 0, 1), (1, 5)),
        ((7, 1), (1, 11)),
        ((2, 3, 1, 5), (3, 1, 1)),
        ((1, 1, 1), (13,)),
        ((17, 3), (17, 3)),
    ]
    for (a, b), dtype in itertools.product(shapes, ["i32", "f32"]):
        x, y = draw(dtype, *a), draw(dtype, *b)
        yield case("add", [x, y], x + y)
        yield case("lt", [x, y], np.less(x, y))
    for shape in [(), (0,), (1,), (2, 0, 3), (31,), (3, 5, 7)]:
        x = draw("f32", *shape)
        yield case("neg", [x], -x)
        yield case("exp", [x], tensor(np.exp(wide(x)), "f32"), rtol=4 * EPS["f32"])


def elementwise():
    parts_of_group = (
        arithmetic,
        rounding_division,
        powers,
        signs,
        comparisons,
        bits,
        extrema,
        selection,
        functions,
        parts,
        broadcasting,
    )
    return itertools.chain.from_iterable(part() for part in parts_of_group)
