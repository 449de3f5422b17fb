"""Subscripts: x[key], and x[key] = value."""

from __future__ import annotations

TYPE_CHECKING = False  # of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from typing import Any, Optional

from . import _smelt
from ._array import Array, looked_at
from ._smelt import UserError


def get(x: Array, key: Any) -> Array:
    """x[key] as NumPy has it, for integers, slices, ..., None, masks, and arrays of integers."""
    keys = tuple(_bounds(k) for k in key) if isinstance(key, tuple) else (_bounds(key),)
    arrays = [k for k in keys if _is_array(k)]
    if not arrays:
        place = _place(x, keys)
        if place is not None:
            return _smelt.call("take", _rows(x, len(keys)), place, 0)
        return _smelt.subscript(x, keys)
    if any(isinstance(k, bool) or (_is_array(k) and _array(k).dtype == _smelt.bool) for k in keys):
        return _masked(x, keys)
    if len(keys) == 1 and _array(keys[0]).ndim == 0:
        return _smelt.call("take", x, _array(keys[0]), 0)
    if len(arrays) == 1 and _array(arrays[0]).ndim > 0 and not any(_is_int(k) for k in keys):
        return _smelt.subscript(x, keys)
    return _gathered(x, keys)


def _place(x: Array, keys: Any) -> Optional[Array]:
    """Which of _rows() integers name, as data: another element is the same program. None for other keys, and in a trace."""
    if _smelt.tracing() or not x.evaluated or not 0 < len(keys) <= x.ndim or x.size == 0:
        return None
    place = 0
    for k, n in zip(keys, x.shape):
        if not isinstance(k, int) or isinstance(k, bool) or not -n <= k < n:
            return None
        place = place * n + k % n
    return _array(place)


def _rows(x: Array, axes: int) -> Array:
    return x if axes == 1 else _smelt.call("reshape", x, (-1, *x.shape[axes:]))


def _bounds(k: Any) -> Any:
    # Lists as arrays; bounds that are arrays as numbers.
    if isinstance(k, list):
        return _listed(k)
    if isinstance(k, slice) and any(isinstance(b, Array) for b in (k.start, k.stop, k.step)):
        return slice(*(b.__index__() if isinstance(b, Array) else b for b in (k.start, k.stop, k.step)))
    return k


def _listed(k: Any) -> Array:
    from . import _create

    made = _create.asarray(k)
    return made if made.size else _create.asarray(k, dtype=_smelt.int64)  # an empty list names no element


def indices(k: Any) -> Any:
    """Lists of indices as arrays, so that another list compiles nothing; in a traced function as numbers of the program."""
    if not isinstance(k, (list, tuple)):
        return k
    if _smelt.tracing() and all(isinstance(i, int) and not isinstance(i, bool) for i in k):
        return k
    return _listed(k)


def _is_array(k: Any) -> bool:
    return isinstance(k, (_smelt.Array, list)) or hasattr(k, "__dlpack__")


def _is_int(k: Any) -> bool:
    return isinstance(k, (int, _smelt.Size)) and not isinstance(k, bool)


def _array(k: Any, dtype: Any = None) -> Array:
    if isinstance(k, Array):
        return k
    from . import _create

    return _create.asarray(k, dtype=dtype)


