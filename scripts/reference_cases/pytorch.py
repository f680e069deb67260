"""Ops of neural networks and of signals as PyTorch computes them, in f64 whatever the dtype."""

import numpy as np
import torch
import torch.nn.functional as F

from .tensors import EPS, case, draw, tensor


# Tensors that an op may go without are said to be there.
AFFINE = {"weight": True, "bias": True}


def agree(op, function, inputs, attrs=None, dtypes=("f32",), scalars=()):
    """A case for each dtype of random inputs, given by their shapes; arrays go as they are.

    Scalars are further inputs of haul's op, which PyTorch's function has by itself.
    """
    for dtype in dtypes:
        arrays = [draw(dtype, *x) if isinstance(x, tuple) else x for x in inputs]
        output = function(*[torch.from_numpy(double(x)) for x in arrays]).numpy()
        size = float(np.abs(output).max()) if output.size else 0.0
        wanted = output if output.dtype.kind in "bi" else tensor(output, dtype)
        arrays += [tensor(scalar, dtype) for scalar in scalars]
        yield case(
            op, arrays, wanted, attrs, rtol=16 * EPS[dtype], atol=16 * EPS[dtype] * max(size, 1.0)
        )


def double(x):
    return x.astype(np.float64) if x.dtype.kind == "f" else x


def classes(shape, count):
    return np.arange(np.prod(shape)).reshape(shape) * 7 % count


def activations():
    functions = [
        ("relu", F.relu),
        ("leaky_relu", lambda x: F.leaky_relu(x, 0.2), 0.2),
        ("elu", lambda x: F.elu(x, 1.7), 1.7),
        ("selu", F.selu, 1.6732632423543772, 1.0507009873554805),
        ("celu", lambda x: F.celu(x, 0.7), 0.7),
        ("gelu", F.gelu),
        ("gelu_tanh", lambda x: F.gelu(x, approximate="tanh")),
        ("sigmoid", torch.sigmoid),
        ("log_sigmoid", F.logsigmoid),
        ("hard_sigmoid", F.hardsigmoid, 1 / 6, 0.5),
        ("hard_swish", F.hardswish),
        ("hard_tanh", F.hardtanh, -1, 1),
        ("silu", F.silu, 1),
        ("mish", F.mish),
        ("softplus", F.softplus),
        ("softsign", F.softsign),
        ("erf", torch.erf),
        ("lgamma", torch.lgamma),
        ("digamma", torch.digamma),
    ]
    for op, function, *scalars in functions:
        yield from agree(op, function, [(3, 7)], scalars=scalars)
    yield from agree("prelu", lambda x, slope: F.prelu(x, slope[:, 0]), [(2, 3, 4), (3, 1)])
    for axis in (0, 1, 2):
        attrs = {"axis": axis}
        yield from agree("softmax", lambda x, axis=axis: x.softmax(axis), [(3, 5, 2)], attrs)
        yield from agree(
            "log_softmax", lambda x, axis=axis: x.log_softmax(axis), [(3, 5, 2)], attrs
        )
        yield from agree(
            "logsumexp", lambda x, axis=axis: x.logsumexp(axis), [(3, 5, 2)], attrs
        )


def norms():
    yield from agree(
        "layer_norm",
        lambda x, w, b: F.layer_norm(x, (7,), w, b),
        [(3, 5, 7), (7,), (7,)],
        AFFINE,
        scalars=[1e-5],
    )
    yield from agree(
        "layer_norm",
        lambda x, w, b: F.layer_norm(x, (5, 7), w, b, 1e-3),
        [(3, 5, 7), (5, 7), (5, 7)],
        AFFINE | {"axis": 1},
        scalars=[1e-3],
    )
    yield from agree(
        "rms_norm",
        lambda x, w: F.rms_norm(x, (7,), w, 1e-5),
        [(3, 5, 7), (7,)],
        {"weight": True},
        scalars=[1e-5],
    )
    yield from agree(
        "instance_norm",
        lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
        [(2, 3, 5, 4), (3,), (3,)],
        AFFINE,
        scalars=[1e-5],
    )
    yield from agree(
        "group_norm",
        lambda x, w, b: F.group_norm(x, 3, w, b),
        [(2, 6, 5), (6,), (6,)],
        AFFINE | {"groups": 3},
        scalars=[1e-5],
    )
    mean, var = np.array([0.5, -1.0, 2.0]), np.array([1.5, 0.25, 3.0])
    yield from agree(
        "batch_norm",
        lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b),
        [(2, 3, 4, 5), mean, var, (3,), (3,)],
        AFFINE,
        dtypes=["f64"],
        scalars=[1e-5],
    )
    for p in (1, 2, 3):
        yield from agree(
            "normalize",
            lambda x, p=p: F.normalize(x, p, 1),
            [(3, 5, 2)],
            {"p": p, "axis": 1},
            scalars=[1e-12],
        )
    yield from agree(
        "lrn",
        lambda x: F.local_response_norm(x, 3, 1e-2, 0.6, 2.0),
        [(2, 7, 3, 2)],
        {"size": 3},
        scalars=[1e-2, 0.6, 2.0],
    )


