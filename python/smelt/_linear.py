"""Products with the signatures of the Array API standard."""

from __future__ import annotations

TYPE_CHECKING = False  # of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from typing import Any, Sequence, Union

from . import _smelt
from ._array import Array

_call = _smelt.call


def _common(name: str, a: Any, b: Any) -> tuple[Array, Array]:
    a, b = _smelt.to_array(a), _smelt.to_array(b)
    common = _smelt.promote(a.dtype, b.dtype)
    if common is None or common == _smelt.bool:
        raise TypeError(f"{name}: {a.describe()} and {b.describe()} are no numbers of dtypes that mix")
    return _call("astype", a, common) if a.dtype != common else a, _call("astype", b, common) if b.dtype != common else b


def matmul(x1: Array, x2: Array, /, *, precision: str = "full") -> Array:
    """The product of matrices; of vectors too, as in NumPy."""
    made: Array = _call("matmul", *_common("matmul", x1, x2), precision)
    return made


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The sums of the products along an axis."""
    a, b = _common("vecdot", x1, x2)
    if axis >= 0:
        raise ValueError(f"vecdot: axis counts from the end, and is below 0, not {axis}")
    if -axis > a.ndim or -axis > b.ndim:
        raise IndexError(f"vecdot: no axis {axis}")
    made: Array = _call("vecdot", a, b, axis)
    return made


def tensordot(x1: Array, x2: Array, /, *, axes: Union[int, tuple[Sequence[int], Sequence[int]]] = 2, precision: str = "full") -> Array:
    """The sums of the products along pairs of axes, the last of x1 with the first of x2 where a number says how many."""
    pairs = axes if isinstance(axes, int) else tuple(tuple(of) for of in axes)
    made: Array = _call("tensordot", *_common("tensordot", x1, x2), pairs, precision)
    return made
