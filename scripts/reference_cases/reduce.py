"""Reductions over axes, and argmax."""

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
    case,
    draw,
    tensor,
    wide,
)

SHAPES = [((), None), ((1,), 0), ((17,), None), ((5, 7), 0), ((5, 7), -1), ((5, 7), None),
          ((3, 4, 5), 1), ((3, 4, 5), (0, 2)), ((3, 4, 5), (-1, -3)), ((2, 1, 3, 1), (1, 3))]  # fmt: skip


def reduction(op, x, axis, keepdims=False):
    """A sum, mean, norm, min or max, with the tolerance that any order of summation meets."""
    name = NAMES[x.dtype]
    attrs = {"axis": list(axis) if isinstance(axis, tuple) else axis, "keepdims": keepdims}
    over = {"axis": axis, "keepdims": keepdims}
    if op in ("min", "max"):
        return case(op, [x], getattr(np, op)(x, **over), attrs)
    y = wide(x)
    if op == "sum":
        dtype = name if name in FLOATS + COMPLEX else "u64" if name[0] == "u" else "i64"
        output, size = np.sum(y, **over), np.sum(np.abs(y), **over)
    elif op == "mean":
        dtype = name if name in FLOATS + COMPLEX else "f64"
        y = y if dtype == name else y.astype(np.longdouble)
        output, size = np.mean(y, **over), np.mean(np.abs(y), **over)
    else:
        dtype = REAL.get(name, name if name in FLOATS else "f64")
        output = size = np.sqrt(
            np.sum(np.abs(y.astype(np.result_type(y, np.longdouble))) ** 2, **over)
        )
    if dtype not in EPS:
        return case(op, [x], output.astype(DTYPES[dtype]), attrs)
    accumulator = EPS["f32"] if dtype in ("f16", "bf16") else EPS[dtype]
    finite = size[np.isfinite(size)]
    atol = 4 * accumulator * float(finite.max()) if finite.size else 0.0
    return case(op, [x], tensor(output, dtype), attrs, rtol=EPS[dtype], atol=atol)


def reduce():
    for op in ("sum", "mean", "min", "max"):
        for dtype in ["u8", "i8", "u16", "i16", "i32", "u32", "i64", "u64"] + FLOATS:
            for shape, axis in SHAPES if dtype in ("f32", "i32") else SHAPES[4:8]:
                yield reduction(op, draw(dtype, *shape), axis)
            yield reduction(op, draw(dtype, 3, 4), 1, keepdims=True)
            yield reduction(op, draw(dtype, 3, 4), None, keepdims=True)
        for dtype in FLOATS:
            x = tensor(
                [[1, NAN, 3], [INF, 2, 1], [-INF, 0, 5], [INF, -INF, 0], [-0.0, -0.0, -0.0]], dtype
            )
            yield reduction(op, x, 1)
            yield reduction(op, x, 0)
        yield reduction(op, draw("f32", 0, 3), 1)
        yield reduction(op, draw("f32", 101, 5), 0)
        yield reduction(op, draw("f32", 5, 101), 1)
        yield reduction(op, draw("f32", 509), None)
    for op in ("sum", "mean"):
        for dtype in COMPLEX:
            yield reduction(op, draw(dtype, 3, 7), 0)
            yield reduction(op, draw(dtype, 3, 7), None)
        yield reduction(op, draw("f32", 3, 0), 1)
        yield reduction(op, draw("f64", 0), None)
        yield reduction(op, tensor([60000, 60000, -30000], "f16"), None)
        yield reduction(op, tensor(np.full(400, 0.1), "f16"), None)
        yield reduction(op, tensor(np.full(300, 1.01), "bf16"), None)
    yield reduction("sum", np.array([], np.int32), None)
    yield reduction("sum", draw("bool", 4, 5), 0)
    yield reduction("sum", draw("bool", 4, 5), None)
    for dtype in ("i8", "u8", "i32", "u32", "i64", "u64"):
        yield reduction("sum", tensor(np.full(5, np.iinfo(DTYPES[dtype]).max), dtype), None)
    yield from argmax()


def argmax():
    def of(x, axis, keepdims=False):
        attrs = {"axis": axis, "keepdims": keepdims}
        return case(
            "argmax", [x], np.argmax(x, axis=axis, keepdims=keepdims).astype(np.int64), attrs
        )

    for dtype in INTEGERS + FLOATS:
        for shape, axis in [
            ((17,), 0),
            ((5, 7), 0),
            ((5, 7), -1),
            ((3, 4, 5), None),
            ((3, 4, 5), 1),
        ]:
            yield of(draw(dtype, *shape), axis)
        yield of(draw(dtype, 3, 4), 1, keepdims=True)
        yield of(tensor([[1, 3, 3, 2], [5, 5, 5, 5]], dtype), 1)
    for dtype in FLOATS:
        yield of(
            tensor([[1, NAN, INF, NAN], [-INF, -INF, -INF, -INF], [-0.0, 0.0, -1, -INF]], dtype), 1
        )
    yield of(draw("f32", 0, 3), 1)
    yield of(draw("f32", 1), None)
