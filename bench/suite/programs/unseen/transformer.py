"""Parts of transformers."""

from .. import Row


def torch_gated_residual(t, x, r, w, gate):
    h = (x + r).float()
    n = h * t.rsqrt(h.square().mean(-1, keepdim=True) + 1e-6) * w.float()
    return (n * t.sigmoid(gate.float())).to(t.bfloat16), h.to(t.bfloat16)


def torch_swiglu(t, h):
    a, b = h.chunk(2, -1)
    return t.nn.functional.silu(a) * b


def torch_rope_half(t, x, c, s):
    h = x.shape[-1] // 2
    rot = t.cat((-x[..., h:], x[..., :h]), -1)
    return x * c + rot * s


def torch_window_softmax(t, s, bias, mask):
    return (s * 0.17677669529663687 + bias + mask[:, None]).softmax(-1)


def torch_alibi(t, s, slope):
    n = s.shape[-1]
    i = t.arange(n, device=s.device)
    d = (i - i[:, None]).float()
    s = s + slope[:, None, None] * d
    return s.masked_fill(d > 0, -t.inf).softmax(-1)


def torch_qk_norm(t, q, k, scale):
    n = lambda v: v / v.norm(dim=-1, keepdim=True).clamp(min=1e-6)
    return n(q) * scale[:, None, None], n(k)


def torch_adaln(t, x, c):
    shift, scale, gate = c[:, None].chunk(3, -1)
    n = t.nn.functional.layer_norm(x, x.shape[-1:])
    return x + gate * (n * (1 + scale) + shift)


def torch_top2_gate(t, x):
    p = x.softmax(-1)
    v, i = p.topk(2, -1)
    v = v / v.sum(-1, keepdim=True)
    return v, i, p.mean(0)


def torch_softcap_nll(t, x, y):
    z = 30 * t.tanh(x.float() / 30)
    return t.logsumexp(z, -1) - z.gather(1, y[:, None].long())[:, 0]


