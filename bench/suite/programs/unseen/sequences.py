"""Time series, recurrences in closed form, sequence labelling, ranking and routing."""

from .. import Row


def weights_of_ewma(t, x, span, n):
    a = 2 / (span + 1)
    i = t.arange(n, device=x.device, dtype=x.dtype)
    w = a * (1 - a) ** (n - 1 - i)
    return w / w.sum()


def smoothed(t, x, w):
    n = w.shape[0]
    p = t.nn.functional.pad(x[:, None], (n - 1, 0), mode="replicate")
    return t.nn.functional.conv1d(p, w[None, None])[:, 0]


def torch_macd(t, x):
    line = smoothed(t, x, weights_of_ewma(t, x, 12, 40)) - smoothed(t, x, weights_of_ewma(t, x, 26, 40))
    signal = smoothed(t, line, weights_of_ewma(t, x, 9, 30))
    return line, signal, line - signal


def torch_min_gru(t, gate, h):
    f = t.nn.functional
    log_keep = -f.softplus(gate)
    log_z = -f.softplus(-gate)
    log_h = t.where(h >= 0, (h.relu() + 0.5).log(), -f.softplus(-h))
    a = log_keep.cumsum(1)
    return (a + (log_z + log_h - a).logcumsumexp(1)).exp()


def torch_ssd(t, a, q, k, v):
    c = -t.nn.functional.softplus(a)
    c = c.cumsum(-1)
    seg = c[..., :, None] - c[..., None, :]
    n = a.shape[-1]
    keep = t.ones(n, n, dtype=t.bool, device=a.device).tril()
    decay = seg.masked_fill(~keep, -t.inf).exp()
    y = (q @ k.mT * decay) @ v
    state = (k * (c[..., -1:] - c).exp()[..., None]).mT @ v
    return y, state


def torch_wkv(t, k, v, w, u):
    num, den, out = t.zeros_like(k[0]), t.zeros_like(k[0]), []
    for i in range(8):
        e = (u + k[i]).exp()
        out.append((num + e * v[i]) / (den + e))
        d = (-w.exp()).exp()
        num, den = d * num + k[i].exp() * v[i], d * den + k[i].exp()
    return t.stack(out), num, den


def torch_gated_recurrence(t, a, b):
    a = 0.9 + 0.1 * a
    c = a.cumprod(1)
    return c * (b / c).cumsum(1)


def torch_delta_rule(t, s, k, v, beta, q):
    k = k / k.norm(dim=-1, keepdim=True)
    old = (s @ k[..., None])[..., 0]
    s = s + (beta[..., None] * (v - old))[..., None] * k[..., None, :]
    return s, (s @ q[..., None])[..., 0]


def torch_keltner(t, hi, lo, close):
    typical = (hi + lo + close) / 3
    prev = t.cat((close[:, :1], close[:, :-1]), 1)
    tr = t.maximum(hi - lo, t.maximum((hi - prev).abs(), (lo - prev).abs()))
    pool = lambda x: t.nn.functional.avg_pool1d(x, 20, 1)
    mid, atr = pool(typical), pool(tr)
    return mid, mid + 2 * atr, mid - 2 * atr


def torch_seasonal(t, x):
    d = x[:, 12:] - x[:, :-12]
    d = d[:, 1:] - d[:, :-1]
    return (d - d.mean(1, keepdim=True)) / d.std(1, keepdim=True)


def torch_rolling_range(t, x):
    w = x.unfold(1, 31, 1)
    return w.amax(2), w.amin(2), w.std(2)


def torch_dtw(t, a, b, one, two):
    best = t.minimum(t.minimum(one[:, :-1], one[:, 1:]), two[:, 1:-1])
    return (a - b.flip(1)).abs() + best


def torch_drawdown_age(t, x):
    path = x.cumsum(1)
    top = path.cummax(1).values
    i = t.arange(x.shape[1], device=x.device)
    since = i - t.where(path >= top, i, 0).cummax(1).values
    return top - path, since.to(t.int32)


def torch_crossings(t, x):
    f = t.nn.functional.avg_pool1d(x[:, None], 10, 1)[:, 0, 40:]
    s = t.nn.functional.avg_pool1d(x[:, None], 50, 1)[:, 0]
    up = (f > s).to(t.int8)
    return up[:, 1:] - up[:, :-1]


def torch_acf(t, x):
    x = x - x.mean(1, keepdim=True)
    n = x.shape[1]
    v = (x * x).sum(1)
    return t.stack([(x[:, k:] * x[:, : n - k]).sum(1) / v for k in range(1, 25)], 1)


def torch_hurst(t, x):
    n = x.shape[0]
    b = x.reshape(n, -1, 64)
    d = (b - b.mean(2, keepdim=True)).cumsum(2)
    r = d.amax(2) - d.amin(2)
    return (r / b.std(2, correction=0)).mean(1).log() / 4.1588830833596715


