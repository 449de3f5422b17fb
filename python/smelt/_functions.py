"""The functions of arrays. Written by python/generate.py from the table that the expression language has them from."""

from __future__ import annotations

TYPE_CHECKING = False  # of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from typing import Any, Optional, Sequence, Union

    _Axes = Union[None, int, Sequence[int]]
    _Sizes = Union[int, Sequence[int]]

from . import _smelt
from ._array import Array, ArrayLike
from ._smelt import DType

_call = _smelt.call


def _items(rest: Any) -> Any:
    return rest[0] if len(rest) == 1 and isinstance(rest[0], (tuple, list)) else rest


def _indices(given: Any) -> Any:
    if not isinstance(given, (tuple, list)):
        return given
    from ._index import indices

    return indices(given)


# ---- Elementwise

def add(a: ArrayLike, b: ArrayLike) -> Array:
    """a + b; integers wrap."""
    return _call("add", a, b)


def subtract(a: ArrayLike, b: ArrayLike) -> Array:
    """a - b; integers wrap."""
    return _call("subtract", a, b)


sub = subtract


def multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """a * b; integers wrap."""
    return _call("multiply", a, b)


mul = multiply


def divide(a: ArrayLike, b: ArrayLike) -> Array:
    """a / b."""
    return _call("divide", a, b)


div = divide
true_divide = divide


def floor_divide(a: ArrayLike, b: ArrayLike) -> Array:
    """a // b, rounded down as in Python; integers: x // 0 is 0, MIN // -1 is MIN."""
    return _call("floor_divide", a, b)


floordiv = floor_divide


def remainder(a: ArrayLike, b: ArrayLike) -> Array:
    """a % b with the sign of b, as in Python; integers: x % 0 is 0; f64: nan where |a / b| is 2^300 and more."""
    return _call("remainder", a, b)


mod = remainder


def fmod(a: ArrayLike, b: ArrayLike) -> Array:
    """remainder with the sign of a, as in C; integers: fmod(x, 0) is 0; f64: nan where |a / b| is 2^300 and more."""
    return _call("fmod", a, b)


def pow(a: ArrayLike, b: ArrayLike) -> Array:
    """a ** b; integers wrap, a negative exponent gives 0 unless a is 1 or -1."""
    return _call("pow", a, b)


power = pow


def negative(a: ArrayLike) -> Array:
    """-a; integers wrap."""
    return _call("negative", a)


neg = negative


def abs(a: ArrayLike) -> Array:
    """absolute value; abs(MIN) is MIN."""
    return _call("abs", a)


absolute = abs
fabs = abs


def sign(a: ArrayLike) -> Array:
    """-1, 0 or 1; sign(0.0) keeps its zero, sign(nan) is nan."""
    return _call("sign", a)


sgn = sign


def fma(a: ArrayLike, b: ArrayLike, c: ArrayLike) -> Array:
    """a * b + c with one rounding."""
    return _call("fma", a, b, c)


def square(a: ArrayLike) -> Array:
    """a * a."""
    return _call("square", a)


def reciprocal(a: ArrayLike) -> Array:
    """1 / a."""
    return _call("reciprocal", a)


def maximum(a: ArrayLike, b: ArrayLike) -> Array:
    """the larger; nan if either is nan; +0 is above -0."""
    return _call("maximum", a, b)


def minimum(a: ArrayLike, b: ArrayLike) -> Array:
    """the smaller; nan if either is nan; -0 is below +0."""
    return _call("minimum", a, b)


def floor(a: ArrayLike) -> Array:
    """largest integer not above a."""
    return _call("floor", a)


def ceil(a: ArrayLike) -> Array:
    """smallest integer not below a."""
    return _call("ceil", a)


def trunc(a: ArrayLike) -> Array:
    """a without its fraction."""
    return _call("trunc", a)


fix = trunc


def round(a: ArrayLike) -> Array:
    """nearest integer, halves to even."""
    return _call("round", a)


rint = round
around = round


def sqrt(a: ArrayLike) -> Array:
    """square root."""
    return _call("sqrt", a)


def rsqrt(a: ArrayLike) -> Array:
    """1 / sqrt(a)."""
    return _call("rsqrt", a)


def cbrt(a: ArrayLike) -> Array:
    """cube root."""
    return _call("cbrt", a)


def hypot(a: ArrayLike, b: ArrayLike) -> Array:
    """sqrt(a*a + b*b) without overflow in between."""
    return _call("hypot", a, b)


def exp(a: ArrayLike) -> Array:
    """e ** a."""
    return _call("exp", a)


def exp2(a: ArrayLike) -> Array:
    """2 ** a."""
    return _call("exp2", a)


def expm1(a: ArrayLike) -> Array:
    """e ** a - 1, accurate near 0."""
    return _call("expm1", a)


def log(a: ArrayLike) -> Array:
    """natural logarithm."""
    return _call("log", a)


def log2(a: ArrayLike) -> Array:
    """logarithm to base 2."""
    return _call("log2", a)


