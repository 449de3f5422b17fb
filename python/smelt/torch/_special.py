"""Special functions: series and asymptotic expansions, calculated in float64 and rounded to the dtype of the operand.

Abramowitz and Stegun, Handbook of Mathematical Functions: 6.1 to 6.4 (gamma functions), 9.1 to 9.8 (Bessel functions).
"""

from __future__ import annotations

import math
from typing import Any, Callable

from .. import _smelt
from .._smelt import UserError
from ._elementwise import cast

call = _smelt.call
binary = _smelt.binary

_SHIFT = 10  # where the expansions of gamma functions are exact to float64
_FAR = 16.0  # where those of modified Bessel functions are
_FAR_WAVES = 12.0  # and of the others: their series lose digits sooner
_TERMS = 48  # of their series up to there


def _add(a: Any, b: Any) -> Any:
    return binary("+", a, b)


def _sub(a: Any, b: Any) -> Any:
    return binary("-", a, b)


def _mul(a: Any, b: Any) -> Any:
    return binary("*", a, b)


def _div(a: Any, b: Any) -> Any:
    return binary("/", a, b)


def _polynomial(x: Any, coefficients: list[float]) -> Any:
    """By Horner's rule, the constant first."""
    made: Any = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        made = _add(_mul(made, x), c)
    return made


