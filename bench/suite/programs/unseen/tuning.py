"""Training of language models: losses over a vocabulary, backward passes, preference losses, optimizers."""

from .. import Row


def torch_ce_ignore(t, x, y):
    y = t.where(y % 7 == 0, -100, y).long()
    return t.nn.functional.cross_entropy(x.float(), y, ignore_index=-100)


def torch_ce_z_smooth(t, x, y):
    lse = t.logsumexp(x, -1)
    nll = t.nn.functional.cross_entropy(x, y.long(), label_smoothing=0.1)
    return nll + 1e-4 * lse.square().mean()


def torch_ce_backward(t, x, y, weight):
    p = x.float().softmax(-1)
    one = t.nn.functional.one_hot(y.long(), x.shape[1])
    return ((p - one) * (weight / weight.sum())[:, None]).to(x.dtype)


def torch_rmsnorm_backward(t, x, w, dy):
    x, w, dy = x.float(), w.float(), dy.float()
    r = t.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)
    h = x * r
    g = dy * w
    dx = r * (g - h * (g * h).mean(-1, keepdim=True))
    return dx.to(t.bfloat16), (dy * h).sum(0)


def torch_geglu_backward(t, h, g):
    a, b = h.chunk(2, -1)
    c = 0.7978845608028654
    th = t.tanh(c * (a + 0.044715 * a**3))
    gelu = 0.5 * a * (1 + th)
    slope = 0.5 * (1 + th) + 0.5 * a * (1 - th * th) * c * (1 + 3 * 0.044715 * a * a)
    return t.cat((g * b * slope, g * gelu), -1)


def torch_rope_backward(t, g, cos, sin):
    a, b = g.chunk(2, -1)
    return t.cat((a * cos + b * sin, b * cos - a * sin), -1)


def torch_embedding_backward(t, ids, g):
    return t.zeros(32000, g.shape[1], dtype=t.float32, device=g.device).index_add(0, ids.long(), g.float())


def token_logps(t, x, y, mask):
    lp = x.float().gather(2, y[..., None].long())[..., 0] - t.logsumexp(x.float(), -1)
    return (lp * mask).sum(1)


def torch_dpo(t, x, y, mask, reference):
    lp = token_logps(t, x, y, mask).reshape(-1, 2)
    margin = 0.1 * ((lp[:, 0] - reference[:, 0]) - (lp[:, 1] - reference[:, 1]))
    return -t.nn.functional.logsigmoid(margin).mean(), (margin > 0).to(x.dtype).mean()


def torch_grpo(t, new, old, ref, mask, reward):
    a = (reward - reward.mean(1, keepdim=True)) / (reward.std(1, keepdim=True) + 1e-4)
    ratio = (new - old).exp()
    gain = t.minimum(ratio * a[..., None], ratio.clamp(0.8, 1.28) * a[..., None])
    kl = (ref - new).exp() - (ref - new) - 1
    m = mask.to(new.dtype)
    return -((gain - 0.04 * kl) * m).sum() / m.sum(), (kl * m).sum(2) / m.sum(2).clamp(min=1)


def torch_gae(t, r, v, done):
    n = r.shape[1]
    live = (~done).to(r.dtype)
    delta = r + 0.99 * v[:, 1:] * live - v[:, :-1]
    out, a = [], t.zeros_like(delta[:, 0])
    for i in range(n - 1, -1, -1):
        a = delta[:, i] + 0.99 * 0.95 * live[:, i] * a
        out.append(a)
    return t.stack(out[::-1], 1)


def torch_clip_global(t, grads):
    n = t.stack([g.square().sum() for g in grads]).sum().sqrt()
    s = (1 / (n + 1e-6)).clamp(max=1)
    return [g * s for g in grads]


