"""Gradients of smelt against those of torch.autograd, for every function of the language that has one."""

import math

import pytest

torch = pytest.importorskip("torch")

import smelt  # noqa: E402

WHERE = [("cpu", torch.float64)] + [("cuda", t) for t in (torch.float64, torch.float32) if torch.cuda.is_available()]
F = torch.nn.functional
S = smelt


def data(*shape, seed=0, low=-2.0, high=2.0):
    """Distinct numbers, so that extremes have one place; no two differ by less than a difference quotient could tell."""
    n = math.prod(shape)
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    return (low + (high - low) * (order.double() + 0.37) / n).reshape(shape)


def positive(*shape, seed=0):
    return data(*shape, seed=seed, low=0.3, high=2.5)


def whole(*rows):
    return torch.tensor(rows)


X, Y, Z = data(3, 7), data(3, 7, seed=1), data(3, 7, seed=2)
POSITIVE, UNIT = positive(3, 7), data(3, 7, low=-0.9, high=0.9)
ROW, COLUMN = data(7, seed=3), data(3, 1, seed=4)
IMAGE, WEIGHTS = data(2, 4, 7, 9), data(6, 4, 3, 2, seed=5)
INDICES, ALONG = whole(2, 0, -1, 0), whole([0, 6, -1], [3, 3, 3], [-7, 1, 0])
MASK = torch.tensor([[i % 3 != j % 2 for j in range(7)] for i in range(3)])


def restarted(x, _):
    return torch.cat([torch.cumsum(x[:, :4], -1), torch.cumsum(x[:, 4:], -1)], -1)


def reverse(f):
    return lambda x: f(x.flip(-1)).flip(-1)


def exclusive(f, start):
    return lambda x: f(torch.cat([torch.full_like(x[:, :1], start), x[:, :-1]], -1))


def rotated(x, cos, sin):
    half = x.shape[-1] // 2
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def roped(x, positions):
    half = x.shape[-1] // 2
    angle = positions[:, None] * 10000.0 ** (-torch.arange(half, dtype=x.dtype, device=x.device) / half)
    return rotated(x, angle.cos(), angle.sin())


def scattered(reduce):
    return lambda x, i, u: x.scatter_reduce(0, (i % 3)[:, None].expand(-1, 7), u, reduce)


def windows(x, size, stride, dilation):
    starts = range(0, x.shape[-1] - (size - 1) * dilation, stride)
    return torch.stack([x[..., s : s + (size - 1) * dilation + 1 : dilation] for s in starts], -2)


def correlated(x, kernel):
    return F.conv2d(x[:, None], kernel[None, None])[:, 0]


def filtered(x, kernel):
    edge = F.pad(x[:, None], (1, 1, 1, 1), mode="replicate")
    return F.conv2d(edge, kernel[None, None])[:, 0]


def normalised(x, mean, var, weight, bias):
    mean, scale, bias = (v[:, None, None] for v in (mean, weight / (var + 1e-5).sqrt(), bias))
    return (x - mean) * scale + bias


def attention(x, mask):
    return F.scaled_dot_product_attention(x, x * 0.5, x + 1, attn_mask=mask)


def dropped(x):
    return x * torch.from_dlpack(smelt.dropout(torch.ones_like(x.detach()), 0.4, 7))


def updated(x, v):
    made = x.clone()
    made[torch.arange(2, -1, -2)[:, None], torch.arange(1, 6, 2)] = v
    return made