def wide(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of one float, in float64."""
    return lambda x: cast(function(cast(x, _smelt.float64)), x.dtype)


# ---- gamma functions: shifted to where the expansion holds; of negative numbers by reflection


def _pushed(x: Any) -> Any:
    return call("where", binary("<", x, _SHIFT), _add(x, _SHIFT), x)


def _is_pole(x: Any) -> Any:
    return call("logical_and", binary("<=", x, 0.0), binary("==", x, call("floor", x)))


def _fraction(x: Any) -> Any:
    return _sub(x, call("trunc", x))


_STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156]


def _log_gamma(x: Any) -> Any:
    """Of positive numbers."""
    y = _pushed(x)
    product = x
    for k in range(1, _SHIFT):
        product = _mul(product, _add(x, float(k)))
    series = _div(_polynomial(_div(1.0, _mul(y, y)), _STIRLING), y)
    made = _add(_sub(_mul(_sub(y, 0.5), call("log", y)), y), _add(series, 0.5 * math.log(2 * math.pi)))
    return call("where", binary("<", x, _SHIFT), _sub(made, call("log", product)), made)


@wide
def lgamma(x: Any) -> Any:
    negative = binary("<", x, 0.5)
    positive = _log_gamma(call("where", negative, _sub(1.0, x), x))
    sine = call("abs", call("sin", _mul(_fraction(x), math.pi)))
    made = call("where", negative, _sub(_sub(math.log(math.pi), call("log", sine)), positive), positive)
    return call("where", call("logical_or", _is_pole(x), call("isinf", x)), math.inf, made)


_DIGAMMA = [-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12]


def _digamma(x: Any) -> Any:
    """Of positive numbers."""
    y = _pushed(x)
    total = _div(1.0, x)
    for k in range(1, _SHIFT):
        total = _add(total, _div(1.0, _add(x, float(k))))
    square = _div(1.0, _mul(y, y))
    made = _add(_sub(call("log", y), _div(0.5, y)), _mul(square, _polynomial(square, _DIGAMMA)))
    return call("where", binary("<", x, _SHIFT), _sub(made, total), made)


@wide
def digamma(x: Any) -> Any:
    negative = binary("<", x, 0.0)
    made = _digamma(call("where", negative, _sub(1.0, x), x))
    reflected = _sub(made, _div(math.pi, call("tan", _mul(_fraction(x), math.pi))))
    made = call("where", negative, reflected, made)
    made = call("where", call("logical_and", negative, _is_pole(x)), math.nan, made)
    return call("where", binary("==", x, 0.0), call("copysign", call("full_like", x, math.inf), _mul(x, -1.0)), made)


_TRIGAMMA = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6]


@wide
def trigamma(x: Any) -> Any:
    negative = binary("<", x, 0.5)
    z = call("where", negative, _sub(1.0, x), x)
    y = _pushed(z)
    total: Any = None
    for k in range(_SHIFT):
        shifted = _add(z, float(k))
        part = _div(1.0, _mul(shifted, shifted))
        total = part if total is None else _add(total, part)
    inverse = _div(1.0, y)
    square = _mul(inverse, inverse)
    made = _add(_add(inverse, _mul(square, 0.5)), _mul(_mul(square, inverse), _polynomial(square, _TRIGAMMA)))
    made = call("where", binary("<", z, _SHIFT), _add(made, total), made)
    sine = _div(call("sin", _mul(_fraction(x), math.pi)), math.pi)
    return call("where", negative, _sub(_div(1.0, _mul(sine, sine)), made), made)


def polygamma(node: Any, out: Any, n: int, x: Any) -> Any:
    if n > 1:
        raise UserError("polygamma of an order above 1")
    x = cast(x, out.dtype)
    return trigamma(x) if n else digamma(x)


def mvlgamma(node: Any, out: Any, x: Any, p: int) -> Any:
    x = cast(x, out.dtype)
    total: Any = p * (p - 1) / 4 * math.log(math.pi)
    for j in range(p):
        total = _add(lgamma(_sub(cast(x, _smelt.float64), j / 2)), total)
    return cast(total, out.dtype)


# ---- inverses of the error function: Winitzki's formula, then Halley's method


def _first_guess(w: Any) -> Any:
    """Of log(1 - erf(x)**2) the absolute value of x, to two digits."""
    a = 0.147
    t = _add(_mul(w, 0.5), 2 / (math.pi * a))
    return call("sqrt", _sub(call("sqrt", _sub(_mul(t, t), _div(w, a))), t))


def _halley(x: Any, excess: Callable[[Any], Any]) -> Any:
    for _ in range(3):
        step = _mul(excess(x), _mul(call("exp", _mul(x, x)), math.sqrt(math.pi) / 2))
        x = _sub(x, _div(step, _add(_mul(x, step), 1.0)))
    return x


@wide
def erfinv(y: Any) -> Any:
    size = call("abs", y)
    inside = call("minimum", size, 1 - 2.0**-53)
    x = _first_guess(call("log1p", _mul(_mul(inside, inside), -1.0)))
    near = _halley(x, lambda x: _sub(call("erf", x), inside))
    far = _halley(x, lambda x: _sub(_sub(1.0, inside), call("erfc", x)))
    made = call("copysign", call("where", binary("<", size, 0.5), near, far), y)
    made = call("where", binary("==", size, 1.0), call("copysign", call("full_like", y, math.inf), y), made)
    return call("where", binary(">", size, 1.0), math.nan, call("where", binary("==", y, 0.0), y, made))


@wide
def ndtri(p: Any) -> Any:
    low = call("minimum", p, _sub(1.0, p))
    inside = call("maximum", low, 1e-300)
    x = _first_guess(call("log", _mul(_mul(inside, 4.0), _sub(1.0, inside))))
    x = _mul(_halley(x, lambda x: _sub(_mul(inside, 2.0), call("erfc", x))), math.sqrt(2))
    x = call("where", binary("==", low, 0.0), math.inf, x)
    made = call("where", binary("<", p, 0.5), _mul(x, -1.0), x)
    return call("where", binary("<", low, 0.0), math.nan, made)


_ERFCX = [(-1) ** k * math.prod(range(1, 2 * k, 2)) / 2**k for k in range(10)]


@wide
def erfcx(x: Any) -> Any:
    near, far = call("minimum", x, 20.0), call("maximum", x, 20.0)
    inner = _mul(call("exp", _mul(near, near)), call("erfc", near))
    inverse = _div(1.0, far)
    outer = _mul(_mul(inverse, 1 / math.sqrt(math.pi)), _polynomial(_mul(inverse, inverse), _ERFCX))
    return call("where", call("isnan", x), x, call("where", binary("<", x, 20.0), inner, outer))


# ---- Bessel functions of order 0 and 1


def _series(order: int, sign: float) -> list[float]:
    return [sign**k / (math.factorial(k) * math.factorial(k + order)) for k in range(_TERMS)]


def _expansion(order: int, terms: int) -> list[float]:
    made = [1.0]
    for k in range(1, terms):
        made.append(made[-1] * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k))
    return made


def _modified(order: int, scaled: bool) -> Callable[[Any], Any]:
    near_of, far_of = _series(order, 1.0), [(-1) ** k * c for k, c in enumerate(_expansion(order, 18))]

    @wide
    def function(x: Any) -> Any:
        size = call("abs", x)
        near, far = call("minimum", size, _FAR), call("maximum", size, _FAR)
        inner = _polynomial(_mul(_mul(near, near), 0.25), near_of)
        inner = _mul(inner, _mul(near, 0.5)) if order else inner
        outer = _div(_polynomial(_div(1.0, far), far_of), call("sqrt", _mul(far, 2 * math.pi)))
        if scaled:
            inner = _mul(inner, call("exp", _mul(near, -1.0)))
        else:
            outer = _mul(outer, call("exp", far))
        made = call("where", binary("<", size, _FAR), inner, outer)
        made = call("copysign", made, x) if order else made
        return call("where", call("isnan", x), x, made)

    return function


i0, i1, i0e, i1e = _modified(0, False), _modified(1, False), _modified(0, True), _modified(1, True)


def _oscillating(order: int) -> Callable[[Any], Any]:
    near_of, far_of = _series(order, -1.0), _expansion(order, 24)
    even = [(-1) ** (k // 2) * c for k, c in enumerate(far_of) if k % 2 == 0]
    odd = [(-1) ** (k // 2) * c for k, c in enumerate(far_of) if k % 2 == 1]

    @wide
    def function(x: Any) -> Any:
        size = call("abs", x)
        near, far = call("minimum", size, _FAR_WAVES), call("maximum", size, _FAR_WAVES)
        inner = _polynomial(_mul(_mul(near, near), 0.25), near_of)
        inner = _mul(inner, _mul(near, 0.5)) if order else inner
        inverse = _div(1.0, far)
        square = _mul(inverse, inverse)
        angle = _sub(far, (0.5 * order + 0.25) * math.pi)
        outer = _sub(_mul(call("cos", angle), _polynomial(square, even)), _mul(call("sin", angle), _mul(inverse, _polynomial(square, odd))))
        outer = _mul(outer, call("sqrt", _div(2 / math.pi, far)))
        made = call("where", binary("<", size, _FAR_WAVES), inner, outer)
        if order:
            made = call("where", binary("<", x, 0.0), _mul(made, -1.0), made)
        return call("where", call("isfinite", x), made, math.nan)  # of infinity as in torch

    return function


j0, j1 = _oscillating(0), _oscillating(1)


@wide
def spherical_j0(x: Any) -> Any:
    made = _div(call("sin", x), x)
    return call("where", call("isinf", x), 0.0, call("where", binary("==", x, 0.0), 1.0, made))
