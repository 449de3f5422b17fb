"""Functions of the Array API standard whose signatures are not those of the language."""

from __future__ import annotations

TYPE_CHECKING = False  # of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from typing import Any, Optional, Sequence, Union

    from . import _search

    _Axis = Union[None, int, Sequence[int]]

from . import _smelt, _tree
from ._array import Array
from ._create import asarray
from ._functions import _indices
from ._smelt import UserError

__all__ = [
    "abs", "all", "any", "arange", "argmax", "argmin", "argsort", "broadcast_arrays", "broadcast_to", "ceil", "clip", "concat", "conj",
    "count_nonzero", "cumulative_prod", "cumulative_sum", "diff", "empty_like", "expand_dims", "eye", "flip", "floor", "full",
    "full_like", "imag", "linspace", "logaddexp", "matmul", "matrix_transpose", "max", "mean", "meshgrid", "min", "moveaxis",
    "nextafter", "nonzero", "ones", "ones_like", "permute_dims", "positive", "pow", "prod", "real", "repeat", "reshape", "roll", "round",
    "searchsorted", "sign", "signbit", "sort", "squeeze", "std", "sum", "take", "take_along_axis", "tensordot", "tile", "trunc",
    "unique_all", "unique_counts", "unique_inverse", "unique_values", "unstack", "var", "vecdot", "where", "zeros", "zeros_like",
]

_call = _smelt.call
_bool = _smelt.bool
_FLOAT, _INT = ("float",), ("signed", "unsigned")


def _array(x: Any) -> Array:
    return x if isinstance(x, Array) else asarray(x)


def _pair(name: str, a: Any, b: Any) -> tuple[Array, Array]:
    # Two operands, of which one may be a number of Python that takes the dtype of the other.
    if not isinstance(a, Array) and not isinstance(b, Array):
        raise TypeError(f"{name}: one argument at least is an array")
    if not isinstance(a, Array) and _tree.is_number(a):
        a = _call("full", (), a, b.dtype)
    if not isinstance(b, Array) and _tree.is_number(b):
        b = _call("full", (), b, a.dtype)
    return _array(a), _array(b)


def _only(name: str, x: Array, kinds: Sequence[str]) -> None:
    if x.dtype.kind not in kinds:
        raise TypeError(f"{name}: no {x.dtype.name}")


# ---- creation

def _device(x: Array, device: Optional[str]) -> Array:
    return x if device is None or device == "cpu" else x.to_device(device)


def _device_like(x: Array, device: Optional[str]) -> Optional[str]:
    return x.device if device is None and not _smelt.tracing() else device


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Optional[str] = None) -> Array:
    """An array of one value."""
    if isinstance(fill_value, float) and dtype is None:
        dtype = _smelt.float32
    if not _smelt.tracing() and isinstance(fill_value, (bool, int, float)):
        # The value is data, so that another one needs no other program.
        return _call("broadcast_to", _device(asarray(fill_value, dtype=dtype), device), shape)
    return _device(_call("full", shape, fill_value, None if dtype is None else _smelt.dtype(dtype)), device)


def zeros(shape: Any, *, dtype: Any = None, device: Optional[str] = None) -> Array:
    """Zeros."""
    if device is not None and device != "cpu":
        return full(shape, 0, dtype=dtype or _smelt.float32, device=device)
    return _call("zeros", shape, _smelt.dtype(dtype or _smelt.float32))


def ones(shape: Any, *, dtype: Any = None, device: Optional[str] = None) -> Array:
    """Ones."""
    if device is not None and device != "cpu":
        return full(shape, 1, dtype=dtype or _smelt.float32, device=device)
    return _call("ones", shape, _smelt.dtype(dtype or _smelt.float32))


def full_like(x: Array, /, fill_value: Any, *, dtype: Any = None, device: Optional[str] = None) -> Array:
    """One value in the shape of x."""
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=_device_like(x, device))


def zeros_like(x: Array, /, *, dtype: Any = None, device: Optional[str] = None) -> Array:
    """Zeros in the shape of x."""
    return zeros(x.shape, dtype=dtype or x.dtype, device=_device_like(x, device))


