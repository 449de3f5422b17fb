"""Steps of optimizers, over one array and over lists of arrays of odd sizes."""

from . import Row

LAYERS = ["f32[509,1023]", "f32[1023]", "f32[N=16381,1023]", "f32[N]", "f32[1019,N]", "f32[333,7,7]", "f32[1]"]
LIST = "+".join(LAYERS)


def lists(*names):
    return {name: LIST for name in names}


def torch_adam(t, p, g, m, v):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return p - 0.001 * (m / 0.1) / (t.sqrt(v / 0.001) + 1e-8), m, v


def torch_adamw(t, ps, gs, ms, vs):
    ms = [0.9 * m + 0.1 * g for m, g in zip(ms, gs)]
    vs = [0.999 * v + 0.001 * g * g for v, g in zip(vs, gs)]
    ps = [p * 0.9999 - 0.001 * m / (t.sqrt(v) + 1e-8) for p, m, v in zip(ps, ms, vs)]
    return (*ps, *ms, *vs)


def torch_adam_mixed(t, p, g, m, v):
    p2, m, v = torch_adam(t, p, g.float(), m, v)
    return p2, p2.to(t.bfloat16), m, v


def torch_lion(t, p, g, m):
    g, m = g.float(), m.float()
    p = p.float() * 0.999 - 0.0001 * t.sign(0.9 * m + 0.1 * g)
    return p.to(t.bfloat16), (0.99 * m + 0.01 * g).to(t.bfloat16)


def torch_sgd(t, ps, gs, ms):
    ms = [0.9 * m + g + 0.0001 * p for p, g, m in zip(ps, gs, ms)]
    return (*[p - 0.1 * m for p, m in zip(ps, ms)], *ms)


def torch_nesterov(t, p, g, m):
    m = 0.9 * m + g
    return p - 0.1 * (g + 0.9 * m), m


def torch_clip(t, gs):
    n = t.sqrt(sum((g * g).sum() for g in gs))
    scale = t.clamp(1 / (n + 1e-6), max=1.0)
    return tuple(g * scale for g in gs)


def torch_ema(t, es, ps):
    return tuple(e + 0.001 * (p - e) for e, p in zip(es, ps))


def torch_rmsprop(t, p, g, v):
    v = 0.99 * v + 0.01 * g * g
    return p - 0.01 * g / (t.sqrt(v) + 1e-8), v


def torch_adagrad(t, p, g, v):
    v = v + g * g
    return p - 0.01 * g * t.rsqrt(v + 1e-10), v


def torch_lamb(t, p, m, v):
    u = m / (t.sqrt(v) + 1e-6) + 0.01 * p
    return p - 0.001 * t.sqrt((p * p).sum()) / t.sqrt((u * u).sum()) * u


def torch_unscale(t, gs):
    gs = [g * 0.0009765625 for g in gs]
    return (*gs, t.stack([(~g.isfinite()).any() for g in gs]).any())


def torch_adafactor(t, p, g):
    q = g * g + 1e-30
    r, c = q.mean(1, keepdim=True), q.mean(0, keepdim=True)
    return p - 0.01 * g * t.rsqrt(r * c / r.mean())


ADAM = ("m = 0.9 * m + 0.1 * g\nv = 0.999 * v + 0.001 * g * g\n"
        "p = p - 0.001 * (m / 0.1) / (sqrt(v / 0.001) + 1e-8)\n")

ROWS = [
    Row("optimizers", "adam", {"p": "f32[N=6009392]", "g": "f32[N]", "m": "f32[N]", "v": "uniform:f32[N]"}, ADAM + "return p, m, v",
        torch_adam),
    Row("optimizers", "adam_mixed_odd", {"p": "f32[N=5302439]", "g": "bf16[N]", "m": "f32[N]", "v": "uniform:f32[N]"},
        "g = f32(g)\n" + ADAM + "return p, bf16(p), m, v", torch_adam_mixed),
    Row("optimizers", "adamw_list", {**lists("ps", "gs", "ms"), "vs": "+".join("uniform:" + a for a in LAYERS)},
        "ms = [0.9 * m + 0.1 * g for m, g in zip(ms, gs)]\nvs = [0.999 * v + 0.001 * g * g for v, g in zip(vs, gs)]\n"
        "ps = [p * 0.9999 - 0.001 * m / (sqrt(v) + 1e-8) for p, m, v in zip(ps, ms, vs)]\nreturn ps, ms, vs", torch_adamw),
    Row("optimizers", "lion_bf16", {"p": "bf16[N=10960,4096]", "g": "bf16[N,4096]", "m": "bf16[N,4096]"},
        "g = f32(g); m = f32(m)\nreturn bf16(f32(p) * 0.999 - 0.0001 * sign(0.9 * m + 0.1 * g)), bf16(0.99 * m + 0.01 * g)", torch_lion),
    Row("optimizers", "sgd_momentum_list", lists("ps", "gs", "ms"),
        "ms = [0.9 * m + g + 0.0001 * p for p, g, m in zip(ps, gs, ms)]\nreturn [p - 0.1 * m for p, m in zip(ps, ms)], ms", torch_sgd),
    Row("optimizers", "nesterov_odd", {"p": "f32[N=1361,4943]", "g": "f32[N,4943]", "m": "f32[N,4943]"},
        "m = 0.9 * m + g\nreturn p - 0.1 * (g + 0.9 * m), m", torch_nesterov),
    Row("optimizers", "clip_global_norm_list", lists("gs"),
        "n = sqrt(sum(stack([sum(g * g) for g in gs])))\nscale = minimum(1 / (n + 1e-6), 1)\nreturn [g * scale for g in gs]", torch_clip),
    Row("optimizers", "clip_norm", {"g": "f32[N=37285488]"}, "return g * minimum(1 / (l2norm(g) + 1e-6), 1)",
        lambda t, g: g * t.clamp(1 / (g.norm() + 1e-6), max=1.0)),
    Row("optimizers", "ema_list", lists("es", "ps"), "return [e + 0.001 * (p - e) for e, p in zip(es, ps)]", torch_ema),
    Row("optimizers", "rmsprop_skewed", {"p": "f32[3,N=3390112]", "g": "f32[3,N]", "v": "uniform:f32[3,N]"},
        "v = 0.99 * v + 0.01 * g * g\nreturn p - 0.01 * g / (sqrt(v) + 1e-8), v", torch_rmsprop),
    Row("optimizers", "adagrad_odd", {"p": "f32[N=5737,2789]", "g": "f32[N,2789]", "v": "uniform:f32[N,2789]"},
        "v = v + g * g\nreturn p - 0.01 * g * rsqrt(v + 1e-10), v", torch_adagrad),
    Row("optimizers", "lamb_odd", {"p": "f32[N=5557,1249]", "m": "f32[N,1249]", "v": "uniform:f32[N,1249]"},
        "u = m / (sqrt(v) + 1e-6) + 0.01 * p\nreturn p - 0.001 * l2norm(p) / l2norm(u) * u", torch_lamb),
    Row("optimizers", "unscale_and_check_list", lists("gs"),
        "gs = [g * 0.0009765625 for g in gs]\nreturn gs, any(stack([any(not isfinite(g)) for g in gs]))", torch_unscale),
    Row("optimizers", "adafactor", {"p": "f32[N=2304,4096]", "g": "f32[N,4096]"},
        "q = g * g + 1e-30\nr = mean(q, axis=1, keepdims=True); c = mean(q, axis=0, keepdims=True)\n"
        "return p - 0.01 * g * rsqrt(r * c / mean(r))", torch_adafactor),
]
