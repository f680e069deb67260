"""Norms, losses, embeddings: the parts of neural networks that are no convolution."""

import numpy as np

from .tensors import EPS, FLOATS, INF, NAMES, NAN, TINY, case, draw, tensor, wide


def tolerance(dtype):
    return {"rtol": (2 if dtype in ("f16", "bf16") else 64) * EPS[dtype], "atol": 0.0}


def real(x):
    """Long double, also of integers."""
    return wide(x).astype(np.longdouble)


def result(x):
    name = NAMES[x.dtype]
    return name if name in FLOATS else "f64"


def epsilon(value, dtype):
    """As the op gets it: in single precision for narrow floats."""
    return tensor(value, "f64" if dtype == "f64" else "f32")


def finish(op, inputs, output, attrs, dtype, size=None):
    """Differences of near numbers lose digits: the tolerance is that of the operands."""
    accumulator = EPS["f64"] if dtype == "f64" else EPS["f32"]
    finite = output[np.isfinite(output)] if size is None else np.asarray(size)
    atol = 64 * accumulator * float(np.abs(finite).max(initial=0))
    return case(op, inputs, tensor(output, dtype), attrs, rtol=tolerance(dtype)["rtol"], atol=atol)


def log_softmax(x, axis):
    y = real(x)
    largest = np.max(y, axis=axis, keepdims=True) if x.size else 0
    output = y - largest - np.log(np.sum(np.exp(y - largest), axis=axis, keepdims=True))
    return finish("log_softmax", [x], output, {"axis": axis}, result(x))


def hardmax(x, axis):
    y = real(x)
    best = np.expand_dims(np.argmax(y, axis=axis), axis)
    output = np.zeros_like(y)
    np.put_along_axis(output, best, 1, axis)
    return case("hardmax", [x], tensor(output, result(x)), {"axis": axis})


def standard(x, axes, eps, rms=False):
    y = real(x)
    mean = 0 if rms else np.mean(y, axis=axes, keepdims=True)
    return (y - mean) / np.sqrt(np.mean((y - mean) ** 2, axis=axes, keepdims=True) + eps)


def scaled(op, output, x, weight, bias, eps, attrs, shape):
    """With weight and bias where there are some, seen under a shape."""
    dtype = result(x)
    inputs, given = [x], {}
    for name, operand in (("weight", weight), ("bias", bias)):
        if operand is None:
            continue
        seen = real(operand).reshape(shape(operand))
        output = output * seen if name == "weight" else output + seen
        inputs.append(operand)
        given[name] = True
    return finish(op, [*inputs, eps], output, {**given, **attrs}, dtype)


def layer_norm(x, axis=-1, weight=None, bias=None, eps=1e-5, op="layer_norm"):
    eps = epsilon(eps, result(x))
    axes = tuple(range(axis % x.ndim, x.ndim))
    output = standard(x, axes, real(eps), rms=op == "rms_norm")
    return scaled(op, output, x, weight, bias, eps, {"axis": axis}, np.shape)


def per_channel(operand, x):
    return (operand.size, *[1] * (x.ndim - 2))


def instance_norm(x, weight=None, bias=None, eps=1e-5):
    eps = epsilon(eps, result(x))
    output = standard(x, tuple(range(2, x.ndim)), real(eps))
    return scaled("instance_norm", output, x, weight, bias, eps, {}, lambda w: per_channel(w, x))


def group_norm(x, groups, weight=None, bias=None, eps=1e-5):
    eps = epsilon(eps, result(x))
    grouped = x.reshape(x.shape[0], groups, -1)
    output = standard(grouped, (2,), real(eps)).reshape(x.shape)
    attrs = {"groups": groups}
    return scaled("group_norm", output, x, weight, bias, eps, attrs, lambda w: per_channel(w, x))


def batch_norm(x, weight=None, bias=None, eps=1e-5):
    dtype = result(x)
    mean, var = draw(dtype, x.shape[1]), np.abs(draw(dtype, x.shape[1]))
    eps = epsilon(eps, dtype)
    shape = per_channel(mean, x)
    output = real(x) - real(mean).reshape(shape)
    output = output / np.sqrt(real(var).reshape(shape) + real(eps))
    done = scaled("batch_norm", output, x, weight, bias, eps, {}, lambda w: per_channel(w, x))
    moments = case("", [mean, var], mean)["inputs"]
    done["inputs"] = [done["inputs"][0], *moments, *done["inputs"][1:]]
    return done