def losses():
    for reduction in ("mean", "sum", "none"):
        attrs = {"reduction": reduction}
        targets = classes((6, 4), 5)
        yield from agree(
            "mse_loss",
            lambda x, y, r=reduction: F.mse_loss(x, y, reduction=r),
            [(3, 5), (3, 5)],
            attrs,
        )
        yield from agree(
            "cross_entropy",
            lambda x, y, r=reduction: F.cross_entropy(x, y, reduction=r),
            [(6, 5, 4), targets],
            attrs,
        )
        weight = np.array([0.5, 1.0, 2.0, 0.0, 1.5])
        yield from agree(
            "cross_entropy",
            lambda x, y, w, r=reduction: F.cross_entropy(x, y, w, ignore_index=2, reduction=r),
            [(6, 5, 4), targets, weight],
            attrs | {"weight": True, "ignore_index": 2},
            dtypes=["f64"],
        )
        yield from agree(
            "nll_loss",
            lambda x, y, w, r=reduction: F.nll_loss(x, y, w, reduction=r),
            [(6, 5, 4), targets, weight],
            attrs | {"weight": True},
            dtypes=["f64"],
        )
        probability, truth = np.linspace(0.05, 0.95, 10), np.arange(10) % 2 * 1.0
        yield from agree(
            "bce_loss",
            lambda x, y, r=reduction: F.binary_cross_entropy(x, y, reduction=r),
            [probability, truth],
            attrs,
            dtypes=["f64"],
        )


def convolutions():
    options = [
        {},
        {"stride": 2, "padding": 1},
        {"dilation": 2, "padding": 2},
        {"groups": 2, "stride": 3},
    ]
    sizes = {1: ((2, 4, 11), (6, 4, 3)), 2: ((2, 4, 9, 8), (6, 4, 3, 2))}
    sizes[3] = ((1, 4, 6, 7, 5), (2, 4, 2, 3, 2))
    for axes, (image, filters) in sizes.items():
        for option in options:
            depth = filters[1] // option.get("groups", 1)
            function = getattr(F, f"conv{axes}d")
            yield from agree(
                f"conv{axes}d",
                lambda x, w, function=function, option=option: function(x, w, **option),
                [image, (filters[0], depth, *filters[2:])],
                option,
            )
        options_back = [*options, {"stride": 2, "padding": 1, "output_padding": 1}]
        for option in options_back:
            function = getattr(F, f"conv_transpose{axes}d")
            yield from agree(
                f"conv_transpose{axes}d",
                lambda x, w, function=function, option=option: function(x, w, **option),
                [image, (4, 3, *filters[2:])],
                option,
            )


def pools():
    options = [
        {},
        {"stride": 1},
        {"stride": 2, "padding": 1},
        {"stride": 2, "ceil_mode": True},
    ]
    images = {1: (2, 3, 11), 2: (2, 3, 9, 8), 3: (1, 2, 6, 7, 5)}
    for axes, image in images.items():
        for option in options:
            attrs = {"kernel_size": 3} | option
            for op in ("max_pool", "avg_pool"):
                function = getattr(F, f"{op}{axes}d")
                yield from agree(
                    op,
                    lambda x, function=function, option=option: function(x, 3, **option),
                    [image],
                    attrs,
                )
        average = getattr(F, f"avg_pool{axes}d")
        yield from agree(
            "avg_pool",
            lambda x, average=average: average(x, 3, 2, 1, count_include_pad=False),
            [image],
            {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False},
        )