def _expanded(x: Array, keys: Any, width: Any) -> list[Any]:
    # Without ..., and with a slice for every axis that is not named.
    named = sum(width(k) for k in keys if k is not Ellipsis and k is not None)
    dots = [i for i, k in enumerate(keys) if k is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index has at most one ...")
    if named > x.ndim:
        raise IndexError(f"{named} indices for {x.describe()}")
    rest = [slice(None)] * (x.ndim - named)
    if not dots:
        return [*keys, *rest]
    return [*keys[: dots[0]], *rest, *keys[dots[0] + 1 :]]


def _masked(x: Array, keys: Any) -> Array:
    from . import _search

    arrays = [k for k in keys if _is_array(k)]
    if len(keys) != 1 and not all(k is Ellipsis for k in keys if not _is_array(k)) or len(arrays) != 1:
        raise IndexError("a mask is the only index of its array\nhelp: smelt.where(mask, x, y) has no such limit")
    mask = _array(arrays[0])
    looked_at(mask, "x[mask]")
    _fits(mask, x)
    if mask.ndim and mask.size == 0:
        return _smelt.call("reshape", _smelt.subscript(x, (slice(0, 0),)), (0, *x.shape[mask.ndim :]))
    rest = tuple(x.shape[mask.ndim :])
    rows = _smelt.call("reshape", x, (-1, *rest) if mask.size and all(rest) else (mask.size, *rest))
    chosen = _search.true_places(_smelt.call("reshape", mask, (mask.size,)))
    return _smelt.call("take", rows, chosen, 0)


def _fits(mask: Array, x: Array) -> None:
    # By the standard an axis of a mask may also be of size 0: it chooses nothing.
    if mask.ndim > x.ndim or any(int(m) not in (0, int(n)) for m, n in zip(mask.shape, x.shape)):
        raise IndexError(f"the mask is {mask.describe()}, and the array {x.describe()}")


def _gathered(x: Array, keys: Any) -> Array:
    # Several arrays and integers together: one gather along the axes that they name, joined.
    keys = _expanded(x, keys, lambda k: 1)
    axes: list[int] = []
    indices: list[Any] = []
    basic: list[Any] = []
    axis = 0
    for k in keys:
        if k is None:
            basic.append(None)
            axis += 1
        elif _is_array(k) or _is_int(k):
            basic.append(slice(None))
            axes.append(axis)
            indices.append(k)
            axis += 1
        else:
            basic.append(k)
            axis += 1
    x = _smelt.subscript(x, tuple(basic))
    sizes = [x.shape[a] for a in axes]
    flat: Any = None
    for index, size in zip(indices, sizes):
        if _is_int(index):
            if not -int(size) <= int(index) < int(size):
                raise IndexError(f"index {index} is out of range for an axis of {size}")
            index = int(index) % int(size)
        else:
            index = _smelt.call("astype", _array(index), _smelt.int64)
            index = _smelt.call("where", index < 0, index + size, index)
        flat = index if flat is None else flat * size + index
    others = [d for d in range(x.ndim) if d not in axes]
    joined = axes == list(range(axes[0], axes[0] + len(axes)))
    front = axes[0] if joined else 0
    order = [*others[:front], *axes, *others[front:]]
    x = _smelt.call("transpose", x, tuple(order))
    shape = list(x.shape)
    count: Any = 1
    for size in sizes:
        count = count * size
    x = _smelt.call("reshape", x, (*shape[:front], count, *shape[front + len(axes) :]))
    if _is_int(flat):
        return _smelt.subscript(x, (*[slice(None)] * front, flat))
    return _smelt.call("take", x, flat, front)


_LARGEST_F32 = 3.4028234663852886e38


def _number(value: Any, x: Array) -> Any:
    """A number of Python as data, so that another one is the same program; as it is in a trace, and where it may not fit."""
    if _smelt.tracing() or not x.evaluated or not isinstance(value, (int, float)):
        return value
    kind, bits = x.dtype.kind, 8 * x.dtype.itemsize
    if isinstance(value, bool):
        fits = kind == "bool"
    elif kind == "float":
        fits = bits == 64 and isinstance(value, float) or bits == 32 and not _LARGEST_F32 < abs(value) < float("inf")
    else:
        fits = isinstance(value, int) and (
            kind == "unsigned" and 0 <= value < 1 << bits or kind == "signed" and -(1 << bits - 1) <= value < 1 << bits - 1
        )
    return _array(value, x.dtype) if fits else value


def updated(x: Array, key: Any, value: Any) -> Array:
    """x with x[key] = value."""
    keys = tuple(_bounds(k) for k in key) if isinstance(key, tuple) else (_bounds(key),)
    arrays = [k for k in keys if _is_array(k)]
    value = _array(value) if _is_array(value) else value
    if isinstance(value, Array) and value.dtype != x.dtype:
        value = _smelt.call("astype", value, x.dtype)
    if not arrays:
        value, place = _number(value, x), _place(x, keys)
        if place is not None and isinstance(value, Array) and value.ndim <= x.ndim - len(keys):
            rest = x.shape[len(keys) :]
            one = _smelt.call("broadcast_to", value, (1, *rest))
            changed = _smelt.call("scatter", _rows(x, len(keys)), _smelt.call("reshape", place, (1,)), one, 0)
            return changed if len(keys) == 1 else _smelt.call("reshape", changed, x.shape)
        return _smelt.slice_update(x, keys, value)
    mask = _array(arrays[0])
    if len(arrays) == 1 and mask.dtype == _smelt.bool:
        if isinstance(value, Array) and value.ndim > 0 and (value.ndim != 1 or value.size != 1):
            chosen = _smelt.call("reshape", mask, (mask.size,))
            from . import _search

            places = _search.true_places(chosen)
            rest = tuple(x.shape[mask.ndim :])
            rows = _smelt.call("reshape", x, (mask.size, *rest))
            return _smelt.call("reshape", _smelt.call("scatter", rows, places, value, 0), tuple(x.shape))
        shape = tuple(mask.shape) + (1,) * (x.ndim - mask.ndim)
        return _smelt.call("astype", _smelt.call("where", _smelt.call("reshape", mask, shape), value, x), x.dtype)
    if len(keys) == 1:
        return _smelt.call("scatter", x, mask, value, 0)
    raise UserError("x[key] = value: several arrays among the indices\nhelp: smelt.scatter(x, indices, updates, axis) sets elements")