def log10(a: ArrayLike) -> Array:
    """logarithm to base 10."""
    return _call("log10", a)


def log1p(a: ArrayLike) -> Array:
    """log(1 + a), accurate near 0."""
    return _call("log1p", a)


def sin(a: ArrayLike) -> Array:
    """sine."""
    return _call("sin", a)


def cos(a: ArrayLike) -> Array:
    """cosine."""
    return _call("cos", a)


def tan(a: ArrayLike) -> Array:
    """tangent."""
    return _call("tan", a)


def asin(a: ArrayLike) -> Array:
    """inverse sine."""
    return _call("asin", a)


arcsin = asin


def acos(a: ArrayLike) -> Array:
    """inverse cosine."""
    return _call("acos", a)


arccos = acos


def atan(a: ArrayLike) -> Array:
    """inverse tangent."""
    return _call("atan", a)


arctan = atan


def atan2(a: ArrayLike, b: ArrayLike) -> Array:
    """angle of the point (b, a)."""
    return _call("atan2", a, b)


arctan2 = atan2


def sinh(a: ArrayLike) -> Array:
    """hyperbolic sine."""
    return _call("sinh", a)


def cosh(a: ArrayLike) -> Array:
    """hyperbolic cosine."""
    return _call("cosh", a)


def tanh(a: ArrayLike) -> Array:
    """hyperbolic tangent."""
    return _call("tanh", a)


def asinh(a: ArrayLike) -> Array:
    """inverse hyperbolic sine."""
    return _call("asinh", a)


arcsinh = asinh


def acosh(a: ArrayLike) -> Array:
    """inverse hyperbolic cosine."""
    return _call("acosh", a)


arccosh = acosh


def atanh(a: ArrayLike) -> Array:
    """inverse hyperbolic tangent."""
    return _call("atanh", a)


arctanh = atanh


def erf(a: ArrayLike) -> Array:
    """error function."""
    return _call("erf", a)


def erfc(a: ArrayLike) -> Array:
    """1 - erf(a), accurate in the tail."""
    return _call("erfc", a)


def copysign(a: ArrayLike, b: ArrayLike) -> Array:
    """magnitude of a, sign of b."""
    return _call("copysign", a, b)


def equal(a: ArrayLike, b: ArrayLike) -> Array:
    """a == b."""
    return _call("equal", a, b)


eq = equal


def not_equal(a: ArrayLike, b: ArrayLike) -> Array:
    """a != b."""
    return _call("not_equal", a, b)


ne = not_equal


def less(a: ArrayLike, b: ArrayLike) -> Array:
    """a < b."""
    return _call("less", a, b)


lt = less


def less_equal(a: ArrayLike, b: ArrayLike) -> Array:
    """a <= b."""
    return _call("less_equal", a, b)


le = less_equal


def greater(a: ArrayLike, b: ArrayLike) -> Array:
    """a > b."""
    return _call("greater", a, b)


gt = greater


def greater_equal(a: ArrayLike, b: ArrayLike) -> Array:
    """a >= b."""
    return _call("greater_equal", a, b)


ge = greater_equal


def isnan(a: ArrayLike) -> Array:
    """true for nan."""
    return _call("isnan", a)


def isinf(a: ArrayLike) -> Array:
    """true for inf and -inf."""
    return _call("isinf", a)


def isfinite(a: ArrayLike) -> Array:
    """true for all but nan, inf and -inf."""
    return _call("isfinite", a)


def bitwise_and(a: ArrayLike, b: ArrayLike) -> Array:
    """a & b; logical on bool."""
    return _call("bitwise_and", a, b)


def bitwise_or(a: ArrayLike, b: ArrayLike) -> Array:
    """a | b; logical on bool."""
    return _call("bitwise_or", a, b)


def bitwise_xor(a: ArrayLike, b: ArrayLike) -> Array:
    """a ^ b; logical on bool."""
    return _call("bitwise_xor", a, b)


def bitwise_not(a: ArrayLike) -> Array:
    """~a; logical on bool."""
    return _call("bitwise_not", a)


bitwise_invert = bitwise_not
invert = bitwise_not


def left_shift(a: ArrayLike, b: ArrayLike) -> Array:
    """a << b; 0 when b is negative or the width and more."""
    return _call("left_shift", a, b)


bitwise_left_shift = left_shift


def right_shift(a: ArrayLike, b: ArrayLike) -> Array:
    """a >> b, keeping the sign; all sign bits when b is negative or the width and more."""
    return _call("right_shift", a, b)


bitwise_right_shift = right_shift


def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike) -> Array:
    """x where condition is true, else y."""
    return _call("where", condition, x, y)


# ---- Activations and quantisation

def logical_and(x: ArrayLike, y: ArrayLike) -> Array:
    """true where both are; numbers are true unless 0."""
    return _call("logical_and", x, y)


def logical_or(x: ArrayLike, y: ArrayLike) -> Array:
    """true where either is."""
    return _call("logical_or", x, y)


def logical_xor(x: ArrayLike, y: ArrayLike) -> Array:
    """true where exactly one is."""
    return _call("logical_xor", x, y)


