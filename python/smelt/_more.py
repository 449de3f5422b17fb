"""Functions of several results, and what the table does not have."""

from __future__ import annotations

TYPE_CHECKING = False  # of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from typing import Sequence, Union

from . import _smelt
from ._array import Array, ArrayLike


def split(x: ArrayLike, parts: Union[int, Sequence[int]], axis: int = 0) -> list[Array]:
    """Equal parts along an axis, or the parts that end at these places."""
    if isinstance(parts, int):
        return [_smelt.call("part", x, parts, i, axis) for i in range(parts)]
    whole: Array = _smelt.to_array(x)
    axis = axis % whole.ndim
    before = (slice(None),) * axis
    bounds = [0, *parts, None]
    return [whole[(*before, slice(a, b))] for a, b in zip(bounds, bounds[1:])]


chunk = split


def max_and_argmax(x: ArrayLike, axis: int = -1, keepdims: bool = False) -> tuple[Array, Array]:
    """The largest element along an axis, nan if there is one, and its index, the first of several; from one reading of x."""
    return _smelt.call("max", x, axis, keepdims), _smelt.call("argmax", x, axis, keepdims)


top1 = max_and_argmax
