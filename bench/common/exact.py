"""The float64 reference of every family, over numpy or torch (`xp`), whose functions used here take the same arguments."""

import math


def erf(xp, x):
    if hasattr(xp, "erf"):
        return xp.erf(x)
    return xp.vectorize(math.erf, otypes=[float])(x) if x.size else x


def quantize_int8(xp, x):
    return xp.clip(xp.round(x / 4.2 + 1.2), -128, 127)


def add_mul_exp(xp, x, y):
    return xp.exp((x + y) * 2)


def standardised(xp, x, eps):
    d = x - xp.mean(x, axis=-1, keepdims=True)
    return d / xp.sqrt(xp.mean(d * d, axis=-1, keepdims=True) + eps)


def relu_layernorm(xp, x):
    return standardised(xp, xp.clip(x, 0, math.inf), 1e-5)


def relu_bn_add_relu(xp, x, s, b, r):
    return xp.clip(xp.clip(x, 0, math.inf) * s[:, None, None] + b[:, None, None] + r, 0, math.inf)


def l2norm(xp, x):
    return xp.sqrt(xp.sum(x * x))


def softmax(xp, x):
    e = xp.exp(x - xp.amax(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


softmax_bf16 = softmax
softmax_f32 = softmax


def rmsnorm(xp, x, w):
    return x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * w


def add_layernorm(xp, x, r, w, b):
    h = x + r
    return h, standardised(xp, h, 1e-5) * w + b


def swiglu(xp, a, b):
    return a / (1 + xp.exp(-a)) * b


def bias_gelu(xp, x, b):
    h = x + b
    return h * (1 + erf(xp, h / math.sqrt(2))) / 2


def loop2(xp, b, c, e):
    a = b + c
    return a, a * e


def chain10(xp, x):
    for _ in range(5):
        x = xp.tanh(x * 1.01) + 0.1
    return x


def colsum(xp, x):
    return xp.sum(xp.clip(x, 0, math.inf), axis=0)


def cumsum(xp, x):
    return xp.cumsum(x, -1)


def var(xp, x):
    d = x - xp.mean(x, axis=-1, keepdims=True)
    return xp.sum(d * d, axis=-1) / (x.shape[-1] - 1)


def cross_entropy(xp, x, t):
    """Rows a few at a time: in float64 the whole would be four times the input, and that three times."""
    take = getattr(xp, "take_along_axis", None) or xp.take_along_dim
    total = 0.0
    for i in range(0, x.shape[0], 512):
        part = x[i:i + 512]
        part = part.astype("float64") if hasattr(part, "astype") else part.double()
        top = xp.amax(part, axis=-1, keepdims=True)
        log_sum = xp.log(xp.sum(xp.exp(part - top), axis=-1, keepdims=True)) + top
        total = total + xp.sum(log_sum - take(part, t[i:i + 512][:, None], -1))
    return total / x.shape[0]


cross_entropy.keeps_dtype = True  # converts by itself


def transpose_add(xp, x, y):
    return x.T + y


def dropout_relu(xp, x):
    return xp.clip(x, 0, math.inf) / (1 - dropout_relu.drops)


dropout_relu.drops = 0.1  # with this probability an element is 0 instead, in every library another one

rmsnorm_f32 = rmsnorm
gelu_bias = bias_gelu

HORNER = (0.00002, -0.0002, 0.001, -0.008, 0.04, -0.16, 0.5, -1.0, 1.0, 0.25)


def poly20(xp, x):
    y = x * 0.000002 + HORNER[0]
    for c in HORNER[1:]:
        y = y * x + c
    return y


def black_scholes(xp, s, k, t):
    root = xp.sqrt(t) * 0.3
    d1 = (xp.log(s / k) + t * 0.065) / root
    n1, n2 = ((1 + erf(xp, d / math.sqrt(2))) / 2 for d in (d1, d1 - root))
    paid = k * xp.exp(t * -0.02)
    call = s * n1 - paid * n2
    return call, call - s + paid


def horizontal(xp, *xs):
    return tuple(1 / (1 + xp.exp(-(2 * x + 1))) for x in xs)


def adamw(xp, *arrays):
    *lists, lr, step = arrays
    n = len(lists) // 4
    params, grads, m, v = (lists[i * n : (i + 1) * n] for i in range(4))
    m2 = [0.9 * a + 0.1 * g for a, g in zip(m, grads)]
    v2 = [0.999 * a + 0.001 * g * g for a, g in zip(v, grads)]
    c1, c2 = 1 - 0.9**step, 1 - 0.999**step
    p2 = [p * (1 - 0.01 * lr) - lr * (a / c1) / (xp.sqrt(b / c2) + 1e-8) for p, a, b in zip(params, m2, v2)]
    return tuple(p2 + m2 + v2)


def around(xp, x):
    """x with a border of zeros."""
    for axis in range(x.ndim):
        edge = xp.zeros_like(x[(slice(None),) * axis + (slice(0, 1),)])
        x = xp.concatenate([edge, x, edge], axis=axis)
    return x


def box_blur(xp, x):
    rows = (x[:, :-2] + x[:, 1:-1] + x[:, 2:]) / 3
    return (rows[:-2] + rows[1:-1] + rows[2:]) / 3


def box_blur_u16(xp, x):
    rows = (x[:, :-2] + x[:, 1:-1] + x[:, 2:]) // 3
    return (rows[:-2] + rows[1:-1] + rows[2:]) // 3


def blur(xp, x):
    p = around(xp, x)
    rows = p[:, :-2] + p[:, 1:-1] + p[:, 2:]
    return (rows[:-2] + rows[1:-1] + rows[2:]) / 9


def blur_sobel(xp, x):
    b = around(xp, blur(xp, x))
    across = b[:, 2:] - b[:, :-2]
    along = b[:, :-2] + 2 * b[:, 1:-1] + b[:, 2:]
    gx = across[:-2] + 2 * across[1:-1] + across[2:]
    gy = along[2:] - along[:-2]
    return xp.clip(xp.sqrt(gx * gx + gy * gy) - 0.05, 0, math.inf)


def heat(xp, x):
    p = around(xp, x)
    return 0.6 * x + 0.1 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:])