def torch_muon(t, g):
    x = g / (g.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        a = x @ x.mT
        b = -4.7750 * a + 2.0315 * a @ a
        x = 3.4445 * x + b @ x
    return x


def torch_shampoo(t, g, left, right):
    return 0.95 * left + 0.05 * (g @ g.mT), 0.95 * right + 0.05 * (g.mT @ g)


def torch_adam8(t, p, g, mq, vq, ms, vs):
    m = mq.float() * (ms[:, None] / 127)
    v = (vq.float() / 255).square() * vs[:, None]
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    p = p - 1e-3 * m / (v.sqrt() + 1e-8)
    ms, vs = m.abs().amax(1), v.amax(1)
    mq = (m * (127 / ms.clamp(min=1e-12))[:, None]).round().to(t.int8)
    vq = ((v / vs.clamp(min=1e-24)[:, None]).sqrt() * 255).round().to(t.uint8)
    return p, mq, vq, ms, vs


def torch_ademamix(t, p, g, m1, m2, v):
    m1 = 0.9 * m1 + 0.1 * g
    m2 = 0.9999 * m2 + 0.0001 * g
    v = 0.999 * v + 0.001 * g.square()
    u = (m1 / 0.1 + 5 * m2) / ((v / 0.001).sqrt() + 1e-8)
    return p - 3e-4 * (u + 0.1 * p), m1, m2, v


def torch_distill(t, student, teacher):
    F = t.nn.functional
    q = F.log_softmax(student / 2, -1)
    p = F.log_softmax(teacher / 2, -1)
    return 4 * (p.exp() * (p - q)).sum(-1).mean()


def torch_balance(t, x):
    p = x.softmax(-1)
    e = x.shape[1]
    f = t.nn.functional.one_hot(p.argmax(-1), e).to(x.dtype).mean(0)
    return e * (f * p.mean(0)).sum() + 1e-3 * t.logsumexp(x, -1).square().mean()


def torch_entropy_bonus(t, x, action, adv):
    lp = x.log_softmax(-1)
    taken = lp.gather(1, action[:, None].long())[:, 0]
    ent = -(lp.exp() * lp).sum(-1)
    return -(taken * adv).mean() - 0.01 * ent.mean(), ent


ROWS = [
    Row("tuning", "ce_ignore_index_bf16_32003", {"x": "bf16[N=4000,32003]", "y": "below=32003:i32[N]"},
        "counted = y % 7 != 0\nz = f32(x)\nnll = logsumexp(z, axis=-1) - take_along_axis(z, y[:, None], axis=1)[:, 0]\n"
        "return sum(where(counted, nll, 0)) / sum(f32(counted))", torch_ce_ignore),
    Row("tuning", "ce_smoothing_z_loss_50304", {"x": "f32[N=1500,50304]", "y": "below=50304:i64[N]"},
        "lse = logsumexp(x, axis=-1)\ntarget = take_along_axis(x, y[:, None], axis=1)[:, 0]\n"
        "nll = lse - 0.9 * target - 0.1 * mean(x, axis=-1)\nreturn mean(nll) + 1e-4 * mean(lse * lse)", torch_ce_z_smooth),
    Row("tuning", "ce_backward_weighted_f16", {"x": "f16[N=2000,50257]", "y": "below=50257:i32[N]", "weight": "uniform:f32[N]"},
        "p = softmax(f32(x))\nreturn f16((p - one_hot(y, x.shape[1])) * (weight / sum(weight))[:, None])", torch_ce_backward),
    Row("tuning", "rmsnorm_backward_bf16_2560", {"x": "bf16[N=20000,2560]", "w": "bf16[2560]", "dy": "bf16[N,2560]"},
        "v = f32(x); g = f32(dy)\nr = rsqrt(mean(v * v, axis=-1, keepdims=True) + 1e-6)\nh = v * r\ngw = g * f32(w)\n"
        "return bf16(r * (gw - h * mean(gw * h, axis=-1, keepdims=True))), sum(g * h, axis=0)", torch_rmsnorm_backward),
    Row("tuning", "geglu_tanh_backward", {"h": "f32[N=16384,4096]", "g": "f32[N,2048]"},
        "def geglu(h):\n  a, b = split(h, 2, axis=-1)\n  return gelu_tanh(a) * b\nreturn vjp(geglu(h), h, g)", torch_geglu_backward),
    Row("tuning", "rope_backward_f16", {"g": "f16[B=32,16,1024,128]", "cos": "f16[1024,64]", "sin": "f16[1024,64]"},
        "return rotary(g, cos, -sin)", torch_rope_backward),
    Row("tuning", "embedding_backward_bf16_32000", {"ids": "below=32000:i32[N=100000]", "g": "bf16[N,512]"},
        "return scatter_add(zeros((32000, g.shape[1])), ids, f32(g))", torch_embedding_backward),
    Row("tuning", "dpo_loss_pairs", {"x": "bf16[N=32,256,16000]", "y": "below=16000:i32[N,256]", "mask": "bool[N,256]", "reference": "f32[N,2]"},
        "z = f32(x)\nlp = take_along_axis(z, y[..., None], axis=2)[..., 0] - logsumexp(z, axis=-1)\n"
        "lp = sum(where(mask, lp, 0), axis=1).reshape(-1, 2)\nref = reference[:lp.shape[0]]\n"
        "margin = 0.1 * (lp[:, 0] - ref[:, 0] - lp[:, 1] + ref[:, 1])\nreturn mean(softplus(-margin)), bf16(mean(f32(margin > 0)))",
        lambda t, x, y, m, r: torch_dpo(t, x, y, m, r[: x.shape[0] // 2])),
    Row("tuning", "grpo_16_samples", {"new": "f32[B=2000,16,512]", "old": "f32[B,16,512]", "ref": "f32[B,16,512]", "mask": "bool[B,16,512]",
        "reward": "f32[B,16]"},
        "a = (reward - mean(reward, axis=1, keepdims=True)) / (std(reward, axis=1, ddof=1, keepdims=True) + 1e-4)\nratio = exp(new - old)\n"
        "gain = minimum(ratio * a[..., None], clamp(ratio, 0.8, 1.28) * a[..., None])\nd = ref - new\nkl = exp(d) - d - 1\nm = f32(mask)\n"
        "return -sum((gain - 0.04 * kl) * m) / sum(m), sum(kl * m, axis=2) / maximum(sum(m, axis=2), 1)", torch_grpo),
    Row("tuning", "gae_reverse_scan_f64", {"r": "f64[B=60000,128]", "v": "f64[B,129]", "done": "bool[B,128]"},
        "live = f64(not done)\ndelta = r + 0.99 * v[:, 1:] * live - v[:, :-1]\ng = (0.99 * 0.95) ** f64(arange(128))\n"
        "last = done or arange(128) == 127\nreturn cumsum(delta * g, axis=1, reverse=True, restart=last) / g", torch_gae),
    Row("tuning", "clip_six_by_global_norm", {"grads": "f32[4096,4096]+f32[4096,1024]+f32[1024]+f32[333,777]+f32[17]+f32[11008,1024]"},
        "n = sqrt(sum(stack([sum(g * g) for g in grads])))\ns = minimum(1 / (n + 1e-6), 1)\nreturn [g * s for g in grads]", torch_clip_global),
    Row("tuning", "muon_newton_schulz_5", {"g": "f32[B=64,512,1024]"},
        "def step(x):\n  a = x @ x.mT\n  b = -4.7750 * a + 2.0315 * a @ a\n  return 3.4445 * x + b @ x\n"
        "x = g / (norm(g, axis=(-2, -1), keepdims=True) + 1e-7)\nreturn step(step(step(step(step(x)))))", torch_muon),
    Row("tuning", "shampoo_statistics_256", {"g": "f32[B=128,256,384]", "left": "f32[B,256,256]", "right": "f32[B,384,384]"},
        "return 0.95 * left + 0.05 * (g @ g.mT), 0.95 * right + 0.05 * (g.mT @ g)", torch_shampoo),
    Row("tuning", "adam_8_bit_blocks_256", {"p": "f32[N=100000,256]", "g": "f32[N,256]", "mq": "i8[N,256]", "vq": "u8[N,256]",
        "ms": "uniform:f32[N]", "vs": "uniform:f32[N]"},
        "m = f32(mq) * (ms[:, None] / 127)\nv = square(f32(vq) / 255) * vs[:, None]\nm = 0.9 * m + 0.1 * g\nv = 0.999 * v + 0.001 * g * g\n"
        "ms = max(abs(m), axis=1); vs = max(v, axis=1)\nreturn p - 1e-3 * m / (sqrt(v) + 1e-8), i8(round(m * (127 / maximum(ms, 1e-12))[:, None])), "
        "u8(round(sqrt(v / maximum(vs, 1e-24)[:, None]) * 255)), ms, vs", torch_adam8),
    Row("tuning", "ademamix_odd", {k: "f32[N=12000017]" if k == "p" else "uniform:f32[N]" for k in ("p", "g", "m1", "m2", "v")},
        "m1 = 0.9 * m1 + 0.1 * g\nm2 = 0.9999 * m2 + 0.0001 * g\nv = 0.999 * v + 0.001 * g ** 2\n"
        "u = (m1 / 0.1 + 5 * m2) / (sqrt(v / 0.001) + 1e-8)\nreturn p - 3e-4 * (u + 0.1 * p), m1, m2, v", torch_ademamix),
    Row("tuning", "distillation_kl_32000", {"student": "f32[N=1200,32000]", "teacher": "f32[N,32000]"},
        "q = log_softmax(student / 2); p = log_softmax(teacher / 2)\nreturn 4 * mean(sum(exp(p) * (p - q), axis=-1))", torch_distill),
    Row("tuning", "moe_balance_loss_60", {"x": "f32[N=1000000,60]"},
        "p = softmax(x)\ne = x.shape[1]\nf = mean(one_hot(argmax(p, axis=-1), e), axis=0)\n"
        "return e * sum(f * mean(p, axis=0)) + 1e-3 * mean(square(logsumexp(x, axis=-1)))", torch_balance),
    Row("tuning", "policy_gradient_entropy_19", {"x": "f32[N=5000000,19]", "action": "below=19:u8[N]", "adv": "f32[N]"},
        "lp = log_softmax(x)\ntaken = take_along_axis(lp, action[:, None], axis=1)[:, 0]\nent = -sum(exp(lp) * lp, axis=-1)\n"
        "return -mean(taken * adv) - 0.01 * mean(ent), ent", torch_entropy_bonus),
]
