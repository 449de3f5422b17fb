"""Inference of language models: one token at a time, over long caches and packed weights."""

from .. import Row


def torch_decode_mha(t, q, k, v):
    return t.nn.functional.scaled_dot_product_attention(q, k, v)


def torch_decode_gqa(t, q, k, v):
    b, h, d = q.shape
    g = q.reshape(b, k.shape[2], -1, d)
    s = t.einsum("bghd,btgd->bght", g, k).float() * d**-0.5
    p = s.softmax(-1).to(v.dtype)
    return t.einsum("bght,btgd->bghd", p, v).reshape(b, h, d)


def torch_decode_mqa_softcap(t, q, k, v):
    s = q @ k.mT / 8
    s = 50 * t.tanh(s / 50)
    n = k.shape[1]
    keep = t.arange(n, device=q.device) >= n - 1024
    return s.masked_fill(~keep, -t.inf).softmax(-1) @ v


def torch_decode_alibi(t, q, k, v, length, slope):
    s = (q[:, :, None] @ k.mT)[:, :, 0] * 0.125
    j = t.arange(k.shape[2], device=q.device)
    back = j - length[:, None] + 1
    s = s + slope[:, None] * back[:, None]
    s = s.masked_fill(back[:, None] > 0, -t.inf)
    return (s.softmax(-1)[:, :, None] @ v)[:, :, 0]


def torch_sinks(t, q, k, v, sink):
    s = t.einsum("bhd,bhtd->bht", q, k).float() * 0.125
    z = t.cat((s, sink[:, None].float().expand(s.shape[0], -1, 1)), -1)
    p = z.softmax(-1)[..., :-1]
    return t.einsum("bht,bhtd->bhd", p.half(), v)


def torch_paged(t, q, pages_k, pages_v, table):
    b, h, d = q.shape
    k = pages_k[table.long()].reshape(b, -1, h, d)
    v = pages_v[table.long()].reshape(b, -1, h, d)
    s = t.einsum("bhd,bthd->bht", q, k) / d**0.5
    return t.einsum("bht,bthd->bhd", s.softmax(-1), v)


def torch_prefix_lm(t, s, prefix):
    n = s.shape[-1]
    i = t.arange(n, device=s.device)
    keep = (i <= i[:, None]) | (i < prefix[:, None, None])
    return s.float().masked_fill(~keep[:, None], -t.inf).softmax(-1).half()


def torch_int8_linear(t, x, w, scale):
    return (x @ w.half().T) * scale


def torch_int4_linear(t, x, packed, scale, zero):
    n = packed.shape[0]
    w = t.stack((packed & 15, packed >> 4), -1).reshape(n, -1, 128).half()
    w = ((w - zero[..., None]) * scale[..., None]).reshape(n, -1)
    return x @ w.T


def torch_int8_groups(t, x, w, scale):
    n, k = w.shape
    w = (w.to(t.bfloat16).reshape(n, -1, 64) * scale[..., None]).reshape(n, k)
    return t.nn.functional.silu(x @ w.T)


def torch_lora(t, x, w, a, b):
    F = t.nn.functional
    return F.linear(x, w) + F.linear(F.linear(x, a), b) * 2


def torch_norm_qkv(t, x, g, w):
    v = x.float()
    h = (v * t.rsqrt(v.square().mean(-1, keepdim=True) + 1e-5)).half() * g
    return (h @ w.T).split((4096, 1024, 1024), -1)


def torch_group_routing(t, x, bias):
    s = t.sigmoid(x)
    g = (s + bias).reshape(x.shape[0], 8, -1)
    best = g.amax(-1).argmax(-1)
    z = g.masked_fill(t.arange(8, device=x.device)[:, None] != best[:, None, None], -1).reshape(x.shape)
    i = z.topk(2, -1).indices
    w = s.gather(1, i)
    return i, w / w.sum(-1, keepdim=True) * 2.5


def torch_kv_write(t, cache, new, pos):
    here = t.arange(cache.shape[1], device=cache.device) == pos[:, None]
    return t.where(here[:, :, None, None], new[:, None], cache)


def torch_kv_slots(t, cache, new, slots):
    return cache.index_copy(0, slots, new)


def torch_kv_quantize(t, k):
    s = k.abs().amax(-1, keepdim=True).float() / 127
    q = (k.float() / s.clamp(min=1e-8)).round().clamp(-128, 127).to(t.int8)
    return q, s[..., 0].half()


