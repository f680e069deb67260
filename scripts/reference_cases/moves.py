"""Ops that move, pick, scatter or make elements."""

import numpy as np

from .tensors import COMPLEX, DTYPES, FLOATS, INTEGERS, case, draw, encode, tensor, wide


def moves():
    yield from views()
    yield from pads()
    yield from repeats()
    yield from splits()
    yield from triangles()
    yield from bits()
    yield from made()
    yield from takes()
    yield from scatters()


def several(op, inputs, outputs, attrs=None):
    """A case with more than one result."""
    made = case(op, inputs, outputs[0], attrs)
    return {**made, "outputs": [encode(output) for output in outputs]}


def views():
    for dims, axis in [((1, 3, 1), None), ((1, 3, 1), 0), ((1, 3, 1), [0, -1]), ((), None), ((1, 0), 0)]:
        x = draw("f32", *dims)
        axes = tuple(axis) if isinstance(axis, list) else axis
        yield case("squeeze", [x], np.squeeze(x, axes), {"axis": axis})
    for dims, axis in [((3,), 0), ((3,), -1), ((), 0), ((2, 3), [0, 2]), ((2, 3), [-1, 1, 0]), ((0,), 1)]:
        x = draw("i16", *dims)
        axes = tuple(axis) if isinstance(axis, list) else axis
        yield case("expand_dims", [x], np.expand_dims(x, axes), {"axis": axis})
    for dims, start, end in [((2, 3, 5), 0, -1), ((2, 3, 5), 1, 2), ((2, 3, 5), 0, 1), ((2, 3, 5), 1, 1),
                             ((), 0, -1), ((0, 7), 0, -1), ((3,), -1, 0)]:  # fmt: skip
        x = draw("f64", *dims)
        low, high = start % max(x.ndim, 1), end % max(x.ndim, 1)
        flat = x.reshape(x.shape[:low] + (-1 if x.size else 0,) + x.shape[high + 1 :])
        yield case("flatten", [x], flat, {"start_axis": start, "end_axis": end})
    for dims, a, b in [((2, 3, 5), 0, 2), ((2, 3, 5), -1, 1), ((2, 3, 5), 1, 1), ((0, 3), 0, 1)]:
        x = draw("c64", *dims)
        yield case("swapaxes", [x], np.swapaxes(x, a, b), {"axis1": a, "axis2": b})
    for dims, source, to in [((2, 3, 5, 7), 0, -1), ((2, 3, 5, 7), [0, 1], [-1, -2]),
                             ((2, 3, 5, 7), [3, 0], [0, 2]), ((2, 3), 1, 1)]:  # fmt: skip
        x = draw("u8", *dims)
        yield case("moveaxis", [x], np.moveaxis(x, source, to), {"source": source, "destination": to})
    for dims, axis in [((7,), None), ((2, 3, 5), None), ((2, 3, 5), 1), ((2, 3, 5), [0, -1]), ((), None), ((3, 0), 0)]:
        x = draw("f16", *dims)
        axes = tuple(axis) if isinstance(axis, list) else axis
        yield case("flip", [x], np.flip(x, axes), {"axis": axis})
    for dims, offset in [((3, 3), 0), ((3, 5), 1), ((3, 5), -2), ((5, 3), 9), ((5, 3), -9), ((2, 4, 3), -1), ((0, 3), 0)]:
        x = draw("f32", *dims)
        yield case("diagonal", [x], np.diagonal(x, offset, -2, -1), {"offset": offset})


MODES = ["edge", "reflect", "symmetric", "wrap"]


def padded(x, widths, mode="constant", value=0):
    """`np.pad`, where negative widths take away from what the others see."""
    options = {"constant_values": value} if mode == "constant" else {"mode": mode}
    if not x.ndim:
        return x
    grown = np.pad(x, [(max(a, 0), max(b, 0)) for a, b in widths], **options)
    cut = [slice(max(-a, 0), grown.shape[axis] - max(-b, 0)) for axis, (a, b) in enumerate(widths)]
    return grown[tuple(cut)]


