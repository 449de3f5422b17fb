"""Functions whose results have as many elements as the data says: they calculate at once, and are errors while a function is traced."""

from __future__ import annotations

from typing import Any

from . import _smelt
from ._array import Array, looked_at


def true_places(mask: Any) -> Array:
    """Where a vector of bools is true."""
    looked_at(mask, "a mask")
    n = mask.shape[0]
    before = _smelt.call("cumsum", _smelt.call("astype", mask, _smelt.int64), 0)
    count = int(before[-1]) if n else 0
    to = _smelt.call("where", mask, before - 1, count)
    places = _smelt.call("arange", 0, n, 1, _smelt.int64)
    return _smelt.call("scatter", _smelt.call("zeros", (count,), _smelt.int64), to, places, 0, "drop")
