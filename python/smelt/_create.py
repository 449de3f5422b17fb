"""Arrays from Python's numbers and from other libraries."""

from __future__ import annotations

TYPE_CHECKING = False  # of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from typing import Any, Optional

from . import _smelt, _tree
from ._array import Array, looked_at
from ._smelt import DType, UserError

_MOST_CONSTANTS = 256  # numbers that a traced function may have in one list
_MOST_STACKED = 32  # arrays that are stacked in one kernel


def asarray(x: Any, /, *, dtype: Any = None, device: Optional[str] = None, copy: Optional[bool] = None) -> Array:
    """An array of smelt: from numbers, nested lists of numbers, or an array of any library, whose memory it shares unless copy=True."""
    made = _converted(x, dtype, copy)
    if dtype is not None and made.dtype != dtype:
        if copy is False:
            raise ValueError(f"asarray: {made.describe()} as {_smelt.dtype(dtype)} takes a copy")
        made = _smelt.call("astype", made, _smelt.dtype(dtype))
    elif copy and not _is_number_like(x):
        made = _copied(made)
    if device is not None:
        made = made.to_device(device)
    return made


def _is_number_like(x: Any) -> bool:
    return isinstance(x, (bool, int, float, list, tuple))


def _copied(x: Array) -> Array:
    if _smelt.tracing():
        return _smelt.alias(x)
    looked_at(x, "copy")
    return x.contiguous()


def _converted(x: Any, dtype: Any, copy: Optional[bool]) -> Array:
    if isinstance(x, Array):
        return x
    if isinstance(x, _smelt.Size):
        return _smelt.call("full", (), x)
    if isinstance(x, (bool, int, float)) and not _tree.is_foreign_array(x) or isinstance(x, (list, tuple)):
        if copy is False:
            raise ValueError("asarray: numbers of Python are copied always")
        return _from_numbers(x, dtype)
    if isinstance(x, complex):
        raise UserError("asarray: smelt has no complex numbers")
    made = _smelt.foreign_array(x)
    if made is None and hasattr(x, "__array__"):
        made = _smelt.foreign_array(x.__array__())
    if made is None:
        raise TypeError(f"asarray: {type(x).__qualname__} is no array\nhelp: numbers, lists of them, and arrays of any library are")
    if _smelt.tracing():
        from ._jit import captured

        raise UserError(captured(x))
    return made


def _from_numbers(x: Any, dtype: Any) -> Array:
    flat: list[Any] = []
    shape = _collect(x, flat)
    if any(isinstance(v, Array) for v in flat):
        scalars = _of_scalars(flat, shape)
        if scalars is not None:
            return asarray(scalars, dtype=dtype)
        made = _smelt.call("stack", [asarray(v, dtype=dtype) for v in flat], 0)
        return _smelt.call("reshape", made, tuple(shape) + tuple(made.shape[1:]))
    if any(isinstance(v, complex) for v in flat):
        raise UserError("asarray: smelt has no complex numbers")
    kind = _smelt.dtype(dtype) if dtype is not None else _kind(flat)
    if _smelt.tracing():
        if len(flat) > _MOST_CONSTANTS:
            raise UserError(f"asarray: {len(flat)} numbers would become a part of the program\nhelp: pass them as an argument")
        if shape == []:
            return _smelt.call("full", (), flat[0], kind)
        if not flat:
            return _smelt.call("full", tuple(shape), 0, kind)
        return _smelt.call("reshape", _smelt.call("stack", [_smelt.call("full", (), v, kind) for v in flat], 0), tuple(shape))
    if kind.kind != "float" and any(isinstance(v, float) for v in flat):
        return _smelt.call("astype", _smelt.from_numbers(flat, shape, _smelt.float64), kind)
    return _smelt.from_numbers(flat, shape, kind)


def _of_scalars(flat: list[Any], shape: list[int]) -> Optional[Array]:
    """An array of many scalars, each evaluated by itself: they tend to be the same program, and all together are a long one."""
    first = flat[0]
    if _smelt.tracing() or len(flat) <= _MOST_STACKED:
        return None
    if not all(isinstance(v, Array) and v.ndim == 0 and v.dtype == first.dtype for v in flat):
        return None
    made: Array = _smelt.from_numbers([v.item() for v in flat], shape, first.dtype)
    return made if first.device == "cpu" else made.to_device(first.device)


def _collect(x: Any, flat: list[Any]) -> list[int]:
    if not isinstance(x, (list, tuple)):
        flat.append(x if isinstance(x, (bool, int, float, complex, Array)) else _number(x))
        return []
    shapes = [_collect(item, flat) for item in x]
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError("asarray: lists side by side have different lengths")
    return [len(x), *(shapes[0] if shapes else [])]


def _number(x: Any) -> Any:
    if hasattr(x, "__index__"):
        return x.__index__()
    if hasattr(x, "__float__"):
        return float(x)
    raise TypeError(f"asarray: {type(x).__qualname__} is no number")


def _kind(flat: list[Any]) -> DType:
    if flat and all(isinstance(v, bool) for v in flat):
        return _smelt.bool
    if all(isinstance(v, int) for v in flat) and flat:
        return _smelt.uint64 if max(flat) >= 1 << 63 else _smelt.int64
    return _smelt.float32


def from_dlpack(x: Any, /, *, device: Optional[str] = None, copy: Optional[bool] = None) -> Array:
    """An array of another library, whose memory it shares unless copy=True."""
    if device is not None and device not in ("cpu",) and not device.startswith("cuda"):
        raise ValueError(f"from_dlpack: no device {device!r}")
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack: {type(x).__qualname__} has no __dlpack__\nhelp: smelt.asarray() takes numbers and lists of them")
    made = asarray(x, copy=copy)
    return made.to_device(device) if device is not None else made


def empty(shape: Any, *, dtype: Any = None, device: Optional[str] = None) -> Array:
    """An array whose elements are whatever the memory has: for out=."""
    if _smelt.tracing():
        return _smelt.call("zeros", shape, _smelt.dtype(dtype or _smelt.float32))
    made: Array = _smelt.empty(shape, _smelt.dtype(dtype or _smelt.float32))
    return made if device is None else made.to_device(device)


def eval(*values: Any) -> None:
    """Calculates these values as one plan, so that what they share is calculated once."""
    flat: list[Any] = []
    for value in values:
        flat += value if isinstance(value, (list, tuple)) else [value]
    _smelt.eval(flat)
