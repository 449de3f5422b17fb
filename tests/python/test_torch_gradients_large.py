"""Gradients of arrays that several threads work on, against those of torch.autograd in f64: what test_torch_gradients.py compares of
every function is so small that on a GPU one thread, or one warp, has all of a row."""

import pytest

torch = pytest.importorskip("torch")

import smelt as S  # noqa: E402
from test_torch_gradients import data  # noqa: E402

WHERE = [(d, t) for d in ("cpu", "cuda") for t in (torch.float64, torch.float32) if d == "cpu" or torch.cuda.is_available()]
F = torch.nn.functional


def places(count, below, seed=0):
    return torch.randint(0, below, (count,), generator=torch.Generator().manual_seed(seed))


ROWS, TALL, BESIDE = data(37, 1031), data(2053, 19), data(37, 1031, seed=1)
WEIGHT, BIAS = data(1031, seed=2), data(1031, seed=3)
NEAR_ONE = data(37, 1031, low=0.99, high=1.01)
IMAGE, KERNELS = data(3, 8, 33, 37), data(12, 8, 3, 3, seed=1, low=-0.3, high=0.3)
TABLE, UPDATES = data(97, 65), data(1500, 65, seed=1)
HEADS = [data(2, 3, 130, 32, seed=s, low=-0.5, high=0.5) for s in range(3)]

