"""Matrix products with prologues and epilogues, and attention with masks and scores of the program."""

from . import Row


def linear(t, x, w, *bias):
    return t.nn.functional.linear(x, w, *bias)


def attention(t, q, k, v, **options):
    return t.nn.functional.scaled_dot_product_attention(q, k, v, **options)


def distance(t, q, k):
    n, m = q.shape[-2], k.shape[-2]
    return t.arange(n, device=q.device)[:, None] - t.arange(m, device=q.device)


def torch_alibi(t, q, k, v, m):
    d = distance(t, q, k)
    return attention(t, q, k, v, attn_mask=t.where(d >= 0, -m[:, None, None] * d, -t.inf).to(q.dtype))


def torch_window(t, q, k, v):
    d = distance(t, q, k)
    return attention(t, q, k, v, attn_mask=(d >= 0) & (d < 512))


def torch_softcap(t, q, k, v):
    scores = 20 * t.tanh((q @ k.mT).float() * 0.00625)
    return t.softmax(scores.masked_fill(distance(t, q, k) < 0, -t.inf), -1).to(v.dtype) @ v


def torch_row_amax(t, x, w):
    y = linear(t, x, w).float()
    s = y.abs().amax(-1, keepdim=True) / 127
    return t.round(y / s).to(t.int8), s


def torch_experts(t, x, slots, gates, up, down):
    rows = t.nn.functional.gelu(x[slots] @ up) @ down * gates[:, :, None]
    return t.zeros_like(x).index_add(0, slots.reshape(-1), rows.reshape(-1, x.shape[1]))


def int8_weights(rows):
    return Row("products", f"int8_weights_{rows}", {"x": f"bf16[{rows},4096]", "w": "i8[N=14336,4096]", "s": "bf16[N]"},
               "return linear(x, bf16(w)) * s", lambda t, x, w, s: linear(t, x, w.to(x.dtype)) * s)


HEADS = {name: "bf16[B=4,32,S=1024,128]" for name in "qkv"}
DISTANCE = "d = arange(q.shape[2])[:, None] - arange(q.shape[2])\n"

ROWS = [
    Row("products", "matmul_bf16", {"a": "bf16[M=4096,4096]", "b": "bf16[4096,N=4096]"}, "return a @ b", lambda t, a, b: a @ b),
    Row("products", "matmul_f32", {"a": "f32[M=4096,4096]", "b": "f32[4096,N=4096]"}, "return a @ b", lambda t, a, b: a @ b),
    Row("products", "matmul_f32_odd", {"a": "f32[M=1021,1499]", "b": "f32[1499,N=2053]"}, "return a @ b", lambda t, a, b: a @ b),
    Row("products", "matmul_transposed_odd", {"a": "f32[1031,M=1523]", "b": "f32[N=997,1031]"}, "return a.T @ b.T",
        lambda t, a, b: a.T @ b.T),
    Row("products", "linear_gelu", {"x": "bf16[M=8192,4096]", "w": "bf16[N=16384,4096]", "b": "bf16[N]"},
        "return gelu(linear(x, w, b))", lambda t, x, w, b: t.nn.functional.gelu(linear(t, x, w, b))),
    Row("products", "layernorm_linear_gelu",
        {"x": "bf16[M=8192,4096]", "g": "bf16[4096]", "h": "bf16[4096]", "w": "bf16[N=16384,4096]", "b": "bf16[N]"},
        "return gelu(linear(layernorm(x, g, h), w, b))",
        lambda t, x, g, h, w, b: t.nn.functional.gelu(linear(t, t.nn.functional.layer_norm(x, g.shape, g, h), w, b))),
    Row("products", "rmsnorm_linear_silu", {"x": "bf16[M=16384,512]", "g": "bf16[512]", "w": "bf16[N=2048,512]"},
        "return silu(linear(rmsnorm(x, g), w))",
        lambda t, x, g, w: t.nn.functional.silu(linear(t, t.nn.functional.rms_norm(x, g.shape, g, 1e-6), w))),
    Row("products", "swiglu", {"x": "bf16[M=4096,4096]", "w": "bf16[N=11008,4096]", "v": "bf16[N,4096]"},
        "return silu(linear(x, w)) * linear(x, v)", lambda t, x, w, v: t.nn.functional.silu(linear(t, x, w)) * linear(t, x, v)),
    Row("products", "linear_row_amax_int8", {"x": "bf16[M=8192,4096]", "w": "bf16[N=4096,4096]"},
        "y = linear(f32(x), f32(w))\ns = max(abs(y), axis=-1, keepdims=True) / 127\nreturn i8(round(y / s)), s", torch_row_amax),
    int8_weights(1),
    int8_weights(16),
    int8_weights(64),
    Row("products", "relu_batched", {"a": "bf16[B=256,256,64]", "b": "bf16[B,64,256]"}, "return relu(a @ b)",
        lambda t, a, b: t.relu(a @ b)),
    Row("products", "batched_odd", {"a": "f32[B=509,23,37]", "b": "f32[B,37,29]"}, "return a @ b", lambda t, a, b: a @ b),
    Row("products", "matrix_vector", {"a": "f32[M=8192,4096]", "x": "f32[4096]"}, "return a @ x", lambda t, a, x: a @ x),
    Row("products", "few_terms", {"a": "f32[M=8192,8]", "b": "f32[8,N=4096]"}, "return a @ b", lambda t, a, b: a @ b),
    Row("products", "einsum_heads", {"q": "f32[B=8,512,16,64]", "k": "f32[B,512,16,64]"},
        "return einsum('bqhd,bkhd->bhqk', q, k)", lambda t, q, k: t.einsum("bqhd,bkhd->bhqk", q, k)),
    Row("products", "experts", {"x": "f32[1024,512]", "slots": "below=1024:i32[E=64,32]", "gates": "f32[E,32]",
                                "up": "f32[E,512,768]", "down": "f32[E,768,512]"},
        "y = (gelu(take(x, slots, axis=0) @ up) @ down) * gates[:, :, None]\n"
        "return scatter_add(zeros_like(x), slots.reshape(-1), y.reshape(-1, 512))", torch_experts),
    Row("products", "attention_full", HEADS, "return attention(q, k, v)", attention),
    Row("products", "attention_causal", HEADS, "return attention(q, k, v, causal=True)",
        lambda t, q, k, v: attention(t, q, k, v, is_causal=True)),
    Row("products", "attention_alibi", {**HEADS, "m": "uniform:f32[32]"},
        DISTANCE + "return attention(q, k, v, mask=-m[:, None, None] * f32(d), causal=True)", torch_alibi),
    Row("products", "attention_softcap", HEADS,
        DISTANCE + "s = 20 * tanh(f32(q @ k.mT) * 0.00625)\nreturn bf16(softmax(where(d >= 0, s, -inf))) @ v",
        torch_softcap),
    Row("products", "attention_window", HEADS, DISTANCE + "return attention(q, k, v, mask=(d >= 0) & (d < 512))",
        torch_window),
    Row("products", "attention_decode_grouped", {"q": "bf16[B=16,32,1,128]", "k": "bf16[B,8,8192,128]", "v": "bf16[B,8,8192,128]"},
        "return attention(q, k, v)", lambda t, q, k, v: attention(t, q, k, v, enable_gqa=True)),
]
