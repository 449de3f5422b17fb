"""The array: operators, conversions, printing. Its other methods are in _methods.py."""

from __future__ import annotations

TYPE_CHECKING = False  # of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from typing import Any, Iterator, Protocol, Union

    class SupportsDLPack(Protocol):
        """An array of another library."""

        def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...


from . import _smelt
from ._methods import Methods


class Array(Methods):
    """A multidimensional array, or a value that is not calculated yet.

    Operators and functions of arrays give values that are calculated when somebody looks: `print`, `float`, a mask, `smelt.eval`.
    Inside of a function under `smelt.jit` nothing is calculated, and looking is an error.
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        # `numpy_array * x` and numpy.exp(x) are the function of this module that has the name.
        import smelt

        function = getattr(smelt, ufunc.__name__, None)
        if method == "__call__" and not kwargs and function is not None:
            return function(*inputs) if all(map(_is_operand, inputs)) else NotImplemented
        called = f"numpy.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
        options = f" with {'=, '.join(kwargs)}=" if kwargs else ""
        raise _smelt.UserError(
            f"{called}{options} cannot be applied to {self.describe()}, an array of smelt\n"
            "help: write functions and methods of smelt, or x.numpy() for NumPy's outside of a traced function"
        )

    # ---- operators

    def __add__(self, other: Any) -> Array:
        return _binary("+", self, other)

    def __radd__(self, other: Any) -> Array:
        return _binary("+", other, self)

    def __sub__(self, other: Any) -> Array:
        return _binary("-", self, other)

    def __rsub__(self, other: Any) -> Array:
        return _binary("-", other, self)

    def __mul__(self, other: Any) -> Array:
        return _binary("*", self, other)

    def __rmul__(self, other: Any) -> Array:
        return _binary("*", other, self)

    def __truediv__(self, other: Any) -> Array:
        return _binary("/", self, other)

    def __rtruediv__(self, other: Any) -> Array:
        return _binary("/", other, self)

    def __floordiv__(self, other: Any) -> Array:
        return _binary("//", self, other)

    def __rfloordiv__(self, other: Any) -> Array:
        return _binary("//", other, self)

    def __mod__(self, other: Any) -> Array:
        return _binary("%", self, other)

    def __rmod__(self, other: Any) -> Array:
        return _binary("%", other, self)

    def __pow__(self, other: Any) -> Array:
        return _binary("**", self, other)

    def __rpow__(self, other: Any) -> Array:
        return _binary("**", other, self)

    def __and__(self, other: Any) -> Array:
        return _binary("&", self, other)

    def __rand__(self, other: Any) -> Array:
        return _binary("&", other, self)

    def __or__(self, other: Any) -> Array:
        return _binary("|", self, other)

    def __ror__(self, other: Any) -> Array:
        return _binary("|", other, self)

    def __xor__(self, other: Any) -> Array:
        return _binary("^", self, other)

    def __rxor__(self, other: Any) -> Array:
        return _binary("^", other, self)

    def __lshift__(self, other: Any) -> Array:
        return _binary("<<", self, other)

    def __rlshift__(self, other: Any) -> Array:
        return _binary("<<", other, self)

    def __rshift__(self, other: Any) -> Array:
        return _binary(">>", self, other)

    def __rrshift__(self, other: Any) -> Array:
        return _binary(">>", other, self)

    def __eq__(self, other: Any) -> Array:  # type: ignore[override]
        return _binary("==", self, other)

    def __ne__(self, other: Any) -> Array:  # type: ignore[override]
        return _binary("!=", self, other)

    def __lt__(self, other: Any) -> Array:
        return _binary("<", self, other)

    def __le__(self, other: Any) -> Array:
        return _binary("<=", self, other)

    def __gt__(self, other: Any) -> Array:
        return _binary(">", self, other)

    def __ge__(self, other: Any) -> Array:
        return _binary(">=", self, other)

    def __neg__(self) -> Array:
        return _smelt.unary("-", self)

    def __pos__(self) -> Array:
        return _smelt.unary("+", self)

    def __invert__(self) -> Array:
        return _smelt.unary("~", self)

    def __abs__(self) -> Array:
        return _smelt.call("abs", self)

    def __matmul__(self, other: Any) -> Array:
        from . import _linear

        return _linear.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Array:
        from . import _linear

        return _linear.matmul(_smelt.to_array(other), self)

    # ---- subscripts

    def __getitem__(self, key: Any) -> Array:
        from . import _index

        return _index.get(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Makes this handle the array with the elements replaced; arrays that it was made of keep theirs."""
        from . import _index

        _smelt.assign(self, _index.updated(self, key, value))

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of an array without axes")
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Array]:
        if self.ndim == 0:
            raise TypeError("iteration over an array without axes")
        if not _smelt.tracing():
            _smelt.eval([self])  # once for all of them
        for i in range(len(self)):
            yield self[i]

    # ---- what it is

    @property
    def size(self) -> int:
        """The number of elements."""
        count = 1
        for extent in self.shape:
            count = count * extent
        return count

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def device(self) -> str:
        """Where the data is: "cpu", "cuda", "cuda:1"."""
        return self.device_name

    @property
    def T(self) -> Array:
        """The two axes exchanged; of more axes, all reversed."""
        return _smelt.call("transpose", self)

    @property
    def mT(self) -> Array:
        """The last two axes exchanged."""
        if self.ndim < 2:
            raise _smelt.UserError(f"mT: {self.describe()} has no two axes")
        return _smelt.call("swapaxes", self, -1, -2)

    def to_device(self, device: str, /, *, stream: Any = None) -> Array:
        """The data on this device; the array itself when it is there."""
        if stream is not None:
            raise ValueError("to_device: smelt takes no stream here")
        if device != "cpu" and not device.startswith("cuda"):
            raise ValueError(f"to_device: no device {device!r}; 'cpu', 'cuda' and 'cuda:1' are")
        _smelt.eval([self])
        return self if self.device == device.removesuffix(":0") else self.to_device_named(device)

    # ---- reading

    def item(self, *index: int) -> Union[bool, int, float]:
        """The one element as a number of Python, or the element at an index."""
        looked_at(self, "item()")
        if index:
            return self.read_item(list(index))
        if self.size != 1:
            raise ValueError(f"item(): {self.describe()} has {self.size} elements, not one")
        return self.read_item([0] * self.ndim)

    def tolist(self) -> Any:
        """Nested lists of Python's numbers."""
        looked_at(self, "tolist()")
        if self.ndim == 0:
            return self.item()
        return [row.tolist() for row in self]

    def _scalar(self, asked_by: str) -> Union[bool, int, float]:
        looked_at(self, asked_by)
        if self.size != 1:
            raise TypeError(f"{asked_by}: only an array of one element is a number, and this is {self.describe()}")
        return self.read_item([0] * self.ndim)

    def __bool__(self) -> bool:
        return bool(self._scalar("bool()"))

    def __int__(self) -> int:
        return int(self._scalar("int()"))

    def __float__(self) -> float:
        return float(self._scalar("float()"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex()"))

    def __index__(self) -> int:
        if self.dtype.kind not in ("signed", "unsigned"):
            raise TypeError(f"an index is an integer, not {self.describe()}")
        return int(self._scalar("index()"))

    def numpy(self) -> Any:
        """The elements as an array of NumPy, without a copy where that is possible."""
        import numpy

        looked_at(self, "numpy()")
        return numpy.from_dlpack(_on_host(self))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        made = self.numpy()
        if dtype is not None and made.dtype != dtype:
            if copy is False:
                raise ValueError("__array__: another dtype takes a copy")
            return made.astype(dtype)
        return made.copy() if copy else made

    # ---- exchange

    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            raise ValueError(f"smelt has the Array API 2024.12, not {api_version}")
        import smelt

        return smelt

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any:
        looked_at(self, "__dlpack__()")
        if dl_device is not None and tuple(dl_device) != self.dlpack_device():
            if tuple(dl_device) != (1, 0) or copy is False:
                raise BufferError(f"the data is on {self.device}, and moves by to_device()")
            return _on_host(self).dlpack_capsule(max_version is not None and max_version[0] >= 1)
        given = self.contiguous() if copy else self
        # Who names no stream of a GPU means the default one (1), and who waits on its own says -1.
        in_stream = None if stream == -1 or self.dlpack_device()[0] != 2 else stream or 1
        return given.dlpack_capsule(max_version is not None and max_version[0] >= 1, in_stream)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.dlpack_device()

    def __copy__(self) -> Array:
        return _smelt.alias(self)

    def __deepcopy__(self, memo: Any) -> Array:
        looked_at(self, "deepcopy()")
        return _on_host(self).contiguous()

    def __reduce__(self) -> Any:
        looked_at(self, "pickle")
        host = _on_host(self).contiguous()
        return _unpickled, (host.to_bytes(), self.dtype.name, tuple(int(n) for n in self.shape))

    # ---- printing

    def __repr__(self) -> str:
        if _smelt.tracing():
            return f"<{self.describe()}, being traced>"
        return _text(self, "array(", ", ") + f", dtype={self.dtype.name})"

    def __str__(self) -> str:
        if _smelt.tracing():
            return repr(self)
        return _text(self, "", " ")

    def _repr_html_(self) -> str:
        import html

        if _smelt.tracing():
            return f"<code>{html.escape(repr(self))}</code>"
        if self.ndim == 0 or self.ndim > 2 or not all(self.shape):
            return f"<pre>{html.escape(repr(self))}</pre>"
        rows = self if self.ndim == 2 else self[None, :]
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_number(v))}</td>" for v in row) + "</tr>" for row in _shortened(rows)
        )
        return f"<div><code>{html.escape(self.describe())}</code><table>{body}</table></div>"


