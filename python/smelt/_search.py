"""Functions whose results have as many elements as the data says: they calculate at once, and are errors while a function is traced."""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple

from . import _smelt
from ._array import Array, looked_at
from ._smelt import UserError


def true_places(mask: Any) -> Array:
    """Where a vector of bools is true."""
    looked_at(mask, "a mask")
    n = mask.shape[0]
    before = _smelt.call("cumsum", _smelt.call("astype", mask, _smelt.int64), 0)
    count = int(before[-1]) if n else 0
    to = _smelt.call("where", mask, before - 1, count)
    places = _smelt.call("arange", 0, n, 1, _smelt.int64)
    return _smelt.call("scatter", _smelt.call("zeros", (count,), _smelt.int64), to, places, 0, "drop")


class UniqueAll(NamedTuple):
    """What unique_all() gives."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """What unique_counts() gives."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """What unique_inverse() gives."""

    values: Array
    inverse_indices: Array


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """The indices of the elements that are not 0, an array for each axis."""
    if x.ndim == 0:
        raise UserError("nonzero: an array without axes has no indices")
    flat = true_places(_smelt.call("flatten", x if x.dtype == _smelt.bool else x != 0))
    places: list[Array] = []
    for size in reversed(x.shape[1:]):
        places.append(flat % builtins.max(size, 1))
        flat = flat // builtins.max(size, 1)
    return (flat, *reversed(places))


def unique_all(x: Array, /) -> UniqueAll:
    """The different elements in order, where each is first, which one each element is, and how many there are. Every nan is one."""
    flat = _smelt.call("flatten", x)
    looked_at(flat, "unique_all()")
    n = int(flat.shape[0])
    order = _smelt.argsort(flat, False)
    row = _smelt.call("take", flat, order, 0)
    starts = _smelt.call("concat", [_smelt.call("ones", (builtins.min(n, 1),), _smelt.bool), row[1:] != row[:-1]], 0)
    places = true_places(starts)
    count = int(places.shape[0])
    ends = _smelt.call("concat", [places[1:], _smelt.call("full", (builtins.min(count, 1),), n, _smelt.int64)], 0)
    group = _smelt.call("cumsum", _smelt.call("astype", starts, _smelt.int64), 0) - 1
    inverse = _smelt.call("scatter", _smelt.call("zeros", (n,), _smelt.int64), order, group, 0)
    return UniqueAll(
        _smelt.call("take", row, places, 0), _smelt.call("take", order, places, 0), _smelt.call("reshape", inverse, x.shape), ends - places
    )