def mean_variance_norm(x, axis, eps=1e-9):
    eps = epsilon(eps, result(x))
    axes = tuple(axis) if isinstance(axis, list) else axis
    y = real(x)
    mean = np.mean(y, axis=axes, keepdims=True)
    output = (y - mean) / (np.sqrt(np.mean((y - mean) ** 2, axis=axes, keepdims=True)) + real(eps))
    return finish("mean_variance_norm", [x, eps], output, {"axis": axis}, result(x))


def normalize(x, p=2, axis=-1, eps=1e-12):
    eps = epsilon(eps, result(x))
    y = real(x)
    if p == "inf":
        norm = np.max(np.abs(y), axis=axis, keepdims=True)
    else:
        norm = np.sum(np.abs(y) ** np.longdouble(p), axis=axis, keepdims=True)
        norm = norm ** (1 / np.longdouble(p))
    output = y / np.maximum(norm, real(eps))
    attrs = {"axis": axis} if p == "inf" else {"p": p, "axis": axis}
    return finish("normalize", [x, eps], output, attrs, result(x))


def lrn(x, size, alpha=1e-4, beta=0.75, k=1.0):
    dtype = result(x)
    given = [epsilon(value, dtype) for value in (alpha, beta, k)]
    alpha, beta, k = (real(value) for value in given)
    y = real(x)
    squares = np.zeros_like(y)
    for channel in range(x.shape[1]):
        first, end = channel - size // 2, channel + (size - 1) // 2 + 1
        squares[:, channel] = np.sum(y[:, max(first, 0) : end] ** 2, axis=1)
    output = y / (k + alpha / size * squares) ** beta
    return finish("lrn", [x, *given], output, {"size": size}, dtype)


def norms():
    for dtype in [*FLOATS, "i32", "u8"]:
        float_of = dtype if dtype in FLOATS else "f64"
        x = draw(dtype, 2, 3, 5)
        w, b = draw(float_of, 5), draw(float_of, 5)
        yield log_softmax(x, -1)
        yield hardmax(x, 1)
        yield layer_norm(x)
        yield layer_norm(x, weight=w, bias=b)
        yield layer_norm(x, axis=1, weight=draw(float_of, 3, 5), bias=b, eps=0.1)
        yield layer_norm(x, op="rms_norm", weight=w)
        c, d = draw(float_of, 3), draw(float_of, 3)
        yield instance_norm(x, c, d)
        yield group_norm(draw(dtype, 2, 6, 2, 2), 3, draw(float_of, 6), draw(float_of, 6))
        yield batch_norm(x, c, d)
        yield mean_variance_norm(x, [0, 2])
        yield normalize(x)
        yield lrn(x, 3)
    for dtype in ("f32", "f64"):
        for dims, axis in [((1,), 0), ((7,), 0), ((3, 0), 1), ((3, 0), 0), ((5, 9), 0), ((2, 131), 1)]:
            x = draw(dtype, *dims)
            yield log_softmax(x, axis)
            if x.size:
                yield hardmax(x, axis)
                yield normalize(x, axis=axis, p=1)
            yield layer_norm(x, axis=axis)
            yield layer_norm(x, axis=axis, op="rms_norm", eps=0.5)
            yield mean_variance_norm(x, axis)
        yield log_softmax(tensor([[1e4, 1e4, -1e4], [88, 89, 90], [-6e4, 0, 0]], dtype), 1)
        yield log_softmax(tensor([[-INF, 0, 1], [INF, 0, 1], [NAN, 0, 1], [-INF] * 3], dtype), 1)
        yield hardmax(tensor([[1, 1, 0], [-INF, -INF, -INF], [0, NAN, INF], [INF, 1, INF]], dtype), 1)
        x = draw(dtype, 2, 4, 3, 5)
        yield layer_norm(x, axis=0)
        yield layer_norm(x, axis=2, bias=draw(dtype, 3, 5))
        yield layer_norm(tensor([[1, NAN], [INF, 1], [3, 3]], dtype))
        yield layer_norm(x, axis=-3, op="rms_norm", weight=draw(dtype, 4, 1, 5))
        yield instance_norm(x)
        yield instance_norm(x, bias=draw(dtype, 4), eps=1)
        yield group_norm(x, 1)
        yield group_norm(x, 4, weight=draw(dtype, 4))
        yield group_norm(draw(dtype, 3, 4), 2)
        yield batch_norm(x)
        yield batch_norm(draw(dtype, 3, 4), bias=draw(dtype, 4), eps=0.25)
        yield mean_variance_norm(x, None)
        yield mean_variance_norm(x, [-1, 1], eps=0.5)
        for p in (1, 2, 3, 0.5):
            yield normalize(x, p=p, axis=1)
        yield normalize(tensor([[0, 0], [3, -4], [NAN, 1], [INF, 1]], dtype))
        for size in (1, 2, 5, 9):
            yield lrn(x, size, alpha=0.5, beta=0.6, k=2)
    yield lrn(draw("f32", 0, 3, 2), 3)


