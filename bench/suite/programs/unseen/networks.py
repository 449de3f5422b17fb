"""Blocks of vision, sequence, graph and generative networks."""

from .. import Row


def torch_convnext(t, x, dw, g, b, w1, w2, gamma):
    F = t.nn.functional
    h = F.conv2d(x, dw, padding=3, groups=x.shape[1]).permute(0, 2, 3, 1)
    h = F.layer_norm(h, h.shape[-1:], g, b, 1e-6)
    h = F.linear(F.gelu(F.linear(h, w1)), w2) * gamma
    return x + h.permute(0, 3, 1, 2)


def torch_mobile(t, x, w, s, b):
    F = t.nn.functional
    return F.hardswish(F.conv2d(x, w, stride=2, padding=2, groups=x.shape[1]) * s[:, None, None] + b[:, None, None])


def torch_cbam_channel(t, x, w1, w2):
    mlp = lambda v: t.relu(v @ w1) @ w2
    a = t.sigmoid(mlp(x.mean((2, 3))) + mlp(x.amax((2, 3))))
    return x * a[:, :, None, None]


def torch_cbam_spatial(t, x, w):
    s = t.stack((x.amax(1), x.mean(1)), 1)
    return x * t.sigmoid(t.nn.functional.conv2d(s, w, padding=3))


def torch_unet_up(t, x, skip, w, b):
    F = t.nn.functional
    return t.relu(F.conv2d(t.cat((F.interpolate(x, scale_factor=2, mode="nearest"), skip), 1), w[:, :, None, None], b))


def torch_gn_silu_conv(t, x, g, b, w):
    F = t.nn.functional
    return F.conv2d(F.silu(F.group_norm(x, 32, g, b)), w[:, :, None, None])


def torch_patch_merging(t, x, g, b):
    p = t.cat((x[:, ::2, ::2], x[:, 1::2, ::2], x[:, ::2, 1::2], x[:, 1::2, 1::2]), -1)
    return t.nn.functional.layer_norm(p, p.shape[-1:], g, b)


def torch_relative_bias(t, q, k, v, table, index):
    n = q.shape[2]
    bias = table[index.long().reshape(-1)].reshape(n, n, -1).permute(2, 0, 1)
    return ((q * 0.17677669529663687) @ k.mT + bias).softmax(-1) @ v


def torch_lstm(t, gates, c):
    i, f, g, o = gates.chunk(4, 1)
    c = t.sigmoid(f) * c + t.sigmoid(i) * t.tanh(g)
    return t.sigmoid(o) * t.tanh(c), c


def torch_gru(t, gi, gh, h):
    ir, iz, inn = gi.chunk(3, 1)
    hr, hz, hn = gh.chunk(3, 1)
    r, z = t.sigmoid(ir + hr), t.sigmoid(iz + hz)
    n = t.tanh(inn + r * hn)
    return (1 - z) * n + z * h


def torch_gat(t, h, a, b, src, dst):
    src, dst = src.long(), dst.long()
    n = h.shape[0]
    e = t.nn.functional.leaky_relu((h @ a)[src] + (h @ b)[dst], 0.2)
    e = e.exp()
    total = t.zeros(n, dtype=h.dtype, device=h.device).index_add(0, dst, e)
    w = e / total[dst]
    return t.nn.functional.elu(t.zeros_like(h).index_add(0, dst, h[src] * w[:, None]))


def torch_pointnet(t, p, w1, b1, w2, b2):
    return t.relu(t.relu(p @ w1 + b1) @ w2 + b2).amax(1)


def torch_posenc(t, p):
    a = p[..., None] * (2.0 ** t.arange(10, device=p.device))
    return t.cat((p, a.sin().flatten(1), a.cos().flatten(1)), 1)


