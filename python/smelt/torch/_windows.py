"""Windows: pooling, with fixed windows and with those that follow from the output's size."""

from __future__ import annotations

from typing import Any, Callable

from .. import _smelt
from ._elementwise import cast, divide
from ._indexing import count_of as _count
from ._indexing import lowest, scattered
from ._movement import number

call = _smelt.call
binary = _smelt.binary

def _pair(x: Any, count: int, otherwise: Any = None) -> list[Any]:
    values: list[Any] = list(x) if isinstance(x, (list, tuple)) else [x]
    if not values and otherwise is not None:
        return list(otherwise)
    return values * count if len(values) == 1 else values


def _wide(x: Any) -> Any:
    return cast(x, _smelt.float32) if x.dtype.kind == "float" and x.dtype.itemsize < 4 else x


def max_pool_with_indices(count: int) -> Callable[..., Any]:
    def recipe(node: Any, outs: Any, x: Any, size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
               ceil_mode: bool = False) -> Any:
        size, padding, dilation = _pair(size, count), _pair(padding, count), _pair(dilation, count)
        stride = _pair(stride, count, size)
        low = lowest(x.dtype)
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
        flat = call("zeros", (*planes, _count(x.shape[-count:])), _wide(x).dtype)
        made = scattered("scatter_add", flat, -1, call("reshape", places, (*planes, _count(places.shape[-count:]))),
                          call("reshape", cast(grad, flat.dtype), (*planes, _count(grad.shape[-count:]))))
        return cast(call("reshape", made, out.shape), out.dtype)

    return recipe


def max_unpool(count: int) -> Callable[..., Any]:
    def recipe(node: Any, out: Any, x: Any, places: Any, *sizes: Any) -> Any:
        planes = tuple(x.shape[: x.ndim - count])
        flat = call("zeros", (*planes, _count(out.shape[-count:])), x.dtype)
        shape = (*planes, _count(x.shape[-count:]))
        return call("reshape", scattered("scatter", flat, -1, call("reshape", places, shape), call("reshape", x, shape)), out.shape)

    return recipe


def _averaged(x: Any, count: int, out_shape: Any, size: Any, stride: Any, padding: Any, include_pad: bool, divisor: Any) -> Any:
    sizes = x.shape[-count:]
    widths: list[Any] = [(0, 0)] * (x.ndim - count)
    for k in range(count):
        reach = (out_shape[k - count] - 1) * stride[k] + size[k]
        widths.append((padding[k], max(reach - sizes[k] - padding[k], 0)))
    padded = call("pad", x, tuple(widths), number(0, x.dtype)) if any(w != (0, 0) for w in widths) else x
    windows = call("window", padded, tuple(size), tuple(range(-count, 0)), tuple(stride), (1,) * count)
    windows = _smelt.subscript(windows, (Ellipsis, *(slice(0, n) for n in out_shape[-count:]), *([slice(None)] * count)))
    total = call("sum", windows, tuple(range(-count, 0)))
    rounding = None if total.dtype.kind == "float" else "trunc"
    if divisor is not None:
        return divide(total, divisor, rounding)
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
    return divide(total, counts, rounding)


def avg_pool(count: int) -> Callable[..., Any]:
    def recipe(node: Any, out: Any, x: Any, size: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
               count_include_pad: bool = True, divisor_override: Any = None) -> Any:
        size, padding = _pair(size, count), _pair(padding, count)
        made = _averaged(_wide(x), count, out.shape, size, _pair(stride, count, size), padding, count_include_pad, divisor_override)
        return cast(made, out.dtype)

    return recipe


def avg_pool_backward(count: int) -> Callable[..., Any]:
    def recipe(node: Any, out: Any, grad: Any, x: Any, size: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
               count_include_pad: bool = True, divisor_override: Any = None) -> Any:
        size, padding = _pair(size, count), _pair(padding, count)
        grad = _wide(grad)

        def pooled(x: Any) -> Any:
            made = _averaged(x, count, grad.shape, size, _pair(stride, count, size), padding, count_include_pad, divisor_override)
            return call("sum", binary("*", made, grad))

        zeros = call("zeros", out.shape, grad.dtype)
        _, (made,) = _smelt.differentiate(lambda arrays: [pooled(arrays[0])], [zeros], [True])
        return cast(made, out.dtype)

    return recipe


# ---- windows that follow from the sizes of input and output