def ones_like(x: Array, /, *, dtype: Any = None, device: Optional[str] = None) -> Array:
    """Ones in the shape of x."""
    return ones(x.shape, dtype=dtype or x.dtype, device=_device_like(x, device))


def empty_like(x: Array, /, *, dtype: Any = None, device: Optional[str] = None) -> Array:
    """An array in the shape of x, with whatever elements."""
    return zeros_like(x, dtype=dtype, device=device)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Optional[str] = None) -> Array:
    """start, start + step, ... below stop; arange(n) starts at 0."""
    if stop is None:
        start, stop = 0, start
    if dtype is None:
        floats = builtins_any(isinstance(v, float) for v in (start, stop, step))
        dtype = _smelt.float32 if floats else _smelt.int64
    dtype = _smelt.dtype(dtype)
    if _smelt.tracing() or builtins_any(isinstance(v, (_smelt.Size, Array)) for v in (start, stop, step)):
        return _device(_call("arange", start, stop, step, dtype), device)
    if step == 0:
        raise ValueError("arange: the step is 0")
    count = _count(start, stop, step)
    places = _call("arange", 0, count, 1, _smelt.int64)
    if builtins_all(isinstance(v, int) for v in (start, stop, step)):
        made = places * _exact(step) + _exact(start)
    else:
        made = _call("astype", places, _smelt.float64) * asarray(float(step), dtype=_smelt.float64) + asarray(
            float(start), dtype=_smelt.float64
        )
    return _device(_call("astype", made, dtype) if made.dtype != dtype else made, device)


def _exact(n: int) -> Array:
    n = n % (1 << 64)
    return asarray(n - (1 << 64) if n >= 1 << 63 else n, dtype=_smelt.int64)