def heat5(xp, x):
    for _ in range(5):
        x = heat(xp, x)
    return x


def diffusion3d(xp, x):
    p = around(xp, x)
    c = slice(1, -1)
    total = p[:-2, c, c] + p[2:, c, c] + p[c, :-2, c] + p[c, 2:, c] + p[c, c, :-2] + p[c, c, 2:]
    return 0.4 * x + 0.1 * total


def nearest_centre(xp, x, c):
    return xp.argmin(xp.stack([((x - c[k]) ** 2).sum(-1) for k in range(c.shape[0])], -1), -1)


def to_byte(xp, x):
    return xp.clip(xp.round(x * 64 + 128), 0, 255)


def image_blur(xp, x):
    f = (x / 255 - 0.5) / 0.25
    rows = f[:, :-2] + f[:, 1:-1] + f[:, 2:]
    return to_byte(xp, (rows[:-2] + rows[1:-1] + rows[2:]) / 9)


def image_half(xp, x):
    f = (x / 255 - 0.5) / 0.25
    return to_byte(xp, (f[:-1:2, :-1:2] + f[1::2, :-1:2] + f[:-1:2, 1::2] + f[1::2, 1::2]) / 4)


def monte_carlo(xp, s):
    """The price that the drawn paths approach: that of a call with a deviation of 0.2 and a strike of 30."""
    d = (xp.log(s / 30) - 0.02) / 0.2
    n1, n2 = ((1 + erf(xp, v / math.sqrt(2))) / 2 for v in (d + 0.2, d))
    return 0.98 * (s * n1 - 30 * n2)
