"""The families in CuPy: chains of elementwise operations through cupy.fuse, the rest operation by operation."""

import cupy as cp


def fused(function):
    """cupy.fuse, and the plain function where fuse does not take it."""
    attempt = cp.fuse()(function)
    use = {"function": attempt}

    def call(*arguments):
        if use["function"] is attempt:
            try:
                return attempt(*arguments)
            except Exception as error:  # whatever fuse raises: the plain function decides
                call.note = f"cupy.fuse refused it ({type(error).__name__}); plain"
                use["function"] = function
        return use["function"](*arguments)

    call.note = "cupy.fuse"
    return call


@fused
def quantize_int8(x):
    return cp.minimum(cp.maximum(cp.rint(x / 4.2 + 1.2), -128), 127).astype(cp.int8)


@fused
def add_mul_exp(x, y):
    return cp.exp((x + y) * 2)


def standardised(x, eps):
    d = x - x.mean(axis=-1, keepdims=True)
    return d / cp.sqrt((d * d).mean(axis=-1, keepdims=True) + eps)


def relu_layernorm(x):
    return standardised(cp.maximum(x, 0), 1e-5)


@fused
def scale_and_add(x, s, b, r):
    return cp.maximum(cp.maximum(x, 0) * s + b + r, 0)


def relu_bn_add_relu(x, s, b, r):
    return scale_and_add(x, s[:, None, None], b[:, None, None], r)


def l2norm(x):
    return cp.sqrt(cp.sum(x * x))


def softmax_f32(x):
    e = cp.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@fused
def loop2(b, c, e):
    a = b + c
    return a, a * e


@fused
def chain10(x):
    x = cp.tanh(x * 1.01) + 0.1
    x = cp.tanh(x * 1.01) + 0.1
    x = cp.tanh(x * 1.01) + 0.1
    x = cp.tanh(x * 1.01) + 0.1
    return cp.tanh(x * 1.01) + 0.1


@fused
def dropped(x, u):
    return cp.where(u >= cp.float32(0.1), cp.maximum(x, cp.float32(0)) * cp.float32(1 / 0.9), cp.float32(0))


def dropout_relu(x):
    return dropped(x, cp.random.random(x.shape, dtype=cp.float32))


def colsum(x):
    return cp.maximum(x, 0).sum(axis=0)


def cumsum(x):
    return cp.cumsum(x, axis=-1)


def var(x):
    return x.var(axis=-1, ddof=1)


@fused
def add(x, y):
    return x + y


def transpose_add(x, y):
    return add(x.T, y)