CASES = {
    "sum of rows": (lambda x: S.sum(x * x, axis=1), lambda x: (x * x).sum(1), ROWS),
    "sum down columns": (lambda x: S.sum(x * x, axis=0), lambda x: (x * x).sum(0), TALL),
    "sum of all": (lambda x: S.sum(S.sin(x)), lambda x: x.sin().sum(), ROWS),
    "product of rows": (lambda x: S.prod(x, axis=1), lambda x: x.prod(1), NEAR_ONE),
    "maximum of rows": (lambda x: S.max(x, axis=1), lambda x: x.amax(1), ROWS),
    "minimum down columns": (lambda x: S.min(x, axis=0), lambda x: x.amin(0), TALL),
    "variance": (lambda x: S.var(x, axis=1), lambda x: x.var(1, correction=0), ROWS),
    "norm": (lambda x: S.l2norm(x, axis=1), lambda x: x.norm(dim=1), ROWS),
    "logsumexp": (lambda x: S.logsumexp(x, axis=1), lambda x: x.logsumexp(1), ROWS * 30),
    "softmax of rows": (S.softmax, lambda x: x.softmax(-1), ROWS * 5),
    "softmax down columns": (lambda x: S.softmax(x, axis=0), lambda x: x.softmax(0), TALL * 5),
    "layernorm": (S.layernorm, lambda x, w, b: F.layer_norm(x, (1031,), w, b), ROWS, WEIGHT, BIAS),
    "rmsnorm": (S.rmsnorm, lambda x, w: F.rms_norm(x, (1031,), w, 1e-6), ROWS, WEIGHT),
    "cross entropy": (S.cross_entropy, F.cross_entropy, ROWS * 3, places(37, 1031)),
    "running sum": (S.cumsum, lambda x: x.cumsum(-1), ROWS),
    "running sum down columns": (lambda x: S.cumsum(x, axis=0), lambda x: x.cumsum(0), TALL),
    "running product": (S.cumprod, lambda x: x.cumprod(-1), NEAR_ONE),
    "running maximum": (S.cummax, lambda x: x.cummax(-1).values, ROWS),
    "running logsumexp": (S.logcumsumexp, lambda x: x.logcumsumexp(-1), ROWS * 10),
    "product of matrices": (S.matmul, torch.matmul, data(130, 70, low=-1, high=1), data(70, 190, seed=1, low=-1, high=1)),
    "products in a batch": (S.matmul, torch.matmul, data(5, 33, 65, low=-1, high=1), data(5, 65, 31, seed=1, low=-1, high=1)),
    "linear": (S.linear, F.linear, data(129, 257, low=-1, high=1), data(66, 257, seed=1, low=-1, high=1), data(66)),
    "einsum": (
        lambda a, b: S.einsum("bij,bkj->kib", a, b),
        lambda a, b: torch.einsum("bij,bkj->kib", a, b),
        data(6, 33, 65, low=-1, high=1),
        data(6, 17, 65, seed=1, low=-1, high=1),
    ),
    "attention": (
        lambda q, k, v: S.scaled_dot_product_attention(q, k, v, causal=True),
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        *HEADS,
    ),
    "convolution": (
        lambda x, w, b: S.conv(x, w, b, padding=(1, 1)),
        lambda x, w, b: F.conv2d(x, w, b, padding=1),
        IMAGE,
        KERNELS,
        data(12),
    ),
    "convolution by steps": (
        lambda x, w: S.conv(x, w, stride=(2, 2), groups=4),
        lambda x, w: F.conv2d(x, w, stride=2, groups=4),
        IMAGE,
        KERNELS[:, :2].clone(),
    ),
    "maximum of windows": (lambda x: S.max_pool(x, (3, 3), stride=(2, 2)), lambda x: F.max_pool2d(x, 3, 2), IMAGE),
    "mean of windows": (lambda x: S.avg_pool(x, (3, 3), stride=(2, 2)), lambda x: F.avg_pool2d(x, 3, 2), IMAGE),
    "windows": (lambda x: S.window(x, 5, axis=-1, stride=3), lambda x: x.unfold(-1, 5, 3), ROWS),
    "rows by indices": (S.embedding, lambda t, i: F.embedding(i, t), TABLE, places(1500, 97)),
    "one element of each row": (
        lambda x, i: S.take_along_axis(x, i, axis=1),
        lambda x, i: torch.take_along_dim(x, i, 1),
        ROWS,
        places(37 * 11, 1031).reshape(37, 11),
    ),
    "scatter_add": (S.scatter_add, lambda x, i, u: x.index_add(0, i, u), TABLE, places(1500, 97), UPDATES),
    "scatter_max": (
        S.scatter_max,
        lambda x, i, u: x.scatter_reduce(0, i[:, None].expand(-1, 65), u, "amax"),
        TABLE,
        places(1500, 97),
        UPDATES,
    ),
    "segment_sum": (lambda x, s: S.segment_sum(x, s, 97), lambda x, s: x.new_zeros(97, 65).index_add(0, s, x), UPDATES, places(1500, 97)),
    "transpose": (lambda x: S.transpose(x, (1, 0)) * 2, lambda x: x.T * 2, ROWS),
    "pad and roll": (
        lambda x: S.roll(S.pad(x, ((2, 1), (3, 4)), mode="reflect"), (1, -5), (0, 1)),
        lambda x: F.pad(x[None], (3, 4, 2, 1), mode="reflect")[0].roll((1, -5), (0, 1)),
        ROWS,
    ),
    "broadcast": (lambda x, w: S.tanh(x * w + w), lambda x, w: torch.tanh(x * w + w), ROWS, WEIGHT),
    "two layers": (
        lambda x, v, w: S.sum(S.square(S.gelu(S.linear(x, v)) @ w)),
        lambda x, v, w: (F.gelu(F.linear(x, v)) @ w).square().sum(),
        data(66, 65, low=-1, high=1),
        data(130, 65, seed=1, low=-0.3, high=0.3),
        data(130, 33, seed=2, low=-0.3, high=0.3),
    ),
}


@pytest.mark.parametrize("device, dtype", WHERE)
@pytest.mark.parametrize("name", sorted(CASES))
def test_gradients_of_large_arrays_are_those_of_torch(name, device, dtype):
    of_smelt, of_torch, *given = CASES[name]
    arguments = [a.to(device, dtype) if a.is_floating_point() else a.to(device) for a in given]
    floats = [i for i, a in enumerate(arguments) if a.is_floating_point()]
    leaves = [a.double().clone().requires_grad_() if a.is_floating_point() else a for a in arguments]
    result = of_torch(*leaves)
    # Each element of the result counts with another weight, which f32 has exactly.
    weights = (0.5 + torch.arange(result.numel(), device=device) % 257 / 256).reshape(result.shape)
    expected = torch.autograd.grad((result * weights.double()).sum(), [leaves[i] for i in floats])
    made = S.grad(lambda w, *xs: S.sum(of_smelt(*xs) * w), argnums=tuple(i + 1 for i in floats))(weights.to(dtype), *arguments)
    of_largest = 1e-11 if dtype == torch.float64 else 1e-4
    for slope, wanted in zip(made, expected, strict=True):
        torch.testing.assert_close(slope.double(), wanted, rtol=of_largest, atol=of_largest * wanted.abs().max().item())
