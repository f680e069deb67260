"""Random numbers by position: Philox4x32-10 after its paper, and what is made of it."""

import mpmath
import numpy as np

from .tensors import DTYPES, EPS, FLOATS, INTEGERS, case, tensor

MASK = 2**32 - 1


def philox(counter, key):
    """Salmon, Moraes, Dror and Shaw, SC 2011, figure 4 and table 2."""
    a, b, c, d = counter
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * a, 2**32)
        high1, low1 = divmod(0xCD9E8D57 * c, 2**32)
        a, b, c, d = high1 ^ b ^ key[0], low1, high0 ^ d ^ key[1], low0
        key = ((key[0] + 0x9E3779B9) & MASK, (key[1] + 0xBB67AE85) & MASK)
    return [a, b, c, d]


# The authors' known answer.
assert philox((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)) == [
    0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]  # fmt: skip


def words(seed, count):
    seed %= 2**64
    blocks = (philox((at & MASK, at >> 32, 0, 0), (seed & MASK, seed >> 32)) for at in range(-(-count // 4)))
    return [word for block in blocks for word in block][:count]


def longs(seed, count):
    halves = words(seed, 2 * count)
    return [low | high << 32 for low, high in zip(halves[::2], halves[1::2], strict=True)]


def shares(seed, count, dtype="f64"):
    if dtype == "f64":
        return [(value >> 11) / 2**53 for value in longs(seed, count)]
    bits = {"f16": 11, "bf16": 8, "f32": 24}[dtype]
    return [(word >> (32 - bits)) / 2**bits for word in words(seed, count)]


def random():
    for seed in (0, 1, 2026, -1, 2**40 + 3):
        for shape in ([7], [3, 5], [], [0, 2]):
            count = int(np.prod(shape))
            for dtype in FLOATS:
                attrs = {"shape": shape, "seed": seed, "dtype": dtype}
                u = np.array(shares(seed, count, dtype)).reshape(shape)
                yield case("uniform", [], tensor(u, dtype), attrs)
                moved = tensor(-2.5 + 4 * u, dtype)
                yield case("uniform", [], moved, {**attrs, "low": -2.5, "high": 1.5}, rtol=EPS[dtype])
            u = np.array(shares(seed, count)).reshape(shape)
            yield case("bernoulli", [], u < 0.3, {"shape": shape, "seed": seed, "p": 0.3})
            z = normals(seed, count)
            for dtype in FLOATS:
                y = tensor(np.array(z, np.float64).reshape(shape), dtype)
                attrs = {"shape": shape, "seed": seed, "dtype": dtype}
                yield case("normal", [], y, attrs, rtol=8 * EPS[dtype], atol=4 * EPS["f64"])
                y = tensor(np.array([10 + x / 2 for x in z], np.float64).reshape(shape), dtype)
                yield case("normal", [], y, {**attrs, "mean": 10, "std": 0.5}, rtol=2 * EPS[dtype])
    for dtype in INTEGERS:
        limits = np.iinfo(DTYPES[dtype])
        most = min(limits.max, 2**62)
        for low, high in [(0, 7), (max(limits.min, -100), 100), (max(limits.min, -(2**62)), most)]:
            y = [low + (value * (high - low) >> 64) for value in longs(5, 9)]
            attrs = {"shape": [9], "seed": 5, "low": low, "high": high, "dtype": dtype}
            yield case("random_integers", [], np.array(y, DTYPES[dtype]), attrs)
    for seed in (0, 3):
        for n in (0, 1, 2, 17, 64):
            keys = longs(seed, n)
            y = sorted(range(n), key=lambda at, keys=keys: keys[at])
            yield case("permutation", [], np.array(y, np.int64), {"n": n, "seed": seed})


def normals(seed, count):
    u = shares(seed, count + count % 2)
    results = []
    with mpmath.workprec(200):
        for a, b in zip(u[::2], u[1::2], strict=True):
            radius = mpmath.sqrt(-2 * mpmath.log(1 - mpmath.mpf(a)))
            angle = 2 * mpmath.pi * mpmath.mpf(b)
            results += [float(radius * mpmath.cos(angle)), float(radius * mpmath.sin(angle))]
    return results[:count]