def logical_not(x: ArrayLike) -> Array:
    """true where x is false or 0."""
    return _call("logical_not", x)


def clamp(x: ArrayLike, lo: Optional[ArrayLike] = None, hi: Optional[ArrayLike] = None) -> Array:
    """minimum(maximum(x, lo), hi); nan stays nan; None is no bound."""
    return _call("clamp", x, lo, hi)


clip = clamp


def relu(x: ArrayLike) -> Array:
    """maximum(x, 0)."""
    return _call("relu", x)


def leaky_relu(x: ArrayLike, slope: ArrayLike = 0.01) -> Array:
    """x where x >= 0, else slope * x."""
    return _call("leaky_relu", x, slope)


def elu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """x where x > 0, else alpha * (exp(x) - 1)."""
    return _call("elu", x, alpha)


def gelu(x: ArrayLike, approximate: str = 'none') -> Array:
    """x * (1 + erf(x / sqrt(2))) / 2; approximate='tanh' is gelu_tanh."""
    return _call("gelu", x, approximate)


def gelu_tanh(x: ArrayLike) -> Array:
    """x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x**3))) / 2."""
    return _call("gelu_tanh", x)


def sigmoid(x: ArrayLike) -> Array:
    """1 / (1 + exp(-x))."""
    return _call("sigmoid", x)


expit = sigmoid


def silu(x: ArrayLike) -> Array:
    """x * sigmoid(x)."""
    return _call("silu", x)


swish = silu


def softplus(x: ArrayLike) -> Array:
    """log(1 + exp(x)), without overflow."""
    return _call("softplus", x)


def mish(x: ArrayLike) -> Array:
    """x * tanh(softplus(x))."""
    return _call("mish", x)


def hardswish(x: ArrayLike) -> Array:
    """x * clamp(x + 3, 0, 6) / 6."""
    return _call("hardswish", x)


hard_swish = hardswish


def quantize_int8(x: ArrayLike, scale: ArrayLike, zero_point: ArrayLike = 0) -> Array:
    """i8(clamp(round(x / scale + zero_point), -128, 127)); nan gives 0."""
    return _call("quantize_int8", x, scale, zero_point)


def dequantize(x: ArrayLike, scale: ArrayLike, zero_point: ArrayLike = 0, dtype: DType = _smelt.float32) -> Array:
    """(x - zero_point) * scale, as dtype."""
    return _call("dequantize", x, scale, zero_point, dtype)


def lerp(x: ArrayLike, y: ArrayLike, weight: ArrayLike) -> Array:
    """x + weight * (y - x)."""
    return _call("lerp", x, y, weight)


# ---- Reductions

def sum(x: ArrayLike, axis: _Axes = None, keepdims: bool = False) -> Array:
    """sum; bools and integers below 64 bits add up in i64 or u64."""
    return _call("sum", x, axis, keepdims)


def prod(x: ArrayLike, axis: _Axes = None, keepdims: bool = False) -> Array:
    """product; integers as in sum."""
    return _call("prod", x, axis, keepdims)


def max(x: ArrayLike, axis: _Axes = None, keepdims: bool = False) -> Array:
    """largest element; nan if there is one. max(x, y) is maximum(x, y)."""
    return _call("max", x, axis, keepdims)


amax = max


def min(x: ArrayLike, axis: _Axes = None, keepdims: bool = False) -> Array:
    """smallest element; nan if there is one. min(x, y) is minimum(x, y)."""
    return _call("min", x, axis, keepdims)


amin = min


def any(x: ArrayLike, axis: _Axes = None, keepdims: bool = False) -> Array:
    """whether one element is true; numbers are true unless 0."""
    return _call("any", x, axis, keepdims)


def all(x: ArrayLike, axis: _Axes = None, keepdims: bool = False) -> Array:
    """whether every element is true."""
    return _call("all", x, axis, keepdims)


def argmax(x: ArrayLike, axis: _Axes = None, keepdims: bool = False) -> Array:
    """index of the first largest element, i64; the first nan if there is one; axis=None: in the flattened array."""
    return _call("argmax", x, axis, keepdims)


def argmin(x: ArrayLike, axis: _Axes = None, keepdims: bool = False) -> Array:
    """index of the first smallest element, i64."""
    return _call("argmin", x, axis, keepdims)


def mean(x: ArrayLike, axis: _Axes = None, keepdims: bool = False) -> Array:
    """sum / count, of floats."""
    return _call("mean", x, axis, keepdims)


def var(x: ArrayLike, axis: _Axes = None, ddof: int = 0, keepdims: bool = False) -> Array:
    """sum((x - mean(x))**2) / (count - ddof), in two passes."""
    return _call("var", x, axis, ddof, keepdims)


def std(x: ArrayLike, axis: _Axes = None, ddof: int = 0, keepdims: bool = False) -> Array:
    """sqrt(var(x))."""
    return _call("std", x, axis, ddof, keepdims)


def logsumexp(x: ArrayLike, axis: _Axes = None, keepdims: bool = False) -> Array:
    """log(sum(exp(x))), without overflow."""
    return _call("logsumexp", x, axis, keepdims)


