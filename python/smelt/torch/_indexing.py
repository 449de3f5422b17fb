"""Gathers, scatters and windows."""

from __future__ import annotations

from typing import Any, Callable

import torch

from .. import _index, _smelt
from .._smelt import UserError
from ._elementwise import add, cast, divide, is_array, truth
from ._movement import diagonal_places, number

call = _smelt.call
binary = _smelt.binary


def _long(index: Any) -> Any:
    return cast(index, _smelt.int64)


def count_of(sizes: Any) -> Any:
    count: Any = 1
    for size in sizes:
        count = count * size
    return count


def is_empty(sizes: Any) -> bool:
    return any(isinstance(n, int) and n == 0 for n in sizes)


def index(node: Any, out: Any, x: Any, indices: Any) -> Any:
    keys: tuple[Any, ...] = tuple(slice(None) if i is None else _long(i) for i in indices)
    arrays = [k for k in keys if is_array(k)]
    if len(arrays) == 1 and arrays[0].ndim > 0:
        return _smelt.subscript(x, keys)
    return _index._gathered(x, keys)


def index_select(node: Any, out: Any, x: Any, dim: int, places: Any) -> Any:
    if x.ndim == 0:
        return call("broadcast_to", x, out.shape)
    made = call("take", x, call("reshape", _long(places), (-1,)), dim)
    return call("reshape", made, out.shape)


def embedding(node: Any, out: Any, table: Any, ids: Any, *args: Any) -> Any:
    return call("take", table, _long(ids), 0)


def take(node: Any, out: Any, x: Any, places: Any) -> Any:
    return call("take", call("reshape", x, (-1,)), _long(places), 0)


def _cut_like(x: Any, shape: Any, dim: int) -> Any:
    keys: list[Any] = [slice(0, n) for n in shape]
    keys[dim] = slice(None)
    return _smelt.subscript(x, tuple(keys))


def gather(node: Any, out: Any, x: Any, dim: int, places: Any, *, sparse_grad: bool = False) -> Any:
    if is_empty(out.shape):
        return call("zeros", out.shape, x.dtype)
    if x.ndim == 0 or places.ndim == 0:
        return call("broadcast_to", call("reshape", x, (1,) * places.ndim), out.shape)
    dim = dim % x.ndim
    return call("take_along_axis", _cut_like(x, places.shape, dim), _long(places), dim)


# ---- scatters: along one flat axis, which all the axes that are named become


def _flat_places(x: Any, dim: int, places: Any) -> Any:
    """The number of each element of x, row by row, that an element of `places` names along `dim`."""
    made: Any = None
    for axis in range(x.ndim):
        if axis == dim:
            part = _long(places)
            part = call("where", binary("<", part, 0), binary("+", part, x.shape[axis]), part)
        else:
            shape: list[Any] = [1] * x.ndim
            shape[axis] = places.shape[axis]
            part = call("reshape", call("arange", places.shape[axis], None, 1, _smelt.int64), tuple(shape))
        made = part if made is None else binary("+", binary("*", made, x.shape[axis]), part)
    return call("reshape", call("broadcast_to", made, tuple(places.shape)), (-1,))


def scattered(name: str, x: Any, dim: int, places: Any, src: Any) -> Any:
    """torch's scatter: each element of `places` names where its element of `src` goes along `dim`."""
    if x.dtype == _smelt.bool and name != "scatter":
        src = cast(src, _smelt.int32) if is_array(src) else int(src)
        return truth(scattered(name, cast(x, _smelt.int32), dim, places, src))
    shape = tuple(x.shape)
    if x.ndim == 0:
        x, places, dim = (call("reshape", x, (1,)), call("reshape", places, (1,)), 0)
        src = call("reshape", src, (1,)) if is_array(src) else src
    if places.ndim == 0:
        places = call("reshape", places, (1,))
        src = call("reshape", src, (1,)) if is_array(src) else src
    if is_array(src) and src.ndim:
        src = _smelt.subscript(cast(src, x.dtype), tuple(slice(0, n) for n in places.shape))
        updates = call("reshape", src, (-1,))
    else:
        updates = call("full", (count_of(places.shape),), number(src, x.dtype), x.dtype)
    flat = call("reshape", x, (-1,))
    return call("reshape", call(name, flat, _flat_places(x, dim % x.ndim, places), updates, 0), shape)


