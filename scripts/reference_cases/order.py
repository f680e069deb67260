"""Sorting and searching."""

import numpy as np

from .tensors import DTYPES, FLOATS, INF, INTEGERS, NAMES, NAN, case, draw, encode, tensor

SHAPES = [((17,), 0), ((5, 7), 0), ((5, 7), -1), ((3, 4, 5), 1), ((1,), 0), ((2, 67), 0), ((0, 3), 1), ((3, 0), -1)]  # fmt: skip


def order():
    yield from sorts()
    yield from searches()


def ordinal(x, descending=False):
    """Python's sort of a list is stable; NaN as the largest, -0 as 0."""

    def key(at):
        value = float(x[at]) if NAMES[x.dtype] in FLOATS else int(x[at])
        return (1, 0) if value != value else (0, value)

    def backwards(at):
        group, value = key(at)
        return -group, -value

    return sorted(range(len(x)), key=backwards if descending else key)


def along(f, x, axis, length, dtype):
    """What `f` makes of each slice."""
    moved = np.moveaxis(x, axis, -1)
    output = np.zeros((*moved.shape[:-1], length), dtype)
    for index in np.ndindex(*moved.shape[:-1]):
        output[index] = f(moved[index])
    return np.ascontiguousarray(np.moveaxis(output, -1, axis))


def sorts():
    for dtype in ["bool"] + INTEGERS + FLOATS:
        for shape, axis in SHAPES if dtype in ("f32", "i64") else SHAPES[3:4]:
            x = draw(dtype, *shape)
            yield from sort_cases(x, axis, bool(len(shape) % 2))
    for dtype in FLOATS:
        x = tensor([[NAN, 1, -0.0, INF, 0.0, NAN, -INF], [3, 0.0, -0.0, 3, NAN, -NAN, 2]], dtype)
        yield from sort_cases(x, 1, False)
        yield from sort_cases(x, 1, True)
    for dtype in INTEGERS:
        limits = np.iinfo(DTYPES[dtype])
        x = tensor([limits.max, 0, limits.min, limits.max - 1, 1], dtype)
        yield from sort_cases(x, 0, False)


def sort_cases(x, axis, descending):
    attrs = {"axis": axis, "descending": descending}
    size = x.shape[axis]
    places = along(lambda row: ordinal(row, descending), x, axis, size, np.int64)
    yield case("argsort", [x], places, attrs)
    values = np.take_along_axis(x, places, axis)
    yield case("sort", [x], values, attrs, signed_zeros=True)
    for k in sorted({0, min(2, size), size}):
        for in_order in (True, False) if k == 2 else (True,):
            first = np.take(places, range(k), axis)
            if not in_order:
                first = np.sort(first, axis)
            attrs = {"axis": axis, "k": k, "largest": descending, "sorted": in_order}
            top = case("topk", [x], np.take_along_axis(x, first, axis), attrs)
            top["outputs"].append(encode(first))
            yield top


def searches():
    for dtype in INTEGERS + FLOATS:
        a, v = np.sort(draw(dtype, 13)), draw(dtype, 2, 9)
        v[0, :3] = a[[0, 5, 12]]
        for side in ("left", "right"):
            yield case("searchsorted", [a, v], np.searchsorted(a, v, side), {"side": side})
    a = tensor([-INF, -1, 0, 0, 2, INF, NAN, NAN], "f32")
    v = tensor([NAN, INF, -INF, -0.0, 1], "f32")
    for side in ("left", "right"):
        yield case("searchsorted", [a, v], np.searchsorted(a, v, side), {"side": side})
        yield case("searchsorted", [a[:0], v], np.zeros(5, np.int64), {"side": side})
    a, v = np.array([1, 3, 5], np.int32), np.array([0.5, 3.0, 9.5], np.float32)
    yield case("searchsorted", [a, v], np.searchsorted(a, v))
