"""The families as one writes them in numexpr: into the arrays `out`, or into fresh memory where `out` is None. Families that need erf or
reductions along rows are not here, since numexpr has neither."""

import numexpr
from exact import HORNER
from numpy import float32, sqrt

# Numbers in the text would be f64, and all that they meet.
CONSTANTS = {f"c{i}": float32(c) for i, c in enumerate((0.000002, *HORNER))}


def evaluate(text, values, out, which=0, casting="same_kind"):
    return numexpr.evaluate(text, values, {}, out=out[which] if out else None, casting=casting)


def quantize_int8(x, out):
    # Adding and taking 1.5 * 2^23 rounds an f32 half to even; numexpr has no conversion to int8 but that of storing.
    import numpy

    values = {"x": x, "s": float32(4.2), "z": float32(1.2), "low": float32(-128), "high": float32(127), "m": float32(12582912)}
    return evaluate("where(x/s+z < low, low, where(x/s+z > high, high, (x/s+z + m) - m))", values,
                    out or [numpy.empty(x.shape, "int8")], casting="unsafe")


def add_mul_exp(x, y, out):
    return evaluate("exp((x + y) * two)", {"x": x, "y": y, "two": float32(2)}, out)


def l2norm(x, out):
    return sqrt(evaluate("sum(x * x)", {"x": x}, None))


def chain10(x, out):
    text = "x"
    for _ in range(5):
        text = f"(tanh({text} * a) + b)"
    return evaluate(text, {"x": x, "a": float32(1.01), "b": float32(0.1)}, out)


def poly20(x, out):
    text = "x * c0 + c1"
    for i in range(2, len(CONSTANTS)):
        text = f"({text}) * x + c{i}"
    return evaluate(text, {"x": x, **CONSTANTS}, out)


def loop2(b, c, e, out):
    a = evaluate("b + c", {"b": b, "c": c}, out)
    return a, evaluate("a * e", {"a": a, "e": e}, out, 1)


def transpose_add(x, y, out):
    return evaluate("x + y", {"x": x.T, "y": y}, out)