def _count(start: Any, stop: Any, step: Any) -> int:
    import math

    if builtins_all(isinstance(v, int) for v in (start, stop, step)):
        return int(builtins_max(0, -((start - stop) // step)))
    if builtins_all(math.isfinite(v) for v in (start, stop, step)):
        return builtins_max(0, math.ceil((float(stop) - float(start)) / float(step)))
    raise ValueError(f"arange: not finite: {start}, {stop}, {step}")


def linspace(start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Optional[str] = None, endpoint: bool = True) -> Array:
    """Numbers at equal distances, the first and (with endpoint) the last as given."""
    dtype = _smelt.dtype(dtype or _smelt.float32)
    if num < 0:
        raise ValueError(f"linspace: {num} numbers\nhelp: num is 0 or more")
    parts = num - 1 if endpoint else num
    a, b = asarray(float(start), dtype=_smelt.float64), asarray(float(stop), dtype=_smelt.float64)
    places = _call("astype", _call("arange", 0, num, 1, _smelt.int64), _smelt.float64)
    made = a + places * ((b - a) / builtins_max(parts, 1))
    if endpoint and num > 1:
        made = _call("where", places == float(num - 1), b, made)
    return _device(_call("astype", made, dtype), device)


def eye(n_rows: int, n_cols: Optional[int] = None, /, *, k: int = 0, dtype: Any = None, device: Optional[str] = None) -> Array:
    """Ones on a diagonal, zeros elsewhere."""
    columns = n_rows if n_cols is None else n_cols
    rows = _call("arange", 0, n_rows, 1, _smelt.int64)
    places = _call("arange", 0, columns, 1, _smelt.int64)
    if isinstance(k, int) and not -(2**62) < k < 2**62:  # no array has such a diagonal, and k is no int64
        k = 2**62 if k > 0 else -(2**62)
    on = _call("expand_dims", rows, 1) + k == _call("expand_dims", places, 0)
    return _device(_call("astype", on, _smelt.dtype(dtype or _smelt.float32)), device)


def meshgrid(*arrays: Array, indexing: str = "xy") -> list[Array]:
    """Coordinates on the grid of these vectors."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is 'xy' or 'ij', not {indexing!r}")
    n = len(arrays)
    swap = indexing == "xy" and n > 1
    made = []
    for i, x in enumerate(arrays):
        axis = 1 - i if swap and i < 2 else i
        made.append(_call("reshape", x, [1] * axis + [x.size] + [1] * (n - 1 - axis)))
    return broadcast_arrays(*made)


# ---- elementwise

def abs(x: Array, /) -> Array:
    """Absolute value."""
    return x if x.dtype.kind == "unsigned" else _call("abs", x)


def _whole(name: str) -> Any:
    def rounding(x: Array, /) -> Array:
        return x if x.dtype.kind in _INT else _call(name, x)

    rounding.__name__ = name
    rounding.__doc__ = f"{name} of floats; integers are as they are."
    return rounding


ceil, floor, trunc, round = _whole("ceil"), _whole("floor"), _whole("trunc"), _whole("round")


def positive(x: Array, /) -> Array:
    """x itself, of numbers."""
    return _smelt.unary("+", x)


def sign(x: Any, /) -> Array:
    """-1, 0 or 1; of -0.0 it is 0.0, of nan nan."""
    made = _call("sign", x)
    return made + 0.0 if made.dtype.kind == "float" else made


def signbit(x: Array, /) -> Array:
    """Whether the sign is negative, of -0 and nan too."""
    _only("signbit", x, _FLOAT)
    return _call("copysign", _call("ones_like", x), x) < 0


def conj(x: Array, /) -> Array:
    """x: smelt has no complex numbers."""
    return positive(x)


def real(x: Array, /) -> Array:
    """x: smelt has no complex numbers."""
    return positive(x)


def imag(x: Array, /) -> Array:
    """0: smelt has no complex numbers."""
    return zeros_like(x)


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """minimum(maximum(x, min), max); nan stays nan; a bound that is None does not bound."""
    made = x
    for bound, name in ((min, "maximum"), (max, "minimum")):
        if bound is None:
            continue
        if isinstance(bound, (bool, int, float)):
            if isinstance(bound, float) and x.dtype.kind != "float":
                raise TypeError(f"clip: the bound {bound} of {x.describe()} is no integer")
            bound = asarray(bound, dtype=x.dtype)
        elif bound.dtype != x.dtype:
            bound = _call("astype", bound, x.dtype)
        made = _call(name, made, bound)
    return _smelt.alias(made) if made is x else made


def logaddexp(x1: Any, x2: Any, /) -> Array:
    """log(exp(x1) + exp(x2)) without overflow."""
    a, b = _pair("logaddexp", x1, x2)
    high, low = _call("maximum", a, b), _call("minimum", a, b)
    # Equal infinities have no difference.
    distance = _call("where", high == low, _call("zeros_like", high), low - high)
    return high + _call("log1p", _call("exp", distance))


def nextafter(x1: Any, x2: Any, /) -> Array:
    """The next number after x1 in the direction of x2."""
    a, b = _pair("nextafter", x1, x2)
    common = _smelt.promote(a.dtype, b.dtype)
    a, b = broadcast_arrays(_call("astype", a, common), _call("astype", b, common))
    flat = _smelt.nextafter(_call("flatten", a), _call("flatten", b))
    return _call("reshape", flat, a.shape)


def pow(x1: Any, x2: Any, /) -> Array:
    """x1 ** x2."""
    a, b = _pair("pow", x1, x2)
    return _call("pow", a, b)


def where(condition: Any, x1: Any, x2: Any, /) -> Array:
    """x1 where condition is true, else x2."""
    if _smelt.tracing() or not (isinstance(x1, Array) or isinstance(x2, Array)):
        return _call("where", condition, x1, x2)
    a, b = _pair("where", x1, x2)
    return _call("where", condition, a, b)


# ---- reductions

def _reduced(name: str, x: Any, axis: _Axis, keepdims: bool, *more: Any) -> Array:
    if isinstance(axis, (tuple, list)) and len(axis) == 0:
        axis = ()
    return _call(name, x, axis, *more, keepdims)


def _accumulated(x: Array, dtype: Any) -> Array:
    if dtype is not None:
        return x if x.dtype == dtype else _call("astype", x, _smelt.dtype(dtype))
    if x.dtype.kind == "signed" and x.dtype.itemsize < 8:
        return _call("astype", x, _smelt.int64)
    if x.dtype.kind == "unsigned" and x.dtype.itemsize < 8:
        return _call("astype", x, _smelt.uint64)
    return x


def _narrowed(x: Array, dtype: Any) -> Array:
    # Integers are added up in 64 bits; the low bits are those of a narrower dtype.
    return x if dtype is None or x.dtype == dtype else _call("wrap_cast", x, _smelt.dtype(dtype))


def sum(x: Any, /, axis: _Axis = None, keepdims: bool = False, *, dtype: Any = None) -> Array:
    """Sum; integers as 64 bits."""
    return _narrowed(_reduced("sum", _accumulated(_array(x), dtype), axis, keepdims), dtype)


def prod(x: Any, /, axis: _Axis = None, keepdims: bool = False, *, dtype: Any = None) -> Array:
    """Product; integers as 64 bits."""
    return _narrowed(_reduced("prod", _accumulated(_array(x), dtype), axis, keepdims), dtype)


def max(x: Any, /, axis: _Axis = None, keepdims: bool = False) -> Array:
    """Largest element; nan if there is one."""
    return _reduced("max", x, axis, keepdims)


def min(x: Any, /, axis: _Axis = None, keepdims: bool = False) -> Array:
    """Smallest element; nan if there is one."""
    return _reduced("min", x, axis, keepdims)


def mean(x: Any, /, axis: _Axis = None, keepdims: bool = False) -> Array:
    """Arithmetic mean."""
    return _reduced("mean", x, axis, keepdims)


def _deviation(name: str, x: Any, axis: _Axis, correction: Any, ddof: Optional[int], keepdims: bool) -> Array:
    freedom = ddof if ddof is not None else correction
    if freedom == int(freedom):
        return _call(name, x, axis, int(freedom), keepdims)
    x = _array(x)
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    n: Any = 1
    for a in axes:
        n = n * x.shape[a]
    made = _call("var", x, axis, 0, keepdims) * (n / builtins_max(n - freedom, 0.0) if n > freedom else float("nan"))
    return _call("sqrt", made) if name == "std" else made


def var(x: Any, /, axis: _Axis = None, ddof: Optional[int] = None, keepdims: bool = False, *, correction: float = 0.0) -> Array:
    """Variance: the sum of squares by n - correction."""
    return _deviation("var", x, axis, correction, ddof, keepdims)


def std(x: Any, /, axis: _Axis = None, ddof: Optional[int] = None, keepdims: bool = False, *, correction: float = 0.0) -> Array:
    """Standard deviation, as var()."""
    return _deviation("std", x, axis, correction, ddof, keepdims)


def _truth(x: Any) -> Array:
    x = _array(x)
    return x if x.dtype == _bool else x != 0  # type: ignore[no-any-return]


def all(x: Any, /, axis: _Axis = None, keepdims: bool = False) -> Array:
    """Whether all elements are true, or not 0."""
    return _reduced("all", _truth(x), axis, keepdims)


def any(x: Any, /, axis: _Axis = None, keepdims: bool = False) -> Array:
    """Whether any element is true, or not 0."""
    return _reduced("any", _truth(x), axis, keepdims)


def count_nonzero(x: Array, /, *, axis: _Axis = None, keepdims: bool = False) -> Array:
    """How many elements are not 0."""
    return _reduced("sum", _call("astype", _truth(x), _smelt.int64), axis, keepdims)


def argmax(x: Any, /, axis: Optional[int] = None, keepdims: bool = False) -> Array:
    """Index of the first largest element, or of the first nan; of the flattened array without an axis."""
    return _reduced("argmax", x, axis, keepdims)


def argmin(x: Any, /, axis: Optional[int] = None, keepdims: bool = False) -> Array:
    """Index of the first smallest element, or of the first nan; of the flattened array without an axis."""
    return _reduced("argmin", x, axis, keepdims)


def _running(name: str, start: int, x: Array, axis: Optional[int], dtype: Any, include_initial: bool) -> Array:
    if axis is None:
        if x.ndim > 1:
            raise ValueError(f"{name}: axis= is not given, and x has {x.ndim} axes")
        axis = 0
    x = _accumulated(x, dtype)
    made = _narrowed(_call("cumsum" if start == 0 else "cumprod", x, axis), dtype)
    if not include_initial:
        return made
    shape = list(x.shape)
    shape[axis] = 1
    return _call("concat", [full(tuple(shape), start, dtype=made.dtype), made], axis)


def cumulative_sum(x: Array, /, *, axis: Optional[int] = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """Running sum along an axis."""
    return _running("cumulative_sum", 0, x, axis, dtype, include_initial)


def cumulative_prod(x: Array, /, *, axis: Optional[int] = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """Running product along an axis."""
    return _running("cumulative_prod", 1, x, axis, dtype, include_initial)


def diff(x: Array, /, *, axis: int = -1, n: int = 1, prepend: Optional[Array] = None, append: Optional[Array] = None) -> Array:
    """Differences of neighbours along an axis, n times."""
    parts = [part for part in (prepend, x, append) if part is not None]
    made = parts[0] if len(parts) == 1 else _call("concat", parts, axis)
    before = (slice(None),) * (axis % x.ndim)
    for _ in range(n):
        later, earlier = made[(*before, slice(1, None))], made[(*before, slice(None, -1))]
        made = later ^ earlier if made.dtype == _bool else later - earlier
    return made


# ---- movement

def reshape(x: Any, /, shape: Any, *more: int, copy: Optional[bool] = None) -> Array:
    """The same elements, row by row, in another shape; one size may be -1."""
    if more:
        shape = (shape, *more)
    return _call("reshape", x, shape)


def broadcast_to(x: Any, /, shape: Any, *more: int) -> Array:
    """x repeated along axes of size 1, without a copy."""
    if more:
        shape = (shape, *more)
    return _call("broadcast_to", x, shape)


def broadcast_arrays(*arrays: Array) -> list[Array]:
    """The arrays in the one shape that they broadcast to."""
    ndim = builtins_max((x.ndim for x in arrays), default=0)
    sizes: list[Any] = []
    for axis in range(-ndim, 0):
        size: Any = 1
        for x in arrays:
            if -axis <= x.ndim and (isinstance(size, int) and size == 1):
                size = x.shape[axis]
        sizes.append(size)
    return [_call("broadcast_to", x, tuple(sizes)) for x in arrays]


def permute_dims(x: Any, /, axes: Any, *more: int) -> Array:
    """The axes in another order."""
    return _call("transpose", x, (axes, *more) if more else axes)


def matrix_transpose(x: Array, /) -> Array:
    """The last two axes exchanged."""
    return x.mT


def expand_dims(x: Any, /, axis: _Axis = 0) -> Array:
    """A new axis of size 1."""
    ndim = _array(x).ndim
    if isinstance(axis, int) and not -ndim - 1 <= axis <= ndim:
        raise IndexError(f"expand_dims: axis {axis} is out of range for a result of {ndim + 1} axes")
    return _call("expand_dims", x, axis)


def squeeze(x: Any, /, axis: _Axis = None) -> Array:
    """Without axes of size 1."""
    if isinstance(axis, (tuple, list)) and len(axis) == 0:
        return _smelt.alias(x)
    return _call("squeeze", x, axis)


def flip(x: Any, /, axis: _Axis = None) -> Array:
    """Elements in reverse order along axes."""
    if _array(x).ndim == 0:
        return _array(x)
    return _call("flip", x, axis)


def roll(x: Any, /, shift: Any, axis: _Axis = None) -> Array:
    """Elements moved along axes, from the end back to the start."""
    return _call("roll", x, shift, axis)


def moveaxis(x: Any, source: Any, destination: Any, /) -> Array:
    """Axes moved to other places."""
    return _call("moveaxis", x, source, destination)


def repeat(x: Any, repeats: Any, /, axis: Optional[int] = None) -> Array:
    """Each element several times."""
    if isinstance(repeats, int):
        return _call("repeat", x, repeats, axis)
    if isinstance(repeats, Array) and repeats.size == 1:
        return _call("repeat", x, int(repeats), axis)
    # Element i of the result is the one up to whose end the repeats count more than i.
    x = _array(x)
    if axis is None:
        x, axis = _call("flatten", x), 0
    ends = cumulative_sum(_call("astype", _array(repeats), _smelt.int64), axis=0)
    count = int(ends[-1]) if ends.size else 0
    places = _smelt.searchsorted(ends, _call("arange", 0, count, 1, _smelt.int64), True)
    return _call("take", x, places, axis)


def tile(x: Any, repetitions: Any, /, *more: int) -> Array:
    """x several times along each axis."""
    reps = (repetitions,) if isinstance(repetitions, int) else tuple(repetitions)
    reps = (*reps, *more)
    ndim = _array(x).ndim
    return _call("tile", x, (1,) * (ndim - len(reps)) + reps)


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The arrays along an axis."""
    if not -x.ndim <= axis < x.ndim:
        raise IndexError(f"unstack: {x.describe()} has no axis {axis}")
    before = (slice(None),) * (axis % x.ndim)
    return tuple(_smelt.subscript(x, (*before, i)) for i in range(int(x.shape[axis])))


def take(x: Any, indices: Any, /, axis: Optional[int] = None, mode: str = "raise") -> Array:
    """x[indices] along an axis; indices below 0 count from the end."""
    return _call("take", x, _indices(indices), 0 if axis is None and _array(x).ndim == 1 else axis, mode)


def take_along_axis(x: Any, indices: Any, /, axis: int = -1, mode: str = "raise") -> Array:
    """The elements at these indices of the axis, each in its own row."""
    return _call("take_along_axis", x, _indices(indices), axis, mode)


def concat(arrays: Sequence[Any], /, *, axis: Optional[int] = 0) -> Array:
    """Arrays one after the other along an axis; flattened ones without an axis."""
    if axis is None:
        return _call("concat", [_call("flatten", x) for x in arrays], 0)
    return _call("concat", arrays, axis)


# ---- sorting, searching, sets

def _last(x: Array, axis: int, along: Any) -> Array:
    # `along` works along the last axis.
    if x.ndim == 0:
        raise UserError(f"{x.describe()} has no axis to sort along")
    if axis in (-1, x.ndim - 1):
        return along(x)  # type: ignore[no-any-return]
    return _call("swapaxes", along(_call("swapaxes", x, axis, -1)), axis, -1)


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """In order along an axis, nan last; equal elements stay in their order."""
    return _last(x, axis, lambda y: _smelt.sort(y, descending))


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The indices that put x in order along an axis, nan last; equal elements stay in their order."""
    return _last(x, axis, lambda y: _smelt.argsort(y, descending))


def searchsorted(x1: Array, x2: Any, /, *, side: str = "left", sorter: Optional[Array] = None) -> Array:
    """Where elements of x2 belong in x1, which is in order (or is when sorter is taken), before or after equal ones."""
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is 'left' or 'right', not {side!r}")
    if sorter is not None:
        x1 = _call("take", x1, sorter, 0)
    if not isinstance(x2, Array):
        x2 = asarray(x2, dtype=x1.dtype if _tree.is_number(x2) else None)
    common = _smelt.promote(x1.dtype, x2.dtype)
    flat = _call("astype", _call("flatten", x2), common)
    return _call("reshape", _smelt.searchsorted(_call("astype", x1, common), flat, side == "right"), x2.shape)


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """The indices of the elements that are not 0, an array for each axis."""
    from . import _search

    return _search.nonzero(x)


def unique_all(x: Array, /) -> _search.UniqueAll:
    """The different elements in order, where each is first, which one each element is, and how many there are. Every nan is one."""
    from . import _search

    return _search.unique_all(x)


def unique_counts(x: Array, /) -> _search.UniqueCounts:
    """The different elements in order, and how many of each there are."""
    from . import _search

    return _search.UniqueCounts(*unique_all(x)[::3])


def unique_inverse(x: Array, /) -> _search.UniqueInverse:
    """The different elements in order, and which one each element is."""
    from . import _search

    return _search.UniqueInverse(*unique_all(x)[::2])


def unique_values(x: Array, /) -> Array:
    """The different elements in order."""
    return unique_all(x).values


from ._linear import matmul, tensordot, vecdot  # noqa: E402
from builtins import all as builtins_all, any as builtins_any, max as builtins_max  # noqa: E402
