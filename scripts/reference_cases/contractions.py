"""Sums of products over shared axes: einsum and its special cases."""

import numpy as np

from .tensors import COMPLEX, DTYPES, EPS, FLOATS, INTEGERS, NAMES, case, draw, tensor, wide


def contraction(op, inputs, function, attrs=None):
    """The sums in long double, with the error that their accumulator may make."""
    name = NAMES[inputs[0].dtype]
    output = function(*[wide(x) for x in inputs])
    if name in INTEGERS:
        return case(op, inputs, np.asarray(output).astype(DTYPES[name]), attrs)
    size = np.asarray(function(*[np.abs(wide(x)) for x in inputs]))
    accumulator = EPS["f32"] if name in ("f16", "bf16") else EPS[name]
    atol = 4 * accumulator * float(size.max()) if size.size else 0.0
    return case(op, inputs, tensor(output, name), attrs, rtol=EPS[name], atol=atol)


EINSUMS = [
    ("ij,jk->ik", (3, 5), (5, 4)),
    ("ij,jk", (3, 5), (5, 4)),
    ("ij->ji", (3, 5)),
    ("ij", (3, 5)),
    ("ba", (3, 5)),
    ("ii->i", (4, 4)),
    ("ii", (4, 4)),
    ("ij->", (3, 5)),
    ("ijk->k", (2, 3, 5)),
    ("i,i->", (7,), (7,)),
    ("i,j->ij", (3,), (5,)),
    ("i,j->", (3,), (5,)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("...ij,...jk->...ik", (2, 3, 4), (4, 5)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)),
    ("i...,i->...", (3, 2, 2), (3,)),
    ("ij,ij->i", (3, 5), (3, 5)),
    ("ij,k->ik", (3, 5), (2,)),
    ("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    ("i,ij,j", (3,), (3, 4), (4,)),
    ("ij,jk,ki->i", (2, 3), (3, 4), (4, 2)),
    ("iij,jk->ik", (3, 3, 2), (2, 4)),
    ("ij,jk->ik", (3, 1), (5, 4)),
    ("ij,jk->ik", (0, 3), (3, 2)),
    ("ij,jk->ik", (2, 0), (0, 3)),
    (" a b , b -> a ", (2, 3), (3,)),
    ("Zz,z->Z", (2, 3), (3,)),
    (",->", (), ()),
    ("...,...", (2, 3), (3,)),
]


def contractions():
    for dtype in ["u8", "i32", "i64"] + FLOATS + COMPLEX:
        for subscripts, *shapes in EINSUMS if dtype in ("f32", "i32") else EINSUMS[:14:2]:
            inputs = [draw(dtype, *shape) for shape in shapes]
            # NumPy reads neither size 1 as broadcast where another is summed, nor spaces in a term.
            plain = subscripts.replace(" ", "")
            einsum = lambda *x, plain=plain: np.einsum(plain, *x)
            yield contraction("einsum", inputs, einsum, {"subscripts": subscripts})
        for a, b in [((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 3, 4)), ((2, 5, 3), (4, 3, 2)), ((), (3, 2)), ((2,), ()), ((), ())]:  # fmt: skip
            yield contraction("dot", [draw(dtype, *a), draw(dtype, *b)], np.dot)
        for a, b, axes in [((2, 3, 4), (3, 4, 5), 2), ((2, 3), (3, 4), 1), ((2, 3), (4,), 0), ((2, 3), (2, 3), 2), ((0, 3), (3, 2), 1)]:  # fmt: skip
            tensordot = lambda a, b, axes=axes: np.tensordot(a, b, axes)
            inputs = [draw(dtype, *a), draw(dtype, *b)]
            yield contraction("tensordot", inputs, tensordot, {"axes": axes})
        for a, b in [((3,), (5,)), ((0,), (2,))]:
            yield contraction("outer", [draw(dtype, *a), draw(dtype, *b)], np.outer)
        for a, b in [((2, 3), (4, 2)), ((3,), (2,)), ((2,), (3, 2)), ((2, 1, 3), (2, 2)), ((), (2,)), ((0, 2), (1, 3))]:  # fmt: skip
            yield contraction("kron", [draw(dtype, *a), draw(dtype, *b)], np.kron)