def torch_patchify(t, x):
    b, c, h, w = x.shape
    p = x.reshape(b, c, h // 16, 16, w // 16, 16).permute(0, 2, 4, 3, 5, 1).reshape(b, h * w // 256, 768)
    return t.nn.functional.layer_norm(p, (768,))


def torch_dequant_kv(t, k, scale):
    return (k.half() * scale[..., None]).transpose(1, 2).contiguous()


def torch_embed(t, ids, word, pos, g, b):
    return t.nn.functional.layer_norm(word[ids.long()] + pos, pos.shape[-1:], g, b)


def torch_gumbel(t, x, u):
    z = x / 0.7 - t.log(-t.log(u.clamp(1e-6, 1 - 1e-6)))
    return z.argmax(-1), x.log_softmax(-1).amax(-1)


def torch_sentence(t, h, mask):
    m = mask[..., None].to(h.dtype)
    v = (h * m).sum(1) / m.sum(1).clamp(min=1e-9)
    return v / v.norm(dim=1, keepdim=True)


def torch_linear_attention(t, q, k, v):
    F = t.nn.functional
    q, k = F.elu(q) + 1, F.elu(k) + 1
    kv = k.transpose(-1, -2) @ v
    return q @ kv / ((q * k.sum(-2, keepdim=True)).sum(-1, keepdim=True) + 1e-6)


ROWS = [
    Row("transformer", "gated_residual_rmsnorm_bf16", {"x": "bf16[B=64,1024,768]", "r": "bf16[B,1024,768]", "w": "bf16[768]",
        "gate": "bf16[B,1024,768]"},
        "h = f32(x + r)\nn = h * rsqrt(mean(h * h, axis=-1, keepdims=True) + 1e-6) * f32(w)\n"
        "return bf16(n * sigmoid(f32(gate))), bf16(h)", torch_gated_residual),
    Row("transformer", "swiglu_2x1408_bf16", {"h": "bf16[N=40001,2816]"}, "a, b = split(h, 2, axis=-1)\nreturn silu(a) * b", torch_swiglu),
    Row("transformer", "rotate_half_77_f16", {"x": "f16[B=256,12,77,64]", "c": "f16[77,64]", "s": "f16[77,64]"},
        "h = x.shape[-1] // 2\nreturn x * c + concat((-x[..., h:], x[..., :h]), axis=-1) * s", torch_rope_half),
    Row("transformer", "swin_window_softmax_49", {"s": "f32[B=16,64,6,49,49]", "bias": "f32[6,49,49]", "mask": "f32[64,49,49]"},
        "return softmax(s / sqrt(32) + bias + mask[:, None], axis=-1)",
        torch_window_softmax),
    Row("transformer", "alibi_causal_197", {"s": "f32[B=80,12,197,197]", "slope": "uniform:f32[12]"},
        "i = arange(s.shape[-1])\nd = i - i[:, None]\nz = s + slope[:, None, None] * f32(d)\nreturn softmax(where(d > 0, -inf, z), axis=-1)",
        torch_alibi),
    Row("transformer", "qk_l2_norm_8x577x64", {"q": "f32[B=50,8,577,64]", "k": "f32[B,8,577,64]", "scale": "uniform:f32[8]"},
        "def unit(v): return v / maximum(l2norm(v, axis=-1, keepdims=True), 1e-6)\nreturn unit(q) * scale[:, None, None], unit(k)",
        torch_qk_norm),
    Row("transformer", "adaln_gate_1152", {"x": "f32[B=128,256,1152]", "c": "f32[B,3456]"},
        "shift, scale, gate = split(c[:, None], 3, axis=-1)\nreturn x + gate * (layernorm(x) * (1 + scale) + shift)", torch_adaln),
    Row("transformer", "top2_gate_of_8", {"x": "f32[N=3000000,8]"},
        "p = softmax(x)\nv1, i1 = max_and_argmax(p, axis=-1)\nq = where(arange(8) == i1[:, None], -1, p)\nv2, i2 = max_and_argmax(q, axis=-1)\n"
        "s = v1 + v2\nreturn stack((v1 / s, v2 / s), axis=-1), stack((i1, i2), axis=-1), mean(p, axis=0)", torch_top2_gate),
    Row("transformer", "softcap_nll_bf16_50257", {"x": "bf16[B=4000,50257]", "y": "below=50257:i32[B]"},
        "z = 30 * tanh(f32(x) / 30)\nreturn logsumexp(z, axis=-1) - take_along_axis(z, y[:, None], axis=1)[:, 0]", torch_softcap_nll),
    Row("transformer", "patchify_layernorm_224", {"x": "f32[B=160,3,224,224]"},
        "p = x.reshape(-1, 3, 14, 16, 14, 16).transpose(0, 2, 4, 3, 5, 1).reshape(-1, 196, 768)\nreturn layernorm(p)", torch_patchify),
    Row("transformer", "dequant_kv_transpose_f16", {"k": "i8[B=64,2000,8,128]", "scale": "uniform:f16[B,2000,8]"},
        "return swapaxes(f16(k) * scale[..., None], 1, 2)", torch_dequant_kv),
    Row("transformer", "bert_embeddings_128x768", {"ids": "below=30522:i32[B=512,128]", "word": "f32[30522,768]", "pos": "f32[128,768]", "g": "f32[768]",
        "b": "f32[768]"},
        "return layernorm(take(word, ids, axis=0) + pos, g, b)", torch_embed),
    Row("transformer", "gumbel_sample_32000_batch_7", {"x": "f32[B=7,512000]", "u": "uniform:f32[B,512000]"},
        "z = x / 0.7 - log(-log(clamp(u, 1e-6, 1 - 1e-6)))\nreturn argmax(z, axis=-1), max(log_softmax(x), axis=-1)", torch_gumbel),
    Row("transformer", "mean_pool_unit_384", {"h": "f32[B=1500,128,384]", "mask": "bool[B,128]"},
        "m = f32(mask)[..., None]\nv = sum(h * m, axis=1) / maximum(sum(m, axis=1), 1e-9)\nreturn v / l2norm(v, axis=1, keepdims=True)",
        torch_sentence),
    Row("transformer", "linear_attention_64", {k: ("f32[B=200,1000,64]" if k == "q" else "f32[B,1000,64]") for k in "qkv"},
        "q = elu(q) + 1; k = elu(k) + 1\nkv = k.mT @ v\nreturn q @ kv / (sum(q * sum(k, axis=-2, keepdims=True), axis=-1, keepdims=True) + 1e-6)",
        torch_linear_attention),
]