def pads():
    for dtype in DTYPES:
        x = draw(dtype, 2, 3)
        widths = [(1, 0), (2, 1)]
        value = 1 if dtype == "bool" else 7
        yield case("pad", [x], padded(x, widths, value=value), {"pad_width": [1, 2, 0, 1], "value": value})
        yield case("pad", [x], padded(x, widths, "symmetric"), {"pad_width": [1, 2, 0, 1], "mode": "symmetric"})
    for mode in MODES:
        for dims, widths in [
            ((5,), [(2, 3)]), ((3,), [(7, 8)]), ((1,), [(2, 3)]), ((2,), [(5, 4)]), ((5,), [(-1, 2)]),
            ((5,), [(2, -3)]), ((3, 4), [(1, 2), (3, 0)]), ((3, 4), [(0, 0), (0, 2)]), ((3, 4), [(2, 1), (0, 0)]),
            ((2, 3, 4), [(1, 1), (0, 0), (2, 5)]), ((2, 0), [(1, 1), (0, 0)]), ((2, 3, 4), [(3, 1), (0, 0), (0, 0)]),
        ]:  # fmt: skip
            x = draw("i32", *dims)
            flat = [a for a, _ in widths] + [b for _, b in widths]
            yield case("pad", [x], padded(x, widths, mode), {"pad_width": flat, "mode": mode})
    for dims, widths in [
        ((5,), [(2, 3)]), ((5,), [(-1, -2)]), ((5,), [(-5, 3)]), ((0,), [(2, 1)]), ((3, 4), [(1, -1), (-2, 2)]),
        ((2, 0, 3), [(0, 0), (1, 1), (0, 0)]), ((2, 3, 4), [(1, 2), (0, 1), (0, 0)]), ((), []),
    ]:  # fmt: skip
        x = draw("f64", *dims)
        flat = [a for a, _ in widths] + [b for _, b in widths]
        attrs = {"pad_width": flat or 0, "value": -0.5}
        yield case("pad", [x], padded(x, widths, value=-0.5), attrs)
    x = draw("f32", 2, 3, 4)
    yield case("pad", [x], np.pad(x, 1), {"pad_width": 1})
    yield case("pad", [x], np.pad(x, [(1, 1), (2, 2), (0, 0)]), {"pad_width": [1, 2, 0]})
    yield case("pad", [x], np.pad(x, [(0, 0), (0, 0), (3, 1)]), {"pad_width": [3, 1], "axis": -1})
    for dims, shift, axis in [
        ((7,), 2, None), ((7,), -3, None), ((7,), 700001, 0), ((0,), 3, 0), ((3, 4), 1, 0), ((3, 4), -1, 1),
        ((3, 4), [1, 2], [0, 1]), ((3, 4), [2, 1], [1, 0]), ((3, 4), 1, [0, 1]), ((3, 4, 5), 2, 1), ((5,), 0, 0),
    ]:  # fmt: skip
        x = draw("bf16", *dims)
        axes = tuple(axis) if isinstance(axis, list) else axis
        yield case("roll", [x], np.roll(x, shift, axes), {"shift": shift, "axis": axis})


def repeats():
    for dims, times in [((3,), 2), ((3,), [2, 2]), ((2, 3), 2), ((2, 3), [2, 1]), ((2, 3), [1, 3]), ((2, 3), [0, 2]),
                        ((), [2, 3]), ((2, 0), [3, 2]), ((2, 3, 4), [2, 1, 3])]:  # fmt: skip
        x = draw("i64", *dims)
        yield case("tile", [x], np.tile(x, times), {"repeats": times})
    for dims, times, axis in [((3,), 2, None), ((3,), 0, 0), ((2, 3), 3, 0), ((2, 3), 3, -1), ((2, 3, 4), 2, 1), ((0, 2), 2, 0)]:
        x = draw("c128", *dims)
        yield case("repeat", [x], np.repeat(x, times, axis), {"repeats": times, "axis": axis})