def torch_render(t, sigma, rgb, z):
    d = t.cat((z[:, 1:] - z[:, :-1], t.full_like(z[:, :1], 1e10)), 1)
    alpha = 1 - t.exp(-t.relu(sigma) * d)
    light = t.cumprod(t.cat((t.ones_like(alpha[:, :1]), 1 - alpha[:, :-1] + 1e-10), 1), 1)
    w = alpha * light
    return (w[..., None] * t.sigmoid(rgb)).sum(1), (w * z).sum(1), w.sum(1)


def torch_ddim(t, x, cond, uncond, a, b):
    e = uncond.float() + 7.5 * (cond.float() - uncond.float())
    a, b = a[:, None, None, None], b[:, None, None, None]
    x0 = ((x - (1 - a).sqrt() * e) / a.sqrt()).clamp(-1, 1)
    e = (x - a.sqrt() * x0) / (1 - a).sqrt()
    return b.sqrt() * x0 + (1 - b).sqrt() * e


def torch_rescaled_cfg(t, x, cond, uncond, dt):
    v = uncond + 5 * (cond - uncond)
    ratio = cond.std((1, 2, 3), keepdim=True) / v.std((1, 2, 3), keepdim=True)
    return x + dt[:, None, None, None] * (0.7 * ratio * v + 0.3 * v)


def torch_vae(t, moments, noise):
    mean, logvar = moments.chunk(2, 1)
    logvar = logvar.clamp(-30, 20)
    kl = 0.5 * (mean.square() + logvar.exp() - 1 - logvar).sum((1, 2, 3))
    return (mean + (0.5 * logvar).exp() * noise) * 0.18215, kl


def torch_adain(t, x, y):
    m = lambda v: (v.mean((2, 3), keepdim=True), (v.var((2, 3), keepdim=True) + 1e-5).sqrt())
    (mx, sx), (my, sy) = m(x), m(y)
    return (x - mx) / sx * sy + my


def torch_nafnet(t, x, w, s, gamma):
    F = t.nn.functional
    h = F.conv2d(x, w, padding=1, groups=x.shape[1])
    a, b = h.chunk(2, 1)
    h = a * b
    return h * (h.mean((2, 3)) @ s)[:, :, None, None] * gamma[:, None, None]


def torch_gated_pool(t, h, v, u, w):
    a = ((t.tanh(h @ v) * t.sigmoid(h @ u)) @ w).softmax(1)
    return (a[..., None] * h).sum(1), a