def scatter(name: str) -> Callable[..., Any]:
    def recipe(node: Any, out: Any, x: Any, dim: int, places: Any, src: Any, *, reduce: Any = None) -> Any:
        chosen = {None: name, "add": "scatter_add", "multiply": "scatter_mul"}[reduce]
        return scattered(chosen, x, dim, places, src)

    return recipe


_REDUCTIONS = {"sum": "scatter_add", "prod": "scatter_mul", "amax": "scatter_max", "amin": "scatter_min", "mean": "scatter_add"}


def scatter_reduce(node: Any, out: Any, x: Any, dim: int, places: Any, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    return _reduced(lambda name, x, src: scattered(name, x, dim, places, src), x, src, reduce, include_self)


def index_reduce(node: Any, out: Any, x: Any, dim: int, places: Any, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    shape = tuple(x.shape)
    if x.ndim == 0:
        x, src = call("reshape", x, (1,)), call("reshape", src, (-1,))
    places = call("reshape", _long(places), (-1,))
    made = _reduced(lambda name, x, src: _rows_scattered(name, x, dim, places, src), x, cast(src, x.dtype), reduce, include_self)
    return call("reshape", made, shape)


def _rows_scattered(name: str, x: Any, dim: int, places: Any, src: Any) -> Any:
    """Slices of `src` along `dim` go to the slices of x that `places` names."""
    if x.dtype == _smelt.bool and name != "scatter":
        return truth(_rows_scattered(name, cast(x, _smelt.int32), dim, places, cast(src, _smelt.int32)))
    return call(name, x, places, src, dim)


def _reduced(scatter: Callable[[str, Any, Any], Any], x: Any, src: Any, reduce: str, include_self: bool) -> Any:
    dtype = x.dtype
    if dtype == _smelt.bool:
        x, src = cast(x, _smelt.int32), cast(src, _smelt.int32)
    base = x
    if not include_self:
        # Elements that are met start from what changes nothing.
        met = scatter("scatter", call("full_like", x, False, _smelt.bool), call("full_like", src, True, _smelt.bool))
        neutral = {"sum": 0, "mean": 0, "prod": 1, "amax": lowest(x.dtype), "amin": highest(x.dtype)}[reduce]
        base = call("where", met, call("full_like", x, neutral), x)
    made = scatter(_REDUCTIONS[reduce], base, src)
    if reduce == "mean":
        counts = scatter("scatter_add", call("full_like", x, int(include_self), _smelt.int64), call("full_like", src, 1, _smelt.int64))
        made = divide(made, cast(call("maximum", counts, 1), x.dtype), None if x.dtype.kind == "float" else "floor")
    return truth(made) if dtype == _smelt.bool else made


def index_fill(node: Any, out: Any, x: Any, dim: int, places: Any, value: Any) -> Any:
    places = call("reshape", _long(places), (-1,))
    if x.ndim == 0:
        x, dim = call("reshape", x, (1,)), 0
    dim = dim % x.ndim
    shape = (*x.shape[:dim], places.shape[0], *x.shape[dim + 1 :])
    value = call("broadcast_to", cast(value, x.dtype), shape) if is_array(value) else call("full", shape, number(value, x.dtype), x.dtype)
    return call("reshape", call("scatter", x, places, value, dim), out.shape)


def put(node: Any, out: Any, x: Any, places: Any, src: Any, accumulate: bool = False) -> Any:
    flat = call("reshape", x, (-1,))
    places, src = call("reshape", places, (-1,)), call("reshape", cast(src, x.dtype), (-1,))
    return call("reshape", scattered("scatter_add" if accumulate else "scatter", flat, 0, places, src), x.shape)


def _ranks(mask: Any) -> Any:
    """Of each element of a flat mask, how many true ones are before it."""
    return binary("-", call("cumsum", cast(mask, _smelt.int64), 0), cast(mask, _smelt.int64))


def masked_scatter(node: Any, out: Any, x: Any, mask: Any, src: Any) -> Any:
    """The elements of `src` in their order, where the mask is true."""
    x, mask = call("broadcast_to", x, out.shape), call("broadcast_to", mask, out.shape)
    src = call("reshape", src, (-1,))
    if is_empty((src.shape[0], *out.shape)):
        return x
    places = call("minimum", _ranks(call("reshape", mask, (-1,))), src.shape[0] - 1)
    return call("where", mask, call("reshape", call("take", src, places, 0), out.shape), x)


def masked_scatter_backward(node: Any, out: Any, grad: Any, mask: Any, sizes: Any) -> Any:
    """The elements of `grad` where the mask is true, in their order."""
    mask = call("reshape", call("broadcast_to", mask, grad.shape), (-1,))
    if is_empty((*out.shape, *grad.shape)):
        return call("zeros", out.shape, out.dtype)
    count = count_of(out.shape)
    values = call("where", mask, call("reshape", grad, (-1,)), 0)
    places = call("minimum", _ranks(mask), count - 1)
    return call("reshape", call("scatter_add", call("zeros", (count,), out.dtype), places, values, 0), out.shape)


def diagonal_scatter(node: Any, out: Any, x: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    dim1, dim2 = dim1 % x.ndim, dim2 % x.ndim
    order = [d for d in range(x.ndim) if d not in (dim1, dim2)] + [dim1, dim2]
    moved = call("transpose", x, tuple(order))
    flat = call("reshape", moved, (*moved.shape[:-2], moved.shape[-2] * moved.shape[-1]))
    places = diagonal_places(moved.shape[-1], src.shape[-1], offset)
    made = call("reshape", call("scatter", flat, places, cast(src, x.dtype), -1), moved.shape)
    return call("transpose", made, tuple(order.index(d) for d in range(x.ndim)))


# ---- views by strides: gathers from what the tensor is in memory


def _in_memory(node: Any, x: Any) -> Any:
    """An input as it lies in memory."""
    value = node.args[0].meta["val"]
    strides, sizes = value.stride(), value.shape
    if not all(isinstance(n, int) for n in (*strides, *sizes, value.storage_offset())):
        raise UserError("strides of sizes that are symbols")
    if not torch._prims_common.is_non_overlapping_and_dense_or_false(value) or value.storage_offset():
        raise UserError("strides of a part of a tensor")
    order = sorted(range(x.ndim), key=lambda d: (-strides[d], sizes[d] == 1))
    return order, call("reshape", call("transpose", x, tuple(order)) if x.ndim > 1 else x, (-1,))


def _strided_places(size: Any, stride: Any, offset: Any, count: int) -> Any:
    if not all(isinstance(n, int) for n in (*size, *stride, offset or 0)):
        raise UserError("strides of sizes that are symbols")
    last = (offset or 0) + sum((n - 1) * s for n, s in zip(size, stride))
    if last >= count:
        raise UserError("strides beyond the tensor")
    places = call("full", (), offset or 0, _smelt.int64)
    for n, s in zip(size, stride):
        steps = binary("*", call("arange", n, None, 1, _smelt.int64), s)
        places = binary("+", call("expand_dims", places, -1), steps)
    return call("reshape", places, (-1,))


def as_strided(node: Any, out: Any, x: Any, size: Any, stride: Any, offset: Any = None) -> Any:
    if is_empty(size):
        return call("full", tuple(size), number(0, x.dtype), x.dtype)
    _, flat = _in_memory(node, x)
    return call("reshape", call("take", flat, _strided_places(size, stride, offset, flat.shape[0]), 0), tuple(size))


def as_strided_scatter(node: Any, out: Any, x: Any, src: Any, size: Any, stride: Any, offset: Any = None) -> Any:
    if is_empty(size):
        return x
    order, flat = _in_memory(node, x)
    places = _strided_places(size, stride, offset, flat.shape[0])
    made = call("scatter", flat, places, call("reshape", cast(src, x.dtype), (-1,)), 0)
    made = call("reshape", made, tuple(x.shape[d] for d in order))
    return call("transpose", made, tuple(order.index(d) for d in range(x.ndim))) if x.ndim > 1 else made


def histc(node: Any, out: Any, x: Any, bins: int = 100, low: Any = 0, high: Any = 0) -> Any:
    x = call("reshape", x, (-1,))
    if low == high:
        low, high = call("min", x), call("max", x)
        one = binary("==", low, high)
        low, high = call("where", one, binary("-", low, 1), low), call("where", one, binary("+", high, 1), high)
    inside = call("logical_and", binary(">=", x, low), binary("<=", x, high))
    place = call("floor", binary("/", binary("*", binary("-", x, low), bins), binary("-", high, low)))
    place = call("minimum", cast(call("where", inside, place, 0), _smelt.int64), bins - 1)
    return call("scatter_add", call("zeros", (bins,), out.dtype), place, cast(inside, out.dtype), 0)


def searchsorted(node: Any, out: Any, sorted_: Any, values: Any, *, out_int32: bool = False, right: bool = False, side: Any = None,
                 sorter: Any = None) -> Any:
    """By bisection: as many gathers as the length of a row has bits."""
    if sorter is not None:
        sorted_ = call("take_along_axis", sorted_, _long(sorter), -1)
    rows = sorted_.ndim > 1
    if not is_array(values):
        values = call("full", (), number(values, sorted_.dtype), sorted_.dtype)
    shape = tuple(values.shape)
    if not rows:
        values = call("reshape", values, (-1,))
    length = sorted_.shape[-1]
    if not isinstance(length, int):
        raise UserError("a search in an array whose size is a symbol")
    low = call("full_like", values, 0, _smelt.int64)
    high = call("full_like", values, length, _smelt.int64)
    after = right or side == "right"
    for _ in range(length.bit_length()):
        middle = binary("//", binary("+", low, high), 2)
        place = call("minimum", middle, length - 1)
        found = call("take_along_axis", sorted_, place, -1) if rows else call("take", sorted_, place, 0)
        # nan comes after all numbers
        beyond = _less(values, found) if after else call("logical_not", _less(found, values))
        open_ = binary("<", low, high)
        low, high = (call("where", call("logical_and", open_, call("logical_not", beyond)), binary("+", middle, 1), low),
                     call("where", call("logical_and", open_, beyond), middle, high))
    return cast(call("reshape", low, shape), out.dtype)


def _less(a: Any, b: Any) -> Any:
    if a.dtype.kind != "float":
        return binary("<", a, b)
    return call("logical_or", binary("<", a, b), call("logical_and", call("isnan", b), call("logical_not", call("isnan", a))))


def bucketize(node: Any, out: Any, values: Any, edges: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    return searchsorted(node, out, edges, values, out_int32=out_int32, right=right)


def lowest(dtype: Any) -> Any:
    if dtype.kind == "float":
        return float("-inf")
    return 0 if dtype.kind == "unsigned" else -(1 << (8 * dtype.itemsize - 1))


def highest(dtype: Any) -> Any:
    if dtype.kind == "float":
        return float("inf")
    return (1 << (8 * dtype.itemsize - (dtype.kind != "unsigned"))) - 1


def index_put(node: Any, out: Any, x: Any, indices: Any, values: Any, accumulate: bool = False, *args: Any) -> Any:
    values = cast(values, x.dtype)
    if len([i for i in indices if i is not None]) == 1 and indices[-1].dtype == _smelt.bool:
        # A mask with one value for all: no size depends on the data.
        mask = call("reshape", indices[-1], (*indices[-1].shape, *([1] * (x.ndim - len(indices) + 1 - indices[-1].ndim))))
        return call("where", mask, add(x, values) if accumulate else values, x)
    axes = [d for d, i in enumerate(indices) if i is not None]
    places = [_long(i) for i in indices if i is not None]
    others = [d for d in range(x.ndim) if d not in axes]
    joined = axes == list(range(axes[0], axes[0] + len(axes)))
    rank = max(p.ndim for p in places)
    flat: Any = None
    for axis, p in zip(axes, places):
        p = call("where", binary("<", p, 0), binary("+", p, x.shape[axis]), p)
        flat = p if flat is None else binary("+", binary("*", flat, x.shape[axis]), p)
    front = axes[0] if joined else 0
    rows = call("transpose", x, (*axes, *others)) if x.ndim > 1 else x
    kept = tuple(rows.shape)
    rest = tuple(x.shape[d] for d in others)
    # In the values torch puts the axes of the indices where the named axes were.
    spread = tuple(x.shape[d] for d in others[:front]) + tuple(flat.shape) + tuple(x.shape[d] for d in others[front:])
    values = call("broadcast_to", values, spread) if spread else values
    order = (*range(front, front + rank), *range(front), *range(front + rank, len(spread)))
    values = call("transpose", values, order) if len(order) > 1 else values
    updates = call("reshape", values, (count_of(flat.shape), *rest))
    rows = call("reshape", rows, (count_of(x.shape[d] for d in axes), *rest))
    made = _rows_scattered("scatter_add" if accumulate else "scatter", rows, 0, call("reshape", flat, (-1,)), updates)
    made = call("reshape", made, kept)
    back = [(*axes, *others).index(d) for d in range(x.ndim)]
    return call("transpose", made, tuple(back)) if x.ndim > 1 else made
