"""The extension linalg of the Array API standard."""

from __future__ import annotations

import math

TYPE_CHECKING = False  # of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from typing import Any, Optional, Sequence, Union

    Axes = Union[None, int, Sequence[int]]

from . import _smelt, _standard
from ._array import Array
from ._dtypes import finfo
from ._smelt import UserError
from ._standard import matmul as matmul, matrix_transpose as matrix_transpose, tensordot as tensordot, vecdot as vecdot

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose",
    "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]

_call = _smelt.call


class SlogdetResult(tuple):  # type: ignore[type-arg]
    """What slogdet() gives."""

    __slots__ = ()
    _fields = ("sign", "logabsdet")
    sign: Array = property(lambda self: self[0])  # type: ignore[assignment]
    logabsdet: Array = property(lambda self: self[1])  # type: ignore[assignment]


class QRResult(tuple):  # type: ignore[type-arg]
    """What qr() gives."""

    __slots__ = ()
    _fields = ("Q", "R")
    Q: Array = property(lambda self: self[0])  # type: ignore[assignment]
    R: Array = property(lambda self: self[1])  # type: ignore[assignment]


class EighResult(tuple):  # type: ignore[type-arg]
    """What eigh() gives."""

    __slots__ = ()
    _fields = ("eigenvalues", "eigenvectors")
    eigenvalues: Array = property(lambda self: self[0])  # type: ignore[assignment]
    eigenvectors: Array = property(lambda self: self[1])  # type: ignore[assignment]


class SVDResult(tuple):  # type: ignore[type-arg]
    """What svd() gives."""

    __slots__ = ()
    _fields = ("U", "S", "Vh")
    U: Array = property(lambda self: self[0])  # type: ignore[assignment]
    S: Array = property(lambda self: self[1])  # type: ignore[assignment]
    Vh: Array = property(lambda self: self[2])  # type: ignore[assignment]


def _matrix(name: str, x: Array) -> Array:
    if x.ndim < 2:
        raise UserError(f"{name}: {x.describe()} is no matrix, nor a stack of them")
    return x


def _square(name: str, x: Array) -> Array:
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise UserError(f"{name}: {x.describe()} is no square matrix, nor a stack of them")
    return x


def outer(x1: Array, x2: Array, /) -> Array:
    """The products of each element of one vector with each of the other."""
    return _standard.expand_dims(x1, axis=1) * _standard.expand_dims(x2, axis=0)


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """The elements on a diagonal of each matrix; offset > 0: above the main one."""
    rows, columns = x.shape[-2:]
    n = max(min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns), 0)
    flat = _call("reshape", x, (*x.shape[:-2], rows * columns))
    first = offset if offset >= 0 else -offset * columns
    places = _call("arange", 0, n, 1, _smelt.int64) * (columns + 1) + first
    return _call("take", flat, places, -1)