def splits():
    for dims, parts, axis in [((6,), 3, 0), ((6,), 1, 0), ((4, 6), 2, 1), ((0, 3), 2, 0)]:
        x = draw("u16", *dims)
        yield several("split", [x], np.split(x, parts, axis), {"parts": parts, "axis": axis})
    for dims, sizes, axis in [((6,), [1, 2, 3], 0), ((6,), [6, 0], 0), ((4, 6), [1, 5], -1), ((4, 6), [3, 1], 0)]:
        x = draw("f32", *dims)
        outputs = np.split(x, np.cumsum(sizes)[:-1], axis)
        yield several("split", [x], outputs, {"parts": sizes, "axis": axis})
    x = draw("f32", 7, 2)
    yield several("split", [x], np.split(x, [2, 4]), {"parts": [2, 2, -1]})
    for dims, indexing in [((3, 2), "xy"), ((3, 2), "ij"), ((3, 2, 4), "xy"), ((3, 2, 4), "ij"), ((3,), "xy"), ((0, 2), "xy")]:
        xs = [draw(dtype, size) for dtype, size in zip(["f32", "i64", "u8"], dims)]
        yield several("meshgrid", xs, np.meshgrid(*xs, indexing=indexing), {"indexing": indexing})


def triangles():
    for dims, k in [((3, 3), 0), ((4, 5), 1), ((4, 5), -2), ((4, 5), 9), ((4, 5), -9), ((2, 3, 1), 0), ((2, 0, 3), 0), ((1, 5), 2)]:
        for op, reference in [("tril", np.tril), ("triu", np.triu)]:
            for dtype in ["bool", "f16", "i32", "c64", "c128"]:
                x = draw(dtype, *dims)
                yield case(op, [x], reference(x, k), {"k": k})
    for dims, k in [((3,), 0), ((3,), 2), ((3,), -1), ((0,), 1), ((3, 4), 0), ((3, 4), 2), ((3, 4), -2), ((3, 4), 9)]:
        x = draw("f32", *dims)
        yield case("diag", [x], np.diag(x, k), {"k": k})


def bits():
    for old, new in [("f32", "i32"), ("i32", "f32"), ("f64", "u64"), ("f16", "i16"), ("bool", "u8"), ("i8", "u8"), ("c64", "f64")]:
        x = draw(old, 3, 4)
        yield case("bitcast", [x], x.view(DTYPES[new]), {"dtype": new})


def made():
    for dtype in DTYPES:
        attrs = {"dtype": dtype}
        yield case("zeros", [], np.zeros((2, 3), DTYPES[dtype]), {"shape": [2, 3], **attrs})
        yield case("ones", [], tensor(np.ones((5,)), dtype), {"shape": [5], **attrs})
        yield case("full", [], tensor(np.full((3,), 1), dtype), {"shape": 3, "value": 1, **attrs})
        yield case("eye", [], tensor(np.eye(3), dtype), {"n": 3, **attrs})
        if dtype != "bool":
            yield case("arange", [], tensor(np.arange(2, 90, 7), dtype), {"start": 2, "stop": 90, "step": 7, **attrs})
        if dtype in FLOATS + COMPLEX:
            rtol = 2.0**-8 if dtype in ["f16", "bf16"] else 1e-6 if dtype in ["f32", "c64"] else 1e-15
            even = tensor(np.linspace(np.longdouble(-1), 2.5, 11).astype(np.float64), dtype)
            yield case("linspace", [], even, {"start": -1, "stop": 2.5, "num": 11, **attrs}, rtol, 1e-15)
    yield case("full", [], np.full((), -2.5, np.float32), {"shape": [], "value": -2.5, "dtype": "f32"})
    yield case("zeros", [], np.zeros((0, 3), np.float32), {"shape": [0, 3], "dtype": "f32"})
    for n, m, k in [(2, 5, 1), (5, 2, -2), (3, 3, 9), (0, 2, 0), (3, 0, 0)]:
        yield case("eye", [], np.eye(n, m, k, np.int32), {"n": n, "m": m, "k": k, "dtype": "i32"})
    for start, stop, step in [(0, 5, 1), (5, 0, -1), (5, 0, 1), (-3, 8, 4), (10, -10, -7), (3, 3, 1)]:
        yield case("arange", [], np.arange(start, stop, step), {"start": start, "stop": stop, "step": step})
    yield case("arange", [], np.arange(5), {"start": 5})
    top = 2**64 - 1
    yield case("arange", [], np.array([top - 2, top - 1], np.uint64), {"start": top - 2, "stop": top, "dtype": "u64"})
    for start, stop, num, endpoint in [(0, 1, 1, True), (0, 1, 0, True), (0, 1, 5, False), (3, -3, 4, True), (2, 2, 3, True), (5, 9, 1, False)]:
        attrs = {"start": start, "stop": stop, "num": num, "endpoint": endpoint}
        yield case("linspace", [], np.linspace(start, stop, num, endpoint), attrs, 1e-15, 1e-15)


