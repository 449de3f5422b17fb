"""What the Array API standard asks of dtypes."""

from __future__ import annotations

TYPE_CHECKING = False  # of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from typing import Any, Sequence, Union

from . import _smelt, _tree
from ._array import Array
from ._smelt import DType

__all__ = ["__array_namespace_info__", "astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]

_INTEGERS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}
# Bits of the mantissa; exponents of the largest and of the smallest normal number.
_FLOATS = {
    "float8_e4m3fn": (3, 8, -6),
    "float8_e5m2": (2, 15, -14),
    "float16": (10, 15, -14),
    "bfloat16": (7, 127, -126),
    "float32": (23, 127, -126),
    "float64": (52, 1023, -1022),
}
_KINDS = {
    "bool": ("bool",),
    "signed integer": ("signed",),
    "unsigned integer": ("unsigned",),
    "integral": ("signed", "unsigned"),
    "real floating": ("float",),
    "complex floating": (),
    "numeric": ("signed", "unsigned", "float"),
}


class iinfo:
    """The limits of an integer dtype."""

    def __init__(self, type: Any, /) -> None:
        self.dtype = type.dtype if isinstance(type, Array) else _smelt.dtype(type)
        if self.dtype.kind not in ("signed", "unsigned"):
            raise ValueError(f"iinfo: {self.dtype.name} is no integer")
        self.bits = _INTEGERS[self.dtype.name]
        signed = self.dtype.kind == "signed"
        self.max = 2 ** (self.bits - signed) - 1
        self.min = -(2 ** (self.bits - 1)) if signed else 0


class finfo:
    """The limits of a float dtype."""

    def __init__(self, type: Any, /) -> None:
        self.dtype = type.dtype if isinstance(type, Array) else _smelt.dtype(type)
        if self.dtype.kind != "float":
            raise ValueError(f"finfo: {self.dtype.name} is no float")
        digits, exponent, lowest = _FLOATS[self.dtype.name]
        self.bits = self.dtype.itemsize * 8
        self.eps = 2.0**-digits
        # What the bits of the largest number of other formats are is NaN in float8_e4m3fn.
        self.max = (2 - self.eps * (1 + (self.dtype.name == "float8_e4m3fn"))) * 2.0**exponent
        self.min = -self.max
        self.smallest_normal = 2.0**lowest


def isdtype(dtype: DType, kind: Union[DType, str, tuple[Any, ...]]) -> bool:
    """Whether a dtype is of a kind: a dtype, "integral", "real floating" and so on, or one of several."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return dtype.kind in _KINDS[kind]
    if isinstance(kind, DType):
        return dtype == kind
    raise ValueError(f"isdtype: no kind {kind!r}; {', '.join(_KINDS)} are")


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether every promotion from one dtype may give the other."""
    of = from_.dtype if isinstance(from_, Array) else _smelt.dtype(from_)
    common = _smelt.promote(of, to)
    return common is not None and common == to


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype that arithmetic on these has."""
    dtypes = [x.dtype if isinstance(x, Array) or _tree.is_foreign_array(x) else x for x in arrays_and_dtypes]
    known = [x for x in dtypes if not isinstance(x, (bool, int, float))]
    if not known:
        raise ValueError("result_type: at least one array or dtype")
    common: Any = _smelt.dtype(known[0])
    for other in known[1:]:
        made = _smelt.promote(common, other)
        if made is None:
            raise TypeError(f"result_type: {common} and {other} have no dtype in common")
        common = made
    for number in (x for x in dtypes if isinstance(x, (bool, int, float))):
        kinds = ("bool",) if isinstance(number, bool) else ("float",) if isinstance(number, float) else ("signed", "unsigned", "float")
        if common.kind not in kinds:
            raise TypeError(f"result_type: {number!r} does not become {common}")
    return common  # type: ignore[no-any-return]


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """A saturating cast: floats to integers truncate, nan gives 0, everything but 0 is true."""
    made: Array = x if x.dtype == dtype and not copy else _smelt.call("astype", x, _smelt.dtype(dtype))
    return made if device is None else made.to_device(device)


class _Info:
    """What a namespace supports."""

    def capabilities(self) -> dict[str, Any]:
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self) -> str:
        return "cpu"

    def devices(self) -> list[str]:
        return ["cpu"] if _smelt.missing("cuda") else ["cpu", "cuda"]

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        return {"real floating": _smelt.float32, "integral": _smelt.int64, "indexing": _smelt.int64}

    def dtypes(self, *, device: Any = None, kind: Union[None, str, Sequence[str]] = None) -> dict[str, DType]:
        names = ("bool", *_INTEGERS, "float32", "float64")
        found = {name: getattr(_smelt, name) for name in names}
        if kind is None:
            return found
        return {name: dtype for name, dtype in found.items() if isdtype(dtype, tuple(kind) if not isinstance(kind, str) else kind)}


def __array_namespace_info__() -> _Info:
    """What this namespace supports, as the Array API standard asks it."""
    return _Info()
