"""Gathers, scatters and windows."""

from __future__ import annotations

from typing import Any, Callable

from .. import _index, _smelt
from ._elementwise import cast, is_array
from ._movement import key_along, number

call = _smelt.call
binary = _smelt.binary


def _long(index: Any) -> Any:
    return cast(index, _smelt.int64)


def _count(sizes: Any) -> Any:
    count: Any = 1
    for size in sizes:
        count = count * size
    return count


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


def _scattered(name: str, x: Any, dim: int, places: Any, src: Any) -> Any:
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
        updates = call("full", (_count(places.shape),), number(src, x.dtype), x.dtype)
    flat = call("reshape", x, (-1,))
    return call("reshape", call(name, flat, _flat_places(x, dim % x.ndim, places), updates, 0), shape)


def scatter(name: str) -> Callable[..., Any]:
    def recipe(node: Any, out: Any, x: Any, dim: int, places: Any, src: Any, *, reduce: Any = None) -> Any:
        chosen = {None: name, "add": "scatter_add", "multiply": "scatter_mul"}[reduce]
        return _scattered(chosen, x, dim, places, src)

    return recipe


_REDUCTIONS = {"sum": "scatter_add", "prod": "scatter_mul", "amax": "scatter_max", "amin": "scatter_min", "mean": "scatter_add"}