def norm(x: ArrayLike, ord: float = 2, axis: _Axes = None, keepdims: bool = False) -> Array:
    """sum(abs(x)**ord) ** (1/ord) of all elements or along axes; ord inf, -inf and 0 as in NumPy."""
    return _call("norm", x, ord, axis, keepdims)


vector_norm = norm


def l2norm(x: ArrayLike, axis: _Axes = None, keepdims: bool = False) -> Array:
    """sqrt(sum(x * x))."""
    return _call("l2norm", x, axis, keepdims)


# ---- Scans

def cumsum(
    x: ArrayLike, axis: _Axes = -1, reverse: bool = False, exclusive: bool = False, restart: Optional[ArrayLike] = None
) -> Array:
    """running sum along an axis; integers as in sum. reverse: from the end. exclusive: of what comes before, from 0. restart: bools, true where the sum restarts."""
    return _call("cumsum", x, axis, reverse, exclusive, restart)


def cumprod(
    x: ArrayLike, axis: _Axes = -1, reverse: bool = False, exclusive: bool = False, restart: Optional[ArrayLike] = None
) -> Array:
    """running product; exclusive: from 1."""
    return _call("cumprod", x, axis, reverse, exclusive, restart)


def cummax(
    x: ArrayLike, axis: _Axes = -1, reverse: bool = False, exclusive: bool = False, restart: Optional[ArrayLike] = None
) -> Array:
    """largest element so far; nan from the first nan on; exclusive: from -inf or the smallest integer."""
    return _call("cummax", x, axis, reverse, exclusive, restart)


def cummin(
    x: ArrayLike, axis: _Axes = -1, reverse: bool = False, exclusive: bool = False, restart: Optional[ArrayLike] = None
) -> Array:
    """smallest element so far; nan from the first nan on; exclusive: from inf or the largest integer."""
    return _call("cummin", x, axis, reverse, exclusive, restart)


def cummean(x: ArrayLike, axis: _Axes = -1) -> Array:
    """mean of the elements so far, of floats."""
    return _call("cummean", x, axis)


def logcumsumexp(x: ArrayLike, axis: _Axes = -1) -> Array:
    """log(cumsum(exp(x))), computed relative to the maximum so far."""
    return _call("logcumsumexp", x, axis)


# ---- Normalisation and losses

def softmax(x: ArrayLike, axis: _Axes = -1) -> Array:
    """exp(x - max) / sum(exp(x - max)); a row of -inf alone gives nan."""
    return _call("softmax", x, axis)


def log_softmax(x: ArrayLike, axis: _Axes = -1) -> Array:
    """log(softmax(x)), accurate."""
    return _call("log_softmax", x, axis)


def layernorm(
    x: ArrayLike, weight: Optional[ArrayLike] = None, bias: Optional[ArrayLike] = None, axis: _Axes = -1, eps: ArrayLike = 1e-5
) -> Array:
    """(x - mean) / sqrt(var + eps) over the axes, then * weight + bias, which broadcast."""
    return _call("layernorm", x, weight, bias, axis, eps)


layer_norm = layernorm


def rmsnorm(x: ArrayLike, weight: Optional[ArrayLike] = None, axis: _Axes = -1, eps: ArrayLike = 1e-6) -> Array:
    """x / sqrt(mean(x*x) + eps) over the axes, then * weight."""
    return _call("rmsnorm", x, weight, axis, eps)


rms_norm = rmsnorm


def groupnorm(
    x: ArrayLike, groups: int, weight: Optional[ArrayLike] = None, bias: Optional[ArrayLike] = None, eps: ArrayLike = 1e-5
) -> Array:
    """x: [N, C, ...]; each of the groups of channels is normalised with its axes; weight and bias: [C]."""
    return _call("groupnorm", x, groups, weight, bias, eps)


group_norm = groupnorm


def batchnorm(
    x: ArrayLike, mean: ArrayLike, var: ArrayLike, weight: Optional[ArrayLike] = None, bias: Optional[ArrayLike] = None, eps: ArrayLike = 1e-5, axis: _Axes = 1
) -> Array:
    """inference: (x - mean) / sqrt(var + eps) * weight + bias, all of them [C] along the axis."""
    return _call("batchnorm", x, mean, var, weight, bias, eps, axis)


batch_norm = batchnorm


def cross_entropy(x: ArrayLike, targets: ArrayLike, axis: _Axes = -1, reduction: str = 'mean') -> Array:
    """-log_softmax(x) at the target class; targets: integers, the shape of x without the axis; out of range: nan. reduction 'mean', 'sum' or 'none'."""
    return _call("cross_entropy", x, targets, axis, reduction)


def mse(x: ArrayLike, targets: ArrayLike, reduction: str = 'mean') -> Array:
    """mean of (x - targets)**2."""
    return _call("mse", x, targets, reduction)


mse_loss = mse