# The functions: as smelt has them, as torch has them, and their arguments, of which floats have gradients.
CASES = {
    "add": [(S.add, torch.add, X, ROW)],
    "subtract": [(S.subtract, torch.subtract, X, COLUMN)],
    "multiply": [(S.multiply, torch.multiply, X, ROW), (lambda x: x * x, lambda x: x * x, X)],
    "divide": [(S.divide, torch.divide, X, POSITIVE)],
    "floor_divide": [(S.floor_divide, lambda x, y: torch.floor(x / y), X, POSITIVE)],
    "remainder": [(S.remainder, lambda x, y: x - y * (x / y).floor().detach(), X, Y)],
    "fmod": [(S.fmod, lambda x, y: x - y * (x / y).trunc().detach(), X, Y)],
    "pow": [
        (S.pow, torch.pow, POSITIVE, Y),
        (lambda x: x**3, lambda x: x**3, X),
        (lambda x: x**-2, lambda x: x**-2, X),
        (lambda x: 2.0**x, lambda x: 2.0**x, X),
    ],
    "negative": [(S.negative, torch.negative, X)],
    "abs": [(S.abs, torch.abs, torch.cat([X.flatten(), torch.zeros(2, dtype=X.dtype)]))],
    "sign": [(S.sign, torch.sign, X)],
    "fma": [(S.fma, lambda a, b, c: a * b + c, X, Y, ROW)],
    "square": [(S.square, torch.square, X)],
    "reciprocal": [(S.reciprocal, torch.reciprocal, X)],
    "maximum": [(S.maximum, torch.maximum, X, Y), (S.maximum, torch.maximum, X, X.clone())],
    "minimum": [(S.minimum, torch.minimum, X, Y), (S.minimum, torch.minimum, X, X.clone())],
    "floor": [(S.floor, torch.floor, X)],
    "ceil": [(S.ceil, torch.ceil, X)],
    "trunc": [(S.trunc, torch.trunc, X)],
    "round": [(S.round, torch.round, X)],
    "sqrt": [(S.sqrt, torch.sqrt, torch.cat([POSITIVE.flatten(), torch.zeros(1, dtype=X.dtype)]))],
    "rsqrt": [(S.rsqrt, torch.rsqrt, POSITIVE)],
    "cbrt": [(S.cbrt, lambda x: x.sign() * x.abs() ** (1 / 3), X)],
    "hypot": [(S.hypot, torch.hypot, X, ROW)],
    "exp": [(S.exp, torch.exp, X)],
    "exp2": [(S.exp2, torch.exp2, X)],
    "expm1": [(S.expm1, torch.expm1, X)],
    "log": [(S.log, torch.log, POSITIVE)],
    "log2": [(S.log2, torch.log2, POSITIVE)],
    "log10": [(S.log10, torch.log10, POSITIVE)],
    "log1p": [(S.log1p, torch.log1p, UNIT)],
    "sin": [(S.sin, torch.sin, X)],
    "cos": [(S.cos, torch.cos, X)],
    "tan": [(S.tan, torch.tan, UNIT)],
    "asin": [(S.asin, torch.asin, UNIT)],
    "acos": [(S.acos, torch.acos, UNIT)],
    "atan": [(S.atan, torch.atan, X)],
    "atan2": [(S.atan2, torch.atan2, X, Y)],
    "sinh": [(S.sinh, torch.sinh, X)],
    "cosh": [(S.cosh, torch.cosh, X)],
    "tanh": [(S.tanh, torch.tanh, X)],
    "asinh": [(S.asinh, torch.asinh, X)],
    "acosh": [(S.acosh, torch.acosh, POSITIVE + 1)],
    "atanh": [(S.atanh, torch.atanh, UNIT)],
    "erf": [(S.erf, torch.erf, X)],
    "erfc": [(S.erfc, torch.erfc, X)],
    "copysign": [(S.copysign, torch.copysign, X, Y)],
    "where": [(S.where, torch.where, MASK, X, ROW)],
    "clamp": [(lambda x: S.clamp(x, -1.0, 1.5), lambda x: x.clamp(-1, 1.5), X), (S.clamp, torch.clamp, X, Y - 2, Y + 0.1)],
    "relu": [(S.relu, torch.relu, torch.cat([X.flatten(), torch.zeros(2, dtype=X.dtype)]))],
    "leaky_relu": [(lambda x: S.leaky_relu(x, 0.2), lambda x: F.leaky_relu(x, 0.2), X)],
    "elu": [(lambda x: S.elu(x, 1.3), lambda x: F.elu(x, 1.3), X)],
    "gelu": [(S.gelu, F.gelu, X), (lambda x: S.gelu(x, approximate="tanh"), lambda x: F.gelu(x, approximate="tanh"), X)],
    "gelu_tanh": [(S.gelu_tanh, lambda x: F.gelu(x, approximate="tanh"), X)],
    "sigmoid": [(S.sigmoid, torch.sigmoid, X * 20)],
    "silu": [(S.silu, F.silu, X * 20)],
    "softplus": [(S.softplus, F.softplus, X * 8)],
    "mish": [(S.mish, F.mish, X)],
    "hardswish": [(S.hardswish, F.hardswish, X * 2)],
    "lerp": [(S.lerp, torch.lerp, X, Y, Z)],
    "sum": [(S.sum, torch.sum, X), (lambda x: S.sum(x, axis=0), lambda x: x.sum(0), X)],
    "prod": [
        (S.prod, torch.prod, X),
        (lambda x: S.prod(x, axis=1), lambda x: x.prod(1), X * (X.abs() > 0.2)),
        (lambda x: S.prod(x, axis=0), lambda x: x.prod(0), torch.zeros(3, 4, dtype=X.dtype)),
    ],
    "max": [(S.max, torch.amax, X), (lambda x: S.max(x, axis=-1), lambda x: x.amax(-1), torch.cat([X, X.clone()], 1))],
    "min": [(S.min, torch.amin, X), (lambda x: S.min(x, axis=0), lambda x: x.amin(0), torch.cat([X, X.clone()], 0))],
    "mean": [(lambda x: S.mean(x, axis=-1), lambda x: x.mean(-1), X)],
    "var": [(lambda x: S.var(x, axis=-1), lambda x: x.var(-1, correction=0), X), (lambda x: S.var(x, ddof=1), torch.var, X)],
    "std": [(lambda x: S.std(x, axis=0, ddof=1), lambda x: x.std(0), X)],
    "logsumexp": [(lambda x: S.logsumexp(x, axis=1), lambda x: x.logsumexp(1), X * 300)],
    "norm": [
        (lambda x, p=p: S.norm(x, ord=p, axis=-1), lambda x, p=p: torch.linalg.vector_norm(x, p, -1), X)
        for p in (1, 2, 3, math.inf, -math.inf)
    ],
    "l2norm": [(lambda x: S.l2norm(x, axis=-1), lambda x: x.norm(dim=-1), X)],
    "cumsum": [
        (S.cumsum, lambda x: x.cumsum(-1), X),
        (lambda x: S.cumsum(x, axis=0), lambda x: x.cumsum(0), X),
        (lambda x: S.cumsum(x, reverse=True), reverse(lambda x: x.cumsum(-1)), X),
        (lambda x: S.cumsum(x, exclusive=True), exclusive(lambda x: x.cumsum(-1), 0), X),
        (lambda x, m: S.cumsum(x, restart=m), restarted, X, torch.arange(7) == 4),
    ],
    "cumprod": [
        (S.cumprod, lambda x: x.cumprod(-1), X),
        (S.cumprod, lambda x: x.cumprod(-1), X * (X.abs() > 0.3)),
        (lambda x: S.cumprod(x, reverse=True), reverse(lambda x: x.cumprod(-1)), X),
        (lambda x: S.cumprod(x, exclusive=True), exclusive(lambda x: x.cumprod(-1), 1), X),
    ],
    "cummax": [(S.cummax, lambda x: x.cummax(-1).values, X)],
    "cummin": [(S.cummin, lambda x: x.cummin(-1).values, X)],
    "cummean": [(S.cummean, lambda x: x.cumsum(-1) / torch.arange(1, 8, device=x.device), X)],
    "logcumsumexp": [(S.logcumsumexp, lambda x: x.logcumsumexp(-1), X * 50)],
    "softmax": [(S.softmax, lambda x: x.softmax(-1), X * 10), (lambda x: S.softmax(x, axis=0), lambda x: x.softmax(0), X)],
    "log_softmax": [(S.log_softmax, lambda x: x.log_softmax(-1), X * 100)],
    "layernorm": [(S.layernorm, lambda x, w, b: F.layer_norm(x, (7,), w, b), X, ROW, ROW + 1)],
    "rmsnorm": [(S.rmsnorm, lambda x, w: F.rms_norm(x, (7,), w, 1e-6), X, ROW)],
    "groupnorm": [(lambda x, w, b: S.groupnorm(x, 2, w, b), lambda x, w, b: F.group_norm(x, 2, w, b), IMAGE, data(4), data(4, seed=1))],
    "batchnorm": [
        (S.batchnorm, normalised, IMAGE, data(4), positive(4), data(4, seed=1), data(4, seed=2))
    ],
    "cross_entropy": [
        (S.cross_entropy, F.cross_entropy, X * 5, whole(3, 0, 6)),
        (lambda x, t: S.cross_entropy(x, t, reduction="none"), lambda x, t: F.cross_entropy(x, t, reduction="none"), X, whole(3, 0, 6)),
    ],
    "mse": [(S.mse, F.mse_loss, X, Y)],
    "huber": [(lambda x, y: S.huber(x, y, 0.5), lambda x, y: F.huber_loss(x, y, delta=0.5), X, Y)],
    "matmul": [
        (S.matmul, torch.matmul, data(2, 3, 5), data(5, 4, seed=1)),
        (S.matmul, torch.matmul, data(5), data(2, 5, 4, seed=1)),
        (S.matmul, torch.matmul, data(4, 5), data(5, seed=1)),
    ],
    "linear": [(S.linear, F.linear, X, data(5, 7, seed=1), data(5, seed=2))],
    "einsum": [
        (lambda a, b: S.einsum("bij,bkj->kib", a, b), lambda a, b: torch.einsum("bij,bkj->kib", a, b), data(2, 3, 5), data(2, 4, 5, seed=1)),
        (lambda a: S.einsum("ii->i", a), lambda a: torch.einsum("ii->i", a), data(5, 5)),
    ],
    "dot": [(S.dot, torch.dot, ROW, data(7, seed=1))],
    "vecdot": [(S.vecdot, torch.linalg.vecdot, X, Y)],
    "outer": [(S.outer, torch.outer, ROW, data(4))],
    "tensordot": [(lambda a, b: S.tensordot(a, b, axes=2), lambda a, b: torch.tensordot(a, b, dims=2), data(2, 3, 4), data(3, 4, 5, seed=1))],
    "scaled_dot_product_attention": [
        (lambda x, m: S.scaled_dot_product_attention(x, x * 0.5, x + 1, m), attention, data(2, 7, 6), torch.tril(torch.ones(7, 7)) > 0),
        (
            lambda q, k, v: S.scaled_dot_product_attention(q, k, v, causal=True),
            lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
            data(2, 7, 6),
            data(2, 7, 6, seed=1),
            data(2, 7, 6, seed=2),
        ),
    ],
    "reshape": [(lambda x: S.reshape(x, (7, 3)), lambda x: x.reshape(7, 3), X)],
    "flatten": [(S.flatten, torch.flatten, X)],
    "transpose": [(lambda x: S.transpose(x, (2, 0, 3, 1)), lambda x: x.permute(2, 0, 3, 1), IMAGE)],
    "swapaxes": [(lambda x: S.swapaxes(x, 0, 1), lambda x: x.swapaxes(0, 1), X)],
    "moveaxis": [(lambda x: S.moveaxis(x, 0, -1), lambda x: x.moveaxis(0, -1), IMAGE)],
    "broadcast_to": [(lambda x: S.broadcast_to(x, (5, 3, 7)), lambda x: x.broadcast_to(5, 3, 7), COLUMN)],
    "expand_dims": [(lambda x: S.expand_dims(x, 1), lambda x: x.unsqueeze(1), X)],
    "squeeze": [(S.squeeze, torch.squeeze, COLUMN)],
    "concat": [(lambda a, b: S.concat([a, b], axis=1), lambda a, b: torch.cat([a, b], 1), X, COLUMN)],
    "stack": [(lambda a, b: S.stack([a, b, a], axis=1), lambda a, b: torch.stack([a, b, a], 1), X, Y)],
    "pad": [
        (lambda x: S.pad(x, ((0, 0), (0, 0), (2, 1), (1, 3)), value=2.5), lambda x: F.pad(x, (1, 3, 2, 1), value=2.5), IMAGE),
        *[
            (
                lambda x, mode=mode: S.pad(x, ((0, 0), (0, 0), (2, 1), (1, 3)), mode=mode),
                lambda x, name=name: F.pad(x, (1, 3, 2, 1), mode=name),
                IMAGE,
            )
            for mode, name in (("edge", "replicate"), ("reflect", "reflect"), ("wrap", "circular"))
        ],
    ],
    "flip": [(lambda x: S.flip(x, 1), lambda x: x.flip(1), X)],
    "roll": [(lambda x: S.roll(x, (1, -2), (0, 1)), lambda x: x.roll((1, -2), (0, 1)), X)],
    "tile": [(lambda x: S.tile(x, (2, 3)), lambda x: x.tile(2, 3), X)],
    "repeat": [(lambda x: S.repeat(x, 3, axis=1), lambda x: x.repeat_interleave(3, 1), X)],
    "take": [
        (lambda x, i: S.take(x, i, axis=0), lambda x, i: x[i], X, INDICES),
        (lambda x, i: S.take(x, i, axis=1, mode="wrap"), lambda x, i: x[:, i % 7], X, whole(9, -9, 3, 3)),
        (lambda x, i: S.take(x, i, axis=1, mode="clip"), lambda x, i: x[:, i.clamp(0, 6)], X, whole(9, -9, 3, 3)),
    ],
    "take_along_axis": [(S.take_along_axis, lambda x, i: torch.take_along_dim(x, i % 7, -1), X, ALONG)],
    "slice_update": [
        (
            lambda x, v: S.slice_update(x, (slice(None, None, -2), slice(1, 6, 2)), v),
            updated,
            X,
            data(3, seed=9),
        )
    ],
    "tril": [(lambda x: S.tril(x, 1), lambda x: x.tril(1), X)],
    "triu": [(lambda x: S.triu(x, -1), lambda x: x.triu(-1), X)],
    "window": [
        (lambda x: S.window(x, 3, axis=-1), lambda x: windows(x, 3, 1, 1), X),
        (lambda x: S.window(x, 2, axis=-1, stride=2, dilation=3), lambda x: windows(x, 2, 2, 3), X),
    ],
    "max_pool": [
        (lambda x: S.max_pool(x, (3, 2), stride=(2, 1), padding=(1, 1)), lambda x: F.max_pool2d(x, (3, 2), (2, 1), (1, 1)), IMAGE),
        (lambda x: S.max_pool(x, (2, 2), stride=(1, 1), dilation=(2, 3)), lambda x: F.max_pool2d(x, 2, 1, 0, (2, 3)), IMAGE),
    ],
    "min_pool": [(lambda x: S.min_pool(x, (2, 3)), lambda x: -F.max_pool2d(-x, (2, 3)), IMAGE)],
    "avg_pool": [
        (lambda x: S.avg_pool(x, (3, 2), stride=(2, 1), padding=(1, 1)), lambda x: F.avg_pool2d(x, (3, 2), (2, 1), (1, 1)), IMAGE),
        (
            lambda x: S.avg_pool(x, (3, 2), padding=(1, 1), count_padding=False),
            lambda x: F.avg_pool2d(x, (3, 2), padding=1, count_include_pad=False),
            IMAGE,
        ),
    ],
    "conv": [
        (
            lambda x, w, b: S.conv(x, w, b, stride=(2, 1), padding=(1, 2), dilation=(1, 2)),
            lambda x, w, b: F.conv2d(x, w, b, (2, 1), (1, 2), (1, 2)),
            IMAGE,
            WEIGHTS,
            data(6),
        ),
        (lambda x, w: S.conv(x, w, groups=2), lambda x, w: F.conv2d(x, w, groups=2), IMAGE, WEIGHTS[:, :2].clone()),
    ],
    "correlate": [(S.correlate, correlated, data(2, 6, 7), data(3, 2, seed=1))],
    "filter": [(S.filter, filtered, data(2, 6, 7), data(3, 3, seed=1))],
    "full": [(lambda x: S.broadcast_to(x, (4,)) * 2, lambda x: x.expand(4) * 2, data(1))],
    "astype": [(lambda x: S.astype(x, "f32"), lambda x: x.float(), X), (lambda x: S.astype(S.astype(x, "i32"), x.dtype) * x, lambda x: x.int() * x, X)],
    "embedding": [(S.embedding, lambda t, i: F.embedding(i % 3, t), X, whole([0, 2], [-1, 0], [1, 0]))],
    "rotary": [(S.rotary, rotated, data(5, 6), data(5, 3, seed=1), data(5, 3, seed=2))],
    "rope": [(S.rope, roped, data(5, 6), torch.arange(5.0, dtype=torch.float64))],
    "split": [(lambda x: S.split(x, 3, axis=0)[1] * 2, lambda x: x.split(1, 0)[1] * 2, X)],
    "part": [(lambda x: S.part(x, 3, 2, axis=0), lambda x: x[2:], X)],
    "max_and_argmax": [(lambda x: S.max_and_argmax(x)[0], lambda x: x.amax(-1), X)],
    "scatter": [(S.scatter, lambda x, i, u: x.index_put((i,), u), X, whole(2, 0), data(2, 7, seed=8))],
    "scatter_add": [(S.scatter_add, lambda x, i, u: x.index_add(0, i % 3, u), X, INDICES, data(4, 7, seed=8))],
    "scatter_mul": [(S.scatter_mul, scattered("prod"), X, INDICES, data(4, 7, seed=8))],
    "scatter_max": [(S.scatter_max, scattered("amax"), X, INDICES, data(4, 7, seed=8))],
    "scatter_min": [(S.scatter_min, scattered("amin"), X, INDICES, data(4, 7, seed=8))],
    "segment_sum": [
        (lambda x, s: S.segment_sum(x, s, 4), lambda x, s: x.new_zeros(4, 7).index_add(0, s, x), X, whole(3, 0, 3))
    ],
    "bincount": [(lambda w, x: S.bincount(x, 4, weights=w), lambda w, x: w.new_zeros(4).index_add(0, x, w), ROW, whole(0, 3, 3, 1, 0, 0, 2))],
    "dropout": [(lambda x: S.dropout(x, 0.4, 7), dropped, X)],
    "stop_gradient": [(lambda x: x * S.stop_gradient(x), lambda x: x * x.detach(), X)],
}