def pair(op, x, target, reduction):
    a, t = real(x), real(target)
    if op == "mse_loss":
        losses = (a - t) ** 2
    else:
        log, other = (np.maximum(np.log(v), -100) for v in (a, 1 - a))
        losses = -(t * log + (1 - t) * other)
    return reduced(op, [x, target], losses, None, {"reduction": reduction}, result(x))


def reduced(op, inputs, losses, weights, attrs, dtype):
    total = np.sum(losses)
    output = {
        "none": losses,
        "sum": total,
        "mean": total / (np.longdouble(losses.size) if weights is None else np.sum(weights)),
    }[attrs.get("reduction", "mean")]
    return finish(op, inputs, np.asarray(output), attrs, dtype)


def classes(op, x, target, weight=None, **attrs):
    axis = 1 if x.ndim > 1 else 0
    y = np.moveaxis(real(x), axis, -1)
    if op == "cross_entropy":
        largest = y.max(axis=-1, keepdims=True)
        y = y - largest - np.log(np.sum(np.exp(y - largest), axis=-1, keepdims=True))
    w = np.ones(y.shape[-1], np.longdouble) if weight is None else real(weight)
    inputs = [x, target] if weight is None else [x, target, weight]
    given = attrs if weight is None else {"weight": True, **attrs}
    if NAMES[target.dtype] in FLOATS:
        losses = -np.sum(w * np.moveaxis(real(target), axis, -1) * y, axis=-1)
        return reduced(op, inputs, losses, None, given, result(x))
    counts = target != attrs.get("ignore_index", object())
    counts = np.asarray(counts, bool) if np.ndim(counts) else np.full(target.shape, bool(counts))
    chosen = np.where(counts, target, 0).astype(np.int64)
    weights = np.where(counts, w[chosen], 0)
    picked = np.take_along_axis(y, chosen[..., None], axis=-1)[..., 0]
    losses = np.where(counts, -w[chosen] * picked, 0)
    return reduced(op, inputs, losses, weights, given, result(x))


def losses():
    for reduction in ("mean", "sum", "none"):
        for dtype in [*FLOATS, "i32"]:
            yield pair("mse_loss", draw(dtype, 3, 5), draw(dtype, 3, 5), reduction)
        for dtype in FLOATS:
            shares = tensor((np.arange(15).reshape(3, 5) / 14), dtype)
            yield pair("bce_loss", shares, tensor(np.linspace(0, 1, 15).reshape(3, 5), dtype), reduction)
        yield pair("mse_loss", draw("f64", 3, 1), draw("f64", 4), reduction)
        yield pair("mse_loss", draw("f32", 0, 3), draw("f32", 0, 3), reduction)
        yield pair("mse_loss", draw("f32"), draw("f32"), reduction)
        for op in ("nll_loss", "cross_entropy"):
            for dtype in FLOATS:
                x, target = draw(dtype, 4, 5), tensor([1, 0, 4, 1], "i64")
                yield classes(op, x, target, reduction=reduction)
                yield classes(op, x, target, draw(dtype, 5), reduction=reduction)
                yield classes(op, x, target, draw(dtype, 5), reduction=reduction, ignore_index=1)
            for index in ("u8", "i32"):
                x, target = draw("f64", 2, 3, 2, 3), draw("u8", 2, 2, 3) % 3
                target = tensor(target, index)
                yield classes(op, x, target, reduction=reduction, ignore_index=0)
            yield classes(op, draw("f32", 5), tensor(3, "i64"), reduction=reduction)
            ignored = tensor([-7, -7], "i32")
            yield classes(op, draw("f32", 2, 3), ignored, reduction=reduction, ignore_index=-7)
            yield classes(op, draw("f32", 0, 3), tensor(np.zeros(0), "i32"), reduction=reduction)
        for dtype in FLOATS:
            x, shares = draw(dtype, 2, 3, 4), np.abs(draw(dtype, 2, 3, 4))
            yield classes("cross_entropy", x, shares, reduction=reduction)
            yield classes("cross_entropy", x, shares, draw(dtype, 3), reduction=reduction)
    x = tensor([[INF, 0], [NAN, 1], [-INF, -INF], [1e4, -1e4]], "f32")
    yield classes("cross_entropy", x, tensor([0, 1, 0, 1], "i64"), reduction="none")


