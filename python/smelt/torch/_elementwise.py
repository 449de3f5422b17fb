"""Elementwise operations of torch: each is calculated in the dtype that torch calculates it in."""

from __future__ import annotations

import math
from typing import Any, Callable

import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as Kind
from torch._prims_common import elementwise_dtypes

from .. import _smelt

call = _smelt.call
binary = _smelt.binary

_LOW = (_smelt.float16, _smelt.bfloat16)
_KINDS = {
    "default": Kind.DEFAULT, "float": Kind.INT_TO_FLOAT, "bool": Kind.ALWAYS_BOOL, "same": Kind.NO_OPMATH,
}


def cast(x: Any, dtype: Any) -> Any:
    """As torch converts: integers keep their low bits."""
    if x.dtype == dtype:
        return x
    before, after = x.dtype.kind, dtype.kind
    integers = ("signed", "unsigned")
    if before in integers and after in integers:
        return call("wrap_cast", x, dtype)
    if before == "float" and after in integers and dtype.itemsize < 4:
        return call("wrap_cast", call("astype", x, _smelt.int64), dtype)
    return call("astype", x, dtype)


def is_array(x: Any) -> bool:
    return isinstance(x, _smelt.Array)


def _promoted(node: Any, kind: str) -> Any:
    values = []
    for x in (*node.args, *node.kwargs.values()):
        if isinstance(x, torch.fx.Node):
            x = x.meta["val"]
        if isinstance(x, (torch.Tensor, int, float, bool, torch.SymInt, torch.SymFloat)):
            values.append(x)
    dtype, _ = elementwise_dtypes(*values, type_promotion_kind=_KINDS[kind])
    return _smelt.dtype(str(dtype)[6:])


def elementwise(kind: str, function: Any) -> Callable[..., Any]:
    """The row of an operation. kind: what decides the dtype, as in torch: of the operands, that or a float, of operands compared.

    What torch calculates in float32 and rounds to a half is calculated so here, operation by operation.
    """
    if isinstance(function, str):
        name = function

        def function(*operands: Any) -> Any:
            return call(name, *operands)

    def recipe(node: Any, out: Any, *args: Any, **kwargs: Any) -> Any:
        dtype = _promoted(node, kind)
        if kind == "same" and dtype in _LOW and out.dtype in _LOW:
            dtype = out.dtype

        def operand(x: Any) -> Any:
            if is_array(x):
                return cast(x, dtype)
            return int(x) if isinstance(x, bool) and dtype != _smelt.bool else x

        args = tuple(operand(x) for x in args)
        kwargs = {name: operand(x) for name, x in kwargs.items()}
        made = function(*args, **kwargs)
        if not is_array(made):
            made = call("full", (), made, dtype)
        return cast(made, out.dtype) if made.dtype != out.dtype else made

    return recipe


def is_bool(x: Any) -> bool:
    return is_array(x) and x.dtype == _smelt.bool


def add(a: Any, b: Any, alpha: Any = 1) -> Any:
    if is_bool(a) or is_bool(b):
        return call("bitwise_or", a, b) if alpha else a
    return binary("+", a, b if alpha == 1 else times(b, alpha))


def sub(a: Any, b: Any, alpha: Any = 1) -> Any:
    return binary("-", a, b if alpha == 1 else times(b, alpha))


def rsub(a: Any, b: Any, alpha: Any = 1) -> Any:
    return binary("-", b, a if alpha == 1 else times(a, alpha))


def times(a: Any, b: Any) -> Any:
    if not is_array(a) and not is_array(b):
        return a * b
    return call("bitwise_and", a, b) if is_bool(a) or is_bool(b) else binary("*", a, b)


def is_integer(x: Any) -> bool:
    return is_array(x) and x.dtype.kind in ("signed", "unsigned")


def divide(a: Any, b: Any, rounding_mode: Any = None) -> Any:
    if rounding_mode == "floor":
        return binary("//", a, b)
    if rounding_mode == "trunc":
        if is_integer(a) or is_integer(b):
            return binary("//", binary("-", a, call("fmod", a, b)), b)
        return call("trunc", binary("/", a, b))
    return binary("/", a, b)


def prim_divide(a: Any, b: Any) -> Any:
    return divide(a, b, "trunc" if is_integer(a) or is_integer(b) else None)


def power(a: Any, b: Any) -> Any:
    if isinstance(b, float) and b.is_integer() and abs(b) < 2**31:
        b = int(b)
    return binary("**", a, b)