def scatter_reduce(node: Any, out: Any, x: Any, dim: int, places: Any, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    name = _REDUCTIONS[reduce]
    base = x
    ones = call("full_like", src, 1, _smelt.int64)
    if not include_self:
        # Elements that are met start from what changes nothing.
        met = _scattered("scatter", call("full_like", x, False, _smelt.bool), dim, places, call("full_like", src, True, _smelt.bool))
        neutral = {"sum": 0, "mean": 0, "prod": 1, "amax": _extreme(x.dtype, True), "amin": _extreme(x.dtype, False)}[reduce]
        base = call("where", met, call("full_like", x, neutral), x)
    made = _scattered(name, base, dim, places, src)
    if reduce != "mean":
        return made
    counts = _scattered("scatter_add", call("full_like", x, int(include_self), _smelt.int64), dim, places, ones)
    counts = cast(call("maximum", counts, 1), x.dtype)
    return binary("/", made, counts) if x.dtype.kind == "float" else binary("//", made, counts)


def _extreme(dtype: Any, low: bool) -> Any:
    if dtype.kind == "float":
        return float("-inf") if low else float("inf")
    bits = 8 * dtype.itemsize
    if dtype.kind == "unsigned":
        return 0 if low else (1 << bits) - 1
    return -(1 << (bits - 1)) if low else (1 << (bits - 1)) - 1


def index_put(node: Any, out: Any, x: Any, indices: Any, values: Any, accumulate: bool = False, *args: Any) -> Any:
    values = cast(values, x.dtype)
    if len([i for i in indices if i is not None]) == 1 and indices[-1].dtype == _smelt.bool:
        # A mask with one value for all: no size depends on the data.
        mask = call("reshape", indices[-1], (*indices[-1].shape, *([1] * (x.ndim - len(indices) + 1 - indices[-1].ndim))))
        return call("where", mask, binary("+", x, values) if accumulate else values, x)
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
    # Of the values torch has the axes of the indices where the named axes were.
    spread = tuple(x.shape[d] for d in others[:front]) + tuple(flat.shape) + tuple(x.shape[d] for d in others[front:])
    values = call("broadcast_to", values, spread) if spread else values
    order = (*range(front, front + rank), *range(front), *range(front + rank, len(spread)))
    values = call("transpose", values, order) if len(order) > 1 else values
    updates = call("reshape", values, (_count(flat.shape), *rest))
    rows = call("reshape", rows, (_count(x.shape[d] for d in axes), *rest))
    made = call("scatter_add" if accumulate else "scatter", rows, call("reshape", flat, (-1,)), updates, 0)
    made = call("reshape", made, kept)
    back = [(*axes, *others).index(d) for d in range(x.ndim)]
    return call("transpose", made, tuple(back)) if x.ndim > 1 else made


# ---- windows


def _pair(x: Any, count: int, otherwise: Any = None) -> list[Any]:
    values: list[Any] = list(x) if isinstance(x, (list, tuple)) else [x]
    if not values and otherwise is not None:
        return list(otherwise)
    return values * count if len(values) == 1 else values


def max_pool_with_indices(count: int) -> Callable[..., Any]:
    def recipe(node: Any, outs: Any, x: Any, size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
               ceil_mode: bool = False) -> Any:
        size, padding, dilation = _pair(size, count), _pair(padding, count), _pair(dilation, count)
        stride = _pair(stride, count, size)
        low = _extreme(x.dtype, True)
        sizes = x.shape[-count:]
        # As far as the last window goes, which ceil_mode may have beyond the padding.
        widths: list[Any] = [(0, 0)] * (x.ndim - count)
        for k in range(count):
            reach = (outs[0].shape[k - count] - 1) * stride[k] + (size[k] - 1) * dilation[k] + 1
            after = reach - sizes[k] - padding[k]
            if isinstance(after, int):
                after = max(after, 0)
            widths.append((padding[k], after))
        padded = call("pad", x, tuple(widths), low) if any(w != (0, 0) for w in widths) else x
        windows = call("window", padded, tuple(size), tuple(range(-count, 0)), tuple(stride), tuple(dilation))
        windows = _smelt.subscript(windows, (Ellipsis, *(slice(0, n) for n in outs[0].shape[-count:]), *([slice(None)] * count)))
        flat = call("reshape", windows, (*windows.shape[:-count], _count(size)))
        values = call("max", flat, -1)
        place = call("argmax", flat, -1)
        found: Any = None
        rest = place
        parts: list[Any] = []
        for k in reversed(range(count)):
            parts.insert(0, call("remainder", rest, size[k]) if k else rest)
            rest = binary("//", rest, size[k])
        for k in range(count):
            shape = [1] * x.ndim
            shape[k - count] = outs[0].shape[k - count]
            start = call("reshape", call("arange", outs[0].shape[k - count], None, 1, _smelt.int64), tuple(shape))
            at = binary("+", binary("-", binary("*", start, stride[k]), padding[k]), binary("*", parts[k], dilation[k]))
            found = at if found is None else binary("+", binary("*", found, sizes[k]), at)
        return [values, found]

    return recipe


def max_pool_backward(count: int) -> Callable[..., Any]:
    def recipe(node: Any, out: Any, grad: Any, x: Any, size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
               places: Any) -> Any:
        planes = tuple(out.shape[: x.ndim - count])
        flat = call("zeros", (*planes, _count(x.shape[-count:])), _smelt.float32 if x.dtype.itemsize < 4 else x.dtype)
        made = _scattered("scatter_add", flat, -1, call("reshape", places, (*planes, _count(places.shape[-count:]))),
                          call("reshape", cast(grad, flat.dtype), (*planes, _count(grad.shape[-count:]))))
        return cast(call("reshape", made, out.shape), out.dtype)

    return recipe


def _averaged(x: Any, count: int, out_shape: Any, size: Any, stride: Any, padding: Any, include_pad: bool, divisor: Any) -> Any:
    sizes = x.shape[-count:]
    widths: list[Any] = [(0, 0)] * (x.ndim - count)
    for k in range(count):
        reach = (out_shape[k - count] - 1) * stride[k] + size[k]
        widths.append((padding[k], max(reach - sizes[k] - padding[k], 0)))
    padded = call("pad", x, tuple(widths), 0.0) if any(w != (0, 0) for w in widths) else x
    windows = call("window", padded, tuple(size), tuple(range(-count, 0)), tuple(stride), (1,) * count)
    windows = _smelt.subscript(windows, (Ellipsis, *(slice(0, n) for n in out_shape[-count:]), *([slice(None)] * count)))
    total = call("sum", windows, tuple(range(-count, 0)))
    if divisor is not None:
        return binary("/", total, divisor)
    counts: Any = None
    for k in range(count):
        start = binary("-", binary("*", call("arange", out_shape[k - count], None, 1, _smelt.int64), stride[k]), padding[k])
        if include_pad:
            end = call("minimum", binary("+", start, size[k]), sizes[k] + padding[k])
        else:
            end = call("minimum", binary("+", start, size[k]), sizes[k])
            start = call("maximum", start, 0)
        shape = [1] * count
        shape[k] = out_shape[k - count]
        part = call("reshape", cast(binary("-", end, start), total.dtype), tuple(shape))
        counts = part if counts is None else binary("*", counts, part)
    return binary("/", total, counts)


def avg_pool(count: int) -> Callable[..., Any]:
    def recipe(node: Any, out: Any, x: Any, size: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
               count_include_pad: bool = True, divisor_override: Any = None) -> Any:
        size, padding = _pair(size, count), _pair(padding, count)
        wide = cast(x, _smelt.float32) if x.dtype.itemsize < 4 else x
        made = _averaged(wide, count, out.shape, size, _pair(stride, count, size), padding, count_include_pad, divisor_override)
        return cast(made, out.dtype)

    return recipe


def avg_pool_backward(count: int) -> Callable[..., Any]:
    def recipe(node: Any, out: Any, grad: Any, x: Any, size: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
               count_include_pad: bool = True, divisor_override: Any = None) -> Any:
        size, padding = _pair(size, count), _pair(padding, count)
        grad = cast(grad, _smelt.float32) if grad.dtype.itemsize < 4 else grad

        def pooled(x: Any) -> Any:
            made = _averaged(x, count, grad.shape, size, _pair(stride, count, size), padding, count_include_pad, divisor_override)
            return call("sum", binary("*", made, grad))

        zeros = call("zeros", out.shape, grad.dtype)
        _, (made,) = _smelt.differentiate(lambda arrays: [pooled(arrays[0])], [zeros], [True])
        return cast(made, out.dtype)

    return recipe
