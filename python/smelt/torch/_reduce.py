"""Reductions and running values."""

from __future__ import annotations

from typing import Any, Callable

from .. import _smelt
from ._elementwise import _LOW, cast, truth

call = _smelt.call
binary = _smelt.binary


def axes_of(x: Any, dim: Any) -> Any:
    """The axes that torch means: none named are all."""
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        return tuple(range(x.ndim))
    return tuple(d % max(x.ndim, 1) for d in (dim if isinstance(dim, (list, tuple)) else (dim,)))


def _wide(x: Any) -> Any:
    return cast(x, _smelt.float32) if x.dtype in _LOW else x


def _reduced(name: str, x: Any, axes: tuple[int, ...], keepdim: bool) -> Any:
    return call(name, x, axes, keepdim) if x.ndim else x


def sum_(node: Any, out: Any, x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None,
         output_dtype: Any = None) -> Any:
    x = _wide(cast(x, out.dtype))
    return cast(_reduced("sum", x, axes_of(x, dim), keepdim), out.dtype)


def prod(node: Any, out: Any, x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None,
         output_dtype: Any = None) -> Any:
    x = _wide(cast(x, out.dtype))
    return cast(_reduced("prod", x, axes_of(x, dim), keepdim), out.dtype)


def mean(node: Any, out: Any, x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    x = _wide(cast(x, out.dtype))
    return cast(_reduced("mean", x, axes_of(x, dim), keepdim), out.dtype)


def extreme(name: str) -> Callable[..., Any]:
    def recipe(node: Any, out: Any, x: Any, dim: Any = None, keepdim: bool = False, *, output_dtype: Any = None) -> Any:
        if x.dtype == _smelt.bool:
            return _reduced("any" if name == "max" else "all", x, axes_of(x, dim), keepdim)
        return _reduced(name, x, axes_of(x, dim), keepdim)

    return recipe


def truths(name: str) -> Callable[..., Any]:
    def recipe(node: Any, out: Any, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return cast(_reduced(name, truth(x), axes_of(x, dim), keepdim), out.dtype)

    return recipe


def _numbers(x: Any) -> Any:
    return cast(x, _smelt.uint8) if x.dtype == _smelt.bool else x


def _place(name: str, x: Any, dim: Any, keepdim: bool) -> Any:
    x = _numbers(x)
    if x.ndim == 0:
        return call("full", (), 0, _smelt.int64)
    if dim is not None:
        return call(name, x, dim, keepdim)
    found = call(name, call("reshape", x, (-1,)), 0)
    return call("reshape", found, (1,) * x.ndim) if keepdim else found


def place(name: str) -> Callable[..., Any]:
    def recipe(node: Any, out: Any, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return _place(name, x, dim, keepdim)

    return recipe


def extreme_with_place(name: str) -> Callable[..., Any]:
    def recipe(node: Any, outs: Any, x: Any, dim: int, keepdim: bool = False) -> Any:
        value = cast(_reduced(name, _numbers(x), axes_of(x, dim), keepdim), x.dtype)
        return [value, _place("arg" + name, x, dim, keepdim)]

    return recipe


def aminmax(node: Any, outs: Any, x: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    return [extreme("min")(node, outs[0], x, dim, keepdim), extreme("max")(node, outs[1], x, dim, keepdim)]


def _variance(x: Any, axes: Any, correction: Any, keepdim: bool) -> Any:
    if x.ndim == 0:
        return binary("/", binary("-", x, x), 1 - correction if correction < 1 else 0.0)
    if isinstance(correction, float) and correction.is_integer():
        correction = int(correction)
    count: Any = 1
    for axis in axes:
        count = count * x.shape[axis]
    if isinstance(correction, int) and not (isinstance(count, int) and count <= correction):
        return call("var", x, axes, correction, keepdim)
    squares = binary("*", call("var", x, axes, 0, keepdim), count)
    return binary("/", squares, max(count - correction, 0.0))


def variance(node: Any, out: Any, x: Any, dim: Any = None, correction: Any = None, keepdim: bool = False, *,
             output_dtype: Any = None, root: bool = False) -> Any:
    x = _wide(x)
    made = _variance(x, axes_of(x, dim), 1 if correction is None else correction, keepdim)
    return cast(call("sqrt", made) if root else made, out.dtype)


def prim_variance(node: Any, out: Any, x: Any, dim: Any, correction: Any = 1, *, output_dtype: Any = None) -> Any:
    return variance(node, out, x, dim, correction)


def deviation(node: Any, out: Any, x: Any, dim: Any = None, correction: Any = None, keepdim: bool = False) -> Any:
    return variance(node, out, x, dim, correction, keepdim, root=True)


def variance_and_mean(node: Any, outs: Any, x: Any, dim: Any = None, correction: Any = None, keepdim: bool = False) -> Any:
    return [variance(node, outs[0], x, dim, correction, keepdim), mean(node, outs[1], x, dim, keepdim)]


def running(name: str) -> Callable[..., Any]:
    def recipe(node: Any, out: Any, x: Any, dim: int, *, dtype: Any = None) -> Any:
        x = _wide(cast(x, out.dtype))
        return cast(call(name, x, dim) if x.ndim else x, out.dtype)

    return recipe


def running_extreme(name: str) -> Callable[..., Any]:
    def recipe(node: Any, outs: Any, x: Any, dim: int) -> Any:
        if x.ndim == 0:
            return [x, call("full", (), 0, _smelt.int64)]
        wide = _numbers(_wide(x))
        values = call(name, wide, dim)
        # The last place so far where the extreme is met: torch takes the later of equals.
        met = binary("==", wide, values)
        if wide.dtype.kind == "float":
            met = call("bitwise_or", met, call("isnan", wide))
        shape = [1] * x.ndim
        shape[dim] = x.shape[dim]
        steps = call("reshape", call("arange", x.shape[dim], None, 1, _smelt.int64), tuple(shape))
        places = call("cummax", call("where", met, steps, 0), dim)
        return [cast(values, x.dtype), places]

    return recipe


def logcumsumexp(node: Any, out: Any, x: Any, dim: int) -> Any:
    return cast(call("logcumsumexp", _wide(x), dim) if x.ndim else x, out.dtype)
