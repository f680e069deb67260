"""Products, variances, argmin, any and all over axes."""

import numpy as np

from .reduce import SHAPES
from .tensors import DTYPES, EPS, FLOATS, INTEGERS, NAN, case, draw, tensor, wide


def attributes(axis):
    return {"axis": list(axis) if isinstance(axis, tuple) else axis, "keepdims": False}


def statistics():
    for shape, axis in SHAPES:
        for dtype in FLOATS + ["i32", "u8"]:
            x = draw(dtype, *shape)
            yield from spread(x, axis, dtype if dtype in FLOATS else "f64")
        for dtype in ["f32", "i64", "bool"]:
            x = draw(dtype, *shape) if dtype == "bool" else tensor(draw("i8", *shape) > 10, dtype)
            yield case("any", [x], np.any(x, axis=axis), attributes(axis))
            yield case("all", [x], np.all(x, axis=axis), attributes(axis))
    # NaN is not zero, so it is true.
    x = tensor([[0, NAN], [0, 0], [1, NAN]], "f32")
    yield case("any", [x], np.any(x, axis=1), attributes(1))
    yield case("all", [x], np.all(x, axis=1), attributes(1))
    yield from products()
    yield from argmin()


def spread(x, axis, dtype):
    work = EPS["f32"] if dtype in ("f16", "bf16") else EPS[dtype]
    y = wide(x).astype(np.longdouble)
    # Deviations err by the mean's error, which is relative to the largest element.
    size = float(np.abs(y).max())
    for op, f, scale in (("var", np.var, size * size), ("std", np.std, size)):
        atol = 16 * scale * (work if op == "var" else work**0.5)
        output = tensor(f(y, axis=axis), dtype)
        yield case(op, [x], output, attributes(axis), rtol=4 * EPS[dtype], atol=atol)


def products():
    for dtype in FLOATS:
        x = tensor(1 + wide(draw(dtype, 5, 7)) / 4, dtype)
        for axis in (0, 1, None):
            output = tensor(np.prod(wide(x), axis=axis), dtype)
            yield case("prod", [x], output, attributes(axis), rtol=64 * EPS[dtype])
    for dtype in INTEGERS:
        x = draw(dtype, 5, 7)
        output = DTYPES["u64" if dtype[0] == "u" else "i64"]
        yield case("prod", [x], np.prod(x, axis=0, dtype=output), attributes(0))
        yield case("prod", [x], np.prod(x, axis=None, dtype=output), attributes(None))


def argmin():
    for dtype in INTEGERS + FLOATS:
        for shape, axis in [((17,), 0), ((5, 7), 0), ((5, 7), -1), ((3, 4, 5), None)]:
            x = draw(dtype, *shape)
            output = np.argmin(x, axis=axis).astype(np.int64)
            yield case("argmin", [x], output, attributes(axis))
    x = tensor([[1, NAN, -9, NAN], [2, 2, 2, 2]], "f64")
    yield case("argmin", [x], np.argmin(x, axis=1), attributes(1))
