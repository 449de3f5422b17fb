"""The functions of arrays as methods. Written by python/generate.py, as _functions.py."""

from __future__ import annotations

TYPE_CHECKING = False  # of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from typing import Any, Optional, Sequence, Union

    from ._array import Array, ArrayLike

    _Axes = Union[None, int, Sequence[int]]
    _Sizes = Union[int, Sequence[int]]

from . import _smelt
from ._smelt import DType

_call = _smelt.call


def _items(rest: Any) -> Any:
    return rest[0] if len(rest) == 1 and isinstance(rest[0], (tuple, list)) else rest


def _indices(given: Any) -> Any:
    if not isinstance(given, (tuple, list)):
        return given
    from ._index import indices

    return indices(given)


class Methods(_smelt.Array):
    """The functions whose first argument is an array."""

    __slots__ = ()

    def add(self, b: ArrayLike) -> Array:
        """smelt.add() of this array."""
        return _call("add", self, b)

    def subtract(self, b: ArrayLike) -> Array:
        """smelt.subtract() of this array."""
        return _call("subtract", self, b)

    def multiply(self, b: ArrayLike) -> Array:
        """smelt.multiply() of this array."""
        return _call("multiply", self, b)

    def divide(self, b: ArrayLike) -> Array:
        """smelt.divide() of this array."""
        return _call("divide", self, b)

    def floor_divide(self, b: ArrayLike) -> Array:
        """smelt.floor_divide() of this array."""
        return _call("floor_divide", self, b)

    def remainder(self, b: ArrayLike) -> Array:
        """smelt.remainder() of this array."""
        return _call("remainder", self, b)

    def fmod(self, b: ArrayLike) -> Array:
        """smelt.fmod() of this array."""
        return _call("fmod", self, b)

    def pow(self, b: ArrayLike) -> Array:
        """smelt.pow() of this array."""
        return _call("pow", self, b)

    def negative(self) -> Array:
        """smelt.negative() of this array."""
        return _call("negative", self)

    def abs(self) -> Array:
        """smelt.abs() of this array."""
        return _call("abs", self)

    def sign(self) -> Array:
        """smelt.sign() of this array."""
        return _call("sign", self)

    def fma(self, b: ArrayLike, c: ArrayLike) -> Array:
        """smelt.fma() of this array."""
        return _call("fma", self, b, c)

    def square(self) -> Array:
        """smelt.square() of this array."""
        return _call("square", self)

    def reciprocal(self) -> Array:
        """smelt.reciprocal() of this array."""
        return _call("reciprocal", self)

    def maximum(self, b: ArrayLike) -> Array:
        """smelt.maximum() of this array."""
        return _call("maximum", self, b)

    def minimum(self, b: ArrayLike) -> Array:
        """smelt.minimum() of this array."""
        return _call("minimum", self, b)

    def floor(self) -> Array:
        """smelt.floor() of this array."""
        return _call("floor", self)

    def ceil(self) -> Array:
        """smelt.ceil() of this array."""
        return _call("ceil", self)

    def trunc(self) -> Array:
        """smelt.trunc() of this array."""
        return _call("trunc", self)

    def round(self) -> Array:
        """smelt.round() of this array."""
        return _call("round", self)

    def sqrt(self) -> Array:
        """smelt.sqrt() of this array."""
        return _call("sqrt", self)

    def rsqrt(self) -> Array:
        """smelt.rsqrt() of this array."""
        return _call("rsqrt", self)

    def cbrt(self) -> Array:
        """smelt.cbrt() of this array."""
        return _call("cbrt", self)

    def hypot(self, b: ArrayLike) -> Array:
        """smelt.hypot() of this array."""
        return _call("hypot", self, b)

    def exp(self) -> Array:
        """smelt.exp() of this array."""
        return _call("exp", self)

    def exp2(self) -> Array:
        """smelt.exp2() of this array."""
        return _call("exp2", self)

    def expm1(self) -> Array:
        """smelt.expm1() of this array."""
        return _call("expm1", self)

    def log(self) -> Array:
        """smelt.log() of this array."""
        return _call("log", self)

    def log2(self) -> Array:
        """smelt.log2() of this array."""
        return _call("log2", self)

    def log10(self) -> Array:
        """smelt.log10() of this array."""
        return _call("log10", self)

    def log1p(self) -> Array:
        """smelt.log1p() of this array."""
        return _call("log1p", self)

    def sin(self) -> Array:
        """smelt.sin() of this array."""
        return _call("sin", self)

    def cos(self) -> Array:
        """smelt.cos() of this array."""
        return _call("cos", self)

    def tan(self) -> Array:
        """smelt.tan() of this array."""
        return _call("tan", self)

    def asin(self) -> Array:
        """smelt.asin() of this array."""
        return _call("asin", self)

    def acos(self) -> Array:
        """smelt.acos() of this array."""
        return _call("acos", self)

    def atan(self) -> Array:
        """smelt.atan() of this array."""
        return _call("atan", self)

    def atan2(self, b: ArrayLike) -> Array:
        """smelt.atan2() of this array."""
        return _call("atan2", self, b)

    def sinh(self) -> Array:
        """smelt.sinh() of this array."""
        return _call("sinh", self)

    def cosh(self) -> Array:
        """smelt.cosh() of this array."""
        return _call("cosh", self)

    def tanh(self) -> Array:
        """smelt.tanh() of this array."""
        return _call("tanh", self)

    def asinh(self) -> Array:
        """smelt.asinh() of this array."""
        return _call("asinh", self)

    def acosh(self) -> Array:
        """smelt.acosh() of this array."""
        return _call("acosh", self)

    def atanh(self) -> Array:
        """smelt.atanh() of this array."""
        return _call("atanh", self)

    def erf(self) -> Array:
        """smelt.erf() of this array."""
        return _call("erf", self)

    def erfc(self) -> Array:
        """smelt.erfc() of this array."""
        return _call("erfc", self)

    def copysign(self, b: ArrayLike) -> Array:
        """smelt.copysign() of this array."""
        return _call("copysign", self, b)

    def equal(self, b: ArrayLike) -> Array:
        """smelt.equal() of this array."""
        return _call("equal", self, b)

    def not_equal(self, b: ArrayLike) -> Array:
        """smelt.not_equal() of this array."""
        return _call("not_equal", self, b)

    def less(self, b: ArrayLike) -> Array:
        """smelt.less() of this array."""
        return _call("less", self, b)

    def less_equal(self, b: ArrayLike) -> Array:
        """smelt.less_equal() of this array."""
        return _call("less_equal", self, b)

    def greater(self, b: ArrayLike) -> Array:
        """smelt.greater() of this array."""
        return _call("greater", self, b)

    def greater_equal(self, b: ArrayLike) -> Array:
        """smelt.greater_equal() of this array."""
        return _call("greater_equal", self, b)

    def isnan(self) -> Array:
        """smelt.isnan() of this array."""
        return _call("isnan", self)

    def isinf(self) -> Array:
        """smelt.isinf() of this array."""
        return _call("isinf", self)

    def isfinite(self) -> Array:
        """smelt.isfinite() of this array."""
        return _call("isfinite", self)

    def bitwise_and(self, b: ArrayLike) -> Array:
        """smelt.bitwise_and() of this array."""
        return _call("bitwise_and", self, b)

    def bitwise_or(self, b: ArrayLike) -> Array:
        """smelt.bitwise_or() of this array."""
        return _call("bitwise_or", self, b)

    def bitwise_xor(self, b: ArrayLike) -> Array:
        """smelt.bitwise_xor() of this array."""
        return _call("bitwise_xor", self, b)

    def bitwise_not(self) -> Array:
        """smelt.bitwise_not() of this array."""
        return _call("bitwise_not", self)

    def left_shift(self, b: ArrayLike) -> Array:
        """smelt.left_shift() of this array."""
        return _call("left_shift", self, b)

    def right_shift(self, b: ArrayLike) -> Array:
        """smelt.right_shift() of this array."""
        return _call("right_shift", self, b)

    def logical_and(self, y: ArrayLike) -> Array:
        """smelt.logical_and() of this array."""
        return _call("logical_and", self, y)

    def logical_or(self, y: ArrayLike) -> Array:
        """smelt.logical_or() of this array."""
        return _call("logical_or", self, y)

    def logical_xor(self, y: ArrayLike) -> Array:
        """smelt.logical_xor() of this array."""
        return _call("logical_xor", self, y)

    def logical_not(self) -> Array:
        """smelt.logical_not() of this array."""
        return _call("logical_not", self)

    def clamp(self, lo: Optional[ArrayLike] = None, hi: Optional[ArrayLike] = None) -> Array:
        """smelt.clamp() of this array."""
        return _call("clamp", self, lo, hi)

    def relu(self) -> Array:
        """smelt.relu() of this array."""
        return _call("relu", self)

    def leaky_relu(self, slope: ArrayLike = 0.01) -> Array:
        """smelt.leaky_relu() of this array."""
        return _call("leaky_relu", self, slope)

    def elu(self, alpha: ArrayLike = 1.0) -> Array:
        """smelt.elu() of this array."""
        return _call("elu", self, alpha)

    def gelu(self, approximate: str = 'none') -> Array:
        """smelt.gelu() of this array."""
        return _call("gelu", self, approximate)

    def gelu_tanh(self) -> Array:
        """smelt.gelu_tanh() of this array."""
        return _call("gelu_tanh", self)

    def sigmoid(self) -> Array:
        """smelt.sigmoid() of this array."""
        return _call("sigmoid", self)

    def silu(self) -> Array:
        """smelt.silu() of this array."""
        return _call("silu", self)

    def softplus(self) -> Array:
        """smelt.softplus() of this array."""
        return _call("softplus", self)

    def mish(self) -> Array:
        """smelt.mish() of this array."""
        return _call("mish", self)

    def hardswish(self) -> Array:
        """smelt.hardswish() of this array."""
        return _call("hardswish", self)

    def quantize_int8(self, scale: ArrayLike, zero_point: ArrayLike = 0) -> Array:
        """smelt.quantize_int8() of this array."""
        return _call("quantize_int8", self, scale, zero_point)

    def dequantize(self, scale: ArrayLike, zero_point: ArrayLike = 0, dtype: DType = _smelt.float32) -> Array:
        """smelt.dequantize() of this array."""
        return _call("dequantize", self, scale, zero_point, dtype)

    def lerp(self, y: ArrayLike, weight: ArrayLike) -> Array:
        """smelt.lerp() of this array."""
        return _call("lerp", self, y, weight)

    def sum(self, axis: _Axes = None, keepdims: bool = False) -> Array:
        """smelt.sum() of this array."""
        return _call("sum", self, axis, keepdims)

    def prod(self, axis: _Axes = None, keepdims: bool = False) -> Array:
        """smelt.prod() of this array."""
        return _call("prod", self, axis, keepdims)

    def max(self, axis: _Axes = None, keepdims: bool = False) -> Array:
        """smelt.max() of this array."""
        return _call("max", self, axis, keepdims)

    def min(self, axis: _Axes = None, keepdims: bool = False) -> Array:
        """smelt.min() of this array."""
        return _call("min", self, axis, keepdims)

    def any(self, axis: _Axes = None, keepdims: bool = False) -> Array:
        """smelt.any() of this array."""
        return _call("any", self, axis, keepdims)

    def all(self, axis: _Axes = None, keepdims: bool = False) -> Array:
        """smelt.all() of this array."""
        return _call("all", self, axis, keepdims)

    def argmax(self, axis: _Axes = None, keepdims: bool = False) -> Array:
        """smelt.argmax() of this array."""
        return _call("argmax", self, axis, keepdims)

    def argmin(self, axis: _Axes = None, keepdims: bool = False) -> Array:
        """smelt.argmin() of this array."""
        return _call("argmin", self, axis, keepdims)

    def mean(self, axis: _Axes = None, keepdims: bool = False) -> Array:
        """smelt.mean() of this array."""
        return _call("mean", self, axis, keepdims)

    def var(self, axis: _Axes = None, ddof: int = 0, keepdims: bool = False) -> Array:
        """smelt.var() of this array."""
        return _call("var", self, axis, ddof, keepdims)

    def std(self, axis: _Axes = None, ddof: int = 0, keepdims: bool = False) -> Array:
        """smelt.std() of this array."""
        return _call("std", self, axis, ddof, keepdims)

    def logsumexp(self, axis: _Axes = None, keepdims: bool = False) -> Array:
        """smelt.logsumexp() of this array."""
        return _call("logsumexp", self, axis, keepdims)

    def norm(self, ord: float = 2, axis: _Axes = None, keepdims: bool = False) -> Array:
        """smelt.norm() of this array."""
        return _call("norm", self, ord, axis, keepdims)

    def l2norm(self, axis: _Axes = None, keepdims: bool = False) -> Array:
        """smelt.l2norm() of this array."""
        return _call("l2norm", self, axis, keepdims)

    def cumsum(
        self, axis: _Axes = -1, reverse: bool = False, exclusive: bool = False, restart: Optional[ArrayLike] = None
    ) -> Array:
        """smelt.cumsum() of this array."""
        return _call("cumsum", self, axis, reverse, exclusive, restart)

    def cumprod(
        self, axis: _Axes = -1, reverse: bool = False, exclusive: bool = False, restart: Optional[ArrayLike] = None
    ) -> Array:
        """smelt.cumprod() of this array."""
        return _call("cumprod", self, axis, reverse, exclusive, restart)

    def cummax(
        self, axis: _Axes = -1, reverse: bool = False, exclusive: bool = False, restart: Optional[ArrayLike] = None
    ) -> Array:
        """smelt.cummax() of this array."""
        return _call("cummax", self, axis, reverse, exclusive, restart)

    def cummin(
        self, axis: _Axes = -1, reverse: bool = False, exclusive: bool = False, restart: Optional[ArrayLike] = None
    ) -> Array:
        """smelt.cummin() of this array."""
        return _call("cummin", self, axis, reverse, exclusive, restart)

    def cummean(self, axis: _Axes = -1) -> Array:
        """smelt.cummean() of this array."""
        return _call("cummean", self, axis)

    def logcumsumexp(self, axis: _Axes = -1) -> Array:
        """smelt.logcumsumexp() of this array."""
        return _call("logcumsumexp", self, axis)

    def softmax(self, axis: _Axes = -1) -> Array:
        """smelt.softmax() of this array."""
        return _call("softmax", self, axis)

    def log_softmax(self, axis: _Axes = -1) -> Array:
        """smelt.log_softmax() of this array."""
        return _call("log_softmax", self, axis)

    def layernorm(
        self, weight: Optional[ArrayLike] = None, bias: Optional[ArrayLike] = None, axis: _Axes = -1, eps: ArrayLike = 1e-5
    ) -> Array:
        """smelt.layernorm() of this array."""
        return _call("layernorm", self, weight, bias, axis, eps)

    def rmsnorm(self, weight: Optional[ArrayLike] = None, axis: _Axes = -1, eps: ArrayLike = 1e-6) -> Array:
        """smelt.rmsnorm() of this array."""
        return _call("rmsnorm", self, weight, axis, eps)

    def groupnorm(
        self, groups: int, weight: Optional[ArrayLike] = None, bias: Optional[ArrayLike] = None, eps: ArrayLike = 1e-5
    ) -> Array:
        """smelt.groupnorm() of this array."""
        return _call("groupnorm", self, groups, weight, bias, eps)

    def batchnorm(
        self, mean: ArrayLike, var: ArrayLike, weight: Optional[ArrayLike] = None, bias: Optional[ArrayLike] = None, eps: ArrayLike = 1e-5, axis: _Axes = 1
    ) -> Array:
        """smelt.batchnorm() of this array."""
        return _call("batchnorm", self, mean, var, weight, bias, eps, axis)

    def cross_entropy(self, targets: ArrayLike, axis: _Axes = -1, reduction: str = 'mean') -> Array:
        """smelt.cross_entropy() of this array."""
        return _call("cross_entropy", self, targets, axis, reduction)

    def mse(self, targets: ArrayLike, reduction: str = 'mean') -> Array:
        """smelt.mse() of this array."""
        return _call("mse", self, targets, reduction)

    def huber(self, targets: ArrayLike, delta: ArrayLike = 1.0, reduction: str = 'mean') -> Array:
        """smelt.huber() of this array."""
        return _call("huber", self, targets, delta, reduction)

    def matmul(self, y: ArrayLike, precision: str = 'full') -> Array:
        """smelt.matmul() of this array."""
        return _call("matmul", self, y, precision)

    def linear(self, weight: ArrayLike, bias: Optional[ArrayLike] = None, precision: str = 'full') -> Array:
        """smelt.linear() of this array."""
        return _call("linear", self, weight, bias, precision)

    def dot(self, y: ArrayLike, precision: str = 'full') -> Array:
        """smelt.dot() of this array."""
        return _call("dot", self, y, precision)

    def vecdot(self, y: ArrayLike, axis: _Axes = -1) -> Array:
        """smelt.vecdot() of this array."""
        return _call("vecdot", self, y, axis)

    def outer(self, y: ArrayLike) -> Array:
        """smelt.outer() of this array."""
        return _call("outer", self, y)

    def tensordot(self, y: ArrayLike, axes: Any = 2, precision: str = 'full') -> Array:
        """smelt.tensordot() of this array."""
        return _call("tensordot", self, y, axes, precision)

    def reshape(self, *shape: Any) -> Array:
        """smelt.reshape() of this array."""
        return _call("reshape", self, _items(shape))

    def flatten(self) -> Array:
        """smelt.flatten() of this array."""
        return _call("flatten", self)

    def transpose(self, *axes: Any) -> Array:
        """smelt.transpose() of this array."""
        return _call("transpose", self, _items(axes) or None)

    def swapaxes(self, axis1: int, axis2: int) -> Array:
        """smelt.swapaxes() of this array."""
        return _call("swapaxes", self, axis1, axis2)

    def moveaxis(self, source: _Sizes, destination: _Sizes) -> Array:
        """smelt.moveaxis() of this array."""
        return _call("moveaxis", self, source, destination)

    def broadcast_to(self, *shape: Any) -> Array:
        """smelt.broadcast_to() of this array."""
        return _call("broadcast_to", self, _items(shape))

    def expand_dims(self, axis: _Axes) -> Array:
        """smelt.expand_dims() of this array."""
        return _call("expand_dims", self, axis)

    def squeeze(self, axis: _Axes = None) -> Array:
        """smelt.squeeze() of this array."""
        return _call("squeeze", self, axis)

    def pad(self, pad_width: Any, value: ArrayLike = 0, mode: str = 'constant') -> Array:
        """smelt.pad() of this array."""
        return _call("pad", self, pad_width, value, mode)

    def flip(self, axis: _Axes = None) -> Array:
        """smelt.flip() of this array."""
        return _call("flip", self, axis)

    def roll(self, shift: _Sizes, axis: _Axes = None) -> Array:
        """smelt.roll() of this array."""
        return _call("roll", self, shift, axis)

    def tile(self, *reps: Any) -> Array:
        """smelt.tile() of this array."""
        return _call("tile", self, _items(reps))

    def repeat(self, repeats: int, axis: _Axes = None) -> Array:
        """smelt.repeat() of this array."""
        return _call("repeat", self, repeats, axis)

    def take(self, indices: ArrayLike, axis: _Axes = None, mode: str = 'raise') -> Array:
        """smelt.take() of this array."""
        return _call("take", self, _indices(indices), axis, mode)

    def take_along_axis(self, indices: ArrayLike, axis: _Axes = -1, mode: str = 'raise') -> Array:
        """smelt.take_along_axis() of this array."""
        return _call("take_along_axis", self, _indices(indices), axis, mode)

    def slice_update(self, index: Any, value: ArrayLike) -> Array:
        """smelt.slice_update() of this array."""
        return _call("slice_update", self, index, value)

    def tril(self, k: int = 0) -> Array:
        """smelt.tril() of this array."""
        return _call("tril", self, k)

    def triu(self, k: int = 0) -> Array:
        """smelt.triu() of this array."""
        return _call("triu", self, k)

    def window(self, size: _Sizes, axis: _Axes = None, stride: Optional[_Sizes] = 1, dilation: _Sizes = 1) -> Array:
        """smelt.window() of this array."""
        return _call("window", self, size, axis, stride, dilation)

    def max_pool(
        self, size: _Sizes, stride: Optional[_Sizes] = None, padding: _Sizes = 0, dilation: _Sizes = 1
    ) -> Array:
        """smelt.max_pool() of this array."""
        return _call("max_pool", self, size, stride, padding, dilation)

    def min_pool(
        self, size: _Sizes, stride: Optional[_Sizes] = None, padding: _Sizes = 0, dilation: _Sizes = 1
    ) -> Array:
        """smelt.min_pool() of this array."""
        return _call("min_pool", self, size, stride, padding, dilation)

    def avg_pool(
        self, size: _Sizes, stride: Optional[_Sizes] = None, padding: _Sizes = 0, count_padding: bool = True
    ) -> Array:
        """smelt.avg_pool() of this array."""
        return _call("avg_pool", self, size, stride, padding, count_padding)

    def conv(
        self, weight: ArrayLike, bias: Optional[ArrayLike] = None, stride: Optional[_Sizes] = 1, padding: _Sizes = 0, dilation: _Sizes = 1, groups: int = 1
    ) -> Array:
        """smelt.conv() of this array."""
        return _call("conv", self, weight, bias, stride, padding, dilation, groups)

    def correlate(self, kernel: ArrayLike) -> Array:
        """smelt.correlate() of this array."""
        return _call("correlate", self, kernel)

    def filter(self, kernel: ArrayLike, mode: str = 'edge', value: ArrayLike = 0) -> Array:
        """smelt.filter() of this array."""
        return _call("filter", self, kernel, mode, value)

    def full_like(self, value: ArrayLike, dtype: Optional[DType] = None) -> Array:
        """smelt.full_like() of this array."""
        return _call("full_like", self, value, dtype)

    def zeros_like(self, dtype: Optional[DType] = None) -> Array:
        """smelt.zeros_like() of this array."""
        return _call("zeros_like", self, dtype)

    def ones_like(self, dtype: Optional[DType] = None) -> Array:
        """smelt.ones_like() of this array."""
        return _call("ones_like", self, dtype)

    def astype(self, dtype: DType) -> Array:
        """smelt.astype() of this array."""
        return _call("astype", self, dtype)

    def wrap_cast(self, dtype: DType) -> Array:
        """smelt.wrap_cast() of this array."""
        return _call("wrap_cast", self, dtype)

    def rotary(self, cos: ArrayLike, sin: ArrayLike, interleaved: bool = False) -> Array:
        """smelt.rotary() of this array."""
        return _call("rotary", self, cos, sin, interleaved)

    def rope(self, positions: ArrayLike, base: float = 10000, interleaved: bool = False) -> Array:
        """smelt.rope() of this array."""
        return _call("rope", self, positions, base, interleaved)

    def part(self, parts: int, index: Any, axis: _Axes = 0) -> Array:
        """smelt.part() of this array."""
        return _call("part", self, parts, index, axis)

    def scatter(self, indices: ArrayLike, updates: ArrayLike, axis: _Axes = 0, mode: str = 'raise') -> Array:
        """smelt.scatter() of this array."""
        return _call("scatter", self, _indices(indices), updates, axis, mode)

    def scatter_add(
        self, indices: ArrayLike, updates: ArrayLike, axis: _Axes = 0, mode: str = 'raise', deterministic: bool = True
    ) -> Array:
        """smelt.scatter_add() of this array."""
        return _call("scatter_add", self, _indices(indices), updates, axis, mode, deterministic)

    def scatter_mul(self, indices: ArrayLike, updates: ArrayLike, axis: _Axes = 0, mode: str = 'raise') -> Array:
        """smelt.scatter_mul() of this array."""
        return _call("scatter_mul", self, _indices(indices), updates, axis, mode)

    def scatter_max(self, indices: ArrayLike, updates: ArrayLike, axis: _Axes = 0, mode: str = 'raise') -> Array:
        """smelt.scatter_max() of this array."""
        return _call("scatter_max", self, _indices(indices), updates, axis, mode)

    def scatter_min(self, indices: ArrayLike, updates: ArrayLike, axis: _Axes = 0, mode: str = 'raise') -> Array:
        """smelt.scatter_min() of this array."""
        return _call("scatter_min", self, _indices(indices), updates, axis, mode)

    def segment_sum(self, segments: ArrayLike, n: int, deterministic: bool = True) -> Array:
        """smelt.segment_sum() of this array."""
        return _call("segment_sum", self, _indices(segments), n, deterministic)

    def bincount(self, n: int, weights: Optional[ArrayLike] = None, deterministic: bool = True) -> Array:
        """smelt.bincount() of this array."""
        return _call("bincount", self, n, weights, deterministic)

    def histogram(self, bins: int, low: float, high: float) -> Array:
        """smelt.histogram() of this array."""
        return _call("histogram", self, bins, low, high)

    def dropout(self, p: ArrayLike, seed: ArrayLike, offset: ArrayLike = 0, stream: ArrayLike = 0) -> Array:
        """smelt.dropout() of this array."""
        return _call("dropout", self, p, seed, offset, stream)

    def stop_gradient(self) -> Array:
        """smelt.stop_gradient() of this array."""
        return _call("stop_gradient", self)