def torch_anomaly(t, x):
    p = t.nn.functional.pad(x.double().cumsum(1), (1, 0))
    q = t.nn.functional.pad((x.double() ** 2).cumsum(1), (1, 0))
    m = (p[:, 48:-1] - p[:, :-49]) / 48
    v = (q[:, 48:-1] - q[:, :-49]) / 48 - m * m
    z = (x[:, 48:] - m) / (v + 1e-6).sqrt()
    return z.float(), (z.abs() > 3).sum(1)


def torch_bpr(t, users, items, u, i, j):
    a = users[u.long()]
    d = (a * (items[i.long()] - items[j.long()])).sum(1)
    return t.nn.functional.softplus(-d).mean(), (d > 0).float().mean()


def torch_average_precision(t, rel):
    r = rel.float()
    n = t.arange(1, rel.shape[1] + 1, device=rel.device)
    precision = r.cumsum(1) / n
    return (precision * r).sum(1) / r.sum(1).clamp(min=1)


def torch_interest(t, h, q, keep, w1, b1, w2):
    c = q[:, None].expand_as(h)
    s = (t.cat((h, c, h * c, h - c), -1) @ w1 + b1).sigmoid() @ w2
    s = (s / 32**0.5).masked_fill(~keep, -(2.0**32)).softmax(1)
    return (s[..., None] * h).sum(1)


def torch_cross_v2(t, x, w1, b1, w2, b2):
    y = x * (x @ w1 + b1) + x
    return x * (y @ w2 + b2) + y


def torch_moe_dense(t, x, gate, w1, w2):
    p = (x.float() @ gate.float() / 16).softmax(-1)
    top = p.amax(-1, keepdim=True)
    rest = p.masked_fill(p == top, 0)
    second = rest.amax(-1, keepdim=True)
    g = t.where(p >= second, p, 0) / (top + second)
    h = t.einsum("td,edf->etf", x, w1).relu()
    y = t.einsum("etf,efd->etd", h, w2)
    return (y.float() * g.T[..., None]).sum(0).to(x.dtype)


def torch_contrastive(t, a, b):
    la, lb = a.float().log_softmax(-1), b.float().log_softmax(-1)
    keep = la >= la.amax(-1, keepdim=True) - 2.302585092994046
    return t.where(keep, 1.5 * la - 0.5 * lb, -t.inf).softmax(-1).half()


def torch_eta_sampler(t, z, g):
    lp = (z / 0.8).log_softmax(-1)
    h = -(lp.exp() * lp).sum(-1, keepdim=True)
    eps = t.minimum(t.full_like(h, 3e-4), 0.0173 * (-h).exp())
    return t.where(lp.exp() >= eps, lp + g, -t.inf).argmax(-1)


def torch_crf(t, e, trans):
    a = e[:, 0]
    for i in range(1, 4):
        a = (a[:, :, None] + trans).logsumexp(1) + e[:, i]
    return a.logsumexp(1)


def torch_viterbi(t, a, e, trans):
    s = a[:, :, None] + trans
    best, back = s.max(1)
    return best + e, back.to(t.uint8)