def takes():
    for dtype in DTYPES:
        x = draw(dtype, 5, 3)
        i = np.array([4, 0, -1, -5, 2, 2])
        yield case("take", [x, i], np.take(x, i, 0), {"axis": 0})
        j = np.array([[2, 0, -1], [0, -5, 1]])
        yield case("take_along_axis", [x, j], np.take_along_axis(x, j, 0), {"axis": 0})
    for dims, shape, axis in [((7,), (3,), None), ((7,), (), 0), ((7,), (2, 3), 0), ((2, 7, 3), (4,), 1), ((2, 7, 3), (2, 2), -2),
                              ((2, 3, 7), (5,), 2), ((2, 7), (0,), 1), ((0, 7), (3,), 1), ((3, 2, 0), (4,), 0)]:  # fmt: skip
        x = draw("f32", *dims)
        size = dims[axis or 0]
        i = picks(size, shape)
        yield case("take", [x, i], np.take(x, i, axis or 0), {"axis": axis})
    x, i = draw("f32", 4), np.array([3, 1], np.uint8)
    yield case("take", [x, i], x[i])
    for dims, shape, axis in [((3, 4), (3, 2), -1), ((3, 4), (5, 4), 0), ((3, 4), (1, 4), 0), ((3, 1), (3, 2), 1), ((1, 4), (3, 2), 1),
                              ((3, 4), (1, 2), 1), ((2, 3, 4), (2, 2, 4), 1), ((7,), (3,), 0), ((3, 4), (3, 0), 1)]:  # fmt: skip
        x = draw("f64", *dims)
        i = picks(dims[axis], shape)
        yield case("take_along_axis", [x, i], np.take_along_axis(x, i, axis), {"axis": axis})
    for dims, shape, batch in [((3, 4), (5, 2), 0), ((3, 4), (5, 1), 0), ((3, 4, 2), (2, 3, 2), 0), ((3, 4, 5), (3, 2), 1),
                               ((3, 4, 5), (3, 6, 1), 1), ((2, 3, 4, 5), (2, 3, 2, 1), 2), ((3, 4), (0, 2), 0), ((3, 4), (2, 0), 0)]:  # fmt: skip
        x = draw("i16", *dims)
        length = shape[-1]
        sizes = np.array(dims[batch : batch + length], np.int64)
        i = np.stack([picks(size, shape[:-1]) for size in sizes], -1) if length else np.zeros(shape, np.int64)
        yield case("gather_nd", [x, i], gather_nd(x, i, batch), {"batch_axes": batch})
    for dims, lengths, axis, batch in [((2, 5), [3, 5], 1, 0), ((5, 2), [0, 4], 0, 1), ((2, 3, 4), [1, 3], 1, 0),
                                       ((2, 3, 4), [4, 0, 2], 2, 1), ((0, 3), [], 1, 0), ((3, 2, 4), [2, 3, 1, 0], 0, 2)]:  # fmt: skip
        x = draw("f32", *dims)
        n = np.array(lengths, np.int64)
        y = x.copy()
        for at, length in enumerate(lengths):
            lane = [slice(None)] * x.ndim
            lane[batch], lane[axis] = at, slice(0, length)
            y[tuple(lane)] = np.flip(x[tuple(lane)], axis - (batch < axis))
        yield case("reverse_sequence", [x, n], y, {"axis": axis, "batch_axis": batch})