# Functions whose results are no floats, or that take none.
WITHOUT = set(
    "equal not_equal less less_equal greater greater_equal isnan isinf isfinite bitwise_and bitwise_or bitwise_xor bitwise_not "
    "left_shift right_shift logical_and logical_or logical_xor logical_not quantize_int8 dequantize any all argmax argmin arange "
    "eye zeros ones full_like zeros_like ones_like wrap_cast one_hot histogram random_bits uniform normal bernoulli slice range "
    "gradient value_and_gradient vjp".split()
)


def test_every_function_has_a_case_or_no_gradient():
    names = {row["names"][0] for row in smelt._smelt.function_table()}
    assert names == set(CASES) | WITHOUT and not set(CASES) & WITHOUT


@pytest.mark.parametrize("device, dtype", WHERE)
@pytest.mark.parametrize("name", sorted(CASES))
def test_gradients_are_those_of_torch(name, device, dtype):
    tolerance = {"rtol": 1e-9, "atol": 1e-11} if dtype == torch.float64 else {"rtol": 1e-3, "atol": 1e-4}
    for of_smelt, of_torch, *given in CASES[name]:
        arguments = [a.to(device, dtype) if a.is_floating_point() else a.to(device) for a in given]
        floats = tuple(i for i, a in enumerate(arguments) if a.is_floating_point())
        leaves = [a.clone().requires_grad_(i in floats) for i, a in enumerate(arguments)]
        result = of_torch(*leaves)
        # Each element of the result counts with another weight.
        weights = torch.linspace(0.5, 1.5, result.numel(), dtype=result.dtype, device=device).reshape(result.shape)
        if result.requires_grad:
            expected = torch.autograd.grad((result * weights).sum(), [leaves[i] for i in floats], materialize_grads=True)
        else:
            expected = [torch.zeros_like(leaves[i]) for i in floats]
        made = smelt.grad(lambda w, *xs: S.sum(of_smelt(*xs) * w), argnums=tuple(i + 1 for i in floats))(weights, *arguments)
        for slope, wanted in zip(made, expected, strict=True):
            torch.testing.assert_close(slope, wanted, **tolerance)
