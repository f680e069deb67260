"""Attention, row by row from the definition."""

import numpy as np

from .tensors import EPS, FLOATS, INF, case, draw, tensor, wide


def attend(q, k, v, mask, scale, softcap, causal):
    """One head in long double."""
    scores = q @ k.T * scale
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    if mask is not None and mask.dtype == bool:
        scores = np.where(mask, scores, -INF)
    elif mask is not None:
        scores = scores + mask
    output = np.zeros((q.shape[0], v.shape[1]), np.longdouble)
    for row in range(q.shape[0]):
        seen = scores[row].copy()
        if causal:
            seen[row + 1 :] = -INF
        if not seen.size or np.all(seen == -INF):
            continue
        shares = np.exp(seen - np.max(seen))
        output[row] = shares @ v / np.sum(shares)
    return output


def attention_of(dtype, q, k, v, mask=None, scale=None, softcap=None, causal=False):
    q, k, v = (draw(dtype, *dims) for dims in (q, k, v))
    inputs, attrs = [q, k, v], {"causal": causal}
    narrow = "f64" if dtype == "f64" else "f32"
    if mask is not None:
        inputs.append(mask)
        attrs["mask"] = True
    for name, value in (("scale", scale), ("softcap", softcap)):
        if value is not None:
            inputs.append(tensor(value, narrow))
            attrs[name] = True
    factor = 1 / np.sqrt(np.longdouble(q.shape[-1])) if scale is None else wide(tensor(scale, narrow))
    cap = None if softcap is None else wide(tensor(softcap, narrow))
    shape = (*q.shape[:-1], k.shape[-2])
    seen = None if mask is None else np.broadcast_to(mask, shape)
    output = np.zeros((*q.shape[:-1], v.shape[-1]), np.longdouble)
    for at in np.ndindex(*q.shape[:-2]):
        of = at if not at else (*at[:-1], at[-1] // (q.shape[-3] // k.shape[-3]))
        of_mask = None if seen is None else seen[at]
        if of_mask is not None and of_mask.dtype != bool:
            of_mask = wide(of_mask)
        output[at] = attend(wide(q[at]), wide(k[of]), wide(v[of]), of_mask, factor, cap, causal)
    eps = EPS["f64"] if dtype == "f64" else EPS["f32"]
    size = float(np.abs(wide(v)).max(initial=0))
    rtol = (2 if dtype in ("f16", "bf16") else 64) * EPS[dtype]
    return case("attention", inputs, tensor(output, dtype), attrs, rtol=rtol, atol=64 * eps * size)


def attention():
    for dtype in FLOATS:
        yield attention_of(dtype, (3, 4), (5, 4), (5, 2))
        yield attention_of(dtype, (2, 3, 4, 8), (2, 3, 6, 8), (2, 3, 6, 5), causal=True)
        yield attention_of(dtype, (6, 3, 4), (2, 5, 4), (2, 5, 3), scale=0.5, softcap=1.5)
        yield attention_of(dtype, (2, 3, 4), (2, 5, 4), (2, 5, 3), mask=draw(dtype, 3, 5))
        yield attention_of(dtype, (2, 3, 4), (2, 5, 4), (2, 5, 3), mask=draw("bool", 2, 1, 5))
    for dtype in ("f32", "f64"):
        mask = np.array([[True, False], [False, False], [True, True]])
        yield attention_of(dtype, (2, 3, 4), (2, 2, 4), (2, 2, 4), mask=mask)
        added = tensor([[0, -INF], [-INF, -INF], [1, -2]], dtype)
        yield attention_of(dtype, (2, 3, 4), (2, 2, 4), (2, 2, 4), mask=added, causal=True)
        yield attention_of(dtype, (1, 1), (1, 1), (1, 1))
        yield attention_of(dtype, (3, 2), (0, 2), (0, 2))
        yield attention_of(dtype, (0, 2), (3, 2), (3, 2))
        yield attention_of(dtype, (3, 0), (4, 0), (4, 2), scale=1)
        yield attention_of(dtype, (67, 3), (5, 3), (5, 2), causal=True)
        yield attention_of(dtype, (2, 2, 1, 3), (2, 1, 4, 3), (2, 1, 4, 3), softcap=0)
        mask = draw(dtype, 2, 1, 1, 4)
        yield attention_of(dtype, (2, 2, 3, 3), (2, 1, 4, 3), (2, 1, 4, 3), mask=mask, scale=2)
