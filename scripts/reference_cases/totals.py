"""Norms, counts, quantiles, histograms, sums by segment."""

import numpy as np

from .tensors import COMPLEX, DTYPES, EPS, FLOATS, INF, INTEGERS, NAN, REAL, case, double, draw, tensor, wide


def totals():
    yield from norms()
    yield from reductions()
    yield from quantiles()
    yield from counts()


def norms():
    for dtype in ["u8", "i8", "i64"] + FLOATS + COMPLEX:
        out = REAL.get(dtype, dtype if dtype in FLOATS else "f64")
        for shape, axis in [((5, 3), 0), ((3, 2, 5), (0, 2)), ((7,), None)]:
            x = draw(dtype, *shape)
            y = np.abs(wide(x).astype(np.clongdouble if dtype in COMPLEX else np.longdouble))
            for order in (0, 1, 2, 3, 0.5, -1.5, INF, -INF) if axis == 0 else (1, 2, 2.5, INF):
                if order == INF:
                    output = np.max(y, axis)
                elif order == -INF:
                    output = np.min(y, axis)
                elif order == 0:
                    output = np.sum(y != 0, axis)
                else:
                    output = np.sum(y**order, axis) ** (1 / np.longdouble(order))
                attrs = {"axis": list(axis) if isinstance(axis, tuple) else axis, "ord": str_of(order)}
                accurate = 8 * max(EPS[out], EPS["f32"] if order == 2 and out != "f64" else 0)
                yield case("norm", [x], tensor(output, out), attrs, rtol=accurate)
    x = tensor([[1, NAN], [-INF, 2], [-3, 0]], "f32")
    for order in (0, 1, 3, INF, -INF):
        y = np.abs(double(x))
        output = [np.linalg.norm(row, order) for row in y]
        yield case("norm", [x], tensor(output, "f32"), {"axis": 1, "ord": str_of(order), "keepdims": False}, rtol=1e-6)  # fmt: skip
    for order in (0, 1, 3):
        yield case("norm", [draw("f32", 2, 0)], np.zeros(2, np.float32), {"axis": 1, "ord": str_of(order)})


def str_of(order):
    return {INF: "inf", -INF: "-inf"}.get(order, order)


# What reductions give of nothing.
EMPTY = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "var": np.var, "std": np.std, "any": np.any,
         "all": np.all, "count_nonzero": np.count_nonzero}  # fmt: skip


def reductions():
    for dtype in ["bool"] + INTEGERS + FLOATS:
        x = draw(dtype, 4, 5)
        x[1, ::2] = 0
        for axis in (0, None):
            yield case("count_nonzero", [x], np.count_nonzero(x, axis=axis), {"axis": axis})
    yield case("count_nonzero", [tensor([0.0, -0.0, NAN, INF], "f16")], np.int64(2), {"axis": None})
    for dtype in ["i8", "u32"] + FLOATS:
        out = dtype if dtype in FLOATS else "f64"
        for axis, keep in [(0, False), (1, True), (None, False)]:
            x = draw(dtype, 4, 9)
            y = wide(x).astype(np.longdouble)
            top = np.max(y, axis, keepdims=True)
            total = np.log(np.sum(np.exp(y - top), axis, keepdims=True)) + top
            output = total if keep else np.squeeze(total, axis if axis is not None else (0, 1))
            yield case("logsumexp", [x], tensor(output, out), {"axis": axis, "keepdims": keep},
                       rtol=4 * EPS[out], atol=4 * EPS["f32" if out != "f64" else "f64"])  # fmt: skip
    x = tensor([[INF, 1, -INF], [-INF, -INF, -INF], [NAN, 0, INF], [1000, 1000, -1000]], "f32")
    yield case("logsumexp", [x], tensor([INF, -INF, NAN, 1000 + np.log(2)], "f32"), {"axis": 1}, rtol=1e-6)
    yield case("logsumexp", [draw("f32", 2, 0)], tensor([-INF, -INF], "f32"), {"axis": 1})
    for op, f in EMPTY.items():
        yield case(op, [np.zeros((4, 0))], f(np.zeros((4, 0)), axis=1), {"axis": 1})
    for dtype in ("u8", "i32", "f32", "bf16"):
        x = draw(dtype, 2, 3, 4) % tensor(3, dtype)
        for op, f in (("argmax", np.argmax), ("argmin", np.argmin)):
            for axis in (0, 1, 2, None):
                size = x.size if axis is None else x.shape[axis]
                turned = np.flip(x, axis)
                yield case(op, [x], np.asarray(size - 1 - f(turned, axis=axis)), {"axis": axis, "last": True})


