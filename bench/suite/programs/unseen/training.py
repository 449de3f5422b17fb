"""Optimizers, and gradients written by hand."""

from .. import Row


def torch_adamw_bf16(t, p, g, m, v):
    w, g = p.float(), g.float()
    m = 0.9 * m + 0.1 * g
    v = 0.95 * v + 0.05 * g * g
    w = w * (1 - 1e-4) - 1e-3 * (m / 0.271) / ((v / 0.142625).sqrt() + 1e-8)
    return w.to(t.bfloat16), m, v


def torch_clip_sgd(t, p, g, m):
    norm = g.square().sum().sqrt()
    g = g * (1 / (norm + 1e-6)).clamp(max=1)
    m = 0.9 * m + g
    return p - 0.01 * (g + 0.9 * m), m, norm


def torch_softmax_grad(t, y, dy):
    d = (y * dy).sum(-1, keepdim=True)
    return y * (dy - d) * 0.125


def torch_layernorm_grad(t, x, dy, w):
    m = x.mean(-1, keepdim=True)
    r = t.rsqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-5)
    h = (x - m) * r
    g = dy * w
    dx = r * (g - g.mean(-1, keepdim=True) - h * (g * h).mean(-1, keepdim=True))
    return dx, (dy * h).sum(0), dy.sum(0)


def torch_bias_gelu_grad(t, x, b, dy):
    z = x + b
    g = dy * (0.5 * (1 + t.erf(z * 0.7071067811865476)) + z * 0.3989422804014327 * t.exp(-0.5 * z * z))
    return g, g.sum(0)


def torch_adafactor(t, p, g, r, c):
    q = g * g + 1e-30
    r = 0.99 * r + 0.01 * q.mean(1)
    c = 0.99 * c + 0.01 * q.mean(0)
    u = g * t.rsqrt(r / r.mean())[:, None] * t.rsqrt(c)
    u = u / (u.square().mean().sqrt()).clamp(min=1)
    return p - 0.001 * u, r, c


def torch_logistic_grad(t, x, w, y):
    p = t.sigmoid(x @ w)
    return x.T @ (p - y) / x.shape[0] + 0.01 * w


def torch_batchnorm_train(t, x, w, b, rm, rv):
    v, m = t.var_mean(x, (0, 2, 3), unbiased=False)
    n = x.numel() / x.shape[1]
    s = w * t.rsqrt(v + 1e-5)
    y = t.relu((x - m[:, None, None]) * s[:, None, None] + b[:, None, None])
    return y, 0.9 * rm + 0.1 * m, 0.9 * rv + 0.1 * v * (n / (n - 1))


def torch_swiglu_grad(t, a, b, dy):
    s = t.sigmoid(a)
    return dy * b * (s * (1 + a * (1 - s))), dy * a * s


def torch_lamb(t, p, m, v):
    u = m / (v.sqrt() + 1e-6) + 0.01 * p
    ratio = p.norm(dim=1, keepdim=True) / u.norm(dim=1, keepdim=True).clamp(min=1e-6)
    return p - 0.002 * ratio.clamp(0, 10) * u


def torch_maxpool_grad(t, x, y, dy):
    up = lambda v: v.repeat_interleave(2, -1).repeat_interleave(2, -2)
    return t.where(x == up(y), up(dy), 0)


def torch_ce_grad(t, x, y):
    p = x.softmax(-1)
    return (p - t.nn.functional.one_hot(y.long(), x.shape[-1])) / x.shape[0]


