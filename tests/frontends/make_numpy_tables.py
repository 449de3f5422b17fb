"""Writes numpy_tables.txt: expressions of the language with the results that NumPy has for them.

    pip install numpy && python3 tests/frontends/make_numpy_tables.py > tests/frontends/numpy_tables.txt

The tests read the table and need no NumPy. Where the two languages spell an expression alike, one text serves both; the
functions that NumPy lacks are written here, plainly and in another way than the compiler builds them.
"""
import math
import re
import warnings

import numpy as np

np.seterr(all="ignore")
warnings.simplefilter("ignore")

INPUTS = {
    "a": (((np.arange(24) * 7) % 24 - 11) / 4.0).reshape(2, 3, 4),
    "b": (((np.arange(24) * 5) % 24 - 12) / 8.0).reshape(2, 3, 4),
    "m": (((np.arange(12) * 5) % 12 - 5) / 2.0).reshape(3, 4),
    "v": np.array([1.5, -2.0, 0.25, 4.0]),
    "w": np.array([0.5, -1.0, 2.0]),
    "pos": np.array([0.1, 0.5, 1.0, 2.5, 7.0]),
    "unit": np.array([-0.9, -0.25, 0.0, 0.5, 0.75]),
    "s": np.array(1.25),
    "z": np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e308, -1e-310, 2.5, -2.5]),
    "big": np.array([-1e4, -800.0, -30.0, -0.5, 0.0, 0.5, 30.0, 800.0, 1e4]),
    "ties": np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.4999999999999999]),
    "rows": np.array([[-np.inf, 1.0, 2.0], [-np.inf, -np.inf, -np.inf], [1e4, -1e4, 0.0], [np.inf, 0.0, 1.0]]),
    "n": np.array([[7, -7, 3], [-3, 0, 12]]),
    "d": np.array([[2, 2, -5], [-2, 4, 5]]),
    "k": np.array([2, 0, 3, -1]),
    "i8s": np.array([100, -100, 7, -128, 127], dtype=np.int8),
    "u8s": np.array([200, 100, 7, 0, 255], dtype=np.uint8),
    "u": np.array([[1, 200, 0]], dtype=np.uint8),
    "p": np.array([[True, False, True, True], [False, False, False, False], [True, True, True, True]]),
    "q": np.array([True, False, True, False]),
    "x0": np.zeros((0, 3)),
    "x1": np.ones((1, 3, 1)) * 2,
    "logits": np.array([[1.0, 2.0, 3.0], [-1.0, 0.5, 0.0], [1000.0, 0.0, -1000.0], [0.0, 0.0, 0.0]]),
    "targets": np.array([2, 0, 1, 1]),
    "off": np.array([2, 3, -1, 0]),
    "chan": np.array([1.0, -2.0, 0.5]),
    "spread": np.array([4.0, 0.25, 1.0]),
}

erf = np.vectorize(math.erf, otypes=[float])
erfc = np.vectorize(math.erfc, otypes=[float])


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def log_softmax(x, axis=-1):
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def logsumexp(x, axis=None, keepdims=False):
    return np.logaddexp.reduce(x.ravel() if axis is None else x, axis=0 if axis is None else axis, keepdims=keepdims)


def scan(ufunc, start):
    def scanned(x, axis=-1, reverse=False, exclusive=False, restart=None):
        x = np.moveaxis(np.asarray(x), axis, -1)
        x = x[..., ::-1] if reverse else x
        sums = ufunc in (np.add, np.multiply) and x.dtype.kind in "iub"
        result = np.zeros(x.shape, ("u8" if x.dtype.kind == "u" else "i8") if sums else x.dtype)
        restarts = np.zeros(x.shape, bool) if restart is None else np.broadcast_to(restart, x.shape)
        restarts = restarts[..., ::-1] if reverse else restarts
        for index in np.ndindex(x.shape[:-1]):
            for i in range(x.shape[-1]):
                first = max([k for k in range(i + 1) if restarts[index + (k,)]], default=0)
                part = x[index][first:i + (0 if exclusive else 1)]
                result[index + (i,)] = ufunc.reduce(part, dtype=result.dtype) if len(part) else start
        result = result[..., ::-1] if reverse else result
        return np.moveaxis(result, -1, axis)
    return scanned


def standardized(x, axis, eps):
    return (x - np.mean(x, axis=axis, keepdims=True)) / np.sqrt(np.var(x, axis=axis, keepdims=True) + eps)


