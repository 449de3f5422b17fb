"""Products of matrices, as sums of products that are fused: no temporary has the elements of all products."""

from __future__ import annotations

from typing import Any, Sequence, Union

from . import _smelt
from ._array import Array
from ._smelt import UserError

_call = _smelt.call


def _common(name: str, a: Any, b: Any) -> tuple[Array, Array]:
    a, b = _smelt.to_array(a), _smelt.to_array(b)
    common = _smelt.promote(a.dtype, b.dtype)
    if common is None or common == _smelt.bool:
        raise TypeError(f"{name}: {a.describe()} and {b.describe()} are no numbers of dtypes that mix")
    return _call("astype", a, common) if a.dtype != common else a, _call("astype", b, common) if b.dtype != common else b


def _sum(products: Array, axis: Any) -> Array:
    made: Array = _call("sum", products, axis)
    return made if made.dtype == products.dtype else _call("wrap_cast", made, products.dtype)


def matmul(x1: Array, x2: Array, /) -> Array:
    """The product of matrices; of vectors too, as in NumPy."""
    a, b = _common("matmul", x1, x2)
    if a.ndim == 0 or b.ndim == 0:
        raise UserError("matmul: a number is no matrix\nhelp: x * y multiplies by a number")
    vectors = a.ndim == 1, b.ndim == 1
    if vectors[0]:
        a = _call("expand_dims", a, 0)
    if vectors[1]:
        b = _call("expand_dims", b, 1)
    if isinstance(a.shape[-1], int) and isinstance(b.shape[-2], int) and a.shape[-1] != b.shape[-2]:
        raise UserError(f"matmul: {a.describe()} has rows of {a.shape[-1]}, and {b.describe()} columns of {b.shape[-2]}")
    products = _call("expand_dims", a, -2) * _call("expand_dims", _call("swapaxes", b, -1, -2), -3)
    made = _sum(products, -1)
    if vectors[0]:
        made = _call("squeeze", made, -2)
    return _call("squeeze", made, -1) if vectors[1] else made


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The sums of the products along an axis."""
    a, b = _common("vecdot", x1, x2)
    if axis >= 0:
        raise ValueError(f"vecdot: axis counts from the end, and is below 0, not {axis}")
    if -axis > a.ndim or -axis > b.ndim:
        raise IndexError(f"vecdot: no axis {axis}")
    if a.shape[axis] != b.shape[axis]:
        raise ValueError(f"vecdot: sizes {a.shape[axis]} and {b.shape[axis]} of axis {axis} are different")
    return _sum(a * b, axis)


def tensordot(x1: Array, x2: Array, /, *, axes: Union[int, tuple[Sequence[int], Sequence[int]]] = 2) -> Array:
    """The sums of the products along pairs of axes, the last of x1 with the first of x2 where a number says how many."""
    a, b = _common("tensordot", x1, x2)
    if isinstance(axes, int):
        first, second = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        first, second = [n % a.ndim for n in axes[0]], [n % b.ndim for n in axes[1]]
    for i, j in zip(first, second):
        if a.shape[i] != b.shape[j]:
            raise ValueError(f"tensordot: {a.describe()} and {b.describe()} differ along axes {i} and {j}")
    kept_a = [n for n in range(a.ndim) if n not in first]
    kept_b = [n for n in range(b.ndim) if n not in second]
    rows: Any = [a.shape[n] for n in kept_a]
    columns: Any = [b.shape[n] for n in kept_b]
    inner: Any = 1
    for n in first:
        inner = inner * a.shape[n]

    def product(sizes: Any) -> Any:
        made: Any = 1
        for size in sizes:
            made = made * size
        return made

    left = _call("reshape", _call("transpose", a, tuple(kept_a + first)) if a.ndim else a, (product(rows), inner))
    right = _call("reshape", _call("transpose", b, tuple(second + kept_b)) if b.ndim else b, (inner, product(columns)))
    return _call("reshape", matmul(left, right), (*rows, *columns))
