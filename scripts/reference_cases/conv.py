"""Two-dimensional convolution, from the definition."""

import itertools

import numpy as np

from .tensors import EPS, FLOATS, case, draw, tensor, wide


def couple(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def padded(x, kernel, padding, dilation):
    """Zeros around the image; `same` puts the odd one below and to the right."""
    if padding == "same":
        total = [step * (size - 1) for size, step in zip(kernel, dilation)]
        top, left = (size // 2 for size in total)
        bottom, right = (size - size // 2 for size in total)
    elif padding == "valid":
        top = left = bottom = right = 0
    elif isinstance(padding, list) and len(padding) == 4:
        top, left, bottom, right = padding
    else:
        (top, left) = (bottom, right) = couple(padding)
    return np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))


def correlate(x, w, stride, padding, dilation, groups):
    """Cross-correlation by its definition, one kernel tap at a time."""
    (sy, sx), (dy, dx) = couple(stride), couple(dilation)
    outputs, depth, kh, kw = w.shape
    x = padded(x, (kh, kw), padding, (dy, dx))
    h = (x.shape[2] - dy * (kh - 1) - 1) // sy + 1
    v = (x.shape[3] - dx * (kw - 1) - 1) // sx + 1
    x = x.reshape(x.shape[0], groups, depth, *x.shape[2:])
    w = w.reshape(groups, outputs // groups, depth, kh, kw)
    total = np.zeros((x.shape[0], groups, outputs // groups, h, v), x.dtype)
    for i, j in itertools.product(range(kh), range(kw)):
        window = x[
            ..., i * dy : i * dy + sy * (h - 1) + 1 : sy, j * dx : j * dx + sx * (v - 1) + 1 : sx
        ]
        total += np.einsum("ngchw,gfc->ngfhw", window, w[..., i, j])
    return total.reshape(x.shape[0], outputs, h, v)


def conv2d(dtype, image, kernel, stride=1, padding=0, dilation=1, groups=1):
    x, w = draw(dtype, *image), draw(dtype, *kernel)
    attrs = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    output = correlate(wide(x), wide(w), **attrs)
    size = correlate(np.abs(wide(x)), np.abs(wide(w)), **attrs)
    accumulator = EPS["f32"] if dtype in ("f16", "bf16") else EPS[dtype]
    atol = 4 * accumulator * float(size.max()) if size.size else 0.0
    return case("conv2d", [x, w], tensor(output, dtype), attrs, rtol=EPS[dtype], atol=atol)


def conv():
    for dtype in FLOATS:
        yield conv2d(dtype, (1, 1, 5, 5), (1, 1, 3, 3))
        yield conv2d(dtype, (2, 3, 7, 6), (4, 3, 3, 3), padding=1)
        yield conv2d(dtype, (1, 4, 8, 9), (6, 2, 3, 2), stride=[2, 3], padding=[1, 0], groups=2)
        yield conv2d(dtype, (1, 2, 9, 9), (2, 2, 3, 3), dilation=2)
    for dtype in ("f32", "f64"):
        yield conv2d(dtype, (1, 3, 5, 7), (3, 1, 3, 3), padding=1, groups=3)
        yield conv2d(dtype, (1, 3, 5, 7), (6, 1, 2, 3), groups=3)
        yield conv2d(dtype, (1, 2, 6, 5), (3, 2, 3, 3), padding=[1, 0, 2, 3])
        yield conv2d(dtype, (1, 2, 6, 5), (3, 2, 3, 3), stride=2, padding=[0, 2, 1, 0])
        yield conv2d(
            dtype,
            (1, 2, 11, 10),
            (2, 2, 3, 2),
            stride=[1, 2],
            dilation=[3, 2],
            padding=[2, 1, 0, 3],
        )
        yield conv2d(dtype, (1, 2, 6, 7), (2, 2, 3, 5), padding="same")
        yield conv2d(dtype, (1, 2, 6, 7), (2, 2, 2, 4), padding="same")
        yield conv2d(dtype, (1, 1, 9, 9), (1, 1, 3, 2), padding="same", dilation=2)
        yield conv2d(dtype, (1, 2, 6, 7), (2, 2, 6, 7), padding="valid")
        yield conv2d(dtype, (3, 5, 4, 4), (7, 5, 1, 1))
        yield conv2d(dtype, (1, 1, 1, 1), (1, 1, 1, 1))
        yield conv2d(dtype, (1, 1, 1, 13), (2, 1, 1, 5), stride=[1, 4])
        yield conv2d(dtype, (1, 1, 2, 2), (1, 1, 3, 3), padding=2)
        yield conv2d(dtype, (1, 1, 7, 7), (1, 1, 2, 2), stride=3)
        yield conv2d(dtype, (0, 2, 5, 5), (3, 2, 3, 3))
    yield conv2d("f32", (2, 3, 11, 13), (3, 3, 5, 5), padding="same")
    yield conv2d("f32", (1, 8, 5, 5), (9, 8, 3, 3), padding=1)