def layernorm(x, weight=None, bias=None, axis=-1, eps=1e-5):
    y = standardized(x, axis, eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def rmsnorm(x, weight=None, axis=-1, eps=1e-6):
    y = x / np.sqrt(np.mean(x * x, axis=axis, keepdims=True) + eps)
    return y if weight is None else y * weight


def groupnorm(x, groups, weight=None, bias=None, eps=1e-5):
    parts = [standardized(part, tuple(range(1, x.ndim)), eps) for part in np.split(x, groups, axis=1)]
    y = np.concatenate(parts, axis=1)
    shape = (1, -1) + (1,) * (x.ndim - 2)
    y = y if weight is None else y * weight.reshape(shape)
    return y if bias is None else y + bias.reshape(shape)


def batchnorm(x, mean, var, weight=None, bias=None, eps=1e-5, axis=1):
    y = (np.moveaxis(x, axis, -1) - mean) / np.sqrt(var + eps)
    y = y if weight is None else y * weight
    y = y if bias is None else y + bias
    return np.moveaxis(y, -1, axis)


def cross_entropy(x, targets, axis=-1, reduction="mean"):
    x = np.moveaxis(x, axis, -1)
    loss = np.full(targets.shape, np.nan)
    for index, target in np.ndenumerate(targets):
        if 0 <= target < x.shape[-1]:
            loss[index] = -log_softmax(x[index])[target]
    return reduced(loss, reduction)


def reduced(loss, reduction):
    return {"mean": np.mean, "sum": np.sum, "none": lambda x: x}[reduction](loss)


def huber(x, y, delta=1.0, reduction="mean"):
    d = np.abs(x - y)
    return reduced(np.where(d <= delta, d * d / 2, delta * (d - delta / 2)), reduction)


def norm(x, ord=2, axis=None, keepdims=False):
    if axis is None:
        return np.linalg.norm(x.ravel(), ord).reshape((1,) * x.ndim if keepdims else ())
    return np.linalg.norm(x, ord, axis=axis, keepdims=keepdims)


def sigmoid(x):
    return np.where(x < 0, np.exp(np.minimum(x, 0)) / (1 + np.exp(np.minimum(x, 0))), 1 / (1 + np.exp(-np.maximum(x, 0))))


def quantize_int8(x, scale, zero_point=0):
    y = np.clip(np.round(x / scale + zero_point), -128, 127)
    return np.where(np.isnan(y), 0, y).astype(np.int8)


def saturating(lo, hi, dtype):
    def cast(x):
        x = np.asarray(x)
        if x.dtype.kind != "f":
            return np.array(np.clip(x.astype(object), lo, hi)).astype(dtype)
        return np.where(np.isnan(x), 0, np.clip(np.trunc(x), lo, hi)).astype(dtype)
    return cast


def pad(x, pad_width, value=0, mode="constant"):
    return np.pad(x, pad_width, mode, **({"constant_values": value} if mode == "constant" else {}))


def listed(value, n):
    return [value] * n if isinstance(value, int) else list(value)


def window(x, size, axis=None, stride=1, dilation=1):
    size = listed(size, 1)
    axes = range(x.ndim - len(size), x.ndim) if axis is None else listed(axis, 1)
    axes, stride, dilation = [a % x.ndim for a in axes], listed(stride, len(size)), listed(dilation, len(size))
    reach = [(k - 1) * d + 1 for k, d in zip(size, dilation)]
    y = np.lib.stride_tricks.sliding_window_view(x, reach, axis=axes)
    for i, axis in enumerate(axes):
        y = y[(slice(None),) * axis + (slice(None, None, stride[i]),)]
        y = y[(slice(None),) * (x.ndim + i) + (slice(None, None, dilation[i]),)]
    return y


def pool(fold, outside, x, size, stride=None, padding=0, dilation=1):
    n = len(listed(size, 1))
    widths = [(0, 0)] * (x.ndim - n) + [(p, p) for p in listed(padding, n)]
    y = window(np.pad(x, widths, constant_values=outside), size, None, size if stride is None else stride, dilation)
    return fold(y, axis=tuple(range(x.ndim, x.ndim + n)))


def avg_pool(x, size, stride=None, padding=0, count_padding=True):
    total = pool(np.sum, 0, x, size, stride, padding)
    return total / pool(np.sum, 1 if count_padding else 0, np.ones_like(x), size, stride, padding)


def conv(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    n, outputs = x.ndim - 2, weight.shape[0]
    widths = [(0, 0), (0, 0)] + [(p, p) for p in listed(padding, n)]
    y = window(np.pad(x, widths), weight.shape[2:], None, stride, dilation)
    parts, axes = y.shape[1] // groups, (1,) + tuple(range(2 + n, 2 + 2 * n))
    planes = []
    for o in range(outputs):
        first = o * groups // outputs * parts
        planes.append(np.tensordot(y[:, first:first + parts], weight[o], (axes, range(n + 1))))
    y = np.stack(planes, axis=1)
    return y if bias is None else y + bias.reshape((1, -1) + (1,) * n)


def correlate(x, kernel):
    y = window(x, kernel.shape)
    return np.sum(y * kernel, axis=tuple(range(x.ndim, y.ndim)))


def filtered(x, kernel, mode="edge", value=0):
    widths = [(0, 0)] * (x.ndim - kernel.ndim) + [(k // 2, k - 1 - k // 2) for k in kernel.shape]
    return correlate(pad(x, widths, value, mode), kernel)


def scatter(update):
    def run(x, indices, updates, axis=0, mode="raise", deterministic=True):
        axis %= x.ndim
        shape = x.shape[:axis] + indices.shape + x.shape[axis + 1:]
        rows = np.moveaxis(np.broadcast_to(updates, shape), range(axis, axis + indices.ndim), range(indices.ndim))
        rows = rows.reshape((indices.size,) + rows.shape[indices.ndim:])
        places, size = indices.ravel(), x.shape[axis]
        if mode == "drop":
            kept = (places >= 0) & (places < size)
            places, rows = places[kept], rows[kept]
        places = {"clip": np.clip(places, 0, size - 1), "wrap": places % size}.get(mode, places)
        out = np.moveaxis(x, axis, 0).copy()
        update(out, places, rows)
        return np.moveaxis(out, 0, axis)
    return run


def slice_update(x, index, value):
    out = np.array(x)
    out[index] = value
    return out


def attention(q, k, v, mask=None, causal=False, scale=None):
    if q.shape[-3:-2] != k.shape[-3:-2]:  # heads of q that share those of k
        k, v = (np.repeat(x, q.shape[-3] // x.shape[-3], axis=-3) for x in (k, v))
    scores = q @ np.swapaxes(k, -1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    return np.nan_to_num(softmax(scores)) @ v


def segment_sum(x, segments, n, deterministic=True):
    return np.stack([x[segments == k].sum(axis=0) for k in range(n)])


def bincount(x, n, weights=None, deterministic=True):
    return np.array([(x == k).sum() if weights is None else weights[x == k].sum() for k in range(n)])


NAMES = {name: getattr(np, name) for name in
         """exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh asin acos atan atan2 asinh acosh atanh sqrt cbrt
         hypot floor ceil trunc fmod copysign maximum minimum where isnan isinf isfinite sign square reciprocal add subtract
         multiply divide floor_divide remainder pow power negative abs absolute equal not_equal less less_equal greater
         greater_equal bitwise_and bitwise_or bitwise_xor bitwise_not left_shift right_shift logical_and logical_or
         logical_xor logical_not sum prod max min any all argmax argmin mean var std reshape transpose swapaxes moveaxis
         broadcast_to expand_dims squeeze concatenate stack flip roll tile repeat take take_along_axis tril triu arange eye full zeros ones
         full_like zeros_like ones_like matmul einsum dot outer tensordot""".split()}
NAMES |= {
    "erf": erf, "erfc": erfc, "pi": math.pi, "inf": math.inf, "nan": math.nan, "concat": np.concatenate, "round": np.rint,
    "rsqrt": lambda x: 1 / np.sqrt(x), "fma": lambda x, y, z: x * y + z, "clamp": lambda x, lo=None, hi=None: np.clip(x, lo, hi),
    "relu": lambda x: np.maximum(x, 0), "leaky_relu": lambda x, slope=0.01: np.where(x >= 0, x, slope * x),
    "elu": lambda x, alpha=1.0: np.where(x > 0, x, alpha * (np.exp(np.minimum(x, 0)) - 1)),
    "gelu": lambda x, approximate="none": x / 2 * erfc(-x / math.sqrt(2)) if approximate == "none" else NAMES["gelu_tanh"](x),
    "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "sigmoid": sigmoid, "silu": lambda x: x * sigmoid(x), "softplus": lambda x: np.logaddexp(0, x),
    "mish": lambda x: x * np.tanh(np.logaddexp(0, x)), "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "quantize_int8": quantize_int8, "dequantize": lambda x, scale, zero_point=0: (x.astype(float) - zero_point) * scale,
    "lerp": lambda x, y, weight: x + weight * (y - x), "softmax": softmax, "log_softmax": log_softmax,
    "cumsum": scan(np.add, 0), "cumprod": scan(np.multiply, 1), "cummax": scan(np.maximum, -np.inf),
    "cummin": scan(np.minimum, np.inf), "cummean": lambda x, axis=-1: np.stack(
        [np.mean(np.take(x, range(i + 1), axis), axis=axis) for i in range(x.shape[axis])], axis),
    "logcumsumexp": lambda x, axis=-1: np.logaddexp.accumulate(x, axis=axis),
    "scatter": scatter(lambda out, i, u: out.__setitem__(i, u)), "scatter_add": scatter(np.add.at),
    "scatter_mul": scatter(np.multiply.at), "scatter_max": scatter(np.maximum.at), "scatter_min": scatter(np.minimum.at),
    "mm": np.matmul, "linear": lambda x, weight, bias=0: x @ weight.T + bias, "attention": attention,
    "vecdot": lambda x, y, axis=-1: np.sum(x * y, axis=axis), "scaled_dot_product_attention": attention,
    "slice_update": slice_update, "segment_sum": segment_sum, "bincount": bincount,
    "histogram": lambda x, bins, low, high: np.histogram(x[np.isfinite(x)], bins, (low, high))[0],
    "logsumexp": logsumexp, "norm": norm, "l2norm": lambda x, axis=None, keepdims=False: norm(x, 2, axis, keepdims),
    "layernorm": layernorm, "rmsnorm": rmsnorm, "groupnorm": groupnorm, "batchnorm": batchnorm,
    "cross_entropy": cross_entropy, "huber": huber, "pad": pad, "flatten": np.ravel,
    "window": window, "max_pool": lambda x, *a, **k: pool(np.max, -np.inf, x, *a, **k),
    "min_pool": lambda x, *a, **k: pool(np.min, np.inf, x, *a, **k), "avg_pool": avg_pool, "conv": conv,
    "correlate": correlate, "filter": filtered,
    "mse": lambda x, y, reduction="mean": reduced((x - y) ** 2, reduction),
    "f64": np.float64, "i64": saturating(-2**63, 2**63 - 1, np.int64), "i32": saturating(-2**31, 2**31 - 1, np.int32),
    "i8": saturating(-128, 127, np.int8), "u8": saturating(0, 255, np.uint8), "bool": lambda x: np.asarray(x) != 0,
    "astype": lambda x, dtype: dtype(x), "wrap_cast": lambda x, dtype: x.astype(dtype(0).dtype),
}

# (group, expression) or (group, expression, the same for Python)
ROWS = []


def group(name, text):
    for line in text.strip().splitlines():
        parts = [part.strip() for part in line.split("  ;")]
        ROWS.append((name, parts[0], parts[-1]))


group("slices", """
a[0]
a[-1]
a[1, 2]
a[1, 2, 3]
a[-1, -2, -3]
a[0, :, 1]
a[:, 1]
a[..., 0]
a[0, ...]
a[..., 1, :]
a[...]
a[:]
a[1:]
a[:, 1:]
a[:, :-1]
a[:, :, ::2]
a[:, :, 1::2]
a[:, :, ::-1]
a[:, ::-1, ::-2]
a[:, :, -3:-1]
a[:, :, 3:0:-1]
a[:, :, 3:0:-2]
a[:, :, -1:-4:-1]
a[:, :, 2:]
a[:, :, :2]
a[:, :, 5:]
a[:, :, :99]
a[:, :, -99:2]
a[:, :, 99::-1]
a[:, :, :-99:-1]
a[:, :, 2:2]
a[:, :, 3:1]
a[:, :, 1:3:-1]
a[None]
a[:, None]
a[..., None]
a[None, 0, ..., None]
a[:, None, 1, None, ::2]
a[0][1][2]
m[::2, ::-1]
m[1:, 1:] - m[:-1, :-1]
v[::-1]
v[-1:0:-1]
v[1:-1]
v[::3]
v[::-3]
x0[:, 1]
x0[:0]
m[k - 1]
m[:, k]
a[1, k - 1]
a[:, 1, k]
a[k % 2, 0]
a[:, n % 3]
m[None, targets]
s[...]
s[None, None]
m.T[1]
m[m.shape[0] - 1]
m[:m.shape[0] - 1, m.shape[1] // 2:]
m[[2, 0]]
m[:, [3, 2, 1]]
m[:, [0, 3, 3]]
m[[-1, -2], 1]
m[0, [2, 0, 1]]
m[[1]]
v[[0, 2]]
a[..., [2, 0], None]
a[:, [0, 1, 2], ::-2]
a[None, [1, 0], 1:]
m[[j * 2 for j in (0, 1)]]
m[(2, 0)]
x0[:, [2, 0]]
""")

group("operators", """
a + b
a - b
a * b
a / b
a // b
a % b
a ** 2
a ** 3
a ** -1
pos ** 0.5
pos ** unit
2 ** unit
-a
+a
n // d
n % d
n ** 2
n ** 3
-n
n + d * 2 - 1
n & d
n | d
n ^ d
~n
n << 2
n >> 1
n // 2
n % -3
-7 // 2 + n
a < b
a <= b
a > b
a >= b
a == b
a != b
n == d
p & (m > 0)
p | (m > 0)
p ^ (m > 0)
~p
not p  ; ~p
p and m > 0  ; p & (m > 0)
p or not m > 0  ; p | ~(m > 0)
-1 < m < 1  ; (-1 < m) & (m < 1)
-1 < m <= 1 != v  ; (-1 < m) & (m <= 1) & (1 != v)
m if p else -m  ; np.where(p, m, -m)
1 if p else 2  ; np.where(p, 1, 2)
m if m > 1 else 0.0 if m > 0 else -1.0  ; np.where(m > 1, m, np.where(m > 0, 0.0, -1.0))
m + v
m + w[:, None]
a * w[None, :, None] + v
s * m
m * s - 1
x1 + a
z + 1
z * 0
z // 1
1.0 // z
z % 2
-z
z == z
z < 1
x0 + 1
2 * pi * v
v * (1 / 3)
v * 1e-3 + 0x10
1 - v
1 / v
7 // v
7.5 % v
a.T
m.T
m.T + v[:, None]
""")

group("elementwise", """
add(a, b)
subtract(a, b)
multiply(a, b)
divide(a, b)
floor_divide(a, b)
remainder(a, b)
fmod(a, b)
fmod(n, d)
pow(pos, unit)
negative(a)
abs(z)
abs(n)
sign(z)  ; np.where(z == 0, z, np.sign(z))
sign(n)
fma(a, b, b)
square(a)
square(n)
reciprocal(a)
maximum(z, 1)
minimum(z, 1)
maximum(1, z)
maximum(n, d)
minimum(n, d)
floor(ties)
ceil(ties)
trunc(ties)
round(ties)
round(z)
sqrt(pos)
sqrt(z)
rsqrt(pos)
cbrt(unit)
hypot(a, b)
exp(unit)
exp(z)
exp2(unit)
expm1(unit)
log(pos)
log(z)
log2(pos)
log10(pos)
log1p(unit)
sin(a)
cos(a)
tan(a)
asin(unit)
acos(unit)
atan(a)
atan2(a, b)
sinh(a)
cosh(a)
tanh(z)
asinh(a)
acosh(pos + 1)
atanh(unit)
erf(a)
erfc(a)
copysign(a, b)
equal(n, d)
not_equal(n, d)
less(n, d)
less_equal(n, d)
greater(n, d)
greater_equal(n, d)
isnan(z)
isinf(z)
isfinite(z)
bitwise_and(n, d)
bitwise_or(n, d)
bitwise_xor(n, d)
bitwise_not(n)
left_shift(n, 3)
right_shift(n, 1)
where(p, m, v)
where(p, m, 0)
where(m > 0, 1.0, m)
logical_and(m, v)
logical_or(m, 0)
logical_xor(m, v)
logical_not(z)
""")

group("activations", """
relu(a)
relu(n)
relu(z)
leaky_relu(a)
leaky_relu(a, 0.2)
elu(a)
elu(big)
elu(a, alpha=0.5)
gelu(a)
gelu(big)
gelu(a, approximate='tanh')
gelu_tanh(a)
sigmoid(a)
sigmoid(big)
sigmoid(z)
silu(a)
silu(big)
softplus(a)
softplus(big)
softplus(z)
mish(a)
mish(big)
hardswish(a)
clamp(a, -1, 1)
clamp(z, -1, 1)
clamp(a, lo=0.5)
clamp(a, hi=0.5)
clamp(a, None, 0.5)
clamp(n, -2, 5)
clamp(m, v - 1, v + 1)
quantize_int8(a, 0.1, 3)
quantize_int8(z, 0.5)
quantize_int8(m, spread[:, None], zero_point=-5)
dequantize(i8s, 0.5, 3)  ; dequantize(i8s, 0.5, 3).astype(np.float32)
dequantize(u8s, 0.25, dtype=f64)  ; dequantize(u8s, 0.25)
lerp(a, b, 0.25)
lerp(a, b, v)
""")

group("scans", """
cumsum(a)
cumsum(a, axis=0)
cumsum(a, 1, reverse=True)
cumsum(v, exclusive=True)
cumsum(v, exclusive=True, reverse=True)
cumsum(a, restart=a > 1)
cumsum(v, restart=q, exclusive=True)
cumsum(m, restart=q, reverse=True)
cumsum(i8s)
cumsum(u8s)
cumsum(p)
cumsum(x0)
cumsum(x1)
cumsum(x1, exclusive=True)
cumsum(z)
cumprod(a)
cumprod(n)
cumprod(v, exclusive=True)
cummax(a)
cummax(z)
cummax(i8s)
cummax(v, exclusive=True)
cummin(a, axis=1)
cummin(n, axis=0)
cummin(v, exclusive=True, reverse=True)
cummax(p, axis=0)
cummean(a)
cummean(m, axis=0)
logcumsumexp(a)
logcumsumexp(m, axis=0)
""")

group("scatters", """
scatter(v, k, 7.0)
scatter(m, n % 3, 0.5)
scatter(a, targets, b[0, 0], axis=-1)
scatter_add(v, k, pos[:4])
scatter_add(v, targets, 1.0)
scatter_add(m, n, v, mode='wrap')
scatter_add(m, n, v, mode='clip')
scatter_add(m, n, v, mode='drop')
scatter_add(a, off, v, axis=1, mode='drop')
scatter_add(a, n, 1.0, axis=2, mode='clip')
scatter_add(i8s, targets, i8s[1:])
scatter_add(x1, targets[1:2] * 0, 3.0)
scatter_add(z, targets, v)
scatter_mul(v, targets, pos[1:])
scatter_mul(i8s, k, 3)
scatter_max(v, targets, pos[1:])
scatter_max(z, k, z[:4])
scatter_min(m, targets % 3, m[:1] * 2)
scatter_min(n, n, d[1, 0], mode='drop')
segment_sum(m, targets[:3], 4)
segment_sum(m, n[0], 2)
segment_sum(logits, off, 3)
bincount(n, 13)
bincount(targets, 3, v)
bincount(u8s, 101)
histogram(a, 6, -2.5, 2.5)
histogram(z[3:5], 4, -1, 3)
histogram(i8s, 5, -100, 100)
histogram(f64(p), 2, 0, 1)
""")

group("reductions", """
sum(a)
sum(a, axis=0)
sum(a, 1)
sum(a, axis=-1)
sum(a, axis=(0, 2))
sum(a, axis=(-1, 0), keepdims=True)
sum(a, keepdims=True)
sum(n)
sum(i8s)
sum(u8s)
sum(p, axis=0)
sum(x0)
sum(x0, axis=0)
sum(s)
prod(pos)
prod(x0, axis=0)
prod(n, axis=0)
max(a, axis=1)
max(a)
max(z)
max(i8s)
min(a, axis=(0, 1))
min(n)
min(z[3:])
any(p, axis=1)
all(p, axis=1)
any(m > 2)
all(m)
any(x0, axis=0)
all(x0, axis=0)
argmax(a)
argmax(a, axis=1)
argmax(a, axis=-1, keepdims=True)
argmax(z)
argmin(a, axis=0)
argmin(n)
mean(a)
mean(a, axis=1)
mean(a, axis=(0, 2), keepdims=True)
mean(x0, axis=0)
mean(x0, axis=1)
var(a)
var(a, axis=-1)
var(a, axis=-1, ddof=1)
var(a, axis=(0, 1), keepdims=True)
var(v * 1e-2 + 1e4)
var(s)
var(s, ddof=1)
std(a, axis=0)
std(a, ddof=1)
logsumexp(a)
logsumexp(a, axis=1)
logsumexp(rows, axis=1)
logsumexp(rows, axis=-1, keepdims=True)
logsumexp(big)
norm(m)
norm(m, axis=0)
norm(m, 1, axis=1)
norm(m, ord=inf, axis=1, keepdims=True)
norm(m, -inf, axis=1)
norm(m, 3, axis=1)
norm(m, 0, axis=1)  ; np.sum(m != 0, axis=1).astype(float)
norm(m, keepdims=True)
l2norm(a)
l2norm(m, axis=1)
sum(a, axis=())
sum(i8s, axis=(), keepdims=True)
prod(n, axis=())
max(z, axis=())
min(a, axis=())
any(m, axis=())
all(p, axis=())
mean(m, axis=())
var(v, axis=())
var(v, axis=(), ddof=1)
std(m, axis=(), keepdims=True)
logsumexp(rows, axis=())
sum(x0, axis=())
sum(s, axis=())
a.sum(axis=1)
a.sum()
a.mean(-1)
a.var(axis=0, ddof=1)
a.max(axis=(0, 2))
a.argmax(axis=2)
p.any()
""")

group("products", """
m @ v
v @ v
m.T @ m
a @ b.mT  ; a @ np.swapaxes(b, -1, -2)
a @ v
w @ m
a @ m.T
a[:, None] @ b.mT  ; a[:, None] @ np.swapaxes(b, -1, -2)
matmul(m, v)
mm(m, m.T)
n @ n.T
i8s @ i8s
u8s @ u8s
p @ p.T
dot(m, v)
dot(a, m.T)
dot(s, m)
dot(v, v)
dot(m, b.mT)  ; np.dot(m, np.swapaxes(b, -1, -2))
vecdot(m, v)
vecdot(a, b, axis=1)
outer(v, w)
outer(m, w)
tensordot(a, moveaxis(b, 0, -1))
tensordot(a, b, axes=((1, 2), (1, 2)))
tensordot(a, m, axes=((2, 1), (1, 0)))
tensordot(a, v, axes=1)
tensordot(v, w, axes=0)
linear(a, m)
linear(m, m, w)
einsum('ij,kj->ik', m, m)
einsum('ij,kj', m, m)
einsum('ba', m)
einsum('ij->', m)
einsum('ij->j', m)
einsum('bij,bkj->bik', a, b)
einsum('bij,bkj->ki', a, b)
einsum('...ij,kj->...ik', a, m)
einsum('...ij,...j->...i', a, v)
einsum('ij,j,i->', m, v, w)
einsum('ij,j,i->ij', m, v, w)
einsum('i,j->ij', v, w)
einsum('ii->i', m[:, :3])
einsum('ii', m[:, :3])
einsum('iij->j', a[0, :, None] * a[0])
einsum('i,i', v, v)
einsum(' b i j , j -> b i ', a, v)
attention(m, m + 1, m)
attention(a, b, a, causal=True)
attention(a, b, a, scale=0.25)
attention(a, b, a, mask=m[:, :3])
attention(a, b, a, mask=p[:, :3])
scaled_dot_product_attention(a[None], b[None], a[None])
attention(a[None], b[None, :1], a[None, :1])
""")

group("normalisation", """
softmax(a)
softmax(a, axis=0)
softmax(rows)
softmax(big)
softmax(m, axis=())
log_softmax(a)
log_softmax(a, axis=1)
log_softmax(m, axis=())
log_softmax(logits)
layernorm(a)
layernorm(a, v)
layernorm(a, v, v - 1)
layernorm(a, weight=v, bias=v, eps=1e-3)
layernorm(a, axis=(1, 2))
layernorm(relu(m))
rmsnorm(a)
rmsnorm(a, v)
rmsnorm(a, axis=1, eps=0.1)
groupnorm(a, 3)
groupnorm(a, 1, chan, spread)
groupnorm(a[:, 0:2], 2)
batchnorm(a, chan, spread)
batchnorm(a, chan, spread, chan, spread, eps=0.1)
batchnorm(m, chan, spread, axis=0)
cross_entropy(logits, targets)
cross_entropy(logits, targets, reduction='sum')
cross_entropy(logits, targets, reduction='none')
cross_entropy(logits, off, reduction='none')
cross_entropy(m, k[:3] % 4, reduction='none')
cross_entropy(m.T, k % 3, axis=-1)
cross_entropy(m, k % 3, axis=0, reduction='none')
mse(a, b)
mse(a, b, reduction='none')
mse(a, v, reduction='sum')
huber(a, b)
huber(a, b, delta=0.5)
huber(a, b, reduction='none')
""")

group("movement", """
reshape(a, (6, 4))
reshape(a, -1)
reshape(a, (4, -1))
a.reshape(3, 2, 4)
a.reshape((2, -1))
a.reshape(a.shape[0], -1)
a.reshape(a.shape[:1] + (12,))
flatten(a)
transpose(a)
transpose(a, (1, 0, 2))
a.transpose(2, 0, 1)
a.transpose((2, 0, 1))
a.swapaxes(0, 2)
swapaxes(a, -1, 0)
moveaxis(a, 0, -1)
moveaxis(a, 2, 0)
moveaxis(a, (0, 1), (-1, 0))
moveaxis(a, (2, 0, 1), (0, 1, 2))
moveaxis(a, [1], [1])
moveaxis(a, (), ())
broadcast_to(v, (3, 4))
broadcast_to(w[:, None], (2, 3, 4))
broadcast_to(s, (2, 2))
expand_dims(v, 0)
expand_dims(v, -1)
expand_dims(m, (0, 3))
squeeze(x1)
squeeze(x1, 0)
squeeze(x1, axis=(0, -1))
concat((m, m * 2))
concat([m, w[:, None]], axis=1)
concat((m, m, m), axis=-1)
concatenate((n, i8s[None, :3]))
concat((x0, m[:, :3]))
stack((v, v + 1))
stack((v, v + 1), axis=1)
stack([m, m, m], axis=-1)
pad(m, 1)
pad(m, (1, 2))
pad(m, ((0, 0), (2, 1)))
pad(m, ((1, 0), (0, 1)), 7)
pad(m, 1, value=-1.5)
pad(n, 1, 9)
pad(m, 1, value=inf)
pad(p, 1)
pad(m, 2, mode='edge')
pad(m, ((0, 2), (3, 1)), mode='reflect')
pad(m, ((3, 0), (4, 1)), mode='symmetric')
pad(m, ((2, 4), (9, 1)), mode='wrap')
pad(n, (0, 1), 5, 'constant')
pad(p, 1, mode='edge')
flip(a)
flip(a, 0)
flip(a, axis=(0, -1))
roll(v, 1)
roll(v, -1)
roll(v, 5)
roll(v, 0)
roll(a, 5)
roll(a, 1, axis=1)
roll(a, -1, axis=-1)
roll(a, (1, 2), axis=(0, 2))
roll(a, 1, axis=(0, 1, 2))
roll(a, (1, 2), axis=2)
roll(a, (1, -2), axis=(1, 1))
roll(a, (3, 4))
roll(a, 1, axis=())
flip(a, axis=())
squeeze(x1, axis=())
expand_dims(v, ())
slice_update(v, 1, 7.0)
slice_update(v, -1, s)
slice_update(v, slice(1, 3), 2)
slice_update(v, slice(None, None, -1), v)
slice_update(v, slice(None, None, -2), pos[:2])
slice_update(v, slice(-1, 0, -2), pos[:2])
slice_update(v, slice(3, 1), 5)
slice_update(v, slice(0, 99), pos[1:])
slice_update(v, (None, slice(2)), m[:1, :2])
slice_update(v, ..., 0)
slice_update(m, 1, v)
slice_update(m, (slice(None, None, 2), slice(1, None)), w)
slice_update(m, (..., 0), w)
slice_update(m, (0, 0), s)
slice_update(m, (slice(None, None, -1), slice(3, None, -3)), w[:, None])
slice_update(m, (slice(1, 3), None, slice(1, 3)), b[:, :1, :2])
slice_update(a, (0, ..., slice(0, 4, 3)), z[3:5])
slice_update(a, (slice(None), 1, slice(None, None, 3)), 1)
slice_update(a, (1, slice(None, None, 2), slice(-2, None)), x1[:, :2])
slice_update(n, (0, slice(1, None)), d[1, :2])
slice_update(p, (1, slice(1, 3)), q[:2])
slice_update(x0, slice(None), 3)
slice_update(s, (), 4)
slice_update(slice_update(v, 0, z[0]), 3, z[3])
tile(v, 2)
tile(v, (2, 3))
tile(m, 2)
tile(a, (2, 1, 1))
tile(m, (1, 2, 1))
tile(m, 0)
repeat(v, 2)
repeat(m, 2, axis=0)
repeat(m, 3, axis=1)
repeat(m, 2)
take(v, k)
take(m, k - 1, axis=0)
take(m, k, axis=1)
take(m, n % 12)  ; m.take(n % 12)
take(v, n, mode='clip')
take(v, n, mode='wrap')
take(a, k % 3, axis=1)
take(v, k[0])
take(v, [2, 1, 0])
take(v, [3, -1, 0, 0, 2])  ; v.take((3, -1, 0, 0, 2))
take(m, [[0, 1], [2, -3]], axis=0)
take(m, [3, 1], axis=1)
take(m, [11, -12, 5])
take(a, [[2, 0, 1]], axis=-2)
take(v, [-9, 9, 2, -1], mode='clip')
take(v, [-9, 9, 2, -1], mode='wrap')
take(v, [2])
m[[[0, 1], [2, -1]]]
m[None, [2, 0], 1:]
take_along_axis(m, argmax(m, axis=-1, keepdims=True), -1)
take_along_axis(m, k[None, :] - 1, axis=0)
take_along_axis(a, k[None, None, :] % 3, axis=1)
tril(m)
triu(m)
tril(a, 1)
triu(a, -1)
tril(p, k=-1)
triu(n)
""")

group("windows", """
window(v, (2, 2), axis=(0, 0))
window(a, (2, 1), axis=(1, -2))
window(a, (2, 2, 2), axis=(2, 0, 2))
window(v, 2)
window(m, (2, 3))
window(m, 2, axis=0)
window(a, (2, 2), axis=(2, 0))
window(m, (2, 2), stride=(1, 2), dilation=(2, 1))
sum(window(m, 3), axis=-1)
max(window(n, (2, 2)), axis=(-1, -2))
max_pool(m, 2)
max_pool(a, (2, 2))
max_pool(m, (3, 3), stride=1, padding=1)
max_pool(m, (2, 2), stride=1, dilation=(1, 2))
max_pool(z, 3, 1)
min_pool(a, (1, 2), stride=(1, 1), padding=(0, 1))
avg_pool(a, (2, 2))
avg_pool(m, (3, 3), stride=1, padding=1)
avg_pool(m, (3, 3), stride=(2, 1), padding=1, count_padding=False)
conv(a, b[:, :, :2])
conv(a, b[:, :, ::3], chan[:2], stride=2, padding=2)
conv(a, b[0, :, None, :3], padding=1, groups=3)
conv(a[:, :, None, :], b[:, :, None, 1:3], padding=(1, 0), dilation=(1, 2))
correlate(m, m[:2, :2])
correlate(a, w)
correlate(n, d[:1, :2])
filter(m, m[:2, :3])
filter(m, w[:, None], 'reflect')
filter(m, w, mode='constant', value=2)
filter(a, m[:2, :2], mode='wrap')
""")

group("creation", """
arange(5)
arange(2, 7)
arange(7, 2)
arange(1, 10, 3)
arange(10, 0, -3)
arange(0, 1, 0.25)  ; np.arange(0, 1, 0.25).astype(np.float32)
arange(5, dtype=f64)  ; np.arange(5.0)
f64(arange(m.shape[1])) * v
stack(range(2, 9, 3))  ; np.arange(2, 9, 3)
eye(3)  ; np.eye(3, dtype=np.float32)
eye(2, 4, k=1, dtype=f64)
full((2, 3), 7)
full((2, 3), 0.5, dtype=f64)
full(3, s)
zeros((2, 2))  ; np.zeros((2, 2), np.float32)
zeros((0, 3), dtype=i64)  ; np.zeros((0, 3), np.int64)
ones(3, dtype=bool)  ; np.ones(3, np.bool_)
full_like(m, 2.5)
zeros_like(n)
ones_like(p)
zeros_like(m, dtype=i64)  ; np.zeros((3, 4), np.int64)
i8(n * 50)
i8(z)
u8(n)
i64(ties * 3)
i32(z)
bool(m)
bool(z)
f64(n)
f64(i8s) * 0.5
i8s + i8s
u8s * 3
u8s - 101
i8s * n[0, 0]
i8(300)  ; np.int8(127)
astype(n, i8)
n.astype(f64) / 2
wrap_cast(n * 50, i8)
wrap_cast(n, u8)
m.shape[0] * 10 + m.shape[1] + i64(0)  ; np.int64(34)
m.ndim + n
m.size + n
m * m.shape[1]
""")


def number(x):
    return "nan" if x != x else repr(float(x)) if not isinstance(x, (int, bool)) else str(int(x))


KINDS = {"float64": "f64", "float32": "f32", "int64": "i64", "int32": "i32", "int8": "i8", "uint8": "u8", "uint64": "u64",
         "bool": "bool"}


def array(x):
    x = np.asarray(x)
    dims, values = " ".join(str(d) for d in x.shape), " ".join(number(v) for v in x.ravel().tolist())
    return f"{KINDS[x.dtype.name]}\t{dims}\t{values}"


def main():
    print("# Written by make_numpy_tables.py from NumPy's results, not by hand.")
    print("# array, name, dtype, shape, elements; separated by tabs")
    print("# group, expression, arrays in it, dtype, shape, elements")
    for name, value in INPUTS.items():
        print(f"array\t{name}\t{array(value)}".rstrip())
    for name, text, python in ROWS:
        used = [i for i in INPUTS if re.search(rf"(?<![\w.]){i}\b(?!=)", text)]
        result = eval(python, dict(NAMES, np=np), INPUTS)
        print(f"{name}\t{text}\t{' '.join(used)}\t{array(result)}".rstrip())


main()