ROWS = [
    Row("training", "adamw_bf16_master", {"p": "bf16[N=30000001]", "g": "bf16[N]", "m": "f32[N]", "v": "uniform:f32[N]"},
        "w = f32(p); g = f32(g)\nm = 0.9 * m + 0.1 * g\nv = 0.95 * v + 0.05 * g * g\n"
        "w = w * (1 - 1e-4) - 1e-3 * (m / (1 - 0.9 ** 3)) / (sqrt(v / (1 - 0.95 ** 3)) + 1e-8)\nreturn bf16(w), m, v", torch_adamw_bf16),
    Row("training", "clip_and_nesterov", {"p": "f32[N=4096,4096]", "g": "f32[N,4096]", "m": "f32[N,4096]"},
        "n = l2norm(g)\ng = g * minimum(1 / (n + 1e-6), 1)\nm = 0.9 * m + g\nreturn p - 0.01 * (g + 0.9 * m), m, n", torch_clip_sgd),
    Row("training", "softmax_backward_577", {"y": "uniform:f32[B=100,577,577]", "dy": "f32[B,577,577]"},
        "return y * (dy - sum(y * dy, axis=-1, keepdims=True)) * 0.125", torch_softmax_grad),
    Row("training", "layernorm_backward_768", {"x": "f32[N=40000,768]", "dy": "f32[N,768]", "w": "f32[768]"},
        "m = mean(x, axis=-1, keepdims=True)\nr = rsqrt(var(x, axis=-1, keepdims=True) + 1e-5)\nh = (x - m) * r\ng = dy * w\n"
        "dx = r * (g - mean(g, axis=-1, keepdims=True) - h * mean(g * h, axis=-1, keepdims=True))\nreturn dx, sum(dy * h, axis=0), sum(dy, axis=0)",
        torch_layernorm_grad),
    Row("training", "bias_gelu_backward_3072", {"x": "f32[N=12000,3072]", "b": "f32[3072]", "dy": "f32[N,3072]"},
        "z = x + b\ng = dy * (0.5 * (1 + erf(z / sqrt(2))) + z * exp(-0.5 * z * z) / sqrt(2 * pi))\nreturn g, sum(g, axis=0)", torch_bias_gelu_grad),
    Row("training", "adafactor_odd", {"p": "f32[N=5003,4099]", "g": "f32[N,4099]", "r": "uniform:f32[N]", "c": "uniform:f32[4099]"},
        "q = g * g + 1e-30\nr = 0.99 * r + 0.01 * mean(q, axis=1); c = 0.99 * c + 0.01 * mean(q, axis=0)\n"
        "u = g * rsqrt(r / mean(r))[:, None] * rsqrt(c)\nu = u / maximum(sqrt(mean(u * u)), 1)\nreturn p - 0.001 * u, r, c", torch_adafactor),
    Row("training", "logistic_regression_gradient", {"x": "f32[N=1000000,50]", "w": "f32[50]", "y": "uniform:f32[N]"},
        "p = sigmoid(x @ w)\nreturn x.T @ (p - y) / x.shape[0] + 0.01 * w", torch_logistic_grad),
    Row("training", "batchnorm_relu_training", {"x": "f32[B=64,96,56,57]", "w": "f32[96]", "b": "f32[96]", "rm": "f32[96]", "rv": "uniform:f32[96]"},
        "m = mean(x, axis=(0, 2, 3)); v = var(x, axis=(0, 2, 3))\nn = x.shape[0] * 56 * 57\ns = w * rsqrt(v + 1e-5)\n"
        "y = relu((x - m[:, None, None]) * s[:, None, None] + b[:, None, None])\n"
        "return y, 0.9 * rm + 0.1 * m, 0.9 * rv + 0.1 * v * n / (n - 1)", torch_batchnorm_train),
    Row("training", "swiglu_backward_f16", {"a": "f16[N=30000000]", "b": "f16[N]", "dy": "f16[N]"},
        "s = sigmoid(a)\nreturn dy * b * (s * (1 + a * (1 - s))), dy * a * s", torch_swiglu_grad),
    Row("training", "lamb_rows_1000", {"p": "f32[N=20000,1000]", "m": "f32[N,1000]", "v": "uniform:f32[N,1000]"},
        "u = m / (sqrt(v) + 1e-6) + 0.01 * p\nratio = norm(p, axis=1, keepdims=True) / maximum(norm(u, axis=1, keepdims=True), 1e-6)\n"
        "return p - 0.002 * clamp(ratio, 0, 10) * u", torch_lamb),
    Row("training", "max_pool_backward_2x2", {"x": "f32[B=64,32,112,112]", "y": "f32[B,32,56,56]", "dy": "f32[B,32,56,56]"},
        "def up(v): return repeat(repeat(v, 2, axis=-1), 2, axis=-2)\nreturn where(x == up(y), up(dy), 0)", torch_maxpool_grad),
    Row("training", "cross_entropy_backward_1000", {"x": "f32[B=32768,1000]", "y": "below=1000:i64[B]"},
        "return (softmax(x) - one_hot(y, 1000)) / x.shape[0]", torch_ce_grad),
]
