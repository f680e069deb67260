"""Resizing and sampling, one element of the result at a time from the definitions."""

import itertools
import math
from fractions import Fraction

import numpy as np

from .tensors import COMPLEX, DTYPES, EPS, FLOATS, INTEGERS, NAMES, NAN, case, draw, tensor, wide

LD = np.longdouble


def keys(x, a):
    """The cubic convolution kernel."""
    x = abs(x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    if x < 2:
        return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return LD(0)


def place(i, old, new, scale, coordinates):
    """Exactly, as a fraction."""
    ratio = Fraction(new, old) if scale is None else Fraction(scale)
    exact, half = ratio * old, Fraction(1, 2)
    if coordinates == "asymmetric":
        return i / ratio
    if coordinates == "align_corners":
        return Fraction(0) if exact == 1 else i * (old - 1) / (exact - 1)
    if coordinates == "pytorch_half_pixel" and exact <= 1:
        return Fraction(0)
    centred = (i + half) / ratio - half
    if coordinates == "half_pixel_symmetric":
        return centred + Fraction(old, 2) * (1 - new / exact)
    return centred


def nearest(x, old, rounding):
    index = {
        "round_prefer_floor": lambda: math.ceil(x - Fraction(1, 2)),
        "round_prefer_ceil": lambda: math.floor(x + Fraction(1, 2)),
        "floor": lambda: math.floor(x),
        "ceil": lambda: math.ceil(x),
    }[rounding]()
    return min(max(index, 0), old - 1)


def matrix(old, new, scale, attrs):
    """Weights of old elements, a row for each new one."""
    weights = np.zeros((new, old), LD)
    ratio = LD(new) / old if scale is None else LD(scale)
    shrink = min(ratio, LD(1)) if attrs.get("antialias") else LD(1)
    for i in range(new):
        x = place(i, old, new, scale, attrs.get("coordinates", "half_pixel"))
        if attrs.get("mode", "nearest") == "nearest":
            weights[i, nearest(x, old, attrs.get("rounding", "round_prefer_floor"))] = 1
            continue
        x = LD(x.numerator) / LD(x.denominator)
        reach = int(math.ceil(3 / shrink)) + 2
        total = LD(0)
        for j in range(int(np.floor(x)) - reach, int(np.floor(x)) + reach + 1):
            distance = (j - x) * shrink
            if attrs["mode"] == "cubic":
                weight = keys(distance, LD(attrs.get("cubic_coefficient", -0.75)))
            else:
                weight = max(LD(0), 1 - abs(distance))
            if attrs.get("exclude_outside") and not 0 <= j < old:
                continue
            weights[i, min(max(j, 0), old - 1)] += weight
            total += weight
        weights[i] /= total
    return weights


def resize(x, sizes, **attrs):
    dtype = NAMES[x.dtype]
    moved = attrs.get("mode", "nearest") == "nearest"
    scales = attrs.get("scales", [None] * len(sizes))
    if moved:
        output = x
    else:
        output = x.astype(np.clongdouble if dtype in COMPLEX else LD)
    for at, (new, scale) in enumerate(zip(sizes, scales)):
        axis = x.ndim - len(sizes) + at
        old = output.shape[axis]
        weights = matrix(old, new, scale, attrs) if new else np.zeros((0, old), LD)
        if moved:
            output = np.take(output, np.argmax(weights, axis=1) if new else [], axis=axis)
        else:
            output = np.moveaxis(np.tensordot(weights, output, axes=(1, axis)), 0, axis)
    attrs = {"sizes": sizes, **attrs}
    if moved:
        return case("resize", [x], output.astype(x.dtype), attrs)
    return finish("resize", [x], output, attrs, dtype)


def finish(op, inputs, output, attrs, dtype):
    out = dtype if dtype in FLOATS else "f64"
    eps = EPS["f64"] if out == "f64" else EPS["f32"]
    values = wide(inputs[0]).astype(LD)
    size = float(np.abs(values[np.isfinite(values)]).max(initial=0))
    return case(op, inputs, tensor(output, out), attrs, rtol=2 * EPS[out], atol=64 * eps * size)


def reflect(x, low, high):
    if high <= low:
        return max(low, LD(0))
    while not low <= x <= high:
        x = 2 * low - x if x < low else 2 * high - x
    return x


def grid_sample(dtype, image, places, mode="linear", padding="zeros", align_corners=False, grid=None):
    x = draw(dtype, *image)
    axes = len(image) - 2
    if grid is None:
        # Not at the middle between two elements, where rounding decides.
        grid = draw(dtype, image[0], *places, axes) + DTYPES[dtype](0.0003)
    values, sizes = wide(x).astype(LD), image[2:]
    output = np.zeros((*image[:2], *places), LD)

    def padded(p, size):
        if padding == "zeros":
            return p
        if padding == "reflection":
            edge = (LD(0), LD(size - 1)) if align_corners else (LD(-0.5), LD(size) - LD(0.5))
            p = reflect(p, *edge)
        return min(max(p, LD(0)), LD(size - 1))

    def taps(coordinate, size):
        c = LD(-1) if np.isnan(coordinate) else LD(float(coordinate))
        p = (c + 1) / 2 * (size - 1) if align_corners else ((c + 1) * size - 1) / 2
        if mode == "nearest":
            return [(np.rint(padded(p, size)), LD(1))]
        if mode == "linear":
            p = padded(p, size)
            low = np.floor(p)
            return [(low, 1 - (p - low)), (low + 1, p - low)]
        low = np.floor(p)
        near = [low + offset for offset in (-1, 0, 1, 2)]
        return [(padded(n, size), keys(p - n, LD(-0.75))) for n in near]

    for n, *at in itertools.product(range(image[0]), *map(range, places)):
        of_axes = [taps(grid[(n, *at, axes - 1 - axis)], sizes[axis]) for axis in range(axes)]
        for combined in itertools.product(*of_axes):
            index = [int(p) for p, _ in combined]
            if all(0 <= i < size for i, size in zip(index, sizes)):
                weight = np.prod([w for _, w in combined])
                output[(n, slice(None), *at)] += weight * values[(n, slice(None), *index)]
    attrs = {"mode": mode, "padding": padding, "align_corners": align_corners}
    done = finish("grid_sample", [x, grid], output, attrs, dtype)
    # Places are rounded before elements are weighed.
    eps = EPS["f64"] if dtype == "f64" or dtype in INTEGERS else EPS["f32"]
    reach = float(np.nanmax(np.abs(grid.astype(np.float64)), initial=1)) * max(sizes)
    done["atol"] += 64 * eps * reach * float(np.abs(values).max(initial=0))
    return done


def affine_grid(dtype, size, align_corners):
    axes = len(size) - 2
    theta = draw(dtype, size[0], axes, axes + 1)
    output = np.zeros((size[0], *size[2:], axes), LD)
    for n, *at in itertools.product(range(size[0]), *map(range, size[2:])):
        point = []
        for i, length in zip(at, size[2:]):
            if align_corners:
                point.append(LD(2) * i / (length - 1) - 1 if length > 1 else LD(0))
            else:
                point.append((LD(2) * i + 1) / length - 1)
        output[(n, *at)] = wide(theta[n]).astype(LD) @ np.array([*point[::-1], 1], LD)
    attrs = {"size": list(size), "align_corners": align_corners}
    return finish("affine_grid", [theta], output, attrs, dtype)


COORDINATES = [
    "half_pixel",
    "pytorch_half_pixel",
    "half_pixel_symmetric",
    "asymmetric",
    "align_corners",
]


def resizes():
    for dtype in ["bool", "u8", "i16", "i32", "c64", "c128", *FLOATS]:
        yield resize(draw(dtype, 2, 3, 4), [5, 3])
    for dtype in ["u8", "i64", *FLOATS]:
        yield resize(draw(dtype, 2, 3, 4), [5, 3], mode="linear")
        yield resize(draw(dtype, 2, 3, 4), [5, 3], mode="cubic")
    for coordinates in COORDINATES:
        for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
            x = draw("f32", 3, 7)
            yield resize(x, [8, 3], coordinates=coordinates, rounding=rounding)
        for mode in ("linear", "cubic"):
            for sizes in ([3, 5], [2, 1], [9, 14]):
                yield resize(draw("f64", 4, 6), sizes, mode=mode, coordinates=coordinates)
            scaled = {"coordinates": coordinates, "scales": [0.6, 2.3]}
            yield resize(draw("f64", 4, 5), [2, 11], mode=mode, **scaled)
            for exclude in (False, True):
                options = {"antialias": True, "exclude_outside": exclude}
                x = draw("f64", 9, 7)
                yield resize(x, [4, 10], mode=mode, coordinates=coordinates, **options)
        yield resize(draw("f32", 4, 5), [2, 11], coordinates=coordinates, scales=[0.6, 2.3])
    for mode in ("linear", "cubic"):
        yield resize(draw("f32", 4, 4), [8, 8], mode=mode, exclude_outside=True)
        yield resize(draw("f32", 2, 1), [3], mode=mode)
        yield resize(draw("f32", 2, 3), [0], mode=mode)
        yield resize(draw("f32", 0, 3), [2], mode=mode)
        yield resize(draw("f32", 3, 4, 5), [2, 7, 4], mode=mode, antialias=True)
        yield resize(draw("f32", 2, 3), [], mode=mode)
    yield resize(draw("f64", 5), [11], mode="cubic", cubic_coefficient=-0.5)
    yield resize(draw("i32", 2, 3), [])
    yield resize(draw("i32", 2, 3), [0])
    yield resize(draw("i32", 1), [7])


def grids():
    for dtype in [*FLOATS, "i32"]:
        # In halves an image of few elements, whose places are exact.
        places = [[[[0, 0], [0.5, -0.5]], [[-1, 1], [0.25, 1]], [[-0.75, -1], [1, 1]]]]
        grid = tensor(places, dtype if dtype in FLOATS else "f64")
        yield grid_sample(dtype, (1, 2, 4, 4), (3, 2), grid=grid)
    for dtype in ("f32", "f64"):
        for mode in ("linear", "nearest", "cubic"):
            for padding in ("zeros", "border", "reflection"):
                for align in (False, True):
                    options = {"mode": mode, "padding": padding, "align_corners": align}
                    yield grid_sample(dtype, (2, 1, 3, 5), (2, 3), **options)
                if dtype == "f64":
                    yield grid_sample(dtype, (1, 2, 3, 2, 4), (2, 1, 2), mode=mode, padding=padding)
            yield grid_sample(dtype, (1, 1, 7), (9,), mode=mode)
            yield grid_sample(dtype, (1, 1, 1, 1), (2, 2), mode=mode, padding="reflection")
        grid = tensor([[[[NAN, 0], [0, NAN], [5, -5], [-9.5, 40]]]], dtype)
        for padding in ("zeros", "border", "reflection"):
            yield grid_sample(dtype, (1, 1, 3, 4), (1, 4), padding=padding, grid=grid)
    yield grid_sample("f32", (0, 1, 3, 3), (2, 2))
    yield grid_sample("f32", (1, 1, 3, 3), (0, 2))


def sampling():
    yield from resizes()
    yield from grids()
    for dtype in FLOATS:
        for align in (False, True):
            yield affine_grid(dtype, (2, 1, 3, 4), align)
    for align in (False, True):
        yield affine_grid("f64", (1, 3, 2, 1, 3), align)
        yield affine_grid("f32", (0, 3, 2, 2), align)
