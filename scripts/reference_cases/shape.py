"""Ops that only move values: reshape, concat, stack, index, broadcast_to, copy."""

import numpy as np

from .tensors import DTYPES, case, draw


def shape():
    for dtype in DTYPES:
        x = draw(dtype, 4, 6)
        yield case("reshape", [x], x.reshape(2, 12), {"shape": [2, 12]})
        a, b, c = draw(dtype, 2, 3), draw(dtype, 1, 3), draw(dtype, 4, 3)
        yield case("concat", [a, b, c], np.concatenate([a, b, c]), {"axis": 0})
        yield case("stack", [a, a, a], np.stack([a, a, a], axis=1), {"axis": 1})
        yield case("index", [x], x[-1, 1::2], {"index": [{"at": -1}, {"slice": [1, None, 2]}]})
    for old, new in [
        ((), (1, 1)),
        ((1,), ()),
        ((7,), (7, 1)),
        ((0, 3), (3, 0)),
        ((2, 3, 5), (5, 6)),
        ((2, 3, 5), (30,)),
    ]:
        x = draw("f32", *old)
        yield case("reshape", [x], x.reshape(new), {"shape": list(new)})
    x = draw("f32", 2, 3, 4)
    yield case("reshape", [x], x.reshape(-1, 4), {"shape": [-1, 4]})

    for shapes, axis in [
        ([(3,), (2,)], 0), ([(2, 3), (2, 5)], 1), ([(2, 3), (2, 5)], -1), ([(2, 1, 3), (2, 4, 3)], -2),
        ([(0, 3), (2, 3)], 0), ([(2, 0), (2, 3), (2, 0)], 1), ([(5, 7)], 0), ([(1,)] * 7, 0),
    ]:  # fmt: skip
        xs = [draw("f32", *one) for one in shapes]
        yield case("concat", xs, np.concatenate(xs, axis), {"axis": axis})
    for one, count, axis in [
        ((), 3, 0),
        ((5,), 2, 0),
        ((5,), 2, -1),
        ((2, 3), 2, 2),
        ((2, 3), 3, -2),
        ((0,), 2, 0),
        ((3,), 1, 1),
    ]:
        xs = [draw("f32", *one) for _ in range(count)]
        yield case("stack", xs, np.stack(xs, axis), {"axis": axis})
    yield from index()
    for old, new in [((), (2, 3)), ((3,), (2, 3)), ((2, 1), (4, 2, 3)), ((1, 0), (5, 0))]:
        x = draw("f32", *old)
        yield case("broadcast_to", [x], np.broadcast_to(x, new), {"shape": list(new)})
    for dims in [(), (7,), (3, 5), (2, 0)]:
        x = draw("f32", *dims)
        yield case("copy", [x], x)


def index():
    everything = np.s_[:]
    for dims, key in [
        ((5,), (2,)), ((5,), (-5,)), ((5,), (np.s_[1:4],)), ((5,), (np.s_[::-1],)), ((7,), (np.s_[5:0:-2],)),
        ((5,), (np.s_[-3:],)), ((5,), (np.s_[:-1],)), ((5,), (np.s_[2:100],)), ((5,), (np.s_[-100:2],)),
        ((5,), (np.s_[4:1],)), ((5,), (np.s_[3:3],)), ((5,), (np.newaxis, everything)),
        ((5,), (everything, np.newaxis)),
        ((5,), (np.s_[-1:-4:-1],)), ((5,), (np.s_[::7],)), ((), (np.newaxis,)), ((), (...,)),
        ((0,), (everything,)),
        ((4, 5), (1,)), ((4, 5), (everything, 2)), ((4, 5), (1, -2)), ((4, 5), (np.s_[1:3], np.s_[::2])),
        ((4, 5), (..., 0)), ((4, 5), (..., np.newaxis)), ((4, 5), (np.s_[::-1], np.s_[::-1])),
        ((4, 5), (2, np.newaxis)),
        ((3, 4, 5), (0, ..., 1)), ((3, 4, 5), (..., np.s_[1:], 2)),
        ((3, 4, 5), (everything, np.newaxis, np.s_[1::2], ..., -1)),
        ((3, 4, 5), (np.s_[:2], 3)), ((3, 4, 5), (...,)),
        ((2, 3, 4, 5), (1, ..., np.s_[::2], np.newaxis, np.s_[3:1:-1])),
        ((0, 3), (everything, 1)), ((3, 0), (1,)),
    ]:  # fmt: skip
        x = draw("f32", *dims)
        yield case("index", [x], np.asarray(x[key]), {"index": [spell(part) for part in key]})


def spell(part):
    if part is np.newaxis:
        return "newaxis"
    if part is Ellipsis:
        return "ellipsis"
    if isinstance(part, slice):
        return {"slice": [part.start, part.stop, part.step or 1]}
    return {"at": part}