def trace(x: Array, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """The sums of the diagonals."""
    return _standard.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def vector_norm(x: Array, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Array:
    """The norms of vectors along an axis, or several."""
    magnitude = _standard.abs(x)
    options: Any = {"axis": axis if axis is None or isinstance(axis, int) else tuple(axis), "keepdims": keepdims}
    if ord == math.inf:
        return _standard.max(magnitude, **options)
    if ord == -math.inf:
        return _standard.min(magnitude, **options)
    if ord == 0:
        return _call("astype", _standard.sum(_call("astype", x != 0, x.dtype), **options), x.dtype)
    if ord == 1:
        return _standard.sum(magnitude, **options)
    if ord == 2:
        return _call("sqrt", _standard.sum(magnitude * magnitude, **options))
    return _standard.sum(magnitude**ord, **options) ** (1.0 / ord)


def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Union[str, float] = "fro") -> Array:
    """The norms of matrices: "fro", 1, -1, inf, -inf, and by singular values "nuc", 2 and -2."""
    _matrix("matrix_norm", x)
    if ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in ("nuc", 2, -2):
        values = svdvals(x)
        made = _standard.sum(values, axis=-1) if ord == "nuc" else (_standard.max if ord == 2 else _standard.min)(values, axis=-1)
        return _call("reshape", made, (*x.shape[:-2], 1, 1)) if keepdims else made
    if ord not in (1, -1, math.inf, -math.inf):
        raise UserError(f"matrix_norm: ord={ord!r}\nhelp: 'fro', 'nuc', 1, -1, 2, -2, inf and -inf are there")
    along = -2 if ord in (1, -1) else -1
    sums = _standard.sum(_standard.abs(x), axis=along, keepdims=True)
    return (_standard.max if ord in (1, math.inf) else _standard.min)(sums, axis=(-2, -1), keepdims=keepdims)


def matrix_power(x: Array, n: int, /) -> Array:
    """A matrix multiplied with itself, n times; its inverse where n is below 0."""
    _square("matrix_power", x)
    if n < 0:
        return matrix_power(inv(x), -n)
    made: Optional[Array] = None
    power = x
    while n:
        if n & 1:
            made = power if made is None else matmul(made, power)
        n >>= 1
        power = matmul(power, power) if n else power
    return made if made is not None else _identity(x)


def _identity(x: Array) -> Array:
    return _standard.broadcast_to(_standard.eye(x.shape[-1], dtype=x.dtype), tuple(x.shape))


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The cross products of vectors of three elements along an axis."""
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise UserError(f"cross: {x1.describe()} and {x2.describe()} have not 3 elements along axis {axis}")

    def part(x: Array, i: int) -> Array:
        return _call("take", x, i, axis - x.ndim if axis >= 0 else axis)

    parts = [part(x1, i) * part(x2, j) - part(x1, j) * part(x2, i) for i, j in ((1, 2), (2, 0), (0, 1))]
    return _call("stack", parts, axis)


def det(x: Array, /) -> Array:
    """The determinants of square matrices."""
    return _call("take", _smelt.determinants(_square("det", x), False), 0, -1)


def slogdet(x: Array, /) -> SlogdetResult:
    """The signs of determinants, and the logarithms of their sizes."""
    both = _smelt.determinants(_square("slogdet", x), True)
    return SlogdetResult((_call("take", both, 0, -1), _call("take", both, 1, -1)))


def solve(x1: Array, x2: Array, /) -> Array:
    """The x of x1 @ x == x2, by elimination with row exchanges; x2 is a vector or a stack of matrices."""
    _square("solve", x1)
    vector = x2.ndim == 1
    right = _standard.expand_dims(x2, axis=1) if vector else x2
    common = _smelt.promote(x1.dtype, right.dtype)
    leading = _broadcast(tuple(x1.shape[:-2]), tuple(right.shape[:-2]))
    left = _standard.broadcast_to(_call("astype", x1, common), (*leading, *x1.shape[-2:]))
    right = _standard.broadcast_to(_call("astype", right, common), (*leading, *right.shape[-2:]))
    if left.shape[-1] != right.shape[-2]:
        raise UserError(f"solve: {x1.describe()} and {x2.describe()} have different numbers of rows")
    made: Array = _smelt.solve(left, right)
    return _standard.squeeze(made, axis=-1) if vector else made


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    n = max(len(a), len(b))
    pairs = zip((1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b)
    return tuple(y if x == 1 else x for x, y in pairs)


def inv(x: Array, /) -> Array:
    """The inverses of square matrices."""
    return _smelt.solve(_square("inv", x), _identity(x))


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """The lower triangular L of L @ L.T == x, or its transpose."""
    lower: Array = _smelt.cholesky(_square("cholesky", x))
    return matrix_transpose(lower) if upper else lower


def qr(x: Array, /, *, mode: str = "reduced") -> QRResult:
    """Q with orthonormal columns and upper triangular R of Q @ R == x; Q is square where mode is "complete"."""
    if mode not in ("reduced", "complete"):
        raise UserError(f"qr: mode={mode!r}\nhelp: 'reduced' and 'complete' are there")
    return QRResult(_smelt.qr(_matrix("qr", x), mode == "complete"))


def eigh(x: Array, /) -> EighResult:
    """The eigenvalues of symmetric matrices, ascending, and their eigenvectors in columns. Only the lower triangles are read."""
    return EighResult(_smelt.eigh(_square("eigh", x), True))


def eigvalsh(x: Array, /) -> Array:
    """The eigenvalues of symmetric matrices, ascending. Only the lower triangles are read."""
    return _smelt.eigh(_square("eigvalsh", x), False)[0]


def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """The singular values S, descending, with U and Vh of (U * S) @ Vh == x; these are square where full_matrices."""
    return SVDResult(_smelt.svd(_matrix("svd", x), full_matrices))


def svdvals(x: Array, /) -> Array:
    """The singular values, descending."""
    return _smelt.svdvals(_matrix("svdvals", x))[0]


def _cutoff(x: Array, values: Array, rtol: Any) -> Array:
    # Singular values from here on are zeros that were rounded.
    if rtol is None:
        rtol = max(int(n) for n in x.shape[-2:]) * finfo(x.dtype).eps
    rtol = _standard.expand_dims(rtol, axis=-1) if isinstance(rtol, Array) and rtol.ndim else rtol
    made: Array = values[..., :1] * rtol
    return made


def matrix_rank(x: Array, /, *, rtol: Union[None, float, Array] = None) -> Array:
    """How many singular values are above rtol times the largest."""
    values = svdvals(x)
    return _standard.sum(_call("astype", values > _cutoff(x, values, rtol), _smelt.int64), axis=-1)


def pinv(x: Array, /, *, rtol: Union[None, float, Array] = None) -> Array:
    """The pseudo-inverses of Moore and Penrose; singular values of at most rtol times the largest count as 0."""
    u, values, vh = svd(x, full_matrices=False)
    kept = values > _cutoff(x, values, rtol)
    inverses = _call("where", kept, 1 / _call("where", kept, values, 1), 0)
    return matmul(matrix_transpose(vh), _standard.expand_dims(inverses, axis=-1) * matrix_transpose(u))