if TYPE_CHECKING:
    ArrayLike = Union[Array, bool, int, float, SupportsDLPack]
else:
    ArrayLike = object


def _binary(op: str, a: Any, b: Any) -> Array:
    if not (_is_operand(a) and _is_operand(b)):
        return NotImplemented  # type: ignore[no-any-return]
    return _smelt.binary(op, a, b)


def _is_operand(x: Any) -> bool:
    return isinstance(x, (_smelt.Array, bool, int, float, _smelt.Size)) or hasattr(x, "__dlpack__") or hasattr(x, "__array__")


def looked_at(x: Array, asked_by: str) -> None:
    """Calculates x for somebody who wants its elements."""
    if _smelt.tracing():
        help = {
            "numpy()": "smelt's functions, such as smelt.sort(x), may be traced, and those of NumPy may not; what only NumPy has is "
            "called outside of the function",
            "item()": "leave it an array, which arithmetic takes like a number",
        }
        branch = "smelt.where(condition, a, b) chooses by elements; a Python value that chooses between programs is named in static="
        raise _smelt.UserError(
            f"{asked_by}: {x.describe()} is an array of a function that is being traced, and has no value yet\n"
            f"help: {help.get(asked_by, branch)}"
        )
    _smelt.eval([x])


def _on_host(x: Array) -> Array:
    return x if x.device_name == "cpu" else x.to_device_named("cpu")