def picks(size, shape):
    """Indices from both ends, in no order."""
    count = int(np.prod(shape, dtype=int))
    return np.array([(7 * at + 3) % (2 * size) - size if size else 0 for at in range(count)], np.int64).reshape(shape)


def gather_nd(x, indices, batch):
    result = np.empty(indices.shape[:-1] + x.shape[batch + indices.shape[-1] :], x.dtype)
    for place in np.ndindex(indices.shape[:-1]):
        result[place] = x[place[:batch] + tuple(indices[place])]
    return result


MEETS = {"none": lambda a, b: b, "add": lambda a, b: a + b, "mul": lambda a, b: a * b, "max": np.maximum, "min": np.minimum}


def scatters():
    for dtype in DTYPES:
        for reduction in MEETS:
            if (dtype in COMPLEX and reduction in ["max", "min"]) or (dtype == "bool" and reduction in ["add", "mul"]):
                continue
            attrs = {"reduction": reduction}
            exact = dtype in INTEGERS or dtype == "bool" or reduction in ["none", "max", "min"]
            rtol = 0 if exact else {"f16": 2e-3, "bf16": 2e-2, "f32": 1e-6, "c64": 1e-6}.get(dtype, 1e-15)
            x, i, u = draw(dtype, 3, 4), np.array([[0, -1, 0, 3, 3]] * 2), draw(dtype, 2, 5)
            y = scatter(x, i, u, 1, MEETS[reduction])
            yield case("scatter", [x, i, u], y, {"axis": 1, **attrs}, rtol, 1e-9)
            i = np.array([[0], [2], [0]])
            u = draw(dtype, 3, 4)
            y = scatter_nd(x, i, u, MEETS[reduction])
            yield case("scatter_nd", [x, i, u], y, attrs, rtol, 1e-9)
    for dims, shape, axis in [((7,), (3,), 0), ((3, 4), (2, 4), 0), ((3, 4), (5, 2), 0), ((3, 4), (2, 2), -1), ((2, 3, 4), (2, 5, 3), 1),
                              ((3, 4), (0, 4), 0), ((3, 4), (3, 0), 1)]:  # fmt: skip
        x, u = draw("f32", *dims), draw("f32", *shape)
        i = picks(dims[axis], shape)
        yield case("scatter", [x, i, u], scatter(x, i, u, axis, MEETS["none"]), {"axis": axis})
    for dims, shape in [((3, 4), (5, 2)), ((3, 4), (2, 2, 1)), ((3, 4, 2), (3, 2)), ((3, 4), (0, 1)), ((3, 4), (2, 0)), ((7,), (1,))]:
        length = shape[-1]
        u = draw("f32", *shape[:-1], *dims[length:])
        x = draw("f32", *dims)
        i = np.stack([picks(size, shape[:-1]) for size in dims[:length]], -1) if length else np.zeros(shape, np.int64)
        yield case("scatter_nd", [x, i, u], scatter_nd(x, i, u, MEETS["none"]))
    x = tensor([1, np.nan, 3], "f32")
    i, u = np.array([0, 1, 2]), tensor([np.nan, 2, 2], "f32")
    for reduction in ["max", "min"]:
        yield case("scatter", [x, i, u], scatter(x, i, u, 0, MEETS[reduction]), {"reduction": reduction})


def exactly(x):
    """Values in which sums and products are exact enough, and how to come back."""
    integers = x.dtype.kind in "iub"
    return x.copy() if integers else wide(x).copy()


def scatter(x, indices, updates, axis, meet):
    y, u = exactly(x), exactly(updates)
    for place in np.ndindex(indices.shape):
        at = list(place)
        at[axis] = indices[place]
        y[tuple(at)] = meet(y[tuple(at)], u[place])
    return back(y, x)


def scatter_nd(x, indices, updates, meet):
    y, u = exactly(x), exactly(updates)
    for place in np.ndindex(indices.shape[:-1]):
        at = tuple(indices[place])
        y[at] = meet(y[at], u[place])
    return back(y, x)


def back(y, x):
    if x.dtype.kind in "iub":
        return y
    return (y.astype(np.complex128) if y.dtype.kind == "c" else y.astype(np.float64)).astype(x.dtype)