def huber(x: ArrayLike, targets: ArrayLike, delta: ArrayLike = 1.0, reduction: str = 'mean') -> Array:
    """with d = abs(x - targets): mean of d*d/2 where d <= delta, else delta * (d - delta/2)."""
    return _call("huber", x, targets, delta, reduction)


huber_loss = huber


# ---- Products

def matmul(x: ArrayLike, y: ArrayLike, precision: str = 'full') -> Array:
    """x @ y: sums of products over the last axis of x and the last but one of y; axes in front broadcast. f16 and bf16 add up in f32 and are rounded once; integers wrap; precision 'tf32' or 'bf16x3': products of f32 may be off by 2^-10 or 2^-14."""
    return _call("matmul", x, y, precision)


mm = matmul
bmm = matmul


def linear(x: ArrayLike, weight: ArrayLike, bias: Optional[ArrayLike] = None, precision: str = 'full') -> Array:
    """x @ weight.T + bias; weight: [out, in]."""
    return _call("linear", x, weight, bias, precision)


def einsum(subscripts: str, *operands: Any, precision: str = 'full') -> Array:
    """letters name axes: those that two arrays share are multiplied, those that the result lacks are summed, as in einsum('bij,bjk->bik', x, y); ... broadcasts."""
    return _call("einsum", subscripts, _items(operands), precision)


def dot(x: ArrayLike, y: ArrayLike, precision: str = 'full') -> Array:
    """sums of products over the last axis of x and the last but one of y, or its only one."""
    return _call("dot", x, y, precision)


def vecdot(x: ArrayLike, y: ArrayLike, axis: _Axes = -1) -> Array:
    """sum(x * y, axis)."""
    return _call("vecdot", x, y, axis)


def outer(x: ArrayLike, y: ArrayLike) -> Array:
    """every product of an element of x and one of y, both flattened."""
    return _call("outer", x, y)


def tensordot(x: ArrayLike, y: ArrayLike, axes: Any = 2, precision: str = 'full') -> Array:
    """sums of products over pairs of axes: a number n pairs the last n of x with the first n of y, and ((1, 0), (0, 1)) names them."""
    return _call("tensordot", x, y, axes, precision)


def scaled_dot_product_attention(
    q: ArrayLike, k: ArrayLike, v: ArrayLike, mask: Optional[ArrayLike] = None, causal: bool = False, scale: Optional[ArrayLike] = None, precision: str = 'full'
) -> Array:
    """softmax(q @ k.mT * scale + mask) @ v; a bool mask says which keys are seen, causal those up to the row; without scale 1 / sqrt of the last axis; more heads of q than of k share theirs."""
    return _call("scaled_dot_product_attention", q, k, v, mask, causal, scale, precision)


attention = scaled_dot_product_attention


# ---- Movement

def reshape(x: ArrayLike, *shape: Any) -> Array:
    """the same elements, row by row, in another shape; one size may be -1."""
    return _call("reshape", x, _items(shape))


view = reshape


def flatten(x: ArrayLike) -> Array:
    """reshape(x, -1)."""
    return _call("flatten", x)


ravel = flatten


def transpose(x: ArrayLike, *axes: Any) -> Array:
    """axes in another order; without axes: reversed, as x.T."""
    return _call("transpose", x, _items(axes) or None)


permute = transpose
permute_dims = transpose


def swapaxes(x: ArrayLike, axis1: int, axis2: int) -> Array:
    """two axes change places."""
    return _call("swapaxes", x, axis1, axis2)


def moveaxis(x: ArrayLike, source: _Sizes, destination: _Sizes) -> Array:
    """axes move to these positions, the others keep their order."""
    return _call("moveaxis", x, source, destination)


movedim = moveaxis


def broadcast_to(x: ArrayLike, *shape: Any) -> Array:
    """axes of size 1, and new ones in front, repeated to the shape."""
    return _call("broadcast_to", x, _items(shape))


expand = broadcast_to


def expand_dims(x: ArrayLike, axis: _Axes) -> Array:
    """a new axis of size 1 at this position of the result."""
    return _call("expand_dims", x, axis)


unsqueeze = expand_dims


def squeeze(x: ArrayLike, axis: _Axes = None) -> Array:
    """drops axes of size 1: all, or those named."""
    return _call("squeeze", x, axis)


def concat(arrays: Sequence[ArrayLike], axis: _Axes = 0) -> Array:
    """arrays one after the other along an axis."""
    return _call("concat", arrays, axis)


concatenate = concat
cat = concat


def stack(arrays: Sequence[ArrayLike], axis: _Axes = 0) -> Array:
    """arrays of one shape along a new axis."""
    return _call("stack", arrays, axis)


def pad(x: ArrayLike, pad_width: Any, value: ArrayLike = 0, mode: str = 'constant') -> Array:
    """value around x; pad_width: n, (before, after), or a pair for each axis; mode 'edge', 'reflect', 'symmetric' and 'wrap' extend x itself, as numpy.pad does; 'replicate' and 'circular' are PyTorch's 'edge' and 'wrap'."""
    return _call("pad", x, pad_width, value, mode)


