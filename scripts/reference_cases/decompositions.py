"""Decompositions, systems of equations, determinants and norms of matrices, by LAPACK in f64."""

import numpy as np
import scipy.linalg

from .tensors import EPS, INF, NAMES, NAN, REAL, case, double, draw, encode, tensor

DTYPES = ["i32", "f16", "bf16", "f32", "f64", "c64", "c128"]
RESULT = {"i32": "f64", "f16": "f32", "bf16": "f32"}


def cases(op, inputs, outputs, attrs=None, real=(), kind=None):
    """A case of several results; those at the positions `real` are real numbers."""
    name = RESULT.get(NAMES[inputs[0].dtype], NAMES[inputs[0].dtype])
    if kind == "c":
        name = {"f32": "c64", "f64": "c128"}.get(name, name)
    names = [REAL.get(name, name) if at in real else name for at in range(len(outputs))]
    rounded = [tensor(output, dtype) for output, dtype in zip(outputs, names, strict=True)]
    finite = [np.abs(output[np.isfinite(output)]) for output in rounded]
    largest = max((float(output.max()) for output in finite if output.size), default=1.0)
    # The condition of the matrices below is far from what would spoil ten bits.
    tolerance = 1024 * EPS["f64"] if EPS[name] == EPS["f64"] else 2 * EPS[name]
    made = case(op, inputs, rounded[0], attrs, rtol=tolerance, atol=tolerance * largest)
    return {**made, "outputs": [encode(output) for output in rounded]}


def phase(vector):
    """Of the first component that is not small beside the largest."""
    moduli = np.abs(vector)
    first = vector[np.argmax(moduli > moduli.max() / 1000)]
    return first / np.abs(first)


def each(function, *inputs):
    """Applies a function of matrices to each of a batch, and stacks each of its results."""
    batch = np.broadcast_shapes(*[x.shape[:-2] for x in inputs])
    inputs = [np.broadcast_to(x, batch + x.shape[-2:]) for x in inputs]
    results = [function(*[x[at] for x in inputs]) for at in np.ndindex(*batch)]
    return [np.reshape(part, batch + np.shape(part)[1:]) for part in zip(*results, strict=True)]


def eigh(x):
    values, vectors = np.linalg.eigh(x)
    return values, vectors / np.array([phase(column) for column in vectors.T])


def svd(x, full=False):
    u, s, vh = np.linalg.svd(x, full_matrices=full)
    phases = np.array([phase(column) for column in u.T[: len(s)]])
    u[:, : len(s)] /= phases
    vh[: len(s)] *= phases[:, None]
    return u, s, vh


def qr(x):
    q, r = np.linalg.qr(x)
    diagonal = np.diagonal(r)
    phases = diagonal / np.abs(diagonal)
    return q * phases, r * phases.conj()[:, None]


def hermitian(dtype, *shape):
    x = draw(dtype, *shape)
    half = np.tril(x) + np.swapaxes(np.tril(x, -1), -1, -2).conj()
    if x.dtype.kind == "c":
        half -= 1j * np.imag(half) * np.eye(shape[-1])
    return half.astype(x.dtype)


def definite(dtype, n):
    x = draw(dtype, n, n)
    return tensor(double(x) @ double(x).conj().T + n * np.eye(n), dtype)


def dominant(dtype, *shape):
    """Far from singular."""
    return tensor(double(draw(dtype, *shape)) + 100 * np.eye(shape[-1]), dtype)


def ordered(values):
    return values[np.lexsort((values.imag, values.real))]


def decompositions():
    yield from factors()
    yield from systems()


def factors():
    for dtype in DTYPES:
        for shape in [(1, 1), (5, 5), (2, 3, 3)]:
            x = hermitian(dtype, *shape)
            values, vectors = each(eigh, double(x))
            yield cases("eigh", [x], [values, vectors], real=[0])
            yield cases("eigvalsh", [x], [values], real=[0])
        for shape in [(1, 1), (5, 5), (7, 4), (4, 7), (2, 3, 5), (1, 6)]:
            x = draw(dtype, *shape)
            u, s, vh = each(svd, double(x))
            yield cases("svd", [x], [u, s, vh], real=[1])
            yield cases("svdvals", [x], [s], real=[0])
            yield cases("qr", [x], each(qr, double(x)))
            yield cases("lu", [x], each(scipy.linalg.lu, double(x)))
            pinv = np.linalg.pinv(double(x), rcond=max(shape[-2:]) * EPS[RESULT.get(dtype, dtype)])
            yield cases("pinv", [x], [pinv])
            for order in [] if dtype in ("i32", "f16", "bf16", "c64") else ["fro", "nuc", "1", "-1", "2", "-2", "inf", "-inf"]:
                number = order if order in ("fro", "nuc") else float(order)
                norm = np.linalg.norm(double(x), number, axis=(-2, -1))
                yield cases("matrix_norm", [x], [norm], {"ord": order}, real=[0])
        x = definite(dtype, 6)
        yield cases("cholesky", [x], [np.linalg.cholesky(double(x))])
    square = tensor([[2, 1], [0, 3]], "f64")
    yield cases("svd", [square], list(svd(square, full=True)), {"full": True}, real=[1])
    for dtype in ["i32", "f32", "f64", "c64", "c128"]:
        for shape in [(1, 1), (2, 6, 6)]:
            x = draw(dtype, *shape)
            yield cases("eigvals", [x], each(lambda x: [ordered(np.linalg.eigvals(x))], double(x)), kind="c")