def embeddings():
    for dtype in ("bool", "u8", "i16", "f16", "bf16", "f32", "f64", "c64", "c128"):
        table = draw(dtype, 7, 3)
        for index in (tensor([[6, 0, -1], [3, 3, -7]], "i64"), tensor(2, "i32")):
            yield case("embedding", [index, table], table[index])
    table = draw("f32", 4, 0)
    yield case("embedding", [tensor([1, 2], "u8"), table], table[[1, 2]])
    yield case("embedding", [tensor(np.zeros((0, 2)), "i64"), table], np.zeros((0, 2, 0), np.float32))
    for dtype in ("bool", "u8", "f16", "bf16", "f32", "f64", "c64", "c128"):
        on, off = draw(dtype), draw(dtype)
        for dims, axis in [((), 0), ((5,), -1), ((5,), 0), ((2, 3), 1), ((0, 2), -1)]:
            index = tensor(draw("i32", *dims) % 8 - 4, "i32")
            hot = np.equal.outer(index % 4, np.arange(4))
            output = np.where(np.moveaxis(hot, -1, axis), on, off)
            yield case("one_hot", [index, on, off], output, {"classes": 4, "axis": axis})


def rotary(dtype, dims, pairs, interleaved, broadcast=False):
    x = draw(dtype, *dims)
    shape = (dims[-2], pairs) if broadcast else (*dims[:-1], pairs)
    cos, sin = draw(dtype, *shape), draw(dtype, *shape)
    y, c, s = real(x).copy(), real(cos), real(sin)
    if interleaved:
        first, second = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)
    else:
        first, second = slice(0, pairs), slice(pairs, 2 * pairs)
    a, b = y[..., first].copy(), y[..., second].copy()
    y[..., first], y[..., second] = a * c - b * s, a * s + b * c
    attrs = {"interleaved": interleaved}
    return finish("rotary_embedding", [x, cos, sin], y, attrs, result(x))


def blocks(op, dtype, dims, block, mode):
    x = draw(dtype, *dims)
    n, c, h, w = dims
    if op == "depth_to_space":
        c //= block * block
        if mode == "dcr":
            y = x.reshape(n, block, block, c, h, w).transpose(0, 3, 4, 1, 5, 2)
        else:
            y = x.reshape(n, c, block, block, h, w).transpose(0, 1, 4, 2, 5, 3)
        y = y.reshape(n, c, h * block, w * block)
    else:
        h, w = h // block, w // block
        y = x.reshape(n, c, h, block, w, block)
        y = y.transpose((0, 3, 5, 1, 2, 4) if mode == "dcr" else (0, 1, 3, 5, 2, 4))
        y = y.reshape(n, c * block * block, h, w)
    return case(op, [x], y, {"block": block, "mode": mode})


def networks():
    yield from embeddings()
    for dtype in FLOATS:
        for interleaved in (True, False):
            yield rotary(dtype, (2, 3, 5, 8), 4, interleaved)
            yield rotary(dtype, (2, 5, 7), 2, interleaved, broadcast=True)
    yield rotary("f32", (0, 3, 4), 2, False)
    yield rotary("f64", (3, 2), 1, True)
    for dtype in ("bool", "u8", "f16", "f32", "f64", "c128"):
        for mode in ("dcr", "crd"):
            yield blocks("depth_to_space", dtype, (2, 12, 2, 3), 2, mode)
            yield blocks("space_to_depth", dtype, (2, 3, 4, 6), 2, mode)
    yield blocks("depth_to_space", "f32", (1, 9, 1, 2), 3, "crd")
    yield blocks("space_to_depth", "f32", (1, 2, 3, 3), 1, "dcr")
    yield blocks("space_to_depth", "f32", (0, 2, 3, 3), 3, "dcr")