def flip(x: ArrayLike, axis: _Axes = None) -> Array:
    """reversed along the axes, or all of them."""
    return _call("flip", x, axis)


def roll(x: ArrayLike, shift: _Sizes, axis: _Axes = None) -> Array:
    """elements move up by shift and wrap around; one shift for each axis, or one for all; without an axis as if flattened."""
    return _call("roll", x, shift, axis)


def tile(x: ArrayLike, *reps: Any) -> Array:
    """x repeated as a whole: reps[d] times along axis d."""
    return _call("tile", x, _items(reps))


def repeat(x: ArrayLike, repeats: int, axis: _Axes = None) -> Array:
    """each element repeated; without an axis flattened."""
    return _call("repeat", x, repeats, axis)


repeat_interleave = repeat


def take(x: ArrayLike, indices: ArrayLike, axis: _Axes = None, mode: str = 'raise') -> Array:
    """x[indices] along the axis, or of the flattened x; out of range: mode 'raise' an error, 'clip' the nearest, 'wrap' modulo."""
    return _call("take", x, _indices(indices), axis, mode)


gather = take


def take_along_axis(x: ArrayLike, indices: ArrayLike, axis: _Axes = -1, mode: str = 'raise') -> Array:
    """x[.., indices[.., i, ..], ..]: each index picks along the axis in its own row; other axes are broadcast."""
    return _call("take_along_axis", x, _indices(indices), axis, mode)


def slice_update(x: ArrayLike, index: Any, value: ArrayLike) -> Array:
    """x in which x[index] is the value, which broadcasts to it; index: the content of the brackets of a subscript without arrays, as in slice_update(x, (slice(1, -1), 0), v)."""
    return _call("slice_update", x, index, value)


def tril(x: ArrayLike, k: int = 0) -> Array:
    """zero above diagonal k of the last two axes."""
    return _call("tril", x, k)


def triu(x: ArrayLike, k: int = 0) -> Array:
    """zero below diagonal k of the last two axes."""
    return _call("triu", x, k)


# ---- Windows

def window(x: ArrayLike, size: _Sizes, axis: _Axes = None, stride: Optional[_Sizes] = 1, dilation: _Sizes = 1) -> Array:
    """views of size elements each, stride apart, in a new last axis for each windowed axis; without axes the last ones."""
    return _call("window", x, size, axis, stride, dilation)


sliding_window_view = window


def max_pool(
    x: ArrayLike, size: _Sizes, stride: Optional[_Sizes] = None, padding: _Sizes = 0, dilation: _Sizes = 1
) -> Array:
    """largest element of each window over the last axes, as many as there are sizes; stride: the size unless given."""
    return _call("max_pool", x, size, stride, padding, dilation)


def min_pool(
    x: ArrayLike, size: _Sizes, stride: Optional[_Sizes] = None, padding: _Sizes = 0, dilation: _Sizes = 1
) -> Array:
    """smallest element, as in max_pool."""
    return _call("min_pool", x, size, stride, padding, dilation)


def avg_pool(
    x: ArrayLike, size: _Sizes, stride: Optional[_Sizes] = None, padding: _Sizes = 0, count_padding: bool = True
) -> Array:
    """mean of each window, as in max_pool; the zeros of the padding count as elements, or not."""
    return _call("avg_pool", x, size, stride, padding, count_padding)


def conv(
    x: ArrayLike, weight: ArrayLike, bias: Optional[ArrayLike] = None, stride: Optional[_Sizes] = 1, padding: _Sizes = 0, dilation: _Sizes = 1, groups: int = 1
) -> Array:
    """as PyTorch's: x [N, C, L], [N, C, H, W] or [N, C, D, H, W], weight [O, C // groups, window], bias [O]."""
    return _call("conv", x, weight, bias, stride, padding, dilation, groups)


conv1d = conv
conv2d = conv
conv3d = conv


def correlate(x: ArrayLike, kernel: ArrayLike) -> Array:
    """sum of kernel[j] * x[i + j] along the last axes, as many as the kernel has; only where the kernel lies inside x."""
    return _call("correlate", x, kernel)


def filter(x: ArrayLike, kernel: ArrayLike, mode: str = 'edge', value: ArrayLike = 0) -> Array:
    """correlate at every element of x, with the middle of the kernel on it; values outside of x are those of pad's mode."""
    return _call("filter", x, kernel, mode, value)


# ---- Creation and casts

def arange(
    start: ArrayLike, stop: Optional[ArrayLike] = None, step: ArrayLike = 1, dtype: Optional[DType] = None
) -> Array:
    """start, start + step, ... below stop; arange(n) starts at 0."""
    return _call("arange", start, stop, step, dtype)


def eye(n: int, m: Optional[int] = None, k: int = 0, dtype: DType = _smelt.float32) -> Array:
    """[n, m] with ones on diagonal k, else zeros."""
    return _call("eye", n, m, k, dtype)


def full(shape: _Sizes, value: ArrayLike, dtype: Optional[DType] = None) -> Array:
    """an array of one value."""
    return _call("full", shape, value, dtype)