def systems():
    for dtype in DTYPES:
        for a_shape, b_shape in [((1, 1), (1,)), ((5, 5), (5,)), ((5, 5), (5, 3)), ((2, 3, 3), (3, 2)), ((3, 3), (4, 3, 1))]:  # fmt: skip
            a, b = dominant(dtype, *a_shape), draw(dtype, *b_shape)
            vector = b.ndim == 1
            right = double(b)[:, None] if vector else double(b)
            pick = (lambda x: x[..., 0]) if vector else (lambda x: x)
            (solution,) = each(lambda a, b: [np.linalg.solve(a, b)], double(a), right)
            yield cases("solve", [a, b], [pick(solution)])
            for lower in [False, True]:
                solved = lambda a, b, lower=lower: [scipy.linalg.solve_triangular(a, b, lower=lower)]
                (solution,) = each(solved, double(a), right)
                yield cases("triangular_solve", [a, b], [pick(solution)], {"lower": lower})
        a = dominant(dtype, 2, 4, 4)
        yield cases("inv", [a], [np.linalg.inv(double(a))])
        for n in [0, 1, 2, 5, -1, -3]:
            x = tensor(double(a) / 64, dtype) if dtype != "i32" else a
            yield cases("matrix_power", [x], [np.linalg.matrix_power(double(x), n)], {"n": n})
        for shape in [(6, 3), (3, 6), (5, 5)]:
            a, b = draw(dtype, *shape), draw(dtype, shape[0], 2)
            yield cases("lstsq", [a, b], [np.linalg.lstsq(double(a), double(b))[0]])
        for shape in [(1, 1), (4, 4), (3, 2, 2), (7, 7)]:
            x = draw(dtype, *shape)
            yield cases("det", [x], [np.linalg.det(double(x))])
            yield cases("slogdet", [x], list(np.linalg.slogdet(double(x))), real=[1])
    unit = tensor([[9, 0.5, -0.25], [9, 9, 2], [9, 9, 9]], "f64")
    right = tensor([1, 2, 3], "f64")
    solution = scipy.linalg.solve_triangular(unit, right, unit_diagonal=True)
    yield cases("triangular_solve", [unit, right], [solution], {"unit": True})
    rank_one = tensor([[1, 2], [2, 4], [3, 6]], "f64")
    right = tensor([1, 0, 2], "f64")
    yield cases("lstsq", [rank_one, right], [np.linalg.lstsq(rank_one, right)[0]])
    yield cases("pinv", [rank_one], [np.linalg.pinv(rank_one)])
    x = hermitian("f64", 33, 33)
    yield cases("eigh", [x], list(eigh(x)), real=[0])
    for singular in [np.zeros((2, 2)), np.ones((3, 3)), [[0, 1, 2], [0, 3, 4], [0, 5, 7]]]:
        x = tensor(singular, "f64")
        yield cases("det", [x], [0.0])
        yield cases("slogdet", [x], [0.0, -INF])
    # Elimination by hand: the first column is zero, so its pivot is skipped.
    x = tensor([[0, 1], [0, 2]], "f64")
    yield cases("lu", [x], [np.eye(2), np.eye(2), x])
    empty = np.zeros((0, 0))
    yield cases("det", [empty], [1.0])
    yield cases("slogdet", [empty], [1.0, 0.0])
    yield cases("eigh", [empty], [np.zeros(0), empty])
    yield cases("inv", [empty], [empty])
    yield cases("cholesky", [empty], [empty])
    yield cases("solve", [empty, np.zeros((0, 3))], [np.zeros((0, 3))])
    yield cases("svdvals", [np.zeros((0, 3))], [np.zeros(0)])
    yield cases("qr", [np.zeros((3, 0))], [np.zeros((3, 0)), np.zeros((0, 0))])
    yield cases("pinv", [np.zeros((0, 3))], [np.zeros((3, 0))])
    yield cases("eigh", [np.zeros((0, 3, 3))], [np.zeros((0, 3)), np.zeros((0, 3, 3))])
    yield cases("det", [tensor([[NAN, 1], [2, 3]], "f64")], [NAN])