def _ranges(inputs: int, outputs: int) -> tuple[Any, Any, int]:
    """Where the window of each output starts and ends along one axis, and the widest."""
    places = call("arange", outputs, None, 1, _smelt.int64)
    start = binary("//", binary("*", places, inputs), outputs)
    end = binary("//", binary("+", binary("*", binary("+", places, 1), inputs), outputs - 1), outputs)
    widest = max(((k + 1) * inputs + outputs - 1) // outputs - k * inputs // outputs for k in range(outputs)) if outputs else 0
    return start, end, widest


def _spread(x: Any, axis: int, outputs: int) -> tuple[Any, Any, Any]:
    """The windows of one axis as an axis after it, which elements of them count, and where they come from."""
    inputs = x.shape[axis]
    start, end, widest = _ranges(inputs, outputs)
    steps = call("arange", widest, None, 1, _smelt.int64)
    sources = binary("+", call("reshape", start, (outputs, 1)), steps)
    inside = binary("<", sources, call("reshape", end, (outputs, 1)))
    sources = call("minimum", sources, inputs - 1)
    taken = call("take", x, call("reshape", sources, (-1,)), axis)
    shape = (*x.shape[:axis], outputs, widest, *x.shape[axis + 1 :])
    return call("reshape", taken, shape), inside, sources


def _along(array: Any, rank: int, axis: int) -> Any:
    """An array of one axis, or of two, whose first is to be `axis` of `rank` axes."""
    shape = [1] * rank
    shape[axis : axis + array.ndim] = array.shape
    return call("reshape", array, tuple(shape))


def _summed(x: Any, axis: int, outputs: int) -> Any:
    """Of each window along one axis the sum."""
    windows, inside, _ = _spread(x, axis, outputs)
    return call("sum", call("where", _along(inside, windows.ndim, axis), windows, number(0, x.dtype)), axis + 1)


def _counts(x: Any, axis: int, outputs: int) -> Any:
    start, end, _ = _ranges(x.shape[axis], outputs)
    return _along(cast(binary("-", end, start), x.dtype), x.ndim, axis)


def adaptive_avg_pool(count: int) -> Callable[..., Any]:
    def recipe(node: Any, out: Any, x: Any, size: Any) -> Any:
        made = _wide(x)
        for axis in range(x.ndim - count, x.ndim):
            counts = _counts(made, axis, out.shape[axis])
            made = binary("/", _summed(made, axis, out.shape[axis]), counts)
        return cast(made, out.dtype)

    return recipe


def adaptive_avg_pool_backward(count: int) -> Callable[..., Any]:
    """An input is in the windows of a range of outputs: the same ranges, with the sizes exchanged."""
    def recipe(node: Any, out: Any, grad: Any, x: Any) -> Any:
        made = _wide(grad)
        for axis in range(x.ndim - count, x.ndim):
            start, end, _ = _ranges(x.shape[axis], grad.shape[axis])
            counts = _along(cast(binary("-", end, start), made.dtype), made.ndim, axis)
            made = _summed(binary("/", made, counts), axis, x.shape[axis])
        return cast(made, out.dtype)

    return recipe


def adaptive_max_pool(count: int) -> Callable[..., Any]:
    def recipe(node: Any, outs: Any, x: Any, size: Any) -> Any:
        first, rank = x.ndim - count, x.ndim + count
        windows, places = x, None
        for k in range(count):
            axis = first + 2 * k  # after the windows of the axes before it
            windows, inside, sources = _spread(windows, axis, outs[0].shape[first + k])
            windows = call("where", _along(inside, windows.ndim, axis), windows, number(lowest(x.dtype), x.dtype))
            part = _along(sources, rank, axis)
            places = part if places is None else binary("+", binary("*", places, x.shape[first + k]), part)
        order = (*range(first), *range(first, rank, 2), *range(first + 1, rank, 2))
        windows, places = (call("transpose", array, order) for array in (windows, places))
        windows, places = (call("reshape", array, (*array.shape[: x.ndim], _count(array.shape[x.ndim :]))) for array in (windows, places))
        chosen = call("expand_dims", call("argmax", windows, -1), -1)
        places = call("take_along_axis", call("broadcast_to", places, windows.shape), chosen, -1)
        return [call("max", windows, -1), call("reshape", places, windows.shape[:-1])]

    return recipe


def adaptive_max_pool_backward(count: int) -> Callable[..., Any]:
    pooled = max_pool_backward(count)

    def recipe(node: Any, out: Any, grad: Any, x: Any, places: Any) -> Any:
        return pooled(node, out, grad, x, None, None, None, None, False, places)

    return recipe


def replication_pad_backward(count: int) -> Callable[..., Any]:
    def recipe(node: Any, out: Any, grad: Any, x: Any, widths: Any) -> Any:
        made = _wide(grad)
        for k in range(count):
            axis = x.ndim - 1 - k
            places = binary("-", call("arange", made.shape[axis], None, 1, _smelt.int64), widths[2 * k])
            places = call("clamp", places, 0, x.shape[axis] - 1)
            shape = (*made.shape[:axis], x.shape[axis], *made.shape[axis + 1 :])
            made = call("scatter_add", call("zeros", shape, made.dtype), places, made, axis)
        return cast(made, out.dtype)

    return recipe
