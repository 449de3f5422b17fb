"""Parts of transformers other than matrix products."""

from . import Row


def halves(x):
    n = x.shape[-1] // 2
    return x[..., :n].float(), x[..., n:].float()


def torch_rope_slices(t, x, c, s):
    a, b = halves(x)
    return t.cat((a * c - b * s, b * c + a * s), -1).to(x.dtype)


def torch_rope_pairs(t, x, c, s):
    a, b = x[..., ::2].float(), x[..., 1::2].float()
    return t.stack((a * c - b * s, b * c + a * s), -1).flatten(-2).to(x.dtype)


def torch_alibi(t, x, m):
    i = t.arange(x.shape[-1], device=x.device)
    x = x.float() + m[:, None, None] * (i - i[:, None])
    return t.softmax(x.masked_fill(i > i[:, None], -t.inf), -1).to(t.bfloat16)


def torch_causal(t, x):
    i = t.arange(x.shape[-1], device=x.device)
    return t.softmax((x * 0.125).masked_fill(i > i[:, None], -t.inf), -1)


def torch_sliding_window(t, x):
    i = t.arange(x.shape[-1], device=x.device)
    d = i[:, None] - i
    return t.softmax(x.masked_fill((d < 0) | (d >= 256), -1e9), -1)


def torch_residual_rms(t, x, r, w):
    h = x + r
    return h, t.nn.functional.rms_norm(h, w.shape, w, 1e-6)


def torch_embed(t, table, ids, p, w, b):
    return t.nn.functional.layer_norm(table[ids] + p, w.shape, w, b)


def torch_top1(t, x):
    p, i = t.softmax(x, -1).max(-1)
    return p, i


def torch_balance(t, x):
    p = t.softmax(x, -1)
    f = t.nn.functional.one_hot(x.argmax(-1), x.shape[1]).float().mean(0)
    return x.shape[1] * (f * p.mean(0)).sum()


def torch_decode_scores(t, q, k):
    return t.softmax((q[:, :, None].float() * k.float()).sum(-1) * 0.08838834764, -1)


def torch_attend(t, p, v):
    return (p[..., None] * v.float()).sum(2)


def torch_qk_norm_rope(t, x, w, c, s):
    return torch_rope_slices(t, t.nn.functional.rms_norm(x.float(), w.shape, w, 1e-6), c, s)


def torch_modulate(t, x, scale, shift):
    return t.nn.functional.layer_norm(x, x.shape[-1:], eps=1e-6) * (1 + scale[:, None]) + shift[:, None]


def torch_pool(t, x, m):
    w = m[..., None].float()
    p = (x * w).sum(1) / w.sum(1).clamp_min(1)
    return p / p.norm(dim=-1, keepdim=True).clamp_min(1e-12)


def torch_timesteps(t, s):
    f = t.exp(t.arange(128, device=s.device) * -0.07195578415606394)
    a = s[:, None] * f
    return t.cat((t.cos(a), t.sin(a)), -1)


def torch_update_cache(t, cache, new):
    out = cache.clone()
    out[:, :, 1000] = new
    return out


def torch_token_shift(t, x, m):
    old = t.nn.functional.pad(x, (0, 0, 1, 0))[:, :-1]
    return x * m + old * (1 - m)


def torch_combine(t, x, p, r):
    return r + (x * p[..., None]).sum(1)


ROPE = "return bf16(concat((a * c - b * s, b * c + a * s), axis=-1))"
CAUSAL = "i = arange(x.shape[-1])\n"