def _unpickled(data: bytes, dtype: str, shape: tuple[int, ...]) -> Array:
    return _smelt.from_bytes(data, dtype, list(shape))


_EDGE = 3  # items that are shown at each end of a long axis
_MANY = 1000  # elements from which on an array is shortened


def _number(v: Any) -> str:
    if v is None:
        return "..."
    return f"{v:.8g}" if isinstance(v, float) else str(v)


def _shortened(x: Any) -> Any:
    # Nested lists, None in place of what is left out.
    if x.ndim == 0:
        return x.item()
    n = len(x)
    if x.size <= _MANY or n <= 2 * _EDGE:
        return [_shortened(row) for row in x] if x.size > _MANY else x.tolist()
    edges = list(range(_EDGE)) + list(range(n - _EDGE, n))
    rows = [_shortened(x[i]) for i in edges]
    return rows[:_EDGE] + [None if x.ndim == 1 else [None]] + rows[_EDGE:]


def _text(x: Array, head: str, separator: str) -> str:
    looked_at(x, "print()")
    x = _on_host(x)

    def text(rows: Any, indent: int) -> str:
        if not isinstance(rows, list):
            return _number(rows)
        if rows and isinstance(rows[0], list):
            between = separator.rstrip() + "\n" + " " * (indent + 1)
            return "[" + between.join(text(row, indent + 1) for row in rows) + "]"
        return "[" + separator.join(_number(v) for v in rows) + "]"

    return head + text(_shortened(x), len(head))


_smelt.set_array_class(Array)
