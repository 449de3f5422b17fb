"""Views, copies, and arrays that are made of nothing."""

from __future__ import annotations

from typing import Any, Callable

from .. import _smelt
from ._elementwise import cast, is_array

call = _smelt.call
binary = _smelt.binary
_MANY = 2**62  # what stands for "to the end"


def reshape(node: Any, out: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """All views that change the shape alone: torch knows the result's."""
    return call("reshape", x, out.shape)


def same(node: Any, out: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    return cast(x, out.dtype)


def expand(node: Any, out: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    return call("broadcast_to", x, out.shape)


def permute(node: Any, out: Any, x: Any, dims: Any) -> Any:
    return call("transpose", x, tuple(d % x.ndim for d in dims)) if x.ndim else x


def transpose(node: Any, out: Any, x: Any, first: int = 0, second: int = 1) -> Any:
    return call("swapaxes", x, first, second) if x.ndim > 1 else x


def broadcast_in_dim(node: Any, out: Any, x: Any, shape: Any, dims: Any) -> Any:
    sizes: list[Any] = [1] * len(shape)
    for axis, d in enumerate(dims):
        sizes[d] = x.shape[axis]
    return call("broadcast_to", call("reshape", x, tuple(sizes)), out.shape)


def _bound(bound: Any) -> Any:
    return None if isinstance(bound, int) and bound >= _MANY else bound


def key_along(x: Any, dim: int, key: Any) -> tuple[Any, ...]:
    keys: list[Any] = [slice(None)] * x.ndim
    keys[dim] = key
    return tuple(keys)


def sliced(node: Any, out: Any, x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return _smelt.subscript(x, key_along(x, dim, slice(_bound(start), _bound(end), step)))


def prim_slice(node: Any, out: Any, x: Any, starts: Any, limits: Any, strides: Any = None) -> Any:
    steps = strides or [1] * x.ndim
    return _smelt.subscript(x, tuple(slice(a, b, s) for a, b, s in zip(starts, limits, steps)))


def select(node: Any, out: Any, x: Any, dim: int, index: Any) -> Any:
    return _smelt.subscript(x, key_along(x, dim, index))


def slice_scatter(node: Any, out: Any, x: Any, src: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    key = key_along(x, dim, slice(_bound(start), _bound(end), step))
    return _smelt.slice_update(x, key, cast(src, x.dtype))


def select_scatter(node: Any, out: Any, x: Any, src: Any, dim: int, index: Any) -> Any:
    return _smelt.slice_update(x, key_along(x, dim, index), cast(src, x.dtype))


def _cuts(x: Any, dim: int, sizes: Any) -> list[Any]:
    made = []
    start: Any = 0
    for size in sizes:
        made.append(_smelt.subscript(x, key_along(x, dim, slice(start, start + size))))
        start = start + size
    return made


def split(node: Any, outs: Any, x: Any, size: Any, dim: int = 0) -> Any:
    return _cuts(x, dim, [out.shape[dim] for out in outs])


def unbind(node: Any, outs: Any, x: Any, dim: int = 0) -> Any:
    return [_smelt.subscript(x, key_along(x, dim, i)) for i in range(len(outs))]


def cat(node: Any, out: Any, arrays: Any, dim: int = 0) -> Any:
    # torch skips arrays of shape (0,) whatever the others are.
    kept = [a for a in arrays if not (a.ndim == 1 and len(out.shape) != 1 and a.shape[0] == 0)]
    kept = [cast(a, out.dtype) for a in kept]
    return kept[0] if len(kept) == 1 else call("concat", kept, dim)


def stack(node: Any, out: Any, arrays: Any, dim: int = 0) -> Any:
    return call("stack", [cast(a, out.dtype) for a in arrays], dim)


def flip(node: Any, out: Any, x: Any, dims: Any) -> Any:
    return call("flip", x, tuple(dims)) if dims and x.ndim else x


def roll(node: Any, out: Any, x: Any, shifts: Any, dims: Any = ()) -> Any:
    shifts = list(shifts) if isinstance(shifts, (list, tuple)) else [shifts]
    dims = list(dims) if isinstance(dims, (list, tuple)) else [dims]
    if x.ndim == 0:
        return x
    if not dims:
        return call("roll", x, shifts[0])
    for shift, dim in zip(shifts, dims):
        x = call("roll", x, shift, dim)
    return x


def repeat(node: Any, out: Any, x: Any, repeats: Any) -> Any:
    x = call("reshape", x, (1,) * (len(repeats) - x.ndim) + tuple(x.shape))
    return call("tile", x, tuple(repeats))


def triangle(name: str) -> Callable[..., Any]:
    return lambda node, out, x, diagonal=0: call(name, x, diagonal)


def pad(node: Any, out: Any, x: Any, widths: Any, value: Any = 0) -> Any:
    pairs: list[Any] = [(0, 0)] * x.ndim
    for k in range(len(widths) // 2):
        pairs[x.ndim - 1 - k] = (widths[2 * k], widths[2 * k + 1])
    keys = []
    for axis, (before, after) in enumerate(pairs):
        first = -before if isinstance(before, int) and before < 0 else None
        last = x.shape[axis] + after if isinstance(after, int) and after < 0 else None
        keys.append(slice(first, last))
    if any(k != slice(None, None) for k in keys):
        x = _smelt.subscript(x, tuple(keys))
    grown = tuple(tuple(max(w, 0) if isinstance(w, int) else w for w in pair) for pair in pairs)
    if all(pair == (0, 0) for pair in grown):
        return x
    return call("pad", x, grown, number(value, x.dtype))


def unfold(node: Any, out: Any, x: Any, dim: int, size: int, step: int) -> Any:
    if x.ndim == 0:
        return call("reshape", x, out.shape)
    return call("window", x, size, dim % x.ndim, step)


def diagonal_places(columns: Any, count: Any, offset: int) -> Any:
    """Where a diagonal is in a matrix, row by row."""
    steps = call("arange", count, None, 1, _smelt.int64)
    return binary("+", binary("*", steps, columns + 1), offset if offset >= 0 else -offset * columns)


def diagonal(node: Any, out: Any, x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    dim1, dim2 = dim1 % x.ndim, dim2 % x.ndim
    others = [d for d in range(x.ndim) if d not in (dim1, dim2)]
    x = call("transpose", x, (*others, dim1, dim2))
    rows, columns, count = x.shape[-2], x.shape[-1], out.shape[-1]
    flat = call("reshape", x, (*x.shape[:-2], rows * columns))
    if not isinstance(count, int) or count > 0:
        return call("take", flat, diagonal_places(columns, count, offset), -1)
    return call("reshape", _smelt.subscript(flat, (Ellipsis, slice(0, 0))), out.shape)


# ---- arrays that are made of nothing


def number(value: Any, dtype: Any) -> Any:
    """A number of Python as one of this dtype."""
    if is_array(value):
        return cast(value, dtype)
    if isinstance(value, (bool, int, float)):
        if dtype.kind == "bool":
            return bool(value)
        if dtype.kind == "float":
            return float(value)
        value = int(value)
        bits = 8 * dtype.itemsize
        value &= (1 << bits) - 1
        return value - (1 << bits) if dtype.kind == "signed" and value >> (bits - 1) else value
    return cast(call("full", (), value), dtype)


def filled(node: Any, out: Any, value: Any) -> Any:
    return call("full", out.shape, number(value, out.dtype), out.dtype)


def constant(value: Any) -> Callable[..., Any]:
    return lambda node, out, *args, **kwargs: filled(node, out, value)


def full(node: Any, out: Any, shape: Any, value: Any = 0, *args: Any, **kwargs: Any) -> Any:
    return filled(node, out, value)


def new_full(node: Any, out: Any, x: Any, shape: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
    return filled(node, out, value)


def full_like(node: Any, out: Any, x: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
    return filled(node, out, value)


def scalar_tensor(node: Any, out: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
    return filled(node, out, value)


def fill(node: Any, out: Any, x: Any, value: Any) -> Any:
    if is_array(value):
        return call("broadcast_to", cast(value, out.dtype), out.shape)
    return filled(node, out, value)


def iota(node: Any, out: Any, length: Any, *, start: Any, step: Any, **kwargs: Any) -> Any:
    steps = call("arange", length, None, 1, _smelt.int64)
    return cast(binary("+", binary("*", steps, step), start), out.dtype)


def arange(node: Any, out: Any, *args: Any, **kwargs: Any) -> Any:
    numbers = list(args)
    start = numbers[0] if len(numbers) > 1 else kwargs.get("start", 0)
    step = numbers[2] if len(numbers) > 2 else kwargs.get("step", 1)
    floats = out.dtype.kind == "float"
    # For integers torch first truncates start and step.
    start, step = ((n if floats else int(n)) if isinstance(n, (bool, float)) else n for n in (start, step))
    steps = call("arange", out.shape[0], None, 1, _smelt.int64)
    if floats:
        start, step = (float(n) if isinstance(n, bool) else n for n in (start, step))
        steps = cast(steps, _smelt.float64)
    return cast(binary("+", binary("*", steps, step), start), out.dtype)


def linspace(node: Any, out: Any, start: Any, end: Any, steps: int, **kwargs: Any) -> Any:
    """From both ends, as in torch; of integers the ends are truncated first."""
    integers = out.dtype.kind != "float"
    work = _smelt.float32 if out.dtype.itemsize < 4 and not integers else _smelt.float64 if integers else out.dtype

    def bound(x: Any) -> Any:
        if not is_array(x):
            return call("full", (), float(int(x) if integers else x), work)
        return call("trunc", cast(x, work)) if integers else cast(x, work)

    start, end = bound(start), bound(end)
    if isinstance(steps, int) and steps <= 1:
        return cast(call("broadcast_to", start, out.shape), out.dtype)
    places = call("arange", steps, None, 1, _smelt.int64)
    step = binary("/", binary("-", end, start), steps - 1)
    rising = binary("+", start, binary("*", cast(places, work), step))
    falling = binary("-", end, binary("*", cast(binary("-", steps - 1, places), work), step))
    return cast(call("where", binary("<", places, steps // 2), rising, falling), out.dtype)


def eye(node: Any, out: Any, *args: Any, **kwargs: Any) -> Any:
    rows = call("reshape", call("arange", out.shape[0], None, 1, _smelt.int64), (out.shape[0], 1))
    columns = call("arange", out.shape[1], None, 1, _smelt.int64)
    return cast(binary("==", rows, columns), out.dtype)


def copy(node: Any, out: Any, x: Any, src: Any, *args: Any) -> Any:
    return call("broadcast_to", cast(src, out.dtype), out.shape)