ROWS = [
    Row("sequences", "macd_and_signal", {"x": "f32[N=6000,5000]"},
        "def weights(span, n):\n  a = 2 / (span + 1)\n  w = a * (1 - a) ** f32(n - 1 - arange(n))\n  return w / sum(w)\n"
        "def ewma(x, w): return correlate(pad(x, ((0, 0), (w.shape[0] - 1, 0)), mode='edge'), w[None])\n"
        "line = ewma(x, weights(12, 40)) - ewma(x, weights(26, 40))\nsignal = ewma(line, weights(9, 30))\nreturn line, signal, line - signal", torch_macd),
    Row("sequences", "min_gru_log_space", {"gate": "f32[B=128,512,256]", "h": "f32[B,512,256]"},
        "a = cumsum(-softplus(gate), axis=1)\nlog_h = where(h >= 0, log(relu(h) + 0.5), -softplus(-h))\n"
        "return exp(a + logcumsumexp(-softplus(-gate) + log_h - a, axis=1))", torch_min_gru),
    Row("sequences", "ssd_chunk_64_heads", {"a": "f32[B=2500,8,64]", "q": "f32[B,8,64,32]", "k": "f32[B,8,64,32]", "v": "f32[B,8,64,48]"},
        "c = cumsum(-softplus(a))\nseg = c[..., :, None] - c[..., None, :]\ni = arange(a.shape[-1])\ndecay = exp(where(i <= i[:, None], seg, -inf))\n"
        "y = (q @ k.mT * decay) @ v\nreturn y, (k * exp(c[..., -1:] - c)[..., None]).mT @ v", torch_ssd),
    Row("sequences", "rwkv_8_steps", {"k": "f32[8,N=3000000]", "v": "f32[8,N]", "w": "f32[N]", "u": "f32[N]"},
        "d = exp(-exp(w))\ndef step(s, k, v, u, d):\n  num, den = s\n  e = exp(u + k)\n  f = exp(k)\n"
        "  return ((d * num + f * v, d * den + f), (num + e * v) / (den + e))\ns0 = (zeros_like(w), zeros_like(w))\n"
        + "".join(f"s{i + 1}, y{i} = step(s{i}, k[{i}], v[{i}], u, d)\n" for i in range(8))
        + "num, den = s8\nreturn stack((y0, y1, y2, y3, y4, y5, y6, y7)), num, den", torch_wkv),
    Row("sequences", "gated_recurrence_cumprod", {"a": "uniform:f32[N=100000,256]", "b": "f32[N,256]"},
        "a = 0.9 + 0.1 * a\nc = cumprod(a, axis=1)\nreturn c * cumsum(b / c, axis=1)", torch_gated_recurrence),
    Row("sequences", "delta_rule_step_64", {"s": "f32[B=8000,64,64]", "k": "f32[B,64]", "v": "f32[B,64]", "beta": "uniform:f32[B]", "q": "f32[B,64]"},
        "k = k / l2norm(k, axis=-1, keepdims=True)\nold = (s @ k[..., None])[..., 0]\n"
        "s = s + (beta[..., None] * (v - old))[..., None] * k[..., None, :]\nreturn s, (s @ q[..., None])[..., 0]", torch_delta_rule),
    Row("sequences", "keltner_channel_20", {k: "f32[N=8000,2520]" if k == "hi" else "f32[N,2520]" for k in ("hi", "lo", "close")},
        "prev = concat((close[:, :1], close[:, :-1]), axis=1)\ntr = maximum(hi - lo, maximum(abs(hi - prev), abs(lo - prev)))\n"
        "mid = avg_pool((hi + lo + close) / 3, 20, stride=1); atr = avg_pool(tr, 20, stride=1)\nreturn mid, mid + 2 * atr, mid - 2 * atr", torch_keltner),
    Row("sequences", "seasonal_differences_standardised", {"x": "f32[N=100003,365]"},
        "d = x[:, 12:] - x[:, :-12]\nd = d[:, 1:] - d[:, :-1]\nreturn (d - mean(d, axis=1, keepdims=True)) / std(d, axis=1, ddof=1, keepdims=True)",
        torch_seasonal),
    Row("sequences", "rolling_max_min_std_31_f64", {"x": "f64[N=4000,3001]"},
        "w = window(x, 31)\nreturn max(w, axis=-1), min(w, axis=-1), std(w, axis=-1, ddof=1)", torch_rolling_range),
    Row("sequences", "dtw_antidiagonal", {"a": "f32[N=50000,255]", "b": "f32[N,255]", "one": "f32[N,256]", "two": "f32[N,257]"},
        "return abs(a - b[:, ::-1]) + minimum(minimum(one[:, :-1], one[:, 1:]), two[:, 1:-1])", torch_dtw),
    Row("sequences", "drawdown_and_age", {"x": "f32[N=40000,1000]"},
        "path = cumsum(x, axis=1); top = cummax(path, axis=1)\ni = arange(x.shape[1])\n"
        "return top - path, i32(i - cummax(where(path >= top, i, 0), axis=1))", torch_drawdown_age),
    Row("sequences", "moving_average_crossings_i8", {"x": "f32[N=10007,5000]"},
        "fast = avg_pool(x, 10, stride=1)[:, 40:]; slow = avg_pool(x, 50, stride=1)\nup = wrap_cast(u8(fast > slow), i8)\nreturn up[:, 1:] - up[:, :-1]",
        torch_crossings),
    Row("sequences", "autocorrelation_24_lags", {"x": "f32[N=50000,500]"},
        "x = x - mean(x, axis=1, keepdims=True)\nn = x.shape[1]\nv = sum(x * x, axis=1)\n"
        f"return stack([sum(x[:, k:] * x[:, :n - k], axis=1) / v for k in {tuple(range(1, 25))}], axis=1)", torch_acf),
    Row("sequences", "hurst_rescaled_range_64", {"x": "f32[N=30000,1024]"},
        "b = x.reshape(x.shape[0], -1, 64)\nd = cumsum(b - mean(b, axis=2, keepdims=True), axis=2)\n"
        "return log(mean((max(d, axis=2) - min(d, axis=2)) / std(b, axis=2), axis=1)) / log(64)", torch_hurst),
    Row("sequences", "anomalies_after_48", {"x": "f32[N=20000,1440]"},
        "p = pad(cumsum(f64(x), axis=1), ((0, 0), (1, 0))); q = pad(cumsum(f64(x) ** 2, axis=1), ((0, 0), (1, 0)))\n"
        "m = (p[:, 48:-1] - p[:, :-49]) / 48\nv = (q[:, 48:-1] - q[:, :-49]) / 48 - m * m\nz = (f64(x[:, 48:]) - m) / sqrt(v + 1e-6)\n"
        "return f32(z), sum(abs(z) > 3, axis=1)", torch_anomaly),
    Row("sequences", "bpr_loss_gathered_64", {"users": "f32[200000,64]", "items": "f32[100000,64]", "u": "below=200000:i32[N=800000]",
        "i": "below=100000:i32[N]", "j": "below=100000:i32[N]"},
        "d = sum(users[u] * (items[i] - items[j]), axis=1)\nreturn mean(softplus(-d)), mean(f32(d > 0))", torch_bpr),
    Row("sequences", "average_precision_at_100", {"rel": "bool[N=1000000,100]"},
        "r = f32(rel)\nprecision = cumsum(r, axis=1) / f32(arange(1, r.shape[1] + 1))\nreturn sum(precision * r, axis=1) / maximum(sum(r, axis=1), 1)",
        torch_average_precision),
    Row("sequences", "interest_attention_50", {"h": "f32[B=20000,50,32]", "q": "f32[B,32]", "keep": "bool[B,50]", "w1": "f32[128,16]", "b1": "f32[16]",
        "w2": "f32[16]"},
        "c = broadcast_to(q[:, None], h.shape)\ns = sigmoid(concat((h, c, h * c, h - c), axis=-1) @ w1 / 8 + b1) @ w2\n"
        "return sum(softmax(where(keep, s / sqrt(32), -2.0 ** 32), axis=1)[..., None] * h, axis=1)",
        lambda t, h, q, keep, w1, b1, w2: torch_interest(t, h, q, keep, w1 / 8, b1, w2)),
    Row("sequences", "cross_network_2_layers_301", {"x": "f32[B=80000,301]", "w1": "f32[301,301]", "b1": "f32[301]", "w2": "f32[301,301]", "b2": "f32[301]"},
        "def cross(x, y, w, b): return x * (y @ w / 17 + b) + y\nreturn cross(x, cross(x, x, w1, b1), w2, b2)",
        lambda t, x, w1, b1, w2, b2: torch_cross_v2(t, x, w1 / 17, b1, w2 / 17, b2)),
    Row("sequences", "experts_dense_top2_of_8_bf16", {"x": "bf16[T=16384,256]", "gate": "bf16[256,8]", "w1": "bf16[8,256,512]", "w2": "bf16[8,512,256]"},
        "p = softmax(f32(x) @ f32(gate) / 16)\ntop = max(p, axis=-1, keepdims=True)\nsecond = max(where(p == top, 0, p), axis=-1, keepdims=True)\n"
        "g = where(p >= second, p, 0) / (top + second)\nh = relu(einsum('td,edf->etf', x, w1 / 16))\ny = einsum('etf,efd->etd', h, w2 / 22)\n"
        "return bf16(sum(f32(y) * g.T[..., None], axis=0))", lambda t, x, g, w1, w2: torch_moe_dense(t, x, g, w1 / 16, w2 / 22)),
    Row("sequences", "contrastive_decoding_f16", {"a": "f16[B=1000,50257]", "b": "f16[B,50257]"},
        "la = log_softmax(f32(a)); lb = log_softmax(f32(b))\nkeep = la >= max(la, axis=-1, keepdims=True) + log(0.1)\n"
        "return f16(softmax(where(keep, 1.5 * la - 0.5 * lb, -inf)))", torch_contrastive),
    Row("sequences", "eta_sampler_32003", {"z": "f32[B=1000,32003]", "g": "f32[B,32003]"},
        "lp = log_softmax(z / 0.8)\np = exp(lp)\neps = minimum(3e-4, 0.0173 * exp(sum(p * lp, axis=-1, keepdims=True)))\n"
        "return argmax(where(p >= eps, lp + g, -inf), axis=-1)", torch_eta_sampler),
    Row("sequences", "crf_forward_4_steps_24_tags", {"e": "f32[B=400000,4,24]", "trans": "f32[24,24]"},
        "def step(a, e, trans): return logsumexp(a[:, :, None] + trans, axis=1) + e\na = e[:, 0]\n"
        "a = step(a, e[:, 1], trans); a = step(a, e[:, 2], trans); a = step(a, e[:, 3], trans)\nreturn logsumexp(a, axis=1)", torch_crf),
    Row("sequences", "viterbi_step_33_tags", {"a": "f32[B=700001,33]", "e": "f32[B,33]", "trans": "f32[33,33]"},
        "s = a[:, :, None] + trans\nbest, back = max_and_argmax(s, axis=1)\nreturn best + e, u8(back)", torch_viterbi),
]