def torch_speculative(t, p, q, token, u):
    i = token[..., None].long()
    a = p.gather(2, i)[..., 0]
    b = q.gather(2, i)[..., 0]
    accept = u * b < a
    n = accept.long().cumprod(1).sum(1)
    r = (p - q).clamp(min=0)
    return n, r / r.sum(-1, keepdim=True).clamp(min=1e-9)


def torch_process_logits(t, x, seen):
    z = x.float()
    z = t.where(seen, t.where(z > 0, z / 1.2, z * 1.2), z) / 0.8
    p = z.softmax(-1)
    keep = p >= 0.05 * p.amax(-1, keepdim=True)
    p = t.where(keep, p, 0)
    p = p / p.sum(-1, keepdim=True)
    return p, p.argmax(-1), keep.sum(-1)


def torch_rope_partial(t, q, cos, sin):
    r, rest = q[..., :32], q[..., 32:]
    a, b = r.chunk(2, -1)
    c, s = cos[:, None], sin[:, None]
    return t.cat((a * c - b * s, b * c + a * s, rest), -1)


def torch_rope_gptj(t, x, pos):
    f = 10000 ** (-t.arange(0, 64, 2, device=x.device) / 64)
    angle = pos[..., None].float() * f
    c, s = angle.cos()[:, :, None], angle.sin()[:, :, None]
    a, b = x[..., ::2], x[..., 1::2]
    return t.stack((a * c - b * s, a * s + b * c), -1).flatten(-2)


