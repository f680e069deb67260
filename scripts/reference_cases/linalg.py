"""Matrix products, transposes, traces and norms."""

import numpy as np

from .reduce import reduction
from .tensors import (
    COMPLEX,
    DTYPES,
    EPS,
    FLOATS,
    INF,
    INTEGERS,
    NAMES,
    NAN,
    case,
    draw,
    encode,
    tensor,
    wide,
)


def matmul(a, b):
    name = NAMES[a.dtype]
    output = np.matmul(wide(a), wide(b))
    if name in INTEGERS:
        return case("matmul", [a, b], output.astype(DTYPES[name]))
    size = np.matmul(np.abs(wide(a)), np.abs(wide(b)))
    accumulator = EPS["f32"] if name in ("f16", "bf16") else EPS[name]
    finite = size[np.isfinite(size)] if size.size else size.ravel()
    atol = 4 * accumulator * float(finite.max()) if finite.size else 0.0
    return case("matmul", [a, b], tensor(output, name), rtol=EPS[name], atol=atol)


def linalg():
    shapes = [
        ((5,), (5,)), ((4, 5), (5,)), ((5,), (5, 3)), ((1, 1), (1, 1)), ((3, 5), (5, 7)), ((17, 31), (31, 13)),
        ((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)),
        ((2, 3, 4), (4,)), ((4,), (2, 4, 3)), ((0, 3), (3, 2)), ((3, 0), (0, 2)), ((2, 3), (3, 0)), ((0,), (0,)),
    ]  # fmt: skip
    for dtype in ["i32", "i64"] + FLOATS + COMPLEX:
        for a, b in shapes if dtype == "f32" else shapes[:5] + shapes[6:10]:
            yield matmul(draw(dtype, *a), draw(dtype, *b))
    for a, b in [((1, 67), (67, 1)), ((19, 1), (1, 23)), ((9, 65), (65, 10)), ((1, 129), (129, 3))]:
        yield matmul(draw("f32", *a), draw("f32", *b))
        yield matmul(draw("f64", *a), draw("f64", *b))
    yield matmul(tensor([[INF, 1], [NAN, 1], [1, 2]], "f32"), tensor([[0, 1], [2, 3]], "f32"))
    yield matmul(tensor([[60000, 60000]], "f16"), tensor([[1], [-0.5]], "f16"))

    for dtype in ["bool", "u8", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"]:
        for shape, axes in [((3, 5), None), ((3, 4, 5), (2, 0, 1)), ((2, 3, 4, 5), (0, 2, 1, 3))]:
            x = draw(dtype, *shape)
            attrs = {"axes": list(axes) if axes else None}
            yield case("transpose", [x], np.transpose(x, axes), attrs)
    for shape, axes in [
        ((7,), (0,)),
        ((), ()),
        ((0, 3), (1, 0)),
        ((3, 4, 5), (-1, 0, -2)),
        ((17, 33), (1, 0)),
    ]:
        x = draw("f32", *shape)
        yield case("transpose", [x], np.transpose(x, axes), {"axes": list(axes)})

    for dtype in ["i32", "u8", "i64"] + FLOATS + COMPLEX:
        for shape in [(1, 1), (5, 5), (4, 7), (7, 4), (2, 3, 3)]:
            yield trace(draw(dtype, *shape))
    yield trace(draw("f32", 0, 0))
    yield trace(draw("f64", 31, 31))

    for dtype in ["i32", "u8"] + FLOATS + COMPLEX:
        for shape, axis in [
            ((17,), None),
            ((5, 7), None),
            ((5, 7), 0),
            ((5, 7), -1),
            ((3, 4, 5), (1, 2)),
        ]:
            yield reduction("norm", draw(dtype, *shape), axis)
        yield reduction("norm", draw(dtype, 3, 4), 1, keepdims=True)
    yield reduction("norm", draw("f32", 0), None)
    yield reduction("norm", draw("f32"), None)
    yield reduction("norm", tensor([[1, NAN], [-INF, 2], [3, -4]], "f32"), 1)


def trace(x):
    """The sum of the diagonal of the last two axes."""
    summed = reduction("sum", np.diagonal(x, axis1=-2, axis2=-1), -1)
    return {**summed, "op": "trace", "inputs": [encode(x)], "attrs": {}}
