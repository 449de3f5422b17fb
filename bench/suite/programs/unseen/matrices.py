"""Matrices of pairs: attention, similarities, kernels, Gram matrices, projections."""

from .. import Row


def torch_cosines(t, x, y):
    f = t.nn.functional
    return f.normalize(x, dim=1) @ f.normalize(y, dim=1).T


def torch_distances(t, x, y):
    d = x.square().sum(1)[:, None] - 2 * x @ y.T + y.square().sum(1)
    return d.clamp(min=0).sqrt()


def torch_kernel_ridge(t, x, z, alpha):
    d = x.square().sum(1)[:, None] - 2 * x @ z.T + z.square().sum(1)
    return (-0.01 * d).exp() @ alpha


def torch_attention(t, q, k, v):
    return (q @ k.mT * q.shape[-1] ** -0.5).softmax(-1) @ v


def torch_causal(t, q, k, v):
    n = q.shape[-2]
    s = (q @ k.mT).float() / 80**0.5
    keep = t.ones(n, n, dtype=t.bool, device=q.device).tril()
    return s.masked_fill(~keep, -t.inf).softmax(-1).to(q.dtype) @ v


def torch_masked(t, q, k, v, keep):
    s = (q @ k.mT).float() / 96**0.5
    p = s.masked_fill(~keep[:, None, None], -1e4).softmax(-1).to(q.dtype)
    return p @ v


def torch_cross_bthd(t, q, k, v):
    s = t.einsum("bthd,bshd->bhts", q, k) / 8
    return t.einsum("bhts,bshd->bthd", s.softmax(-1), v).flatten(2)


def torch_linear_attention(t, q, k, v):
    q, k = t.nn.functional.elu(q.float()) + 1, t.nn.functional.elu(k.float()) + 1
    kv = k.mT @ v.float()
    z = (q * k.sum(-2, keepdim=True)).sum(-1, keepdim=True)
    return (q @ kv / z).to(v.dtype)


def torch_mqa(t, q, k, v):
    s = t.einsum("bthd,bsd->bhts", q, k) * 128**-0.5
    n = q.shape[1]
    i = t.arange(n, device=q.device)
    s = s.float().where(i <= i[:, None], -t.inf)
    return t.einsum("bhts,bsd->bthd", s.softmax(-1).to(q.dtype), v)


def torch_gram_loss(t, x, target):
    f = x.flatten(2)
    g = f @ f.mT / f[0].numel()
    return g, (g - target).square().mean((1, 2))


def torch_pca(t, x, mean, w, s):
    z = (x - mean) @ w
    return z / s, (x - mean).square().sum(1) - z.square().sum(1)


def torch_gram_centered(t, x):
    x = x - x.mean(0)
    return x.T @ x / (x.shape[0] - 1)


def torch_third_moments(t, x):
    return t.einsum("ni,nj,nk->ijk", x, x, x) / x.shape[0]


def torch_kron(t, a, b):
    n = a.shape[0]
    return (a[:, :, None, :, None] * b[:, None, :, None, :]).reshape(n, 64, 64)


def torch_sinkhorn(t, c):
    m = -c / 0.5
    u, v = t.zeros_like(c[:, 0]), t.zeros_like(c[0])
    for _ in range(3):
        u = -(m + v).logsumexp(1)
        v = -(m + u[:, None]).logsumexp(0)
    return (m + u[:, None] + v).exp()


def torch_power_iteration(t, a, v):
    for _ in range(3):
        v = a @ v
        v = v / v.norm()
    return v, v @ (a @ v)


def torch_gated_axial(t, q, k, v, r):
    s = t.einsum("bhqd,bhkd->bhqk", q, k) + t.einsum("bhqd,qkd->bhqk", q, r)
    return (s / 32**0.5).softmax(-1) @ v


def torch_hopfield(t, x, m):
    for _ in range(2):
        x = (4 * x @ m.T).softmax(-1) @ m
    return x


def torch_low_rank_update(t, a, u, v, d):
    return a + u @ v.T + t.diag(d)