def torch_rope_2d(t, x):
    b, n, h, w, d = x.shape
    f = 100 ** (-t.arange(d // 4, device=x.device) / (d // 4))
    ay = (t.arange(h, device=x.device)[:, None] * f)[:, None].expand(h, w, -1)
    ax = (t.arange(w, device=x.device)[:, None] * f)[None].expand(h, w, -1)
    angle = t.cat((ay, ax), -1)
    u, v = x.chunk(2, -1)
    return t.cat((u * angle.cos() - v * angle.sin(), u * angle.sin() + v * angle.cos()), -1)


def torch_rope_yarn(t, x):
    i = t.arange(64, device=x.device)
    f = 10000 ** (-i / 64)
    ramp = ((i - 20) / 25).clamp(0, 1)
    f = f * (1 - ramp) + f / 16 * ramp
    angle = t.arange(x.shape[1], device=x.device)[:, None] * f
    scale = 1.2772588722239782
    c, s = (angle.cos() * scale)[:, None], (angle.sin() * scale)[:, None]
    a, b = x.float().chunk(2, -1)
    return t.cat((a * c - b * s, b * c + a * s), -1).to(x.dtype)


KV = "f16[B=16,32,T=1024,128]"

ROWS = [
    Row("serving", "decode_mha_1024_f16", {"q": "f16[B=16,32,1,128]", "k": KV, "v": "f16[B,32,T,128]"}, "return attention(q, k, v)",
        torch_decode_mha),
    Row("serving", "decode_gqa_8_to_1_bf16", {"q": "bf16[B=24,32,128]", "k": "bf16[B,T=4096,4,128]", "v": "bf16[B,T,4,128]"},
        "b, h, d = q.shape\ng = q.reshape(b, k.shape[2], -1, d)\ns = f32(einsum('bghd,btgd->bght', g, k)) / sqrt(d)\n"
        "p = bf16(softmax(s))\nreturn einsum('bght,btgd->bghd', p, v).reshape(b, h, d)", torch_decode_gqa),
    Row("serving", "decode_mqa_softcap_window_f32", {"q": "f32[B=64,16,64]", "k": "f32[B,T=5003,64]", "v": "f32[B,T,64]"},
        "s = q @ k.mT / 8\ns = 50 * tanh(s / 50)\nn = k.shape[1]\nreturn softmax(where(arange(n) >= n - 1024, s, -inf)) @ v",
        torch_decode_mqa_softcap),
    Row("serving", "decode_alibi_lengths_f32", {"q": "f32[B=32,16,64]", "k": "f32[B,16,T=1001,64]", "v": "f32[B,16,T,64]",
        "length": "below=1000:i32[B]", "slope": "uniform:f32[16]"},
        "n = length + 1\ns = (q[:, :, None] @ k.mT)[:, :, 0] * 0.125\nback = i32(arange(k.shape[2])) - n[:, None] + 1\n"
        "s = s + slope[:, None] * f32(back)[:, None]\ns = where(back[:, None] > 0, -inf, s)\nreturn (softmax(s)[:, :, None] @ v)[:, :, 0]",
        lambda t, q, k, v, n, s: torch_decode_alibi(t, q, k, v, n + 1, s)),
    Row("serving", "decode_attention_sinks_f16", {"q": "f16[B=20,64,64]", "k": "f16[B,64,T=640,64]", "v": "f16[B,64,T,64]", "sink": "f16[64]"},
        "s = f32(einsum('bhd,bhtd->bht', q, k)) * 0.125\nsink = f32(sink)[:, None]\nm = maximum(max(s, axis=-1, keepdims=True), sink)\n"
        "e = exp(s - m)\np = e / (sum(e, axis=-1, keepdims=True) + exp(sink - m))\nreturn einsum('bht,bhtd->bhd', f16(p), v)", torch_sinks),
    Row("serving", "decode_paged_cache", {"q": "f32[B=24,8,64]", "pages_k": "f32[2048,16,8,64]", "pages_v": "f32[2048,16,8,64]",
        "table": "below=2048:i32[B,64]"},
        "b, h, d = q.shape\nk = take(pages_k, table, axis=0).reshape(b, -1, h, d)\nv = take(pages_v, table, axis=0).reshape(b, -1, h, d)\n"
        "p = softmax(einsum('bhd,bthd->bht', q, k) / sqrt(d))\nreturn einsum('bht,bthd->bhd', p, v)", torch_paged),
    Row("serving", "prefix_lm_softmax_f16", {"s": "f16[B=80,12,333,333]", "prefix": "below=333:i32[B]"},
        "i = i32(arange(s.shape[-1]))\nkeep = (i <= i[:, None]) | (i < prefix[:, None, None])\n"
        "return f16(softmax(where(keep[:, None], f32(s), -inf), axis=-1))", torch_prefix_lm),
    Row("serving", "int8_linear_1_row", {"x": "f16[1,4096]", "w": "i8[N=24576,4096]", "scale": "uniform:f16[N]"},
        "return x @ f16(w).T * scale", torch_int8_linear),
    Row("serving", "int4_linear_4_rows", {"x": "f16[4,4096]", "packed": "u8[N=32768,2048]", "scale": "uniform:f16[N,32]",
        "zero": "uniform:f16[N,32]"},
        "n = packed.shape[0]\nw = f16(stack((packed & 15, packed >> 4), axis=-1).reshape(n, 32, 128))\n"
        "w = ((w - zero[..., None]) * scale[..., None]).reshape(n, 4096)\nreturn x @ w.T", torch_int4_linear),
    Row("serving", "int8_groups_linear_16_rows_silu", {"x": "bf16[16,2048]", "w": "i8[N=50000,2048]", "scale": "uniform:bf16[N,32]"},
        "n, k = w.shape\nw = (bf16(w).reshape(n, 32, 64) * scale[..., None]).reshape(n, k)\nreturn silu(linear(x, w))", torch_int8_groups),
    Row("serving", "lora_rank_16_bf16", {"x": "bf16[M=8192,2048]", "w": "bf16[2048,2048]", "a": "bf16[16,2048]", "b": "bf16[2048,16]"},
        "return linear(x, w) + linear(linear(x, a), b) * 2", torch_lora),
    Row("serving", "rmsnorm_qkv_2_rows_f16", {"x": "f16[2,4096]", "g": "f16[4096]", "w": "f16[6144,4096]"},
        "v = f32(x)\nh = f16(v * rsqrt(mean(v * v, axis=-1, keepdims=True) + 1e-5)) * g\nreturn split(h @ w.T, (4096, 1024, 1024), axis=-1)",
        torch_norm_qkv),
    Row("serving", "route_best_group_top2_of_64", {"x": "f32[N=400000,64]", "bias": "uniform:f32[64]"},
        "s = sigmoid(x)\ng = (s + bias).reshape(x.shape[0], 8, 8)\nbest = argmax(max(g, axis=-1), axis=-1)\n"
        "z = where(arange(8)[:, None] == best[:, None, None], g, -1).reshape(x.shape)\ni1 = argmax(z, axis=-1)\n"
        "i2 = argmax(where(arange(64) == i1[:, None], -2, z), axis=-1)\ni = stack((i1, i2), axis=-1)\nw = take_along_axis(s, i, axis=1)\n"
        "return i, w / sum(w, axis=-1, keepdims=True) * 2.5", torch_group_routing),
    Row("serving", "kv_cache_write_f16", {"cache": "f16[B=64,T=1000,8,128]", "new": "f16[B,8,128]", "pos": "below=1000:i32[B]"},
        "here = i32(arange(cache.shape[1])) == pos[:, None]\nreturn where(here[..., None, None], new[:, None], cache)", torch_kv_write),
    Row("serving", "kv_cache_slots_bf16", {"cache": "bf16[S=60000,8,128]", "new": "bf16[64,8,128]", "slots": "iota:i64[64]"},
        "return scatter(cache, slots * (cache.shape[0] // 64), new)", lambda t, c, n, s: torch_kv_slots(t, c, n, s * (c.shape[0] // 64))),
    Row("serving", "kv_quantize_int8", {"k": "f16[B=32,T=1500,8,128]"},
        "s = f32(max(abs(k), axis=-1, keepdims=True)) / 127\nreturn quantize_int8(f32(k), maximum(s, 1e-8)), f16(s[..., 0])", torch_kv_quantize),
    Row("serving", "speculative_acceptance_5x32000", {"p": "uniform:f32[B=160,5,32000]", "q": "uniform:f32[B,5,32000]",
        "token": "below=32000:i32[B,5]", "u": "uniform:f32[B,5]"},
        "i = token[..., None]\na = take_along_axis(p, i, axis=2)[..., 0]; b = take_along_axis(q, i, axis=2)[..., 0]\n"
        "accept = u * b < a\nr = relu(p - q)\n"
        "return sum(cumprod(i64(accept), axis=1), axis=1), r / maximum(sum(r, axis=-1, keepdims=True), 1e-9)", torch_speculative),
    Row("serving", "penalty_temperature_min_p", {"x": "f16[B=500,128256]", "seen": "bool[B,128256]"},
        "z = f32(x)\nz = where(seen, where(z > 0, z / 1.2, z * 1.2), z) / 0.8\np = softmax(z)\nkeep = p >= 0.05 * max(p, axis=-1, keepdims=True)\n"
        "p = where(keep, p, 0)\np = p / sum(p, axis=-1, keepdims=True)\nreturn p, argmax(p, axis=-1), sum(keep, axis=-1)", torch_process_logits),
    Row("serving", "rope_neox_quarter_f16", {"q": "f16[B=64,T=512,16,128]", "cos": "f16[T,16]", "sin": "f16[T,16]"},
        "a, b = split(q[..., :32], 2, axis=-1)\nc = cos[:, None]; s = sin[:, None]\n"
        "return concat((a * c - b * s, b * c + a * s, q[..., 32:]), axis=-1)", torch_rope_partial),
    Row("serving", "rope_gptj_positions", {"x": "f32[B=32,T=701,16,64]", "pos": "below=701:i32[B,T]"},
        "f = 10000 ** (-f32(arange(0, 64, 2)) / 64)\nangle = f32(pos)[..., None] * f\nc = cos(angle)[:, :, None]; s = sin(angle)[:, :, None]\n"
        "a = x[..., ::2]; b = x[..., 1::2]\nreturn stack((a * c - b * s, a * s + b * c), axis=-1).reshape(x.shape)", torch_rope_gptj),
    Row("serving", "rope_2d_37x37", {"x": "f32[B=64,12,37,37,64]"},
        "b, n, h, w, d = x.shape\nf = 100 ** (-f32(arange(d // 4)) / (d // 4))\n"
        "ay = broadcast_to((f32(arange(h))[:, None] * f)[:, None], h, w, d // 4)\n"
        "ax = broadcast_to((f32(arange(w))[:, None] * f)[None], h, w, d // 4)\nangle = concat((ay, ax), axis=-1)\nu, v = split(x, 2, axis=-1)\n"
        "return concat((u * cos(angle) - v * sin(angle), u * sin(angle) + v * cos(angle)), axis=-1)", torch_rope_2d),
    Row("serving", "rope_yarn_bf16", {"x": "bf16[B=8,T=4096,32,128]"},
        "i = f32(arange(64))\nf = 10000 ** (-i / 64)\nramp = clamp((i - 20) / 25, 0, 1)\nf = f * (1 - ramp) + f / 16 * ramp\n"
        "angle = f32(arange(x.shape[1]))[:, None] * f\nscale = 0.1 * log(16) + 1\n"
        "c = (cos(angle) * scale)[:, None]; s = (sin(angle) * scale)[:, None]\n"
        "a, b = split(f32(x), 2, axis=-1)\nreturn bf16(concat((a * c - b * s, b * c + a * s), axis=-1))", torch_rope_yarn),
]
