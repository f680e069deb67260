"""Softmax, also where exponentials overflow."""

import numpy as np

from .tensors import EPS, FLOATS, INF, NAMES, NAN, TINY, case, draw, tensor, wide


def softmax():
    for dtype in FLOATS:
        for dims, axis in [
            ((1,), 0),
            ((7,), -1),
            ((5, 7), 0),
            ((5, 7), 1),
            ((3, 4, 5), -2),
            ((2, 101), -1),
            ((0, 3), 1),
        ]:
            yield softmax_of(tensor(3 * draw(dtype, *dims).astype(np.float64), dtype), axis)
        yield softmax_of(
            tensor([[1e4, 1e4, -1e4], [-6e4, -6e4, -6e4], [0, -0.0, 0], [88, 89, 90]], dtype), 1
        )
        yield softmax_of(
            tensor([[-INF, 0, 1], [INF, 0, 1], [NAN, 0, 1], [-INF, -INF, -INF]], dtype), 1
        )
        yield softmax_of(tensor([[-INF, 0, 1], [0, 0, 1]], dtype), 0)


def softmax_of(x, axis):
    y = wide(x)
    e = np.exp(y - (np.max(y, axis=axis, keepdims=True) if x.size else 0))
    output = tensor(e / np.sum(e, axis=axis, keepdims=True), NAMES[x.dtype])
    name = NAMES[x.dtype]
    rtol = (2 if name in ("f16", "bf16") else 32) * EPS[name]
    return case("softmax", [x], output, {"axis": axis}, rtol=rtol, atol=TINY[name])