def fmax(a: Any, b: Any) -> Any:
    if a.dtype.kind != "float":
        return maximum(a, b)
    return call("where", call("isnan", a), b, call("where", call("isnan", b), a, call("maximum", a, b)))


def fmin(a: Any, b: Any) -> Any:
    if a.dtype.kind != "float":
        return minimum(a, b)
    return call("where", call("isnan", a), b, call("where", call("isnan", b), a, call("minimum", a, b)))


def clamp(x: Any, low: Any = None, high: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = low if low is not None else min, high if high is not None else max
    if low is not None:
        x = call("maximum", x, low)
    return x if high is None else call("minimum", x, high)


def signbit(x: Any) -> Any:
    if x.dtype.kind != "float":
        return binary("<", x, 0) if x.dtype != _smelt.bool else call("full_like", x, False)
    return binary("<", call("copysign", call("full_like", x, 1.0), x), 0)


def isinf(x: Any) -> Any:
    return call("isinf", x) if x.dtype.kind == "float" else call("full_like", x, False, _smelt.bool)


def isnan(x: Any) -> Any:
    return call("isnan", x) if x.dtype.kind == "float" else call("full_like", x, False, _smelt.bool)


def isfinite(x: Any) -> Any:
    return call("isfinite", x) if x.dtype.kind == "float" else call("full_like", x, True, _smelt.bool)


def rounded(name: str) -> Callable[..., Any]:
    return lambda x: x if x.dtype.kind != "float" else call(name, x)


def maximum(a: Any, b: Any) -> Any:
    return call("bitwise_or", a, b) if is_bool(a) and is_bool(b) else call("maximum", a, b)


def minimum(a: Any, b: Any) -> Any:
    return call("bitwise_and", a, b) if is_bool(a) and is_bool(b) else call("minimum", a, b)


def absolute(x: Any) -> Any:
    return x if x.dtype.kind in ("bool", "unsigned") else call("abs", x)


def sign(x: Any) -> Any:
    if x.dtype == _smelt.bool:
        return x
    made = call("sign", x)
    # torch has sign(nan) = 0 and sign(-0.0) = 0
    return call("where", binary("==", made, made), binary("+", made, 0), 0) if x.dtype.kind == "float" else made


def angle(x: Any) -> Any:
    return call("where", call("isnan", x), x, call("where", binary("<", x, 0), math.pi, 0.0))


def addcmul(x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    return binary("+", x, times(times(a, b), value) if value != 1 else times(a, b))


def addcdiv(x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    return binary("+", x, times(value, binary("/", a, b)) if value != 1 else binary("/", a, b))


def lerp(start: Any, end: Any, weight: Any) -> Any:
    far = binary("-", end, start)
    if not is_array(weight):
        if abs(weight) < 0.5:
            return binary("+", start, binary("*", far, weight))
        return binary("-", end, binary("*", far, 1 - weight))
    near = binary("+", start, binary("*", weight, far))
    return call("where", binary("<", call("abs", weight), 0.5), near,
                binary("-", end, binary("*", far, binary("-", 1, weight))))


def truth(x: Any) -> Any:
    return x if x.dtype == _smelt.bool else binary("!=", x, 0)


def logical(name: str) -> Callable[..., Any]:
    return lambda *operands: call(name, *(truth(x) if is_array(x) else bool(x) for x in operands))


def compare(op: str) -> Callable[..., Any]:
    def compared(a: Any, b: Any) -> Any:
        if is_bool(a) or is_bool(b):
            a = cast(a, _smelt.uint8) if is_array(a) else int(a)
            b = cast(b, _smelt.uint8) if is_array(b) else int(b)
        return binary(op, a, b)

    return compared


def where(node: Any, out: Any, condition: Any, a: Any, b: Any) -> Any:
    a, b = (cast(x, out.dtype) if is_array(x) else call("full", (), x, out.dtype) for x in (a, b))
    return call("where", truth(condition), a, b)


def convert(node: Any, out: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    return cast(x, out.dtype)


def relu(x: Any) -> Any:
    return call("maximum", x, 0)


_FLOAT_DIVISION = elementwise("float", divide)
_DIVISION = elementwise("default", divide)


def divided(node: Any, out: Any, a: Any, b: Any, *, rounding_mode: Any = None) -> Any:
    return (_FLOAT_DIVISION if rounding_mode is None else _DIVISION)(node, out, a, b, rounding_mode=rounding_mode)