METHODS = ["linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf", "averaged_inverted_cdf",
           "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased"]  # fmt: skip
SHARES = [0.0, 0.125, 0.3, 0.5, 0.625, 0.9, 1.0]


def quantiles():
    for dtype in ["u8", "i32"] + FLOATS:
        out = dtype if dtype in FLOATS else "f64"
        for shape, axis in [((9,), None), ((4, 6), 0), ((3, 2, 5), (0, 2)), ((1, 3), 0)]:
            x = draw(dtype, *shape)
            attrs = {"axis": list(axis) if isinstance(axis, tuple) else axis}
            y = double(x)
            yield case("median", [x], tensor(np.median(y, axis=axis), out), attrs, rtol=EPS[out])
            for method in METHODS if dtype == "f64" else METHODS[:1]:
                output = np.quantile(y, SHARES, axis=axis, method=method)
                yield case("quantile", [x], tensor(output, out), {"q": SHARES, "method": method, **attrs},
                           rtol=2 * EPS[out], atol=4 * EPS["f64"] * float(np.abs(y).max()))  # fmt: skip
        x = draw(dtype, 6, 7)
        output = tensor(np.quantile(double(x), 0.35, axis=1, keepdims=True), out)
        yield case("quantile", [x], output, {"q": 0.35, "axis": 1, "keepdims": True}, rtol=2 * EPS[out],
                   atol=4 * EPS["f64"] * 51)  # fmt: skip
    x = tensor([[1, NAN, 2], [-INF, 0, INF], [-0.0, 5, 5]], "f32")
    yield case("median", [x], tensor([NAN, 0, 5], "f32"), {"axis": 1, "keepdims": False})
    yield case("quantile", [x], tensor([NAN, INF, 5], "f32"), {"q": 1, "axis": 1})


def counts():
    for dtype in ["u8", "i32"] + FLOATS:
        x = draw(dtype, 5, 7)
        for low, high, bins in [(-2, 2, 7), (0, 50, 10), (-1.3, 0.1, 3), (0, 1, 1)]:
            output, _ = np.histogram(double(x), bins, (low, high))
            yield case("histogram", [x], output.astype(np.int64), {"bins": bins, "range": [low, high]})
    x = tensor(np.round(np.linspace(0, 1, 101), 2), "f64")
    output, _ = np.histogram(x, 100, (0, 1))
    yield case("histogram", [x], output.astype(np.int64), {"bins": 100, "range": [0, 1]})
    yield case("histogram", [x[:0]], np.zeros(4, np.int64), {"bins": 4, "range": [0, 1]})
    for dtype in INTEGERS:
        x = np.abs(draw(dtype, 3, 19)) % tensor(6, dtype)
        yield case("bincount", [x], np.bincount(x.ravel().astype(np.int64), minlength=8), {"length": 8})
        w = draw("f64", 3, 19)
        output = [w[x == value].astype(np.longdouble).sum() for value in range(6)]
        yield case("bincount", [x, w], tensor(output, "f64"), {"weights": True, "length": 6}, rtol=1e-14, atol=1e-14)
    for dtype in ["bool"] + INTEGERS + FLOATS + COMPLEX:
        exact = dtype not in FLOATS + COMPLEX
        out = ("u64" if dtype[0] == "u" else "i64") if exact else dtype
        for shape in ([(11,), (9, 5), (4, 0), (0, 3)] if dtype in ("f32", "i32") else [(5, 2, 3)]):
            x = draw(dtype, *shape)
            ids = (np.abs(draw("i32", shape[0])) % 4).astype(DTYPES["i32"])
            y = wide(x)
            output = np.stack([y[ids == place].sum(0) for place in range(5)])
            eps = 0 if exact else EPS[dtype]
            yield case("segment_sum", [x, ids], output.astype(DTYPES[out]) if exact else tensor(output, out),
                       {"segments": 5}, rtol=eps, atol=0 if exact else 20 * EPS["f32" if out in ("f16", "bf16", "f32", "c64") else "f64"])  # fmt: skip