ROWS = [
    Row("matrices", "cosine_similarity_8000x8192", {"x": "f32[N=8000,256]", "y": "f32[M=8192,256]"},
        "def unit(x): return x / maximum(l2norm(x, axis=1, keepdims=True), 1e-12)\nreturn unit(x) @ unit(y).T", torch_cosines),
    Row("matrices", "distances_by_squares_101", {"x": "f32[N=7001,101]", "y": "f32[M=6007,101]"},
        "d = sum(x ** 2, axis=1)[:, None] - 2 * x @ y.T + sum(y ** 2, axis=1)\nreturn sqrt(maximum(d, 0))", torch_distances),
    Row("matrices", "kernel_ridge_4096_centers", {"x": "f32[N=40000,64]", "z": "f32[4096,64]", "alpha": "f32[4096,8]"},
        "d = sum(x * x, axis=1, keepdims=True) - 2 * (x @ z.T) + sum(z * z, axis=1)\nreturn exp(-0.01 * d) @ alpha", torch_kernel_ridge),
    Row("matrices", "attention_512_f32", {k: "f32[B=32,16,512,64]" if k == "q" else "f32[B,16,512,64]" for k in "qkv"},
        "return softmax(q @ k.mT * q.shape[-1] ** -0.5) @ v", torch_attention),
    Row("matrices", "attention_causal_80_bf16", {k: "bf16[B=16,16,1024,80]" if k == "q" else "bf16[B,16,1024,80]" for k in "qkv"},
        "n = q.shape[-2]\ni = arange(n)\ns = f32(q) @ f32(k).mT / sqrt(80)\nreturn bf16(softmax(where(i <= i[:, None], s, -inf), axis=-1)) @ v", torch_causal),
    Row("matrices", "attention_padded_96_f16", {k: "f16[B=8,12,1500,96]" if k == "q" else "f16[B,12,1500,96]" for k in "qkv"} | {"keep": "bool[B,1500]"},
        "s = f32(q) @ f32(k).mT / sqrt(96)\np = softmax(where(keep[:, None, None], s, -1e4))\nreturn f16(p) @ v", torch_masked),
    Row("matrices", "attention_197_heads_of_32", {k: "f32[B=250,12,197,32]" if k == "q" else "f32[B,12,197,32]" for k in "qkv"},
        "return softmax(q @ k.mT / sqrt(32)) @ v", torch_attention),
    Row("matrices", "attention_4096_128_bf16", {k: "bf16[B=4,8,4096,128]" if k == "q" else "bf16[B,8,4096,128]" for k in "qkv"},
        "return attention(q, k, v)", lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v)),
    Row("matrices", "cross_attention_77_keys_f16", {"q": "f16[B=24,8,4096,80]", "k": "f16[B,8,77,80]", "v": "f16[B,8,77,80]"},
        "return attention(q, k, v, scale=80 ** -0.5)", lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v)),
    Row("matrices", "cross_attention_16_latents", {"q": "f32[B=64,1024,8,64]", "k": "f32[B,16,8,64]", "v": "f32[B,16,8,64]"},
        "s = einsum('bthd,bshd->bhts', q, k) / 8\nreturn einsum('bhts,bshd->bthd', softmax(s), v).reshape(q.shape[0], 1024, 512)", torch_cross_bthd),
    Row("matrices", "linear_attention_elu_bf16", {k: "bf16[B=16,16,2048,64]" if k == "q" else "bf16[B,16,2048,64]" for k in "qkv"},
        "q = elu(f32(q)) + 1; k = elu(f32(k)) + 1\nkv = k.mT @ f32(v)\nz = sum(q * sum(k, axis=-2, keepdims=True), axis=-1, keepdims=True)\n"
        "return bf16(q @ kv / z)", torch_linear_attention),
    Row("matrices", "multi_query_causal_bf16", {"q": "bf16[B=8,1024,16,128]", "k": "bf16[B,1024,128]", "v": "bf16[B,1024,128]"},
        "s = einsum('bthd,bsd->bhts', f32(q), f32(k)) * 128 ** -0.5\ni = arange(q.shape[1])\np = softmax(where(i <= i[:, None], s, -inf))\n"
        "return einsum('bhts,bsd->bthd', bf16(p), v)", torch_mqa),
    Row("matrices", "style_gram_64", {"x": "f32[B=32,64,128,128]", "target": "f32[B,64,64]"},
        "b, c, h, w = x.shape\nf = x.reshape(b, c, h * w)\ng = f @ f.mT / (c * h * w)\nreturn g, mean((g - target) ** 2, axis=(1, 2))",
        torch_gram_loss),
    Row("matrices", "pca_whiten_and_residual", {"x": "f32[N=800000,96]", "mean": "f32[96]", "w": "f32[96,10]", "s": "uniform:f32[10]"},
        "d = x - mean\nz = d @ (w / 10)\nreturn z / (s + 0.1), sum(d * d, axis=1) - sum(z * z, axis=1)",
        lambda t, x, m, w, s: torch_pca(t, x, m, w / 10, s + 0.1)),
    Row("matrices", "covariance_48_columns_f64", {"x": "f64[N=600000,48]"},
        "d = x - mean(x, axis=0)\nreturn d.T @ d / (x.shape[0] - 1)", torch_gram_centered),
    Row("matrices", "third_moments_24", {"x": "f32[N=400000,24]"},
        "return einsum('ni,nj,nk->ijk', x, x, x) / x.shape[0]", torch_third_moments),
    Row("matrices", "small_products_7x9x5", {"a": "f32[N=500000,7,9]", "b": "f32[N,9,5]", "c": "f32[5]"},
        "return relu(a @ b + c)", lambda t, a, b, c: (a @ b + c).relu()),
    Row("matrices", "small_products_24x31_tanh", {"x": "f32[B=50001,17,24]", "w": "f32[B,24,31]", "b": "f32[B,31]"},
        "return tanh(x @ w / 5 + b[:, None])", lambda t, x, w, b: (x @ w / 5 + b[:, None]).tanh()),
    Row("matrices", "kronecker_8x8_batch", {"a": "f32[N=20000,8,8]", "b": "f32[N,8,8]"},
        "return (a[:, :, None, :, None] * b[:, None, :, None, :]).reshape(a.shape[0], 64, 64)", torch_kron),
    Row("matrices", "sinkhorn_3_rounds_4096", {"c": "uniform:f32[N=4096,M=6000]"},
        "m = -c / 0.5\ndef rows(m, v): return -logsumexp(m + v, axis=1)\ndef columns(m, u): return -logsumexp(m + u[:, None], axis=0)\n"
        "u = -logsumexp(m, axis=1); v = columns(m, u)\nu = rows(m, v); v = columns(m, u)\nu = rows(m, v); v = columns(m, u)\n"
        "return exp(m + u[:, None] + v)", torch_sinkhorn),
    Row("matrices", "power_iteration_3_steps", {"a": "f32[N=8192,N]", "v": "f32[N]"},
        "def step(a, v):\n  w = a @ v\n  return w / norm(w)\nv = step(a, step(a, step(a, v)))\nreturn v, dot(v, a @ v)", torch_power_iteration),
    Row("matrices", "axial_attention_relative_96", {k: "f32[B=128,8,96,32]" if k == "q" else "f32[B,8,96,32]" for k in "qkv"} | {"r": "f32[96,96,32]"},
        "s = einsum('bhqd,bhkd->bhqk', q, k) + einsum('bhqd,qkd->bhqk', q, r)\nreturn softmax(s / sqrt(32)) @ v", torch_gated_axial),
    Row("matrices", "hopfield_retrieval_2_steps", {"x": "f32[N=16000,128]", "m": "f32[1500,128]"},
        "def step(x, m): return softmax(4 * x @ m.T) @ m\nm = m / 11\nreturn step(step(x / 11, m), m)",
        lambda t, x, m: torch_hopfield(t, x / 11, m / 11)),
    Row("matrices", "diagonal_plus_low_rank_f64", {"a": "f64[N=5000,N]", "u": "f64[N,3]", "v": "f64[N,3]", "d": "f64[N]"},
        "return a + u @ v.T + d * eye(d.shape[0], dtype=f64)", torch_low_rank_update),
]
