"""The families as one writes them in JAX. Each is run through jax.jit."""

import jax
import jax.numpy as jnp
from exact import HORNER
from jax import lax


def quantize_int8(x):
    return jnp.clip(jnp.round(x / 4.2 + 1.2), -128, 127).astype(jnp.int8)


def add_mul_exp(x, y):
    return jnp.exp((x + y) * 2)


def standardised(x, eps):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.mean(jnp.square(x - mean), axis=-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + eps)


def relu_layernorm(x):
    return standardised(jax.nn.relu(x), 1e-5)


def relu_bn_add_relu(x, s, b, r):
    return jax.nn.relu(jax.nn.relu(x) * s[:, None, None] + b[:, None, None] + r)


def l2norm(x):
    return jnp.sqrt(jnp.sum(x * x))


def softmax_bf16(x):
    return jax.nn.softmax(x, axis=-1)


def softmax_f32(x):
    return jax.nn.softmax(x, axis=-1)


def rmsnorm(x, w):
    wide = x.astype(jnp.float32)
    return (wide * lax.rsqrt(jnp.mean(wide * wide, axis=-1, keepdims=True) + 1e-6)).astype(x.dtype) * w


def add_layernorm(x, r, w, b):
    h = x + r
    return h, (standardised(h.astype(jnp.float32), 1e-5) * w + b).astype(x.dtype)


def swiglu(a, b):
    return jax.nn.silu(a) * b


def bias_gelu(x, b):
    return jax.nn.gelu(x + b, approximate=False)


def loop2(b, c, e):
    a = b + c
    return a, a * e


def chain10(x):
    for _ in range(5):
        x = jnp.tanh(x * 1.01) + 0.1
    return x


def colsum(x):
    return jnp.sum(jax.nn.relu(x), axis=0)


def cumsum(x):
    return jnp.cumsum(x, axis=-1)


def var(x):
    return jnp.var(x, axis=-1, ddof=1)


def cross_entropy(x, t):
    log_probability = jax.nn.log_softmax(x.astype(jnp.float32), axis=-1)
    return -jnp.mean(jnp.take_along_axis(log_probability, t[:, None], axis=-1))


def transpose_add(x, y):
    return x.T + y


def dropout_relu(x):
    keep = jax.random.bernoulli(jax.random.key(1), 0.9, x.shape)
    return jnp.where(keep, jax.nn.relu(x) / 0.9, 0)


rmsnorm_f32 = rmsnorm
gelu_bias = bias_gelu


def poly20(x):
    y = x * 0.000002 + HORNER[0]
    for c in HORNER[1:]:
        y = y * x + c
    return y


def black_scholes(s, k, t):
    root = jnp.sqrt(t) * 0.3
    d1 = (jnp.log(s / k) + t * 0.065) / root
    n1 = 0.5 + 0.5 * lax.erf(d1 * 0.70710678)
    n2 = 0.5 + 0.5 * lax.erf((d1 - root) * 0.70710678)
    paid = k * jnp.exp(t * -0.02)
    call = s * n1 - paid * n2
    return call, call - s + paid


def horizontal(*xs):
    return [jax.nn.sigmoid(2 * x + 1) for x in xs]


def adamw(*arrays):
    *lists, lr, step = arrays
    n = len(lists) // 4
    params, grads, m, v = (lists[i * n : (i + 1) * n] for i in range(4))
    c1, c2 = 1 - 0.9**step, 1 - 0.999**step
    m2 = [0.9 * a + 0.1 * g for a, g in zip(m, grads)]
    v2 = [0.999 * a + 0.001 * g * g for a, g in zip(v, grads)]
    p2 = [p * (1 - 0.01 * lr) - lr * (a / c1) / (jnp.sqrt(b / c2) + 1e-8) for p, a, b in zip(params, m2, v2)]
    return [*p2, *m2, *v2]


def blur(x):
    p = jnp.pad(x, 1)
    rows = p[:, :-2] + p[:, 1:-1] + p[:, 2:]
    return (rows[:-2] + rows[1:-1] + rows[2:]) / 9


def blur_sobel(x):
    b = jnp.pad(blur(x), 1)
    across = b[:, 2:] - b[:, :-2]
    along = b[:, :-2] + 2 * b[:, 1:-1] + b[:, 2:]
    gx = across[:-2] + 2 * across[1:-1] + across[2:]
    gy = along[2:] - along[:-2]
    return jax.nn.relu(jnp.sqrt(gx * gx + gy * gy) - 0.05)


def heat5(x):
    for _ in range(5):
        p = jnp.pad(x, 1)
        x = 0.6 * x + 0.1 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:])
    return x


def diffusion3d(x):
    p = jnp.pad(x, 1)
    c = slice(1, -1)
    total = p[:-2, c, c] + p[2:, c, c] + p[c, :-2, c] + p[c, 2:, c] + p[c, c, :-2] + p[c, c, 2:]
    return 0.4 * x + 0.1 * total
