"""Fourier transforms, from the definition."""

import numpy as np

from .tensors import EPS, NAMES, case, draw, encode, tensor, wide


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


def whole(half, n, axis):
    """The spectrum of real numbers from its first half; bins that have to be real are made so."""
    half = np.moveaxis(half, axis, -1).astype(np.clongdouble)
    half[..., 0].imag = 0
    if n % 2 == 0:
        half[..., n // 2].imag = 0
    rest = np.conj(half[..., 1 : (n + 1) // 2])[..., ::-1]
    return np.moveaxis(np.concatenate([half, rest], -1), -1, axis)


def fitted(x, axis, n):
    """Cut off or followed by zeros."""
    x = np.moveaxis(x, axis, -1)[..., :n]
    zeros = np.zeros((*x.shape[:-1], n - x.shape[-1]), x.dtype)
    return np.moveaxis(np.concatenate([x, zeros], -1), -1, axis)


# Whether the exponent is positive, and what is real: nothing, the input or the output.
KINDS = {
    "fft": (False, None), "ifft": (True, None), "rfft": (False, "input"), "irfft": (True, "output"),
    "hfft": (False, "output"), "ihfft": (True, "input"),
}  # fmt: skip


def several(op, x, axes, lengths, attrs, norm="backward"):
    """A transform over axes; the last is the real one. Lengths of nothing are the defaults."""
    inverse, real = KINDS[op.rstrip("2n")] if op not in KINDS else KINDS[op]
    name = NAMES[x.dtype]
    single = name in ("f16", "bf16", "f32", "c64")
    output = wide(x)
    if output.dtype.kind in "iu":
        output = output.astype(np.longdouble)
    total = 1
    for place, axis in enumerate(axes):
        n = lengths[place]
        if real == "output" and place == len(axes) - 1:
            n = 2 * (x.shape[axis] - 1) if n is None else n
            output = fitted(output, axis, n // 2 + 1)
        else:
            n = x.shape[axis] if n is None else n
            output = fitted(output, axis, n)
        total *= n
        lengths = [*lengths[:place], n, *lengths[place + 1 :]]
    size = np.sqrt(np.sum(np.abs(output) ** 2, dtype=np.longdouble))
    assert np.isfinite(size)
    for place, (axis, n) in enumerate(zip(axes, lengths)):
        if real == "output" and place == len(axes) - 1:
            half = output if inverse else np.conj(output)
            output = dft(whole(half, n, axis), axis, 1).real
        elif real == "input" and place == len(axes) - 1:
            output = np.take(dft(output, axis, -1), range(n // 2 + 1), axis)
            output = np.conj(output) if inverse else output
        else:
            output = dft(output, axis, 1 if inverse else -1)
    divides = {"ortho": True, "backward": inverse, "forward": not inverse}[norm]
    factor = np.sqrt(np.longdouble(total)) if norm == "ortho" else total
    output = output / factor if divides else output
    dtype = ("f32" if single else "f64") if real == "output" else ("c64" if single else "c128")
    scale = float(size / factor) if divides else float(size)
    atol = 4 * EPS[dtype] * np.log2(2 * total) * scale * np.sqrt(2)
    if norm != "backward":
        attrs = {**attrs, "norm": norm}
    return case(op, [x], tensor(output, dtype), attrs, atol=atol)


def one(op, x, n=None, axis=-1, norm="backward"):
    attrs = {"axis": axis} if n is None else {"axis": axis, "n": n}
    return several(op, x, [axis], [n], attrs, norm)


def lengths_and_norms():
    """What an author may add to transforms along one axis."""
    for op in KINDS:
        real = KINDS[op][1] == "input"
        for dtype in ["f16", "bf16", "f32", "f64", "i32", "u8", "bool"] + ([] if real else ["c64", "c128"]):
            yield one(op, draw(dtype, 6))
        for dtype in ["f32", "f64"] if real else ["c64", "c128"]:
            for n in (1, 2, 5, 6, 17):
                yield one(op, draw(dtype, 7), n)
            for n in (6, 9):
                yield one(op, draw(dtype, 3, 7, 2), n, axis=1)
            for size in (2, 3, 8, 19):
                yield one(op, draw(dtype, size))
            yield one(op, draw(dtype, 6, 5), axis=0)
            yield one(op, draw(dtype, 0, 5))
            yield one(op, draw(dtype, 2, 0), n=4)
            for norm in ("backward", "ortho", "forward"):
                yield one(op, draw(dtype, 2, 5), 6, norm=norm)
        yield one(op, draw("f32" if real else "c64", 2, 40), 61)
        yield one(op, draw("f64" if real else "c128", 64))


def several_axes():
    for op in ("rfft2", "irfft2", "rfftn", "irfftn", "fftn", "ifftn"):
        real = op[0] == "r"
        for dtype in ["f32", "f64"] if real else ["c64", "c128"]:
            for dims in [(2, 2), (3, 5), (1, 7), (2, 3, 4), (2, 1, 5, 3)]:
                axes = [-2, -1] if op.endswith("2") else list(range(len(dims)))
                yield several(op, draw(dtype, *dims), axes, [None] * len(axes), {})
                turned = [None, None] if dims[0] > 1 else [None, 2]
                attrs = {"axes": [1, 0]} if dims[0] > 1 else {"axes": [1, 0], "s": [dims[1], 2]}
                yield several(op, draw(dtype, *dims), [1, 0], turned, attrs)
                yield several(op, draw(dtype, *dims), [-2, -1], [4, 6], {"s": [4, 6]})
                yield several(op, draw(dtype, *dims), [-1, 0], [3, 5], {"s": [3, 5], "axes": [-1, 0]})
            for norm in ("ortho", "forward"):
                yield several(op, draw(dtype, 4, 6), [0, 1], [None, None], {}, norm)
            yield several(op, draw(dtype, 0, 3, 4), [-2, -1], [3, 4], {"s": [3, 4]})
    for op in ("fft2", "ifft2"):
        yield several(op, draw("c64", 3, 4, 5), [0, 1], [4, 3], {"s": [4, 3], "axes": [0, 1]}, "ortho")
        yield several(op, draw("f16", 3, 4), [-2, -1], [None, None], {})
    for op in ("fftn", "rfftn"):
        yield several(op, draw("f64", 5), [0], [None], {})
        yield several(op, draw("f16", 3, 2), [0, 1], [None, None], {})


def ignored():
    """The imaginary parts that irfft and hfft do not read, NaN too."""
    for op, n in (("irfft", 4), ("irfft", 5), ("hfft", 4)):
        x = draw("c128", 3)
        expected = one(op, x.copy(), n)
        x.imag[0] = np.nan
        if n % 2 == 0:
            x.imag[2] = np.inf
        yield {**expected, "inputs": [encode(x)]}


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
    yield from lengths_and_norms()
    yield from several_axes()
    yield from ignored()