ROWS = [
    Row("networks", "convnext_block_96", {"x": "f32[B=64,96,56,56]", "dw": "f32[96,1,7,7]", "g": "f32[96]", "b": "f32[96]", "w1": "f32[384,96]",
        "w2": "f32[96,384]", "gamma": "f32[96]"},
        "h = moveaxis(conv(x, dw, padding=3, groups=x.shape[1]), 1, -1)\nh = layernorm(h, g, b, eps=1e-6)\n"
        "h = linear(gelu(linear(h, w1)), w2) * gamma\n"
        "return x + moveaxis(h, -1, 1)", torch_convnext),
    Row("networks", "depthwise_5x5_stride_2_hardswish", {"x": "f32[B=64,120,112,112]", "w": "f32[120,1,5,5]", "s": "f32[120]", "b": "f32[120]"},
        "y = conv(x, w, stride=2, padding=2, groups=x.shape[1])\nreturn hardswish(y * s[:, None, None] + b[:, None, None])", torch_mobile),
    Row("networks", "cbam_channel_128", {"x": "f32[B=128,128,56,56]", "w1": "f32[128,8]", "w2": "f32[8,128]"},
        "def mlp(v, a, b): return relu(v @ a) @ b\na = sigmoid(mlp(mean(x, axis=(2, 3)), w1, w2) + mlp(max(x, axis=(2, 3)), w1, w2))\n"
        "return x * a[:, :, None, None]", torch_cbam_channel),
    Row("networks", "cbam_spatial_7x7", {"x": "f32[B=64,128,57,57]", "w": "f32[1,2,7,7]"},
        "s = stack((max(x, axis=1), mean(x, axis=1)), axis=1)\nreturn x * sigmoid(conv(s, w, padding=3))", torch_cbam_spatial),
    Row("networks", "unet_up_concat_conv1x1", {"x": "f32[B=96,64,40,40]", "skip": "f32[B,32,80,80]", "w": "f32[32,96]", "b": "f32[32]"},
        "up = repeat(repeat(x, 2, axis=2), 2, axis=3)\nreturn relu(conv(concat((up, skip), axis=1), w[:, :, None, None], b))", torch_unet_up),
    Row("networks", "group_norm_silu_conv1x1", {"x": "f32[B=32,128,64,64]", "g": "f32[128]", "b": "f32[128]", "w": "f32[64,128]"},
        "return conv(silu(groupnorm(x, 32, g, b)), w[:, :, None, None])", torch_gn_silu_conv),
    Row("networks", "swin_patch_merging", {"x": "f32[B=64,56,56,192]", "g": "f32[768]", "b": "f32[768]"},
        "p = concat((x[:, ::2, ::2], x[:, 1::2, ::2], x[:, ::2, 1::2], x[:, 1::2, 1::2]), axis=-1)\nreturn layernorm(p, g, b)", torch_patch_merging),
    Row("networks", "relative_bias_attention_49", {k: "f32[B=2000,6,49,32]" if k == "q" else "f32[B,6,49,32]" for k in "qkv"}
        | {"table": "f32[169,6]", "index": "below=169:i32[49,49]"},
        "bias = moveaxis(take(table, index, axis=0), -1, 0)\nreturn softmax(q / sqrt(32) @ k.mT + bias) @ v", torch_relative_bias),
    Row("networks", "lstm_gates_650", {"gates": "f32[B=20000,2600]", "c": "f32[B,650]"},
        "i, f, g, o = split(gates, 4, axis=1)\nc = sigmoid(f) * c + sigmoid(i) * tanh(g)\nreturn sigmoid(o) * tanh(c), c", torch_lstm),
    Row("networks", "gru_gates_f16_1001", {"gi": "f16[B=16000,3003]", "gh": "f16[B,3003]", "h": "f16[B,1001]"},
        "ir, iz, in_ = split(gi, 3, axis=1); hr, hz, hn = split(gh, 3, axis=1)\nr = sigmoid(ir + hr); z = sigmoid(iz + hz)\n"
        "n = tanh(in_ + r * hn)\nreturn (1 - z) * n + z * h", torch_gru),
    Row("networks", "graph_attention_64", {"h": "f32[100000,64]", "a": "f32[64]", "b": "f32[64]", "src": "below=100000:i32[E=1000000]",
        "dst": "below=100000:i32[E]"},
        "e = exp(leaky_relu(take(h @ a, src) / 8 + take(h @ b, dst) / 8, 0.2))\ntotal = bincount(dst, h.shape[0], e)\nw = e / take(total, dst)\n"
        "return elu(scatter_add(zeros_like(h), dst, take(h, src, axis=0) * w[:, None]))",
        lambda t, h, a, b, s, d: torch_gat(t, h, a / 8, b / 8, s, d)),
    Row("networks", "pointnet_max_1024", {"p": "f32[B=200,1024,3]", "w1": "f32[3,64]", "b1": "f32[64]", "w2": "f32[64,256]", "b2": "f32[256]"},
        "return max(relu(relu(p @ w1 + b1) @ w2 + b2), axis=1)", torch_pointnet),
    Row("networks", "nerf_positional_encoding", {"p": "uniform:f32[N=2000003,3]"},
        "a = p[..., None] * 2 ** f32(arange(10))\nn = p.shape[0]\n"
        "return concat((p, sin(a).reshape(n, 30), cos(a).reshape(n, 30)), axis=1)", torch_posenc),
    Row("networks", "nerf_volume_rendering_128", {"sigma": "f32[R=100000,128]", "rgb": "f32[R,128,3]", "z": "uniform:f32[R,128]"},
        "z = cumsum(z, axis=1)\nd = concat((z[:, 1:] - z[:, :-1], full_like(z[:, :1], 1e10)), axis=1)\nalpha = 1 - exp(-relu(sigma) * d)\n"
        "w = alpha * cumprod(1 - alpha + 1e-10, axis=1, exclusive=True)\n"
        "return sum(w[..., None] * sigmoid(rgb), axis=1), sum(w * z, axis=1), sum(w, axis=1)",
        lambda t, s, c, z: torch_render(t, s, c, z.cumsum(1))),
    Row("networks", "ddim_guided_step", {"x": "f32[B=200,4,128,128]", "cond": "f16[B,4,128,128]", "uncond": "f16[B,4,128,128]", "a": "uniform:f32[B]",
        "b": "uniform:f32[B]"},
        "a = 0.1 + 0.8 * a[:, None, None, None]; b = 0.1 + 0.8 * b[:, None, None, None]\ne = f32(uncond) + 7.5 * (f32(cond) - f32(uncond))\n"
        "x0 = clamp((x - sqrt(1 - a) * e) / sqrt(a), -1, 1)\ne = (x - sqrt(a) * x0) / sqrt(1 - a)\nreturn sqrt(b) * x0 + sqrt(1 - b) * e",
        lambda t, x, c, u, a, b: torch_ddim(t, x, c, u, 0.1 + 0.8 * a, 0.1 + 0.8 * b)),
    Row("networks", "flow_euler_rescaled_guidance", {"x": "f32[B=64,16,96,97]", "cond": "f32[B,16,96,97]", "uncond": "f32[B,16,96,97]",
        "dt": "f32[B]"},
        "v = uncond + 5 * (cond - uncond)\nratio = std(cond, axis=(1, 2, 3), ddof=1, keepdims=True) / std(v, axis=(1, 2, 3), ddof=1, keepdims=True)\n"
        "return x + dt[:, None, None, None] * (0.7 * ratio * v + 0.3 * v)", torch_rescaled_cfg),
    Row("networks", "vae_sample_and_kl", {"moments": "f32[B=200,8,128,128]", "noise": "f32[B,4,128,128]"},
        "m, logvar = split(moments, 2, axis=1)\nlogvar = clamp(logvar, -30, 20)\n"
        "return (m + exp(0.5 * logvar) * noise) * 0.18215, 0.5 * sum(m ** 2 + exp(logvar) - 1 - logvar, axis=(1, 2, 3))", torch_vae),
    Row("networks", "adain_style_63x63", {"x": "f32[B=32,256,63,63]", "y": "f32[B,256,32,32]"},
        "mx = mean(x, axis=(2, 3), keepdims=True); my = mean(y, axis=(2, 3), keepdims=True)\n"
        "sx = sqrt(var(x, axis=(2, 3), ddof=1, keepdims=True) + 1e-5); sy = sqrt(var(y, axis=(2, 3), ddof=1, keepdims=True) + 1e-5)\n"
        "return (x - mx) / sx * sy + my", torch_adain),
    Row("networks", "nafnet_simple_gate_64", {"x": "f32[B=32,64,128,128]", "w": "f32[64,1,3,3]", "s": "f32[32,32]", "gamma": "f32[32]"},
        "a, b = split(conv(x, w, padding=1, groups=64), 2, axis=1)\nh = a * b\n"
        "return h * (mean(h, axis=(2, 3)) @ s)[:, :, None, None] * gamma[:, None, None]", torch_nafnet),
    Row("networks", "gated_attention_pooling", {"h": "f32[B=100,1000,256]", "v": "f32[256,64]", "u": "f32[256,64]", "w": "f32[64]"},
        "a = softmax((tanh(h @ v) * sigmoid(h @ u)) @ w, axis=1)\nreturn sum(a[..., None] * h, axis=1), a", torch_gated_pool),
]
