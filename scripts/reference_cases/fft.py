"""Fourier transforms, from the definition."""

import numpy as np

from .tensors import EPS, NAMES, case, draw, tensor, wide


def dft(x, axis, sign):
    """The transform by its definition."""
    n = x.shape[axis]
    turns = np.outer(np.arange(n), np.arange(n)) % n / np.longdouble(n)
    matrix = np.exp(sign * 2j * np.longdouble("3.14159265358979323846264338327950288") * turns)
    return np.moveaxis(np.moveaxis(x.astype(np.clongdouble), axis, -1) @ matrix, -1, axis)


def transform(op, x, axis=-1):
    name = NAMES[x.dtype]
    dtype = {"f32": "c64", "f64": "c128"}.get(name, name)
    axes, sign = (-2, -1) if op.endswith("2") else (axis,), 1 if op.startswith("i") else -1
    output = wide(x)
    for one in axes:
        output = dft(output, one, sign)
    length = int(np.prod([x.shape[one] for one in axes]))
    if sign == 1:
        output = output / length
    if op == "rfft":
        output = np.take(output, range(length // 2 + 1), axis)
    norm = float(np.sqrt(np.max(np.sum(np.abs(wide(x)) ** 2, axis=axes)))) if x.size else 0.0
    atol = 4 * EPS[dtype] * np.log2(2 * length) * norm / (length if sign == 1 else 1)
    attrs = {} if op.endswith("2") else {"axis": axis}
    return case(op, [x], tensor(output, dtype), attrs, atol=atol)


def fft():
    for op in ("fft", "ifft", "rfft"):
        for dtype in ["f32", "f64"] if op == "rfft" else ["f32", "f64", "c64", "c128"]:
            single = dtype in ("f32", "c64")
            for n in (1, 2, 3, 4, 5, 7, 8, 12, 17, 30, 64, 97) if single else (1, 6, 11, 16):
                yield transform(op, draw(dtype, n))
            yield transform(op, draw(dtype, 3, 5, 4), axis=1)
            yield transform(op, draw(dtype, 5, 6), axis=0)
            yield transform(op, draw(dtype, 5, 6), axis=-1)
            yield transform(op, draw(dtype, 0, 4))
        yield transform(op, draw("f32", 210))
        yield transform(op, draw("f64", 257))
    for op in ("fft2", "ifft2"):
        for dtype in ("f32", "f64", "c64", "c128"):
            for shape in [(1, 1), (4, 4), (3, 5), (8, 1), (1, 7), (7, 16), (2, 3, 4), (2, 1, 5, 3)]:
                yield transform(op, draw(dtype, *shape))
        yield transform(op, draw("c64", 13, 24))
