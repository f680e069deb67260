"""Windows with mpmath; spectrograms, frequencies, mel weights and filters by definition."""

import itertools

import mpmath
import numpy as np
import scipy.ndimage
import scipy.signal

from .fft import dft, whole
from .tensors import COMPLEX, EPS, FLOATS, INF, NAMES, NAN, case, draw, tensor, wide

# Digits in which windows and bands are computed.
DIGITS = 40


def cosines(weights):
    def weight(i, steps):
        terms = enumerate(weights)
        return sum((-1) ** k * mpmath.mpf(w) * mpmath.cos(2 * mpmath.pi * k * i / steps) for k, w in terms)

    return weight


def tukey(alpha):
    def weight(i, steps):
        share = mpmath.mpf(2 * min(i, steps - i)) / steps
        return (1 - mpmath.cos(mpmath.pi * share / alpha)) / 2 if share < alpha else mpmath.mpf(1)

    return weight


def gaussian(std):
    return lambda i, steps: mpmath.exp(-(((i - mpmath.mpf(steps) / 2) / std) ** 2) / 2)


def kaiser(beta):
    def weight(i, steps):
        within = 1 - (mpmath.mpf(2 * i) / steps - 1) ** 2
        return mpmath.besseli(0, beta * mpmath.sqrt(within)) / mpmath.besseli(0, beta)

    return weight


WINDOWS = [
    ("hann_window", {}, cosines(["0.5", "0.5"])),
    ("hamming_window", {}, cosines(["0.54", "0.46"])),
    ("blackman_window", {}, cosines(["0.42", "0.5", "0.08"])),
    ("blackman_harris_window", {}, cosines(["0.35875", "0.48829", "0.14128", "0.01168"])),
    ("nuttall_window", {}, cosines(["0.3635819", "0.4891775", "0.1365995", "0.0106411"])),
    ("flat_top_window", {}, cosines(["0.21557895", "0.41663158", "0.277263158", "0.083578947", "0.006947368"])),
    ("bartlett_window", {}, lambda i, steps: mpmath.mpf(2 * min(i, steps - i)) / steps),
    *[("tukey_window", {"alpha": alpha}, tukey(alpha)) for alpha in (0.5, 0.25, 1)],
    *[("gaussian_window", {"std": std}, gaussian(std)) for std in (0.5, 3, 7)],
    *[("kaiser_window", {"beta": beta}, kaiser(beta)) for beta in (0, 0.5, 5, 12, 650)],
]  # fmt: skip


def weights_of(weight, n, steps):
    with mpmath.workdps(DIGITS):
        return np.array([1.0 if n == 1 else float(weight(i, steps)) for i in range(n)])


def windows():
    for op, attrs, weight in WINDOWS:
        for n, periodic in itertools.product([0, 1, 2, 5, 8, 17], [True, False]):
            values = weights_of(weight, n, n if periodic else n - 1)
            # A Bessel function changes by its argument times as much as that.
            rtol = max(1e-14, attrs.get("beta", 0) * EPS["f64"])
            yield case(op, [], values, {"n": n, "periodic": periodic, **attrs}, rtol, 1e-15)
        values = weights_of(weight, 9, 9)
        for dtype in ["f16", "bf16", "f32", "c64", "c128"]:
            rtol = EPS[dtype] if dtype != "c128" else max(1e-14, attrs.get("beta", 0) * EPS["f64"])
            yield case(op, [], tensor(values, dtype), {"n": 9, "dtype": dtype, **attrs}, rtol, 1e-15)


