"""Tensors by the names of haul's dtypes, and cases as reference.py describes them."""

import ml_dtypes
import numpy as np

FLOATS = ["f16", "bf16", "f32", "f64"]
COMPLEX = ["c64", "c128"]
SIGNED = ["i8", "i16", "i32", "i64"]
UNSIGNED = ["u8", "u16", "u32", "u64"]
INTEGERS = SIGNED + UNSIGNED
DTYPES = {
    "bool": np.bool_,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
    **{
        f"{sign}{bits}": np.dtype(f"{sign}{bits // 8}").type
        for sign in "iu"
        for bits in (8, 16, 32, 64)
    },
}
NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
# The distance from 1 to the next larger number.
EPS = {
    "f16": 2.0**-10,
    "bf16": 2.0**-7,
    "f32": 2.0**-23,
    "f64": 2.0**-52,
    "c64": 2.0**-23,
    "c128": 2.0**-52,
}
# The least normal number: what is smaller may be flushed to zero by transcendental functions.
TINY = {
    "f16": 2.0**-14,
    "bf16": 2.0**-126,
    "f32": 2.0**-126,
    "f64": 2.0**-1022,
    "c64": 0.0,
    "c128": 0.0,
}
REAL = {"c64": "f32", "c128": "f64"}
NAN, INF = np.nan, np.inf

_rng = np.random.default_rng()


def restart():
    """Begins the random values anew, so that one group's cases do not depend on another's."""
    global _rng
    _rng = np.random.default_rng(2026)


def tensor(values, dtype):
    """An array of the named dtype; wide floats are rounded once where NumPy can."""
    values = np.asarray(values)
    if dtype == "bf16":
        values = values.astype(np.float32)
    return values.astype(DTYPES[dtype])


def draw(dtype, *shape):
    """Random values, moderate in size; integers include negative ones where there are any."""
    if dtype == "bool":
        return _rng.random(shape) < 0.5
    if dtype in INTEGERS:
        return tensor(_rng.integers(0 if dtype[0] == "u" else -50, 51, shape), dtype)
    values = _rng.standard_normal(shape)
    if dtype in COMPLEX:
        values = values + 1j * _rng.standard_normal(shape)
    return tensor(np.round(values, 3), dtype)


def wide(x):
    """The same values in long double, or f64 and integers of 64 bits for integers and bools."""
    name = NAMES[x.dtype]
    if name in COMPLEX:
        return x.astype(np.clongdouble)
    if name in FLOATS:
        return x.astype(np.float64).astype(np.longdouble)
    return x.astype(np.uint64 if name[0] == "u" else np.int64)


def double(x):
    """The same values in f64 or c128, in which one rounding step to a narrower dtype is exact."""
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def special(dtype):
    """Values at which implementations go wrong."""
    if dtype in INTEGERS:
        limits = np.iinfo(DTYPES[dtype])
        values = {limits.min, limits.max, limits.max // 2 + 1, 0, 1, 2, 3, 7, 100}
        values |= set() if dtype[0] == "u" else {-1, -2, -3, -7, -100, limits.min + 1}
        return np.array(sorted(values), DTYPES[dtype])
    most = float(ml_dtypes.finfo(DTYPES[dtype]).max)
    values = [0.0, -0.0, 1, -1, 0.1, -2.5, 3, 7.25, TINY[dtype], most, -most, INF, -INF, NAN]
    return tensor(np.array(values), dtype)


def scalar(value, name):
    if name in COMPLEX:
        return [scalar(value.real, REAL[name]), scalar(value.imag, REAL[name])]
    if name == "bool":
        return bool(value)
    if name in INTEGERS:
        return int(value)
    if not np.isfinite(value):
        return "nan" if np.isnan(value) else "inf" if value > 0 else "-inf"
    shortest = float(str(value)) if name == "f32" else float(value)
    assert DTYPES[name](shortest) == value
    return shortest


def encode(x):
    x = np.asarray(x)
    name = NAMES[x.dtype]
    return {
        "dtype": name,
        "shape": list(x.shape),
        "data": [scalar(value, name) for value in x.flat],
    }


def case(op, inputs, output, attrs=None, rtol=0.0, atol=0.0, **flags):
    return {
        "op": op,
        "inputs": [encode(x) for x in inputs],
        "attrs": attrs or {},
        "outputs": [encode(output)],
        "rtol": float(rtol),
        "atol": float(atol),
        **flags,
    }
