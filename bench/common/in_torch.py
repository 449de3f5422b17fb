"""The families as one writes them in PyTorch. Each is run eagerly and through torch.compile."""

import torch
import torch.nn.functional as F
from exact import HORNER


def quantize_int8(x):
    return torch.clamp(torch.round(x / 4.2 + 1.2), -128, 127).to(torch.int8)


def add_mul_exp(x, y):
    return torch.exp((x + y) * 2)


def relu_layernorm(x):
    return F.layer_norm(F.relu(x), x.shape[-1:], eps=1e-5)


def relu_bn_add_relu(x, s, b, r):
    return F.relu(F.relu(x) * s[:, None, None] + b[:, None, None] + r)


def l2norm(x):
    return torch.sqrt(torch.sum(x * x))


def softmax_bf16(x):
    return F.softmax(x, dim=-1)


def softmax_f32(x):
    return F.softmax(x, dim=-1)


def rmsnorm(x, w):
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * w


def add_layernorm(x, r, w, b):
    h = x + r
    return h, F.layer_norm(h, h.shape[-1:], w, b, 1e-5)


def swiglu(a, b):
    return F.silu(a) * b


def bias_gelu(x, b):
    return F.gelu(x + b)


def dropout_relu(x):
    return F.dropout(F.relu(x), 0.1)


def loop2(b, c, e):
    a = b + c
    return a, a * e


def chain10(x):
    for _ in range(5):
        x = torch.tanh(x * 1.01) + 0.1
    return x


def colsum(x):
    return torch.relu(x).sum(0)


def cumsum(x):
    return torch.cumsum(x, -1)


def var(x):
    return torch.var(x, dim=-1, unbiased=True)


def cross_entropy(x, t):
    return F.cross_entropy(x.float(), t)


def transpose_add(x, y):
    return x.T + y


rmsnorm_f32 = rmsnorm
gelu_bias = bias_gelu


def poly20(x):
    y = x * 0.000002 + HORNER[0]
    for c in HORNER[1:]:
        y = y * x + c
    return y


def black_scholes(s, k, t):
    root = torch.sqrt(t) * 0.3
    d1 = (torch.log(s / k) + t * 0.065) / root
    n1 = 0.5 + 0.5 * torch.erf(d1 * 0.70710678)
    n2 = 0.5 + 0.5 * torch.erf((d1 - root) * 0.70710678)
    paid = k * torch.exp(t * -0.02)
    call = s * n1 - paid * n2
    return call, call - s + paid


def horizontal(*xs):
    return [torch.sigmoid(2 * x + 1) for x in xs]


# As torch.optim does it: each operation over the whole list.
def adamw(*arrays):
    *lists, lr, step = arrays
    n = len(lists) // 4
    params, grads, m, v = ([*lists[i * n : (i + 1) * n]] for i in range(4))
    c1, c2 = 1 - 0.9**step, 1 - 0.999**step
    m2 = torch._foreach_add(torch._foreach_mul(m, 0.9), grads, alpha=0.1)
    v2 = torch._foreach_addcmul(torch._foreach_mul(v, 0.999), grads, grads, 0.001)
    root = torch._foreach_add(torch._foreach_sqrt(torch._foreach_div(v2, c2)), 1e-8)
    step_size = torch._foreach_div(torch._foreach_mul(m2, lr / c1), root)
    p2 = torch._foreach_sub(torch._foreach_mul(params, 1 - 0.01 * lr), step_size)
    return [*p2, *m2, *v2]


def window(x, taps):
    """The sum of x's neighbours, weighted: a convolution with zeros outside."""
    return F.conv2d(x[None, None], torch.tensor(taps, dtype=x.dtype, device=x.device)[None, None], padding=1)[0, 0]


def blur(x):
    return F.avg_pool2d(x[None, None], 3, stride=1, padding=1)[0, 0]


def blur_sobel(x):
    b = blur(x)
    gx = window(b, [[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]])
    gy = window(b, [[-1.0, -2.0, -1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 1.0]])
    return torch.relu(torch.sqrt(gx * gx + gy * gy) - 0.05)


def heat5(x):
    for _ in range(5):
        p = F.pad(x, (1, 1, 1, 1))
        x = 0.6 * x + 0.1 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:])
    return x


def diffusion3d(x):
    p = F.pad(x, (1, 1, 1, 1, 1, 1))
    c = slice(1, -1)
    total = p[:-2, c, c] + p[2:, c, c] + p[c, :-2, c] + p[c, 2:, c] + p[c, c, :-2] + p[c, c, 2:]
    return 0.4 * x + 0.1 * total