def attention():
    def attend(q, k, v, mask=None, **options):
        return F.scaled_dot_product_attention(q, k, v, mask, **options)

    heads = [(2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6)]
    yield from agree("attention", attend, heads)
    yield from agree("attention", attend, [*heads, (5, 7)], {"mask": True})
    seen = classes((5, 7), 5) > 1
    yield from agree("attention", attend, [*heads, seen], {"mask": True})
    yield from agree(
        "attention",
        lambda q, k, v: attend(q, k, v, is_causal=True, scale=0.3),
        [(2, 3, 6, 4)] * 3,
        {"causal": True, "scale": True},
        scalars=[0.3],
    )
    yield from agree(
        "attention",
        lambda q, k, v: attend(q, k, v, enable_gqa=True),
        [(2, 6, 5, 4), (2, 2, 7, 4), (2, 2, 7, 6)],
    )


def sampling():
    # The names of the modes here, and what PyTorch calls the same.
    modes = [
        ({"coordinates": "asymmetric", "rounding": "floor"}, {"mode": "nearest"}),
        ({"rounding": "round_prefer_ceil"}, {"mode": "nearest-exact"}),
        ({"mode": "linear"}, {"mode": "bilinear"}),
        ({"mode": "cubic"}, {"mode": "bicubic"}),
        (
            {"mode": "linear", "coordinates": "align_corners"},
            {"mode": "bilinear", "align_corners": True},
        ),
        (
            {"mode": "cubic", "coordinates": "align_corners"},
            {"mode": "bicubic", "align_corners": True},
        ),
        (
            {"mode": "linear", "antialias": True, "exclude_outside": True},
            {"mode": "bilinear", "antialias": True},
        ),
    ]
    for attrs, options in modes:
        for sizes in ([9, 13], [3, 4], [7, 2]):
            yield from agree(
                "resize",
                lambda x, sizes=sizes, options=options: F.interpolate(x, sizes, **options),
                [(1, 2, 5, 7)],
                attrs | {"sizes": sizes},
            )
    for mode, name in (("linear", "bilinear"), ("cubic", "bicubic"), ("nearest", "nearest")):
        for padding, border in (("zeros", "zeros"), ("border", "border"), ("reflection",) * 2):
            for corners in (False, True):
                yield from agree(
                    "grid_sample",
                    lambda x, g, o=(name, border, corners): F.grid_sample(x, g, *o),
                    [(2, 3, 5, 6), (2, 4, 3, 2)],
                    {"mode": mode, "padding": padding, "align_corners": corners},
                    dtypes=["f64"],
                )
    for corners in (False, True):
        yield from agree(
            "affine_grid",
            lambda theta, c=corners: F.affine_grid(theta, [2, 3, 4, 5], c),
            [(2, 2, 3)],
            {"size": [2, 3, 4, 5], "align_corners": corners},
        )
    option = {"stride": 2, "padding": 1, "dilation": 2}
    yield from agree(
        "unfold",
        lambda x: F.unfold(x, (3, 2), **option),
        [(2, 3, 9, 8)],
        {"kernel_size": [3, 2]} | option,
    )
    yield from agree(
        "fold",
        lambda x: F.fold(x, (9, 8), (3, 2), **option),
        [(2, 18, 16)],
        {"kernel_size": [3, 2], "output_size": [9, 8]} | option,
    )


def rearrangements():
    yield from agree(
        "depth_to_space",
        lambda x: F.pixel_shuffle(x, 2),
        [(2, 12, 3, 5)],
        {"block": 2, "mode": "crd"},
    )
    for mode in ("constant", "reflect", "replicate", "circular"):
        name = {"replicate": "edge", "circular": "wrap"}.get(mode, mode)
        yield from agree(
            "pad",
            lambda x, mode=mode: F.pad(x, (2, 1, 0, 3), mode),
            [(2, 3, 5, 4)],
            {"pad_width": [0, 2, 3, 1], "mode": name, "axis": [2, 3]},
        )
    rows = np.array([[2, 0, 4], [1, 1, 3]])
    yield from agree("embedding", lambda i, table: F.embedding(i, table), [rows, (5, 3)])
    yield from agree(
        "one_hot", lambda i: F.one_hot(i, 5).double(), [rows], {"classes": 5}, scalars=(1, 0)
    )


def pytorch():
    torch.set_default_dtype(torch.float64)
    for group in (
        activations,
        norms,
        losses,
        convolutions,
        pools,
        attention,
        sampling,
        rearrangements,
    ):
        yield from group()
