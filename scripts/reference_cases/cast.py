"""Casts, from every dtype to every other."""

import itertools

import numpy as np

from .tensors import (
    COMPLEX,
    DTYPES,
    FLOATS,
    INF,
    INTEGERS,
    NAN,
    case,
    draw,
    special,
    tensor,
)


def to_integer(x, dtype):
    """Towards zero, saturating; NaN gives 0."""
    limits = np.iinfo(DTYPES[dtype])

    def one(value):
        if np.isnan(value):
            return 0
        if np.isinf(value):
            return limits.max if value > 0 else limits.min
        return max(limits.min, min(limits.max, int(value)))

    return np.array([one(value) for value in x.astype(np.float64)], DTYPES[dtype])


def cast():
    for source, target in itertools.product(DTYPES, DTYPES):
        if source in COMPLEX and target not in COMPLEX:
            continue
        if source == "bool":
            x = np.array([False, True])
        elif source in COMPLEX:
            x = np.append(draw(source, 4), tensor([0, complex(NAN, INF), 1e-3 - 1e3j], source))
        else:
            x = np.concatenate([special(source), cast_values(source)])
        if target == "bool":
            output = x.astype(np.float64) != 0 if source in FLOATS else x != 0
        elif source in FLOATS and target in INTEGERS:
            output = to_integer(x, target)
        elif source == "f64" and target == "bf16":
            # Only what f32 holds: NumPy goes through it, and would round twice.
            x = tensor(x, "f32").astype(np.float64)
            output = tensor(x, target)
        elif source in INTEGERS and target in ("f16", "bf16"):
            x = x[np.abs(x.astype(np.float64)) < 2**24]
            output = tensor(x.astype(np.float32), target)
        else:
            output = tensor(x, target)
        yield case(target, [x], output, signed_zeros=source in FLOATS and target in FLOATS)
    for dims in [(), (0,), (2, 0), (3, 5, 7)]:
        x = draw("f32", *dims)
        yield case("f64", [x], x.astype(np.float64))


def cast_values(source):
    """Ties between neighbours of the narrower dtypes, and values around their limits."""
    if source in INTEGERS:
        limits = np.iinfo(DTYPES[source])
        values = [
            127, 128, 255, 256, 257, 2049, 32768, 65535, 65519, 16777217,
            2**31, 2**32 - 1, 2**53 + 1, 2**53 + 3,
        ]  # fmt: skip
        return np.array([value for value in values if value <= limits.max], DTYPES[source])
    values = [
        0.5, 1.5, -0.5, -0.999, 2.999, 126.5, 127.5, 128, 255.5, 256, -128.5, -129,
        32768, 65535, 65519, 65520, 70000, 2**31, -(2.0**31), 2.0**32, 2.0**63, -(2.0**63), 2.0**64, 1e20,
        1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-24, 1 + 3 * 2**-24,
        2.0**-24, 2.0**-25, 3 * 2.0**-26, 1e-40, 1e-46,
    ]  # fmt: skip
    return tensor(np.array(values), source)
