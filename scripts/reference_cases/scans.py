"""Running sums, products and extremes."""

import numpy as np

from .order import SHAPES, along
from .tensors import COMPLEX, DTYPES, EPS, FLOATS, INF, INTEGERS, NAN, case, draw, tensor, wide


def scan(x, f, start, axis, exclusive, reverse):
    """By definition, element by element."""

    def row(values):
        values = values[::-1] if reverse else values
        results, total = [], start
        for value in values:
            after = f(total, value)
            results.append(total if exclusive else after)
            total = after
        return results[::-1] if reverse else results

    return along(row, x, axis, x.shape[axis], x.dtype)


def scans():
    for dtype in ["bool"] + INTEGERS + FLOATS + COMPLEX:
        exact = dtype not in FLOATS + COMPLEX
        for number, (shape, axis) in enumerate(SHAPES if dtype in ("f32", "i32") else SHAPES[3:4] + SHAPES[:1]):
            exclusive, reverse = bool(number & 1), bool(number & 2)
            attrs = {"axis": axis, "exclusive": exclusive, "reverse": reverse}
            x = draw(dtype, *shape)
            y = wide(x)
            eps = 0 if exact else 2 * EPS["f32" if dtype in ("f16", "bf16") else dtype]
            out = ("u64" if dtype[0] == "u" else "i64") if exact else dtype
            for op, f, start in (("cumsum", np.add, 0), ("cumprod", np.multiply, 1)):
                with np.errstate(all="ignore"):
                    output = scan(y, f, y.dtype.type(start), axis, exclusive, reverse)
                    size = scan(np.abs(y), f, np.abs(y).dtype.type(start), axis, exclusive, reverse)
                    output = output.astype(DTYPES[out]) if exact else tensor(output, out)
                largest = float(size.max()) if size.size and not exact else 0
                steps = shape[axis]
                atol = eps * steps * largest if op == "cumsum" else 0
                rtol = 0 if exact else EPS[dtype] + eps * steps
                yield case(op, [x], output, attrs, rtol=rtol, atol=atol)
            if dtype not in COMPLEX + ["bool"]:
                attrs = {"axis": axis, "reverse": reverse}
                flip = (lambda a, axis=axis: np.flip(a, axis)) if reverse else (lambda a: a)
                z = x if dtype != "bf16" else x.astype(np.float32)
                largest = flip(np.maximum.accumulate(flip(z), axis)).astype(x.dtype)
                smallest = flip(np.minimum.accumulate(flip(z), axis)).astype(x.dtype)
                yield case("cummax", [x], largest, attrs)
                yield case("cummin", [x], smallest, attrs)
    x = tensor([2, NAN, 5, -INF, INF], "f32")
    yield case("cummax", [x], np.maximum.accumulate(x), {"axis": 0, "reverse": False})
    yield case("cummin", [x], np.minimum.accumulate(x), {"axis": 0, "reverse": False})
    yield case("cumsum", [x], np.cumsum(x), {"axis": 0})