ROWS = [
    Row("transformers", "rope_slices", {"x": "bf16[B=4,H=32,4096,128]", "c": "f32[4096,64]", "s": "f32[4096,64]"},
        "a = f32(x[..., :64])\nb = f32(x[..., 64:])\nreturn bf16(concat((a * c - b * s, b * c + a * s), axis=-1))",
        torch_rope_slices),
    Row("transformers", "rope_pairs", {"x": "bf16[4,T=4096,32,128]", "c": "f32[T,1,64]", "s": "f32[T,1,64]"},
        "a = f32(x[..., ::2])\nb = f32(x[..., 1::2])\n"
        "return bf16(stack((a * c - b * s, b * c + a * s), axis=-1).reshape(x.shape))", torch_rope_pairs),
    Row("transformers", "swiglu_packed", {"x": "bf16[N=16384,22016]"}, "return silu(x[:, :11008]) * x[:, 11008:]",
        lambda t, x: t.nn.functional.silu(x[:, :11008]) * x[:, 11008:]),
    Row("transformers", "rope_slices_odd", {"x": "f32[B=59,23,821,80]", "c": "f32[821,40]", "s": "f32[821,40]"},
        "a = x[..., :40]; b = x[..., 40:]\nreturn concat((a * c - b * s, b * c + a * s), axis=-1)", torch_rope_slices),
    Row("transformers", "rotary_f16", {"x": "f16[B=22,2048,8,128]", "c": "f16[2048,1,64]", "s": "f16[2048,1,64]"},
        "return rotary(x, c, s)", torch_rope_slices),
    Row("transformers", "qk_norm_rope", {"x": "bf16[B=48,16,1024,128]", "w": "f32[128]", "c": "f32[1024,64]", "s": "f32[1024,64]"},
        "y = rmsnorm(f32(x), w)\na = y[..., :64]; b = y[..., 64:]\nreturn concat((a * c - b * s, b * c + a * s), axis=-1)",
        torch_qk_norm_rope),
    Row("transformers", "alibi_softmax_bf16", {"x": "bf16[B=12,12,1024,1024]", "m": "f32[12]"},
        CAUSAL + "y = f32(x) + m[:, None, None] * f32(i - i[:, None])\nreturn bf16(softmax(where(i > i[:, None], -inf, y)))", torch_alibi),
    Row("transformers", "causal_softmax_odd", {"x": "f32[B=43,773,773]"},
        CAUSAL + "return softmax(where(i > i[:, None], -inf, x * 0.125))", torch_causal),
    Row("transformers", "sliding_window_softmax", {"x": "f32[B=10,2048,2048]"},
        CAUSAL + "d = i[:, None] - i\nreturn softmax(where((d < 0) | (d >= 256), -1e9, x))", torch_sliding_window),
    Row("transformers", "padding_softmax_odd", {"x": "f32[B=173,11,223,223]", "m": "bool[B,223]"},
        "return softmax(where(m[:, None, None], -1e9, x))",
        lambda t, x, m: t.softmax(x.masked_fill(m[:, None, None], -1e9), -1)),
    Row("transformers", "residual_rms", {"x": "f32[N=15152,4096]", "r": "f32[N,4096]", "w": "f32[4096]"},
        "h = x + r\nreturn h, rmsnorm(h, w)", torch_residual_rms),
    Row("transformers", "residual_layernorm_bf16_odd", {"x": "bf16[N=44867,2939]", "r": "bf16[N,2939]", "w": "bf16[2939]", "b": "bf16[2939]"},
        "return bf16(layernorm(f32(x) + f32(r), f32(w), f32(b)))",
        lambda t, x, r, w, b: t.nn.functional.layer_norm(x.float() + r.float(), w.shape, w.float(), b.float()).to(t.bfloat16)),
    Row("transformers", "modulated_layernorm", {"x": "f32[B=30,1024,1152]", "scale": "f32[B,1152]", "shift": "f32[B,1152]"},
        "return layernorm(x, eps=1e-6) * (1 + scale[:, None]) + shift[:, None]", torch_modulate),
    Row("transformers", "geglu_packed_odd", {"x": "f32[N=8363,5494]"}, "return x[:, :2747] * gelu(x[:, 2747:])",
        lambda t, x: x[:, :2747] * t.nn.functional.gelu(x[:, 2747:])),
    Row("transformers", "swiglu_interleaved_f16", {"x": "f16[N=4368,8192]"}, "return silu(x[:, ::2]) * x[:, 1::2]",
        lambda t, x: t.nn.functional.silu(x[:, ::2]) * x[:, 1::2]),
    Row("transformers", "kv_cache_update", {"cache": "bf16[B=64,8,2048,128]", "new": "bf16[B,8,128]"},
        "i = arange(2048)[:, None]\nreturn where(i == 1000, new[:, :, None], cache)", torch_update_cache),
    Row("transformers", "kv_cache_append", {"cache": "f16[B=127,8,997,128]", "new": "f16[B,8,1,128]"},
        "return concat((cache, new), axis=2)", lambda t, cache, new: t.cat((cache, new), 2)),
    Row("transformers", "decode_scores", {"q": "bf16[B=16,32,128]", "k": "bf16[B,32,2048,128]"},
        "return softmax(sum(f32(q)[:, :, None] * f32(k), axis=-1) * 0.08838834764)", torch_decode_scores),
    Row("transformers", "decode_values_odd", {"p": "f32[B=13,32,1999]", "v": "bf16[B,32,1999,128]"},
        "return sum(p[..., None] * f32(v), axis=2)", torch_attend),
    Row("transformers", "embed_position_norm", {"table": "f32[30522,768]", "ids": "below=30522:i64[B=128,512]", "p": "f32[512,768]",
                                                "w": "f32[768]", "b": "f32[768]"},
        "return layernorm(embedding(table, ids) + p, w, b)", torch_embed),
    Row("transformers", "embedding_bf16_odd", {"table": "bf16[50257,1601]", "ids": "below=50257:i64[N=40009]"},
        "return embedding(table, ids)", lambda t, table, ids: table[ids]),
    Row("transformers", "router_top1", {"x": "f32[N=337031,64]"}, "v, i = max_and_argmax(softmax(x))\nreturn v, i", torch_top1),
    Row("transformers", "router_balance", {"x": "f32[N=6161696,16]"},
        "n = x.shape[1]\nf = mean(one_hot(argmax(x, axis=-1), n), axis=0)\nreturn n * sum(f * mean(softmax(x), axis=0))", torch_balance),
    Row("transformers", "combine_experts_bf16", {"x": "bf16[N=18976,4,2048]", "p": "bf16[N,4]", "r": "bf16[N,2048]"},
        "return r + sum(x * p[..., None], axis=1)", torch_combine),
    Row("transformers", "soft_cap_bf16", {"x": "bf16[N=1200,32768]"}, "return bf16(30 * tanh(f32(x) / 30))",
        lambda t, x: (30 * t.tanh(x.float() / 30)).to(t.bfloat16)),
    Row("transformers", "token_shift_odd", {"x": "f32[B=41,1259,1361]", "m": "f32[1361]"},
        "old = pad(x, ((0, 0), (1, 0), (0, 0)))[:, :-1]\nreturn x * m + old * (1 - m)", torch_token_shift),
    Row("transformers", "masked_mean_pool", {"x": "f32[B=480,512,384]", "m": "bool[B,512]"},
        "w = f32(m)[..., None]\np = sum(x * w, axis=1) / maximum(sum(w, axis=1), 1)\n"
        "return p / maximum(l2norm(p, axis=-1, keepdims=True), 1e-12)", torch_pool),
    Row("transformers", "timestep_embedding", {"s": "uniform:f32[N=300007]"},
        "a = s[:, None] * exp(f32(arange(128)) * -0.07195578415606394)\nreturn concat((cos(a), sin(a)), axis=-1)", torch_timesteps),
]