def zeros(shape: _Sizes, dtype: DType = _smelt.float32) -> Array:
    """an array of 0."""
    return _call("zeros", shape, dtype)


def ones(shape: _Sizes, dtype: DType = _smelt.float32) -> Array:
    """an array of 1."""
    return _call("ones", shape, dtype)


def full_like(x: ArrayLike, value: ArrayLike, dtype: Optional[DType] = None) -> Array:
    """an array of one value in the shape and dtype of x."""
    return _call("full_like", x, value, dtype)


def zeros_like(x: ArrayLike, dtype: Optional[DType] = None) -> Array:
    """0 in the shape and dtype of x."""
    return _call("zeros_like", x, dtype)


def ones_like(x: ArrayLike, dtype: Optional[DType] = None) -> Array:
    """1 in the shape and dtype of x."""
    return _call("ones_like", x, dtype)


def astype(x: ArrayLike, dtype: DType) -> Array:
    """saturating cast, as dtype(x): f32(x), x.astype(i8)."""
    return _call("astype", x, dtype)


cast = astype


def wrap_cast(x: ArrayLike, dtype: DType) -> Array:
    """integers to integers, keeping the low bits."""
    return _call("wrap_cast", x, dtype)


# ---- Gathers and parts

def one_hot(indices: ArrayLike, n: int, dtype: DType = _smelt.float32) -> Array:
    """1 at the index along a new last axis of size n, else 0; out of range: zeros."""
    return _call("one_hot", _indices(indices), n, dtype)


def embedding(table: ArrayLike, ids: ArrayLike, mode: str = 'raise') -> Array:
    """the rows of a table by index, as take(table, ids, axis=0)."""
    return _call("embedding", table, _indices(ids), mode)


def rotary(x: ArrayLike, cos: ArrayLike, sin: ArrayLike, interleaved: bool = False) -> Array:
    """the pairs of the last axis rotated: (a cos - b sin, b cos + a sin); b is half the axis after a, or interleaved: next to it."""
    return _call("rotary", x, cos, sin, interleaved)


def rope(x: ArrayLike, positions: ArrayLike, base: float = 10000, interleaved: bool = False) -> Array:
    """rotary by positions * base**(-2i/n) for pair i of an axis of n."""
    return _call("rope", x, positions, base, interleaved)


def part(x: ArrayLike, parts: int, index: Any, axis: _Axes = 0) -> Array:
    """one of the equal parts of an axis, counted from 0."""
    return _call("part", x, parts, index, axis)


# ---- Scatters

def scatter(x: ArrayLike, indices: ArrayLike, updates: ArrayLike, axis: _Axes = 0, mode: str = 'raise') -> Array:
    """x with x[indices] = updates along the axis; of several updates of one element the last wins. mode as in take, or 'drop': updates out of range are discarded."""
    return _call("scatter", x, _indices(indices), updates, axis, mode)


def scatter_add(
    x: ArrayLike, indices: ArrayLike, updates: ArrayLike, axis: _Axes = 0, mode: str = 'raise', deterministic: bool = True
) -> Array:
    """x with x[indices] += updates along the axis, with every duplicate, as numpy.add.at. Not deterministic: on a GPU floats are added in any order, which is faster."""
    return _call("scatter_add", x, _indices(indices), updates, axis, mode, deterministic)


index_add = scatter_add


def scatter_mul(x: ArrayLike, indices: ArrayLike, updates: ArrayLike, axis: _Axes = 0, mode: str = 'raise') -> Array:
    """as scatter_add, with *=."""
    return _call("scatter_mul", x, _indices(indices), updates, axis, mode)


def scatter_max(x: ArrayLike, indices: ArrayLike, updates: ArrayLike, axis: _Axes = 0, mode: str = 'raise') -> Array:
    """as scatter_add, with maximum; nan wins."""
    return _call("scatter_max", x, _indices(indices), updates, axis, mode)


def scatter_min(x: ArrayLike, indices: ArrayLike, updates: ArrayLike, axis: _Axes = 0, mode: str = 'raise') -> Array:
    """as scatter_add, with minimum; nan wins."""
    return _call("scatter_min", x, _indices(indices), updates, axis, mode)


def segment_sum(x: ArrayLike, segments: ArrayLike, n: int, deterministic: bool = True) -> Array:
    """[n, ..]: the sum of the rows of x that belong to each segment; rows of no segment 0 .. n-1 are left out."""
    return _call("segment_sum", x, _indices(segments), n, deterministic)


def bincount(x: ArrayLike, n: int, weights: Optional[ArrayLike] = None, deterministic: bool = True) -> Array:
    """how often each of 0 .. n-1 is in x, as i64, or the sum of their weights; others are left out."""
    return _call("bincount", x, n, weights, deterministic)


def histogram(x: ArrayLike, bins: int, low: float, high: float) -> Array:
    """how many elements lie in each of the bins of equal width from low to high, as i64; nan and what is outside are left out."""
    return _call("histogram", x, bins, low, high)


# ---- Random numbers

