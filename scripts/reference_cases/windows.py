"""Convolutions over one and three axes, their transposes, pools and patches, by definition."""

import itertools

import numpy as np

from .tensors import COMPLEX, EPS, FLOATS, INF, NAMES, NAN, case, draw, tensor, wide

ACCUMULATOR = {"f16": EPS["f32"], "bf16": EPS["f32"]}


def listed(value, rank):
    return [value] * rank if isinstance(value, int) else list(value)


def edges(padding, sizes, window, stride, dilation):
    """Padding before and after each axis."""
    rank = len(sizes)
    if padding == "valid":
        return [0] * rank, [0] * rank
    if isinstance(padding, str):
        before, after = [], []
        for size, taps, step, reach in zip(sizes, window, stride, dilation):
            count = -(-size // step)
            needed = max(0, (count - 1) * step + (taps - 1) * reach + 1 - size)
            low, high = needed // 2, needed - needed // 2
            before.append(low if padding == "same" else high)
            after.append(high if padding == "same" else low)
        return before, after
    padding = listed(padding, rank)
    return (padding, padding) if len(padding) == rank else (padding[:rank], padding[rank:])


class Windows:
    """Which elements each window has; elements that are not in the input are left out."""

    def __init__(self, sizes, window, stride=1, padding=0, dilation=1, ceil_mode=False):
        rank = len(sizes)
        self.sizes, self.window = sizes, listed(window, rank)
        self.stride = self.window if stride is None else listed(stride, rank)
        self.dilation = listed(dilation, rank)
        self.before, self.after = edges(padding, sizes, self.window, self.stride, self.dilation)
        self.counts = []
        for axis in range(rank):
            padded = sizes[axis] + self.before[axis] + self.after[axis]
            reach = (self.window[axis] - 1) * self.dilation[axis] + 1
            count = 0
            while True:
                start = count * self.stride[axis]
                fits = start + reach <= padded
                begins = start < sizes[axis] + self.before[axis]
                overhangs = count > 0 and start - self.stride[axis] + reach < padded
                if not (fits or (ceil_mode and begins and overhangs)):
                    break
                count += 1
            if isinstance(padding, str) and padding != "valid":
                count = -(-sizes[axis] // self.stride[axis])
            self.counts.append(count)
        if ceil_mode:
            # A last window that would begin beyond the input is dropped, even if it fits.
            for axis in range(rank):
                while (self.counts[axis] - 1) * self.stride[axis] >= sizes[axis] + self.before[axis]:
                    self.counts[axis] -= 1

    def __iter__(self):
        return itertools.product(*map(range, self.counts))

    def elements(self, at):
        """Pairs of the position in the window and the place in the input."""
        for tap in itertools.product(*map(range, self.window)):
            place = self.place(at, tap)
            if all(0 <= index < size for index, size in zip(place, self.sizes)):
                yield tap, place

    def counted(self, at):
        """Elements that lie in the input or its padding."""
        inside = 0
        for tap in itertools.product(*map(range, self.window)):
            place = self.place(at, tap)
            ends = zip(place, self.before, self.sizes, self.after)
            inside += all(-low <= index < size + high for index, low, size, high in ends)
        return inside

    def place(self, at, tap):
        axes = zip(at, self.stride, tap, self.dilation, self.before)
        return tuple(a * step + t * reach - low for a, step, t, reach, low in axes)


def conv_nd(dtype, x, w, stride=1, padding=0, dilation=1, groups=1):
    x, w = draw(dtype, *x), draw(dtype, *w)
    attrs = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    windows = Windows(x.shape[2:], list(w.shape[2:]), stride, padding, dilation)
    a, b = wide(x), wide(w)
    output = np.zeros((x.shape[0], w.shape[0], *windows.counts), a.dtype)
    size = np.zeros(output.shape, np.longdouble)
    depth, filters = w.shape[1], w.shape[0] // groups
    for at in windows:
        for tap, place in windows.elements(at):
            for group in range(groups):
                seen = a[(slice(None), slice(group * depth, (group + 1) * depth), *place)]
                of = slice(group * filters, (group + 1) * filters)
                taps = b[(of, slice(None), *tap)]
                output[(slice(None), of, *at)] += seen @ taps.T
                size[(slice(None), of, *at)] += np.abs(seen) @ np.abs(taps).T
    eps = ACCUMULATOR.get(dtype, EPS[dtype])
    atol = 4 * eps * float(size.max(initial=0))
    name = f"conv{len(x.shape) - 2}d"
    return case(name, [x, w], tensor(output, dtype), attrs, rtol=EPS[dtype], atol=atol)


def transposed(
    dtype, x, w, stride=1, padding=0, output_padding=0, dilation=1, groups=1
):
    x, w = draw(dtype, *x), draw(dtype, *w)
    rank = len(x.shape) - 2
    attrs = {
        "stride": stride,
        "padding": padding,
        "output_padding": output_padding,
        "dilation": dilation,
        "groups": groups,
    }
    steps, reach = listed(stride, rank), listed(dilation, rank)
    window = list(w.shape[2:])
    before, after = edges(padding, x.shape[2:], window, steps, reach)
    more = listed(output_padding, rank)
    whole = [
        (size - 1) * step + (taps - 1) * dil + 1 + extra
        for size, step, taps, dil, extra in zip(x.shape[2:], steps, window, reach, more)
    ]
    depth, filters = x.shape[1] // groups, w.shape[1]
    a, b = wide(x), wide(w)
    output = np.zeros((x.shape[0], filters * groups, *whole), a.dtype)
    size = np.zeros(output.shape, np.longdouble)
    for at in itertools.product(*map(range, x.shape[2:])):
        for tap in itertools.product(*map(range, window)):
            place = tuple(i * s + t * d for i, s, t, d in zip(at, steps, tap, reach))
            for group in range(groups):
                of = slice(group * depth, (group + 1) * depth)
                values, taps = a[(slice(None), of, *at)], b[(of, slice(None), *tap)]
                into = (slice(None), slice(group * filters, (group + 1) * filters), *place)
                output[into] += values @ taps
                size[into] += np.abs(values) @ np.abs(taps)
    crop = tuple(slice(low, end - high) for low, end, high in zip(before, whole, after))
    output = output[(slice(None), slice(None), *crop)]
    eps = ACCUMULATOR.get(dtype, EPS[dtype])
    atol = 4 * eps * float(size.max(initial=0))
    name = f"conv_transpose{rank}d"
    return case(name, [x, w], tensor(output, dtype), attrs, rtol=EPS[dtype], atol=atol)


def pool(op, x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, **more):
    dtype = NAMES[x.dtype]
    attrs = {
        "kernel_size": kernel_size,
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
        "ceil_mode": ceil_mode,
        **more,
    }
    windows = Windows(x.shape[2:], kernel_size, stride, padding, dilation, ceil_mode)
    shape = (*x.shape[:2], *windows.counts)
    if op.startswith("max"):
        return maxima(op, x, windows, shape, attrs)
    out = dtype if dtype in FLOATS else "f64"
    values = x.astype(np.longdouble)
    output = np.zeros(shape, np.longdouble)
    for at in windows:
        places = [place for _, place in windows.elements(at)]
        elements = np.stack([values[(..., *place)] for place in places]) if places else None
        if op == "avg_pool":
            count = windows.counted(at) if more.get("count_include_pad", True) else len(places)
            total = elements.sum(axis=0) if places else 0
            output[(..., *at)] = total / np.longdouble(count)
        else:
            p = np.longdouble(more.get("p", 2))
            total = (np.abs(elements) ** p).sum(axis=0) if places else 0
            output[(..., *at)] = np.longdouble(total) ** (1 / p)
    rtol = 2 * EPS[out] if out in ("f16", "bf16") else 32 * EPS[out]
    eps = ACCUMULATOR.get(out, EPS[out])
    size = float(np.abs(values[np.isfinite(values)]).max(initial=0))
    return case(op, [x], tensor(output, out), attrs, rtol=rtol, atol=64 * eps * size)


def maxima(op, x, windows, shape, attrs):
    kind = x.dtype.kind
    least = -INF if kind not in "iu" else np.iinfo(x.dtype).min
    output = np.full(shape, least, x.dtype)
    indices = np.full(shape, -1, np.int64)
    for n, c, *at in np.ndindex(*shape):
        best = None
        for _, place in windows.elements(at):
            value = x[(n, c, *place)]
            is_nan = value != value
            if best is None or value > best or (is_nan and best == best):
                best = value
                output[(n, c, *at)] = value
                indices[(n, c, *at)] = np.ravel_multi_index(place, windows.sizes)
    found = case(op, [x], output, attrs)
    if op == "max_pool_with_indices":
        found["outputs"] += case(op, [], indices)["outputs"]
    return found


def whole(op, x, **attrs):
    dtype = NAMES[x.dtype]
    axes = tuple(range(2, x.ndim))
    if op == "global_max_pool":
        return case(op, [x], np.max(x, axis=axes, keepdims=True), attrs)
    out = dtype if dtype in FLOATS else "f64"
    values = x.astype(np.longdouble)
    if op == "global_avg_pool":
        output = np.mean(values, axis=axes, keepdims=True)
    else:
        p = np.longdouble(attrs.get("p", 2))
        output = np.sum(np.abs(values) ** p, axis=axes, keepdims=True) ** (1 / p)
    eps = ACCUMULATOR.get(out, EPS[out])
    atol = 64 * eps * float(np.abs(values).max())
    return case(op, [x], tensor(output, out), attrs, rtol=32 * EPS[out], atol=atol)


def unfold(dtype, shape, kernel_size, **options):
    x = draw(dtype, *shape)
    windows = Windows(x.shape[2:], kernel_size, **options)
    taps = int(np.prod(windows.window))
    output = np.zeros((*x.shape[:2], taps, *windows.counts), x.dtype)
    for at in windows:
        for tap, place in windows.elements(at):
            row = np.ravel_multi_index(tap, windows.window)
            output[(slice(None), slice(None), row, *at)] = x[(..., *place)]
    output = output.reshape(x.shape[0], x.shape[1] * taps, int(np.prod(windows.counts)))
    return case("unfold", [x], output, {"kernel_size": kernel_size, **options})


def fold(dtype, items, channels, output_size, kernel_size, **options):
    windows = Windows(output_size, kernel_size, **options)
    taps, patches = int(np.prod(windows.window)), int(np.prod(windows.counts))
    x = draw(dtype, items, channels * taps, patches)
    values = wide(x).reshape(items, channels, taps, *windows.counts)
    output = np.zeros((items, channels, *output_size), values.dtype)
    for at in windows:
        for tap, place in windows.elements(at):
            row = np.ravel_multi_index(tap, windows.window)
            output[(..., *place)] += values[(slice(None), slice(None), row, *at)]
    if dtype in FLOATS or dtype in COMPLEX:
        output = tensor(output, dtype)
        eps = ACCUMULATOR.get(dtype, EPS[dtype])
        tolerance = {"rtol": EPS[dtype], "atol": 4 * taps * eps * float(np.abs(x).max(initial=0))}
    else:
        tolerance = {}
    attrs = {"output_size": output_size, "kernel_size": kernel_size, **options}
    return case("fold", [x], output, attrs, **tolerance)


def with_specials(dtype):
    x = draw(dtype, 1, 2, 4, 5)
    x[0, 0, 1, 2], x[0, 0, 0, 0], x[0, 1, 3, 4], x[0, 1, 0, 0] = NAN, INF, -INF, INF
    return x


def pools():
    for dtype in FLOATS:
        yield pool("max_pool", draw(dtype, 2, 3, 11), 3)
        yield pool("max_pool", with_specials(dtype), [2, 3], stride=1)
        yield pool("max_pool_with_indices", with_specials(dtype), 2, stride=1, padding=1)
        yield pool("avg_pool", draw(dtype, 2, 3, 7, 5), [3, 2], padding=[1, 0], stride=2)
        yield pool("avg_pool", with_specials(dtype), 2)
        yield pool("lp_pool", draw(dtype, 1, 2, 5, 6), 2, p=3)
        yield whole("global_max_pool", draw(dtype, 2, 3, 5, 7))
        yield whole("global_avg_pool", draw(dtype, 2, 3, 5, 7))
        yield whole("global_lp_pool", draw(dtype, 2, 3, 7), p=2)
    for dtype in ("u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"):
        yield pool("max_pool", draw(dtype, 1, 2, 5, 4), [2, 2], stride=1)
        yield pool("max_pool_with_indices", draw(dtype, 1, 2, 9), 3, padding=1)
        yield pool("avg_pool", draw(dtype, 1, 2, 5, 4), [2, 3])
        yield whole("global_max_pool", draw(dtype, 1, 2, 5))
    yield whole("global_avg_pool", draw("u8", 1, 2, 3, 3, 3))
    yield whole("global_lp_pool", draw("f64", 1, 2, 3, 3, 3), p=1)
    yield whole("global_lp_pool", draw("f64", 1, 2, 3, 3, 3), p=2.5)
    for op in ("max_pool", "max_pool_with_indices", "avg_pool", "lp_pool"):
        for dims, size, options in [
            ((1, 1, 1), 1, {}),
            ((2, 1, 7), 2, {"stride": 3, "ceil_mode": True}),
            ((1, 2, 8), 3, {"stride": 2, "padding": [2, 1], "dilation": 2}),
            ((1, 1, 6, 7), [3, 2], {"padding": "same", "stride": [2, 3]}),
            ((1, 1, 6, 7), [2, 4], {"padding": "same_lower", "stride": 1}),
            ((1, 1, 6, 7), 2, {"padding": "valid"}),
            ((1, 2, 2, 2), 3, {"stride": 3, "padding": 1, "ceil_mode": True}),
            ((1, 1, 5, 5), [2, 2], {"stride": 2, "padding": [1, 0, 0, 1], "ceil_mode": True}),
            ((1, 1, 7, 7), 3, {"stride": 2, "dilation": [1, 2], "ceil_mode": True}),
            ((1, 2, 4, 5, 6), [2, 3, 2], {"stride": [1, 2, 2], "padding": 1}),
            ((1, 1, 5, 5, 5), 2, {"dilation": 2, "stride": 1, "padding": [0, 1, 0, 1, 0, 0]}),
            ((0, 2, 5), 2, {}),
        ]:
            yield pool(op, draw("f32", *dims), size, **options)
            if op == "avg_pool":
                yield pool(op, draw("f64", *dims), size, count_include_pad=False, **options)
    yield pool("lp_pool", draw("f64", 1, 1, 5, 5), 3, stride=1, p=1)
    yield pool("lp_pool", draw("f64", 1, 1, 5, 5), 3, stride=1, p=0.5)
    yield pool("max_pool", draw("f32", 1, 1, 2), 1, stride=1, padding=2)
    yield pool("max_pool_with_indices", draw("i32", 1, 1, 2), 1, stride=1, padding=2)


def windows():
    for dtype in [*FLOATS, *COMPLEX]:
        yield conv_nd(dtype, (2, 3, 9), (4, 3, 3), stride=2, padding=1)
        yield conv_nd(dtype, (1, 2, 4, 3, 5), (3, 2, 2, 2, 3), padding=[1, 0, 1])
        yield transposed(dtype, (2, 3, 5), (3, 2, 3), stride=2, padding=1)
        yield transposed(dtype, (1, 2, 3, 4), (2, 3, 3, 2), stride=[2, 3])
        yield unfold(dtype, (1, 2, 4, 5), [2, 3])
        yield fold(dtype, 1, 2, [4, 5], [2, 3], padding=1)
    for dtype in ("u8", "i16", "i64"):
        yield conv_nd("f64", (1, 1, 5), (1, 1, 2))
        yield unfold(dtype, (1, 2, 7), [3], padding=1, dilation=2)
        yield fold(dtype, 2, 1, [6], [3], padding=1)
    yield unfold("bool", (1, 2, 4, 3), [2, 2])
    for dtype in ("f32", "f64"):
        yield conv_nd(dtype, (1, 4, 10), (6, 2, 3), padding=[2, 1], dilation=2, groups=2)
        yield conv_nd(dtype, (1, 2, 7), (2, 2, 4), padding="same")
        yield conv_nd(dtype, (1, 2, 7), (2, 2, 4), padding="same_lower", stride=2)
        yield conv_nd(dtype, (1, 1, 1), (1, 1, 5), padding=2)
        yield conv_nd(dtype, (0, 1, 4), (1, 1, 2))
        yield conv_nd(dtype, (1, 3, 2, 3, 4), (5, 3, 1, 1, 1))
        yield conv_nd(dtype, (1, 4, 5, 4, 6), (4, 1, 2, 3, 2), groups=4, stride=[2, 1, 2])
        yield conv_nd(dtype, (1, 1, 4, 5, 5), (2, 1, 2, 2, 2), dilation=[1, 2, 2])
        yield conv_nd(dtype, (1, 1, 3, 4, 4), (1, 1, 3, 3, 3), padding=[1, 0, 2, 0, 1, 1])
        yield conv_nd(dtype, (1, 1, 3, 4, 5), (1, 1, 2, 2, 2), padding="same_lower", stride=2)
        yield transposed(dtype, (1, 1, 1), (1, 1, 1))
        yield transposed(dtype, (1, 4, 6), (4, 3, 2), groups=2, dilation=3, padding=[1, 2])
        yield transposed(dtype, (1, 2, 3, 3), (2, 9, 3, 3))
        yield transposed(dtype, (1, 2, 3, 3), (2, 2, 2, 2), stride=2, output_padding=1)
        yield transposed(
            dtype,
            (2, 4, 3, 4),
            (4, 2, 3, 3),
            stride=[3, 2],
            padding=[1, 2, 0, 1],
            output_padding=[2, 0],
            groups=2,
        )
        yield transposed(dtype, (1, 1, 2, 3, 2), (1, 2, 3, 2, 2), stride=[1, 2, 2], padding=1)
        yield transposed(dtype, (0, 1, 3), (1, 1, 2))
        yield unfold(dtype, (2, 3, 5, 6), [2, 2], stride=[2, 3], padding=[1, 0], dilation=[1, 2])
        yield unfold(dtype, (1, 1, 3, 3, 4), [2, 1, 2])
        yield fold(dtype, 2, 3, [5, 6], [2, 2], stride=2, padding=[1, 0, 1, 2], dilation=[1, 2])
        yield fold(dtype, 1, 2, [3, 4, 5], [1, 2, 5])