def frequencies():
    for n, d in itertools.product([1, 2, 3, 8, 11], [1, 0.1, -2.5]):
        k = np.arange(n)
        signed = np.where(k < (n + 1) // 2, k, k - n)
        attrs = {"n": n, "d": d}
        yield case("fftfreq", [], signed / (n * d), attrs, 1e-15)
        yield case("rfftfreq", [], k[: n // 2 + 1] / (n * d), attrs, 1e-15)
    for dtype in ["f16", "bf16", "f32", "c64"]:
        freq = tensor(np.fft.fftfreq(6, 0.5), dtype)
        yield case("fftfreq", [], freq, {"n": 6, "d": 0.5, "dtype": dtype}, EPS[dtype])


def shifts():
    for dims, axes in [((5,), None), ((6,), None), ((1,), 0), ((0,), None), ((3, 4), None), ((3, 4), 0), ((3, 4, 5), [0, -1])]:
        for dtype in ["f32", "c128", "bool"]:
            x = draw(dtype, *dims)
            named = tuple(axes) if isinstance(axes, list) else axes
            yield case("fftshift", [x], np.fft.fftshift(x, named), {"axes": axes})
            yield case("ifftshift", [x], np.fft.ifftshift(x, named), {"axes": axes})


@mpmath.workdps(DIGITS)
def mel_weights(bands, length, rate, low, high):
    """ONNX's MelWeightMatrix from its specification."""
    mels = lambda f: 2595 * mpmath.log10(1 + mpmath.mpf(f) / 700)  # noqa: E731
    step = (mels(high) - mels(low)) / (bands + 2)
    hertz = [700 * (10 ** ((mels(low) + at * step) / 2595) - 1) for at in range(bands + 2)]
    bins = [int(mpmath.floor((length + 1) * f / rate)) for f in hertz]
    weights = np.zeros((length // 2 + 1, bands))
    for band in range(bands):
        left, middle, right = bins[band : band + 3]
        for at in range(left, middle):
            weights[at, band] = (at - left) / (middle - left)
        for at in range(middle, right):
            weights[at, band] = (right - at) / (right - middle)
        weights[middle, band] = 1
    return weights


def mels():
    for bands, length, rate, low, high in [
        (8, 16, 8192, 0, 4096), (2, 8, 8000, 0, 4000), (20, 128, 16000, 20, 7600), (1, 5, 100, 10, 50),
        (13, 99, 11025, 300, 5000),
    ]:  # fmt: skip
        attrs = {"num_mel_bins": bands, "dft_length": length, "sample_rate": rate, "lower": low, "upper": high}
        yield case("mel_weights", [], mel_weights(bands, length, rate, low, high), attrs, 1e-15)
    attrs = {"num_mel_bins": 10, "dft_length": 200, "sample_rate": 16000, "dtype": "f32"}
    yield case("mel_weights", [], tensor(mel_weights(10, 200, 16000, 0, 8000), "f32"), attrs, EPS["f32"])


MARGINS = {"constant": "constant", "reflect": "reflect", "edge": "edge", "symmetric": "symmetric", "wrap": "wrap"}


def stft(x, window, hop, center=True, pad_mode="reflect", onesided=True):
    """Frames, each by the definition of the transform."""
    name = NAMES[x.dtype]
    w = len(window)
    signal = wide(x)
    if center:
        signal = np.pad(signal, [(0, 0)] * (x.ndim - 1) + [(w // 2, w // 2)], mode=pad_mode)
    starts = range(0, signal.shape[-1] - w + 1, hop)
    frames = np.stack([signal[..., at : at + w] * wide(window) for at in starts], -1)
    output = dft(frames, -2, -1)
    if onesided:
        output = output[..., : w // 2 + 1, :]
    dtype = "c64" if name in ("f16", "bf16", "f32", "c64") else "c128"
    size = float(np.max(np.sum(np.abs(frames), -2))) if frames.size else 0.0
    attrs = {"hop_length": hop, "center": center, "pad_mode": pad_mode, "onesided": onesided}
    return case("stft", [x, window], tensor(output, dtype), attrs, atol=4 * EPS[dtype] * np.log2(2 * w) * size)


def istft(x, window, hop, length=None, center=True, onesided=True):
    """Frames added up with the window and divided by the sum of its squares."""
    w, frames = len(window), x.shape[-1]
    spectra = wide(x)
    lines = dft(whole(spectra, w, -2), -2, 1).real if onesided else dft(spectra, -2, 1)
    lines = lines / w * wide(window)[:, None]
    total = np.zeros((*x.shape[:-2], w + hop * (frames - 1)), lines.dtype)
    weight = np.zeros(total.shape[-1], np.longdouble)
    for at in range(frames):
        total[..., at * hop : at * hop + w] += lines[..., at]
        weight[at * hop : at * hop + w] += wide(window) ** 2
    start = w // 2 if center else 0
    end = total.shape[-1] - start if length is None else start + length
    output = total[..., start:end] / weight[start:end]
    single = NAMES[x.dtype] == "c64"
    dtype = ("f32" if single else "f64") if onesided else NAMES[x.dtype]
    attrs = {"hop_length": hop, "center": center, "onesided": onesided}
    attrs |= {} if length is None else {"length": length}
    size = float(np.max(np.abs(output))) + float(np.max(np.abs(total))) / float(weight[start:end].min())
    return case("istft", [x, window], tensor(output, dtype), attrs, atol=4 * EPS[dtype] * np.log2(2 * w) * size)


def hann(n, dtype):
    return tensor(0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / n), dtype)


def spectrograms():
    for dtype in ["f32", "f64"]:
        for w, hop in [(1, 1), (2, 1), (8, 2), (8, 3), (9, 4), (16, 16), (13, 20)]:
            for center in (True, False):
                yield stft(draw(dtype, 50), hann(w, dtype) + tensor(0.1, dtype), hop, center)
        for mode in ("constant", "edge", "reflect", "symmetric", "wrap"):
            yield stft(draw(dtype, 2, 21), hann(8, dtype), 4, pad_mode=mode)
        yield stft(draw(dtype, 2, 3, 30), hann(8, dtype), 4)
        yield stft(draw(dtype, 0, 30), hann(8, dtype), 4)
        yield stft(draw(dtype, 30), hann(8, dtype), 4, onesided=False)
        yield stft(draw(dtype, 8), hann(8, dtype), 5, center=False)
        yield stft(draw(dtype, 200), hann(64, dtype), 32)
    for dtype in COMPLEX:
        yield stft(draw(dtype, 2, 40), hann(9, "f32" if dtype == "c64" else "f64"), 4, onesided=False)
    yield stft(draw("f16", 40), hann(8, "f32"), 4)
    yield stft(draw("i16", 40), hann(8, "f64"), 4)


def signals():
    for dtype, real in [("c64", "f32"), ("c128", "f64")]:
        for w, hop in [(2, 1), (8, 2), (8, 4), (9, 3), (16, 5)]:
            window = hann(w, real)
            yield istft(draw(dtype, w // 2 + 1, 7), window, hop)
            yield istft(draw(dtype, w // 2 + 1, 7), window + tensor(0.1, real), hop, center=False)
            yield istft(draw(dtype, w, 6), window, hop, onesided=False)
        yield istft(draw(dtype, 2, 5, 6), hann(8, real), 2, length=13)
        yield istft(draw(dtype, 2, 5, 6), hann(8, real), 2, length=5)
        yield istft(draw(dtype, 5, 1), hann(8, real) + tensor(0.5, real), 4, center=False)
        yield istft(draw(dtype, 33, 9), hann(64, real), 16)
        # There and back.
        x, window = draw(real, 2, 100), hann(16, real)
        spectra = np.stack([wide(np.pad(x, [(0, 0), (8, 8)], mode="reflect"))[:, at : at + 16] * wide(window) for at in range(0, 101, 4)], -1)
        spectra = tensor(dft(spectra, -2, -1)[:, :9], dtype)
        yield case("istft", [spectra, window], x, {"hop_length": 4, "length": 100}, atol=16 * EPS[real])


def spectra():
    yield from windows()
    yield from frequencies()
    yield from shifts()
    yield from mels()
    yield from spectrograms()
    yield from signals()


def sums(x, w, before, source):
    """Sums over weights of what `source` says lies at a place, for each place of the result."""
    total = np.zeros(source["shape"], x.dtype)
    for place in np.ndindex(total.shape):
        for tap in np.ndindex(w.shape):
            at = tuple(p + t - b for p, t, b in zip(place, tap, before))
            inside = all(0 <= a < n for a, n in zip(at, x.shape))
            if inside:
                total[place] += x[at] * w[tap]
    return total


def exact(x):
    return x if x.dtype.kind in "iu" else wide(x)


def convolve(op, x, w, mode="full"):
    """By definition; leading axes that the weights lack are a batch."""
    name = NAMES[x.dtype]
    turned = (slice(None, None, -1),) * w.ndim
    orient = (lambda w: w[turned]) if op == "convolve" else np.conj
    batch = x.shape[: x.ndim - w.ndim]
    sizes = x.shape[x.ndim - w.ndim :]
    change = {"full": lambda n, m: n + m - 1, "same": lambda n, m: n, "valid": lambda n, m: n - m + 1}[mode]
    shape = tuple(change(n, m) for n, m in zip(sizes, w.shape))
    before = [{"full": m - 1, "same": m // 2, "valid": 0}[mode] for m in w.shape]

    def of(x, weights):
        flat = x.reshape(-1, *sizes)
        parts = [sums(part, weights, before, {"shape": shape}) for part in flat]
        return np.array(parts, x.dtype).reshape(*batch, *shape)

    output = of(exact(x), orient(exact(w)))
    if name in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"):
        return case(op, [x, w], output, {"mode": mode})
    size = of(np.abs(wide(x)), orient(np.abs(wide(w))))
    accumulator = EPS["f32"] if name in ("f16", "bf16") else EPS[name]
    atol = 4 * accumulator * float(size.max()) if size.size else 0.0
    return case(op, [x, w], tensor(output, name), {"mode": mode}, rtol=EPS[name], atol=atol)


# What SciPy's ndimage calls what `pad` has.
BEYOND = {"constant": "constant", "edge": "nearest", "reflect": "mirror", "symmetric": "reflect", "wrap": "wrap"}


def stencil(x, w, mode="constant", value=0.0):
    """With NumPy's pad, and for real numbers SciPy's ndimage agrees."""
    name = NAMES[x.dtype]
    batch = x.ndim - w.ndim
    widths = [(0, 0)] * batch + [(m // 2, m - 1 - m // 2) for m in w.shape]
    options = {"constant_values": value} if mode == "constant" else {"mode": mode}

    def of(x, w):
        padded = np.pad(x, widths, **options)
        total = np.zeros(x.shape, x.dtype)
        for tap in np.ndindex(w.shape):
            at = (...,) + tuple(slice(t, t + n) for t, n in zip(tap, x.shape[batch:]))
            total += padded[at] * w[tap]
        return total

    output = of(exact(x), exact(w))
    if x.dtype.kind == "f" and name != "bf16" and batch == 0:
        scipys = scipy.ndimage.correlate(x.astype(np.float64), w.astype(np.float64), mode=BEYOND[mode], cval=value)
        assert np.allclose(scipys, output.astype(np.float64), rtol=1e-6, atol=1e-6)
    attrs = {"mode": mode, "value": value}
    if x.dtype.kind in "iu":
        return case("stencil", [x, w], output, attrs)
    size = of(np.abs(wide(x)), np.abs(wide(w))) + abs(value) * np.sum(np.abs(wide(w)))
    accumulator = EPS["f32"] if name in ("f16", "bf16") else EPS[name]
    atol = 4 * accumulator * float(size.max()) if size.size else 0.0
    return case("stencil", [x, w], tensor(output, name), attrs, rtol=EPS[name], atol=atol)


def filters():
    shapes = [
        ((7,), (3,)), ((7,), (1,)), ((7,), (7,)), ((7,), (4,)), ((1,), (1,)), ((4, 5), (2, 3)), ((5, 4), (3, 1)), ((3, 4, 5), (2, 2, 3)),
        ((2, 7), (3,)), ((2, 3, 6), (3, 2)), ((0, 5), (2,)),
    ]  # fmt: skip
    for op in ("convolve", "correlate"):
        for dtype in FLOATS + COMPLEX + ["i32", "i64", "u8", "i8"]:
            for a, b in shapes if dtype in ("f32", "c128") else shapes[:1] + shapes[5:6]:
                for mode in ("full", "same", "valid"):
                    yield convolve(op, draw(dtype, *a), draw(dtype, *b), mode)
        for mode in ("full", "same"):
            yield convolve(op, draw("f64", 3), draw("f64", 8), mode)
            yield convolve(op, draw("f32", 2, 5), draw("f32", 4, 3), mode)
    x, w = draw("f64", 40), draw("f64", 9)
    for mode in ("full", "same", "valid"):
        ours = convolve("convolve", x, w, mode)["outputs"][0]["data"]
        assert np.allclose(ours, scipy.signal.convolve(x, w, mode))
        ours = convolve("correlate", x, w, mode)["outputs"][0]["data"]
        assert np.allclose(ours, scipy.signal.correlate(x, w, mode))
    # Nothing is multiplied with what is not there.
    yield case("convolve", [tensor([1, 2], "f32"), tensor([INF, 1], "f32")], tensor([INF, INF, 2], "f32"))
    yield case("convolve", [tensor([1, NAN, 2, 3], "f32"), tensor([1, 1], "f32")], tensor([1, NAN, NAN, 5, 3], "f32"))
    for mode in BEYOND:
        for a, b in [((7,), (3,)), ((7,), (4,)), ((2,), (9,)), ((1,), (5,)), ((4, 5), (3, 3)), ((4, 5), (2, 5)), ((3, 4, 2), (3, 1, 3))]:
            yield stencil(draw("f64", *a), draw("f64", *b), mode)
            yield stencil(draw("f32", *a), draw("f32", *b), mode)
        for dtype in ["f16", "bf16", "c64", "c128", "i32", "u8"]:
            yield stencil(draw(dtype, 5, 6), draw(dtype, 3, 3), mode)
        yield stencil(draw("f32", 2, 3, 7), draw("f32", 3), mode)
    yield stencil(draw("f64", 4, 5), draw("f64", 3, 3), "constant", -2.5)
    yield stencil(draw("i32", 4, 5), draw("i32", 3, 3), "constant", 7)
    yield stencil(draw("f32", 0, 5), draw("f32", 1, 3))
    yield stencil(draw("f32", 20, 31), tensor([[0, 1, 0], [1, -4, 1], [0, 1, 0]], "f32"), "edge")


def vectors():
    """Cross products and inner products along an axis."""
    yield from parts()
    for dtype in FLOATS + COMPLEX + ["i32", "u8", "i64"]:
        for a, b, axis in [((3,), (3,), -1), ((4, 3), (4, 3), -1), ((3, 4), (3, 4), 0), ((2, 1, 3), (5, 3), -1), ((2, 3, 4), (3, 1), 1), ((0, 3), (3,), -1)]:
            x, y = draw(dtype, *a), draw(dtype, *b)
            yield cross(x, y, axis)
        for a, b, axis in [((5,), (5,), -1), ((4, 5), (4, 5), -1), ((4, 5), (4, 5), 0), ((2, 1, 5), (3, 5), -1), ((5, 2), (3, 5, 1), -2), ((3, 0), (3, 0), -1)]:
            yield vecdot(draw(dtype, *a), draw(dtype, *b), axis)


def parts():
    """Complex numbers of their parts."""
    for dtype, to in [("f16", "c64"), ("bf16", "c64"), ("f32", "c64"), ("f64", "c128"), ("i32", "c128"), ("bool", "c128")]:
        for a, b in [((5,), (5,)), ((3, 1), (4,)), ((), (2, 0)), ((), ())]:
            x, y = draw(dtype, *a), draw(dtype, *b)
            re, im = np.broadcast_arrays(x.astype(np.float64), y.astype(np.float64))
            yield case("complex", [x, y], tensor(re + 1j * im, to))
    x, y = tensor([NAN, 1, -0.0, INF], "f32"), tensor([1, NAN, -0.0, -INF], "f32")
    output = np.empty(4, np.complex64)
    output.real, output.imag = x, y
    yield case("complex", [x, y], output, signed_zeros=True)


def cross(x, y, axis):
    name = NAMES[x.dtype]
    shape = np.broadcast_shapes(x.shape, y.shape)
    a, b = (np.moveaxis(np.broadcast_to(exact(v), shape), axis, 0) for v in (x, y))
    parts = [a[i] * b[j] - a[j] * b[i] for i, j in [(1, 2), (2, 0), (0, 1)]]
    output = np.moveaxis(np.array(parts, a.dtype).reshape(a.shape), 0, axis)
    if x.dtype.kind in "iu":
        return case("cross", [x, y], output, {"axis": axis})
    accumulator = EPS["f32"] if name in ("f16", "bf16") else EPS[name]
    atol = 8 * accumulator * float(np.max(np.abs(a)) * np.max(np.abs(b))) if a.size else 0.0
    return case("cross", [x, y], tensor(output, name), {"axis": axis}, EPS[name], atol)


def vecdot(x, y, axis):
    name = NAMES[x.dtype]
    a, b = np.moveaxis(exact(x), axis, -1), np.moveaxis(exact(y), axis, -1)
    products = np.conj(a) * b
    output = products.sum(-1, dtype=products.dtype)
    if x.dtype.kind in "iu":
        return case("vecdot", [x, y], output, {"axis": axis})
    accumulator = EPS["f32"] if name in ("f16", "bf16") else EPS[name]
    size = np.abs(products).sum(-1)
    atol = 8 * accumulator * float(size.max()) if size.size else 0.0
    return case("vecdot", [x, y], tensor(output, name), {"axis": axis}, EPS[name], atol)