def random_bits(shape: _Sizes, seed: ArrayLike, offset: ArrayLike = 0, stream: ArrayLike = 0) -> Array:
    """random words of 32 bits, u32: Philox4x32-10 of the counter offset + i // 4, stream and the key seed."""
    return _call("random_bits", shape, seed, offset, stream)


def uniform(
    shape: _Sizes, seed: ArrayLike, offset: ArrayLike = 0, stream: ArrayLike = 0, dtype: DType = _smelt.float32
) -> Array:
    """uniformly distributed from 0 to below 1, with as many random bits as the dtype holds."""
    return _call("uniform", shape, seed, offset, stream, dtype)


rand = uniform


def normal(
    shape: _Sizes, seed: ArrayLike, offset: ArrayLike = 0, stream: ArrayLike = 0, dtype: DType = _smelt.float32
) -> Array:
    """normally distributed: mean 0, deviation 1."""
    return _call("normal", shape, seed, offset, stream, dtype)


randn = normal


def bernoulli(shape: _Sizes, p: ArrayLike, seed: ArrayLike, offset: ArrayLike = 0, stream: ArrayLike = 0) -> Array:
    """true with probability p, exact to 2**-32."""
    return _call("bernoulli", shape, p, seed, offset, stream)


def dropout(x: ArrayLike, p: ArrayLike, seed: ArrayLike, offset: ArrayLike = 0, stream: ArrayLike = 0) -> Array:
    """0 where bernoulli(x.shape, p, seed, offset, stream) is true, else x / (1 - p)."""
    return _call("dropout", x, p, seed, offset, stream)


# ---- Gradients

def stop_gradient(x: ArrayLike) -> Array:
    """x, treated as a constant by gradients."""
    return _call("stop_gradient", x)


detach = stop_gradient


__all__ = [
    "add",
    "subtract",
    "sub",
    "multiply",
    "mul",
    "divide",
    "div",
    "true_divide",
    "floor_divide",
    "floordiv",
    "remainder",
    "mod",
    "fmod",
    "power",
    "negative",
    "neg",
    "absolute",
    "fabs",
    "sgn",
    "fma",
    "square",
    "reciprocal",
    "maximum",
    "minimum",
    "fix",
    "rint",
    "around",
    "sqrt",
    "rsqrt",
    "cbrt",
    "hypot",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "arcsin",
    "acos",
    "arccos",
    "atan",
    "arctan",
    "atan2",
    "arctan2",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "arcsinh",
    "acosh",
    "arccosh",
    "atanh",
    "arctanh",
    "erf",
    "erfc",
    "copysign",
    "equal",
    "eq",
    "not_equal",
    "ne",
    "less",
    "lt",
    "less_equal",
    "le",
    "greater",
    "gt",
    "greater_equal",
    "ge",
    "isnan",
    "isinf",
    "isfinite",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_not",
    "bitwise_invert",
    "invert",
    "left_shift",
    "bitwise_left_shift",
    "right_shift",
    "bitwise_right_shift",
    "logical_and",
    "logical_or",
    "logical_xor",
    "logical_not",
    "clamp",
    "relu",
    "leaky_relu",
    "elu",
    "gelu",
    "gelu_tanh",
    "sigmoid",
    "expit",
    "silu",
    "swish",
    "softplus",
    "mish",
    "hardswish",
    "hard_swish",
    "quantize_int8",
    "dequantize",
    "lerp",
    "amax",
    "amin",
    "logsumexp",
    "norm",
    "vector_norm",
    "l2norm",
    "cumsum",
    "cumprod",
    "cummax",
    "cummin",
    "cummean",
    "logcumsumexp",
    "softmax",
    "log_softmax",
    "layernorm",
    "layer_norm",
    "rmsnorm",
    "rms_norm",
    "groupnorm",
    "group_norm",
    "batchnorm",
    "batch_norm",
    "cross_entropy",
    "mse",
    "mse_loss",
    "huber",
    "huber_loss",
    "mm",
    "bmm",
    "linear",
    "einsum",
    "dot",
    "outer",
    "scaled_dot_product_attention",
    "attention",
    "view",
    "flatten",
    "ravel",
    "transpose",
    "permute",
    "swapaxes",
    "movedim",
    "expand",
    "unsqueeze",
    "concatenate",
    "cat",
    "stack",
    "pad",
    "repeat_interleave",
    "gather",
    "slice_update",
    "tril",
    "triu",
    "window",
    "sliding_window_view",
    "max_pool",
    "min_pool",
    "avg_pool",
    "conv",
    "conv1d",
    "conv2d",
    "conv3d",
    "correlate",
    "filter",
    "cast",
    "wrap_cast",
    "one_hot",
    "embedding",
    "rotary",
    "rope",
    "part",
    "scatter",
    "scatter_add",
    "index_add",
    "scatter_mul",
    "scatter_max",
    "scatter_min",
    "segment_sum",
    "bincount",
    "histogram",
    "random_bits",
    "uniform",
    "rand",
    "normal",
    "randn",
    "bernoulli",
    "dropout",
    "stop_gradient",
    "detach",
]
